"""The code of members from outside in a run's folder: kept by who trains it, executed by who reads it and trusts it."""

from pathlib import Path

from onechange import atomic, component_file, family, outside
from onechange.outside import SHA256, Code
from onechange.recipe import Recipe

FOLDER = "components"


def path(run: Path, kind: str, name: str) -> Path:
    """Where ``run`` keeps the file of a member of the family ``kind``."""
    return run / FOLDER / kind / name


def keep(recipe: Recipe, run: Path) -> None:
    """Write the files of the recipe's members into the folder ``run``, each whole or not at all."""
    for code in outside.codes(recipe.members):
        place = path(run, code.family, code.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(place, code.source)


def missing(recipe: Recipe, run: Path) -> list[Path]:
    """The files of the recipe's members that ``run`` no longer keeps."""
    places = [
        path(run, kind, member["name"])
        for kind, member in recipe.members.items()
        if outside.is_file(member["name"])
    ]
    return [place for place in places if not place.is_file()]


def take(recipe: Recipe, run: Path, trust: bool) -> None:
    """Make sure that the recipe's members can be built as they were when ``run`` was trained.

    Code that this process has executed for a study of its own will do, if it is the same. Else what ``run`` keeps is
    executed, but only with ``trust``, and only what `environment.json` gives the SHA-256 of. Raises a `LookupError` or
    `ValueError` that says what is missing, what has been altered, or what is to be read first.
    """
    wanted = []
    for kind, member in recipe.members.items():
        name, recorded = member["name"], outside.recorded_version(run, kind)
        if outside.is_file(name):
            if not outside.is_executed(kind, name) or outside.version(kind, name) != recorded:
                wanted.append(_code(run, kind, name, recorded))
        elif recorded and not family.is_here(kind, name):
            raise LookupError(
                f"{run}: its {kind} {name!r} is from the package {recorded}, which is not installed"
            )
    if wanted and not trust:
        files = " and ".join(str(path(run, code.family, code.name)) for code in wanted)
        raise ValueError(f"{run} was made with code of its own: read {files}, and say --trust to execute it")
    outside.execute(
        wanted, {(code.family, code.name): str(path(run, code.family, code.name)) for code in wanted}
    )
    for kind, member in recipe.members.items():
        if outside.is_file(member["name"]):
            family.resolve(kind, member)  # the recipe's settings were taken as they stood


def _code(run: Path, kind: str, name: str, recorded: str | None) -> Code:
    place = path(run, kind, name)
    found = Code(
        kind, name, component_file.read(place, f"{run}: its {kind} {name!r} is code that it does not keep")
    )
    if found.version != recorded:
        told = (recorded or "none").removeprefix(SHA256)[:12]
        raise ValueError(
            f"{place} is not the code that the run was made with: its SHA-256 begins with "
            f"{found.version.removeprefix(SHA256)[:12]}, environment.json says {told}"
        )
    return found
