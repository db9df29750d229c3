"""A recipe's model made to run: first weights, precision, compilation, and one update."""

import math
from typing import NoReturn

import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.family import build
from onechange.finiteness import NotFinite, first_culprit
from onechange.first_weights import fill
from onechange.model import Model, surprise
from onechange.optimizer import Optimizer
from onechange.recipe import Recipe
from onechange.schedule import Schedule
from onechange.seed import integer


class Engine:
    """Model, optimizer and schedule of one run, at its first weights.

    Blocks are compiled one by one, so that the code of the first serves them all; ``dynamic=False``, since a graph
    made for several shapes would depend on which shape came first.
    """

    def __init__(self, recipe: Recipe, vocabulary: int) -> None:
        torch.set_num_threads(recipe.threads)
        self.recipe = recipe
        self.model = Model(recipe.sizes(vocabulary), recipe.parts)
        fill(self.model, recipe.seed, recipe.layers)
        optimizer: Optimizer = build("optimizer", recipe.optimizer)
        self.schedule: Schedule = build("schedule", recipe.schedule)
        self.peak_rate = optimizer.learning_rate
        self.optimizer = optimizer.make(self.model.named_parameters())
        self._surprise = surprise
        if recipe.compile:
            torch._dynamo.reset()  # graphs of an earlier run in this process would count against its limit
            for block in self.model.blocks:
                block.compile(dynamic=False)
            self._surprise = torch.compile(surprise, dynamic=False)

    def nats(self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]) -> Tensor:
        """The surprise at every target in nats, "batch time", in the run's precision."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.recipe.precision == "bf16"):
            return self._surprise(self.model(tokens), self.model.embedding, targets)

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
        """Learn from one batch; returns its mean nats per token, as it was before.

        Raises `NotFinite`, which names the first culprit, with weights and optimizer untouched, if the loss or the
        gradient is not finite.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.peak_rate * self.schedule.share(step, self.recipe.steps)
        loss = self._forward(step, tokens, targets)
        value = float(loss.detach())
        loss.backward()
        if not math.isfinite(value):
            self._refuse(f"the training loss at step {step} is {value}")
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip))
        if not math.isfinite(norm):
            self._refuse(f"the gradient at step {step} has norm {norm}")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return value

    def _refuse(self, what: str) -> NoReturn:
        culprit = first_culprit(self.model)
        self.optimizer.zero_grad(set_to_none=True)
        raise NotFinite(f"{what}; {culprit}")

    def is_finite(self) -> bool:
        """Whether every weight is a number, as those of a checkpoint must be."""
        return all(bool(parameter.isfinite().all()) for parameter in self.model.parameters())

    def _forward(
        self, step: int, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> Float[Tensor, ""]:
        if not self.recipe.dropout:
            return self.nats(tokens, targets).mean()
        # Reseeded before every forward pass, so that no generator state needs saving.
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(integer(self.recipe.seed, "dropout", f"step-{step}/rank-0/micro-0"))
            return self.nats(tokens, targets).mean()
