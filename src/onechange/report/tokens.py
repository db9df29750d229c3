"""One sentence cut into tokens by every tokenizer of the study; arms that cut it alike are shown once."""

from dataclasses import dataclass

from onechange.report.study import Arm, Study


@dataclass(frozen=True)
class Token:
    """``shown`` has its spaces, tabs and line ends made visible."""

    shown: str
    text: str
    id: int


@dataclass(frozen=True)
class Cut:
    """The sentence as the tokenizer of ``arms`` cuts it."""

    arms: tuple[Arm, ...]
    tokens: tuple[Token, ...]


def cuts(study: Study) -> list[Cut]:
    """The demonstration sentence under each tokenizer, in the order of the arms."""
    recorded = (study.record.get("demonstration") or {}).get("arms") or {}
    found: dict[tuple[tuple[str, int], ...], list[Arm]] = {}
    for arm in study.arms:
        if recorded.get(arm.name):
            found.setdefault(tuple((text, number) for text, number in recorded[arm.name]), []).append(arm)
    return [
        Cut(tuple(arms), tuple(Token(visible(text), text, number) for text, number in tokens))
        for tokens, arms in found.items()
    ]


def visible(text: str) -> str:
    """``text`` with a mark for each character that leaves no ink."""
    shown = text.replace(" ", "·").replace("\t", "→").replace("\n", "↵")
    return "".join(letter if letter.isprintable() else f"U+{ord(letter):04X}" for letter in shown)
