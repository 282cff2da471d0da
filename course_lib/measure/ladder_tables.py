"""A ladder as a table, and its climbs as another, computed from the data that the library works with (chapter 06).

    ladder_table(ladder, [window], fixed_tokens=780)     as the last line of a cell, or print it
    climbs_table(run_climbs(run))

Nothing is typed in: ratios, tokens and settings are read off the ladder, and what was done off the climbs.

    >>> from course_lib.ladder import HalveReserve, Step
    >>> ladder = Ladder(name="one step", steps=(Step(0.8, HalveReserve()),), target_ratio=0.5)
    >>> print(ladder_table(ladder, [Window(context_tokens=10_000, reserve_tokens=1_000)], fixed_tokens=1_000))
    one step: a climb begins at 80% and ends below 50%; it goes over all steps up to 2 times
    level  from  of 10,000  step               settings
    -------------------------------------------------------------
        1   80%      6,400  halve the reserve  floor_tokens 1,024

What this leaves out on purpose: settings that are no numbers, such as a prompt.
Source: chapter 06.
"""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace

from course_lib.events import HistoryRewritten, Run
from course_lib.ladder import CompactionPass, Ladder, Step, StepTaken
from course_lib.widgets.svg import plain
from course_lib.window import Window

__all__ = ["StepTable", "climbs_table", "ladder_table", "run_climbs"]

_WIDEST = 44  # columns of the last text column; more is wrapped
_CELL = "padding:1px 10px;vertical-align:top"


class StepTable:
    """A table with a sentence above it, as the last value of a cell; its last two columns are texts.

    Args:
        title: the sentence.
        header: one text a column.
        rows: texts of the header's length.
        texts: how many of the last columns are texts, which stand on the left; the others are numbers.
    """

    def __init__(self, title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int) -> None:
        self.title, self.header, self.rows = title, tuple(header), [tuple(row) for row in rows]
        self._numbers = len(self.header) - texts

    def __repr__(self) -> str:
        wrapped = [[[text] for text in row[:-1]] + [textwrap.wrap(row[-1], _WIDEST) or [""]] for row in self.rows]
        cells = [[column[0] for column in row] for row in wrapped]
        longest = max((len(line) for row in wrapped for line in row[-1]), default=0)
        widths = [max(map(len, column)) for column in zip(self.header, *cells, strict=True)]
        widths[-1] = max(len(self.header[-1]), longest)
        lines = [self.title, self._line(self.header, widths), "-" * (sum(widths) + 2 * len(widths) - 2)]
        for row, row_cells in zip(wrapped, cells, strict=True):
            lines.append(self._line(row_cells, widths))
            lines += [self._line([""] * (len(widths) - 1) + [more], widths) for more in row[-1][1:]]
        return "\n".join(line.rstrip().replace("\N{NO-BREAK SPACE}", " ") for line in lines)

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        places = enumerate(zip(row, widths, strict=True))
        return "  ".join(text.rjust(w) if i < self._numbers else text.ljust(w) for i, (text, w) in places)

    def _repr_html_(self) -> str:
        head = "".join(self._cell("th", text, i, ' scope="col"') for i, text in enumerate(self.header))
        body = "".join(
            "<tr>" + "".join(self._cell("td", text, i) for i, text in enumerate(row)) + "</tr>" for row in self.rows
        )
        return (
            '<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:0;font-size:12px">'
            f'<caption style="text-align:left">{plain(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _cell(self, tag: str, text: str, place: int, attributes: str = "") -> str:
        align = "right" if place < self._numbers else "left"
        wrap = "" if place == len(self.header) - 1 else ";white-space:nowrap"
        return f'<{tag}{attributes} style="{_CELL};text-align:{align}{wrap}">{plain(text)}</{tag}>'


def ladder_table(ladder: Ladder, windows: Sequence[Window] = (), *, fixed_tokens: int = 0) -> StepTable:
    """Return the ladder's steps, one a row: from which usage ratio each may run, and with which settings.

    Args:
        ladder: the ladder.
        windows: for each of them a column with the tokens of messages that make the ratio.
        fixed_tokens: of system prompt and tools.
    """
    times = f"; it goes over all steps up to {ladder.max_passes} times" if ladder.max_passes > 1 else ""
    title = f"{ladder.name}: a climb begins at {ladder.trigger_ratio:.0%} and ends below {ladder.target_ratio:.0%}"
    header = ("level", "from", *(f"of {window.context_tokens:,}" for window in windows), "step", "settings")
    rows = []
    for level, step in enumerate(ladder.steps, 1):
        room = [window.available_tokens(fixed_tokens=fixed_tokens) for window in windows]
        tokens = [f"{int(step.at_ratio * available):,}" for available in room]
        rows.append((f"{level}", f"{step.at_ratio:.0%}", *tokens, step.name, _settings(step)))
    return StepTable(f"{title}{times}", header, rows, texts=2)


def _settings(step: Step) -> str:
    """The whole numbers that the step's strategy was made with, under their names."""
    strategy = step.strategy
    if not is_dataclass(strategy):
        return ""
    values = {field.name: getattr(strategy, field.name) for field in fields(strategy)}
    return ", ".join(f"{name}\N{NO-BREAK SPACE}{value:,}" for name, value in values.items() if type(value) is int)


def run_climbs(run: Run) -> tuple[tuple[int, CompactionPass], ...]:
    """Return every climb of a run that did or reported something, with the number of its round."""
    rewritten = (event for event in run.events if isinstance(event, HistoryRewritten))
    return tuple((e.round_number, e.detail) for e in rewritten if isinstance(e.detail, CompactionPass))


def climbs_table(climbs: Iterable[tuple[int, CompactionPass]], *, numbers: str = "round") -> StepTable:
    """Return the climbs, one a row: its number, the usage ratio before and after, the tokens freed, and the steps.

    A step that was tried and had nothing to do is not listed; a climb in which none did anything says why.

    Args:
        climbs: each with a number.
        numbers: what the numbers are.
    """
    rows = [
        (
            f"{number}",
            f"{climb.ratio_before:.0%}",
            f"{climb.ratio_after:.0%}",
            f"{climb.tokens_freed:,}",
            ", ".join(map(_said, climb.steps)) or climb.reason or "nothing to do",
        )
        for number, climb in ((number, _without_skipped(climb)) for number, climb in climbs)
    ]
    title = f"{len(rows)} climb{'s' * (len(rows) != 1)}"
    return StepTable(title, (numbers, "before", "after", "freed", "steps"), rows, texts=1)


def _without_skipped(climb: CompactionPass) -> CompactionPass:
    return replace(climb, steps=tuple(step for step in climb.steps if step.outcome != "skipped"))


def _said(step: StepTaken) -> str:
    name = f"{'✗ ' * (step.outcome == 'failed')}{step.level} {step.name}"
    if step.outcome == "failed":
        return name
    return f"{name} −{step.tokens_freed:,}" if step.event else f"{name} to {step.reserve_tokens:,}"
