"""`onechange doctor`: what this machine can do, and what a run will use."""

from rich.table import Column, Table
from rich.text import Text

from onechange import device, processor
from onechange.documents import user_cache
from onechange.verbs import output


def doctor(as_json: bool) -> None:
    """Print processor, memory, versions and the means that ``auto`` stands for."""
    lacking = processor.why_not_compile()
    chosen = device.chosen("auto")
    found = {
        **processor.machine(),
        **processor.versions(),
        "fast_bf16": processor.has_fast_bf16(),
        "device": chosen,
        "precision": device.precision("auto", chosen),
        "threads": processor.threads(0),
        "can_compile": lacking is None,
        "why_not_compile": lacking,
        "cache": str(user_cache()),
    }
    if as_json:
        output.document(found)
        return
    table = Table("", Column(overflow="fold"), box=None, show_header=False, pad_edge=False)
    rows = {
        "onechange": found["onechange"],
        "python": found["python"],
        "torch": found["torch"],
        "system": found["system"],
        "processor": f"{found['processor']}, {found['processors']} for this process",
        "memory": f"{(found['memory_bytes'] or 0) / 2**30:.1f} GiB",
        "threads of a run": f"{found['threads']}",
        "device": chosen,
        "precision": "bf16, done in hardware"
        if found["precision"] == "bf16"
        else "float32: no fast bf16 here",
        "compilation": "yes, for runs long enough to gain"
        if lacking is None
        else f"no, {lacking}: runs are eager",
        "cache": found["cache"],
    }
    for name, value in rows.items():
        table.add_row(Text(name, "bold"), Text(str(value)))
    output.out.print(table)
