"""`onechange export`: a trained model as a folder for other programs."""

from collections.abc import Callable
from pathlib import Path

from onechange.export import hub, origin, standalone
from onechange.export.origin import Origin
from onechange.export.written import Written
from onechange.verbs import output, words

FORMATS: dict[str, Callable[[Origin, Path], Written]] = {"hf": hub.write, "safetensors": standalone.write}


def export(run: Path, into: Path, to: str, checkpoint: str, trust: bool, as_json: bool) -> None:
    """Write the run at a checkpoint into the folder ``into`` and show what it is and how well it was found to agree."""
    if to not in FORMATS:
        raise ValueError(f"--to {to!r}: must be one of {', '.join(FORMATS)}")
    found = FORMATS[to](origin.read(run, checkpoint, words.any_checkpoint(checkpoint), trust), into)
    if as_json:
        output.document(found.to_json())
        return
    agreement = found.agreement
    ties = f" (texts that part where two are equally likely: {agreement.ties})" if agreement.ties else ""
    rows = [
        ("wrote", f"{found.folder}: {', '.join(found.files)}"),
        ("model", f"{found.architecture}, {found.parameters:,} parameters"),
        ("tried on", agreement.what),
        (
            "scores",
            f"{agreement.scores:,} differ by {agreement.difference:.1e} at most; {agreement.allowed:.1e} is allowed",
        ),
        ("greedy", f"{agreement.greedy} tokens are the same{ties}"),
        ("tokenizer", f"{agreement.texts} texts have the same ids and come back"),
        ("load it", found.loading),
    ]
    for name, value in rows:
        output.out.print(f"{name:<11}{value}", markup=False, soft_wrap=True)
