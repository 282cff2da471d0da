"""What happens in a run, as values (chapter 01).

`Agent.run` yields one of these for everything it does. A chart draws them while they come, `record_run` keeps them, and
every measurement of the course is made from them afterwards.

    RequestSent → ResponseReceived → ToolFinished … → RequestSent → … → RunFinished, or RunFailed

What this leaves out on purpose: who listens. The agent does not know.
Source: chapter 01.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from course_lib.client import Request, Response, StopReason
from course_lib.errors import CourseError
from course_lib.messages import Messages, ToolResultBlock, ToolUseBlock

__all__ = [
    "AgentEvent",
    "HistoryRewritten",
    "RequestSent",
    "ResponseReceived",
    "Run",
    "RunFailed",
    "RunFinished",
    "ToolFinished",
    "record_run",
]


@dataclass(frozen=True)
class RequestSent:
    """Round `round_number` (from 1) sends this request."""

    round_number: int
    request: Request


@dataclass(frozen=True)
class ResponseReceived:
    """The model answered."""

    round_number: int
    response: Response


@dataclass(frozen=True)
class ToolFinished:
    """A tool answered one call."""

    round_number: int
    call: ToolUseBlock
    result: ToolResultBlock


@dataclass(frozen=True)
class HistoryRewritten:
    """A hook replaced the history; `detail` is what it reports of it (chapter 05: a `CompactionEvent`)."""

    round_number: int
    before: Messages
    after: Messages
    detail: object = None


@dataclass(frozen=True)
class RunFinished:
    """The run is over without an error: `text` is the model's last word, `reason` why it ended."""

    round_number: int
    text: str
    reason: StopReason | Literal["max_rounds"] = "end_turn"

    @property
    def is_complete(self) -> bool:
        """Whether the model itself said that it was done (not cut off, not refused, not out of rounds)."""
        return self.reason == "end_turn"


@dataclass(frozen=True)
class RunFailed:
    """The run ends with an error, which is raised right after this event."""

    round_number: int
    error: CourseError


AgentEvent: TypeAlias = RequestSent | ResponseReceived | ToolFinished | HistoryRewritten | RunFinished | RunFailed


@dataclass(frozen=True)
class Run:
    """A run that is over: all its events, and the error that ended it, if one did."""

    events: tuple[AgentEvent, ...]
    error: CourseError | None = None

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request, in order."""
        return tuple(event.request for event in self.events if isinstance(event, RequestSent))

    @property
    def responses(self) -> tuple[Response, ...]:
        """Every response, in order."""
        return tuple(event.response for event in self.events if isinstance(event, ResponseReceived))

    @property
    def rounds(self) -> int:
        """The number of the last round."""
        return self.events[-1].round_number if self.events else 0


def record_run(events: Iterable[AgentEvent]) -> Run:
    """Let a run go to its end and return what happened; an error of the course ends it without being raised."""
    seen: list[AgentEvent] = []
    try:
        seen.extend(events)
    except CourseError as error:
        return Run(tuple(seen), error)
    return Run(tuple(seen))
