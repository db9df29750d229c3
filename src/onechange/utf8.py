"""Text as bytes of UTF-8."""

from onechange.alphabet import named


def encoded(text: str) -> bytes:
    """``text`` in UTF-8. A `ValueError` lists lone surrogates, which are halves of characters, and where they stand."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        places = [place for place, character in enumerate(text) if "\ud800" <= character <= "\udfff"]
    raise ValueError(
        f"lone surrogates, which are no characters and have no UTF-8: {named(text, places)}; "
        "positions count characters from 0; leave them out"
    )
