"""The library `tokenizers`, which learns `unigram` and reads other people's tokenizers; all else works without it."""

import json
from types import ModuleType
from typing import Any


def tokenizers(whose: str) -> ModuleType:
    """The library. Where it is not installed a `ValueError` says that ``whose`` work needs it, and how to get it."""
    try:
        import tokenizers
    except ImportError:
        raise ValueError(
            f"{whose} needs the library tokenizers, which is not installed: pip install 'onechange[tokenizers]'"
        ) from None
    return tokenizers


def encoder(whose: str, content: dict[str, Any]) -> Any:
    """The library's tokenizer of this ``content``; a `ValueError` says why it takes none of it."""
    library = tokenizers(whose)
    try:
        return library.Tokenizer.from_str(json.dumps(content))
    except BaseException as error:  # what the library raises has no name of its own, and it may panic
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise ValueError(f"the library tokenizers cannot take it: {str(error).splitlines()[0]}") from None
