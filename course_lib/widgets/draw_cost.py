"""What the run has been billed so far: tokens by price, and money at prices that are stated.

Source: chapter 00.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from course_lib.messages import Usage
from course_lib.widgets.draw_timeline import areas, cursor
from course_lib.widgets.palette import BILLED_COLORS, Theme
from course_lib.widgets.svg import counted, element, nice_ceiling, text
from course_lib.widgets.view import LEFT, RIGHT, WIDTH, Plot, Stairs, View

__all__ = ["billed_tokens", "buckets", "cost_strip"]


def buckets(billed: Usage) -> dict[str, int]:
    """Return the billed tokens by bucket, in the order in which they are stacked."""
    amounts = (billed.cache_read_tokens, billed.cache_write_tokens, billed.input_tokens, billed.output_tokens)
    return dict(zip(BILLED_COLORS, amounts, strict=True))


def billed_tokens(billed: Usage) -> int:
    """Return all billed tokens."""
    return billed.context_tokens + billed.output_tokens


def cost_strip(view: View, rounds: int, top: float, bottom: float, theme: Theme) -> Iterator[str]:
    """Yield the strip, with the sums up to the request that is shown."""
    highest = max((billed_tokens(track.last.billed) for track in view.tracks if track.last), default=0)
    plot = Plot(top, bottom, rounds, nice_ceiling(max(highest, 10_000)))
    for tokens in (0, plot.tokens):
        yield element("path", d=f"M{LEFT} {plot.y(tokens):.1f}H{RIGHT}", stroke=theme.grid)
        yield text(LEFT - 6, plot.y(tokens) + 4, counted(tokens), fill=theme.muted, text_anchor="end", font_size=11.5)
    sums = [list(accumulate(buckets(column.latest.billed).values())) for column in view.track.columns]
    yield from areas(Stairs(view.track.columns, plot), sums, list(BILLED_COLORS.values()), plot, theme)
    if view.other:
        heights = [billed_tokens(column.latest.billed) for column in view.other.columns]
        path = Stairs(view.other.columns, plot).path(heights, plot)
        yield element("path", d=path, fill="none", stroke=theme.text, stroke_width=1.6)
    yield from cursor(view, plot, theme)
    halo = {"paint_order": "stroke", "stroke": theme.background, "stroke_width": 3}
    yield text(LEFT + 6, top + 8, "billed so far, all requests", fill=theme.text, font_weight=600, **halo)
    yield from _sums(view, top, theme)


def _sums(view: View, top: float, theme: Theme) -> Iterator[str]:
    billed = view.frame.billed if view.frame else Usage()
    for row, (name, tokens) in enumerate(reversed(buckets(billed).items())):
        y = top + 4 + 16 * row
        color = theme.text if tokens else theme.muted
        box: dict[str, Any] = {"stroke": theme.muted, "stroke_width": 0.6, "fill": BILLED_COLORS[name]}
        yield element("rect", x=RIGHT + 14, y=y - 10, width=11, height=11, **box)
        yield text(RIGHT + 31, y, name, fill=color)
        yield text(WIDTH - 2, y, counted(tokens, in_full_below=10**9), fill=color, text_anchor="end")
    money = view.prices.said(view.prices.cost(billed))
    yield text(WIDTH - 2, top + 72, money, fill=theme.text, text_anchor="end", font_weight=700)
    yield text(RIGHT + 14, top + 72, "money", fill=theme.text, font_weight=700)
