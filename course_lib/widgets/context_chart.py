"""The picture of a run without controls, as the first chapters showed it before there was the meter.

Everything is drawn by the meter's functions; use `course_lib.widgets.meter.Meter` in new cells.
Source: chapter 00.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import ipywidgets

from course_lib.events import AgentEvent, Run, record_run
from course_lib.tokens import MessageCounter
from course_lib.widgets.columns import Columns
from course_lib.widgets.draw_meter import Picture, draw_meter
from course_lib.widgets.frame_builder import FrameBuilder, Track
from course_lib.widgets.frames import Frame
from course_lib.widgets.palette import PART_LABELS, PRINTED
from course_lib.widgets.view import View
from course_lib.window import Window

__all__ = ["PART_LABELS", "ContextChart", "draw_context"]


def draw_context(rows: Sequence[Frame], window: Window) -> str:
    """Return a still SVG of the requests."""
    columns = Columns()
    for row in rows:
        columns.add(row)
    return draw_meter(View(window=window, track=Track(name="run", columns=columns.snapshot())), PRINTED)


class ContextChart(ipywidgets.HTML):
    """The picture as a widget: `follow` moves it.

    Args:
        window: the window that the requests have to fit into.
        counter: how tokens are counted.
    """

    def __init__(self, window: Window, counter: MessageCounter) -> None:
        self.window = window
        self._builder = FrameBuilder(window, counter)
        super().__init__(draw_meter(self._view))

    @property
    def rows(self) -> Sequence[Frame]:
        """The requests so far."""
        return self._builder.frames

    @property
    def _view(self) -> View:
        return View(window=self.window, track=self._builder.track("run"))

    def follow(self, events: Iterable[AgentEvent]) -> Run:
        """Let the run go on to its end, show every request as it is sent, and return the run."""
        return record_run(self._watched(events))

    def _watched(self, events: Iterable[AgentEvent]) -> Iterator[AgentEvent]:
        for event in events:
            if self._builder.add(event):
                self.value = draw_meter(self._view)
            yield event

    def picture(self) -> Picture:
        """Return the picture as it is now, for readers without a kernel: an image with its text alternative."""
        return Picture(self._view)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = "(The live picture shows when this cell runs; the cell below shows where it ends.)"
        return bundle
