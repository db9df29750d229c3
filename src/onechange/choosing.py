"""What choosing the best checkpoint gained, on the text it was chosen on and on a text no choice has seen.

A minimum over evaluations is partly luck: on the validation text the best checkpoint looks better than it is. The test
text shows how much.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choosing:
    """In nats per character; a gain is what the best checkpoint has less than the last."""

    gained_on_validation: float
    gained_on_test: float
    cost: float
    """The first minus the second: by how much choosing on the validation text flatters."""


def choosing(
    validation_at_best: float, validation_at_last: float, test_at_best: float, test_at_last: float
) -> Choosing:
    """The figures of one run from the ruler's nats per character on both texts at both checkpoints."""
    validation, test = validation_at_last - validation_at_best, test_at_last - test_at_best
    return Choosing(validation, test, validation - test)
