"""A run as a sequence of frames: one request, what it held, what came of it.

Everything that the meter shows is drawn from these values, so the live picture, the replay, the still picture and the
tests cannot disagree. `frame_builder` makes them from a run's events.
Source: chapter 00.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from course_lib.client import Request
from course_lib.messages import Usage
from course_lib.window import Composition

__all__ = ["Compaction", "Frame", "added", "grouped"]


@dataclass(frozen=True)
class Compaction:
    """What a hook did to the history before a request: its name, the tokens it freed (below 0: the history grew)."""

    name: str
    tokens_freed: int
    times: int = 1


@dataclass(frozen=True)
class Frame:
    """One request of a run.

    `number` counts requests from 1. It is the round's number until a request is refused and sent again within a round.
    """

    number: int
    round_number: int
    request: Request
    composition: Composition  # tokens by part, counted on this side
    usage: Usage | None = None  # as billed; None until the answer is there
    billed: Usage = field(default_factory=Usage)  # all requests up to this one
    refusal: str = ""  # why the request was not answered
    is_overflow: bool = False  # refused because it was too long
    compactions: tuple[Compaction, ...] = ()  # since the request before
    breaker: str = ""  # state of a circuit breaker, when a hook reports one (chapter 11)

    @property
    def is_measured(self) -> bool:
        """Whether the model said how long the request was; otherwise it is an estimate."""
        return self.usage is not None and self.usage.context_tokens > 0

    @property
    def total_tokens(self) -> int:
        """Tokens of the request: as measured by the model, or as counted here when it did not say."""
        if self.usage is not None and self.usage.context_tokens:
            return self.usage.context_tokens
        return self.composition.total_tokens


def grouped(compactions: Iterable[Compaction]) -> tuple[Compaction, ...]:
    """Return one compaction a name, in order of first appearance, with times and freed tokens added up."""
    times: Counter[str] = Counter()
    freed: Counter[str] = Counter()
    for compaction in compactions:
        times[compaction.name] += compaction.times
        freed[compaction.name] += compaction.tokens_freed
    return tuple(Compaction(name, freed[name], times[name]) for name in times)


def added(left: Usage, right: Usage) -> Usage:
    """Return the sum of two bills, bucket by bucket."""
    return Usage(
        left.input_tokens + right.input_tokens,
        left.cache_read_tokens + right.cache_read_tokens,
        left.cache_write_tokens + right.cache_write_tokens,
        left.output_tokens + right.output_tokens,
    )
