"""What a picture of the meter shows: plain values, and the geometry that they are drawn with.

Source: chapter 00.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from course_lib.widgets.columns import Column
from course_lib.widgets.frame_builder import Track
from course_lib.widgets.frames import Frame
from course_lib.widgets.prices import Prices
from course_lib.widgets.svg import nice_ceiling
from course_lib.window import Window

__all__ = ["LEFT", "RIGHT", "WIDTH", "Plot", "Stairs", "Threshold", "View", "rounds_axis", "tokens_axis"]

# In the units of the picture, which is as wide as its place: about pixels in a notebook of usual width.
WIDTH = 720
LEFT = 66  # what is left of the plots: numbers of the axis
RIGHT = 508  # where the plots end and the legend begins


@dataclass(frozen=True)
class Threshold:
    """A line at a number of tokens, for example where a compaction starts."""

    name: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class View:
    """Everything that a picture is drawn from; equal views give equal pictures."""

    window: Window
    track: Track
    chosen: Frame | None = None  # the request that is shown; the latest by default
    other: Track | None = None  # a second run, laid over the first
    prices: Prices = field(default_factory=Prices)
    thresholds: tuple[Threshold, ...] = ()

    @property
    def frame(self) -> Frame | None:
        """The request that is shown, if there is one."""
        return self.chosen or self.track.last

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The run, and the one that it is compared with."""
        return (self.track, self.other) if self.other else (self.track,)

    @property
    def limits(self) -> tuple[Threshold, ...]:
        """The window's own lines and the thresholds."""
        own = (Threshold("window", self.window.context_tokens), Threshold("without reserve", self.window.input_tokens))
        return (*own, *self.thresholds)


@dataclass(frozen=True)
class Plot:
    """A rectangle between LEFT and RIGHT, and how rounds and tokens map onto it."""

    top: float
    bottom: float
    rounds: int
    tokens: float

    def x(self, rounds: float) -> float:
        """Where the given round ends."""
        return LEFT + (RIGHT - LEFT) * rounds / self.rounds

    def y(self, tokens: float) -> float:
        """The height of so many tokens."""
        return self.bottom - (self.bottom - self.top) * tokens / self.tokens


class Stairs:
    """The stepped line of a row of columns: the same way across for every band, so it is written down once.

    Args:
        columns: the columns, in order.
        plot: where they are drawn.
    """

    def __init__(self, columns: Sequence[Column], plot: Plot) -> None:
        self.columns = columns
        self.starts = [f"{plot.x(column.first - 1):.1f}" for column in columns]
        self.ends = [f"{plot.x(column.last):.1f}" for column in columns]
        missing = (left.last + 1 != right.first for left, right in pairwise(columns))
        self._gaps = [False, *missing]  # rounds that are missing before a column are left empty

    def path(self, tokens: Sequence[float], plot: Plot) -> str:
        """Return the line over the columns as a path that starts and ends on the plot's floor."""
        if not self.columns:
            return ""
        floor, scale = plot.bottom, (plot.bottom - plot.top) / plot.tokens
        steps = (
            f"{f'V{floor}H{start}' if gap else ''}V{floor - scale * height:.1f}H{end}"
            for height, start, end, gap in zip(tokens, self.starts, self.ends, self._gaps, strict=True)
        )
        return f"M{self.starts[0]} {floor}{''.join(steps)}V{floor}"


def rounds_axis(view: View) -> int:
    """Return how many rounds the axis has: it grows in whole steps, so that the picture does not jitter."""
    rounds = max((track.columns[-1].last for track in view.tracks if track.columns), default=0)
    step = max(20, nice_ceiling(rounds / 10))
    return step * (1 + rounds // step)


def tokens_axis(view: View) -> float:
    """Return how many tokens the axis has: a little more than the window, or in quarters of it what is needed."""
    window = view.window.context_tokens
    peak = max((column.peak.total_tokens for track in view.tracks for column in track.columns), default=0)
    needed = window * 1.08
    return needed if peak <= needed else (1 + peak * 4 // window) * window / 4
