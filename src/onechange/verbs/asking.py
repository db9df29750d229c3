"""The words of `onechange run`, and the plan that they stand for."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onechange import launch, outside, source, study_file, tracker
from onechange.family import resolve
from onechange.plan import Plan
from onechange.study import Study
from onechange.study_folder import StudyFolder
from onechange.tracker import Tracker
from onechange.verbs import preparing

DEFAULT_STUDY = "tokenizers-and-positions"
DEFAULT_SCALE = "quick"
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Request:
    """The words of the command, ``None`` where none was given."""

    study: str | None
    scale: str | None
    data: str | None
    out: Path | None
    seeds: str | None
    arms: list[str]
    resume: bool
    on_nonfinite: str = "stop"
    processes: int | None = None
    jobs: int | None = None
    track: Sequence[str] = ()
    cluster: str | None = None
    """The address of a Ray cluster, whose machines train the runs instead of this one."""

    def trackers(self) -> dict[str, type[Tracker]]:
        """Every tracker by its word; a `LookupError` or `ValueError` says of a word why it is none."""
        return {word: tracker.find(word) for word in self.track}

    @property
    def command(self) -> str:
        """The command that repeats the study on another machine."""
        words = ["onechange", "run", self.study or DEFAULT_STUDY, "--scale", self.scale or DEFAULT_SCALE]
        if self.data:
            words += ["--data", self.data]
        words += ["--seeds", self.seeds or "1"]
        if self.on_nonfinite != "stop":
            words += ["--on-nonfinite", self.on_nonfinite]
        return shlex.join(words + [word for arm in self.arms for word in ("--arm", arm)])


def reconciled(request: Request) -> Request:
    """The request without contradictions: a run that is spread over processes has the machine to itself."""
    processes = launch.asked(request.processes)
    if request.cluster is not None and processes > 1:
        raise ValueError(
            f"--cluster {request.cluster}: not with {processes} processes; on a cluster every run has one process"
        )
    if processes == 1:
        return request
    if (request.jobs or 1) > 1:
        raise ValueError(
            f"--jobs {request.jobs}: must be 1 with {processes} processes; runs that are spread go one after another"
        )
    return replace(request, jobs=1)


def seeds(word: str) -> list[int]:
    """``"5"`` is 0 to 4, ``"3,5"`` a list. A `ValueError` says what is allowed."""
    try:
        numbers = [int(part) for part in word.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if "," in word and numbers and min(numbers) >= 0 and len(set(numbers)) == len(numbers):
        return numbers
    if "," not in word and len(numbers) == 1 and 1 <= numbers[0] <= MOST_SEEDS:
        return list(range(numbers[0]))
    raise ValueError(
        f"--seeds {word!r}: a number from 1 to {MOST_SEEDS} (5 is seeds 0 to 4), or a list of different seeds: 3,5"
    )


def prepared(request: Request, processes: int) -> tuple[Plan, bytes, StudyFolder]:
    """The plan, the study file's content and the folder. Each of ``processes`` takes part in every run.

    A `ValueError` or `LookupError` says which word is wrong.
    """
    path = study_file.locate(request.study or DEFAULT_STUDY)
    if request.resume and request.study is None and request.out and StudyFolder(request.out).exists:
        path = request.out / "study.toml"
        found = _of_folder(StudyFolder(request.out))
    else:
        found = study_file.load(path)
    content = path.read_bytes()
    scale = request.scale or DEFAULT_SCALE
    table = source.parse(request.data) if request.data else resolve("corpus", found.corpus)
    table = {**table, "test": found.test_share(table)}
    chosen = seeds(request.seeds or "1")
    arms = wanted(found, scale, request.arms) or found.names(scale)
    plan = Plan(found, scale, table, chosen, arms, watch=preparing.watch, processes=processes)
    out = request.out or Path("runs") / f"{path.stem}-{scale}-{table['name']}"
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: is a file, it must be a folder or not exist")
    return plan, content, StudyFolder(out)


def _of_folder(folder: StudyFolder) -> Study:
    """The study in the ``folder``; code that lies in there is not executed, so a study of files must be named."""
    missing = [
        f"{one.family} {one.name!r}"
        for one in folder.start().outside
        if outside.is_file(one.name) and not outside.is_executed(one.family, one.name)
    ]
    if missing:
        raise LookupError(
            f"{folder.path}: its study has members that are files ({', '.join(missing)}): name the study file, "
            f"beside which they lie: onechange run STUDY --out {folder.path} --resume"
        )
    return folder.study()


def wanted(study: Study, scale: str, words: list[str]) -> list[str]:
    """The arms that were asked for, in the study's order; a sweep's name stands for all of its arms."""
    names = study.names(scale)
    sweeps = {name: arm.sweep.name for name in names if (arm := study.arm(name)) and arm.sweep}
    for word in words:
        if word not in names and word not in sweeps.values():
            known = [*names, *dict.fromkeys(sweeps.values())]
            raise LookupError(f"no arm {word!r} in this study; there is {', '.join(known)}")
    return [name for name in names if name in words or sweeps.get(name) in words]
