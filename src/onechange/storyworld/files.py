"""The story files: where they lie, how they are cut into blocks, and their fingerprint.

A file is made of blocks: a header at the left edge that ends in a colon, and indented lines below it; a line
that is indented by six blanks or more continues the one above; ``#`` begins a comment line. In ``words/`` a
block is a pool of words. In ``sentences/`` and ``plots/`` a block is a rule, one alternative per line, and
the block ``cast`` says from which pools a variable takes its word (``hero = person ~ kind``: in gender with
``kind``).
"""

import hashlib
from importlib import resources

Block = tuple[str, list[tuple[str, str]]]
"""A header, and the lines below it, each with its place (``plots/race.txt:12``)."""


def texts() -> dict[str, dict[str, str]]:
    """The texts of the world's own story files, by folder and name."""
    folders = ("words", "sentences", "plots")
    root = resources.files("onechange.storyworld")
    return {
        folder: {
            f"{folder}/{file.name}": file.read_text(encoding="utf-8")
            for file in (root / folder).iterdir()
            if file.name.endswith(".txt")
        }
        for folder in folders
    }


def fingerprint() -> str:
    """SHA-256 over the story files: any changed word of them shows."""
    digest = hashlib.sha256()
    for folder in texts().values():
        for name, text in sorted(folder.items()):
            digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


def blocks(name: str, text: str) -> list[Block]:
    """The blocks of a story file, in order; a `ValueError` names the line that belongs to none."""
    found: list[Block] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{name}:{number}"
        if not line.startswith(" "):
            if not line.endswith(":"):
                raise ValueError(f"{place}: a line at the left edge must be a header and end in a colon")
            found.append((line[:-1], []))
        elif not found:
            raise ValueError(f"{place}: a line before the first header")
        elif line.startswith(" " * 6) and found[-1][1]:
            first, before = found[-1][1][-1]
            found[-1][1][-1] = (first, f"{before} {line.strip()}")
        else:
            found[-1][1].append((place, line.strip()))
    return found
