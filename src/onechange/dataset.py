"""What one arm trains on and is evaluated on: the corpus under the arm's tokenizer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from onechange.documents import Corpus
from onechange.encoding import Encoding, encode
from onechange.family import build
from onechange.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Dataset:
    """Both splits as ids."""

    tokenizer: Tokenizer
    training: Encoding
    validation: Encoding
    separator: Int[np.ndarray, " tokens"]
    """The separator's ids, the left context of a text's first token."""
    training_sample: Int[np.ndarray, " tokens"]
    """The first whole training stories that reach the validation text's length: the training loss is theirs."""
    training_sample_characters: int


def learn(corpus: Corpus, resolved: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer that ``resolved`` names, learned from the text that its settings allow."""
    tokenizer: Tokenizer = build("tokenizer", resolved)
    stories = corpus.training
    if tokenizer.learn_from == "all":
        stories += corpus.validation
    tokenizer.learn([*stories, *[corpus.separator] * len(stories)], corpus.alphabet)
    return tokenizer


def dataset(corpus: Corpus, tokenizer: Tokenizer) -> Dataset:
    """``corpus`` under a learned ``tokenizer``."""
    training = encode(tokenizer, corpus.training, corpus.separator)
    validation = encode(tokenizer, corpus.validation, corpus.separator)
    reached = int(np.searchsorted(training.story_characters.cumsum(), validation.characters)) + 1
    return Dataset(
        tokenizer=tokenizer,
        training=training,
        validation=validation,
        separator=tokenizer.encode(corpus.separator).astype(np.int64),
        training_sample=training.ids[: training.story_tokens[:reached].sum()],
        training_sample_characters=int(training.story_characters[:reached].sum()),
    )
