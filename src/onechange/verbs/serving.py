"""`onechange ui`: the pages of studies, while they run and after."""

import importlib.util
import webbrowser
from pathlib import Path

from onechange.verbs import output

NEEDED = ("starlette", "uvicorn")


def serve(folder: Path, host: str, port: int, opened: bool) -> None:
    """Serve until Ctrl-C. What a person can have got wrong is an error before anything is served."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise LookupError(f"the server needs {' and '.join(missing)}: pip install 'onechange[ui]'")
    if not folder.is_dir():
        kind = "is no folder" if folder.exists() else "no such folder"
        raise FileNotFoundError(f"{folder}: {kind}; onechange ui shows a study's folder, or one with several")
    from onechange.ui.server import Server
    from onechange.ui.studies import Studies

    server = Server(Studies(folder), host, port)
    output.out.print(server.address, markup=False, soft_wrap=True)
    output.say("Ctrl-C ends it.")
    if opened:
        webbrowser.open(server.address)
    server.listen()
