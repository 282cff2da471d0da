"""An X-ray as JSON, for programs: a stable, documented shape with a version (chapter 04).

`SCHEMA` names the version; a field is never renamed or given another meaning within it, and new ones may come. All
tokens are whole numbers; money is in `prices.currency`. `null` means that the log does not say.

    schema, file, format, counter                names; `counter` is what visible tokens were counted with
    sessions, session_count                      ids (at most 20), and how many there are
    totals                                       calls, rounds, prompts, billed, visible, cost, broken pairs, …
    prices                                       what a million tokens of each kind was taken to cost
    threads[]                                    one conversation each, the main one first
        .first_call                              billed, visible and unlogged tokens of the first billed call
        .rows[]                                  the context over time, `calls_per_row` calls each: the fullest of them
            .context, .billed, .parts, .by_tool  tokens of the call, its bill or null, visible tokens by part, by tool
    models[], tools[], biggest_results[], repeated_reads, compactions[], oddities[]

A bill is `{"input", "cache_read", "cache_write", "output"}`: disjoint, so they add up.

Source: chapter 04.
"""

import json
from dataclasses import asdict
from typing import Any

from course_lib.messages import Usage
from course_lib.session_logs.labels import one_line
from course_lib.session_logs.records import Place
from course_lib.session_logs.xray_report import CompactionReport, SessionReport
from course_lib.session_logs.xray_threads import Row, ThreadReport
from course_lib.widgets.prices import Prices
from course_lib.window import PARTS

__all__ = ["SCHEMA", "bill_record", "prices_record", "report_as_json", "report_record"]

SCHEMA = "course-xray/1"


def report_as_json(report: SessionReport) -> str:
    """Return the report as JSON text."""
    return json.dumps(report_record(report), ensure_ascii=False, indent=1) + "\n"


def report_record(report: SessionReport) -> dict[str, Any]:
    """Return the report as plain values, ready for JSON."""
    names = [tool.name for tool in report.tools]
    return {
        "schema": SCHEMA,
        "file": report.file,
        "format": report.format,
        "counter": report.counter,
        "sessions": list(report.sessions),
        "session_count": report.session_count,
        "totals": _totals(report),
        "prices": prices_record(report.prices),
        "threads": [_thread(thread, names) for thread in report.threads],
        "threads_left_out": report.threads_left_out,
        "models": [{"name": m.name, "calls": m.calls, "billed": bill_record(m.billed)} for m in report.models],
        "tools": [asdict(tool) for tool in report.tools],
        "biggest_results": [{**asdict(one), "place": _place(one.place)} for one in report.biggest_results],
        "repeated_reads": _repeated(report),
        "compactions": [_compaction(one) for one in report.compactions],
        "oddities": [
            {"kind": o.kind, "times": o.times, "places": list(map(_place, o.places)), "detail": o.detail}
            for o in report.oddities
        ],
    }


def _totals(report: SessionReport) -> dict[str, Any]:
    return {
        "calls": report.calls,
        "rounds": report.rounds,
        "prompts": report.prompts,
        "billed": bill_record(report.billed) if report.has_bill else None,
        "visible_by_part": report.added_tokens,
        "cost": report.cost if report.has_bill else None,
        "cost_without_cache": report.cost_without_cache if report.has_bill else None,
        "cache_share": report.cache_share if report.has_bill else None,
        "compactions": report.compaction_count,
        "compacted_tokens": report.compaction_saved,
        "broken_pairs": report.broken_pairs,
        "hidden_messages": report.hidden_messages,
    }


def _thread(thread: ThreadReport, tools: list[str]) -> dict[str, Any]:
    return {
        "name": thread.name,
        "calls": thread.calls,
        "calls_without_bill": thread.calls_without_bill,
        "rounds": thread.rounds,
        "prompts": thread.prompts,
        "messages": thread.messages,
        "injected_tokens": thread.injected_tokens,
        "visible_by_part": dict(zip(PARTS, thread.added_tokens, strict=True)),
        "billed": bill_record(thread.billed),
        "peak_context_tokens": thread.peak_context_tokens,
        "first_call": {
            "billed": thread.first_billed_tokens,
            "visible": thread.first_visible_tokens,
            "unlogged": thread.unlogged_tokens,
            "starts_mid_session": thread.starts_mid_session,
        },
        "billed_per_visible_token": thread.calibration,
        "unreliable_outputs": {
            "calls": thread.unreliable_outputs,
            "billed_tokens": thread.unreliable_output_tokens,
            "counted_tokens": thread.counted_output_tokens,
        },
        "cold_cache": {"calls": thread.cold_calls, "tokens": thread.cold_tokens},
        "unrecorded_drops": list(map(_place, thread.unrecorded_drops)),
        "calls_per_row": thread.calls_per_row,
        "rows": [_row(row, tools) for row in thread.rows],
    }


def _row(row: Row, tools: list[str]) -> dict[str, Any]:
    return {
        "first": row.first,
        "last": row.last,
        "line": row.line,
        "context": row.context_tokens,
        "billed": bill_record(row.usage) if row.usage else None,
        "billed_so_far": bill_record(row.billed_so_far),
        "unlogged": row.unlogged_tokens,
        "parts": dict(zip(PARTS, row.parts, strict=True)),
        "by_tool": {name: tokens for name, tokens in zip(tools, row.by_tool, strict=False) if tokens},
    }


def _repeated(report: SessionReport) -> dict[str, Any]:
    again = report.repeated_reads
    return {
        "times": again.times,
        "tokens": again.tokens,
        "after_compaction": again.after_compaction,
        "changed": again.changed,
        "files": [{**asdict(file), "place": _place(file.place)} for file in again.files],
    }


def _compaction(one: CompactionReport) -> dict[str, Any]:
    return {
        "place": _place(one.place),
        "thread": one.thread,
        "after_call": one.call,
        "kind": one.kind,
        "trigger": one.trigger,
        "stated": {"before": one.stated_before, "after": one.stated_after, "saved": one.stated_saved},
        "billed": {"before": one.billed_before, "after": one.billed_after},
        "visible": {"before": one.visible_before, "after": one.visible_after},
        "unlogged_after": one.unlogged_after,
        "cleared_results": one.cleared_results,
        "missing_results": one.missing_results,
        "kept_messages": one.kept_messages,
        "saved_tokens": one.saved_tokens,
    }


def bill_record(usage: Usage) -> dict[str, int]:
    """Return a bill as plain values."""
    return {
        "input": usage.input_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "output": usage.output_tokens,
    }


def prices_record(prices: Prices) -> dict[str, Any]:
    """Return prices as plain values."""
    names = ("input_per_million", "cached_input_per_million", "cache_write_per_million", "output_per_million")
    return {**dict(zip(names, prices.in_order, strict=True)), "currency": prices.currency}


def _place(place: Place) -> dict[str, Any]:
    return {"file": one_line(place.file), "line": place.line}
