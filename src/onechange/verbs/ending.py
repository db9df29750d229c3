"""How a command ends: one line on standard error where something is to be said, and an exit status."""

import codecs
import io
import os
import shlex
import sys
from typing import Any, TextIO

import typer

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Words that fit no command; typer does not export its name."""


def write_anything(stream: TextIO | None) -> None:
    """Let no character be an error: redirected output of Windows is encoded in one byte each, and none is −."""
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
        if "PYTHONIOENCODING" in os.environ:
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="strict")


def stopped(what: str, number: int) -> int:
    """Say what was stopped and how to go on; returns the exit status that a shell gives to the signal."""
    words = sys.argv[1:]
    go_on = ""
    if words[:1] == ["run"] and "--dry-run" not in words:
        resume = [] if "--resume" in words else ["--resume"]
        go_on = f"; to go on: {shlex.join(['onechange', *words, *resume])}"
    print(f"\nonechange: {what}{go_on}", file=sys.stderr)
    return 128 + number


def misused(error: Any) -> int:
    """One line for words that fit no command; nothing where the help was shown instead."""
    message = " ".join(error.format_message().split())
    if message:
        command = error.ctx.command_path if error.ctx else "onechange"
        print(f"onechange: {message.removesuffix('.')}; see {command} --help", file=sys.stderr)
    return error.exit_code
