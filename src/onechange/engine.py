"""A recipe's model made to run: first weights, device, precision, compilation, and one update."""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange import device, state
from onechange.allocator import keep_freed_memory
from onechange.family import build
from onechange.finiteness import NotFinite, first_culprit
from onechange.first_weights import fill
from onechange.model import Model, surprise
from onechange.optimizer import Optimizer
from onechange.processes import ALONE, Group
from onechange.recipe import Recipe
from onechange.schedule import Schedule
from onechange.seed import integer


class Surprise(nn.Module):
    """Model and loss in one forward pass, so that what watches gradients sees both uses of the tied table."""

    def __init__(self, model: Model, compiled: bool) -> None:
        super().__init__()
        self.model = model
        self.surprise = torch.compile(surprise, dynamic=False) if compiled else surprise

    def forward(self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]) -> Tensor:
        """The surprise at every target in nats, "batch time"."""
        return self.surprise(self.model(tokens), self.model.scoring, targets)


class Engine:
    """Model, optimizer and schedule of one run, at its first weights.

    Blocks are compiled one by one, so that the code of the first serves them all; ``dynamic=False``, since a graph
    made for several shapes would depend on which shape came first.

    In a ``group`` of several processes each learns from its rows of every batch, and all hold the same weights after
    every update; call `start` on all of them first. ``wanted`` says whether this process was asked to stop.
    """

    stopping = False
    """Whether any process of the group was asked to stop before the last update: the same on all of them."""

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: int,
        group: Group = ALONE,
        wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        torch.set_num_threads(recipe.threads)
        self.recipe, self.group, self._wanted = recipe, group, wanted
        self.device = device.place(recipe.device, group.local_rank)
        if self.device.type == "cpu":
            keep_freed_memory()
        self.model = Model(recipe.sizes(vocabulary), recipe.parts)
        self.model.recompute = recipe.activations == "recompute"
        fill(self.model, recipe.seed, recipe.layers, build("initialization", recipe.initialization))
        self.model.to(self.device)
        optimizer: Optimizer = build("optimizer", recipe.optimizer)
        self.schedule: Schedule = build("schedule", recipe.schedule)
        self.peak_rate = optimizer.learning_rate
        self.optimizer = optimizer.make(self.model.named_parameters())
        if recipe.compile:
            torch._dynamo.reset()  # graphs of an earlier run in this process would count against its limit
            for part in (self.model.dropout, *self.model.blocks):
                part.compile(dynamic=False)
        self._surprise: nn.Module = Surprise(self.model, recipe.compile)
        self._learning = self._surprise

    @property
    def rows(self) -> int:
        """Rows of this process's largest forward pass."""
        part = self.group.part(self.recipe.batch)
        return min(self.recipe.micro_batch or self.recipe.batch, part.stop - part.start)

    def start(self, begun: Mapping[str, int]) -> dict[str, int]:
        """Give every process the first one's weights, optimizer state and counts, which are returned."""
        begun = dict(begun)
        if self.group.size > 1:
            counts = {name: torch.tensor(count) for name, count in begun.items()}
            begun = {name: int(count) for name, count in self.group.spread(counts).items()}
            state.put_weights(self.model, self.group.spread(state.weights(self.model)))
            remembered = self.group.spread(state.optimizer_state(self.model, self.optimizer))
            state.put_optimizer_state(self.model, self.optimizer, remembered)
            self._learning = self.group.averaged(self._surprise)
            self._rehearse()
        return begun

    def nats(
        self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"], *, learn: bool = False
    ) -> Tensor:
        """The surprise at every target in nats, "batch time", on the run's device and in its precision."""
        tokens, targets = tokens.to(self.device), targets.to(self.device)
        with device.autocast(self.device, self.recipe.precision):
            return (self._learning if learn else self._surprise)(tokens, targets)

    @torch.no_grad()
    def evaluated(self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]) -> Tensor:
        """The same with dropout off and no gradients."""
        self.model.eval()
        try:
            return self.nats(tokens, targets)
        finally:
            self.model.train()

    def update(
        self, step: int, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> float:
        """Learn from one batch, the whole one on every process; returns its mean nats per token, as it was before.

        Raises `NotFinite`, which names the first culprit, on every process and with weights and optimizer untouched, if
        the loss or the gradient is not finite, and `onechange.processes.Lost` if another process is gone.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.peak_rate * self.schedule.share(step, self.recipe.steps)
        asked = float(self._wanted())
        value, asked = self.group.sum([self._gradients(step, tokens, targets), asked])
        self.stopping = asked > 0
        try:
            if not math.isfinite(value):
                self._refuse(f"the training loss at step {step} is {value}")
            norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip))
            if not math.isfinite(norm):
                self._refuse(f"the gradient at step {step} has norm {norm}")
            self.optimizer.step()
        finally:
            self.optimizer.zero_grad(set_to_none=True)
        return value

    def _refuse(self, what: str) -> NoReturn:
        raise NotFinite(f"{what}; {first_culprit(self.model)}")

    def is_finite(self) -> bool:
        """Whether every weight is a number, as those of a checkpoint must be."""
        return all(bool(parameter.isfinite().all()) for parameter in self.model.parameters())

    def _rehearse(self) -> None:
        """A pass whose gradients are dropped, after which a run that begins and one that resumes add alike."""
        nothing = torch.zeros(self.rows, self.recipe.window, dtype=torch.int64)
        with self.group.guarded():
            self.nats(nothing, nothing, learn=True).mean().backward()
        self.optimizer.zero_grad(set_to_none=True)

    def _gradients(
        self, step: int, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> float:
        """Gradients of the whole batch's mean, from this process's rows in parts that are small enough.

        Returns this process's share of the mean. A part's mean counts by its rows; the processes' gradients are
        averaged, not added, hence the factor.
        """
        part = self.group.part(len(tokens))
        rows = self.recipe.micro_batch or part.stop - part.start
        losses: list[tuple[Tensor, float]] = []
        for micro, first in enumerate(range(part.start, part.stop, rows)):
            taken = slice(first, min(first + rows, part.stop))
            share = (taken.stop - taken.start) / len(tokens)
            with self.group.guarded(), self._apart(unless=taken.stop == part.stop):
                loss = self._forward(step, micro, tokens[taken], targets[taken])
                (loss * (share * self.group.size)).backward()
            losses.append((loss.detach(), share))
        return sum(float(loss) * share for loss, share in losses)

    def _apart(self, *, unless: bool) -> AbstractContextManager[None]:
        return nullcontext() if unless else self.group.alone(self._learning)

    def _forward(
        self, step: int, micro: int, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> Float[Tensor, ""]:
        if not self.recipe.dropout:
            return self.nats(tokens, targets, learn=True).mean()
        # Reseeded before every forward pass, so that no generator state needs saving.
        name = f"step-{step}/rank-{self.group.rank}/micro-{micro}"
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(integer(self.recipe.seed, "dropout", name))
            return self.nats(tokens, targets, learn=True).mean()
