"""`python -m website [--out DIR]`, from the repository's root: builds the site strictly. A warning is an error."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from website import configuration, pages


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m website", description="Builds the documentation site."
    )
    arguments.add_argument("--out", type=Path, default=pages.ROOT / "site", help="the folder to write")
    out = arguments.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        pages.assemble(folder / "pages")
        (folder / "mkdocs.yml").write_text(configuration.completed(folder / "pages", out), "utf-8")
        built = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"],
            # What the theme's makers say about the next MkDocs: docs/decisions/0022-documentation-site.md.
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        )
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
