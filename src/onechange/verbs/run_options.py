"""`onechange run` as the command line reads it. Nothing large is imported before it is used."""

import os
from pathlib import Path
from typing import Annotated

import typer

from onechange.verbs import completing
from onechange.verbs.arguments import AsJson, Data

DEFAULT_STUDY = "tokenizers-and-positions"


def run(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help=f"A built-in study or a file. Default: {DEFAULT_STUDY}.",
            autocompletion=completing.studies,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="tiny, quick, full, large, or the study's own. Default: quick.",
            autocompletion=completing.scales,
        ),
    ] = None,
    data: Data = None,
    out: Annotated[Path | None, typer.Option(help="Folder. Default: runs/<study>-<scale>-<corpus>.")] = None,
    seeds: Annotated[
        str | None, typer.Option(help="How many, from 0; or a list such as 3,5. Default: 1.")
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option(help="Only this arm; may be repeated.", autocompletion=completing.arms)
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Spread every run over this many processes. Default: 1.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the study in the folder.")] = False,
    on_nonfinite: Annotated[
        str,
        typer.Option(
            help="A loss or gradient that is not finite: stop, or skip that update.",
            autocompletion=completing.on_nonfinite,
        ),
    ] = "stop",
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="How many runs go side by side. Default: as many as there is room for."),
    ] = None,
    track: Annotated[
        list[str] | None,
        typer.Option(
            help="tensorboard, or some.package:Class, is told how runs go; may be repeated.",
            autocompletion=completing.trackers,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Train on the machines of a Ray cluster: HOST:PORT, auto, or local, which starts one here.",
            autocompletion=completing.clusters,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run, and how long it would take.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train every arm of a study, measure, sample, and write the report."""
    # Before torch is imported: what its connections say of a lost process is said here, in one line.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    from onechange.verbs import asking

    request = asking.Request(
        study,
        scale,
        data,
        out,
        seeds,
        arm or [],
        resume,
        on_nonfinite,
        processes,
        jobs,
        track or [],
        cluster,
    )
    if dry_run:
        from onechange.verbs import previewing

        previewing.dry_run(request, as_json)
    else:
        from onechange.verbs import running

        running.run(request, as_json)
