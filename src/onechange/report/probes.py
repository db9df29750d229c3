"""The probes of a study's arms as the report reads them, and whether they are asked for."""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from onechange import shapes
from onechange.report.answer import changed_key
from onechange.report.digits import plain, spread
from onechange.report.study import Arm, Study

CHANGES = (
    "position", "norm", "placement", "mlp", "attention", "embedding", "window", "width", "layers", "heads",
)  # fmt: skip
"""What a change must touch for the probes to be shown: the model itself."""


def asked(study: Study) -> bool:
    """Whether an arm changes the model, and one has been probed."""
    changed = any(changed_key(arm) in CHANGES for arm in study.changed())
    return changed and any(probes(arm) for arm in study.arms)


def probes(arm: Arm) -> list[dict[str, Any]]:
    """At best, of every seed that has them. A `ValueError` says that they are damaged."""
    found = []
    for run in arm.runs:
        one = (run.get("best") or {}).get("probes")
        if one is not None:
            where = f"results.json: probes of {arm.name}, seed {run['seed']}"
            shapes.fit(one, shapes.Probes, where)
            _check(one["attention"], where)
            found.append(one)
    return found


def over_seeds(values: Sequence[float], digits: int) -> tuple[str, str]:
    """The mean, and ± the standard deviation where there is one."""
    return plain(fmean(values), digits), f"±\u00a0{spread(stdev(values), digits)}" if len(values) > 1 else ""


def _check(attention: dict[str, Any] | None, where: str) -> None:
    if attention is None:
        return
    layers = list(zip(attention["shares"], attention["distances"], strict=False))
    whole = len(attention["shares"]) == len(attention["distances"]) > 0 and all(
        len(heads) == len(means) > 0 and all(len(shares) == len(attention["bins"]) for shares in heads)
        for heads, means in layers
    )
    if not whole:
        raise ValueError(f"{where} are damaged: attention has other shares than bins and heads")
