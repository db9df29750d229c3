"""What a study found: its answer in words, its tables, its charts, its trained models."""

import json
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal, final

from onechange import notebook, record, report
from onechange.api import tables
from onechange.api.chart import Chart
from onechange.api.table import Table
from onechange.api.trained import TrainedRun, load_run
from onechange.report.answer import answers, left_out
from onechange.report.study import Point, Study, Text, parsed
from onechange.study_folder import StudyFolder

Axis = Literal["step", "tokens", "characters", "operations", "seconds"]
_LAYOUT = "medium"
"""Of the report's widths the one that fits a notebook."""
_CONTEXT: dict[str, Literal["by_context", "by_position"]] = {
    "characters": "by_context",
    "tokens": "by_position",
}
_SHOWN = ("arm", "change", "nats_per_character", "spread", "difference", "difference_low",
         "difference_high", "verdict")  # fmt: skip


def load_results(folder: str | Path) -> "Results":
    """The results of the study in ``folder``, as far as it has come; what other programs need is `results.json` there.

    Raises a `LookupError` where no study lies and a `ValueError` where one cannot be read.
    """
    return Results(Path(folder))


@final
class Results:
    """As they were when this was made: a study that goes on is loaded anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record: dict[str, Any] = record.collect(StudyFolder(folder))
        """The content of `results.json`; docs/results.md explains its keys."""
        self._study: Study = parsed(folder, json.dumps(self.record))

    @property
    def question(self) -> str:
        """What the study asks."""
        return self._study.question

    @property
    def finished(self) -> bool:
        """Whether every run has come to its end."""
        return self._study.finished

    @property
    def judged_on(self) -> Text:
        """The text that `arms` and `differences` are of: the validation text, or the test text of a tuned study."""
        return self._study.judged_on

    @property
    def answers(self) -> Table:
        """What may be said of every change, in a sentence."""
        rows = [
            {
                "arm": one.arm.name,
                "change": one.change,
                "verdict": one.verdict,
                "answer": f"{one.headline} {one.detail}",
            }
            for one in answers(self._study)
        ]
        return Table(("arm", "change", "verdict", "answer"), rows)

    @cached_property
    def arms(self) -> Table:
        """A row for every arm. Nats per character are at the best checkpoint, means over seeds, with 95% intervals;
        ``spread`` is the standard deviation over seeds; ``difference`` is to the parent, negative is better."""
        return tables.arms(self._study)

    @cached_property
    def differences(self) -> Table:
        """A row for every change at the best and at the last checkpoint, with interval, verdict and p."""
        return tables.differences(self._study)

    @cached_property
    def runs(self) -> Table:
        """A row for every run."""
        return tables.runs(self._study)

    @cached_property
    def history(self) -> Table:
        """A row for every evaluation of every run."""
        return tables.history(self._study)

    @cached_property
    def samples(self) -> Table:
        """The first story after every prompt, at the best and the last checkpoint of every run."""
        return tables.samples(self._study)

    @cached_property
    def stories(self) -> Table:
        """Measures of the stories of every arm, beside real ones (docs/measures.md)."""
        return tables.stories(self._study)

    def ladder(self) -> Chart:
        """Every arm on an axis of nats per character, every change an arrow."""
        from onechange.report import ladder, still

        return Chart("Ladder", still.compiled(ladder.chart(self._study, ladder.LAYOUTS[_LAYOUT])))

    def curves(self, across: Axis = "step") -> Chart:
        """Validation (solid) and training (dashed) as training went on. A `LookupError`: no evaluation is there."""
        from onechange.report import curves, curves_chart, ladder

        if across not in curves.AXES:
            raise ValueError(f"across = {across!r}: must be one of {', '.join(curves.AXES)}")
        drawn = curves_chart.specification(self._study, ladder.LAYOUTS[_LAYOUT])
        if drawn is None:
            raise LookupError(f"{self.folder} has no evaluation yet, so there is no curve")
        for signal in drawn["signals"]:
            if signal["name"] == "axis":
                signal["value"] = across
        return Chart(f"Curves over {curves.AXES[across]}", drawn)

    def changes(self) -> Chart:
        """The differences to the parents: every seed a dot, the mean with its interval, the noise floor as a band."""
        from onechange.report import differences, differences_chart, ladder, still

        if not differences.rows(self._study):
            raise LookupError(f"{self.folder} has no difference yet: two arms must have finished a seed")
        drawn = differences_chart.chart(self._study, ladder.LAYOUTS[_LAYOUT])
        return Chart("Differences", still.compiled(drawn))

    def context(self, across: Literal["characters", "tokens"] = "characters") -> Chart:
        """Nats per character by how much of the text a model has in view."""
        from onechange.report import ladder, where_chart

        if across not in _CONTEXT:
            raise ValueError(f"across = {across!r}: must be one of {', '.join(_CONTEXT)}")
        drawn = where_chart.specification(self._study, ladder.LAYOUTS[_LAYOUT], _CONTEXT[across])
        if drawn is None:
            raise LookupError(f"{self.folder} has no readings by context yet: no run has finished")
        return Chart(f"Nats per character by {across} in view", self._with_legend(drawn))

    def _with_legend(self, drawn: dict[str, Any]) -> dict[str, Any]:
        """The report has the arms' names beside its charts; a picture has them in it."""
        from onechange.report.marks import colour, shape

        names = [arm.name for arm in self._study.arms]
        drawn["scales"] += [
            {"name": "names", "type": "ordinal", "domain": names, "range": [*map(colour, range(len(names)))]},
            {"name": "shapes", "type": "ordinal", "domain": names, "range": [*map(shape, range(len(names)))]},
        ]
        legend = {"fill": "names", "shape": "shapes", "orient": "top-right", "labelFontSize": 13}
        drawn["legends"] = [legend]
        return drawn

    def trained(
        self, arm: str, seed: int = 0, checkpoint: Point = "best", *, trust: bool = False
    ) -> TrainedRun:
        """One run's model, as `load_run` reads it. A `LookupError` lists the arms and seeds that there are."""
        known = {name: StudyFolder(self.folder).seeds(name) for name in self.runs["arm"]}
        if arm not in known:
            raise LookupError(f"no arm {arm!r}; there is {', '.join(known)}")
        if seed not in known[arm]:
            raise LookupError(f"{arm} has no seed {seed}; there is {', '.join(map(str, known[arm]))}")
        return load_run(StudyFolder(self.folder).run(arm, seed), checkpoint, trust=trust)

    @property
    def page(self) -> Path:
        """Where the report is: one file for the browser. It is written anew if it is not there."""
        path = self.folder / "report.html"
        if not path.is_file():
            record.write(StudyFolder(self.folder))
            report.write(self.folder)
        return path

    def __repr__(self) -> str:
        standing = "finished" if self.finished else "unfinished"
        return f"Results of {self.folder}: {len(self.arms)} arms, {len(self.runs)} runs, {standing}"

    def _repr_html_(self) -> str:
        told = "".join(
            f"<p><b>{escape(row['change'])}</b>&ensp;{escape(row['answer'])}</p>" for row in self.answers
        )
        told += "".join(f"<p>{escape(line)}</p>" for line in left_out(self._study))
        if not self.finished:
            told += "<p>This study is not finished: its figures may still change.</p>"
        drawn = self.ladder().svg() if any(arm.best for arm in self._study.arms) else ""
        shown = Table(_SHOWN, [{key: row[key] for key in _SHOWN} for row in self.arms])
        return notebook.titled(self.question, f"{told}{drawn}{shown._repr_html_()}")
