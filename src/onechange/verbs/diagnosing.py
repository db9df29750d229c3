"""`onechange doctor`: what this machine can do, what a run will use, and all that a report of a mistake must say."""

from typing import Any

import torch
from rich.table import Column, Table
from rich.text import Text

from onechange import device, installation, processor, surroundings
from onechange.verbs import output


def doctor(as_json: bool) -> None:
    """Print processor, memory, versions, surroundings, and the means that ``auto`` stands for."""
    found = document()
    if as_json:
        output.document(found)
        return
    table = Table(Column(no_wrap=True), Column(overflow="fold"), box=None, show_header=False, pad_edge=False)
    for name, value in rows(found).items():
        table.add_row(Text(name, "bold"), Text(value))
    output.out.print(table)


def document() -> dict[str, Any]:
    """Everything, for JSON."""
    lacking = processor.why_not_compile()
    chosen = device.chosen("auto")
    installed = installation.versions()
    return {
        **processor.machine(),
        **processor.versions(),
        "torch_build": device.build(),
        "devices": device.names(),
        "fast_bf16": processor.has_fast_bf16(),
        "device": chosen,
        "precision": device.precision("auto", chosen),
        "threads": processor.threads(0),
        "threads_of_torch": torch.get_num_threads(),
        "can_compile": lacking is None,
        "why_not_compile": lacking,
        **surroundings.found(),
        "encoding": output.out.encoding,
        "packages": installed.pop(installation.CORE, {}),
        "extras": installed,
    }


def rows(found: dict[str, Any]) -> dict[str, str]:
    """The same in words, short enough to be pasted into a report."""
    said = {
        "onechange": f"{found['onechange']}, in {found['installed_in']}",
        "python": found["python"],
        "torch": f"{found['torch']}, {found['torch_build']}",
        "system": f"{found['system']}, encoding {found['encoding']}",
        "processor": f"{found['processor']}, {found['processors']} for this process",
        "memory": _size(found["memory_bytes"]),
        "devices": ", ".join(found["devices"]),
        "threads of a run": f"{found['threads']}",
        "device": found["device"],
        "precision": "bf16, done in hardware"
        if found["precision"] == "bf16"
        else "float32: no fast bf16 here",
        "compilation": "yes, for runs long enough to gain"
        if found["can_compile"]
        else f"no, {found['why_not_compile']}: runs are eager",
        "cache": f"{found['cache']}, {_size(found['cache_bytes'])}, {_size(found['disk_free_bytes'])} free"
        + ("" if found["cache_writable"] else "; it cannot be written"),
        "this folder": ("can be written" if found["folder_writable"] else "cannot be written")
        + {True: ", locks work", False: ", locks do not work", None: ""}[found["locks_work"]],
        "packages": _packages(found["packages"]) or "unknown: onechange is not installed as a package",
    }
    for extra, packages in found["extras"].items():
        missing = [name for name, version in packages.items() if version is None]
        said[f"extra {extra}"] = (
            f"not installed ({', '.join(missing)} missing): pip install 'onechange[{extra}]'"
            if missing
            else _packages(packages)
        )
    said["environment"] = "\n".join(f"{name}={value}" for name, value in found["environment"].items()) or "-"
    return said


def _packages(versions: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {version or 'missing'}" for name, version in versions.items())


def _size(number: int | None) -> str:
    if number is None:
        return "unknown"
    return f"{number / 2**30:.1f} GiB" if number >= 2**30 else f"{number / 2**20:.1f} MiB"
