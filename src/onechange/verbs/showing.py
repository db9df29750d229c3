"""`onechange tokenizer show`: a text as one or several tokenizers split it."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from onechange import documents, source, tokenizer_show, tokenizer_word
from onechange.documents import Corpus
from onechange.prompts import demonstration
from onechange.study import DEMONSTRATION
from onechange.tokenizer import Tokenizer
from onechange.tokenizer_show import Split
from onechange.tokenizer_word import Wanted
from onechange.verbs import output, preparing
from onechange.verbs.words import given


@preparing.shown()
def show(words: Sequence[str], text: str | None, data: str | None, ids: bool, as_json: bool) -> None:
    """Split a text with tokenizers that are read from their files or learned now."""
    wanted = [one for word in words for one in tokenizer_word.parse(word)]

    @cache
    def corpus() -> Corpus:
        return documents.prepare(source.parse(data or "storyworld"), watch=preparing.watch)

    if text is not None:
        asked = given(text)
    elif any(one.resolved for one in wanted):
        asked = demonstration(DEMONSTRATION, corpus())
    else:
        asked = DEMONSTRATION
    found = [one.tokenizer(corpus, preparing.watch) for one in wanted]
    splits = [_split(*pair, asked, text is None) for pair in zip(wanted, found, strict=True)]
    if as_json:
        told = [_document(*each) for each in zip(wanted, found, splits, strict=True)]
        output.document(told[0] if len(told) == 1 else told)
        return
    for place, (one, tokenizer, split) in enumerate(zip(wanted, found, splits, strict=True)):
        if len(wanted) > 1:
            output.out.print("\n" * (place > 0) + one.label, style="bold", markup=False, soft_wrap=True)
        draw(split, ids)
        output.out.print(
            f"\n{len(asked):,} characters, {len(split.ids):,} tokens, {split.characters_per_token or 0:.2f} "
            f"characters per token; vocabulary {tokenizer.vocabulary_size:,}"
        )
        for remark in tokenizer_show.remarks(tokenizer):
            output.out.print(remark, markup=False)


def draw(split: Split, ids: bool = False) -> None:
    """Print the tokens: in colours on a terminal, with bars between them elsewhere; with ids on demand."""
    terminal = output.out.is_terminal
    if ids:
        drawn = tokenizer_show.over_ids(split, output.out.width, terminal)
    else:
        drawn = tokenizer_show.coloured(split) if terminal else tokenizer_show.marked(split)
    output.out.print(drawn, markup=False, soft_wrap=True)


def _split(one: Wanted, tokenizer: Tokenizer, text: str, unasked: bool) -> Split:
    try:
        return tokenizer_show.split(tokenizer, text)
    except ValueError as error:
        advice = "; name another text with --text" if unasked else ""
        raise ValueError(f"{one.label}: {text[:80]!r}: {error.args[0]}{advice}") from None


def _document(one: Wanted, tokenizer: Tokenizer, split: Split) -> dict[str, Any]:
    return {
        "tokenizer": one.label,
        "vocabulary": tokenizer.vocabulary_size,
        "lossless": tokenizer.lossless,
        "loss": tokenizer.loss,
        "remarks": tokenizer_show.remarks(tokenizer),
        **split.to_json(),
    }
