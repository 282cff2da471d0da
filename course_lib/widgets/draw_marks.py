"""What happened in between: compactions by name, a circuit breaker's state, refusals. Drawn over the time line.

Source: chapter 00.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from course_lib.widgets.columns import Column
from course_lib.widgets.frame_builder import Track
from course_lib.widgets.frames import Compaction
from course_lib.widgets.palette import REFUSED_COLOR, Theme
from course_lib.widgets.svg import element, plain, shortened, text
from course_lib.widgets.view import LEFT, RIGHT, Plot

__all__ = ["BREAKER_HEIGHT", "breaker_strip", "compaction_marks", "freed", "has_breaker", "refusals"]

BREAKER_HEIGHT = 14.0
_MOST_NAMES = 10
_LANES = 2  # rows of labels above the plot
_LETTER = 6.4  # about how wide a letter is


def freed(compactions: Iterable[Compaction]) -> str:
    """Return names, times and freed tokens, of ten names at most: "snip ×2 −1,200, fold −80"."""
    every = tuple(compactions)
    listed = [
        shortened(c.name, 24) + (f" ×{c.times:,}" if c.times > 1 else "") + f" {_signed(-c.tokens_freed)}"
        for c in every[:_MOST_NAMES]
    ]
    return ", ".join((*listed, "…") if len(every) > _MOST_NAMES else listed)


def _signed(tokens: int) -> str:
    return f"{tokens:+,}".replace("-", "−") if tokens else "±0"


def compaction_marks(track: Track, plot: Plot, theme: Theme) -> Iterator[str]:
    """Yield a dotted line for every compaction, and its label where there is room, the latest ones first."""
    marked = [column for column in track.columns if column.compactions]
    if not marked:
        return
    places = [(column, plot.x(column.first - 1)) for column in marked]
    lines = "".join(f"M{x:.1f} {plot.top:.1f}V{plot.bottom}" for _, x in places)
    yield element("path", d=lines, stroke=theme.text, stroke_dasharray="1 3", fill="none")
    for column, x in places:  # what has no room for a label says it when pointed at, and in the sum below the picture
        said = f"<title>round {column.first}: {plain(freed(column.compactions))}</title>"
        head = f"M{x - 4:.1f} {plot.top - 3:.1f}h8l-4 7Z"
        yield element("path", said, d=head, fill=theme.text, stroke=theme.background, stroke_width=0.6)
    taken = [[(RIGHT + 1.0, RIGHT + 2.0)] for _ in range(_LANES)]
    for column, x in reversed(places):
        label = freed(column.compactions)
        width = _LETTER * min(len(label), 40)
        start = max(LEFT, min(x - 3, RIGHT - width))
        for lane, spans in enumerate(taken):
            if all(start + width + 6 <= left or start >= right + 6 for left, right in spans):
                spans.append((start, start + width))
                y = plot.top - 8 - 13 * lane
                yield text(start, y, shortened(label, 40), fill=theme.text, font_size=11.5)
                break


def has_breaker(columns: Sequence[Column]) -> bool:
    """Whether a hook reported a circuit breaker's state."""
    return any(column.breaker for column in columns)


def breaker_strip(columns: Sequence[Column], plot: Plot, theme: Theme) -> Iterator[str]:
    """Yield the breaker's states below the plot, each with its name."""
    for state, group in groupby((c for c in columns if c.breaker), key=lambda column: column.breaker):
        inside = list(group)
        x, end = plot.x(inside[0].first - 1), plot.x(inside[-1].last)
        opacity = 0.0 if state == "closed" else 0.75 if state == "open" else 0.3
        look: dict[str, Any] = {"fill": theme.text, "fill_opacity": opacity, "stroke": theme.text, "stroke_width": 0.8}
        yield element("rect", x=x, y=plot.bottom + 2, width=end - x, height=BREAKER_HEIGHT - 2, **look)
        label = shortened(f"breaker {state}", 24)
        if end - x < _LETTER * len(label) + 6:
            label = shortened(state, 12)
        if end - x >= _LETTER * len(label) + 4:
            ink = theme.background if state == "open" else theme.text
            middle = (x + end) / 2
            yield text(
                middle, plot.bottom + BREAKER_HEIGHT - 2.5, label, fill=ink, text_anchor="middle", font_size=10.5
            )


def refusals(columns: Sequence[Column], plot: Plot, theme: Theme) -> Iterator[str]:
    """Yield a mark for every refused request; the latest is named."""
    refused = [column for column in columns if column.refused]
    for column in refused:
        x, y = plot.x((column.first - 1 + column.last) / 2), plot.y(column.peak.total_tokens)
        yield element("path", d=f"M{x:.1f} {y:.1f}V{plot.bottom}", stroke=REFUSED_COLOR, stroke_width=2)
        yield element("circle", cx=x, cy=y, r=5, fill=REFUSED_COLOR, stroke=theme.background)
    if refused and (frame := refused[-1].refused):
        label = "✗ refused" if frame.is_overflow else "✗ " + shortened(frame.refusal, 24)
        right = x + 10 + _LETTER * len(label) < RIGHT
        place = {"text_anchor": "start" if right else "end", "paint_order": "stroke", "stroke_width": 4}
        start = x + 10 if right else x - 10
        yield text(start, y + 28, label, fill=theme.alarm, font_weight=700, stroke=theme.background, **place)
