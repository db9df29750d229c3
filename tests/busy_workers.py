"""A process with workers, to be interrupted or killed: prints the workers' ids when all of them are at work.

python busy_workers.py FOLDER
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from onechange import workers


def waiting(folder: Path) -> Callable[[int], int]:
    """Each call says that it is there, and waits until the file ``go`` is."""

    def wait(number: int) -> int:
        (folder / f"{os.getpid()}").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
        return number

    return wait


def main() -> None:
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job would inherit that it is ignored
    try:
        for number in workers.ordered(waiting, (Path(sys.argv[1]),), range(20), 2):
            print(number, flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)


if __name__ == "__main__":
    main()
