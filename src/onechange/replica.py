"""A run's folder, kept alike on two machines: one where it is trained, one where the study lies.

What is trained goes on while it is copied. So a photograph is taken first, a folder of links and small copies in which
nothing changes any more, and brought home in the order in which `onechange.checkpoint` writes: a cut at any moment
leaves a folder that can be resumed.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from onechange import atomic

Mark = tuple[int, int, int]
"""What tells a file from another of its name: its number on the disk, when it was written (ns), its bytes."""

PIECE = 1 << 24
"""Bytes that are in memory at a time."""
CHECKPOINTS, POINTERS = "checkpoints", ("checkpoints/best.json", "checkpoints/last.json")
END = ("failure.json", "measures.json")
"""With one of them a run is over: they come last."""


def names(run: Path) -> list[str]:
    """Every file of a run, as a path below ``run``, but locks and what is not finished; links are no files of a run."""
    found = []
    for folder, below, files in os.walk(run):
        below[:] = [name for name in below if not name.endswith(".part")]
        for name in files:
            path = Path(folder, name)
            if name != ".lock" and not name.endswith(".part") and stat.S_ISREG(_status(path)):
                found.append(path.relative_to(run).as_posix())
    return sorted(found)


def _status(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:  # replaced or deleted meanwhile
        return 0


def photograph(run: Path, place: Path) -> dict[str, Mark]:
    """Fill the folder ``place`` with what ``run`` holds at one moment, though it is being trained; returns the marks.

    Large files, which are never written to again, are linked; the two folders must lie on one disk.
    """
    while True:
        shutil.rmtree(place, ignore_errors=True)
        before = _pointers(run)
        try:
            # What a checkpoint counts on was written before it: the histories may be longer, never shorter.
            ordered = sorted(names(run), key=lambda name: not name.startswith(CHECKPOINTS))
            marks = {name: _take(run / name, place / name) for name in ordered}
        except FileNotFoundError:  # a checkpoint that no pointer names any more
            continue
        if _pointers(run) == before:
            return marks


def _pointers(run: Path) -> list[bytes | None]:
    return [(run / name).read_bytes() if (run / name).is_file() else None for name in POINTERS]


def _take(source: Path, target: Path) -> Mark:
    target.parent.mkdir(parents=True, exist_ok=True)
    found = source.stat()
    if source.suffix == ".safetensors":
        os.link(source, target)
    else:
        shutil.copyfile(source, target)
    return found.st_ino, found.st_mtime_ns, found.st_size


def pieces(path: Path) -> Iterable[bytes]:
    """The bytes of a file, a `PIECE` at a time."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def bring(
    photo: Mapping[str, Mark], held: Mapping[str, Mark], read: Callable[[str], Iterable[bytes]], run: Path
) -> None:
    """Make the folder ``run`` what a photograph shows; what ``held`` has the same mark for is there already.

    ``read`` gives a file of the photograph in pieces. Names come from another machine: one that leads out of ``run`` is
    a `ValueError`.
    """
    for name in photo:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"{run}: a file called {name!r} is none of a run's")
    changed = [name for name, mark in photo.items() if held.get(name) != mark]
    saved = {str(Path(name).parent) for name in changed if _is_in_checkpoint(name)}
    replaced = {str(Path(name).parent) for name in changed if name in held}
    for name in changed:
        if name not in (*POINTERS, *END) and not _is_in_checkpoint(name):
            _write(run / name, read(name))
    for checkpoint in sorted(saved):
        if checkpoint in replaced or not _is_there(run, checkpoint, read):
            _folder(run / checkpoint, [name for name in photo if str(Path(name).parent) == checkpoint], read)
    for name in POINTERS:
        if name in changed:
            _write(run / name, read(name))
    _delete_others(run, photo)
    for name in END:
        if name in changed:
            _write(run / name, read(name))


def _is_in_checkpoint(name: str) -> bool:
    parts = Path(name).parts
    return len(parts) == 3 and parts[0] == CHECKPOINTS and parts[1].startswith("step-")


def _is_there(run: Path, checkpoint: str, read: Callable[[str], Iterable[bytes]]) -> bool:
    """Whether an earlier attempt brought it, whole: its state holds the marks of its files."""
    name = f"{checkpoint}/state.json"
    return (run / name).is_file() and (run / name).read_bytes() == b"".join(read(name))


def _write(path: Path, content: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, b"".join(content))


def _folder(path: Path, contained: Iterable[str], read: Callable[[str], Iterable[bytes]]) -> None:
    def fill(unfinished: Path) -> None:
        for name in contained:
            target = unfinished / Path(name).name
            with atomic.naming(target), target.open("wb") as file:
                file.writelines(read(name))

    atomic.folder(path, fill)


def _delete_others(run: Path, photo: Mapping[str, Mark]) -> None:
    """Delete what the photograph does not show: a checkpoint as `Checkpoints.tidy` does, and what was unfinished."""
    kept = {above.as_posix() for name in photo for above in Path(name).parents}
    for folder in (run / CHECKPOINTS).glob("step-*"):
        if folder.relative_to(run).as_posix() not in kept:
            atomic.remove(folder)
    for name in names(run):
        if name not in photo:
            (run / name).unlink()
