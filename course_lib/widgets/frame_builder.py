"""From a run's events to frames, one event at a time.

A new event costs the same at round 10 and at round 1,000: a message is counted once, and a request that continues the
one before is recognised by its messages being the very same objects, so only its new messages are looked at.

    >>> from course_lib.agent import Agent
    >>> from course_lib.client import ScriptedClient
    >>> builder = FrameBuilder(Window(context_tokens=1_000, reserve_tokens=100), MessageCounter(len))
    >>> for event in Agent(ScriptedClient(["done"])).run("Hello"):
    ...     _ = builder.add(event)
    >>> [(frame.round_number, frame.composition.tokens_by_part["user"]) for frame in builder.frames]
    [(1, 9)]

What this leaves out on purpose: drawing.
Source: chapter 00.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from operator import is_, is_not

from course_lib.client import Request
from course_lib.errors import ContextOverflowError, CourseError, InvalidRequestError
from course_lib.events import (
    AgentEvent,
    HistoryRewritten,
    RequestSent,
    ResponseReceived,
    RunFailed,
    RunFinished,
)
from course_lib.messages import Message, Messages, Usage
from course_lib.tokens import MessageCounter
from course_lib.widgets.columns import Column, Columns
from course_lib.widgets.frames import Compaction, Frame, added, grouped
from course_lib.window import PARTS, Composition, Part, Window, composition

__all__ = ["FrameBuilder", "Track", "shared_ends"]


@dataclass(frozen=True, kw_only=True)
class Track:
    """What the time line shows of a run: its name, its columns, and how it ended ("" while it runs)."""

    name: str
    columns: tuple[Column, ...] = ()
    compactions: tuple[Compaction, ...] = ()  # of the whole run, one a name
    ending: str = ""

    @property
    def last(self) -> Frame | None:
        """The latest request."""
        return self.columns[-1].latest if self.columns else None


class FrameBuilder:
    """Turns events into `frames`.

    Args:
        window: the window that the requests have to fit into.
        counter: how tokens are counted.
    """

    def __init__(self, window: Window, counter: MessageCounter) -> None:
        self.window, self.counter = window, counter
        self.frames: list[Frame] = []
        self.columns = Columns()
        self.ending = ""
        self._compactions: tuple[Compaction, ...] = ()
        self._pending: tuple[Compaction, ...] = ()  # since the last request
        self._breaker = ""
        self._known: dict[int, tuple[Message, tuple[int, ...]]] = {}  # by identity; holding the message keeps it unique
        self._sum = (0,) * len(PARTS)  # the messages of the last request
        self._fixed: tuple[object, Composition] | None = None  # system prompt and tools are counted once, too

    def add(self, event: AgentEvent) -> bool:
        """Take in the next event; return whether there is something new to see."""
        match event:
            case RequestSent(round_number, request):
                self._close_unanswered()
                self._sent(round_number, request)
            case ResponseReceived(_, response) if self.frames:
                self._amend(usage=response.usage, billed=added(self.frames[-1].billed, response.usage))
            case HistoryRewritten():
                self._close_unanswered()
                self._rewritten(event)
            case RunFailed(_, error):
                self._failed(error)
            case RunFinished(_, _, reason):
                self.ending = "finished" if event.is_complete else f"ended: {reason}"
            case _:
                return False
        return True

    def track(self, name: str) -> Track:
        """Return the time line as it is now, under a name."""
        columns = self.columns.snapshot()
        return Track(name=name, columns=columns, compactions=self._compactions, ending=self.ending)

    def tokens(self, message: Message) -> int:
        """Return the tokens of a message, as counted for the frames."""
        return sum(self._parts(message))

    def _sent(self, round_number: int, request: Request) -> None:
        before = self.frames[-1] if self.frames else None
        frame = Frame(
            len(self.frames) + 1,
            round_number,
            request,
            self._composition(before.request.messages if before else (), request),
            billed=before.billed if before else Usage(),
            compactions=self._pending,
            breaker=self._breaker,
        )
        self._pending = ()
        self.frames.append(frame)
        self.columns.add(frame)

    def _amend(self, **news: object) -> None:
        self.frames[-1] = replace(self.frames[-1], **news)  # type: ignore[arg-type]
        self.columns.amend(self.frames[-1])

    def _close_unanswered(self) -> None:
        """A request that got no answer before the next thing happened was refused, and the run recovered from it."""
        if self.frames and self.frames[-1].usage is None and not self.frames[-1].refusal:
            self._amend(refusal="refused, tried again", is_overflow=True)

    def _rewritten(self, event: HistoryRewritten) -> None:
        breaker = getattr(event.detail, "breaker", None)
        if breaker is not None:
            self._breaker = str(getattr(breaker, "state", breaker))
        outcome = getattr(event.detail, "outcome", "applied")
        if outcome == "skipped":
            return  # nothing to see
        gone, new = _differing(event.before, event.after)
        freed = sum(map(self.tokens, gone)) - sum(map(self.tokens, new))
        name = str(getattr(event.detail, "name", "") or "history rewritten")
        done = Compaction(name if outcome == "applied" else f"✗ {name}", freed)
        self._pending = grouped((*self._pending, done))
        self._compactions = grouped((*self._compactions, done))

    def _failed(self, error: CourseError) -> None:
        self.ending = (
            "refused: too long" if isinstance(error, ContextOverflowError) else f"failed: {type(error).__name__}"
        )
        if self.frames and self.frames[-1].usage is None:
            kind = "refused" if isinstance(error, InvalidRequestError) else "failed"
            self._amend(refusal=f"{kind}: {error}", is_overflow=isinstance(error, ContextOverflowError))

    def _composition(self, before: Messages, request: Request) -> Composition:
        sums = list(self._sum)
        for messages, sign in zip(_differing(before, request.messages), (-1, 1), strict=True):
            for message in messages:
                for place, tokens in enumerate(self._parts(message)):
                    sums[place] += sign * tokens
        self._sum = tuple(sums)
        tokens_by_part: dict[Part, int] = dict(zip(PARTS, sums, strict=True))
        fixed = self._fixed_parts(request)
        tokens_by_part |= {"system": fixed.tokens_by_part["system"], "tools": fixed.tokens_by_part["tools"]}
        return Composition(tokens_by_part, self.window)

    def _fixed_parts(self, request: Request) -> Composition:
        key = (request.system, request.tools)
        if self._fixed is None or self._fixed[0] != key:
            empty = composition((), window=self.window, counter=self.counter, system=key[0], tools=key[1])
            self._fixed = (key, empty)
        return self._fixed[1]

    def _parts(self, message: Message) -> tuple[int, ...]:
        known = self._known.get(id(message))
        if known is None:
            tokens = composition((message,), window=self.window, counter=self.counter).tokens_by_part
            known = self._known[id(message)] = (message, tuple(tokens[part] for part in PARTS))
        return known[1]


def shared_ends(before: Sequence[Message], after: Sequence[Message]) -> tuple[int, int]:
    """Return how many messages at the start, and how many at the end, are the very same objects in both.

    >>> from course_lib.messages import user
    >>> a, b, c, d = map(user, "abcd")
    >>> shared_ends((a, b, c), (a, b, c, d)), shared_ends((a, b, c), (a, d, c))
    ((3, 0), (1, 1))
    """
    shorter = min(len(before), len(after))
    start = _same(before, after, shorter)
    if start == shorter:
        return start, 0
    return start, _same(before[::-1], after[::-1], shorter - start)


def _same(one: Sequence[Message], other: Sequence[Message], most: int) -> int:
    if all(map(is_, one, other)):  # the usual case, at the speed of C
        return most
    return min(most, next(compress(count(), map(is_not, one, other))))


def _differing(before: Messages, after: Messages) -> tuple[Messages, Messages]:
    """What is left of both without the ends that they share."""
    start, end = shared_ends(before, after)
    return before[start : len(before) - end], after[start : len(after) - end]
