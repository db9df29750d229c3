"""Text is UTF-8 with \n at its line ends on every system: no file is opened as the system would have it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "onechange"
READING, WRITING = {"read_text"}, {"write_text"}


def left_to_the_system(code: str) -> list[str]:
    """What calls in ``code`` that open text leave out, as ``line: name``."""
    found = []
    for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        named = {keyword.arg for keyword in call.keywords}
        texts = [
            one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        if name == "open" and getattr(getattr(call.func, "value", None), "id", "") not in (
            "os",
            "webbrowser",
        ):
            mode = next((word for word in texts if set(word) <= set("rwxabt+")), "r")
            reads, writes = "b" not in mode, "b" not in mode and bool(set(mode) & set("wxa+"))
        else:
            reads, writes = name in READING | WRITING, name in WRITING
        encoded = (
            "encoding" in named or (name in READING and call.args) or (name in WRITING and len(call.args) > 1)
        )
        if reads and not encoded:
            found.append(f"{call.lineno}: encoding")
        if writes and "newline" not in named:
            found.append(f"{call.lineno}: newline")
        if any(one.arg == "text" and getattr(one.value, "value", None) is True for one in call.keywords):
            found.append(f"{call.lineno}: encoding")
    return found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("path.open()", ["1: encoding"]),
        ("path.open('rb')", []),
        ("path.open('w', encoding='utf-8')", ["1: newline"]),
        ("open(path, 'x', encoding='utf-8', newline='')", []),
        ("path.read_text()", ["1: encoding"]),
        ("path.read_text('utf-8')", []),
        ("path.write_text(text)", ["1: encoding", "1: newline"]),
        ("path.write_text(text, 'utf-8', newline='')", []),
        ("os.open(path, os.O_RDONLY)", []),
        ("subprocess.run(words, text=True)", ["1: encoding"]),
    ],
)
def test_what_is_found(code: str, found: list[str]) -> None:
    assert left_to_the_system(code) == found


def test_nothing_is_left_to_the_system() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 200
    assert {
        str(path.relative_to(SOURCE)): found
        for path in files
        if (found := left_to_the_system(path.read_text("utf-8")))
    } == {}
