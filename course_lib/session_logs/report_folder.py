"""The X-ray of a folder as text, JSON and HTML: a line a file, and the sums (chapter 04).

The JSON has the same rules as that of one file (`report_json`): `schema`, `folder`, `file_count`, `totals`, `prices`,
`formats`, `files[]`, `tools[]`, `oddities`, `unreadable[]`.
Source: chapter 04.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace

from course_lib.session_logs.detect import FORMATS
from course_lib.session_logs.labels import one_line, short_end
from course_lib.session_logs.redact import WELL_KNOWN_TOOLS
from course_lib.session_logs.report_html import html_page, html_table, sections
from course_lib.session_logs.report_json import bill_record, prices_record
from course_lib.session_logs.report_text import COLUMNS, cut, table, wrapped
from course_lib.session_logs.report_words import PRICES_NOTE, number_of
from course_lib.session_logs.xray_folder import FileSummary, FolderReport
from course_lib.session_logs.xray_report import ODDITY_KINDS
from course_lib.session_logs.xray_tools import OTHER_TOOLS, UNKNOWN_TOOL
from course_lib.widgets.svg import counted, plain

__all__ = ["AS", "FOLDER_SCHEMA", "folder_as_html", "folder_as_json", "folder_as_text", "redacted_folder"]

FOLDER_SCHEMA = "course-xray-folder/1"
_TEXT_FILES, _HTML_FILES = 40, 300
_HEAD = ("tokens in", "out", "calls", "fullest", "compactions", "read again", "broken", "file")


def folder_as_text(report: FolderReport) -> str:
    """Return the report as a page of text."""
    title = f"X-ray of the folder {one_line(report.folder)}"
    lines = [
        title,
        "=" * len(title),
        *(f"  {line}" for said in _sums(report) for line in wrapped(said, COLUMNS - 2)),
        "",
    ]
    rows = [_HEAD, *(_row(one) for one in report.files[:_TEXT_FILES])]
    figures = table([row[:-1] for row in rows], "rrrrrrr")
    room = COLUMNS - 4 - max(map(len, figures))
    lines += [f"  {line}  {short_end(row[-1], room)}" for line, row in zip(figures, rows, strict=True) if report.files]
    left = report.file_count - min(len(report.files), _TEXT_FILES)
    lines += [f"  … and {number_of(left, 'more file')}"] if left > 0 else []
    if report.tools:
        tools = [(one_line(t.name)[:30], f"{t.calls:,}", f"{t.result_tokens:,}") for t in report.tools[:12]]
        lines += ["", *(f"  {line}" for line in table([("tool", "calls", "result tokens"), *tools], "lrr"))]
    if report.oddities:
        lines += ["", *(f"  {times:>6,} × {kind}" for kind, times in report.oddities)]
    if report.unreadable:
        lines += ["", f"  Could not be read ({len(report.unreadable):,}):"]
        lines += [f"    {one_line(f'{name}: {reason}')}" for name, reason in report.unreadable[:_TEXT_FILES]]
    return "\n".join(cut(line, COLUMNS) for line in lines) + "\n"


def _sums(report: FolderReport) -> Iterator[str]:
    formats = ", ".join(f"{one_line(name) or 'unknown'} {count:,}" for name, count in report.formats)
    yield f"{number_of(report.file_count, 'log')} read, {number_of(report.calls, 'call')}"
    yield from [f"formats: {formats}"] if formats else []
    billed = report.billed
    if billed.context_tokens + billed.output_tokens:
        share = billed.cache_read_tokens / billed.context_tokens if billed.context_tokens else 0
        money = report.prices.said(report.prices.cost(billed))
        yield f"billed: {billed.context_tokens:,} tokens in ({share:.0%} from a cache), {billed.output_tokens:,} out"
        yield f"cost: {money} at {PRICES_NOTE}"
    yield f"visible: {report.visible_tokens:,} tokens of messages"
    yield f"{number_of(report.compactions, 'compaction')}: {report.compacted_tokens:,} tokens taken out"
    yield f"read again, unchanged: {number_of(report.repeated_reads, 'time')}, {report.repeated_tokens:,} tokens"
    yield f"broken pairs: {report.broken_pairs:,}"


def _row(one: FileSummary) -> tuple[str, ...]:
    return (
        counted(one.billed.context_tokens),
        counted(one.billed.output_tokens),
        f"{one.calls:,}",
        counted(one.peak_context_tokens),
        f"{one.compactions:,}",
        counted(one.repeated_tokens),
        f"{one.broken_pairs:,}",
        one_line(one.file),
    )


def folder_as_json(report: FolderReport) -> str:
    """Return the report as JSON text."""
    record = {
        "schema": FOLDER_SCHEMA,
        "folder": report.folder,
        "file_count": report.file_count,
        "totals": {
            "calls": report.calls,
            "billed": bill_record(report.billed),
            "cost": report.prices.cost(report.billed),
            "visible_tokens": report.visible_tokens,
            "compactions": report.compactions,
            "compacted_tokens": report.compacted_tokens,
            "repeated_reads": report.repeated_reads,
            "repeated_tokens": report.repeated_tokens,
            "broken_pairs": report.broken_pairs,
        },
        "prices": prices_record(report.prices),
        "formats": dict(report.formats),
        "files": [{**asdict(one), "billed": bill_record(one.billed)} for one in report.files],
        "tools": [asdict(tool) for tool in report.tools],
        "oddities": dict(report.oddities),
        "unreadable": [{"file": one_line(name), "reason": one_line(reason)} for name, reason in report.unreadable],
    }
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def folder_as_html(report: FolderReport) -> str:
    """Return the report as one HTML page."""
    rows = [_row(one) for one in report.files[:_HTML_FILES]]
    tools = [(t.name, f"{t.calls:,}", f"{t.errors:,}", f"{t.result_tokens:,}") for t in report.tools]
    title = f"X-ray of the folder {one_line(report.folder)}"
    left = report.file_count - len(rows)
    oddities = [(kind, f"{times:,}") for kind, times in report.oddities]
    more = f'<p class="note">… and {number_of(left, "more file")}</p>' if left > 0 else ""
    body = [
        f"<h1>{plain(title)}</h1>",
        *(f"<p>{plain(line)}</p>" for line in _sums(report)),
        *sections(
            [
                ("Files", html_table(_HEAD, rows, "nnnnnnnl") + more),
                ("By tool", html_table(("tool", "calls", "errors", "result tokens"), tools, "lnnn")),
                ("Oddities", html_table(("kind", "times"), oddities, "ln")),
                ("Could not be read", html_table(("file", "reason"), report.unreadable, "ll")),
            ]
        ),
    ]
    return html_page(title, body)


def redacted_folder(report: FolderReport) -> FolderReport:
    """Return the report with nothing left of the sessions' own words, and of the folder's."""
    formats = {known.name for known in FORMATS}
    fixed = WELL_KNOWN_TOOLS | {OTHER_TOOLS, UNKNOWN_TOOL}
    tools = [tool if tool.name in fixed else replace(tool, name=f"tool-{n}") for n, tool in enumerate(report.tools, 1)]
    return replace(
        report,
        folder="sessions",
        files=tuple(
            replace(one, file=f"session-{n}", format=one.format if one.format in formats else "")
            for n, one in enumerate(report.files, 1)
        ),
        unreadable=tuple((f"unreadable-{n}", "") for n in range(1, len(report.unreadable) + 1)),
        formats=tuple((name if name in formats else "", count) for name, count in report.formats),
        tools=tuple(tools),
        oddities=tuple((kind, times) for kind, times in report.oddities if kind in ODDITY_KINDS),
    )


AS = {"text": folder_as_text, "json": folder_as_json, "html": folder_as_html}  # by the name of the format
