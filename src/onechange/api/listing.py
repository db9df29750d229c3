"""What there is to choose from, as tables."""

from onechange import family, study_file
from onechange.api.table import Table


def list_studies() -> Table:
    """The built-in studies: name, question, arms."""
    found = {name: study_file.read(path) for name, path in study_file.builtin().items()}
    return Table(
        ("study", "question", "arms"),
        [
            {"study": name, "question": study.question, "arms": study.arm_names}
            for name, study in found.items()
        ],
    )


def list_members(of: str) -> Table:
    """The members of a family, ``position`` for instance: name, what it is, source.

    A `LookupError` lists the families.
    """
    if of not in family.FAMILIES:
        raise LookupError(f"no family {of!r}; there is {', '.join(family.FAMILIES)}")
    return Table(
        ("member", "what it is", "source"),
        [
            {"member": name, "what it is": family.summary(of, name), "source": family.source(of, name)}
            for name in family.members(of)
        ],
    )
