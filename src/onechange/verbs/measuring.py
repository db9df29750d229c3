"""`onechange measure`: a trained model against any text."""

from itertools import chain
from pathlib import Path
from typing import Any

from onechange import checkpoint_reader, documents, source
from onechange.checkpoint_reader import Trained
from onechange.compare import interval_over_stories
from onechange.encoding import encode
from onechange.readings import measured as ruler
from onechange.row_linear import Weights, rounded
from onechange.verbs import output, preparing, words
from onechange.verbs.words import any_checkpoint


@preparing.shown()
def measure(run: Path, data: str | None, checkpoint: str, weights: str, trust: bool, as_json: bool) -> None:
    """Score the run's own validation text, or all of the text of ``data``.

    ``weights``: the model is measured as it is when it writes with weights held so (`onechange.row_linear`).
    ``trust``: execute code that the run keeps of members from outside.
    """
    which, held = any_checkpoint(checkpoint), words.weights_word(weights)
    trained = checkpoint_reader.read(run, which, trust)
    figures = {"run": str(run), "checkpoint": checkpoint, **measured(run, trained, data, held)}
    if as_json:
        output.document(figures)
        return
    low, high = figures["low"], figures["high"]
    spread = "" if low is None else f"  (95% interval over the text: {low:.4f} to {high:.4f})"
    output.out.print(
        f"{figures['nats_per_character']:.4f} nats per character{spread}\n"
        f"{figures['bits_per_byte']:.4f} bits per byte, {figures['nats_per_token']:.4f} nats per token\n"
        f"on {figures['text']}: {figures['stories']:,} stories, {figures['characters']:,} characters, "
        f"{figures['tokens']:,} tokens; {checkpoint} checkpoint, step {figures['step']:,}"
        + ("" if held == "float32" else f"; weights held as {held}"),
        markup=False,
    )
    for kind, sums in figures["readings"]["by_kind"].items():
        if sums["characters"]:
            share = f"{sums['characters'] / figures['characters']:.1%}"
            nats = f"{sums['nats'] / sums['characters']:.4f}"
            output.out.print(
                f"  {kind:<14}{nats:>8} nats per character, {share:>6} of the text", markup=False
            )


def measured(run: Path, trained: Trained, data: str | None, held: Weights) -> dict[str, Any]:
    """The ruler's figures of the model that ``run`` keeps, on its validation text or all of the text of ``data``."""
    table = source.parse(data) if data else trained.recipe.corpus
    corpus = documents.prepare(table, watch=preparing.watch)
    if data:
        stories, what = chain(corpus.training, corpus.validation), f"all of {data}"
    else:
        stories, what = corpus.validation, "the validation text"
        if corpus.fingerprint != trained.recipe.corpus_fingerprint:
            raise ValueError(
                f"{run}: its corpus has changed since it was trained; name a text with --data to measure on it"
            )
    text = encode(trained.tokenizer, stories, corpus.separator)
    model = trained.model if held == "float32" else rounded(trained.model, held)
    found, readings = ruler(model, trained.tokenizer, text, trained.tokenizer.encode(corpus.separator))
    _, low, high = interval_over_stories(found.nats, found.story_characters)
    return {
        "step": trained.step,
        "text": what,
        "weights": held,
        **found.to_json(),
        "stories": len(text.story_tokens),
        "low": low,
        "high": high,
        "readings": readings.sums(),
    }
