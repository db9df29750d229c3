"""What several test files need."""

from pathlib import Path

import pytest

SHARED_STORIES = Path(__file__).parents[2] / "shared" / "data" / "tinystories-v2.txt"


@pytest.fixture(scope="session")
def shared_stories() -> Path:
    """Real TinyStories V2 text, where it lies beside the checkout."""
    if not SHARED_STORIES.is_file():
        pytest.skip("the shared TinyStories text is not beside this checkout")
    return SHARED_STORIES
