"""What became of each message between two requests.

    >>> from course_lib.messages import user
    >>> a, b, c = map(user, "abc")
    >>> [(change.what, change.message.content[0].text) for change in changes((a, b), (b, c))]
    [('dropped', 'a'), ('kept', 'b'), ('new', 'c')]

A message that is the very same object was kept: that is how the library's histories are made. Of the others, a message
with the calls or results of an old one is that message, edited; the rest is told by its kind.
Source: chapter 00.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from course_lib.messages import Message, Messages, ToolResultBlock, ToolUseBlock
from course_lib.widgets.frame_builder import shared_ends

__all__ = ["CHANGES", "Change", "Comparison", "What", "changes", "compare"]

What: TypeAlias = Literal["kept", "edited", "summarised", "restored", "new", "dropped"]
CHANGES: tuple[What, ...] = get_args(What)
_WHAT_KIND_SAYS: dict[str, What] = {"summary": "summarised", "restored": "restored"}


@dataclass(frozen=True)
class Change:
    """One message and what became of it; `place` is its index in the request, None when it is no longer there."""

    what: What
    message: Message
    place: int | None
    before: Message | None = None  # of an edited message: as it was


@dataclass(frozen=True)
class Comparison:
    """Two requests compared: `kept_first` messages are the same at the start, `kept_last` at the end."""

    kept_first: int
    middle: tuple[Change, ...]
    kept_last: int


def changes(before: Messages, after: Messages) -> tuple[Change, ...]:
    """Return what became of every message, in the order of the request, dropped ones where they used to be."""
    found = compare(before, after)
    first = (Change("kept", after[place], place) for place in range(found.kept_first))
    last = (Change("kept", after[place], place) for place in range(len(after) - found.kept_last, len(after)))
    return (*first, *found.middle, *last)


def compare(before: Messages, after: Messages) -> Comparison:
    """Return the comparison of two requests' messages; looks closely only at what lies between their equal ends."""
    start, end = shared_ends(before, after)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    return Comparison(start, tuple(_middle(old, new, start)), end)


def _middle(old: Sequence[Message], new: Sequence[Message], start: int) -> Iterator[Change]:
    """What became of the messages; a dropped one is told before the next message that stood after it."""
    partners = _partners(old, new)
    matched = set(partners)
    limits = [len(old)]  # for each new message, from behind: where the old ones begin that are told later
    for partner in reversed(partners):
        limits.append(limits[-1] if partner is None else min(partner, limits[-1]))
    told = 0
    for place, (message, partner, limit) in enumerate(zip(new, partners, limits[:0:-1], strict=True), start):
        yield from (Change("dropped", old[gone], None) for gone in range(told, limit) if gone not in matched)
        told = max(told, limit)
        yield _change(message, None if partner is None else old[partner], place)
    yield from (Change("dropped", old[gone], None) for gone in range(told, len(old)) if gone not in matched)


def _change(message: Message, partner: Message | None, place: int) -> Change:
    if partner is None:
        return Change(_WHAT_KIND_SAYS.get(message.kind, "new"), message, place)
    if partner is message or partner == message:
        return Change("kept", message, place)
    return Change(_WHAT_KIND_SAYS.get(message.kind, "edited"), message, place, partner)


def _partners(old: Sequence[Message], new: Sequence[Message]) -> list[int | None]:
    """For each new message the index of the old one that it is, or comes from; no old one has two."""
    by_identity = {id(message): index for index, message in enumerate(old)}
    partners = [by_identity.pop(id(message), None) for message in new]
    free = dict.fromkeys(sorted(by_identity.values()))
    by_ids = {ids: index for index in free if (ids := _ids(old[index]))}
    for place, message in enumerate(new):
        if partners[place] is None and (ids := _ids(message)):
            partners[place] = by_ids.pop(ids, None)
        elif (
            partners[place] is None
        ):  # a text has no ids: it is the old one if it says the same, or stands in its place
            texts = [index for index in free if not _ids(old[index])]
            is_same_place = len(old) == len(new) and place in texts and old[place].role == message.role
            same_place = place if is_same_place else None
            partner = next((index for index in texts if old[index] == message), same_place)
            partners[place] = partner
            if partner is not None:
                del free[partner]
    return partners


def _ids(message: Message) -> tuple[str, ...]:
    """What ties a message to an older version of itself: its own id, or its calls' and results'."""
    if message.id:
        return (message.role, message.id)
    calls = [block.id for block in message.content if isinstance(block, ToolUseBlock)]
    results = [block.tool_use_id for block in message.content if isinstance(block, ToolResultBlock)]
    return (message.role, *calls, *results) if calls or results else ()
