"""`onechange run`: from words to a plan, then the laboratory, then the outcome."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from rich.text import Text

from onechange import launch
from onechange.following import follow
from onechange.processes import Group, Lost
from onechange.report import read as read_report
from onechange.report import terminal
from onechange.verbs import output, preparing
from onechange.verbs.asking import Request, reconciled
from onechange.verbs.carrying_out import carried_out
from onechange.verbs.progress import Progress


@preparing.shown()
def run(request: Request, as_json: bool) -> None:
    """Start or resume the study and show what came of it; exit status 1 if a run failed.

    In every process but the first of several: take part in the runs of the first.
    """
    request = reconciled(request)
    if launch.was_restarted():
        request = replace(request, resume=True)
    try:
        with launch.gathered(request.processes) as group:
            if group.rank:
                _follow(group)
            else:
                _lead(request, group, as_json)
    except Lost as error:
        output.notes.print(f"onechange: {error}", markup=False, soft_wrap=True)
        sys.stderr.flush()
        os._exit(1)  # broken connections are not waited for


def _follow(group: Group) -> None:
    try:
        follow(group)
    except Lost:
        os._exit(1)  # the first process tells the person, or is gone itself
    except KeyboardInterrupt:
        os._exit(130)
    except (ValueError, LookupError, OSError) as error:
        # Only this process knows: its text is not the first one's.
        kind = OSError if isinstance(error, OSError) else ValueError
        raise kind(f"process {group.rank + 1} of {group.size}: {error}") from error


def _lead(request: Request, group: Group, as_json: bool) -> None:
    outcome = carried_out(request, Progress, output.say, group)
    if as_json:
        output.document(outcome.results)
    else:
        show(outcome.folder.path)
    if outcome.failed:
        sys.exit(1)


def show(folder: Path) -> None:
    """The answer, the ladder and the table of a study, and where its page is."""
    found = read_report(folder)
    output.out.print(Text(f"{found.question}\n", "bold"))
    output.out.print(terminal.answer(found), "")
    output.out.print(terminal.ladder(found, min(100, output.out.width)))
    output.out.print(terminal.table(found))
    output.out.print(f"report: {folder / 'report.html'}", soft_wrap=True)
