"""What checked stories amount to, ready for JSON: for every measure a count per story and what it is a share of.

A figure over all stories is a ratio of sums, Σ counts / Σ of, so that a long story weighs what it is long.
"""

from collections.abc import Sequence
from typing import Any

from onechange.storyworld.checking import Checked


def figures(texts: Sequence[str], checked: Sequence[Checked]) -> dict[str, Any]:
    """The measures of ``texts``, one `Checked` for each, and every contradiction with its story's number.

    ``world_parsed``: characters that begin a story; ``world_whole``: stories that agree to their end;
    ``world_read``: characters that can be read with contradictions; ``world_contradictions``: how many, per story.
    """
    characters = [len(text) for text in texts]
    ones = [1] * len(texts)
    measures = {
        "world_parsed": ([one.parsed for one in checked], characters),
        "world_whole": ([int(one.whole) for one in checked], ones),
        "world_read": ([one.read for one in checked], characters),
        "world_contradictions": ([len(one.contradictions) for one in checked], ones),
    }
    return {
        "stories": len(texts),
        "characters": sum(characters),
        "measures": {name: {"counts": counts, "of": of} for name, (counts, of) in measures.items()},
        "contradictions": [
            [number, found.position, found.variable, found.was, found.said]
            for number, one in enumerate(checked)
            for found in one.contradictions
        ],
    }
