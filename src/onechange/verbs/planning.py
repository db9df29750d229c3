"""`onechange plan`: how many seeds a study needs, from the spread seen so far."""

import math
from dataclasses import asdict
from pathlib import Path

from rich.table import Table
from rich.text import Text

from onechange import power, record
from onechange.outlook import Outlook, outlook
from onechange.report.digits import DASH, signed, significant
from onechange.study_folder import StudyFolder
from onechange.verbs import output

TITLES = ("change", "seeds", "difference", "spread", "noise", "resolution", "text", "needed")


def show(folder: Path, wanted: float, as_json: bool) -> None:
    """Print a line for every change of the study in ``folder``; ``wanted`` is a resolution in nats per character."""
    if not (math.isfinite(wanted) and wanted > 0):
        raise ValueError(f"--resolution {wanted:g}: must be a number above 0, in nats per character")
    results = record.collect(StudyFolder(folder))
    found = [outlook(arm, wanted) for arm in results["arms"] if arm["from"] is not None]
    text = "test" if any(arm.get("versus_parent_test") for arm in results["arms"]) else "validation"
    stories = results["corpus"][f"{text}_documents"]
    if as_json:
        output.document(
            {
                "study": results["study"],
                "scale": results["scale"],
                "resolution": wanted,
                "share_found": power.FOUND,
                "judged_on": text,
                "stories": stories,
                "changes": [asdict(change) for change in found],
            }
        )
        return
    if not found:
        raise LookupError(f"{folder} has no change yet: no arm beside the base is begun")
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in TITLES:
        table.add_column(title, overflow="fold")
    for change in found:
        table.add_row(*(Text(cell) for cell in _cells(change)))
    output.out.print(table)
    for line in _words(found, wanted, f"{stories:,} {text} stories"):
        output.out.print(f"\n{line}", markup=False)


def _cells(change: Outlook) -> list[str]:
    difference = change.nats_per_character_difference
    share = change.text_share
    return [
        change.arm,
        str(change.seeds),
        DASH if difference is None else signed(difference, 4),
        _two_digits(change.spread),
        _two_digits(change.noise_floor),
        _two_digits(change.resolution),
        DASH if share is None else f"{share:.0%}",
        _seeds(change),
    ]


def _two_digits(value: float | None) -> str:
    return significant(value, 2)


def _seeds(change: Outlook) -> str:
    """``12 (5 to 90)``, or in a word why there is no number."""
    if change.text_forbids:
        return "no number"
    if change.spread is None:
        return DASH
    return (
        f"{_or_more(change.seeds_needed)} "
        f"({_or_more(change.seeds_needed_low)} to {_or_more(change.seeds_needed_high)})"
    )


def _or_more(seeds: int | None) -> str:
    return f"over {power.MOST_SEEDS:,}" if seeds is None else f"{seeds:,}"


def _words(found: list[Outlook], wanted: float, stories: str) -> list[str]:
    said = [
        f"In nats per character. Spread: of the difference, over seeds. Noise: how far two runs of one arm lie "
        f"apart. Resolution: the smallest true difference that gets its verdict in {power.FOUND:.0%} of such "
        f"studies. Text: its share in the chance, the rest is the seeds'. Needed: seeds for a resolution of "
        f"{wanted:g}, in brackets for what the spread may truly be (95%)."
    ]
    unknown = [change.arm for change in found if change.spread is None]
    rough = [change.arm for change in found if change.seeds == 2]
    if unknown:
        said.append(
            f"{', '.join(unknown)}: a spread needs two seeds that both arms have finished, a verdict three. "
            f"Go on with --resume --seeds 3."
        )
    if rough:
        said.append(f"{', '.join(rough)}: from two seeds the spread is a very rough guess; see the brackets.")
    return said + [_too_short(change, wanted, stories) for change in found if change.text_forbids]


def _too_short(change: Outlook, wanted: float, stories: str) -> str:
    assert change.finest is not None
    longer = _two_digits((change.finest / wanted) ** 2)
    return (
        f"{change.arm}: the text alone forbids {wanted:g}. With {stories} no number of seeds "
        f"finds less than {_two_digits(change.finest)}; it takes about {longer} times as many stories."
    )
