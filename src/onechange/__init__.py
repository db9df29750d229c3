"""Change one component of a small language model, hold the rest equal, read what it bought."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onechange.api.chart import Chart
    from onechange.api.listing import list_members, list_studies
    from onechange.api.read_text import ReadText
    from onechange.api.results import Results, load_results
    from onechange.api.stories import Stories
    from onechange.api.study import Study, load_study
    from onechange.api.table import Table
    from onechange.api.trained import TrainedRun, load_run

__version__ = "0.1.0"

__all__ = [
    "Chart",
    "ReadText",
    "Results",
    "Stories",
    "Study",
    "Table",
    "TrainedRun",
    "__version__",
    "list_members",
    "list_studies",
    "load_results",
    "load_run",
    "load_study",
]

_PLACES = {
    "Chart": "chart",
    "ReadText": "read_text",
    "Results": "results",
    "Stories": "stories",
    "Study": "study",
    "Table": "table",
    "TrainedRun": "trained",
    "load_results": "results",
    "load_run": "trained",
    "list_members": "listing",
    "list_studies": "listing",
    "load_study": "study",
}


def __getattr__(name: str) -> Any:
    """Imported when first asked for: torch takes a second, and not every user of the package needs it."""
    if name not in _PLACES:
        raise AttributeError(f"module 'onechange' has no attribute {name!r}")
    return getattr(import_module(f"onechange.api.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
