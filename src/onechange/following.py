"""What every process of a run but the first does: learn along, write nothing.

It is handed recipes and makes the text from them; weights and step come from the first process.
"""

from collections.abc import Callable

import msgspec
import torch

from onechange import outside, stopping
from onechange.dataset import Dataset
from onechange.engine import Engine
from onechange.finiteness import LeftOut, NotFinite, OnNonfinite
from onechange.outside import Code
from onechange.processes import Group
from onechange.recipe import Recipe
from onechange.stopping import Request
from onechange.texts import Texts
from onechange.training import ends_early, evaluation_is_due, losses
from onechange.windows import Windows


def follow(
    group: Group,
    wanted: Callable[[], bool] = lambda: False,
    text_of: Callable[[Recipe], Dataset] | None = None,
) -> None:
    """Take part in run after run, until the first process says that there is nothing more.

    ``wanted`` says whether this process was asked to stop, which then stops all. Raises `Lost` if another process is
    gone, and a `ValueError` or `OSError` if the text is not here or is another one.
    """
    text_of = text_of or Texts().of
    while (order := group.next_order()) is not None:
        outside.execute(msgspec.convert(order["codes"], list[Code]))
        recipe = msgspec.convert(order["recipe"], Recipe)
        data = text_of(recipe)
        group.ready()
        with stopping.deferred() as stop:
            _along(recipe, data, group, wanted, stop, order["on_nonfinite"])
    group.ready()


def _along(
    recipe: Recipe,
    data: Dataset,
    group: Group,
    wanted: Callable[[], bool],
    stop: Request,
    on_nonfinite: OnNonfinite,
) -> None:
    def asked() -> bool:
        return wanted() or stop.signal is not None

    engine = Engine(recipe, data.tokenizer.vocabulary_size, group, asked)
    windows = Windows(data.training, recipe.seed, recipe.batch, recipe.window)
    begun = engine.start({})
    left_out = LeftOut(on_nonfinite, begun)
    try:
        for step in range(begun["step"] + 1, recipe.steps + 1):
            tokens, targets, _ = windows.batch(step)
            try:
                engine.update(step, torch.from_numpy(tokens), torch.from_numpy(targets))
                left_out.made()
            except NotFinite as error:
                left_out.leave_out(error, engine.model)
            if evaluation_is_due(recipe, step):
                losses(engine, data, step)
                if ends_early(None, recipe, group):
                    return
            if engine.stopping:
                return
    except NotFinite:
        return  # the first process says so
