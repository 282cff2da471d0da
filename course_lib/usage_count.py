"""Counting from what was billed: measured up to the last answer, estimated from there (chapter 03).

Every response says how many tokens its request had, system prompt and tools included. So most of the next request is
already measured: only what was said since must be estimated, and an error in a small part is a small error.

    >>> from course_lib.messages import assistant, user
    >>> from course_lib.tokens import MessageCounter, chars_counter
    >>> counter = MessageCounter(chars_counter(4))
    >>> history = (user("Hello"), assistant("Hi.", usage=Usage(input_tokens=900, output_tokens=10)), user("x" * 400))
    >>> hybrid_count(history, counter)
    TokenCount(measured=910, estimated=104, freed=0)

A usage is true only of the messages it measured. When an old message is changed, every later usage speaks of a
conversation that is no more. There are two cures: `drop_stale_usage` forgets those, and the count falls back on
estimates; `tokens_freed` keeps them and subtracts what the edit took away, by estimate, until the next answer measures.

What this leaves out on purpose: which system prompt and tools a usage was measured with. No message knows. Who changes
them drops every usage (`without_usage`), or counts the difference and passes it as `tokens_freed`. And that some models
bill for thinking which is not sent back: the count is then a little high until the next answer.
Source: chapter 03; the hybrid is described in two articles on context management, the correction by what was freed in a
third (2026).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from course_lib.errors import SettingsError
from course_lib.messages import Message, Messages, ToolSpec, Usage
from course_lib.tokens import MessageCounter

__all__ = [
    "CALIBRATION_PAIRS",
    "FACTOR_BOUNDS",
    "Calibration",
    "TokenCount",
    "drop_stale_usage",
    "find_anchor",
    "hybrid_count",
    "without_usage",
]

CALIBRATION_PAIRS = 3  # requests that a factor is learned from: few, because a conversation changes
FACTOR_BOUNDS = (0.5, 4.0)  # no honest pair of counters is further apart


@dataclass(frozen=True)
class TokenCount:
    """Tokens of a request: what was billed for, what an estimate adds for the rest, and what an edit took away."""

    measured: int
    estimated: int
    freed: int = 0

    @property
    def total(self) -> int:
        """Tokens of the whole request."""
        return max(0, self.measured + self.estimated - self.freed)


def find_anchor(messages: Sequence[Message]) -> int | None:
    """Return the place of the last message whose usage measured this conversation, or None.

    A usage of zero is that of a server that reports none, and a summary's usage is that of the request that wrote it.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.usage and message.usage.context_tokens > 0 and message.kind == "chat":
            return index
    return None


def hybrid_count(
    messages: Sequence[Message],
    counter: MessageCounter,
    *,
    system: str = "",
    tools: Sequence[ToolSpec] = (),
    factor: float = 1.0,
    tokens_freed: int = 0,
) -> TokenCount:
    """Return the tokens of a request: as billed up to the last usage, by the counter after it.

    Args:
        messages: the conversation; no usage in it may be stale.
        counter: the estimate for what no usage covers.
        system: estimated only as long as there is no usage; every usage has it inside.
        tools: likewise.
        factor: what estimates are multiplied with, see `Calibration`.
        tokens_freed: what edits took out of the measured part since the last answer, by the same counter.
    """
    anchor = find_anchor(messages)
    if anchor is None:
        return TokenCount(0, math.ceil(factor * counter.request(messages, system=system, tools=tools)))
    usage = messages[anchor].usage or Usage()
    rest = counter.messages(messages[anchor + 1 :])
    measured = usage.context_tokens + usage.output_tokens
    return TokenCount(measured, math.ceil(factor * rest), math.floor(factor * tokens_freed))


def without_usage(messages: Iterable[Message]) -> Messages:
    """Return the messages with no usage at all, those that never had one as the same objects.

    For a change that no message shows: another system prompt, other tools, another model.
    """
    return tuple(replace(message, usage=None) if message.usage else message for message in messages)


def drop_stale_usage(before: Messages, after: Messages) -> Messages:
    """Return an edited history without the usages that measured what is no longer there.

    From the first message on that is not the same object as before the edit, no usage holds. The messages in front of
    it stay the same objects. A history that only lost its end, or only got longer, comes back as it is: whatever its
    usages measured is still there.
    """
    pairs = zip(before, after, strict=False)
    first = next((index for index, (old, new) in enumerate(pairs) if old is not new), None)
    return after if first is None else (*after[:first], *without_usage(after[first:]))


@dataclass(frozen=True)
class Calibration:
    """A factor between an estimate and the bill, learned from requests of which both are known.

        >>> learned = Calibration().learn(estimated=1_000, billed=1_500).learn(estimated=2_000, billed=3_100)
        >>> learned.factor, learned.tokens(4_000)
        (1.525, 6100)

    The factor is the median of the last few ratios, so that one wrong bill does no harm, kept within `FACTOR_BOUNDS`.
    It belongs to one counter, one model and one conversation: estimates of other text are wrong by another factor.
    """

    pairs: tuple[tuple[int, int], ...] = ()

    def learn(self, *, estimated: int, billed: int) -> "Calibration":
        """Return a calibration that also knows this request; one with nothing billed or estimated teaches nothing.

        Raises:
            SettingsError: a number below 0.
        """
        if estimated < 0 or billed < 0:
            raise SettingsError(f"estimated {estimated} and billed {billed} tokens: expected numbers from 0 up")
        if not estimated or not billed:
            return self
        return Calibration((*self.pairs, (estimated, billed))[-CALIBRATION_PAIRS:])

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, int]]) -> "Calibration":
        """Return what is learned from (estimated, billed) tokens of requests, oldest first."""
        learned = cls()
        for estimated, billed in pairs:
            learned = learned.learn(estimated=estimated, billed=billed)
        return learned

    @property
    def factor(self) -> float:
        """Billed tokens for each estimated one; 1 as long as nothing is known."""
        if not self.pairs:
            return 1.0
        lowest, highest = FACTOR_BOUNDS
        return min(highest, max(lowest, median(billed / estimated for estimated, billed in self.pairs)))

    def tokens(self, estimated: int) -> int:
        """Return the estimate as it would be billed, rounded up."""
        return math.ceil(self.factor * estimated)
