"""`onechange sample`: trained models continue a prompt."""

from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from onechange import checkpoint_reader
from onechange.generate import generate
from onechange.study import DEMONSTRATION
from onechange.verbs import output
from onechange.verbs.words import checkpoint_word


def sample(
    runs: list[Path],
    prompts: list[str],
    checkpoint: str,
    tokens: int,
    seed: int,
    temperature: float,
    top_k: int,
    trust: bool,
    as_json: bool,
) -> None:
    """Continue every prompt with every run; the article's first prompt if none is given.

    ``trust``: execute code that the runs keep of members from outside.
    """
    which = checkpoint_word(checkpoint)
    asked = prompts or [DEMONSTRATION]
    documents = []
    for run in runs:
        trained = checkpoint_reader.read(run, which, trust)
        try:
            texts = generate(
                trained.model,
                trained.tokenizer,
                asked,
                tokens=tokens,
                seed=seed,
                temperature=temperature,
                top_k=top_k,
            )
        except ValueError as error:
            advice = "" if prompts else "; name another prompt with --prompt"
            raise ValueError(f"{error.args[0]}{advice}") from None
        for written in texts:
            documents.append({"run": str(run), "checkpoint": which, "step": trained.step, **asdict(written)})
    if as_json:
        output.document(documents)
        return
    for document in documents:
        output.out.print(
            Text.assemble(
                (f"{document['run']}, {which} (step {document['step']:,})\n", "dim"),
                (document["prompt"], "bold"),
                document["text"],
                "\n",
            ),
            soft_wrap=True,
        )
