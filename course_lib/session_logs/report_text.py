"""An X-ray as a page for the terminal: the summary first, then what it rests on, in plain characters (chapter 04).

Source: chapter 04.
"""

from collections.abc import Iterable, Iterator, Sequence
from unicodedata import combining, east_asian_width

from course_lib.session_logs.labels import one_line
from course_lib.session_logs.report_words import (
    PRICES_NOTE,
    UNLOGGED_LABEL,
    compaction_words,
    few_rows,
    heading,
    number_of,
    shares,
    summary_rows,
    thread_notes,
)
from course_lib.session_logs.xray_report import SessionReport
from course_lib.session_logs.xray_threads import Row, ThreadReport
from course_lib.widgets.palette import PART_LABELS
from course_lib.window import PARTS, Part

__all__ = ["COLUMNS", "bar", "cut", "report_as_text", "table", "width", "wrapped"]

COLUMNS = 100  # the page is never wider
_MOST_LINES = 24  # of the context over time
_BAR = 56
_MOST_TOOL_LINES, _MOST_TOOL_COLUMNS = 8, 5
_LETTERS: dict[Part, str] = {
    "system": "S",
    "tools": "T",
    "user": "u",
    "assistant": "a",
    "thinking": "k",
    "tool_results": "r",
    "documents": "d",
}
_UNLOGGED = ":"


def report_as_text(report: SessionReport, *, thread: str | None = None) -> str:
    """Return the report as a page of text, at most `COLUMNS` wide.

    Args:
        report: what `xray` found.
        thread: whose context over time is shown (a name or a number); the main one by default.
    """
    shown = report.thread(thread) if thread is not None else next(iter(report.threads), None)
    sections = [
        _section(f"X-ray of {one_line(report.file) or 'a session'}", [one_line(heading(report))], underline="="),
        _section("Summary", table([[f"  {name}", said] for name, said in summary_rows(report)], "ll")),
        _section("What went in, by part (visible tokens, over the whole session)", _parts(report)),
        _section("By tool (visible tokens)", _tools(report)),
        *([_section(f"Context over time: {one_line(shown.name)}", _over_time(report, shown))] if shown else []),
        *([_section("Tool results in the context, by tool", _tools_over_time(report, shown))] if shown else []),
        _section("Threads", _threads(report)),
        _section("Compactions", _compactions(report)),
        _section("Biggest results", _biggest(report)),
        _section("Read again, unchanged", _repeated(report)),
        _section("Cache and cost", _cost(report)),
        _section("Oddities of the log", _oddities(report)),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _section(title: str, lines: Iterable[str], underline: str = "-") -> str:
    """A title with its lines, or nothing when there are none."""
    body = [cut(line, COLUMNS) for line in lines]
    title = cut(title, COLUMNS)
    return "\n".join([title, underline * width(title), *body]) if body else ""


def _parts(report: SessionReport) -> list[str]:
    named = {PART_LABELS[part]: tokens for part, tokens in report.added_tokens.items()}
    rows = shares(named)
    largest = max((tokens for _, tokens, _ in rows), default=1)
    return table(
        [[f"  {name}", f"{tokens:,}", f"{share:.0%}", bar(tokens, largest, 40)] for name, tokens, share in rows], "lrrl"
    )


def _tools(report: SessionReport) -> list[str]:
    ordered = sorted(report.tools, key=lambda tool: (-tool.result_tokens - tool.argument_tokens, tool.name))
    rows = [
        [f"  {one_line(t.name)}", f"{t.calls:,}", f"{t.errors:,}", f"{t.argument_tokens:,}", f"{t.result_tokens:,}"]
        for t in ordered[:15]
    ]
    left = [f"  … and {number_of(len(ordered) - 15, 'more tool', 'more tools')}"] if len(ordered) > 15 else []
    return [*table([["  tool", "calls", "errors", "arguments", "results"], *rows], "lrrrr"), *left] if rows else []


def _over_time(report: SessionReport, thread: ThreadReport) -> Iterator[str]:
    rows = few_rows(thread, _MOST_LINES)
    if not rows:
        yield "  no call of a model"
        return
    used = [part for place, part in enumerate(PARTS) if any(row.parts[place] > 0 for row in rows)]
    unlogged = [f"{_UNLOGGED} {UNLOGGED_LABEL}"] if any(row.unlogged_tokens for row in rows) else []
    yield "  " + " · ".join([*unlogged, *(f"{_LETTERS[part]} {PART_LABELS[part]}" for part in used)])
    scale = max(max(row.context_tokens, row.visible_tokens + row.unlogged_tokens) for row in rows)
    compactions = [one for one in report.compactions if one.thread == thread.name]
    yield f"  {'call':>6}  {'tokens':>9}  one character is {max(1, round(scale / _BAR)):,} tokens"
    for row in rows:
        while compactions and compactions[0].call < row.first:
            done = compactions.pop(0)
            yield f"  {'':>6}  {-done.saved_tokens:>+9,}  ---- compaction: {done.kind} ----"
        yield f"  {row.first:>6,}  {row.context_tokens:>9,}  {_stack(row, scale)}"
    merged = rows[-1].last - rows[-1].first + 1
    if merged > 1 or len(rows) < thread.calls:
        yield "  (Each line stands for several calls and shows the fullest of them.)"
    yield from (f"  {line}" for note in thread_notes(thread) for line in wrapped(note, COLUMNS - 2))


def _stack(row: Row, scale: int) -> str:
    """The parts as letters, each as many as its tokens; rounded at the edges, so that the whole is right."""
    pieces = [(_UNLOGGED, row.unlogged_tokens), *zip(_LETTERS.values(), row.parts, strict=True)]
    line, tokens = "", 0
    for letter, more in pieces:
        tokens += max(0, more)
        line += letter * (round(_BAR * tokens / scale) - len(line)) if scale else ""
    return line


def _tools_over_time(report: SessionReport, thread: ThreadReport) -> list[str]:
    """A line for each of a few calls: what the biggest tools have in the context then."""
    rows = few_rows(thread, _MOST_TOOL_LINES)
    tokens = [[*row.by_tool, *([0] * (len(report.tools) - len(row.by_tool)))] for row in rows]
    peaks = [max(column) for column in zip(*tokens, strict=True)]
    chosen = sorted((n for n, peak in enumerate(peaks) if peak), key=lambda n: (-peaks[n], n))[:_MOST_TOOL_COLUMNS]
    if not chosen:
        return []
    head = ["  call", *(cut(one_line(report.tools[n].name), 12) for n in chosen), "others"]
    body = [
        [f"  {row.first:,}", *(f"{held[n]:,}" for n in chosen), f"{sum(held) - sum(held[n] for n in chosen):,}"]
        for row, held in zip(rows, tokens, strict=True)
    ]
    return table([head, *body], "r" * len(head))


def _threads(report: SessionReport) -> list[str]:
    if len(report.threads) < 2:
        return []
    rows = [
        [
            f"  {place}",
            one_line(t.name)[:40],
            f"{t.calls:,}",
            f"{t.billed.context_tokens:,}",
            f"{t.billed.output_tokens:,}",
            f"{t.peak_context_tokens:,}",
            "" if t.unlogged_tokens is None else f"{t.unlogged_tokens:,}",
        ]
        for place, t in enumerate(report.threads[:20], 1)
    ]
    more = len(report.threads) - 20
    left = [f"  … and {number_of(more, 'more thread')}"] if more > 0 else []
    return [
        *table([["  no.", "thread", "calls", "tokens in", "out", "fullest", "not logged"], *rows], "llrrrrr"),
        *left,
    ]


def _compactions(report: SessionReport) -> Iterator[str]:
    for one in report.compactions[:20]:
        yield f"  line {one.place.line:,}, after call {one.call:,} of {one_line(one.thread)}"
        yield from (f"      {line}" for line in wrapped(compaction_words(one), COLUMNS - 6))
    if report.compaction_count > 20:
        yield f"  … and {report.compaction_count - 20:,} more"


def _biggest(report: SessionReport) -> list[str]:
    rows = [
        [
            f"  {r.tokens:,}",
            one_line(r.tool)[:24],
            one_line(r.label) + (" (error)" if r.is_error else ""),
            f"{r.place.line}",
        ]
        for r in report.biggest_results[:12]
    ]
    return table([["  tokens", "tool", "what", "line"], *rows], "rllr") if rows else []


def _repeated(report: SessionReport) -> Iterator[str]:
    again = report.repeated_reads
    rows = [[f"  {f.tokens:,}", f"{f.times:,}", one_line(f.label), f"{f.place.line}"] for f in again.files[:12]]
    if rows:
        yield from table([["  tokens", "times", "file", "first at line"], *rows], "rrlr")
    if again.changed:
        yield f"  {number_of(again.changed, 'further read')} of a known file gave another result: not counted here."


def _cost(report: SessionReport) -> Iterator[str]:
    if not report.has_bill:
        return
    billed, prices = report.billed, report.prices
    amounts = (billed.input_tokens, billed.cache_read_tokens, billed.cache_write_tokens, billed.output_tokens)
    names = ("input, not cached", "read from the cache", "written to the cache", "output")
    rows = [
        [
            f"  {name}",
            f"{tokens:,}",
            prices.said(tokens * price / 1_000_000),
            f"at {prices.currency}{price:,.2f} a million",
        ]
        for name, tokens, price in zip(names, amounts, prices.in_order, strict=True)
    ]
    rows.append(["  together", f"{sum(amounts):,}", prices.said(report.cost), ""])
    rows.append(["  with no cache", "", prices.said(report.cost_without_cache), ""])
    yield from table(rows, "lrrl")
    yield f"  {PRICES_NOTE}."
    for model in report.models if len(report.models) > 1 else ():
        said = (
            f"{number_of(model.calls, 'call')}, {model.billed.context_tokens:,} in, {model.billed.output_tokens:,} out"
        )
        yield f"  {one_line(model.name) or '(no model named)'}: {said}"


def _oddities(report: SessionReport) -> Iterator[str]:
    for oddity in report.oddities:
        places = ", ".join(f"{place.line:,}" for place in oddity.places)
        more = ", …" if oddity.times > len(oddity.places) else ""
        yield f"  {oddity.times:>5,} × {oddity.kind}: line {places}{more}"
    if report.hidden_messages:
        yield f"  {number_of(report.hidden_messages, 'message')} in the log that the model never saw: not counted."


def bar(tokens: float, largest: float, columns: int) -> str:
    """Return a bar of plain characters; at least one where there is anything."""
    return "#" * max(1, round(columns * tokens / largest)) if tokens > 0 else ""


def width(text: str) -> int:
    """Return how many columns of a terminal the text takes."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def cut(text: str, columns: int) -> str:
    """Return the text, its end replaced by "…" where it is wider than so many columns."""
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for char in text:
        used += width(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept) + "…"


def wrapped(text: str, columns: int) -> Iterator[str]:
    """Yield the text in lines of at most so many columns, cut between words."""
    line = ""
    for word in text.split(" "):
        if line and width(line) + 1 + width(word) > columns:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def table(rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Return the rows as lines, with columns aligned left ("l") or right ("r")."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for cell, wide, side in zip(row, widths, align, strict=True):
            blank = " " * (wide - width(cell))
            cells.append(cell + blank if side == "l" else blank + cell)
        lines.append("  ".join(cells).rstrip())
    return lines
