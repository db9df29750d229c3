"""Change one component of a small language model, hold the rest equal, read what it bought."""

__version__ = "0.1.0"
