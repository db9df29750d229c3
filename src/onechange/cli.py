"""The command line: verbs only. What a verb does stands in `onechange.verbs`, imported when it is used."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from onechange import mistake
from onechange.stopping import Stopped
from onechange.verbs import completing, ending
from onechange.verbs.arguments import (
    AsJson,
    Data,
    RunFolder,
    SomeText,
    StudyFolder,
    Tokenizers,
    TokenizerWord,
)
from onechange.verbs.run_options import run
from onechange.verbs.sample_options import Checkpoint, Trust, WeightsWord, sample

app = typer.Typer(
    name="onechange",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Change one component of a small language model, hold the rest equal, read what it bought.",
)
corpus_app = typer.Typer(no_args_is_help=True, help="The text that a study learns from.")
tokenizer_app = typer.Typer(no_args_is_help=True, help="How text becomes tokens.")
app.add_typer(corpus_app, name="corpus")
app.add_typer(tokenizer_app, name="tokenizer")

app.command()(run)


@app.command("list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="studies, scales, or a family such as position.", autocompletion=completing.lists
        ),
    ] = "families",
    as_json: AsJson = False,
) -> None:
    """What there is to choose from: studies, scales, families and their members."""
    from onechange.verbs import listing

    listing.show(what, as_json)


@app.command()
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write; it must not exist.")],
) -> None:
    """Write a commented study file to start from."""
    from onechange.verbs import starting

    starting.new(file)


app.command("sample")(sample)


@app.command()
def measure(
    run: RunFolder,
    data: Data = None,
    checkpoint: Checkpoint = "best",
    weights: WeightsWord = "float32",
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Exact nats per character and bits per byte of a trained model on a whole text."""
    from onechange.verbs import measuring

    measuring.measure(run, data, checkpoint, weights, trust, as_json)


@app.command()
def export(
    run: RunFolder,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it must hold nothing.")],
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            autocompletion=completing.formats,
            help="hf: for transformers' Auto classes, where one of its architectures is the model exactly; "
            "safetensors: weights beside the model written out in Python, for every model.",
        ),
    ],
    checkpoint: Checkpoint = "best",
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write a trained model for other programs, and try it there before it is handed over."""
    from onechange.verbs import exporting

    exporting.export(run, folder, to, checkpoint, trust, as_json)


@app.command()
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folders of runs, OUT/arms/ARM/seed-N, or of arms: all seeds.",
            autocompletion=completing.runs,
        ),
    ],
    checkpoint: Annotated[
        str, typer.Option(help="best or last.", autocompletion=completing.best_or_last)
    ] = "best",
    as_json: AsJson = False,
) -> None:
    """Set finished runs of any studies against the first, and list which laws hold between them."""
    from onechange.verbs import comparing

    comparing.compare(runs, checkpoint, as_json)


@app.command()
def report(folder: StudyFolder, as_json: AsJson = False) -> None:
    """Write report.html, report.md and results.json of a study anew, and show ladder and table."""
    from onechange.verbs import reporting

    reporting.report(folder, as_json)


@app.command()
def status(folder: StudyFolder, as_json: AsJson = False) -> None:
    """Where every run of a study stands: finished, running, stopped, failed or not started."""
    from onechange.verbs import standing

    standing.show(folder, as_json)


@app.command()
def ui(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A study's folder, or one that holds several studies.",
            autocompletion=completing.studied,
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Others than this machine's own need a token.")
    ] = "127.0.0.1",
    opened: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Serve the pages of studies while they run: what is running, how far, and the report as it grows."""
    from onechange.verbs import serving

    serving.serve(folder, host, port, opened)


@app.command()
def plan(
    folder: StudyFolder,
    resolution: Annotated[
        float,
        typer.Option(help="The difference, in nats per character, that the study shall be able to find."),
    ] = 0.01,
    as_json: AsJson = False,
) -> None:
    """How many seeds a wanted resolution needs, from the spread over the seeds that are finished."""
    from onechange.verbs import planning

    planning.show(folder, resolution, as_json)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """What this machine can do, and what a run will use."""
    from onechange.verbs import diagnosing

    diagnosing.doctor(as_json)


@corpus_app.command("describe")
def corpus_describe(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="storyworld, tinystories[:PATH], file:PATH",
            autocompletion=completing.corpora,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Documents, characters, splits and fingerprint of a corpus, as a study would see it."""
    from onechange.verbs import describing

    describing.corpus(source, as_json)


@tokenizer_app.command("show")
def tokenizer_show(
    what: Tokenizers,
    text: SomeText = None,
    ids: Annotated[bool, typer.Option("--ids", help="Every token's id under it.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """How a text is split: by tokenizers that are kept in a folder, or learned now from SOURCE."""
    from onechange.verbs import showing

    showing.show(what, text, data, ids, as_json)


@tokenizer_app.command("learn")
def tokenizer_learn(
    what: TokenizerWord,
    out: Annotated[Path, typer.Option(help="The folder to write; it must hold no tokenizer.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Learn a tokenizer from SOURCE and keep it in a folder, for other programs too."""
    from onechange.verbs import learning

    learning.learn(what, data, out, as_json)


@tokenizer_app.command("compare")
def tokenizer_compare(
    what: Tokenizers,
    data: Data = None,
    width: Annotated[int, typer.Option(help="Of the model whose parameters are counted.")] = 128,
    layers: Annotated[int, typer.Option(help="Of the same model.")] = 4,
    text: SomeText = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page with table, chart and text too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How much text the tokens hold, what is unused, what they cost a model: any number of tokenizers."""
    from onechange.verbs import comparing_tokenizers

    comparing_tokenizers.compare(what, data, width, layers, text, page, as_json)


def main() -> None:
    """Run the command line. A person's mistake is one line on standard error and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        ending.write_anything(stream)
    try:
        status = app(standalone_mode=False) or 0
        if status == 130:  # how typer tells of Ctrl-C
            ending.stopped("stopped", signal.SIGINT)
        sys.stdout.flush()
    except typer.Abort:
        status = ending.stopped("stopped", signal.SIGINT)
    except Stopped as error:
        status = ending.stopped(str(error), error.signal)
    except SystemExit as end:  # of runs side by side: their jobs have saved
        status = ending.stopped("stopped", signal.SIGTERM) if end.code == 128 + signal.SIGTERM else end.code
    except ending.UsageError as error:
        status = ending.misused(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left: nothing to say
        status = 141
    except (ValueError, LookupError, OSError) as error:
        if os.environ.get("ONECHANGE_TRACEBACK"):
            raise
        print(f"onechange: {mistake.sentence(error)}", file=sys.stderr)
        status = 2
    sys.exit(status)
