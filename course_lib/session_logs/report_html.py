"""An X-ray as a page for the browser: one file, no script, nothing from outside, in light and dark (chapter 04).

Every text from the log is escaped, and the page's own policy forbids scripts and loading, should one get through.
Source: chapter 04.
"""

from collections.abc import Iterable, Iterator, Sequence

from course_lib.session_logs.labels import one_line
from course_lib.session_logs.report_chart import draw_xray
from course_lib.session_logs.report_words import (
    PRICES_NOTE,
    compaction_words,
    described,
    heading,
    number_of,
    shares,
    summary_rows,
    thread_notes,
)
from course_lib.session_logs.xray_report import SessionReport
from course_lib.session_logs.xray_threads import ThreadReport
from course_lib.widgets.palette import PART_LABELS, Theme
from course_lib.widgets.svg import plain

__all__ = ["GENERATOR", "PAGE", "html_page", "html_table", "report_as_html", "report_tables", "sections"]

GENERATOR = "course xray"
_MOST_PICTURES = 6  # threads that are drawn; the others are in the table
# The page's own colours, so that the pictures follow the reader's choice of light or dark.
PAGE = Theme(
    text="var(--text)", muted="var(--muted)", grid="var(--grid)", background="var(--ground)", alarm="var(--alarm)"
)
_STYLE = """
:root{color-scheme:light dark;--text:#222;--muted:#555;--grid:#ddd;--ground:#fff;--alarm:#b00020}
@media (prefers-color-scheme:dark){:root{--text:#e8e8e8;--muted:#a8a8a8;--grid:#444;--ground:#16181c;--alarm:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--ground);max-width:60rem;margin:2rem auto;
padding:0 1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;font-size:.93em}caption{text-align:left;color:var(--muted)}
th,td{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}
td:not(.n){min-width:4rem;overflow-wrap:anywhere}
thead th{border-bottom:1px solid var(--grid)}td.n,th.n{text-align:right;white-space:nowrap}
tbody tr:nth-child(even){background:color-mix(in srgb,var(--grid) 25%,transparent)}
.wide{overflow-x:auto}p,.note{margin:.4rem 0}.note{color:var(--muted)}
"""


def report_as_html(report: SessionReport, *, thread: str | None = None) -> str:
    """Return the report as one HTML page.

    Args:
        report: what `xray` found.
        thread: the thread whose picture is shown (a name or a number); by default the first few of them.
    """
    chosen = report.thread(thread) if thread is not None else None
    drawn = [chosen] if chosen else [one for one in report.threads if one.rows][:_MOST_PICTURES]
    title = f"X-ray of {one_line(report.file) or 'a session'}"
    body = [
        f"<h1>{plain(title)}</h1>",
        f"<p>{plain(one_line(heading(report)))}</p>",
        *sections([("Summary", html_table((), summary_rows(report), "ll"))]),
        *(part for one in drawn for part in _picture(report, one)),
        *sections(report_tables(report)),
    ]
    return html_page(title, body)


def sections(titled: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield titled pieces of a page; those without content are left out."""
    return (f"<h2>{plain(title)}</h2>{content}" for title, content in titled if content)


def html_page(title: str, body: Iterable[str]) -> str:
    """Return a whole page that loads nothing; the title is escaped, the body is not."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="generator" content="{GENERATOR}">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{plain(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n"
        "</html>\n"
    )


def _picture(report: SessionReport, thread: ThreadReport) -> Iterator[str]:
    yield f"<h2>Context over time: {plain(one_line(thread.name))}</h2>"
    yield f"<figure style='margin:0'>{draw_xray(report, thread, PAGE)}</figure>"
    compactions = [one for one in report.compactions if one.thread == thread.name]
    words = plain(one_line(described(thread, compactions)))
    yield f"<details><summary>The picture in words</summary><p>{words}</p></details>"
    if thread.calls_per_row > 1:
        yield f'<p class="note">A step stands for {thread.calls_per_row:,} calls or more: it shows the fullest.</p>'
    for note in thread_notes(thread):
        yield f'<p class="note">{plain(note)}</p>'


def report_tables(report: SessionReport) -> Iterator[tuple[str, str]]:
    """Yield everything below the pictures: a title and a table each, "" where there is nothing to say."""
    named = {PART_LABELS[part]: tokens for part, tokens in report.added_tokens.items()}
    parts = [(name, f"{tokens:,}", f"{share:.0%}") for name, tokens, share in shares(named)]
    yield "What went in, by part", html_table(("part", "visible tokens", "share"), parts, "lnn")
    tools = sorted(report.tools, key=lambda tool: (-tool.result_tokens - tool.argument_tokens, tool.name))
    rows = [(t.name, f"{t.calls:,}", f"{t.errors:,}", f"{t.argument_tokens:,}", f"{t.result_tokens:,}") for t in tools]
    yield "By tool", html_table(("tool", "calls", "errors", "argument tokens", "result tokens"), rows, "lnnnn")
    yield "Threads", _threads(report) if len(report.threads) > 1 else ""
    yield "Compactions", _compactions(report)
    big = [
        (f"{r.tokens:,}", r.tool, r.label + (" (error)" if r.is_error else ""), r.thread, f"{r.place.line:,}")
        for r in report.biggest_results
    ]
    yield "Biggest results", html_table(("tokens", "tool", "what", "thread", "line"), big, "nllln")
    again = [(f"{f.tokens:,}", f"{f.times:,}", f.label, f"{f.place.line:,}") for f in report.repeated_reads.files]
    yield "Read again, unchanged", html_table(("tokens", "times", "file", "first at line"), again, "nnln")
    yield "Cache and cost", _cost(report) if report.has_bill else ""
    odd = [
        (o.kind, f"{o.times:,}", ", ".join(f"{place.line:,}" for place in o.places), o.detail) for o in report.oddities
    ]
    hidden = number_of(report.hidden_messages, "message")
    note = f'<p class="note">{hidden} in the log that the model never saw: not counted.</p>'
    said = html_table(("kind", "times", "first lines", "the first one"), odd, "lnll")
    yield "Oddities of the log", said + (note if report.hidden_messages else "")


def _threads(report: SessionReport) -> str:
    rows = [
        (
            t.name,
            f"{t.calls:,}",
            f"{t.billed.context_tokens:,}",
            f"{t.billed.output_tokens:,}",
            f"{t.peak_context_tokens:,}",
            "" if t.unlogged_tokens is None else f"{t.unlogged_tokens:,}",
        )
        for t in report.threads
    ]
    head = ("thread", "calls", "tokens in", "out", "fullest call", "not in the log")
    return html_table(head, rows, "lnnnnn")


def _compactions(report: SessionReport) -> str:
    rows = [
        (f"{one.place.line:,}", one.thread, f"{one.call:,}", compaction_words(one), f"{one.saved_tokens:,}")
        for one in report.compactions
    ]
    return html_table(("line", "thread", "after call", "what", "tokens taken out"), rows, "nlnln")


def _cost(report: SessionReport) -> str:
    billed, prices = report.billed, report.prices
    amounts = (billed.input_tokens, billed.cache_read_tokens, billed.cache_write_tokens, billed.output_tokens)
    names = ("input, not cached", "read from the cache", "written to the cache", "output")
    rows = [
        (name, f"{tokens:,}", prices.said(tokens * price / 1_000_000), f"{prices.currency}{price:,.2f}")
        for name, tokens, price in zip(names, amounts, prices.in_order, strict=True)
    ]
    rows.append(("together", f"{sum(amounts):,}", prices.said(report.cost), ""))
    rows.append(("with no cache", "", prices.said(report.cost_without_cache), ""))
    said = html_table(("billed", "tokens", "money", "a million"), rows, "lnnn")
    said += f'<p class="note">{plain(PRICES_NOTE)}.</p>'
    models = [
        (m.name or "(no model named)", f"{m.calls:,}", f"{m.billed.context_tokens:,}", f"{m.billed.output_tokens:,}")
        for m in report.models
    ]
    return said + (html_table(("model", "calls", "tokens in", "out"), models, "lnnn") if len(models) > 1 else "")


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Return a table, every cell escaped; "" when it has no rows. Of `align`, "n" is a number."""
    body = [
        f"<tr>{''.join(_cell('td', cell, side) for cell, side in zip(row, align, strict=True))}</tr>" for row in rows
    ]
    if not body:
        return ""
    top = "".join(_cell("th", cell, side, ' scope="col"') for cell, side in zip(head, align, strict=False))
    return (
        f'<div class="wide"><table>{f"<thead><tr>{top}</tr></thead>" if top else ""}'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(tag: str, content: str, side: str, more: str = "") -> str:
    look = ' class="n" align="right"' if side == "n" else ' style="text-align:left"'  # JupyterLab aligns to the right
    return f"<{tag}{look}{more}>{plain(one_line(content))}</{tag}>"
