"""`onechange compare`: finished runs of any studies, which laws hold between them, what may be said."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from onechange import between
from onechange.between import Between, Comparison, Group
from onechange.report.digits import DASH, decimals_for, plain, signed
from onechange.verbs import output
from onechange.verbs.words import checkpoint_word


def compare(runs: Sequence[Path], checkpoint: str, as_json: bool) -> None:
    """Print levels, differences to the first group, and the laws."""
    found = between.compare(runs, checkpoint_word(checkpoint))
    if as_json:
        output.document(document(found))
        return
    digits = _digits(found)
    output.out.print(_table(found, digits))
    for comparison in found.comparisons:
        output.out.print(_sentence(found, comparison, digits))
        output.out.print(_laws(comparison))
    for group in found.groups:
        if group.unfinished:
            left = ", ".join(path.name for path in group.unfinished)
            output.notes.print(
                f"{group.name}: not finished and left out: {left}", markup=False, soft_wrap=True
            )


def document(found: Between) -> dict[str, Any]:
    """What was found, for JSON."""
    first = found.groups[0].runs[0]
    return {
        "checkpoint": found.which,
        "corpus_fingerprint": first.recipe.corpus_fingerprint,
        "judged_on": first.text,
        "stories": len(first.scores.nats),
        "characters": int(first.scores.characters.sum()),
        "groups": [_group(group) for group in found.groups],
        "comparisons": [_compared(found.groups[0], comparison) for comparison in found.comparisons],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        **asdict(group.level),
        "runs": [
            {
                "folder": str(run.folder),
                "seed": run.recipe.seed,
                "step": run.figures["step"],
                "nats_per_character": run.figures["nats_per_character"],
                "bits_per_byte": run.figures["bits_per_byte"],
            }
            for run in group.runs
        ],
        "unfinished": [str(path) for path in group.unfinished],
    }


def _compared(first: Group, comparison: Comparison) -> dict[str, Any]:
    difference = asdict(comparison.difference) if comparison.difference else None
    if difference:
        del difference["verdict"], difference["seeds"]
    return {
        "group": comparison.group.name,
        "with": first.name,
        "seeds": comparison.seeds,
        "changes": [asdict(change) for change in comparison.changes],
        "apart": [asdict(setting) for setting in comparison.apart],
        "difference": difference,
        "verdict": comparison.verdict,
        "why_no_verdict": comparison.why,
        "laws": [asdict(law) for law in comparison.laws],
    }


def _digits(found: Between) -> int:
    """Decimals that the intervals deserve; those of the differences decide where there are any."""
    differences = [c.difference for c in found.comparisons if c.difference and c.difference.high is not None]
    return decimals_for(
        [(d.high - d.low) / 2 for d in differences if d.high is not None and d.low is not None]
    )


def _table(found: Between, digits: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("runs", style="bold", overflow="fold")
    for title in ("seeds", "step", "nats per character"):
        table.add_column(title, justify="right")
    table.add_column(f"difference to {found.groups[0].name}", justify="right")
    table.add_column("verdict")
    against = {id(comparison.group): comparison for comparison in found.comparisons}
    for group in found.groups:
        steps = sorted({run.figures["step"] for run in group.runs})
        comparison = against.get(id(group))
        cells = [
            group.name,
            ", ".join(map(str, group.seeds)),
            f"{steps[0]:,}" + (f"–{steps[-1]:,}" if len(steps) > 1 else ""),
            plain(group.level.nats_per_character, digits),
            _difference(comparison, digits) if comparison else "",
            (comparison.verdict or "not judged") if comparison else "",
        ]
        table.add_row(*map(Text, cells))
    return table


def _difference(comparison: Comparison, digits: int) -> str:
    found = comparison.difference
    if found is None:
        return DASH
    text = signed(found.nats_per_character_difference, digits)
    if found.low is None or found.high is None:
        return text
    return f"{text}  ({signed(found.low, digits)} to {signed(found.high, digits)})"


def _sentence(found: Between, comparison: Comparison, digits: int) -> Text:
    """What may be said of one comparison, the verdict first."""
    first, group, difference = found.groups[0], comparison.group, comparison.difference
    on = ", on test text" if first.runs[0].text == "test" else ""
    words = Text.assemble((f"{group.name} against {first.name}", "bold"), f", {found.which} checkpoint{on}: ")
    if difference is None:
        return words.append(
            f"no difference is taken, no seed is in both ({_seeds(group.seeds)}; {_seeds(first.seeds)})."
        )
    value = difference.nats_per_character_difference
    much = f"{plain(abs(value), digits)} nats per character {'lower' if value < 0 else 'higher'}"
    if difference.low is None or difference.high is None:
        sure = "no interval"
    else:
        over = difference.interval.replace("seeds", f"{difference.seeds} seeds").replace("text", "the text")
        sure = (
            f"95% interval over {over}, {signed(difference.low, digits)} to {signed(difference.high, digits)}"
        )
    words.append(f"{comparison.verdict}, {much} ({sure})." if comparison.verdict else f"{much} ({sure}).")
    if comparison.why:
        words.append(f" Not judged. {comparison.why[0].upper()}{comparison.why[1:]}.")
    if comparison.seeds != group.seeds or comparison.seeds != first.seeds:
        words.append(f" Compared over {_seeds(comparison.seeds)}, which both have.")
    return words


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"


def _laws(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for overflow in ("fold", "fold", "fold"):
        table.add_column(overflow=overflow)
    for law in comparison.laws:
        style = "" if law.state == "holds" else "yellow"
        table.add_row(Text(f"{law.number} {law.name}"), Text(law.state, style), Text(law.reason))
    return table
