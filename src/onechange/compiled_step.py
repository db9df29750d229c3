"""A method compiled for one object alone, which always gives it the same tensors but for what it marks as changing.

torch's compiler makes sure before every call that nothing has changed for which it would have to compile anew. For a
model that takes longer than some of its layers, so a caller who knows that nothing changes goes without.
"""

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, ParamSpec, TypeVar

import torch
from torch._inductor import config

Given = ParamSpec("Given")
Made = TypeVar("Made")


def compiled_step(method: Callable[Given, Made], frozen: bool = False) -> Callable[Given, Made]:
    """``method`` of one object, compiled at its first call.

    What the compiler made it keeps with the code, and without its checks would give it to every other object of the
    class; so the code is copied first. For the same reason a method that it can only compile in parts is an error of
    torch's: functions that are called keep what was made for them too.

    ``frozen``: the object's own tensors never change, and the compiler lays its weights out as products of several rows
    read them fastest. It also works out beforehand whatever it can, float32 copies of weights in fewer bits too.
    """
    assert isinstance(method, MethodType)
    function: Any = method.__func__
    copied = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    step = torch.compile(
        MethodType(copied, method.__self__),
        dynamic=False,
        fullgraph=True,
        options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe, "size_asserts": False},
    )
    return _Frozen(step) if frozen else step


class _Frozen:
    """As an option of `torch.compile` freezing is seen too late to have any effect (torch 2.13): it must hold around
    the first call, which compiles."""

    def __init__(self, step: Callable[..., Any]) -> None:
        self._step = step
        self._compiled = False

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._compiled:
            return self._step(*given, **named)
        with config.patch({"freezing": True, "cpp.enable_concat_linear": True}):
            made = self._step(*given, **named)
        self._compiled = True
        return made
