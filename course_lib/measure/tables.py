"""Scores as tables: in plain text for a terminal and a saved notebook, in HTML for the page, with the same content.

    score_table(scores)     what came of each strategy, and what it cost     as the last line of a cell, or print it
    facts_table(scores)     which facts its requests still showed

The columns of `score_table`, in the words of `Score`:

    end       "done", "disobeyed" (done, but an order was broken), "not done", "too long" (refused), "failed"
    modules   up to standard at the end, of all
    broken    constraints_broken
    facts     facts_kept, in percent
    again     repeated_reads and repeated_lessons together
    times     compactions
    left      compression_ratio, in percent; "-" where nothing was made shorter
    calls     model_calls, all of them
    sent      tokens_sent, in tokens
    cache     the part of them that a provider's cache would have held, in percent
    cost      of the whole bill, at the given prices

What this leaves out on purpose: an order of merit. Which column counts most is the reader's business.
Source: chapter 05.
"""

import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, zip_longest
from typing import Literal, TypeAlias

from course_lib.measure.facts import REFACTORING_FACTS, PlantedFact
from course_lib.measure.scoreboard import Score
from course_lib.widgets.prices import Prices
from course_lib.widgets.svg import counted, plain

__all__ = ["MOST_COLUMNS", "ScoreTable", "Verdict", "facts_table", "score_table", "shown_name", "verdict"]

Verdict = Literal["done", "disobeyed", "not done", "too long", "failed"]
_Row: TypeAlias = Sequence[str]
_Group: TypeAlias = tuple[str, Sequence[_Row]]  # a heading over some rows, and the rows

MOST_COLUMNS = 100  # of text
_NAME_COLUMNS = 23  # a longer name is cut; the longest of the five has just as many
_FACT_COLUMNS = 11  # the words over a fact's column are wrapped
_CELL = "padding:1px 8px;vertical-align:top"


class ScoreTable:
    """A table as the last value of a cell: `words` is its text, `html` the same as HTML.

    Args:
        header: one text a column; the first column is for names.
        groups: a heading and its rows, as texts of the header's length.
        title: what the table is, for screen readers.
    """

    def __init__(self, header: _Row, groups: Sequence[_Group], *, title: str) -> None:
        self.words = _as_text(header, groups)
        self.html = _as_html(header, groups, title)

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.html


def verdict(score: Score) -> Verdict:
    """Return in a word what came of a run."""
    outcome = score.outcome
    if score.ending == "ContextOverflowError":
        return "too long"
    if score.ending.endswith("Error"):
        return "failed"
    if outcome.is_complete:
        return "done" if score.ending == "finished" else "not done"
    is_all_there = outcome.modules_done == outcome.modules_total and not outcome.failing_tests
    return "disobeyed" if is_all_there and score.constraints_broken else "not done"


def score_table(scores: Iterable[Score], *, prices: Prices | None = None) -> ScoreTable:
    """Return the table of what came of each run and what it cost, one window after another.

    Args:
        scores: in the order of the rows; neighbours with the same window stand under one heading.
        prices: what tokens cost; the course's round examples by default.
    """
    rates = prices or Prices()
    header = (
        "strategy",
        "end",
        "modules",
        "broken",
        "facts",
        "again",
        "times",
        "left",
        "calls",
        "sent",
        "cache",
        "cost",
    )
    return ScoreTable(header, _groups(scores, lambda score: _score_row(score, rates)), title="what came of each run")


def facts_table(scores: Iterable[Score], facts: Sequence[PlantedFact] = REFACTORING_FACTS) -> ScoreTable:
    """Return the table of how well each fact was kept: the share of requests that showed it once it had been there.

    Args:
        scores: as for `score_table`.
        facts: the columns; a fact that a score does not know has no number there.
    """
    header = ("strategy", *(fact.name for fact in facts))

    def row(score: Score) -> _Row:
        shares = (score.facts_shown.get(fact.name) for fact in facts)
        return (shown_name(score.name), *("-" if share is None else f"{share:.0%}" for share in shares))

    return ScoreTable(header, _groups(scores, row), title="how well each fact was kept")


def _groups(scores: Iterable[Score], row: Callable[[Score], _Row]) -> list[_Group]:
    by_window = groupby(scores, key=lambda score: score.window_tokens)
    return [(f"window of {window:,} tokens", [row(score) for score in some]) for window, some in by_window]


def _score_row(score: Score, prices: Prices) -> _Row:
    outcome = score.outcome
    cached = score.usage.cache_read_tokens / score.tokens_sent if score.tokens_sent else 0.0
    return (
        shown_name(score.name),
        verdict(score),
        f"{outcome.modules_done}/{outcome.modules_total}",
        f"{score.constraints_broken}",
        f"{score.facts_kept:.0%}",
        f"{score.repeated_reads + score.repeated_lessons}",
        f"{score.compactions}",
        f"{score.compression_ratio:.0%}" if score.compactions else "-",
        f"{score.model_calls}",
        counted(score.tokens_sent),
        f"{cached:.0%}",
        _money(prices.cost(score.usage), prices.currency),
    )


def _money(cost: float, currency: str) -> str:
    return f"{currency}{cost:,.0f}" if cost >= 100 else f"{currency}{cost:.2f}"


def shown_name(name: str) -> str:
    """Return a name in one line, without what cannot be shown, and not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "(no name)"
    while _columns(line) > _NAME_COLUMNS:
        line = f"{line.removesuffix('…')[:-1]}…"
    return line


# --- as text ---------------------------------------------------------------------------------------------------------


def _as_text(header: _Row, groups: Sequence[_Group]) -> str:
    rows = [row for _, some in groups for row in some]
    heads = list(zip_longest(*(_wrapped(text) for text in header), fillvalue=""))
    widths = [max(map(_columns, column)) for column in zip(*heads, *rows, strict=True)]
    lines = [*(_line(row, widths) for row in heads), "-" * (sum(widths) + len(widths) - 1)]
    for heading, some in groups:
        lines += [heading, *(_line(row, widths) for row in some)]
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _FACT_COLUMNS, break_long_words=True) or [""]


def _line(row: _Row, widths: Sequence[int]) -> str:
    """Names stand on the left, everything else on the right."""
    first, *others = (text if i else text + " " * (widths[0] - _columns(text)) for i, text in enumerate(row))
    return " ".join((first, *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))))


def _columns(text: str) -> int:
    """How many columns of a terminal the text takes: two for a wide character, none for an accent."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in ("Mn", "Me", "Cf") for character in text)


# --- as HTML ---------------------------------------------------------------------------------------------------------


def _as_html(header: _Row, groups: Sequence[_Group], title: str) -> str:
    head = "".join(_html_cell("th", text, i, ' scope="col"') for i, text in enumerate(header))
    body = "".join(
        f'<tr><th scope="rowgroup" colspan="{len(header)}" style="{_CELL};text-align:left">{plain(heading)}</th></tr>'
        + "".join(map(_html_row, some))
        for heading, some in groups
    )
    caption = f'<caption style="text-align:left">{plain(title)}</caption>'
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:0;font-size:12px">{caption}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _html_row(row: _Row) -> str:
    first, *others = row
    cells = "".join(_html_cell("td", text, place) for place, text in enumerate(others, start=1))
    return "<tr>" + _html_cell("th", first, 0, ' scope="row"') + cells + "</tr>"


def _html_cell(tag: str, text: str, place: int, attributes: str = "") -> str:
    align = "left" if place == 0 else "right"
    name = ";font-weight:normal;white-space:nowrap" if "row" in attributes else ""
    return f'<{tag}{attributes} style="{_CELL};text-align:{align}{name}">{plain(text)}</{tag}>'
