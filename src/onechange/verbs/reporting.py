"""`onechange report`: results and pages of a study made anew from its folder."""

from pathlib import Path

from onechange import record
from onechange import report as pages
from onechange.study_folder import StudyFolder
from onechange.verbs import output
from onechange.verbs.running import show


def report(folder: Path, as_json: bool) -> None:
    """Write `results.json`, `report.html` and `report.md` again; nothing is trained."""
    results = record.write(StudyFolder(folder))
    pages.write(folder)
    if as_json:
        output.document(results)
    else:
        show(folder)
