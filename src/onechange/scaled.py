"""What a scale says of a family: a table for each member that it gives settings for."""

from collections.abc import Mapping
from typing import Any

Said = str | Mapping[str, Any] | list[Any]


def tables(said: Said) -> list[dict[str, Any]]:
    """One table per member; a word is a table with nothing but its name. A `ValueError` says what is allowed."""
    some = said if isinstance(said, list) else [said]
    for one in some:
        nameless = isinstance(one, Mapping) and "name" not in one
        if not isinstance(one, str | Mapping) or (nameless and isinstance(said, list)):
            raise ValueError("must be a member's name or a table, or a list of tables each with a name")
    return [{"name": one} if isinstance(one, str) else dict(one) for one in some]


def of_member(said: Said, member: str) -> dict[str, Any]:
    """The settings that are given for ``member``; none where it is not spoken of."""
    for table in tables(said):
        if table.get("name", member) == member:
            return {key: value for key, value in table.items() if key != "name"}
    return {}


def joined(built_in: Said, own: Said) -> list[dict[str, Any]]:
    """What a study's ``own`` scale says on top of the ``built_in`` one.

    A table takes the place of that of the same member. One without ``name`` changes the first table's settings.
    """
    found = tables(built_in)
    for table in tables(own):
        names = [one.get("name") for one in found]
        if "name" not in table:
            found[0] = {**found[0], **table}
        elif table["name"] in names:
            found[names.index(table["name"])] = table
        else:
            found.append(table)
    return found
