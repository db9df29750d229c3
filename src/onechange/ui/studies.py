"""The studies of a folder, by name: what the server shows, and all that it can reach."""

from contextlib import suppress
from pathlib import Path

from onechange.study_folder import StudyFolder


class Studies:
    """``folder`` is a study's own, or holds those of several."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @property
    def alone(self) -> bool:
        """Whether the folder is a study's own; one that is empty now may become either."""
        return StudyFolder(self.folder).exists

    def all(self) -> dict[str, Path]:
        """Every study that lies there now, by the name of its folder."""
        if self.alone:
            return {self.folder.name: self.folder}
        return {path.name: path for path in sorted(self.folder.iterdir()) if _is_study(path)}

    def path(self, name: str) -> Path:
        """The folder of a study. A `LookupError` says that there is none of this name, whatever the name holds."""
        found = self.all().get(name)
        if found is None:
            raise LookupError(f"no study {name!r} here")
        return found


def _is_study(path: Path) -> bool:
    """One that may not be looked into is none."""
    with suppress(OSError):
        return path.is_dir() and not path.is_symlink() and StudyFolder(path).exists
    return False
