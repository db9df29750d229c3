"""A person's own text: .txt, .jsonl (one field of it), .parquet (one column of it), or a folder of these."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

from onechange import table_files
from onechange.corpus import Source
from onechange.plain_text import Changes, blocks, decode, stamp, stories

SUFFIXES = (".txt", ".jsonl", ".parquet")


@final
class File(Source):
    """Documents from ``path``, a file or a folder, whose files are read in the order of their names.

    A .txt file holds several documents where ``<|endoftext|>`` lines separate them, else it is one document.
    ``field``: which field of each .jsonl line or which .parquet column is the text.
    """

    def __init__(
        self,
        *,
        path: str,
        field: str = "text",
        characters: int | None = None,
        separator: str = "\n\n",
        test: float = 0.0,
    ) -> None:
        self.path = path
        self.field = field
        self.characters = characters
        self.separator = separator
        self.test = test
        self._notes: list[str] = []

    def documents(self) -> Iterator[str]:
        self._notes = []
        for file in self._files():
            changes = Changes(str(file))
            try:
                yield from self._read(file, changes)
            finally:
                self._notes += changes.notes()

    def stamp(self) -> dict[str, Any]:
        return stamp(self._files())

    def notes(self) -> list[str]:
        return list(self._notes)

    def _read(self, file: Path, changes: Changes) -> Iterator[str]:
        kind = file.suffix.lower()
        if kind == ".parquet":
            return table_files.parquet(file, self.field, changes)
        text = decode(blocks(file), changes)
        return table_files.jsonl(text, self.field, changes) if kind == ".jsonl" else stories(text, changes)

    def _files(self) -> list[Path]:
        path = Path(self.path).expanduser()
        if not self.path or not path.exists():
            raise FileNotFoundError(f"corpus.path = {self.path!r}: there is no such file or folder")
        if not path.is_dir():
            if path.suffix.lower() not in SUFFIXES:
                raise ValueError(f"{path}: its name must end in one of {', '.join(SUFFIXES)}")
            return [path]
        inside = [file for file in path.rglob("*") if file.is_file() and not _hidden(file, path)]
        found = sorted(
            (file for file in inside if file.suffix.lower() in SUFFIXES), key=lambda file: file.parts
        )
        if not found:
            raise ValueError(f"{path}: no file in this folder ends in one of {', '.join(SUFFIXES)}")
        others = sorted(str(file.relative_to(path)) for file in inside if file not in found)
        if others:
            named = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
            self._notes.append(
                f"{path}: left out, being none of {', '.join(SUFFIXES)}: {len(others)} ({named})"
            )
        return found


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
