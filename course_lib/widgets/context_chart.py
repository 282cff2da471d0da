"""The picture of a run: what fills the window, round by round.

One pure function, `draw_context`, turns rows of numbers into an SVG; the live widget, the picture for readers without a
kernel, and the tests all use it, and `describe_context` says the same in words.

    chart = ContextChart(window, counter)
    display(chart)                          # the live picture
    run = chart.follow(agent.run(task))     # moves while the agent works
    chart.picture()                         # the same picture, as it stays in a saved notebook
Source: chapter 00.
"""

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets
from IPython.display import HTML

from course_lib.events import AgentEvent, RequestSent, Run, RunFailed, record_run
from course_lib.tokens import MessageCounter
from course_lib.window import PARTS, Composition, Part, Window, composition

__all__ = ["PART_COLORS", "PART_LABELS", "ChartRow", "ContextChart", "describe_context", "draw_context"]

PART_LABELS: dict[Part, str] = {
    "system": "system prompt",
    "tools": "tool definitions",
    "user": "user",
    "assistant": "assistant",
    "thinking": "thinking",
    "tool_results": "tool results",
    "documents": "documents",
}
# Okabe and Ito's palette: distinguishable to colour-blind readers. Every band is labelled in the picture as well.
PART_COLORS: dict[Part, str] = {
    "system": "#7a7a7a",
    "tools": "#0072b2",
    "user": "#f0e442",
    "assistant": "#56b4e9",
    "thinking": "#cc79a7",
    "tool_results": "#e69f00",
    "documents": "#009e73",
}
_REFUSED = "#d55e00"
_ROUNDS_A_STEP = 20  # the axis grows by whole steps, so that the picture does not jitter


@dataclass(frozen=True)
class ChartRow:
    """One request: its round, what it held, and whether it was refused."""

    round_number: int
    composition: Composition
    is_refused: bool = False


@dataclass(frozen=True)
class _Frame:
    """Where things are drawn, in pixels, and how tokens and rounds map onto it."""

    window: Window
    rounds: int
    width: int = 860
    height: int = 340
    left: int = 64
    right: int = 176
    top: int = 34
    bottom: int = 40

    def x(self, rounds: float) -> float:
        return self.left + (self.width - self.left - self.right) * rounds / self.rounds

    def y(self, tokens: float) -> float:
        share = tokens / (self.window.context_tokens * 1.08)
        return self.height - self.bottom - (self.height - self.top - self.bottom) * share


def draw_context(rows: Sequence[ChartRow], window: Window) -> str:
    """Return an SVG of the requests: stacked tokens by part for each round, the window, and what was refused.

    Args:
        rows: one row a request, in order; may be empty.
        window: the window that the requests have to fit into.
    """
    rounds = _ROUNDS_A_STEP * (1 + max((row.round_number for row in rows), default=0) // _ROUNDS_A_STEP)
    frame = _Frame(window, rounds)
    body = [*_axes(frame), *_bands(rows, frame), *_limits(frame), *_labels(rows, frame), *_refusals(rows, frame)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width} {frame.height}" role="img" '
        f'aria-label="{html.escape(describe_context(rows, window))}" font-family="system-ui,sans-serif" '
        f'font-size="12" style="max-width:100%;background:#fff;border-radius:6px">{"".join(body)}</svg>'
    )


def describe_context(rows: Sequence[ChartRow], window: Window) -> str:
    """Return what the picture shows, in words: the text alternative."""
    if not rows:
        return f"No request yet; the window has {window.context_tokens:,} tokens."
    last = rows[-1]
    used = last.composition
    shares = ", ".join(f"{PART_LABELS[p]} {used.share(p):.0%}" for p in PARTS if used.tokens_by_part[p])
    end = " The request was refused: too long." if last.is_refused else ""
    sizes = f"the request has {used.total_tokens:,} tokens, the window {window.context_tokens:,}"
    reserve = f"{window.reserve_tokens:,} reserved for the answer"
    return f"Round {last.round_number}: {sizes} with {reserve}. {shares[:1].upper()}{shares[1:]}.{end}"


def _line(x1: float, y1: float, x2: float, y2: float, color: str, more: str = "") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{more}/>'


def _text(x: float, y: float, text: str, more: str = "", color: str = "#444") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}"{more}>{html.escape(text)}</text>'


def _axes(frame: _Frame) -> Iterable[str]:
    for quarter in range(5):
        tokens = frame.window.context_tokens * quarter / 4
        yield _line(frame.left, frame.y(tokens), frame.x(frame.rounds), frame.y(tokens), "#ddd")
        yield _text(frame.left - 8, frame.y(tokens) + 4, f"{tokens:,.0f}", ' text-anchor="end"')
    for rounds in range(0, frame.rounds + 1, max(5, frame.rounds // 8 // 5 * 5)):
        yield _text(frame.x(rounds), frame.height - 22, str(rounds), ' text-anchor="middle"')
    yield _text(frame.left, 18, "tokens in the request, by part", ' font-weight="600"')
    yield _text(frame.x(frame.rounds / 2), frame.height - 6, "round", ' text-anchor="middle"')


def _bands(rows: Sequence[ChartRow], frame: _Frame) -> Iterable[str]:
    """One stepped area a part: as wide as a round, on top of the parts before it."""
    below = [0] * len(rows)
    for part in PARTS:
        above = [low + row.composition.tokens_by_part[part] for low, row in zip(below, rows, strict=True)]
        if any(high > low for low, high in zip(below, above, strict=True)):
            upper = [point for row, v in zip(rows, above, strict=True) for point in _step(row, v, frame)]
            lower = [point for row, v in zip(rows, below, strict=True) for point in _step(row, v, frame)]
            yield f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{PART_COLORS[part]}"/>'
        below = above


def _step(row: ChartRow, tokens: int, frame: _Frame) -> tuple[str, str]:
    y = frame.y(tokens)
    return f"{frame.x(row.round_number - 1):.1f},{y:.1f}", f"{frame.x(row.round_number):.1f},{y:.1f}"


def _limits(frame: _Frame) -> Iterable[str]:
    right = frame.x(frame.rounds)
    for tokens, label, dash in (
        (frame.window.context_tokens, "window", ""),
        (frame.window.input_tokens, "without the reserve", ' stroke-dasharray="5 4"'),
    ):
        yield _line(frame.left, frame.y(tokens), right, frame.y(tokens), "#222", f' stroke-width="1.5"{dash}')
        yield _text(right + 8, frame.y(tokens) + (0 if label == "window" else 10), label)


def _labels(rows: Sequence[ChartRow], frame: _Frame) -> Iterable[str]:
    """The name, size and share of each part of the last request, beside its band, never on top of each other."""
    if not rows:
        return
    used, right = rows[-1].composition, frame.x(frame.rounds)
    y = float(frame.height - frame.bottom)
    for part in PARTS:
        if used.tokens_by_part[part]:
            box = f'x="{right + 8:.1f}" y="{y - 12:.1f}" width="11" height="11" stroke="#666" stroke-width=".5"'
            yield f'<rect {box} fill="{PART_COLORS[part]}"/>'
            yield _text(right + 24, y - 2, f"{PART_LABELS[part]} {used.share(part):.0%}")
            y -= 19
    total = f"round {rows[-1].round_number}: {used.total_tokens:,} of {frame.window.input_tokens:,}"
    yield _text(frame.width - 10, 18, total, ' text-anchor="end" font-weight="600"')


def _refusals(rows: Sequence[ChartRow], frame: _Frame) -> Iterable[str]:
    for row in rows:
        if row.is_refused:
            x, y = frame.x(row.round_number - 0.5), frame.y(row.composition.total_tokens)
            yield _line(x, y, x, frame.height - frame.bottom, _REFUSED, ' stroke-width="2"')
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_REFUSED}"/>'
            halo = ' font-weight="700" paint-order="stroke" stroke="#fff" stroke-width="4"'
            yield _text(x + 10, y + 16, "✗ refused", halo, "#8a3300")


class ContextChart(ipywidgets.HTML):
    """The picture of a run as a widget: `follow` moves it.

    Args:
        window: the window that the requests have to fit into.
        counter: how tokens are counted.
    """

    def __init__(self, window: Window, counter: MessageCounter) -> None:
        self.window, self.counter = window, counter
        self.rows: list[ChartRow] = []
        super().__init__(draw_context((), window))

    def follow(self, events: Iterable[AgentEvent]) -> Run:
        """Let the run go on to its end, show every request as it is sent, and return the run."""
        return record_run(self._watched(events))

    def _watched(self, events: Iterable[AgentEvent]) -> Iterable[AgentEvent]:
        for event in events:
            self.show(event)
            yield event

    def show(self, event: AgentEvent) -> None:
        """Take one event into the picture."""
        if isinstance(event, RequestSent):
            request = event.request
            parts = composition(
                request.messages, window=self.window, counter=self.counter, system=request.system, tools=request.tools
            )
            self.rows.append(ChartRow(event.round_number, parts))
        elif isinstance(event, RunFailed) and self.rows:
            self.rows[-1] = ChartRow(self.rows[-1].round_number, self.rows[-1].composition, is_refused=True)
        else:
            return
        self.value = draw_context(self.rows, self.window)

    def picture(self) -> HTML:
        """Return the picture as it is now, for readers without a kernel: an image with its text alternative."""
        drawing = base64.b64encode(draw_context(self.rows, self.window).encode()).decode()
        alt = html.escape(describe_context(self.rows, self.window))
        return HTML(f'<img alt="{alt}" src="data:image/svg+xml;base64,{drawing}" style="max-width:100%">')

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = "(The live picture shows when this cell runs; the cell below shows where it ends.)"
        return bundle
