"""What the files of a study's folder hold, so that a damaged or foreign one is told by name and never computed with."""

from typing import Annotated, Any, NotRequired, TypedDict

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, lt=2**53)]
Positive = Annotated[int, Meta(ge=1, lt=2**53)]
Real = Annotated[float, Meta(gt=-1e300, lt=1e300)]
Scalar = str | bool | Count | Real | None
Settings = dict[str, Scalar | list[str]]


class Row(TypedDict):
    """A line of `metrics.jsonl`."""

    step: Positive
    tokens: Count
    characters: Count
    operations: Real
    batch_loss: Real | None
    training_loss: Real
    validation_loss: Real
    training_nats_per_character: Real
    validation_nats_per_character: Real


class Times(TypedDict):
    """A line of `timing.jsonl`."""

    step: Positive
    seconds: Annotated[float, Meta(ge=0, lt=1e12)]
    peak_memory_bytes: Count | None
    left_out: NotRequired[Count]


class Stories(TypedDict):
    """The ruler's figures story by story."""

    nats: list[Real]
    characters: list[Positive]
    bytes: list[Positive]


# "from" is a word of Python, so this one is written as a call.
Bin = TypedDict(
    "Bin",
    {"from": Positive, "to": Positive, "nats": Real, "characters": Positive, "tokens": Positive},
)
"""Sums over the tokens with ``from`` to ``to`` (exclusive) of something."""


class KindSum(TypedDict):
    """Sums over the characters of one kind of text."""

    nats: Real
    characters: Count


class Readings(TypedDict):
    """Where in the text the surprise lies."""

    by_position: list[Bin]
    by_context: list[Bin]
    by_kind: dict[str, KindSum]
    excerpt: NotRequired[list[Real]]
    """In `measures.json` alone."""


class Length(TypedDict):
    """The beginning of the text in windows of some ``times`` the trained length; ``nats`` are missing with a reason."""

    times: Positive
    window: Positive
    nats: Real | None
    by_position: list[Bin]
    why_not: str | None


class Longer(TypedDict):
    """The same text at several lengths of window."""

    characters: Positive
    tokens: Positive
    lengths: list[Length]


class ShiftedLayer(TypedDict):
    """How far a layer's features, and what they would predict, changed when the passage was moved."""

    change: Real
    kl: Real


class Shift(TypedDict):
    """The same passages at two places of the window."""

    positions: tuple[Count, Count]
    passages: Positive
    tokens: Positive
    characters: Count
    surprise: tuple[Real, Real]
    surprise_change: Real
    layers: list[ShiftedLayer]


Distances = TypedDict("Distances", {"from": Count, "to": Positive})
"""``from`` to ``to`` (exclusive) tokens back."""


class AttentionByDistance(TypedDict):
    """``shares`` of every layer, head and bin; mean ``distances`` of every layer and head."""

    windows: Positive
    queries: Positive
    bins: list[Distances]
    shares: list[list[list[Real]]]
    distances: list[list[Real]]


class Probes(TypedDict):
    """What a checkpoint was put through besides the ruler; None where a window is too short for it."""

    longer: Longer
    shift: Shift | None
    attention: AttentionByDistance | None


class Counted(TypedDict):
    """One measure of stories, story by story: a count, and what it is out of."""

    counts: list[Annotated[float, Meta(gt=-1e15, lt=1e15)]]
    of: list[Count]


class Written(TypedDict):
    """The measures of what a checkpoint wrote; which prompt each story has."""

    stories: Count
    characters: Count
    prompts: list[Count]
    measures: dict[str, Counted]


class WrittenInAWorld(Written):
    """The same, with those of the stories without a prompt, where the corpus's world is known."""

    world: NotRequired[Written]


class OnText(TypedDict):
    """The ruler's figures on one text."""

    nats: Real
    tokens: Positive
    characters: Positive
    bytes: Positive
    nats_per_token: Real
    nats_per_character: Real
    bits_per_byte: Real
    stories: Stories


class Figures(OnText):
    """The ruler's figures at one checkpoint, on validation text and on what was put aside for a test."""

    step: Positive
    rough_nats_per_character: NotRequired[Real]
    readings: NotRequired[Readings]
    probes: NotRequired[Probes]
    written: NotRequired[WrittenInAWorld]
    test: NotRequired[OnText]


class Measures(TypedDict):
    """`measures.json`."""

    best: Figures
    last: Figures


class Failure(TypedDict):
    """`failure.json`."""

    error: str


class Environment(TypedDict):
    """`environment.json`, as far as it is read again."""

    machine: Settings
    versions: dict[str, str]


class Sweep(TypedDict):
    """Which sweep of the study made an arm."""

    name: str
    setting: str
    value: Scalar


# Here as well.
Arm = TypedDict(
    "Arm",
    {
        "name": str,
        "from": str | None,
        "change": dict[str, Scalar | Settings] | None,
        "summary": str | None,
        "parameters": Positive,
        "embedding_share": Annotated[float, Meta(ge=0, le=1)],
        "vocabulary": Positive,
        "tokenizer": Settings,
        "remarks": list[str],
        "peeking": bool,
        "lossless": bool,
        "training_tokens": Positive,
        "validation_tokens": Count,
        "characters_per_token": Annotated[float, Meta(gt=0, lt=1e12)],
        "window": Positive,
        "characters_per_window": Annotated[float, Meta(gt=0, lt=1e15)],
        "sweep": NotRequired[Sweep | None],
        "budget": NotRequired[dict[str, Real]],
        "steps": Positive,
        "tokens": Positive,
        "times_text_seen": Annotated[float, Meta(ge=0, lt=1e15)],
        "operations": Real,
        "operations_per_character": Real,
        "settings": dict[str, Scalar | Settings],
        "demonstration": list[tuple[str, Count]],
    },
)
"""`arm.json`."""


class StoryFigure(TypedDict):
    """A measure of stories with its interval, and to how many stories it applies."""

    figure: Real | None
    low: Real | None
    high: Real | None
    stories: Count


class RealStories(TypedDict):
    """What samples are set beside."""

    prompt_words: Count
    characters: Positive
    real: dict[str, StoryFigure]


class Corpus(TypedDict):
    """`corpus.json`."""

    name: str
    fingerprint: str
    prompts: list[str]
    demonstration: str
    entropy_floor: Real | None
    entropy_floor_test: NotRequired[Real | None]
    documents: Count
    characters: Count
    distinct_characters: Count
    duplicates_removed: Count
    training_documents: Count
    validation_documents: Count
    training_characters: Count
    validation_characters: Count
    test_documents: NotRequired[Count]
    test_characters: NotRequired[Count]
    separator: str
    split: str
    cut: str | None
    notes: list[str]
    settings: Settings
    excerpt: NotRequired[str]
    stories: NotRequired[RealStories | None]


Span = tuple[Count, Count]


class Marks(TypedDict):
    """Where what may be marked in a sample's text begins and ends."""

    copies: list[Span]
    longest_copy: Span
    repeated: list[Span]
    loop: Span
    unknown: list[Span]


class Sample(TypedDict):
    """A line of a file of samples, as far as it is shown."""

    prompt: str
    text: str
    number: NotRequired[Count]
    ended: NotRequired[bool]
    marks: NotRequired[Marks]


def fit(value: Any, kind: Any, where: object) -> None:
    """Raise a `ValueError` that names the file unless ``value`` is of the ``kind``; further keys may be there."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{where} is damaged: {error}") from None
