"""Running a study: every arm with every seed, one after the other or several side by side."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from onechange import atomic, excerpt, outside, prompts, record, report, written
from onechange.finiteness import OnNonfinite
from onechange.orders import Crew, Failed, Finished, Order, Remarked, Stepped, carry_out
from onechange.plan import Plan, Run
from onechange.processes import ALONE, Group, Lost
from onechange.run import finished
from onechange.sampling import Sampling, remark
from onechange.settings import ARM_FAMILIES
from onechange.stories import collected
from onechange.study_folder import StudyFolder
from onechange.tokenizer_show import split
from onechange.training import Moment


class Watcher(Protocol):
    """Whoever wants to know how a study goes."""

    def watch(self, arm: str, seed: int, moment: Moment) -> None:
        """A step is done; of runs side by side not every one is told, but every evaluation is."""

    def ended(self, arm: str, seed: int) -> None:
        """A run is finished, or has failed."""

    def say(self, note: str) -> None:
        """Something that a person should know."""


def run(
    plan: Plan,
    folder: StudyFolder,
    watcher: Watcher,
    jobs: Crew | None = None,
    group: Group = ALONE,
    on_nonfinite: OnNonfinite = "stop",
) -> dict[str, Any]:
    """Run what of ``plan`` is not finished yet, in ``jobs`` or without them in this process, and return the results.

    Without jobs a run may be spread over a ``group`` of processes; ``on_nonfinite`` as in `onechange.training`.

    The folder must be begun and locked. A run whose loss stops being finite is marked as failed and the study goes
    on; a finished run is not touched.
    """
    corpus = plan.corpus
    _same_corpus(folder, corpus.fingerprint)
    for run in plan.runs:  # all there from the start: a resume without --seeds knows what was asked for
        folder.run(*run).mkdir(parents=True, exist_ok=True)
    kept, notes = prompts.usable(plan.study.prompts, corpus)
    if kept and written.knows_its_world(plan.source):
        kept.append(prompts.BEGINNING)
    sampled = plan.study.sampled(plan.scale)
    facts = {
        **corpus.facts,
        "entropy_floor": corpus.entropy_floor,
        "entropy_floor_test": corpus.entropy_floor_of_test,
        "prompts": kept,
        "demonstration": prompts.demonstration(plan.study.demonstration, corpus),
        "excerpt": excerpt.text(corpus.validation, corpus.separator),
        "stories": _real_stories(plan, kept, sampled),
    }
    atomic.write(folder.path / "corpus.json", _pretty(facts))
    for note in [*corpus.facts["notes"], *notes]:
        watcher.say(note)
    for arm in plan.run_names:
        tokenizer = plan.dataset(arm).tokenizer
        if kept and (note := remark(sampled, tokenizer.vocabulary_size)):
            watcher.say(f"{arm}: {note}")
        shown = split(tokenizer, facts["demonstration"])
        tokens = [list(pair) for pair in zip(shown.tokens, shown.ids, strict=True)]
        recipe = plan.recipe(arm, 0)
        settings = {key: _short(getattr(recipe, key)) for key in _SHOWN}
        content = {**plan.facts(arm), "settings": settings, "demonstration": tokens}
        atomic.write(folder.path / "arms" / arm / "arm.json", _pretty(content))
    orders = _orders(plan, folder, kept, on_nonfinite)
    ends = (
        _one_after_the_other(plan, orders, watcher, group)
        if jobs is None
        else _side_by_side(jobs, orders, watcher)
    )
    for (arm, seed), end in ends:
        if isinstance(end, Failed):
            watcher.say(f"{arm}, seed {seed}: stopped, {end.error}; its last good checkpoint is kept")
        watcher.ended(arm, seed)
        record.refresh(folder)
    results = record.write(folder)
    report.write(folder.path)
    return results


_SHOWN = (*ARM_FAMILIES, "layers", "heads", "width", "window", "batch", "dropout", "clip", "evaluate_every",
          "precision", "compile", "threads")  # fmt: skip


def _same_corpus(folder: StudyFolder, fingerprint: str) -> None:
    """A `ValueError` if the folder's study was started on other text than is there now."""
    if not (folder.path / "corpus.json").is_file():
        return
    held = folder.corpus()["fingerprint"]
    if held != fingerprint:
        raise ValueError(
            f"{folder.path} was started on other text (fingerprint {held[:12]}, now {fingerprint[:12]}): "
            "put the text back, or choose another --out"
        )


def _real_stories(plan: Plan, kept: list[str], sampled: Sampling) -> dict[str, Any] | None:
    """What samples are set beside: validation stories with as many words of prompt, cut at as many characters."""
    if not kept:
        return None
    lengths = [len(prompt.split()) for prompt in kept if prompt != prompts.BEGINNING]
    words = round(sum(lengths) / len(lengths))
    characters = sampled.characters
    if sampled.tokens is not None:  # by the base's tokenizer
        characters = max(1, round(sampled.tokens * plan.characters_per_token(plan.study.base_name)))
    assert characters is not None, "a budget is one of the two"
    found = written.of_real_stories(plan.corpus, plan.source, words, characters)
    if found is None:
        return None
    return {"prompt_words": words, "characters": characters, "real": collected.figures(found)}


def _orders(plan: Plan, folder: StudyFolder, kept: list[str], on_nonfinite: OnNonfinite) -> dict[Run, Order]:
    """What is not finished, in the plan's order."""
    orders = {}
    for run in plan.runs:
        path, recipe = folder.run(*run), plan.recipe(*run)
        if not finished(path, recipe):
            codes = outside.codes(recipe.members)
            orders[run] = Order(recipe, plan.study.sampled(plan.scale), kept, str(path), on_nonfinite, codes)
    return orders


def _one_after_the_other(
    plan: Plan, orders: Mapping[Run, Order], watcher: Watcher, group: Group
) -> Iterator[tuple[Run, Finished | Failed]]:
    for (arm, seed), order in orders.items():
        data = plan.dataset(arm)

        def watch(moment: Moment, arm: str = arm, seed: int = seed) -> None:
            watcher.watch(arm, seed, moment)

        def say(note: str, arm: str = arm, seed: int = seed) -> None:
            watcher.say(f"{arm}, seed {seed}: {note}")

        try:
            yield (arm, seed), carry_out(order, data, watch, say, group)
        except Lost as error:
            raise Lost(f"{arm}, seed {seed}: {error}") from error


def _side_by_side(
    jobs: Crew, orders: Mapping[Run, Order], watcher: Watcher
) -> Iterator[tuple[Run, Finished | Failed]]:
    runs = {order.run: run for run, order in orders.items()}
    for order, told in jobs.work(orders.values()):
        arm, seed = runs[order.run]
        if isinstance(told, Stepped):
            watcher.watch(arm, seed, told.moment)
        elif isinstance(told, Remarked):
            watcher.say(f"{arm}, seed {seed}: {told.note}")
        else:
            yield (arm, seed), told


def _short(value: Any) -> Any:
    """A member without settings is its name."""
    return value["name"] if isinstance(value, dict) and set(value) == {"name"} else value


def _pretty(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
