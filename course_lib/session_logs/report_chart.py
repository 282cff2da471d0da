"""The picture of an X-ray: the context over time by part and by tool, compactions marked, and what was billed so far.

Drawn like the meter's pictures, with the same colours; the same values give the same picture.
Source: chapter 04.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

from course_lib.messages import Usage
from course_lib.session_logs.labels import one_line
from course_lib.session_logs.report_words import UNLOGGED_LABEL, described, few_rows
from course_lib.session_logs.xray_report import CompactionReport, SessionReport
from course_lib.session_logs.xray_threads import Row, ThreadReport
from course_lib.widgets.draw_cost import buckets
from course_lib.widgets.draw_timeline import areas
from course_lib.widgets.palette import BILLED_COLORS, PART_COLORS, PART_LABELS, PRINTED, Theme
from course_lib.widgets.svg import counted, element, nice_ceiling, number, plain, shortened, text
from course_lib.widgets.view import LEFT, RIGHT, WIDTH, Plot, Stairs
from course_lib.window import PARTS

if TYPE_CHECKING:
    from course_lib.widgets.columns import Column

__all__ = ["UNLOGGED_COLOR", "draw_xray"]

UNLOGGED_COLOR = "#5b5d63"
_TOOL_COLORS = ("#e09200", "#0072b2", "#00795a", "#a85a94", "#7cc8f2", "#f0e442")
_OTHER_COLOR = "#9a9a9a"
_MOST_COLUMNS = 96
_TOP, _HEIGHT = 54.0, 196.0
_GAP, _STRIP = 48.0, 84.0
_LETTER = 6.4  # about how wide a letter is


def draw_xray(report: SessionReport, thread: ThreadReport, theme: Theme = PRINTED) -> str:
    """Return the picture of one thread as SVG, with its text alternative inside."""
    rows = few_rows(thread, _MOST_COLUMNS)
    compactions = [one for one in report.compactions if one.thread == thread.name]
    calls = rows[-1].last if rows else 1
    body = [*_heading(thread, theme)]
    bottom = _TOP + _HEIGHT
    body += _context(rows, compactions, calls, theme)
    if any(any(row.by_tool) for row in rows):
        body += _tools(report, rows, Plot(bottom + _GAP, bottom + _GAP + _STRIP, calls, 1), theme)
        bottom += _GAP + _STRIP
    if rows and any(row.billed_so_far != Usage() for row in rows):
        body += _bill(rows, Plot(bottom + _GAP, bottom + _GAP + _STRIP, calls, 1), theme)
        bottom += _GAP + _STRIP
    body += _call_numbers(calls, bottom + 15, theme)
    margin, height = (10 if theme is PRINTED else 2), bottom + 22
    box = (-margin, -margin, WIDTH + 2 * margin, height + 2 * margin)
    if theme is PRINTED:
        body.insert(0, element("rect", x=box[0], y=box[1], width=box[2], height=box[3], fill=theme.background))
    label = plain(one_line(described(thread, compactions)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(map(number, box))}" role="img" '
        f'aria-label="{label}" font-family="system-ui,sans-serif" font-size="13" '
        f'style="display:block;width:100%;max-width:900px">{"".join(body)}</svg>'
    )


def _heading(thread: ThreadReport, theme: Theme) -> Iterator[str]:
    name = shortened(one_line(thread.name), 40)
    said = f"Context of {name}, call by call: {thread.peak_context_tokens:,} tokens at the fullest"
    yield text(0, 16, said, fill=theme.text, font_weight=700, font_size=14)


def _context(rows: Sequence[Row], compactions: Sequence[CompactionReport], calls: int, theme: Theme) -> Iterator[str]:
    """What the context held, as counted here, and the line of what was billed over it."""
    highest = max((max(row.context_tokens, row.visible_tokens + row.unlogged_tokens) for row in rows), default=1)
    plot = Plot(_TOP, _TOP + _HEIGHT, calls, _scale(highest))
    stairs = _stairs(rows, plot)
    yield from _grid(plot, 4, theme)
    sums = [list(accumulate((row.unlogged_tokens, *row.parts))) for row in rows]
    yield from areas(stairs, sums, [UNLOGGED_COLOR, *(PART_COLORS[part] for part in PARTS)], plot, theme)
    for is_billed, dash in ((True, {}), (False, {"stroke_dasharray": "2 2"})):
        path = "".join(
            f"M{start} {plot.y(row.context_tokens):.1f}H{end}"
            for row, start, end in zip(rows, stairs.starts, stairs.ends, strict=True)
            if row.is_billed == is_billed
        )
        if path:
            yield element("path", d=path, stroke=theme.text, stroke_width=1.4, fill="none", **dash)
    yield from _compaction_marks(compactions, plot, theme)
    fullest = max(rows, key=lambda row: row.context_tokens, default=None)
    named = [(UNLOGGED_LABEL, UNLOGGED_COLOR, fullest.unlogged_tokens if fullest else 0)]
    named += [
        (PART_LABELS[part], PART_COLORS[part], fullest.parts[place] if fullest else 0)
        for place, part in enumerate(PARTS)
    ]
    yield text(RIGHT + 14, plot.top - 2, "at the fullest call", fill=theme.muted, font_size=11.5)
    yield from _legend(list(reversed(named)), plot.top + 16, theme)
    yield element("path", d=f"M{RIGHT + 14} {plot.top + 160:.1f}h11", stroke=theme.text, stroke_width=1.4)
    said = "billed" if any(row.is_billed for row in rows) else "counted here"
    yield text(RIGHT + 31, plot.top + 164, said, fill=theme.text)
    total = counted(fullest.context_tokens if fullest else 0, in_full_below=1_000_000)
    yield text(WIDTH - 2, plot.top + 164, total, fill=theme.text, text_anchor="end")


def _tools(report: SessionReport, rows: Sequence[Row], place: Plot, theme: Theme) -> Iterator[str]:
    """Tool results in the context by tool: the biggest few, and all others together."""
    peaks = [max(_tokens_of(row, tool) for row in rows) for tool in range(len(report.tools))]
    chosen = sorted(range(len(peaks)), key=lambda tool: (-peaks[tool], tool))[: len(_TOOL_COLORS)]
    chosen = [tool for tool in chosen if peaks[tool]]
    heights = [[*(_tokens_of(row, tool) for tool in chosen)] for row in rows]
    others = [sum(row.by_tool) - sum(known) for row, known in zip(rows, heights, strict=True)]
    sums = [list(accumulate((*known, other))) for known, other in zip(heights, others, strict=True)]
    plot = Plot(place.top, place.bottom, place.rounds, _scale(max(max(column) for column in sums)))
    yield from _grid(plot, 2, theme)
    colors = [*_TOOL_COLORS[: len(chosen)], _OTHER_COLOR]
    yield from areas(_stairs(rows, plot), sums, colors, plot, theme)
    yield _title("tool results in the context, by tool", plot, theme)
    fullest = max(range(len(rows)), key=lambda index: rows[index].context_tokens)
    named = [
        (shortened(one_line(report.tools[tool].name), 16), color, heights[fullest][index])
        for index, (tool, color) in enumerate(zip(chosen, colors, strict=False))
    ]
    named += [("others", _OTHER_COLOR, others[fullest])] if any(others) else []
    yield from _legend(list(reversed(named)), plot.bottom - 16 * len(named) + 12, theme, step=16)


def _bill(rows: Sequence[Row], place: Plot, theme: Theme) -> Iterator[str]:
    """What all calls so far were billed, by price."""
    sums = [list(accumulate(buckets(row.billed_so_far).values())) for row in rows]
    plot = Plot(place.top, place.bottom, place.rounds, _scale(max(column[-1] for column in sums)))
    yield from _grid(plot, 1, theme)
    yield from areas(_stairs(rows, plot), sums, list(BILLED_COLORS.values()), plot, theme)
    yield _title("billed so far, all calls", plot, theme)
    named = [(name, BILLED_COLORS[name], tokens) for name, tokens in buckets(rows[-1].billed_so_far).items()]
    yield from _legend(list(reversed(named)), plot.bottom - 16 * len(named) + 12, theme, step=16)


def _tokens_of(row: Row, tool: int) -> int:
    return row.by_tool[tool] if tool < len(row.by_tool) else 0


def _scale(highest: int) -> float:
    """The height of an axis: a little more than the highest value, in whole steps."""
    step = nice_ceiling(max(highest, 1) / 4) / 2
    return step * (1 + highest // step)


def _stairs(rows: Sequence[Row], plot: Plot) -> Stairs:
    return Stairs(cast("Sequence[Column]", rows), plot)  # of a column it needs the first and the last round only


def _grid(plot: Plot, steps: int, theme: Theme) -> Iterator[str]:
    for step in range(steps + 1):
        tokens = plot.tokens * step / steps
        yield element("path", d=f"M{LEFT} {plot.y(tokens):.1f}H{RIGHT}", stroke=theme.grid)
        label = counted(tokens, in_full_below=1_000_000)
        yield text(LEFT - 6, plot.y(tokens) + 4, label, fill=theme.muted, text_anchor="end", font_size=11.5)


def _title(said: str, plot: Plot, theme: Theme) -> str:
    return text(LEFT, plot.top - 8, said, fill=theme.text, font_weight=600)


def _legend(named: Sequence[tuple[str, str, int]], top: float, theme: Theme, step: int = 18) -> Iterator[str]:
    for row, (name, color, tokens) in enumerate(named):
        y, ink = top + step * row, theme.text if tokens else theme.muted
        box: dict[str, Any] = {"stroke": theme.muted, "stroke_width": 0.6, "fill": color}
        yield element("rect", x=RIGHT + 14, y=y - 10, width=11, height=11, **box)
        yield text(RIGHT + 31, y, name, fill=ink)
        yield text(WIDTH - 2, y, counted(tokens, in_full_below=1_000_000), fill=ink, text_anchor="end")


def _compaction_marks(compactions: Sequence[CompactionReport], plot: Plot, theme: Theme) -> Iterator[str]:
    """A dotted line for every compaction, with the tokens that it took out where there is room."""
    free_from = 0.0
    for one in compactions:
        x = plot.x(min(one.call, plot.rounds))
        said = f"<title>after call {one.call:,}: {one.kind}, {one.saved_tokens:,} tokens taken out</title>"
        line = f"M{x:.1f} {plot.top:.1f}V{plot.bottom}"
        yield element("path", d=line, stroke=theme.text, stroke_dasharray="1 3", fill="none")
        head = f"M{x - 4:.1f} {plot.top - 3:.1f}h8l-4 7Z"
        yield element("path", said, d=head, fill=theme.text, stroke=theme.background, stroke_width=0.6)
        label = f"{one.kind} {-one.saved_tokens:+,}".replace("-", "−")
        start = min(x - 3, RIGHT - _LETTER * len(label))
        if start >= free_from:
            yield text(start, plot.top - 8, label, fill=theme.text, font_size=11.5)
            free_from = start + _LETTER * len(label) + 8


def _call_numbers(calls: int, y: float, theme: Theme) -> Iterator[str]:
    for call in range(0, calls + 1, nice_ceiling(calls / 8)):
        label = "call 0" if not call else f"{call:,}"
        yield text(
            LEFT + (RIGHT - LEFT) * call / calls, y, label, fill=theme.muted, text_anchor="middle", font_size=11.5
        )
