"""What several test files need.

Shapes are checked while tests run. `torch.compile` cannot trace the check: a test that compiles in its own
process asks for the fixture ``unchecked``.
"""

import importlib
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import jaxtyping
import pytest

# Before anything asks how wide and how colourful the terminal is: tests say so themselves.
for told in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(told, None)

SPEAK_OF_SHAPES = (
    "attending", "attention", "attention_distance", "bins", "cached", "decoding", "embedding", "encoding",
    "evaluate", "generate", "initialization", "key_value_cache", "kinds", "longer_texts", "mlp", "model",
    "norm", "picking", "placement", "position", "probes", "readings", "row_linear", "shift_test", "spelling",
    "stories", "symbols", "token_table", "unicode_classes", "windows",
)  # fmt: skip
jaxtyping.install_import_hook([f"onechange.{name}" for name in SPEAK_OF_SHAPES], "beartype.beartype")

# After the hook: modules imported before it would go unchecked.
import torch  # noqa: E402 (see above)

SHARED_STORIES = Path(__file__).parents[2] / "shared" / "data" / "tinystories-v2.txt"


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors, but for those in which torch's compiler is warned about torch itself."""
    config.addinivalue_line("filterwarnings", "ignore:The .grad attribute of a Tensor:UserWarning")
    config.addinivalue_line("filterwarnings", "ignore:`torch.jit:DeprecationWarning")
    hypothesis.settings.register_profile("busy", deadline=None)  # how fast this machine is, is no fault
    hypothesis.settings.load_profile("busy")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tests share the machine with each other."""
    torch.set_num_threads(1)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Compiled code: nothing compiled before counts, and shapes and types are not checked."""
    torch._dynamo.reset()
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
    torch._dynamo.reset()


@pytest.fixture
def strangers(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a member that a file of `tests/strangers` adds to every family of the model."""
    for folder in (Path(__file__).parent / "strangers").iterdir():
        package = importlib.import_module(f"onechange.{folder.name}")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    return "stranger"


@pytest.fixture(scope="session")
def shared_stories() -> Path:
    """Real TinyStories V2 text, where it lies beside the checkout."""
    if not SHARED_STORIES.is_file():
        pytest.skip("the shared TinyStories text is not beside this checkout")
    return SHARED_STORIES
