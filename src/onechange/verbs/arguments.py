"""Arguments and options that several verbs have."""

from pathlib import Path
from typing import Annotated

import typer

from onechange.verbs import completing

AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else there.")
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="storyworld, tinystories, tinystories:PATH or file:PATH",
        autocompletion=completing.corpora,
    ),
]
RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A run's folder, OUT/arms/ARM/seed-N.", autocompletion=completing.runs
    ),
]
StudyFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A study's folder.", autocompletion=completing.studied)
]
Tokenizers = Annotated[
    list[str],
    typer.Argument(
        metavar="WHAT...",
        help="A run's folder, one with a tokenizer.json, or that file; a tokenizer's name, with settings or without: "
        "bpe, bpe:vocabulary=512, or three of them: bpe:vocabulary=256,1024,4096. A value with commas stands in "
        "double quotes, all of it in single ones.",
        autocompletion=completing.tokenizers,
    ),
]
TokenizerWord = Annotated[
    str,
    typer.Argument(
        metavar="WHAT",
        help="A tokenizer's name, with settings: bpe:vocabulary=512",
        autocompletion=completing.tokenizers,
    ),
]
SomeText = Annotated[
    str | None,
    typer.Option(help="What to split; - reads standard input. [a sentence about Lucy and a box]"),
]
