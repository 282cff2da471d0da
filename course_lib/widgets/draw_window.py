"""The window as one bar: what the request holds, what is free, what is reserved for the answer.

Source: chapter 00.
"""

from collections.abc import Iterator
from typing import Any

from course_lib.widgets.palette import PART_COLORS, PART_INKS, PART_LABELS, Theme
from course_lib.widgets.svg import counted, element, text
from course_lib.widgets.view import RIGHT, WIDTH, View
from course_lib.window import PARTS, Composition

__all__ = ["legend", "window_bar"]

_TOP, _HEIGHT = 26.0, 26.0
_LETTER = 6.9  # about how wide a letter is: a label is left out where it would not fit


def window_bar(view: View, theme: Theme) -> Iterator[str]:
    """Yield the bar with its labels and limits."""
    used = view.frame.composition if view.frame else None
    total = used.total_tokens if used else 0
    wide = max(view.window.context_tokens, total + view.window.reserve_tokens) / WIDTH
    x = 0.0
    for part in PARTS if used else ():
        width = used.tokens_by_part[part] / wide if used else 0.0
        if width:
            yield _box(x, width, theme, fill=PART_COLORS[part])
            yield from _inside(x, width, PART_LABELS[part], PART_INKS[part])
        x += width
    free = max(0, view.window.input_tokens - total) / wide
    if free:
        yield _box(x, free, theme, fill="none", stroke=theme.grid)
        if free > 40:
            yield text(x + 8, _TOP + 17, "free", fill=theme.muted, font_size=11.5)
    reserve = view.window.reserve_tokens / wide
    yield _box(x + free, reserve, theme, fill=theme.text, fill_opacity=0.16)
    yield from _inside(x + free, reserve, "reserve", theme.text)
    yield from _limits(view, wide, theme)


def _box(x: float, width: float, theme: Theme, **how: Any) -> str:
    look: dict[str, Any] = {"stroke": theme.background, "stroke_width": 0.8, **how}
    return element("rect", x=x, y=_TOP, width=width, height=_HEIGHT, **look)


def _inside(x: float, width: float, label: str, ink: str) -> Iterator[str]:
    if width > _LETTER * len(label) + 8:
        yield text(x + width / 2, _TOP + 17, label, fill=ink, text_anchor="middle", font_size=11.5)


def _limits(view: View, wide: float, theme: Theme) -> Iterator[str]:
    """A mark at each limit; its name goes below where there is room for it."""
    free_until = float(WIDTH)
    for limit in sorted(view.limits, key=lambda limit: -limit.tokens):
        x = min(limit.tokens / wide, WIDTH - 1)
        dash = {} if limit.name == "window" else {"stroke_dasharray": "3 2"}
        yield element(
            "path", d=f"M{x:.1f} {_TOP - 3}V{_TOP + _HEIGHT + 5}", stroke=theme.text, stroke_width=1.6, **dash
        )
        label = f"{limit.name} {limit.tokens:,}"
        if min(x, free_until) - _LETTER * len(label) > 0:
            end = min(x, free_until)
            yield text(end, _TOP + _HEIGHT + 16, label, fill=theme.muted, text_anchor="end", font_size=11.5)
            free_until = end - _LETTER * len(label) - 10
    total = view.frame.composition.total_tokens if view.frame else 0
    if total > view.window.input_tokens:
        over = f"{total - view.window.input_tokens:,} tokens too long"
        yield text(0, _TOP + _HEIGHT + 16, over, fill=theme.alarm, font_weight=700, font_size=11.5)


def legend(view: View, theme: Theme, bottom: float) -> Iterator[str]:
    """Yield names, tokens and shares of all parts beside the plot, in the order of the bands; always the same rows."""
    used = view.frame.composition if view.frame else None
    for row, part in enumerate(PARTS):
        tokens, share = (used.tokens_by_part[part], used.share(part)) if used else (0, 0.0)
        yield from _row(bottom - 18 * row, PART_LABELS[part], tokens, f"{share:.0%}", theme, fill=PART_COLORS[part])
    y = bottom - 18 * len(PARTS)
    yield from _row(y, "free", _free(view, used), "", theme, fill="none")
    yield from _row(y - 18, "reserve", view.window.reserve_tokens, "", theme, fill=theme.text, fill_opacity=0.16)


def _free(view: View, used: Composition | None) -> int:
    return max(0, used.free_tokens) if used else view.window.input_tokens


def _row(y: float, name: str, tokens: int, share: str, theme: Theme, **look: Any) -> Iterator[str]:
    color = theme.text if tokens else theme.muted
    yield element("rect", x=RIGHT + 14, y=y - 10, width=11, height=11, stroke=theme.muted, stroke_width=0.6, **look)
    yield text(RIGHT + 31, y, name, fill=color)
    yield text(WIDTH - 40, y, counted(tokens, in_full_below=1_000_000), fill=color, text_anchor="end")
    yield text(WIDTH - 2, y, share, fill=color, text_anchor="end")
