"""A study about to run: which arms and seeds, on which text, under which scale, with which means of this machine."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import torch

from onechange import budget, dataset, device, family, processor
from onechange.dataset import Dataset
from onechange.documents import Corpus, prepare
from onechange.model import Model, parameter_count
from onechange.operations import per_token
from onechange.outside import Declared
from onechange.recipe import Device, Precision, Recipe
from onechange.settings import ARM_FAMILIES
from onechange.sizes import Sizes
from onechange.study import Arm, Study
from onechange.tokenizer import Tokenizer
from onechange.watching import Watch, unwatched

SECONDS_WORTH_COMPILING = 120.0
"""A budget of fewer seconds is over before compiled code has made up for compiling."""

Run = tuple[str, int]
"""An arm's name and a seed."""


@dataclass(frozen=True)
class Means:
    """What a study uses of the machine it first starts on, fixed for all its runs."""

    threads: int
    precision: Precision
    compile: bool
    device: Device = "cpu"


@dataclass(frozen=True, eq=False)
class Plan:
    """A study with a scale, a corpus and seeds. Tokenizers are learned when first asked for, once per setting."""

    study: Study
    scale: str
    source: Mapping[str, Any]
    seeds: Sequence[int]
    arms: Sequence[str]
    means: Means | None = None
    """As an earlier start of the same study chose them, or ``None`` to choose them now."""
    watch: Watch = unwatched
    """Told of the work on a large text."""
    processes: int = 1
    """How many processes of this machine a run is spread over; what they share is chosen accordingly."""
    seconds_per_step: dict[str, float] = field(default_factory=dict)
    """Of every arm, as it was timed where the study began; only a budget in seconds needs it."""
    _tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    _datasets: dict[str, Dataset] = field(default_factory=dict)
    _pinned: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.study.arm_names:  # every mistake in the study shows before anything is done
            self.study.settings(name, self.scale)
        for name in self.study.run_names(self.scale):
            self.study.settings(name, self.scale)
        for name in self.arms:
            self.study.arm(name)

    @property
    def run_names(self) -> list[str]:
        """Whatever has runs: the plan's arms, and each of them at the values of the study's tuning."""
        return self.study.run_names(self.scale, self.arms)

    @property
    def runs(self) -> list[Run]:
        """Every run in the order in which they begin: all arms with the first seed, then with the next."""
        return [(arm, seed) for seed in self.seeds for arm in self.run_names]

    def settings(self, arm: str) -> dict[str, Any]:
        """The arm's resolved settings under the plan's scale; a window given in characters has become one of tokens."""
        settings = self.study.settings(arm, self.scale)
        settings["tokenizer"] = self._tokenizer(arm)
        window = settings["window"]
        if isinstance(window, dict):
            settings["window"] = max(1, round(window["characters"] / self.characters_per_token(arm)))
        return settings

    def steps(self, arm: str) -> int:
        """How many steps the arm's budget is."""
        settings = self.settings(arm)
        if budget.kind(settings["budget"]) == "steps":
            return settings["budget"]["steps"]
        model = self._bare_model(arm)
        return budget.steps(
            settings["budget"],
            tokens=settings["batch"] * settings["window"],
            characters_per_token=self.characters_per_token(arm),
            operations_per_token=per_token(model, model.sizes),
            seconds_per_step=self.seconds_per_step.get(arm),
        )

    def characters_per_token(self, arm: str) -> float:
        """The mean over the training text, under the arm's tokenizer."""
        training = self.dataset(arm).training
        return training.characters / len(training.ids)

    @cached_property
    def corpus(self) -> Corpus:
        """The prepared corpus."""
        return prepare(self.source, watch=self.watch)

    def dataset(self, arm: str) -> Dataset:
        """The corpus under the arm's tokenizer; arms with the same tokenizer share it."""
        resolved = self._tokenizer(arm)
        key = json.dumps(resolved, sort_keys=True)
        if key not in self._datasets:
            self._datasets[key] = dataset.made(self.corpus, resolved, watch=self.watch)
        return self._datasets[key]

    def _tokenizer(self, arm: str) -> dict[str, Any]:
        """The arm's tokenizer; where it lies outside the study, what lies there is looked at once."""
        resolved = self.study.settings(arm, self.scale)["tokenizer"]
        key = json.dumps(resolved, sort_keys=True)
        if key not in self._pinned:
            self._pinned[key] = family.member("tokenizer", resolved["name"]).pinned(resolved)
        return dict(self._pinned[key])

    @cached_property
    def chosen(self) -> Means:
        """Threads, precision, compilation and device, the same for every arm."""
        if self.means is not None:
            return self.means
        base = self.study.settings(self.study.base_name, self.scale)
        if budget.kind(base["budget"]) == "seconds":  # how much work that is, is not known before it is timed
            work = math.inf if base["budget"]["seconds"] >= SECONDS_WORTH_COMPILING else 0.0
        else:
            work = max(self._operations(name) for name in self.study.names(self.scale))
        where = device.chosen(base["device"])
        return Means(
            threads=base["threads"] or max(1, processor.threads(0) // self.processes),
            precision=device.precision(base["precision"], where),
            compile=device.compiles(base["compile"], work, where),
            device=where,
        )

    def recipe(self, arm: str, seed: int) -> Recipe:
        """Everything that determines the run of ``arm`` with ``seed``."""
        return self._recipe(arm, seed, self.steps(arm))

    def timed_recipe(self, arm: str) -> Recipe:
        """A recipe by which a step of ``arm`` can be timed: how many steps there are, is what the time decides."""
        return self._recipe(arm, self.seeds[0], 1)

    def _recipe(self, arm: str, seed: int, steps: int) -> Recipe:
        settings = self.settings(arm)
        del settings["budget"]
        settings.update(
            threads=self.chosen.threads,
            precision=self.chosen.precision,
            compile=self.chosen.compile,
            device=self.chosen.device,
        )
        return Recipe(
            corpus=dict(self.source),
            corpus_fingerprint=self.corpus.fingerprint,
            steps=steps,
            seed=seed,
            **settings,
        )

    @property
    def outside(self) -> list[Declared]:
        """What is to be known of the members from outside by whoever reads the study without their code."""
        every = [self.study.settings(name, self.scale) for name in self.study.run_names(self.scale)]
        used = {("corpus", self.source["name"])}
        used |= {(key, settings[key]["name"]) for settings in every for key in ARM_FAMILIES}
        return [family.declaration(*one) for one in sorted(used) if family.is_from_outside(*one)]

    def check(self) -> None:
        """Raise, before anything is written, the `ValueError` or `LookupError` that a run of the plan would end in."""
        for arm in self.run_names:
            try:
                self._check_window(arm)
                self._check_lossless(arm)
                recipe = self.timed_recipe(arm)
                for name in family.TRAINING_FAMILIES:
                    family.build(name, getattr(recipe, name))
            except (ValueError, LookupError) as error:
                raise type(error)(f"arm {arm!r}: {error.args[0]}") from None

    def _check_window(self, arm: str) -> None:
        """A window in characters may turn out to be the parent's, which is known only with the tokenizer."""
        found = self.study.arm(arm)
        if found is not None and "window" in found.change:
            window = self.settings(arm)["window"]
            if window == self.settings(found.parent)["window"]:
                raise ValueError(f"change.window changes nothing: {found.parent!r} has {window} tokens too")

    def _check_lossless(self, arm: str) -> None:
        tokenizer = self.dataset(arm).tokenizer
        if not tokenizer.lossless:
            name = self.settings(arm)["tokenizer"]["name"]
            raise ValueError(
                f"its tokenizer {name!r} does not give the text back: {tokenizer.loss}; "
                "without the whole text there are no nats per character to compare: choose a lossless tokenizer"
            )

    def facts(self, arm: str) -> dict[str, Any]:
        """What follows from the arm's settings, in the keys of `results.json`."""
        settings, data = self.settings(arm), self.dataset(arm)
        model = self._bare_model(arm)
        tokens, steps = len(data.training.ids), self.steps(arm)
        characters_per_token = data.training.characters / tokens
        processed = steps * settings["batch"] * settings["window"]
        operations = per_token(model, model.sizes)
        arm_of_study = self.study.arm(arm)
        return {
            "name": arm,
            "from": arm_of_study.parent if arm_of_study else None,
            "change": _change(arm_of_study.change, settings) if arm_of_study else None,
            "summary": _summary(arm_of_study.change, settings) if arm_of_study else None,
            "parameters": parameter_count(model),
            "embedding_share": _tables(model) / parameter_count(model),
            "vocabulary": data.tokenizer.vocabulary_size,
            "tokenizer": settings["tokenizer"],
            "remarks": data.tokenizer.remarks(),
            "peeking": data.tokenizer.learn_from == "all",
            "lossless": data.tokenizer.lossless,
            "training_tokens": tokens,
            "validation_tokens": len(data.validation.ids),
            "characters_per_token": characters_per_token,
            "window": settings["window"],
            "characters_per_window": settings["window"] * characters_per_token,
            "sweep": _sweep(arm_of_study),
            "budget": settings["budget"],
            "steps": steps,
            "tokens": processed,
            "characters": processed * characters_per_token,
            "times_text_seen": processed / tokens,
            "operations": processed * operations,
            "operations_per_character": operations / characters_per_token,
        }

    def _operations(self, arm: str) -> float:
        settings = self.settings(arm)
        model = self._bare_model(arm)
        processed = self.steps(arm) * settings["batch"] * settings["window"]
        return processed * per_token(model, model.sizes)

    def _bare_model(self, arm: str) -> Model:
        settings = self.settings(arm)
        sizes = Sizes(
            vocabulary=self.dataset(arm).tokenizer.vocabulary_size,
            **{key: settings[key] for key in ("layers", "heads", "width", "window", "dropout")},
        )
        with torch.device("meta"):  # shapes only: nothing is allocated
            return Model(sizes, {name: settings[name] for name in family.MODEL_FAMILIES})


def _tables(model: Model) -> int:
    """Parameters of the tables with a row for every token."""
    return model.embedding.numel() + parameter_count(model.unembedding)


def _sweep(arm: Arm | None) -> dict[str, Any] | None:
    return msgspec.structs.asdict(arm.sweep) if arm is not None and arm.sweep is not None else None


def _summary(change: Mapping[str, Any], settings: Mapping[str, Any]) -> str | None:
    """What the new member is, in a sentence; a size needs none."""
    (key,) = change
    return family.summary(key, settings[key]["name"]) if key in family.FAMILIES else None


def _change(change: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The one change in short: the member's name, or with settings where only those were changed."""
    ((key, value),) = change.items()
    if isinstance(value, dict) and key in family.FAMILIES:
        name = settings[key]["name"]
        extra = {inner: v for inner, v in value.items() if inner != "name"}
        return {key: name if not extra else {"name": name, **extra}}
    return {key: value}
