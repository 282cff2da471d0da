r"""Tier 4: forget without destroying. The history stays whole, and the view is small (chapter 09).

A *span* of old messages is shown as its summary. The spans live in a `CollapseStore`, an append-only log beside the
history; `project` makes the view from both, anew for every request. The history itself is never changed.

    >>> from course_lib.messages import assistant, message_text
    >>> history = (user("the task"), *(assistant(f"step {n}") for n in range(8)), user("go on"))
    >>> store = CollapseStore()
    >>> store.collapse(1, 7, "Six steps were taken.", history)
    >>> view = store.project(history)
    >>> [message_text(message) for message in view][:3], len(history)
    (['the task', '[Summary of 6 messages]\nSix steps were taken.', 'step 6'], 10)

A later span may take in earlier ones; the view then shows only the larger. Two spans that overlap in part are refused,
and so is one inside of a span that is shown already.

A span knows its messages by what they say. Where the history was rewritten by something else, so that other messages
stand in its place, it is not shown: nothing is ever hidden that was not summarised.

What this leaves out on purpose: who writes the summaries. Any strategy's will do; the chapter uses rules and a model.
Source: chapter 09; projection, store and replay are those of an article on Claude Code's five tiers (2026).
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from course_lib.errors import CompactionError
from course_lib.messages import Message, Messages, user
from course_lib.tool_pairs import safe_cut
from course_lib.wire_anthropic import to_anthropic

__all__ = ["CollapseStore", "Span"]


@dataclass(frozen=True)
class Span:
    """Messages `start` up to, not including, `end` of the history, and what is shown in their place.

    `fingerprint` is made from what the messages say.
    """

    start: int
    end: int
    summary: str
    fingerprint: str

    def contains(self, other: "Span") -> bool:
        """Whether the other span lies inside of this one."""
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: "Span") -> bool:
        """Whether the two share a message."""
        return self.start < other.end and other.start < self.end


class CollapseStore:
    """What was collapsed in one history, as a log.

    Args:
        log: the records of an earlier part of the session, oldest first.
        on_record: told of every new record, for example to write it into the transcript; what it raises is raised, and
            then nothing was collapsed.

    Raises:
        CompactionError: a record that makes no sense.
    """

    def __init__(
        self,
        log: Iterable[Mapping[str, Any]] = (),
        *,
        on_record: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:
        self._log: list[Span] = []
        self._digests: dict[int, tuple[Message, str]] = {}  # by identity, held so that it stays theirs
        self._on_record = on_record
        for record in log:
            span = _span_of(record)
            self._check(span)
            self._log.append(span)

    @property
    def log(self) -> tuple[Span, ...]:
        """Every span that was ever collapsed, oldest first."""
        return tuple(self._log)

    @property
    def shown(self) -> tuple[Span, ...]:
        """The spans that the view shows, in the order of the history: those that no later one has taken in."""
        outer = [
            span
            for place, span in enumerate(self._log)
            if not any(later.contains(span) for later in self._log[place + 1 :])
        ]
        return tuple(sorted(outer, key=lambda span: span.start))

    def collapse(self, start: int, end: int, summary: str, history: Messages) -> None:
        """Show the messages from `start` up to `end` as a summary from now on; cuts move inwards, so no pair is parted.

        Args:
            start: the first message of the span.
            end: one behind its last.
            summary: what is shown instead.
            history: the whole conversation.

        Raises:
            CompactionError: an empty span or summary, one outside of the history, or one that overlaps another in part.
        """
        if not 0 <= start < end <= len(history) or not summary.strip():
            raise CompactionError(
                f"cannot collapse messages {start} to {end} of {len(history)} into {summary[:40]!r}: expected a span "
                "inside of the history, and a summary"
            )
        start, end = safe_cut(history, start, keep="less"), safe_cut(history, end)
        if start >= end:
            raise CompactionError("these messages are part of one batch, which cannot be parted: take it in whole")
        span = Span(start, end, summary, self._fingerprint(history[start:end]))
        self._check(span)
        self._on_record(asdict(span))
        self._log.append(span)

    def project(self, history: Messages) -> Messages:
        """Return the view of the history; everything that is not in a span is the same object.

        A span whose messages are not there (yet, or any more) is left out. With no span, it is the very same history.
        """
        view: list[Message] = []
        position = 0
        for span in self.shown:
            if span.end > len(history) or self._fingerprint(history[span.start : span.end]) != span.fingerprint:
                continue
            view += history[position : span.start]
            view.append(user(f"[Summary of {span.end - span.start} messages]\n{span.summary}", kind="summary"))
            position = span.end
        return (*view, *history[position:]) if view else history

    def next_start(self) -> int:
        """Return where the part of the history begins that no span has taken in yet."""
        return max((span.end for span in self._log), default=0)

    def _check(self, span: Span) -> None:
        for other in self.shown:
            if span.meets(other) and not span.contains(other):
                raise CompactionError(
                    f"span {span.start} to {span.end} overlaps {other.start} to {other.end}, which is collapsed "
                    "already: take it in whole, or begin behind it"
                )

    def _fingerprint(self, messages: Sequence[Message]) -> str:
        whole = hashlib.sha256()
        for message in messages:
            known = self._digests.get(id(message))
            if known is None:
                words = json.dumps([message.kind, *to_anthropic((message,))], sort_keys=True)
                known = message, hashlib.sha256(words.encode()).hexdigest()
                self._digests[id(message)] = known
            whole.update(known[1].encode())
        return whole.hexdigest()[:16]


def _span_of(record: Mapping[str, Any]) -> Span:
    try:
        span = Span(**record)
        is_sound = 0 <= span.start < span.end and span.summary.strip() and span.fingerprint.strip()
    except (TypeError, AttributeError):
        is_sound = False
    if not is_sound or not all(type(number) is int for number in (span.start, span.end)):
        raise CompactionError(
            f"a collapse record makes no sense: {str(record)[:80]}. Take it out of the log: its messages are then "
            "shown in full"
        )
    return span
