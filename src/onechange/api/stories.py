"""What a model wrote, story by story."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import final, overload

from onechange.generate import Continuation


@final
class Stories(Sequence[Continuation]):
    """Each has its ``prompt`` and the ``text`` that the model wrote after it."""

    def __init__(self, stories: Iterable[Continuation]) -> None:
        self._stories = tuple(stories)

    @overload
    def __getitem__(self, which: int) -> Continuation: ...
    @overload
    def __getitem__(self, which: slice) -> "Stories": ...
    def __getitem__(self, which: int | slice) -> "Continuation | Stories":
        return Stories(self._stories[which]) if isinstance(which, slice) else self._stories[which]

    def __len__(self) -> int:
        return len(self._stories)

    def __str__(self) -> str:
        return "\n\n".join(story.prompt + story.text for story in self)

    def __repr__(self) -> str:
        return f"Stories: {len(self)}"

    def _repr_html_(self) -> str:
        drawn = "".join(
            f'<p style="white-space:pre-wrap;max-width:44em"><b>{escape(story.prompt)}</b>{escape(story.text)}'
            f"{'' if story.ended else ' …'}</p>"
            for story in self
        )
        return f"<div>{drawn}</div>"
