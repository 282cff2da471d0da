"""The whole picture of the meter: heading, window bar, time line, cost strip. One pure function, `draw_meter`.

The live view, the replay, the still picture and the tests all call it, so none of them can show something else.
Source: chapter 00.
"""

import base64
from collections.abc import Iterator

from course_lib.widgets.describe import describe, summary
from course_lib.widgets.draw_cost import cost_strip
from course_lib.widgets.draw_marks import BREAKER_HEIGHT, freed, has_breaker
from course_lib.widgets.draw_timeline import round_numbers, timeline
from course_lib.widgets.draw_window import legend, window_bar
from course_lib.widgets.palette import LIVE, PART_COLORS, PRINTED, Theme
from course_lib.widgets.svg import element, number, plain, shortened, text
from course_lib.widgets.view import LEFT, WIDTH, Plot, View, rounds_axis, tokens_axis

__all__ = ["Picture", "draw_meter"]

_WIDEST = "max-width:900px"
_PLOT_TOP, _PLOT_BOTTOM = 106.0, 306.0
_COST_TOP, _COST_HEIGHT = 344.0, 72.0


def draw_meter(view: View, theme: Theme = LIVE) -> str:
    """Return the picture as SVG; equal views give equal pictures, of a size that does not grow with the run."""
    rounds = rounds_axis(view)
    plot = Plot(_PLOT_TOP, _PLOT_BOTTOM, rounds, tokens_axis(view))
    breaker = BREAKER_HEIGHT if has_breaker(view.track.columns) else 0.0
    cost_top = _COST_TOP + breaker
    lines = bool(view.track.compactions) + (2 if view.other else 0)
    height = cost_top + _COST_HEIGHT + 26 + 17 * lines
    body = [
        *_heading(view, theme),
        *window_bar(view, theme),
        *timeline(view, plot, theme),
        *legend(view, theme, _PLOT_BOTTOM - 4),
        *round_numbers(plot, theme, _PLOT_BOTTOM + 15 + breaker),
        *cost_strip(view, rounds, cost_top, cost_top + _COST_HEIGHT, theme),
        *_footer(view, cost_top + _COST_HEIGHT + 17, theme),
    ]
    margin = 10 if theme is PRINTED else 2
    left, top, wide, high = -margin, 2 - margin, WIDTH + 2 * margin, height + 2 * margin - 4
    if theme is PRINTED:
        body.insert(0, element("rect", x=left, y=top, width=wide, height=high, fill=theme.background))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {wide} {number(high)}" role="img" '
        f'aria-label="{plain(describe(view))}" font-family="system-ui,sans-serif" font-size="13" '
        f'style="display:block;width:100%;{_WIDEST}">{"".join(body)}</svg>'
    )


def _heading(view: View, theme: Theme) -> Iterator[str]:
    frame = view.frame
    if frame is None:
        yield text(0, 16, "no request yet", fill=theme.text, font_weight=700, font_size=14)
        return
    kind = "measured" if frame.is_measured else "estimated"
    said = f"Round {frame.round_number:,}: {frame.total_tokens:,} tokens ({kind}), {view.window.input_tokens:,} fit"
    yield text(0, 16, said, fill=theme.text, font_weight=700, font_size=14)
    state = _state(view)
    color = theme.alarm if state.startswith("✗") else theme.text
    yield text(WIDTH, 16, state, fill=color, font_weight=700, font_size=14, text_anchor="end")


def _state(view: View) -> str:
    """What came of the request that is shown; of the latest one, how the run ended."""
    if view.frame and view.frame.refusal:
        return "✗ refused: too long" if view.frame.is_overflow else "✗ " + shortened(view.frame.refusal, 30)
    return view.track.ending if view.frame is view.track.last else ""


def _footer(view: View, y: float, theme: Theme) -> Iterator[str]:
    yield text(LEFT, y, f"money at {view.prices}", fill=theme.muted, font_size=11.5)
    if view.track.compactions:
        y += 17
        yield text(LEFT, y, shortened(f"compactions: {freed(view.track.compactions)} tokens", 110), fill=theme.text)
    if view.other is None:
        return
    yield element("rect", x=0, y=y + 10, width=8, height=9, fill=PART_COLORS["assistant"])
    yield element("rect", x=8, y=y + 10, width=8, height=9, fill=PART_COLORS["tool_results"])
    yield element("path", d=f"M0 {y + 32:.1f}h16", stroke=theme.text, stroke_width=2)
    for row, (track, mark) in enumerate(((view.track, "areas"), (view.other, "line"))):
        said = f"{mark}: {shortened(track.name, 32)} · {summary(track, view.prices)}"
        yield text(24, y + 19 + 17 * row, said, fill=theme.text)


class Picture:
    """The picture as it stays in a notebook: an image with its text alternative, for readers without a kernel.

    Args:
        view: what to show.
    """

    def __init__(self, view: View) -> None:
        self.svg = draw_meter(view, PRINTED)
        self.alternative_text = describe(view)

    def __repr__(self) -> str:
        return self.alternative_text

    def _repr_html_(self) -> str:
        encoded = base64.b64encode(self.svg.encode()).decode()
        alt = plain(self.alternative_text)
        return f'<img alt="{alt}" src="data:image/svg+xml;base64,{encoded}" style="width:100%;{_WIDEST}">'
