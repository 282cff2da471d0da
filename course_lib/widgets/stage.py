"""What the meter shows at the moment: a run, perhaps a second one, and the request that was chosen.

It may be filled from one thread and looked at from another: a view is a snapshot.
Source: chapter 00.
"""

import threading
from collections.abc import Sequence

from course_lib.events import AgentEvent
from course_lib.tokens import MessageCounter
from course_lib.widgets.draw_request import RequestTable
from course_lib.widgets.frame_builder import FrameBuilder
from course_lib.widgets.frames import Frame
from course_lib.widgets.prices import Prices
from course_lib.widgets.view import Threshold, View
from course_lib.window import Window

__all__ = ["Stage"]


class Stage:
    """The run that is shown, and a second one over it when there is one.

    Args:
        window: the window of the run.
        counter: how tokens are counted.
        name: what the run is called.
    """

    def __init__(self, window: Window, counter: MessageCounter, name: str) -> None:
        self._counter = counter
        self._lock = threading.Lock()
        self.main = FrameBuilder(window, counter)
        self.other: FrameBuilder | None = None
        self._name, self._other_name = name, ""

    def lay_over(self, name: str) -> FrameBuilder:
        """Make room for a second run and return where its events go."""
        with self._lock:
            self.other, self._other_name = FrameBuilder(self.main.window, self._counter), name
            return self.other

    def add(self, builder: FrameBuilder, event: AgentEvent) -> bool:
        """Take in an event of one of the runs; return whether there is something new to see."""
        with self._lock:
            return builder.add(event)

    def end(self, builder: FrameBuilder, how: str) -> None:
        """Note that a run ended before its end."""
        with self._lock:
            builder.ending = builder.ending or how

    def view(self, number: int | None, prices: Prices, thresholds: Sequence[Threshold]) -> View:
        """Return what there is to see; `number` is the chosen request, from 1, or None for the latest."""
        with self._lock:
            other = self.other.track(self._other_name) if self.other else None
            track = self.main.track(self._name)
            return View(
                window=self.main.window,
                track=track,
                chosen=self._frame(number),
                other=other,
                prices=prices,
                thresholds=tuple(thresholds),
            )

    def request_table(self, number: int | None, most_rows: int, *, is_scrolling: bool = False) -> RequestTable:
        """Return the chosen request, message by message."""
        with self._lock:
            frame = self._frame(number or len(self.main.frames))
            before = self._frame(frame.number - 1) if frame else None
            return RequestTable(frame, before, self.main.tokens, most_rows=most_rows, is_scrolling=is_scrolling)

    def _frame(self, number: int | None) -> Frame | None:
        return self.main.frames[number - 1] if number and number <= len(self.main.frames) else None
