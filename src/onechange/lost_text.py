"""Why the tokens of a text are not the text, in words: a tokenizer that alters what it reads is not lossless."""

import unicodedata

_SHOWN = 20
_FORMS = ("NFC", "NFKC", "NFD", "NFKD")


def why(text: str, found: str, unknown: str | None = None) -> str | None:
    """The end of a sentence that says how ``found``, what the tokens stand for, first differs from ``text``.

    ``None`` where they are the same. ``unknown``: the token that stands for what has none.
    """
    if found == text:
        return None
    place = next((at for at, pair in enumerate(zip(text, found, strict=False)) if pair[0] != pair[1]), None)
    place = min(len(text), len(found)) if place is None else place
    given, made = text[place:], found[place:]
    if place == 0 and made[:1] == " " and made[1:].startswith(given[:1]):
        return "it puts a space before each text"
    if not given:
        return f"it adds {short(made)} to the end of a text"
    if unknown and made.startswith(unknown):
        return f"it has no token for {short(given.split(maxsplit=1)[0] if given.strip() else given)}"
    if given[0].isspace():
        return "it alters white space"
    if given[0] != given[0].lower() and made.startswith(given[0].lower()):
        return "it lowers capitals"
    for form in _FORMS:
        for length in (1, 2, 3):  # a letter and the marks on it
            normal = unicodedata.normalize(form, given[:length])
            if normal != given[:length] and made.startswith(normal):
                return f"it writes {given[:length]!r} as {normal!r}"
    plain = unicodedata.normalize("NFD", given[0].lower())[0]
    if plain != given[0].lower() and made.startswith(plain):
        return "it takes the marks off letters"
    if unicodedata.combining(given[0]):
        return "it takes the marks off letters"
    if not made or given[1:].startswith(made[:_SHOWN]):
        return f"it leaves out {given[0]!r}"
    return f"it writes {short(made)} for {short(given)}"


def short(text: str) -> str:
    """The beginning of ``text``, quoted."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
