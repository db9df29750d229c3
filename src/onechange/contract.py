"""What makes a class a member: it fulfils the contract that stands in its family's package."""

import importlib
import inspect
from types import ModuleType
from typing import Any, get_type_hints

import msgspec


def classes(family: str) -> tuple[type, ...]:
    """The classes that the package of ``family`` defines; a member is derived from one of them."""
    package = importlib.import_module(f"onechange.{family}")
    return tuple(thing for thing in vars(package).values() if _is_of(thing, package))


def fulfilled_in(family: str, module: ModuleType) -> list[type]:
    """The classes of ``module``, defined there and not brought in, that are derived from the family's."""
    contracts = classes(family)
    return [
        thing for thing in vars(module).values() if _is_of(thing, module) and issubclass(thing, contracts)
    ]


def _is_of(thing: Any, module: ModuleType) -> bool:
    return inspect.isclass(thing) and thing.__module__ == module.__name__


def only_one(family: str, module: ModuleType, where: str) -> type:
    """The one class in a ``module`` from outside; a `ValueError` beginning with ``where`` says why there is none."""
    found = fulfilled_in(family, module)
    if len(found) > 1:
        names = ", ".join(one.__name__ for one in found)
        raise ValueError(f"{where}: it holds {len(found)} members of {family} ({names}), one is allowed")
    if not found:
        wanted = " or ".join(f"onechange.{family}.{one.__name__}" for one in classes(family))
        raise ValueError(f"{where}: it holds no member of {family}: derive one class from {wanted}")
    check(found[0], family, where)
    return found[0]


def check(member: type, family: str, where: str) -> None:
    """Raise a `ValueError` beginning with ``where`` unless ``member``, from outside, is what members inside are."""
    if not issubclass(member, classes(family)):
        wanted = " or ".join(f"onechange.{family}.{one.__name__}" for one in classes(family))
        raise ValueError(f"{where}: {member.__name__} is no member of {family}: derive it from {wanted}")
    if inspect.isabstract(member):
        missing = ", ".join(sorted(member.__abstractmethods__))
        raise ValueError(f"{where}: {member.__name__} lacks what a member of {family} must have: {missing}")
    if not vars(member).get("__final__"):
        raise ValueError(f"{where}: {member.__name__} must be marked @final (from typing import final)")
    try:
        types = get_type_hints(member.__init__)
    except Exception as error:  # whatever stands there in place of a type
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{where}: the types in {member.__name__}.__init__ cannot be read: {reason}"
        ) from None
    for setting in inspect.signature(member.__init__).parameters.values():
        if setting.kind is inspect.Parameter.KEYWORD_ONLY:
            _check_setting(setting, types, where)


def _check_setting(setting: inspect.Parameter, types: dict[str, Any], where: str) -> None:
    if setting.name == "name":
        raise ValueError(f"{where}: a setting cannot be called 'name': that is the member's own in a study")
    if setting.name not in types:
        raise ValueError(
            f"{where}: the setting {setting.name!r} has no type: write {setting.name}: float = …"
        )
    if setting.default is inspect.Parameter.empty:
        return
    try:
        msgspec.json.encode(msgspec.convert(setting.default, types[setting.name]))
    except (msgspec.ValidationError, TypeError):
        raise ValueError(
            f"{where}: the setting {setting.name!r} has the default {setting.default!r}: "
            "it must be of the setting's type, and that one of numbers, text, true and false, or a list of them"
        ) from None
