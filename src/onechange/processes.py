"""The processes that train one run together, and what they exchange.

Each works on its part of every batch. Gradients are averaged by torch's DistributedDataParallel; a few figures a step
are added up; weights and optimizer state are spread once, at the start. What the first process wants of the others it
says in JSON through a store of keys and values that all can reach. Nothing is pickled.
"""

import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.distributed import PrefixStore, Store  # type: ignore[reportPrivateImportUsage]  # torch documents these names, and marks them as private
from torch.nn.parallel import DistributedDataParallel

POLL = 0.05
"""Seconds between two looks into the store."""


class Lost(ConnectionError):
    """Another process of the run ended, or has not answered for too long."""


def patience() -> float:
    """Seconds after which a process that does not answer is given up, ``ONECHANGE_PATIENCE`` or 300."""
    word = os.environ.get("ONECHANGE_PATIENCE", "300")
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise ValueError(f"ONECHANGE_PATIENCE = {word!r}: must be a number of seconds above 0")
    return seconds


class Group:
    """One process's view of all; process 0 is the one that writes. A group of one exchanges nothing."""

    def __init__(
        self,
        rank: int = 0,
        size: int = 1,
        *,
        local_rank: int = 0,
        local_size: int = 1,
        store: Store | None = None,
        watch: Callable[[], None] = lambda: None,
    ) -> None:
        """``watch`` is called while waiting and may raise `Lost`."""
        assert 0 <= rank < size and (size == 1 or store is not None)
        self.rank, self.size = rank, size
        self.local_rank, self.local_size = local_rank, local_size
        self.patience = patience()
        self._store, self._watch = store, watch
        self._orders = 0
        self._left = threading.Event()

    # Coming together and parting

    def __enter__(self) -> "Group":
        if self.size > 1:
            threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._left.set()

    def _connect(self, backend: str) -> None:
        with self.guarded():
            distributed.init_process_group(
                backend,
                store=PrefixStore("group", self.store),
                rank=self.rank,
                world_size=self.size,
                timeout=timedelta(seconds=self.patience),
            )

    def part_in_peace(self) -> None:
        """End the connections, when there is nothing more to exchange."""
        if self.size > 1 and distributed.is_initialized():
            distributed.destroy_process_group()

    # What the first process says to the others

    def order(self, content: Mapping[str, Any] | None, backend: str = "gloo") -> None:
        """Tell every process what comes next, ``None``: nothing more; returns when all are ready for it.

        Raises `Lost` if one of them does not come.
        """
        assert self.rank == 0
        if self.size == 1:
            return
        self._set(f"order-{self._orders}", json.dumps({"content": content, "backend": backend}))
        for rank in range(1, self.size):
            self._wait(f"ready-{self._orders}-{rank}", rank)
        if content is not None and not self._orders:
            self._connect(backend)
        self._orders += 1

    def dismiss(self) -> None:
        """Tell every process that nothing more comes, and wait for none: this one ends because of a mistake."""
        if self.rank == 0:
            with suppress(Lost):
                self._set(f"order-{self._orders}", json.dumps({"content": None, "backend": ""}))

    def next_order(self) -> Any:
        """What the first process wants next; `ready` must follow."""
        assert self.rank > 0
        self._order = json.loads(self._wait(f"order-{self._orders}", 0))
        return self._order["content"]

    def ready(self) -> None:
        """Say that this process begins what it was told last."""
        self._set(f"ready-{self._orders}-{self.rank}")
        if self._order["content"] is not None and not self._orders:
            self._connect(self._order["backend"])
        self._orders += 1

    # What all exchange

    def part(self, rows: int) -> slice:
        """This process's rows of a batch; together all parts are the batch, in order."""
        if rows < self.size:
            raise ValueError(f"{rows} rows cannot be divided among {self.size} processes")
        return slice(self.rank * rows // self.size, (self.rank + 1) * rows // self.size)

    def sum(self, values: Sequence[float]) -> list[float]:
        """Every value added up over all processes, in float64; all get the same."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64)
        with self.guarded():
            distributed.all_reduce(total)
        return total.tolist()

    def spread(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The first process's tensors, on every process, in the processor's memory."""
        if self.size == 1:
            return dict(tensors)
        described = {name: [str(value.dtype), [*value.shape]] for name, value in tensors.items()}
        found = {}
        for name, (kind, shape) in json.loads(self._said(json.dumps(described))).items():
            dtype = getattr(torch, kind.removeprefix("torch."))
            mine = (
                tensors[name].detach().cpu().contiguous()
                if self.rank == 0
                else torch.empty(shape, dtype=dtype)
            )
            with self.guarded():
                distributed.broadcast(mine, 0)
            found[name] = mine
        return found

    def averaged(self, module: nn.Module) -> nn.Module:
        """``module``, its gradients averaged over all processes in every backward pass.

        Do one backward pass for nothing first: after it gradients are put into other buckets, numbers change their
        place, and with it the order in which three processes or more are added up.
        """
        if self.size == 1:
            return module
        torch._dynamo.config.optimize_ddp = False  # blocks are compiled one by one: nothing to cut at buckets
        with warnings.catch_warnings():  # the newer word for `broadcast_buffers` is unknown to older torch
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                module,
                broadcast_buffers=False,
                init_sync=False,
                gradient_as_bucket_view=True,
            )

    def alone(self, module: nn.Module) -> AbstractContextManager[None]:
        """Within it, gradients of an `averaged` module add up on this process only."""
        return module.no_sync() if isinstance(module, DistributedDataParallel) else nullcontext()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn a broken or silent connection into `Lost`."""
        try:
            yield
        except RuntimeError as error:
            if self.size > 1 and _speaks_of_a_connection(error):
                raise Lost("a process of the run was lost") from error
            raise

    def _said(self, text: str) -> str:
        """The first process's ``text``."""
        content = torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)
        length = torch.tensor(len(content))
        with self.guarded():
            distributed.broadcast(length, 0)
            if self.rank:
                content = torch.empty(int(length), dtype=torch.uint8)
            distributed.broadcast(content, 0)
        return bytes(content.numpy()).decode()

    # The store

    @property
    def store(self) -> Store:
        assert self._store is not None
        return self._store

    def _set(self, key: str, value: str = "") -> None:
        with self.guarded():
            self.store.set(key, value)

    def _wait(self, key: str, rank: int) -> str:
        """The value of a key that process ``rank`` sets; however long it takes, as long as that process is alive."""
        beats, since = -1, time.monotonic()
        with self.guarded():
            while not self.store.check([key]):
                self._watch()
                found = self.store.add(f"beats-{rank}", 0)
                if found != beats:
                    beats, since = found, time.monotonic()
                elif time.monotonic() - since > self.patience:
                    raise Lost(
                        f"process {rank + 1} of {self.size} has not answered for {self.patience:.0f} seconds"
                    )
                time.sleep(POLL)
            return self.store.get(key).decode()

    def _beat(self) -> None:
        """Say again and again that this process is alive, also while it is busy with something of its own."""
        try:
            while not self._left.wait(min(2.0, self.patience / 10)):
                self.store.add(f"beats-{self.rank}", 1)
        except RuntimeError:
            return  # the store is gone, and with it the first process: whoever waits for it will notice


ALONE = Group()
"""A run of one process."""


def _speaks_of_a_connection(error: RuntimeError) -> bool:
    if isinstance(error, distributed.DistError):
        return True
    words = ("gloo", "connection", "timed out", "nccl", "socket", "broken pipe")
    return any(word in str(error).lower() for word in words)
