"""`onechange sample` as the command line reads it. Nothing large is imported before it is used."""

from pathlib import Path
from typing import Annotated

import typer

from onechange.sampling import CHARACTERS, Sampling
from onechange.verbs import completing

Checkpoint = Annotated[
    str,
    typer.Option(
        help="best, last, or step-N where the checkpoint of that step is still there.",
        autocompletion=completing.checkpoints,
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Execute the code that a run keeps of members from outside: read it first."),
]
WeightsWord = Annotated[
    str,
    typer.Option(
        help="How the model's weights are held: float32, bf16 or int8 (faster, a little less exact).",
        autocompletion=completing.weights,
    ),
]
_USUAL = Sampling()


def sample(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folders OUT/arms/ARM/seed-N; an arm's stands for its first finished seed, a study's for those of all "
            "its arms.",
            autocompletion=completing.runs,
        ),
    ],
    prompt: Annotated[
        list[str] | None,
        typer.Option(help='What to continue; may be repeated. - reads standard input, "" begins a story.'),
    ] = None,
    checkpoint: Checkpoint = "best",
    samples: Annotated[int, typer.Option(help="How many stories per prompt.")] = _USUAL.samples,
    characters: Annotated[
        int | None,
        typer.Option(help=f"How long a story is at most. Default: {CHARACTERS}.", show_default=False),
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="The same in tokens, in place of characters.")] = None,
    go_on: Annotated[
        bool, typer.Option("--go-on", help="Write on where the model ends the story, up to that length.")
    ] = False,
    stop: Annotated[
        list[str] | None, typer.Option(help="A story ends before this text too; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random choices, for each prompt apart.")] = _USUAL.seed,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token.")] = _USUAL.temperature,
    top_k: Annotated[int, typer.Option(help="Choose among this many likeliest tokens.")] = _USUAL.top_k,
    top_p: Annotated[
        float, typer.Option(help="Among the fewest likeliest whose probabilities reach this sum.")
    ] = _USUAL.top_p,
    min_p: Annotated[
        float, typer.Option(help="Among those at least this share as likely as the likeliest.")
    ] = _USUAL.min_p,
    repetition_penalty: Annotated[
        float, typer.Option(help="Above 1: tokens that the text has already are less likely.")
    ] = _USUAL.repetition_penalty,
    weights: WeightsWord = "float32",
    compiled: Annotated[
        bool,
        typer.Option(
            "--compile",
            help="Compile first, for many stories: seconds to half a minute, then several times as fast.",
        ),
    ] = False,
    trust: Trust = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON lines, one object per story, and nothing else there.")
    ] = False,
) -> None:
    """Let trained models continue a prompt, several of them side by side."""
    asked = Sampling(
        seed=seed,
        samples=samples,
        tokens=tokens,
        characters=characters,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        repetition_penalty=repetition_penalty,
        stop=stop or [],
    )
    from onechange.verbs import sampling

    how = sampling.How(weights, compiled)
    sampling.sample(runs, sampling.Asked(checkpoint, prompt or [], asked, go_on, how, trust), as_json)
