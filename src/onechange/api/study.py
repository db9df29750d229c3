"""A study, loaded from its file: shown, previewed, run."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, final

from onechange import notebook, study_file
from onechange.api import watching
from onechange.api.results import Results
from onechange.api.table import Table
from onechange.study import Study as File
from onechange.verbs.asking import DEFAULT_SCALE, DEFAULT_STUDY, Request
from onechange.verbs.carrying_out import carried_out
from onechange.verbs.preparing import shown
from onechange.verbs.previewing import previewed

_PREVIEW = (
    "arm", "from", "change", "parameters", "embedding_share", "vocabulary", "characters_per_token",
    "characters_per_window", "steps", "tokens", "times_text_seen", "operations", "operations_per_character",
    "estimated_seconds",
)  # fmt: skip


def load_study(study: str | Path = DEFAULT_STUDY) -> "Study":
    """A built-in study by its name (`onechange.list_studies` lists them), or the study in a file.

    Code files that it names as members are executed. A `LookupError` or `ValueError` says what is wrong.
    """
    return Study(str(study))


@final
class Study:
    """`run` trains it; `preview` says what would be trained."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.path = study_file.locate(word)
        self._file: File = study_file.load(self.path)

    @property
    def question(self) -> str:
        """What the study asks."""
        return self._file.question

    @property
    def prompts(self) -> list[str]:
        """What its models continue when they are done."""
        return list(self._file.prompts)

    @property
    def arms(self) -> Table:
        """Every arm, its parent, and the one change between the two."""
        rows: list[dict[str, Any]] = [{"arm": self._file.base_name, "from": None, "change": None}]
        rows += [
            {"arm": arm.name, "from": arm.parent, "change": _change(arm.change)} for arm in self._file.arms
        ]
        return Table(("arm", "from", "change"), rows)

    @shown()
    def preview(
        self, *, scale: str = DEFAULT_SCALE, data: str | None = None, arms: Sequence[str] = ()
    ) -> Table:
        """What would run, a row for every arm, with what follows from its change; nothing is trained.

        ``estimated_seconds`` are for one run of the arm on this machine, from a few real steps.
        """
        request = Request(self._word, scale, data, None, None, list(arms), False)
        plan, found = previewed(request, watching.say)
        rows = []
        for arm in found["arms"]:
            own = plan.study.arm(arm["name"])
            known = {key: arm[key] for key in _PREVIEW[_PREVIEW.index("parameters") : -1]}
            change = _change(own.change) if own else None
            seconds = arm["seconds_per_step"] * arm["steps"]
            named = {"arm": arm["name"], "from": arm["from"], "change": change}
            rows.append({**named, **known, "estimated_seconds": seconds})
        return Table(_PREVIEW, rows)

    @shown()
    def run(
        self,
        *,
        scale: str = DEFAULT_SCALE,
        data: str | None = None,
        out: str | Path | None = None,
        seeds: int | Sequence[int] = 1,
        arms: Sequence[str] = (),
        jobs: int | None = None,
        resume: bool = True,
        quiet: bool = False,
    ) -> Results:
        """Train what of the study is not finished yet in the folder ``out``, measure it, write the report.

        The words are those of `onechange run`. ``seeds``: how many, or which. ``data``: ``storyworld``,
        ``tinystories``, ``file:PATH``, …. ``out``: by default ``runs/<study>-<scale>-<corpus>``. Called again, it
        returns what is finished there and goes on with what is not, unless ``resume`` is false: then a folder that
        holds a study is a `ValueError`. More arms or seeds may be asked for later. A run that fails is in the results
        as failed. Ctrl-C, or the notebook's stop, saves and raises.
        """
        count = str(seeds) if isinstance(seeds, int) else ",".join(map(str, seeds)) + ","
        folder = None if out is None else Path(out)
        request = Request(self._word, scale, data, folder, count, list(arms), resume, jobs=jobs)
        quietly = watching.silent if quiet else watching.shown
        outcome = carried_out(request, quietly, _unsaid if quiet else watching.say)
        return Results(outcome.folder.path)

    def __repr__(self) -> str:
        return f"Study {self.path.stem}: {self.question}"

    def _repr_html_(self) -> str:
        about = f"<p>{escape(self.path.stem)}, {len(self.arms)} arms</p>"
        return notebook.titled(self.question, about + self.arms._repr_html_())


def _unsaid(note: str) -> None:
    """For who asked for quiet."""


def _change(change: dict[str, Any]) -> str:
    """The one change in a study file's own words: ``position: rope, theta 500.0``."""
    ((key, value),) = change.items()
    if not isinstance(value, dict):
        return f"{key}: {value}"
    settings = [f"{name} {inner}" for name, inner in value.items() if name != "name"]
    return f"{key}: {', '.join([*([value['name']] if 'name' in value else []), *settings])}"
