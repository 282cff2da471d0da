"""Which messages of a request are shown one by one, and which are only added up.

Source: chapter 00.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_lib.messages import Message
from course_lib.widgets.changes import CHANGES, Change, What, compare
from course_lib.widgets.frames import Frame

__all__ = ["Gap", "request_rows"]


@dataclass(frozen=True)
class Gap:
    """Messages that are not shown one by one."""

    what: What
    messages: int
    tokens: int


def request_rows(
    frame: Frame, before: Frame | None, tokens: Callable[[Message], int], most_rows: int
) -> tuple[list[Change | Gap], "Counter[What]"]:
    """Return the rows to show, in order, and how many messages of each sort there are.

    Args:
        frame: the request.
        before: the request before it, if there was one.
        tokens: tokens of a message.
        most_rows: messages that may be shown one by one: first of all those that changed, then their neighbours.
    """
    messages = frame.request.messages
    found = compare(before.request.messages if before else (), messages)
    counts: Counter[What] = Counter(change.what for change in found.middle)
    counts["kept"] += found.kept_first + found.kept_last
    middle: Sequence[Change | Gap] = found.middle
    if len(middle) > most_rows:
        half = most_rows // 2
        hidden = found.middle[half:-half]
        sums = [Gap(what, *_sum(hidden, what, tokens)) for what in CHANGES if any(c.what == what for c in hidden)]
        middle = [*found.middle[:half], *sums, *found.middle[-half:]]
    room = max(0, most_rows - len(middle))
    last_shown = min(found.kept_last, room // 2 if found.kept_first else room)
    first_shown = min(found.kept_first, room - last_shown)
    shown_from = found.kept_first - first_shown
    shown_until = len(messages) - found.kept_last + last_shown
    first = [Change("kept", messages[place], place) for place in range(shown_from, found.kept_first)]
    last = [Change("kept", messages[place], place) for place in range(len(messages) - found.kept_last, shown_until)]
    tail_tokens = sum(map(tokens, messages[shown_until:]))
    parts = frame.composition.tokens_by_part
    in_messages = frame.composition.total_tokens - parts["system"] - parts["tools"]
    head_tokens = in_messages - sum(map(tokens, messages[shown_from:shown_until])) - tail_tokens
    rows: list[Change | Gap] = [Gap("kept", shown_from, head_tokens)] if shown_from else []
    rows += [*first, *middle, *last]
    hidden_last = len(messages) - shown_until
    return [*rows, Gap("kept", hidden_last, tail_tokens)] if hidden_last else rows, counts


def _sum(changes: Sequence[Change], what: What, tokens: Callable[[Message], int]) -> tuple[int, int]:
    chosen = [change.message for change in changes if change.what == what]
    return len(chosen), sum(map(tokens, chosen))
