"""What a person is told of a mistake: the one line of an error."""


def sentence(error: Exception) -> str:
    """The error's own words, without Python's decoration."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    if isinstance(error, UnicodeError):  # its first argument is the encoding's name
        return str(error)
    return str(error.args[0]) if error.args else type(error).__name__
