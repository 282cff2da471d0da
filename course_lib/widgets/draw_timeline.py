"""All rounds of a run side by side: what each request held, where the limits are, what was compacted and refused.

The picture has a bounded size: it draws columns (`columns`), which hold several rounds when there are many.
Source: chapter 00.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from course_lib.widgets.draw_marks import breaker_strip, compaction_marks, refusals
from course_lib.widgets.frame_builder import Track
from course_lib.widgets.palette import PART_COLORS, Theme
from course_lib.widgets.svg import counted, element, nice_ceiling, text
from course_lib.widgets.view import LEFT, RIGHT, Plot, Stairs, View
from course_lib.window import PARTS

__all__ = ["areas", "cursor", "round_numbers", "timeline"]


def timeline(view: View, plot: Plot, theme: Theme) -> Iterator[str]:
    """Yield the time line."""
    columns = view.track.columns
    stairs = Stairs(columns, plot)
    yield from _grid(plot, view.window.context_tokens, theme)
    yield from _bands(stairs, plot, theme)
    yield from _tops(stairs, plot, theme)
    yield from _limits(view, plot, theme)
    yield from compaction_marks(view.track, plot, theme)
    yield from breaker_strip(columns, plot, theme)
    if view.other:
        yield from _outline(view.other, plot, theme)
    yield from refusals(columns, plot, theme)
    yield from cursor(view, plot, theme)


def _grid(plot: Plot, window_tokens: int, theme: Theme) -> Iterator[str]:
    whole = window_tokens if plot.tokens < 1.1 * window_tokens else plot.tokens
    for quarter in range(5):
        tokens = whole * quarter / 4
        yield element("path", d=f"M{LEFT} {plot.y(tokens):.1f}H{RIGHT}", stroke=theme.grid)
        yield text(LEFT - 6, plot.y(tokens) + 4, counted(tokens), fill=theme.muted, text_anchor="end", font_size=11.5)


def round_numbers(plot: Plot, theme: Theme, y: float) -> Iterator[str]:
    """Yield the numbers of the rounds below the plots."""
    for rounds in range(0, plot.rounds + 1, nice_ceiling(plot.rounds / 8)):
        label = "round 0" if not rounds else f"{rounds:,}"
        yield text(plot.x(rounds), y, label, fill=theme.muted, text_anchor="middle", font_size=11.5)


def _bands(stairs: Stairs, plot: Plot, theme: Theme) -> Iterator[str]:
    """Each part as an area from the floor, the highest first, so that the lower ones are painted over it."""
    used = [column.peak.composition.tokens_by_part for column in stairs.columns]
    sums = [list(accumulate(tokens[part] for part in PARTS)) for tokens in used]
    yield from areas(stairs, sums, [PART_COLORS[part] for part in PARTS], plot, theme)


def areas(
    stairs: Stairs, sums: Sequence[Sequence[float]], colors: Sequence[str], plot: Plot, theme: Theme
) -> Iterator[str]:
    """Yield stacked areas; `sums` has for each column the height of each area's upper edge."""
    levels = list(zip(*sums, strict=True))
    for index in reversed(range(len(levels))):
        if not index or levels[index] != levels[index - 1]:
            path = stairs.path(levels[index], plot)
            yield f'<path d="{path}Z" fill="{colors[index]}" stroke="{theme.background}" stroke-width=".7"/>'


def _tops(stairs: Stairs, plot: Plot, theme: Theme) -> Iterator[str]:
    """What the whole request had: a solid line where the model measured it, a dotted one where it is an estimate."""
    for measured, dash in ((True, {}), (False, {"stroke_dasharray": "2 2"})):
        path = "".join(
            f"M{start} {plot.y(column.peak.total_tokens):.1f}H{end}"
            for column, start, end in zip(stairs.columns, stairs.starts, stairs.ends, strict=True)
            if column.peak.is_measured == measured
        )
        if path:
            yield element("path", d=path, stroke=theme.text, stroke_width=1.4, fill="none", **dash)


def _limits(view: View, plot: Plot, theme: Theme) -> Iterator[str]:
    for place, limit in enumerate(view.limits):
        y = plot.y(limit.tokens)
        dash = {} if place == 0 else {"stroke_dasharray": "5 4" if place == 1 else "2 3"}
        yield element("path", d=f"M{LEFT} {y:.1f}H{RIGHT}", stroke=theme.text, stroke_width=1.4, **dash)
        halo = {"paint_order": "stroke", "stroke": theme.background, "stroke_width": 3}
        below = y + 12 if place == 1 else y - 4
        yield text(LEFT + 6, below, limit.name, fill=theme.text, font_size=11.5, **halo)


def _outline(other: Track, plot: Plot, theme: Theme) -> Iterator[str]:
    path = Stairs(other.columns, plot).path([column.peak.total_tokens for column in other.columns], plot)
    if path:
        for color, width in ((theme.background, 5), (theme.text, 2)):
            yield element("path", d=path, fill="none", stroke=color, stroke_width=width, stroke_linejoin="round")
        yield from refusals(other.columns, plot, theme)


def cursor(view: View, plot: Plot, theme: Theme) -> Iterator[str]:
    """Yield a line at the request that is shown, when it is not the latest."""
    if view.chosen and view.chosen is not view.track.last:
        x = plot.x(view.chosen.round_number - 0.5)
        yield element("path", d=f"M{x:.1f} {plot.top - 4:.1f}V{plot.bottom}", stroke=theme.background, stroke_width=5)
        yield element("path", d=f"M{x:.1f} {plot.top - 4:.1f}V{plot.bottom}", stroke=theme.text, stroke_width=1.8)
        yield element("path", d=f"M{x - 6:.1f} {plot.top - 8:.1f}h12l-6 9Z", fill=theme.text)
