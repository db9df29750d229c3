"""`report.html`: one file that needs nothing beside it, no network, and no scripts to be read."""

import json
import math
from functools import cache
from typing import Any, NamedTuple

import vl_convert
from markupsafe import Markup

from onechange.report import (
    answer,
    curves,
    curves_chart,
    heat,
    ladder,
    laws,
    provenance,
    sections,
    sheet,
    still,
    stories,
    table,
    tokens,
    where,
    where_chart,
)
from onechange.report.digits import plain
from onechange.report.study import Study


class Live(NamedTuple):
    """What a server adds to the page: to its head, and above everything else that it shows."""

    head: Markup
    top: Markup


def html(study: Study, live: Live | None = None) -> str:
    """The whole page. Everything that comes from the study is escaped by the template."""
    environment = sheet.environment()
    drawn = {name: curves_chart.specification(study, layout) for name, layout in ladder.LAYOUTS.items()}
    moving = {name: specification for name, specification in drawn.items() if specification is not None}
    stills = {name: curves_chart.specification(study, ladder.LAYOUTS[name], hover=False) for name in moving}
    script = _bundle() if moving else ""
    page = (sheet.FILES / "page.js").read_text("utf-8")
    found = _where(study)
    if found is not None:
        page += (sheet.FILES / "where.js").read_text("utf-8")
    more = sections.sections(study)
    parts = {"where.css": found, "probes.css": more["probes"], "story_figures.css": more["measured"]}
    styles = [name for name, part in parts.items() if part is not None]
    seed = study.seeds[0] if study.seeds else 0
    prompts = stories.prompts(study, seed)
    return environment.get_template("page.html.jinja").render(
        study=study,
        style=sheet.style(*styles),
        scripts=[Markup(text) for text in (script, page) if text],
        policy=sheet.policy([text for text in (script, page) if text], served=live is not None),
        live=live,
        charts=Markup(_data({"curves": moving, "where": _colours(found)})),
        answers=answer.answers(study),
        caution=answer.caution(study),
        families=_families(study),
        notices=notices(study),
        meaning=meaning(study),
        ladder=sections.pictures(lambda layout: ladder.chart(study, layout), "ladder")
        if any(arm.best for arm in study.arms)
        else {},
        ladder_words=ladder_words(study),
        columns=table.columns(study),
        groups=table.groups(study),
        rows=table.rows(study),
        curves={name: Markup(still.svg(vega, f"curves-{name}")) for name, vega in stills.items() if vega},
        axes=curves.AXES,
        curve_rows=curves.rows(study),
        overfitting=curves.overfitting(study),
        seed=seed,
        prompts=prompts,
        kinds=stories.KINDS,
        nothing_given=stories.NOTHING,
        marked=stories.any_marked(prompts),
        where=found,
        cuts=tokens.cuts(study),
        laws=laws.laws(study),
        facts=provenance.facts(study),
        rulers=provenance.rulers(study),
        digits=answer.decimals(study),
        clipped=curves.clipped(study),
        plain=plain,
        **more,
    )


def notices(study: Study) -> list[str]:
    """What a reader must know before any figure: what is missing, unfinished, failed, or flattered."""
    found = []
    if not study.has_validation:
        found.append("The corpus left no text for validation, so the models could not be compared.")
    told = []
    if study.has_validation:
        # An arm that has no figure and changes something says why in its answer.
        told = [arm for arm in study.arms if arm.trouble and (arm.best or arm.parent is None)]
    lacking = {arm.name: answer.sentence(f"{arm.name} {arm.trouble}") for arm in told}
    if not study.finished:
        still = [lacking.pop(arm.name) for arm in told if arm.pending]
        found.append(" ".join(["This study is not finished: its figures may still change.", *still]))
    found += lacking.values()
    found += [
        f"{arm.name} learned its tokenizer from all text, validation included: its figure is flattered."
        for arm in study.arms
        if arm.peeking
    ]
    found += answer.left_out(study)
    if len(study.arms) == 1:
        found.append("The study has one arm: nothing was changed, so nothing is compared.")
    return found


def meaning(study: Study) -> str:
    """The end of a sentence that begins "Nats per character", with the study's own figures as examples."""
    text = (
        "say how surprised a model is by each next character of stories that it has never seen, "
        "on average. Lower is better:"
    )
    known = sorted(arm.best.nats_per_character for arm in study.arms if arm.best)
    if not known:
        return text[:-1] + "."
    digits = answer.decimals(study)
    examples = [known[-1]] if len(known) == 1 else [known[-1], known[0]]
    picks = [f"{math.exp(value):.1f}" for value in examples]
    text += (
        f" {plain(examples[0], digits)} is the surprise of a guess among {picks[0]} equally likely characters"
    )
    return text + (f", {plain(examples[1], digits)} of one among {picks[1]}." if len(picks) > 1 else ".")


def ladder_words(study: Study) -> str:
    """The ladder in a sentence, for those who do not see it."""
    digits = answer.decimals(study)
    told = []
    for arm in study.arms:
        if arm.best is None:
            told.append(f"{arm.name} {arm.trouble or 'has no figure'}")
            continue
        text = f"{arm.name}: {plain(arm.best.nats_per_character, digits)}"
        if arm.best.low is not None and arm.best.high is not None:
            text += f" (95% interval {plain(arm.best.low, digits)} to {plain(arm.best.high, digits)})"
        told.append(text + (f", from {arm.parent} by {answer.change(study, arm)}" if arm.parent else ""))
    if study.floor is not None:
        told.append(f"entropy floor: {plain(study.floor, digits)}")
    return "Nats per character of each arm. " + "; ".join(told) + "."


def _families(study: Study) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """What was changed, each with its explanation and those of the members that took its place."""
    found: dict[str, dict[str, str]] = {}
    for arm in study.changed():
        if (key := answer.changed_key(arm)) is not None:
            members = found.setdefault(key, {})
            if arm.record.get("summary"):
                members[answer.member(arm)] = str(arm.record["summary"]).rstrip(".")
    explained = [(key, answer.FAMILIES.get(key, ""), list(members.items())) for key, members in found.items()]
    return [entry for entry in explained if entry[1] or entry[2]]


def _where(study: Study) -> dict[str, Any] | None:
    """What the section on where a change helps is made of; None where no run has readings."""
    bars, coloured = where.bars(study), heat.heat(study)
    if not bars and coloured is None:
        return None
    charts: dict[str, dict[str, Markup]] = {}
    for across in where.ACROSS:
        for name, layout in ladder.LAYOUTS.items():
            if (drawn := where_chart.specification(study, layout, across)) is not None:
                picture = Markup(still.svg(drawn, f"{across}-{name}"))
                charts.setdefault(across, {})[name] = picture
    return {
        "bars": bars,
        "hardest": where.hardest(study, bars),
        "pairs": where.pairs(study),
        "across": where.ACROSS,
        "charts": charts,
        "lines": {across: where.lines(study, across) for across in where.ACROSS if across in charts},
        "heat": coloured,
    }


def _colours(found: dict[str, Any] | None) -> dict[str, Any] | None:
    return found["heat"].data() if found is not None and found["heat"] is not None else None


def _data(value: Any) -> str:
    """JSON that is safe inside a script element: no end tag and no comment can be read in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _bundle() -> str:
    text = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed")
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
