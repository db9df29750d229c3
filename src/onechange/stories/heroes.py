"""Whom a story is about: whether its hero is still there towards the end, and who comes out of nowhere."""

from onechange.stories.words import Words


def hero(words: Words) -> str | None:
    """The name that the prompt says most often, of several the one it says first; None where it names nobody."""
    said = [name for name in words.names[: words.first] if name is not None]
    return max(said, key=said.count) if said else None


def late(words: Words) -> list[str]:
    """The names in the last third of the text, in the order in which they come, each once."""
    return list(dict.fromkeys(name for name in words.names[words.last_third :] if name is not None))


def new(words: Words) -> list[str]:
    """Those of them that neither the prompt nor the text before has said."""
    known = set(words.names[: words.last_third])
    return [name for name in late(words) if name not in known]
