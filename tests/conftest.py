"""What several test files need.

Shapes are checked while tests run. The check cannot be traced by `torch.compile`: a test that compiles in its own process
asks for the fixture ``unchecked``.
"""

from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest

SPEAK_OF_SHAPES = "attention encoding engine evaluate measure mlp model norm position windows".split()
jaxtyping.install_import_hook([f"onechange.{name}" for name in SPEAK_OF_SHAPES], "beartype.beartype")

import torch  # noqa: E402

SHARED_STORIES = Path(__file__).parents[2] / "shared" / "data" / "tinystories-v2.txt"


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


@pytest.fixture(scope="session")
def shared_stories() -> Path:
    """Real TinyStories V2 text, where it lies beside the checkout."""
    if not SHARED_STORIES.is_file():
        pytest.skip("the shared TinyStories text is not beside this checkout")
    return SHARED_STORIES
