"""Trains one run over several processes that share this one's imports; reads one JSON request a line.

``{"processes", "recipe", "run"}`` trains to the end and is answered by what every process has seen: the windows of its
forward passes, the losses of all steps, how it ended. ``"end": {"rank", "step", "how"}`` lets one process be killed,
stand still, or be asked to stop before that step.
"""

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed import Store, TCPStore  # type: ignore[reportPrivateImportUsage]  # torch documents these names, and marks them as private

from killed_runs import CORPUS, recipe, train
from onechange.dataset import dataset, learn
from onechange.engine import Engine, NotFinite
from onechange.following import follow
from onechange.processes import Group, Lost
from onechange.stopping import Request, Stopped


def witnessed(seen: dict[str, Any], group: Group, end: dict[str, Any]) -> Callable[[], bool]:
    """Write into ``seen`` what this process learns from, end it as told; returns whether it was asked to stop."""
    nats, update = Engine.nats, Engine.update
    asked: list[bool] = []

    def learned(self: Engine, tokens: Tensor, targets: Tensor, *, learn: bool = False) -> Tensor:
        if learn and seen["windows"]:  # the rehearsal comes before the first step
            seen["windows"][-1].append(torch.cat((tokens, targets[:, -1:]), 1).tolist())
        return nats(self, tokens, targets, learn=learn)

    def updated(self: Engine, step: int, tokens: Tensor, targets: Tensor) -> float:
        if end and (end["rank"], end["step"]) == (group.rank, step):
            if end["how"] == "asked":
                asked.append(True)
            else:
                os.kill(os.getpid(), signal.SIGKILL if end["how"] == "killed" else signal.SIGSTOP)
        seen["windows"].append([])
        seen["losses"].append(update(self, step, tokens, targets))
        return seen["losses"][-1]

    Engine.nats, Engine.update = learned, updated
    return lambda: bool(asked)


class Asked(Request):
    """Asked to stop as soon as ``wanted`` says so, without a signal."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        self._wanted = wanted

    @property
    def signal(self) -> int | None:  # type: ignore[override]  # read only, where the real one is set
        return signal.SIGTERM if self._wanted() else None


def one(rank: int, request: dict[str, Any], store: Store, report: Path) -> None:
    size = request["processes"]
    chosen = recipe(**request["recipe"])
    text = dataset(CORPUS, learn(CORPUS, chosen.tokenizer))
    seen: dict[str, Any] = {"windows": [], "losses": [], "how": "finished"}
    with Group(rank, size, store=store) as group:
        wanted = witnessed(seen, group, request.get("end") or {})
        try:
            if rank:
                follow(group, wanted, lambda recipe: text)
            else:
                train(Path(request["run"]), chosen, group=group, stop=Asked(wanted))
                group.order(None)
            group.part_in_peace()
        except Lost as error:
            seen["how"] = f"lost: {error}"
        except (Stopped, NotFinite) as error:
            seen["how"] = str(error)
            group.order(None)
        except BaseException:
            seen["how"] = traceback.format_exc()
    report.write_text(json.dumps(seen), encoding="utf-8")


def answer(request: dict[str, Any], folder: Path) -> list[Any]:
    os.environ["ONECHANGE_PATIENCE"] = str(request.get("patience", 60))
    reading, writing = os.pipe()
    children = []
    for rank in range(request["processes"]):
        child = os.fork()
        if not child:
            if rank == 0:
                store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
                os.write(writing, b"%6d" % store.port * (request["processes"] - 1))
            else:
                port = int(os.read(reading, 6))
                store = TCPStore("127.0.0.1", port, timeout=timedelta(seconds=60))
            one(rank, request, store, folder / f"{rank}.json")
            os._exit(0)
        children.append(child)
    end = request.get("end") or {}
    for rank, child in enumerate(children):
        if end.get("how") == "still" and rank == end["rank"]:
            continue
        os.waitpid(child, 0)
    if end.get("how") == "still":
        os.kill(children[end["rank"]], signal.SIGKILL)
        os.waitpid(children[end["rank"]], 0)
    os.close(reading)
    os.close(writing)
    reports = [folder / f"{rank}.json" for rank in range(request["processes"])]
    return [json.loads(path.read_text()) if path.is_file() else None for path in reports]


def main() -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:  # what is imported late is then imported once
        train(Path(folder), recipe(dropout=0.1, steps=1))
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(answer(json.loads(line), Path(folder))), flush=True)


if __name__ == "__main__":
    main()
