"""The library `tokenizers`, which learns `unigram` and reads other people's tokenizers; all else works without it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from onechange import utf8


def tokenizers(whose: str) -> ModuleType:
    """The library. Where it is not installed a `ValueError` says that ``whose`` work needs it, and how to get it."""
    try:
        import tokenizers
    except ImportError:
        raise ValueError(
            f"{whose} needs the library tokenizers, which is not installed: pip install 'onechange[tokenizers]'"
        ) from None
    return tokenizers


def encoder(whose: str, content: Mapping[str, Any]) -> Any:
    """The library's tokenizer of this ``content``; a `ValueError` says why it takes none of it."""
    library = tokenizers(whose)
    with _named("the library tokenizers cannot take it"):
        return library.Tokenizer.from_str(json.dumps(content))


def encode(found: Any, text: str) -> list[int]:
    """The ids of ``text``, with nothing put around them; a `ValueError` says why there are none."""
    utf8.encoded(text)
    with _named("the library tokenizers cannot encode it"):
        return found.encode(text, add_special_tokens=False).ids


@contextmanager
def _named(what: str) -> Iterator[None]:
    """What the library raises has no type of its own, and where it panics it is not even an `Exception`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        raise ValueError(f"{what}: {' '.join(str(error).split())}") from None
