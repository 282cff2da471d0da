"""Where did each message go? (chapter 05).

Every message of a history, by its index, is in exactly one of four lists afterwards: kept, shortened, summarised or
dropped. Nothing vanishes without a trace. That is worked out from the two histories, so no strategy is asked.

    >>> from course_lib.messages import assistant, user
    >>> a, b, c, d = user("the task"), assistant("a long story"), user("go on"), assistant("another long story")
    >>> partition((a, b, c, d), (a, assistant("a story"), c, d))
    Partition(kept=(0, 2, 3), shortened=(1,), summarised=(), dropped=())
    >>> partition((a, b, c, d), (user("You were told two stories.", kind="summary"), d))
    Partition(kept=(3,), shortened=(), summarised=(0, 1, 2), dropped=())

What this leaves out on purpose: whether a summary holds what it stands for. The scoreboard measures that.
Source: chapter 05; bug reports CTX-021, CTX-058 and CTX-066 of the field guide.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.errors import CompactionError
from course_lib.messages import Message, Messages, tool_results, tool_uses

__all__ = ["Partition", "partition"]


@dataclass(frozen=True)
class Partition:
    """Where each message of a history went, by index; `CompactionEvent` says what the four words mean."""

    kept: tuple[int, ...] = ()
    shortened: tuple[int, ...] = ()
    summarised: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()


def partition(before: Messages, after: Messages, *, seen: Messages | None = None) -> Partition:
    """Match what is left with what there was: by identity, and between two kept messages by what they hold.

    Args:
        before: the history.
        after: what is left of it.
        seen: the history as the strategy saw it, if its pairs were mended first. What that took out is dropped,
            whatever was summarised around it.

    Raises:
        CompactionError: messages are in another order than before, or one is there twice.
    """
    places = _places(before, after)
    kept = {place for place in places if place is not None}
    shortened = _replaced(before, after, places)
    lost = set() if seen is None or seen == before else _lost(before, seen)
    new_summaries = [i for i, message in enumerate(after) if message.kind == "summary" and places[i] is None]
    told = 0  # up to here, a summary may tell of what is gone
    if new_summaries:
        told = next((place for place in places[new_summaries[-1] :] if place is not None), len(before))
    gone = set(range(len(before))) - kept - shortened
    summarised = {index for index in gone if index < told} - lost
    return Partition(*(tuple(sorted(part)) for part in (kept, shortened, summarised, gone - summarised)))


def _lost(before: Messages, seen: Messages) -> set[int]:
    places = _places(before, seen)
    return set(range(len(before))) - {place for place in places if place is not None} - _replaced(before, seen, places)


def _places(before: Messages, after: Messages) -> list[int | None]:
    """The index that each message had before; None for a new one."""
    identities = {id(message) for message in before}
    places: list[int | None] = []
    start = 0
    for message in after:
        known = range(start, len(before)) if id(message) in identities else range(0)
        index = next((index for index in known if before[index] is message), None)
        if index is None and id(message) in identities:
            raise CompactionError("it changed the order of the messages, or has one twice")
        places.append(index)
        start = start if index is None else index + 1
    return places


def _replaced(before: Messages, after: Messages, places: Sequence[int | None]) -> set[int]:
    """The messages in whose place new ones stand, by index."""
    found: set[int] = set()
    start = 0
    new: list[Message] = []  # since the last kept one
    for message, place in (*zip(after, places, strict=True), (None, len(before))):
        if place is None and message is not None:
            new += [message] * (message.kind == "chat")
        elif place is not None:
            found |= _stand_ins(before, range(start, place), new)
            new, start = [], place + 1
    return found


def _stand_ins(before: Messages, gap: range, new: Sequence[Message]) -> set[int]:
    """Those messages of the gap that a new one stands for: one for one, by their calls or results, or by a block."""
    if [_signature(message) for message in new] == [_signature(before[index]) for index in gap]:
        return set(gap)
    signatures = {signature for signature in map(_signature, new) if signature[1]}
    blocks = {id(block) for message in new for block in message.content}
    return {
        index
        for index in gap
        if _signature(before[index]) in signatures or any(id(block) in blocks for block in before[index].content)
    }


def _signature(message: Message) -> tuple[str, tuple[str, ...]]:
    calls, results = tool_uses(message), tool_results(message)
    return message.role, (*(call.id for call in calls), *(result.tool_use_id for result in results))
