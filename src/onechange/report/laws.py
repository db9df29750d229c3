"""Why to believe it: the eight laws of a fair comparison, each with what this study recorded about it."""

from dataclasses import dataclass

from onechange.compare import SEEDS_FOR_A_VERDICT
from onechange.report.answer import SECONDS, changed_key
from onechange.report.digits import count, significant
from onechange.report.study import Arm, Study
from onechange.report.wording import listed


@dataclass(frozen=True)
class Law:
    """``rule`` must hold, ``recorded`` is what the study's files say of it, ``broken`` marks an exception."""

    name: str
    rule: str
    recorded: str
    broken: bool = False


CONSTRUCTION = (
    "Holds by construction: onechange’s own tests fail where it does not. Nothing in this study measures it."
)


def laws(study: Study) -> list[Law]:
    """The eight laws in their order."""
    return [
        Law(
            "One change",
            "A model differs from the one it is compared with in exactly one setting.",
            _change(study),
        ),
        Law(
            "Same text",
            "At each step all models start reading at the same places of the text.",
            CONSTRUCTION + _exposure(study),
        ),
        Law(
            "Same start",
            "Parts that two models share begin with the same random weights, bit for bit.",
            CONSTRUCTION,
        ),
        _ruler(study),
        _peeking(study),
        _luck(study),
        _lost(study),
        _hidden(study),
    ]


def _change(study: Study) -> str:
    changes = [f"{arm.name} changes the {changed_key(arm)}" for arm in study.changed() if changed_key(arm)]
    if not changes:
        return "Nothing was changed: the study has one arm."
    return "; ".join(changes) + ". What follows from a change, in size and in text seen, stands in the table."


def _exposure(study: Study) -> str:
    times = [arm.record.get("times_text_seen") for arm in study.arms]
    known = [value for value in times if value is not None]
    if len(known) < 2 or max(known) < 1.02 * min(known):
        return ""
    return (
        f" An equal number of steps is not an equal amount of text: the models saw the training text "
        f"{significant(min(known))} to {significant(max(known))} times."
    )


def _ruler(study: Study) -> Law:
    rule = (
        "Every token of the whole validation text is scored once, and the sum is divided by the text’s "
        "characters, so that models with different tokens can be compared."
    )
    corpus = study.corpus
    if not study.has_validation:
        return Law("Same ruler", rule, "There was no validation text, so nothing was measured.", True)
    lossy = [arm.name for arm in study.arms if not arm.lossless]
    recorded = (
        f"{count(corpus.get('validation_documents'))} stories, {count(corpus.get('validation_characters'))} "
        "characters, the same for all."
    )
    if study.judged_on == "test":
        recorded += (
            f" Test text, which is judged on: {count(corpus.get('test_documents'))} stories, "
            f"{count(corpus.get('test_characters'))} characters."
        )
    if lossy:
        recorded += (
            f" Not for {listed(lossy)}: those tokens do not give the text back, so no exact figure exists."
        )
    return Law("Same ruler", rule, recorded, bool(lossy))


def _peeking(study: Study) -> Law:
    rule = "Neither model nor tokenizer learns from validation text, and no story stands in both parts."
    removed = study.corpus.get("duplicates_removed")
    recorded = "" if removed is None else f"{count(removed)} duplicate stories went before the split. "
    peeking = [arm.name for arm in study.arms if arm.peeking]
    if peeking:
        recorded += (
            f"The tokenizer of {listed(peeking)} learned from all text, validation included, so the figures "
            "there are flattered by an unknown amount."
        )
    else:
        recorded += "Tokenizers learned from training text only."
    if study.judged_on == "test":
        recorded += " No choice has looked at the test text."
    return Law("No peeking", rule, recorded, bool(peeking))


def _luck(study: Study) -> Law:
    rule = (
        f"A difference is judged from {SEEDS_FOR_A_VERDICT} runs of each model on, each with its own seed of "
        "the random numbers, and only where its interval leaves out zero."
    )
    seeds = study.seeds
    if not seeds:
        return Law("No luck", rule, "No run is recorded.", True)
    listed = f"{len(seeds)} seed{'s' * (len(seeds) > 1)} ({', '.join(map(str, seeds))})."
    if any((arm.versus("best") or {}).get("verdict") == SECONDS for arm in study.arms):
        return Law("No luck", rule, f"{listed} The budget is in seconds, and nothing was judged.", True)
    enough = len(seeds) >= SEEDS_FOR_A_VERDICT
    return Law(
        "No luck",
        rule,
        listed if enough else f"{listed} That is too few, and nothing was judged.",
        not enough,
    )


def _lost(study: Study) -> Law:
    rule = "An interrupted run resumes as if it had not been; the best and the last state of each are kept."
    runs = [(arm, run) for arm in study.arms for run in arm.runs]
    done = sum(run.get("status", "finished") == "finished" for _, run in runs)
    recorded = f"{done} of {len(runs)} runs finished."
    troubled: list[Arm] = [arm for arm in study.arms if any(r.get("status") == "failed" for r in arm.runs)]
    for arm in troubled:
        recorded += f" {arm.name} {arm.trouble}"
    return Law("Nothing lost", rule, recorded, done < len(runs))


def _hidden(study: Study) -> Law:
    rule = "All settings, versions and the machine are written down, and the page says what is exact."
    fingerprint = study.corpus.get("fingerprint")
    recorded = "They are listed below, and in each run’s folder beside this page."
    if fingerprint:
        recorded += f" The corpus has the fingerprint {fingerprint[:12]}…"
    return Law("Nothing hidden", rule, recorded)
