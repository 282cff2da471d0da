"""When it is too late: the request was refused as too long (chapter 10).

Counting can be wrong, so a refusal can come in spite of every threshold. `Recovery` is the agent's `recover` hook. It
tries one thing after another, from the least to the most destructive, until it has freed what the provider says is too
much; then the agent sends again:

    1 shrink the largest results    2 collapse the oldest rounds    3 one summary, once a turn    4 give up, and say why

    >>> from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user
    >>> call = ToolUseBlock("c1", "read_file", {"path": "big.txt"})
    >>> history = (user("go"), assistant(call), user(ToolResultBlock("c1", "word " * 4_000)))
    >>> hook = Recovery(counter=MessageCounter(len))
    >>> shorter, report = hook(history, ContextOverflowError("too long", request_tokens=21_000, limit_tokens=9_000))
    >>> [attempt.name for attempt in report.attempts], hook.counter.messages(shorter) < 9_000
    (['shrink the largest results'], True)

A request that was answered is not sent again, and no tool runs twice: only the refused request is made anew, shorter.

What this leaves out on purpose: telling a refusal for length from any other. That is `providers.error_shapes`.
Source: chapter 10; the order is that of published course notes on Claude Code (2026), and shrinking first answers bug
reports CTX-023 and CTX-118 of the field guide.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from course_lib.compaction import CompactionEvent, Outcome, Strategy, apply
from course_lib.errors import ContextOverflowError, RecoveryExhaustedError
from course_lib.history_parts import is_request, shorten_results
from course_lib.messages import Message, Messages, tool_results
from course_lib.snip import Snip
from course_lib.tokens import MessageCounter

__all__ = ["Recovery", "RecoveryReport", "ShrinkLargest"]


@dataclass(frozen=True, kw_only=True)
class ShrinkLargest:
    """The largest tool results are cut, down to `least_tokens`, until `tokens_to_free` are saved."""

    counter: MessageCounter = field(repr=False, compare=False)
    tokens_to_free: int
    least_tokens: int = 500
    name: str = "shrink the largest results"

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages with their largest results cut to one height: high as can be, low as needed."""
        sizes = [self.counter.block(result) for message in messages for result in tool_results(message)]
        level = max(sizes, default=0)
        while level > self.least_tokens and sum(max(0, size - level) for size in sizes) < self.tokens_to_free:
            level = max(self.least_tokens, level * 3 // 4)
        return tuple(shorten_results(message, level, self.counter) for message in messages)


@dataclass(frozen=True, kw_only=True)
class RecoveryReport:
    """What one refusal led to; `name` and `outcome` are what charts show."""

    attempts: tuple[CompactionEvent, ...]

    @property
    def outcome(self) -> Outcome:
        """Whether something was made shorter."""
        return "applied" if any(attempt.outcome == "applied" for attempt in self.attempts) else "failed"

    @property
    def name(self) -> str:
        """The step that helped."""
        return "recovery: " + next((a.name for a in reversed(self.attempts) if a.outcome == "applied"), "nothing left")


class Recovery:
    """The hook; one for an agent, since it knows what this turn has tried.

    Args:
        counter: counts messages.
        summary: the strategy of last resort; it may run once a turn, and then not again.
        margin: freed on top of what the provider asks for, as a share of the request: counts differ.
        on_attempt: called after every attempt, whatever came of it.
    """

    def __init__(
        self,
        *,
        counter: MessageCounter,
        summary: Strategy | None = None,
        margin: float = 0.02,
        on_attempt: Callable[[CompactionEvent], None] = lambda _: None,
    ) -> None:
        self.counter, self.summary, self.margin, self.on_attempt = counter, summary, margin, on_attempt
        self._turn: Message | None = None
        self._tried: list[CompactionEvent] = []

    def __call__(self, messages: Messages, error: ContextOverflowError) -> tuple[Messages, RecoveryReport]:
        """Return shorter messages to send instead, and what was done.

        Raises:
            RecoveryExhaustedError: there is nothing left to try in this turn.
        """
        if _turn_of(messages) is not self._turn:
            self._tried = []
        attempts: list[CompactionEvent] = []
        needed = self._needed_tokens(error)
        left = needed or max(1, self.counter.messages(messages) // 5)
        for make in (self._shrink, self._collapse, self._summarise):
            strategy = make(left)
            if strategy is None:
                continue
            messages, event = apply(strategy, messages, self.counter, trigger="recovery")
            attempts.append(event)
            self._tried.append(event)
            self.on_attempt(event)
            left -= event.tokens_freed
            if left <= 0 or (event.outcome == "applied" and not needed):
                break
        self._turn = _turn_of(messages)  # known anew: a summary may have taken the request in
        report = RecoveryReport(attempts=tuple(attempts))
        if report.outcome != "applied":
            raise self._exhausted(messages, error)
        return messages, report

    def _needed_tokens(self, error: ContextOverflowError) -> int:
        """What the provider says is too much, and a margin; 0 where it does not say: then a fifth is a fair try."""
        if not error.request_tokens or not error.limit_tokens:
            return 0
        return max(1, error.request_tokens - error.limit_tokens) + int(self.margin * error.request_tokens)

    def _shrink(self, tokens_to_free: int) -> Strategy:
        return ShrinkLargest(counter=self.counter, tokens_to_free=tokens_to_free)

    def _collapse(self, tokens_to_free: int) -> Strategy:
        return Snip(counter=self.counter, tokens_to_free=tokens_to_free, name="collapse the oldest")

    def _summarise(self, _: int) -> Strategy | None:
        tried = {event.name for event in self._tried if event.outcome != "skipped"}  # which cost no model call
        return None if self.summary is None or self.summary.name in tried else self.summary

    def _exhausted(self, messages: Messages, error: ContextOverflowError) -> RecoveryExhaustedError:
        tried = "; ".join(f"{event.name} ({event.reason or f'{event.tokens_freed:,} tokens'})" for event in self._tried)
        left, largest = self.counter.messages(messages), max(map(self.counter.message, messages), default=0)
        return RecoveryExhaustedError(
            f"the request is too long, and nothing made it short enough. Tried: {tried or 'nothing'}. What is left has "
            f"{left:,} tokens, its largest message {largest:,}. A larger window, fewer tools, or a new conversation "
            f"would help. The provider said: {error}",
            request_tokens=error.request_tokens,
            limit_tokens=error.limit_tokens,
            status=error.status,
        )


def _turn_of(messages: Messages) -> Message | None:
    """The user's latest request, by which one turn is known from the next."""
    return next((message for message in reversed(messages) if is_request(message)), None)
