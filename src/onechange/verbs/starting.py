"""`onechange new`: a commented study file to start from."""

from importlib import resources
from pathlib import Path

from onechange.verbs import output


def new(file: Path) -> None:
    """Write the template to ``file``, which must not exist yet."""
    content = resources.files("onechange").joinpath("new_study.toml").read_text(encoding="utf-8")
    if file.suffix != ".toml":
        raise ValueError(f"{file}: a study file's name ends in .toml")
    try:
        with file.open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(content)
    except FileExistsError:
        raise ValueError(f"{file} exists already; nothing was written") from None
    output.out.print(
        f"wrote {file}\ntry it:  onechange run {file} --scale tiny --data storyworld --dry-run",
        soft_wrap=True,
        markup=False,
    )
