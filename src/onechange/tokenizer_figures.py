"""What a tokenizer does to a corpus, in figures: how much text a token holds, what is unused, what it costs a model.

A word is a run of letters with the marks on them and with apostrophes between two of them, as in `onechange.kinds`.
Tokens per word counts, for each word where it stands, the tokens that hold any of it.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Int

from onechange import family, kinds, tokenizer_card
from onechange.dataset import Dataset
from onechange.documents import Corpus
from onechange.encoding import Encoding
from onechange.model import Model, parameter_count
from onechange.settings import DEFAULTS
from onechange.sizes import Sizes
from onechange.tokenizer_amount import Amount

EXAMPLES = 20
"""How many unused tokens, and how many of the longest, are named."""


@dataclass(frozen=True)
class Figures:
    """One tokenizer on one corpus, and in a model."""

    vocabulary: int
    training: Amount
    validation: Amount
    words: int
    """Words of the validation text; of the training text where there is no validation text."""
    tokens_per_word: float | None
    """Over those words; None where there are none or where the tokens do not give the text back."""
    unused: int
    """Tokens of the vocabulary that the training text never needs."""
    unused_tokens: tuple[str, ...]
    """The first of them."""
    longest_tokens: tuple[str, ...]
    parameters: int
    """Of a model with this vocabulary."""
    embedding_share: float
    """The share of them that the embedding takes, which is the output layer too."""

    @property
    def density(self) -> tuple[float, str]:
        """Characters per token, and of which text: validation, or training where there is no validation text."""
        which = "validation" if self.validation.tokens else "training"
        found = getattr(self, which).characters_per_token
        assert found is not None, "a corpus has training text"
        return found, which

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON values."""
        lists = {"unused_tokens": list(self.unused_tokens), "longest_tokens": list(self.longest_tokens)}
        amounts = {"training": self.training.to_json(), "validation": self.validation.to_json()}
        return {**asdict(self), **amounts, **lists}


def figures(corpus: Corpus, data: Dataset, width: int, layers: int) -> Figures:
    """The figures of ``data``'s tokenizer on ``corpus``, and in a model of ``width`` and ``layers``."""
    tokenizer = data.tokenizer
    texts = tokenizer.tokens()
    used = np.bincount(data.training.ids, minlength=len(texts)) > 0
    unused = np.flatnonzero(~used).tolist()
    stories, encoding = (
        (corpus.validation, data.validation) if len(corpus.validation) else (corpus.training, data.training)
    )
    words, touching = _words(stories, encoding)
    parameters, share = _embedding(tokenizer.vocabulary_size, width, layers)
    return Figures(
        vocabulary=tokenizer.vocabulary_size,
        training=_amount(data.training),
        validation=_amount(data.validation),
        words=words,
        tokens_per_word=touching / words if words and tokenizer.lossless else None,
        unused=len(unused),
        unused_tokens=tuple(texts[number] for number in unused[:EXAMPLES]),
        longest_tokens=tuple(tokenizer_card.longest(tokenizer, EXAMPLES)),
        parameters=parameters,
        embedding_share=share,
    )


def _amount(encoding: Encoding) -> Amount:
    return Amount(len(encoding.ids), encoding.characters, encoding.bytes)


def _words(stories: Iterable[str], encoding: Encoding) -> tuple[int, int]:
    """How many words ``stories`` have, and how many tokens hold a part of each, summed over the words."""
    words = touching = first = 0
    for story, tokens in zip(stories, encoding.story_tokens.tolist(), strict=True):
        ends = encoding.tokens.bytes[encoding.ids[first : first + tokens]].cumsum()
        first += tokens
        spans = np.array(kinds.words(story), dtype=np.int64).reshape(-1, 2)
        if not story.isascii():
            spans = _places(story)[spans]
        begin, end = np.searchsorted(ends, [spans[:, 0], spans[:, 1] - 1], side="right")
        words += len(spans)
        touching += int((end - begin + 1).sum())
    return words, touching


def _places(text: str) -> Int[np.ndarray, " places"]:
    """The byte, in UTF-8, at which every character of ``text`` begins, and where the text ends."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    sizes = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
    return np.concatenate([np.zeros(1, np.int64), sizes.cumsum()])


def _embedding(vocabulary: int, width: int, layers: int) -> tuple[int, float]:
    """Parameters of a model with the default members, and the embedding's share of them.

    One head: how many there are changes no parameter, and every width can be given to one.
    """
    sizes = Sizes(layers, 1, width, DEFAULTS["window"], vocabulary)
    parts = {name: family.resolve(name, DEFAULTS[name]) for name in family.MODEL_FAMILIES}
    with torch.device("meta"):  # shapes only: nothing is allocated
        model = Model(sizes, parts)
    parameters = parameter_count(model)
    return parameters, model.embedding.numel() / parameters
