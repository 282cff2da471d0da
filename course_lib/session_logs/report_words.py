"""What all reports of an X-ray say in the same words: its figures in sentences, and what the figures mean (chapter 04).

Source: chapter 04.
"""

from collections.abc import Iterator, Sequence

from course_lib.session_logs.labels import one_line
from course_lib.session_logs.xray_report import CompactionReport, SessionReport
from course_lib.session_logs.xray_rows import merged_rows
from course_lib.session_logs.xray_threads import Row, ThreadReport
from course_lib.widgets.palette import PART_LABELS
from course_lib.window import PARTS

__all__ = [
    "NO_BILL",
    "PRICES_NOTE",
    "UNLOGGED_LABEL",
    "compaction_words",
    "described",
    "few_rows",
    "heading",
    "number_of",
    "shares",
    "summary_rows",
    "thread_notes",
]

UNLOGGED_LABEL = "not in the log"
NO_BILL = "the log has no bill"
PRICES_NOTE = "example prices (November 2026), not those of any model: set your own with --prices"


def number_of(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun: "1 call", "2 calls"."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def heading(report: SessionReport) -> str:
    """Return what the file is and how much is in it, in one line."""
    threads = len(report.threads) + max(0, report.threads_left_out - 1)  # one of them stands for all that were left out
    parts = [
        report.format or "unknown format",
        number_of(report.session_count, "session"),
        number_of(threads, "thread"),
        number_of(report.calls, "call"),
        number_of(report.rounds, "round"),
        number_of(report.prompts, "prompt"),
    ]
    return " · ".join(parts)


def summary_rows(report: SessionReport) -> Iterator[tuple[str, str]]:
    """Yield what matters most, as a name and a sentence each."""
    billed, money = report.billed, report.prices.said
    if report.has_bill:
        yield "billed", f"{billed.context_tokens:,} tokens in, {billed.output_tokens:,} out: {money(report.cost)}"
        without = money(report.cost_without_cache)
        yield "from a cache", f"{report.cache_share:.0%} of the input; with no cache it would cost {without}"
    else:
        yield "billed", f"{NO_BILL}: all figures are counted here"
    visible = sum(report.added_tokens.values())
    yield "visible", f"{visible:,} tokens of messages in all, each counted once with {report.counter}"
    fullest = max(report.threads, key=lambda thread: thread.peak_context_tokens, default=None)
    if fullest and fullest.calls:
        yield "fullest call", f"{fullest.peak_context_tokens:,} tokens, in {one_line(fullest.name)}"
    main = report.threads[0] if report.threads else None
    if main and main.unlogged_tokens is not None:
        what = "earlier history, system prompt, tools" if main.starts_mid_session else "system prompt, tools"
        yield UNLOGGED_LABEL, f"{main.unlogged_tokens:,} tokens of the first bill ({what})"
    if report.compaction_count:
        saved = f"{report.compaction_saved:,} tokens taken out"
        yield "compactions", f"{report.compaction_count:,}, {saved}"
    else:
        yield "compactions", "none"
    again = report.repeated_reads
    yield "read again", _repeated(again.times, again.tokens, again.after_compaction)
    oddities = sum(oddity.times for oddity in report.oddities)
    yield "broken pairs", f"{report.broken_pairs:,}; {number_of(oddities, 'oddity', 'oddities')} in all"


def _repeated(times: int, tokens: int, after_compaction: int) -> str:
    if not times:
        return "no file with the same arguments and the same result"
    after = f", {after_compaction:,} of them after a compaction" if after_compaction else ""
    return f"{number_of(times, 'time')} a file that had not changed: {tokens:,} tokens{after}"


def shares(tokens_by_name: dict[str, int]) -> list[tuple[str, int, float]]:
    """Return name, tokens and share of the whole, the largest first; names without tokens are left out."""
    whole = sum(tokens_by_name.values())
    ordered = sorted(tokens_by_name.items(), key=lambda item: (-item[1], item[0]))
    return [(name, tokens, tokens / whole) for name, tokens in ordered if tokens > 0]


def few_rows(thread: ThreadReport, most: int) -> list[Row]:
    """Return at most so many rows of a thread: neighbours are merged, the fullest call stands for them."""
    last, each = thread.rows[-1].last if thread.rows else 1, thread.calls_per_row
    return merged_rows(thread.rows, each * max(1, -(-last // (most * each))))  # whole rows only, so that none is split


def compaction_words(compaction: CompactionReport) -> str:
    """Return a compaction in one line: before and after, as billed, as the log states it, as counted here."""
    kinds = {"full": "the history gave way to a summary", "micro": "results were cleared", "collapse": "a span folded"}
    said = [kinds[compaction.kind] + (f" ({one_line(compaction.trigger)})" if compaction.trigger else "")]
    pairs = (
        ("billed", compaction.billed_before, compaction.billed_after),
        ("stated", compaction.stated_before, compaction.stated_after),
        ("visible", compaction.visible_before, compaction.visible_after),
    )
    said += [f"{name} {_figure(a)} → {_figure(b)}" for name, a, b in pairs if a is not None or b is not None]
    if compaction.kind == "micro":
        missing = f", {compaction.missing_results:,} not in this file" if compaction.missing_results else ""
        said.append(f"{number_of(compaction.cleared_results, 'result')}{missing}")
    if compaction.kept_messages:
        said.append(f"{number_of(compaction.kept_messages, 'message')} kept")
    return " · ".join([*said, f"{compaction.saved_tokens:,} taken out"])


def _figure(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def thread_notes(thread: ThreadReport) -> Iterator[str]:
    """Yield what a reader should know about a thread's figures, a sentence each."""
    if thread.calibration is not None:
        yield f"One visible token was billed as {thread.calibration:.2f}, by the growth from call to call."
    if thread.starts_mid_session:
        yield "The file begins in the middle of the session: what came before counts as not in the log."
    if thread.unreliable_outputs:
        yield (
            f"{number_of(thread.unreliable_outputs, 'call')} logged before the answer had ended: "
            f"{thread.unreliable_output_tokens:,} output tokens on the bill, about "
            f"{thread.counted_output_tokens:,} in the answers."
        )
    if thread.cold_calls:
        yield (
            f"{number_of(thread.cold_calls, 'call')} found the cache gone: "
            f"{thread.cold_tokens:,} tokens were paid for anew."
        )
    if thread.unrecorded_drops:
        yield (
            f"The context fell by more than a third {number_of(len(thread.unrecorded_drops), 'time')} without a "
            f"record of a compaction, first at line {thread.unrecorded_drops[0].line:,}."
        )
    if thread.calls_without_bill and thread.calls_without_bill < thread.calls:
        yield f"{number_of(thread.calls_without_bill, 'call')} without figures."


def described(thread: ThreadReport, compactions: Sequence[CompactionReport]) -> str:
    """Return the picture of a thread's context over time in words."""
    if not thread.rows:
        return f"{thread.name}: no call of a model."
    fullest = max(thread.rows, key=lambda row: row.context_tokens)
    named = [(PART_LABELS[part], tokens) for part, tokens in zip(PARTS, fullest.parts, strict=True) if tokens]
    named += [(UNLOGGED_LABEL, fullest.unlogged_tokens)] if fullest.unlogged_tokens else []
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in sorted(named, key=lambda one: -one[1]))
    first, last = thread.rows[0], thread.rows[-1]
    kind = "billed" if fullest.is_billed else "counted"
    return (
        f"Context of {thread.name} over {number_of(thread.calls, 'call')}: "
        f"{first.context_tokens:,} tokens at the first, "
        f"{fullest.context_tokens:,} ({kind}) at the fullest, {last.context_tokens:,} at the last. "
        f"At the fullest: {parts or 'nothing visible'}. "
        f"{number_of(sum(one.thread == thread.name for one in compactions), 'compaction')}."
    )
