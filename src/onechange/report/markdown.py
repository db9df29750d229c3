"""`report.md`: the answer, the ladder, the table and the stories for places that show Markdown."""

import re

from onechange.report import (
    correction,
    costs,
    differences,
    judged_text,
    ladder_text,
    longer,
    looking,
    probes,
    shifted,
    stories,
    story_figures,
    story_sentences,
    story_table,
    story_tracking,
    tuning,
    tuning_table,
)
from onechange.report.answer import answers, caution
from onechange.report.page import meaning, notices
from onechange.report.study import Arm, Study
from onechange.report.table import Cell, columns, rows


def text(study: Study) -> str:
    """The whole report as Markdown; whatever comes from the study is escaped."""
    parts = [f"# {escaped(study.question)}"]
    parts += [f"> **Note.** {escaped(notice)}" for notice in notices(study)]
    parts += [f"- {escaped(a.change)}. **{escaped(a.headline)}** {escaped(a.detail)}" for a in answers(study)]
    parts.append(escaped(f"Nats per character {meaning(study)}"))
    parts += [escaped(why) for why in (caution(study), judged_text.sentence(study)) if why]
    parts += ["## The ladder", ladder(study), *_differences(study), "## The arms", table(study)]
    parts += [*_tuning(study), *_probes(study), *_costs(study), *_measured(study), *_stories(study)]
    if study.record.get("command"):
        parts += ["## To repeat it", _indented([str(study.record["command"])])]
    parts.append(
        "The curves, the tokens and the reasons to believe it are in `report.html` beside this file."
    )
    return "\n\n".join(parts) + "\n"


def ladder(study: Study) -> str:
    """The ladder in characters as a code block."""
    return _indented(ladder_text.lines(study))


def table(study: Study) -> str:
    """The table of the arms."""
    heads = [
        "arm",
        *(
            f"{c.group}, {c.title}" if c.group.startswith(("nats", "diff", "on ")) else c.title
            for c in columns(study)
        ),
    ]
    aligned = ["---", *("---:" if column.numeric else "---" for column in columns(study))]
    lines = [heads, aligned]
    for arm, cells in rows(study):
        label = f"{arm.name} (tokens learned from all text)" if arm.peeking else arm.name
        texts = [escaped(c.text) + (f" ({escaped(c.small)})" if c.small else "") for c in cells]
        lines.append([f"**{escaped(label)}**", *texts])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(value: str) -> str:
    """``value`` as one line that Markdown shows as it is."""
    flat = " ".join(value.split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~!$])", r"\\\1", flat)


def _differences(study: Study) -> list[str]:
    rows = [[row.arm.name, *texts] for row, texts in differences.details(study)]
    if not rows:
        return []
    parts = ["## The differences", _table(["arm", *differences.DETAILS], rows)]
    return [*parts, *(escaped(said) for said in (correction.sentence(study),) if said)]


def _tuning(study: Study) -> list[str]:
    found = tuning_table.table(study)
    if not found:
        return []
    told = [tuning.sentence(study), *tuning.edges(study)]
    return [
        f"## Tuning the {escaped(tuning.setting(study))}",
        _table(list(tuning_table.COLUMNS), found),
        _table(list(tuning_table.VERDICTS), tuning_table.verdicts(study)),
        *(escaped(said) for said in told if said),
    ]


def _probes(study: Study) -> list[str]:
    if not probes.asked(study):
        return []
    lengths = ["window, tokens", *longer.TITLES.values()]
    parts = ["## Texts longer than trained", *map(escaped, longer.words(study))]
    parts.append(_table(["nats per character", *lengths], _flat(longer.rows(study))))
    if moved := shifted.rows(study):
        parts += ["## The same passage elsewhere", *map(escaped, shifted.words(study))]
        parts.append(_table(["arm", *shifted.COLUMNS], _flat(moved)))
    if means := looking.layers(study):
        most = max(len(layers) for _, layers in means)
        heads = ["mean distance in tokens", *(f"layer {number + 1}" for number in range(most))]
        cells = [[arm.name, *layers, *[""] * (most - len(layers))] for arm, layers in means]
        parts += ["## Where the heads look", *map(escaped, looking.words(study)), _table(heads, cells)]
    return parts


def _costs(study: Study) -> list[str]:
    found = costs.rows(study)
    if not found:
        return []
    told = [*costs.words(study), "In brackets: how many times the parent's. Speed and memory are measured."]
    return [
        "## What it costs",
        escaped(" ".join(told)),
        _table(["arm", *costs.COLUMNS.values()], _flat(found)),
    ]


def _flat(rows: list[tuple[Arm, list[Cell]]]) -> list[list[str]]:
    return [
        [arm.name, *(cell.text + (f" ({cell.small})" if cell.small else "") for cell in cells)]
        for arm, cells in rows
    ]


def _table(heads: list[str], rows: list[list[str]]) -> str:
    """A table of plain text, its first column left, all others right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    aligned = [line if at == 1 else [escaped(text) for text in line] for at, line in enumerate(lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in aligned)


def _stories(study: Study) -> list[str]:
    seed = study.seeds[0] if study.seeds else 0
    parts = []
    for prompt in stories.prompts(study, seed):
        parts.append(f"### {escaped(prompt.text or stories.NOTHING)}")
        for sample in prompt.samples["best"]:
            parts.append(f"**{escaped(sample.arm.name)}** … {escaped(sample.text)}")
    return ["## The stories, each model at its best step", *parts] if parts else []


def _measured(study: Study) -> list[str]:
    written = story_figures.read(study)
    if written is None:
        return []
    columns = story_table.columns(written)
    heads = ["measure", "real stories", *(f"{column.arm.name}, {column.title}" for column in columns)]
    rows = [
        [row.label, *(_story_figure(cell) for cell in (row.real, *row.figures))]
        for _, group in story_table.rows(written)
        for row in group
    ]
    arrows = "In brackets: 95% intervals. ↑ and ↓: above and below real stories, the two intervals apart."
    told = [*story_sentences.last_against_best(written), *story_sentences.against_parents(study, written)]
    common = story_sentences.common_caution(told)
    parts = [
        "## The stories, measured",
        _table(heads, rows),
        escaped(f"{arrows} {common or ''}"),
        "\n".join(
            f"- **{escaped(one.arm.name)}**, {escaped(one.compared)}. {escaped(story_sentences.cautioned(one, common))}"
            for one in told
        ),
        escaped(" ".join(story_tracking.words(written))),
    ]
    return [part for part in parts if part]


def _story_figure(cell: story_table.Figure) -> str:
    return " ".join(
        [cell.text, *[f"({cell.interval})"] * bool(cell.interval), *[cell.arrow] * bool(cell.arrow)]
    )


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {' '.join(line.splitlines())}" for line in lines)
