"""The example in `docs/tokenizers.md` gives what the page says."""

import doctest
from pathlib import Path


def test_the_example_is_true():
    page = Path(__file__).parents[1] / "docs" / "tokenizers.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted >= 8
    assert results.failed == 0
