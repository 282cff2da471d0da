"""Make a conversation shorter, and know what came of it (chapter 05).

A `Strategy` edits: messages in, fewer or shorter messages out. `apply` does everything else, once for all strategies:
it measures, looks for broken pairs, finds the prefix that survived, keeps account of every message, and refuses what
does not help. So no strategy can misreport itself, and one that fails leaves the very same messages.

    >>> from course_lib.messages import user
    >>> class LastThree:
    ...     name = "last three"
    ...     def __call__(self, messages):
    ...         return (user("(older messages left out)"), *messages[-3:])
    >>> history = tuple(user(f"message {number} " * 20) for number in range(8))
    >>> shorter, event = apply(LastThree(), history, MessageCounter(len))
    >>> event.outcome, event.kept, event.dropped, shorter[1] is history[5]
    ('applied', (5, 6, 7), (0, 1, 2, 3, 4), True)

Three things can come of it: *applied*, *skipped* (there was nothing to do) and *failed* (it broke something, freed
nothing, or raised). Only the first changes the history. Pairs that were broken before are mended on the way, so a
strategy only meets whole ones.

What this leaves out on purpose: when to do it, and what to try next (chapter 06).
Source: chapter 05; the rules are those that the public bug reports of the field guide ask for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Literal, Protocol, TypeAlias

from course_lib.errors import CompactionError, CourseError, NothingToDoError
from course_lib.messages import (
    Message,
    Messages,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    tool_results,
)
from course_lib.partition import Partition, partition
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import find_pair_faults, pending_calls, repair, safe_cut
from course_lib.usage_count import drop_stale_usage

__all__ = ["CompactionEvent", "Edit", "Outcome", "Strategy", "Trigger", "apply", "rebase", "rewrite_above"]

Outcome = Literal["applied", "skipped", "failed"]
Trigger = Literal["auto", "manual", "recovery"]
Edit: TypeAlias = Callable[[Messages], Messages]


class Strategy(Protocol):
    """An edit with a name. It may raise `NothingToDoError`, or any `CourseError` when it cannot do its work."""

    @property
    def name(self) -> str:
        """What events and charts call it."""
        ...

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages to go on with; untouched ones as the same objects, in their order."""
        ...


@dataclass(frozen=True, kw_only=True)
class CompactionEvent:
    """What came of one strategy on one history.

    Every message of the history, by its index, is in exactly one of `kept`, `shortened`, `summarised` and `dropped`.

    Attributes:
        name: the strategy.
        trigger: why it ran: "auto" at a threshold, "manual", or "recovery" after a refusal.
        outcome: "applied", "skipped" or "failed"; only "applied" changed the history.
        reason: why it was skipped or failed, in a sentence; "" when applied.
        tokens_before, tokens_after: of the messages, by one and the same counter.
        messages_before, messages_after: how many.
        kept: the very same objects; behind the first change without their usage, which measured what is no more.
        shortened: a message with the same calls or results, or with a part of the same content, stands in their place.
        summarised: gone, and a new summary stands in or behind their place.
        dropped: gone, and nothing says what they were.
        prefix_messages, prefix_tokens: the untouched beginning, which a prompt cache can still use (chapter 08).
        error: what was raised, if anything was.
    """

    name: str
    trigger: Trigger = "auto"
    outcome: Outcome
    reason: str = ""
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    kept: tuple[int, ...] = ()
    shortened: tuple[int, ...] = ()
    summarised: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    prefix_messages: int = 0
    prefix_tokens: int = 0
    error: Exception | None = field(default=None, compare=False, repr=False)

    @property
    def tokens_freed(self) -> int:
        """Tokens that the history is shorter by."""
        return self.tokens_before - self.tokens_after

    @property
    def compression_ratio(self) -> float:
        """Tokens after over tokens before: 0.25 means that a quarter is left."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0


def apply(
    strategy: Strategy | Edit, messages: Messages, counter: MessageCounter, *, trigger: Trigger = "auto"
) -> tuple[Messages, CompactionEvent]:
    """Let a strategy edit the messages, and return what to go on with and what came of it.

    Args:
        strategy: a strategy, or a plain function (its name is then the function's).
        messages: the history; never changed.
        counter: counts before and after.
        trigger: why this happens now; only reported.

    Returns:
        The new messages and an "applied" event; or the very same `messages` and an event that says why not. What a
        strategy raises is reported, not raised.
    """
    name = str(getattr(strategy, "name", "") or getattr(strategy, "__name__", type(strategy).__name__))
    try:
        sound = _mended(messages)
        after = _checked(sound, strategy(sound))
        account = partition(messages, after, seen=sound)
        event = _event(name, trigger, "applied", messages, after, counter, account)
        if event.tokens_freed <= 0:
            tokens = f"{event.tokens_before:,} tokens before, {event.tokens_after:,} after"
            raise CompactionError(f"it frees nothing: {tokens}")
    except Exception as error:  # whatever it is, the run goes on with the history as it was
        outcome: Outcome = "skipped" if isinstance(error, NothingToDoError) else "failed"
        reason = str(error) if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
        account = Partition(kept=tuple(range(len(messages))))
        event = _event(name, trigger, outcome, messages, messages, counter, account)
        return messages, replace(event, reason=reason, error=error)
    return drop_stale_usage(messages, after), event


def rewrite_above(
    trigger_tokens: int, strategy: Strategy | Edit, counter: MessageCounter
) -> Callable[[Messages], tuple[Messages, CompactionEvent | None]]:
    """Return a `rewrite` hook for an `Agent`: from `trigger_tokens` of messages on, it applies the strategy.

    System prompt and tools are not in this number; take them off the window first.
    """

    def rewrite(messages: Messages) -> tuple[Messages, CompactionEvent | None]:
        if counter.messages(messages) < trigger_tokens:
            return messages, None
        return apply(strategy, messages, counter)

    return rewrite


def rebase(before: Messages, after: Messages, now: Messages) -> Messages:
    """Return a finished compaction with what was said while it ran.

    Args:
        before: the history that was compacted.
        after: what is left of it.
        now: the history at present.

    Raises:
        CompactionError: `now` does not begin with `before`, so `after` speaks of a conversation that is no more.
    """
    if len(now) < len(before) or not all(map(is_, before, now)):
        raise CompactionError("the conversation was replaced while it was made shorter: the result is of no use now")
    return (*after, *now[len(before) :]) if len(now) > len(before) else after


def _event(
    name: str,
    trigger: Trigger,
    outcome: Outcome,
    before: Messages,
    after: Messages,
    counter: MessageCounter,
    account: Partition,
) -> CompactionEvent:
    pairs = enumerate(zip(before, after, strict=False))
    prefix = next((index for index, (old, new) in pairs if old is not new), min(len(before), len(after)))
    return CompactionEvent(
        name=name,
        trigger=trigger,
        outcome=outcome,
        tokens_before=counter.messages(before),
        tokens_after=counter.messages(after),
        messages_before=len(before),
        messages_after=len(after),
        kept=account.kept,
        shortened=account.shortened,
        summarised=account.summarised,
        dropped=account.dropped,
        prefix_messages=prefix,
        prefix_tokens=counter.messages(after[:prefix]),
    )


# --- what a result must be -------------------------------------------------------------------------------------------


def _mended(messages: Messages) -> Messages:
    """The messages with whole pairs; a batch that is still running stays open."""
    end = safe_cut(messages, len(messages))
    return (*repair(messages[:end]), *messages[end:])


def _checked(before: Messages, result: object) -> Messages:
    """The result as messages, or an error that says what is wrong with it."""
    if not isinstance(result, Sequence) or not all(isinstance(message, Message) for message in result):
        raise CompactionError(f"it returned {result!r:.80}: expected a sequence of messages")
    after: Messages = tuple(result)
    if len(after) == len(before) and all(map(is_, before, after)):
        raise NothingToDoError("there was nothing to do")
    known = {id(message) for message in before}
    new = [message for message in after if id(message) not in known]
    _check_shape(before, after)
    _check_newest(before, after)
    _check_results(before, new)
    _check_content(before, new)
    return after


def _check_shape(before: Messages, after: Messages) -> None:
    if not after or (after[0].role != "user" and after[0] is not before[0]):
        raise CompactionError("what is left does not start with a user message: put one in front")
    running = {call.id for call in pending_calls(before)}  # a batch that runs may stay open
    for fault in find_pair_faults(after):
        if fault.kind != "pending_call" or fault.tool_use_id not in running:
            raise CompactionError(f"it leaves a broken pair: {fault}. Cut with tool_pairs.keep_from.")


def _check_newest(before: Messages, after: Messages) -> None:
    """The newest message is not answered yet: what was asked stays word for word, and no result goes missing."""
    newest, last = before[-1], after[-1]
    if newest is last:
        return
    said = [block for block in newest.content if not isinstance(block, ToolResultBlock)]
    still_said = [block for block in last.content if not isinstance(block, ToolResultBlock)]
    answered = [[result.tool_use_id for result in tool_results(message)] for message in (newest, last)]
    if newest.role != last.role or said != still_said or answered[0] != answered[1]:
        raise CompactionError("the newest message, which nobody has answered yet, is not the last one any more")


def _check_results(before: Messages, new: Sequence[Message]) -> None:
    """A call that failed has failed, whatever is left of its result."""
    is_error = {result.tool_use_id: result.is_error for message in before for result in tool_results(message)}
    for result in (result for message in new for result in tool_results(message)):
        if is_error.get(result.tool_use_id, result.is_error) != result.is_error:
            raise CompactionError(f"it changed whether call {result.tool_use_id!r} failed: keep is_error as it was")


def _check_content(before: Messages, new: Sequence[Message]) -> None:
    signed = {block for message in before for block in message.content if isinstance(block, ThinkingBlock | RawBlock)}
    for message in new:
        if not message.content or any(isinstance(b, TextBlock) and not b.text.strip() for b in message.content):
            raise CompactionError(f"it made a {message.role} message with empty content, which providers refuse")
        if any(isinstance(block, ThinkingBlock | RawBlock) and block not in signed for block in message.content):
            raise CompactionError("it edited a thinking block, whose signature would no longer hold")
