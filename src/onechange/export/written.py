"""What an export is told of once it has been made and tried."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.export.comparison import Agreement


@dataclass(frozen=True)
class Written:
    """A folder that was made."""

    format: str
    folder: Path
    architecture: str
    parameters: int
    files: list[str]
    agreement: Agreement
    loading: str
    """How it is loaded."""

    def to_json(self) -> dict[str, Any]:
        """All of it, in JSON values."""
        agreement = self.agreement
        return {
            "format": self.format,
            "folder": str(self.folder),
            "architecture": self.architecture,
            "parameters": self.parameters,
            "files": self.files,
            "largest_difference": agreement.difference,
            "allowed_difference": agreement.allowed,
            "scores_compared": agreement.scores,
            "greedy_tokens": agreement.greedy,
            "ties": agreement.ties,
            "texts": agreement.texts,
            "tried_on": agreement.what,
        }
