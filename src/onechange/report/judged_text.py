"""Which text a study is judged on, in words: the validation text, or a test text that no choice has seen."""

from onechange.report.digits import count
from onechange.report.study import Study
from onechange.report.tuning import setting


def sentence(study: Study) -> str | None:
    """What a reader must know of the test text; None where the study has none and is judged on validation text."""
    if study.judged_on == "validation":
        return None
    stories, characters = (study.corpus.get(f"test_{what}") for what in ("documents", "characters"))
    size = f", {count(stories)} stories with {count(characters)} characters" if stories and characters else ""
    tuned = f" nor which {setting(study)} suits an arm" if study.record.get("tuning") else ""
    return (
        f"Judged on test text{size}, which no model was trained on and no choice has seen: neither which step of a "
        f"run was best{tuned}. That was chosen on validation text, whose figures are therefore flattered."
    )
