"""A member's file of the person's: read, executed as a module of its own, and found to hold one member."""

import hashlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from onechange import contract, untrusted


def read(path: Path, where: str) -> str:
    """The text of the file; a `LookupError` or `ValueError` beginning with ``where`` says why there is none."""
    if not path.is_file():
        raise LookupError(f"{where}: no such file: {path}")
    try:
        return untrusted.read(path, untrusted.SMALL).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8: bad byte at offset {error.start}") from None


def execute(family: str, source: str, place: str) -> type:
    """The member of ``family`` that the text ``source`` of a file holds; an error calls the file ``place``.

    Whatever the file does when it is executed is done here. A `ValueError` says in one line what is wrong, and where.
    """
    module = ModuleType(f"onechange_{family}_{hashlib.sha256(source.encode()).hexdigest()[:16]}")
    module.__file__ = place
    # Dataclasses, `get_type_hints` and torch's compiler look a class's module up by its name.
    sys.modules[module.__name__] = module
    try:
        _run(source, place, module)
        return contract.only_one(family, module, place)
    except BaseException:
        del sys.modules[module.__name__]
        raise


def _run(source: str, place: str, module: ModuleType) -> None:
    try:
        exec(compile(source.encode(), place, "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        raise ValueError(f"{error.filename or place}, line {error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == place]
        line = f", line {lines[-1]}" if lines else ""
        said = " ".join([f"{type(error).__name__}:", *str(error).split()]).removesuffix(":")
        raise ValueError(f"{place}{line}: {said}") from error
