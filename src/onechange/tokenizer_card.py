"""A tokenizer at a glance: its settings, what it learned first and at most, as a notebook shows it."""

import inspect
from itertools import islice

from onechange import notebook, tokenizer_show
from onechange.tokenizer import Tokenizer

FEW = 8
"""How many tokens a notebook names as examples."""


def longest(tokenizer: Tokenizer, count: int) -> list[str]:
    """The ``count`` tokens of most characters, of several as long the first; none of a single character."""
    lengths = [len(token.decode(errors="ignore")) for token in tokenizer.token_bytes()]
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    texts = tokenizer.tokens()
    return [texts[number] for number in order[:count] if lengths[number] > 1]


def first(tokenizer: Tokenizer, count: int) -> list[str]:
    """The first tokens, by id, that stand for more than one character: of `bpe` those of the first merges."""
    contents = [token.decode(errors="ignore") for token in tokenizer.token_bytes()]
    several = (text for text, content in zip(tokenizer.tokens(), contents, strict=True) if len(content) > 1)
    return list(islice(several, count))


def card(tokenizer: Tokenizer) -> str:
    """What a notebook shows of a tokenizer: its name, settings, vocabulary and a few tokens, as HTML."""
    name = type(tokenizer).__module__.rpartition(".")[2]
    settings = {
        key: getattr(tokenizer, key, None) for key in inspect.getfullargspec(type(tokenizer)).kwonlyargs
    }
    rows = [(key, str(value)) for key, value in settings.items() if value is not None]
    try:
        size = tokenizer.vocabulary_size
    except AssertionError:
        size = 0
    if not size:
        return notebook.facts(name, [*rows, ("learned", "not yet")])
    rows += [
        ("tokens", f"{size:,}"),
        ("lossless", "yes" if tokenizer.loss is None else f"no: {tokenizer.loss}"),
        ("longest tokens", tokenizer_show.listed(longest(tokenizer, FEW))),
        ("first tokens of several characters", tokenizer_show.listed(first(tokenizer, FEW))),
        *(("to know", remark) for remark in tokenizer.remarks()),
    ]
    return notebook.facts(name, [(key, value) for key, value in rows if value])
