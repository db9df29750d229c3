"""The page of `onechange tokenizer compare`: one file, no scripts, nothing from the network."""

from typing import Any

from onechange.report import sections, sheet, tokenizers_chart
from onechange.report.digits import count
from onechange.report.tokens import visible
from onechange.report.wording import listed
from onechange.tokenizer_compare import COLUMNS, Comparison, Entry

FEW = 12
"""How many of the longest and of the unused tokens are named."""


def html(found: Comparison) -> str:
    """The whole page. Everything that comes from a text, a file or a command's words is escaped by the template."""
    return (
        sheet.environment()
        .get_template("tokenizers.html.jinja")
        .render(
            found=found,
            style=sheet.style("tokenizers.css"),
            policy=sheet.policy(),
            notices=notices(found),
            answer=answer(found),
            chart=sections.pictures(lambda layout: tokenizers_chart.chart(found, layout), "tokenizers"),
            words=words(found),
            text=found.entries[0].figures.density[1],
            columns=list(COLUMNS),
            rows=found.rows(),
            cuts=[_cut(entry) for entry in found.entries],
            facts=_facts(found),
        )
    )


def notices(found: Comparison) -> list[str]:
    """What a reader must know before any figure, the reasons named by whoever has them."""
    told = []
    for entry in found.entries:
        if entry.tokenizer.loss is not None:
            told.append(f"{entry.label} does not give every text back: {entry.tokenizer.loss}.")
        told += [f"{entry.label}: {remark}." for remark in entry.tokenizer.remarks()]
    return told


def answer(found: Comparison) -> str:
    """Which tokens hold most, and which least."""
    by_density = sorted(found.entries, key=lambda entry: -entry.figures.density[0])
    most, least = by_density[0], by_density[-1]
    value, text = most.figures.density
    if len(by_density) == 1:
        return f"A token of {most.label} holds {value:.2f} characters of the {text} text on average."
    return (
        f"On average a token of {most.label} holds {value:.2f} characters of the {text} text, "
        f"one of {least.label} {least.figures.density[0]:.2f}."
    )


def words(found: Comparison) -> str:
    """The chart in a sentence, for those who do not see it."""
    told = [
        f"{entry.label} {entry.figures.density[0]:.2f} characters per token and {entry.figures.embedding_share:.0%} "
        "of the parameters"
        for entry in found.entries
    ]
    return f"How much text a token holds and what the embedding takes: {listed(told)}."


def _cut(entry: Entry) -> dict[str, Any]:
    return {
        "label": entry.label,
        "tokens": [
            {"shown": visible(token), "id": number, "ends": token.endswith("\n")}
            for token, number in zip(entry.split.tokens, entry.split.ids, strict=True)
        ],
        "longest": [visible(token) for token in entry.figures.longest_tokens[:FEW]],
        "unused": [visible(token) for token in entry.figures.unused_tokens[:FEW]],
        "more": max(0, entry.figures.unused - FEW),
    }


def _facts(found: Comparison) -> list[tuple[str, str]]:
    def part(name: str) -> str:
        documents, characters = (found.corpus[f"{name}_{of}"] for of in ("documents", "characters"))
        return f"{count(documents)} stories, {count(characters)} characters"

    return [
        ("corpus", found.corpus["name"]),
        ("training text", part("training")),
        ("validation text", part("validation")),
        ("after each story", repr(found.corpus["separator"])),
        ("fingerprint", found.corpus["fingerprint"]),
        ("model", f"width {found.width}, {found.layers} layers, the default members"),
    ]
