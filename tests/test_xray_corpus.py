"""The X-ray of real sessions' skeletons: its bills against sums made here from the raw records, in another way."""

import json
import re
from pathlib import Path

import pytest

from course_lib.session_logs.xray import xray
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.window import PARTS

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")


def files(pattern):
    """Return the corpus files of this pattern, for parametrize."""
    return sorted(CORPUS.glob(pattern)) if CORPUS.is_dir() else []


def records(path):
    """Yield the JSON objects of a file, also two of one line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        for part in re.sub(r"\}\{(?=\"[a-zA-Z]+\":)", "}\n{", line).split("\n"):
            yield json.loads(part)


def quick(path):
    """Return the X-ray, with a counter that costs nothing: bills do not depend on it."""
    return xray(path, counter=MessageCounter(chars_counter(4)))


def sums(bills):
    """Return input, cache reads, cache writes and output, each added up."""
    return tuple(sum(column) for column in zip(*bills, strict=True))


def billed(report):
    """Return the same four sums as the report has them."""
    usage = report.billed
    return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens


@pytest.mark.parametrize("path", files("claude-code_*"), ids=lambda path: path.name)
def test_claude_code_bills_once_a_message_with_its_last_word(path):
    """The last usage of each message id, and nothing else, is what the report adds up."""
    last = {}
    for record in records(path):
        message = record.get("message")
        if record.get("type") == "assistant" and "usage" in message:
            usage = message["usage"]
            names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
            last[message["id"]] = tuple(usage.get(name) or 0 for name in names)
    report = quick(path)
    assert billed(report) == sums(last.values())
    assert report.calls - sum(t.calls_without_bill for t in report.threads) == sum(any(bill) for bill in last.values())


@pytest.mark.parametrize("path", files("codex_*"), ids=lambda path: path.name)
def test_codex_bills_add_up_to_the_running_total(path):
    """The program keeps its own running total; the report, which adds up single calls, arrives at its last value."""
    totals = [
        record["payload"]["info"]["total_token_usage"]
        for record in records(path)
        if record["payload"].get("type") == "token_count" and record["payload"].get("info")
    ]
    last = totals[-1]
    usage = quick(path).billed
    assert (usage.context_tokens, usage.cache_read_tokens, usage.output_tokens) == (
        last["input_tokens"],
        last["cached_input_tokens"],
        last["output_tokens"],
    )


@pytest.mark.parametrize("path", files("gemini-cli_*"), ids=lambda path: path.name)
def test_gemini_bills_the_last_copy_of_each_message(path):
    """Of a message that is written twice the last copy counts; the input includes what the cache gave."""
    text = path.read_text(encoding="utf-8")
    messages = json.loads(text)["messages"] if path.suffix == ".json" else map(json.loads, text.splitlines())
    last = {one["id"]: one["tokens"] for one in messages if one.get("type") == "gemini" and one.get("tokens")}
    usage = quick(path).billed
    assert usage.context_tokens == sum(one["input"] + one.get("tool", 0) for one in last.values())
    assert usage.cache_read_tokens == sum(one["cached"] for one in last.values())
    assert usage.output_tokens == sum(one["output"] + one["thoughts"] for one in last.values())


@pytest.mark.parametrize("path", files("pi_*"), ids=lambda path: path.name)
def test_pi_bills_every_answer_once(path):
    """Every assistant message has its own bill."""
    usages = [r["message"]["usage"] for r in records(path) if r.get("message", {}).get("role") == "assistant"]
    names = ("input", "cacheRead", "cacheWrite", "output")
    assert billed(quick(path)) == sums([tuple(usage[name] for name in names) for usage in usages])


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("claude-code_3-compactions.jsonl", [(154_445, 66_549), (155_023, 60_458), (154_666, 59_943)]),
        ("claude-code_orphans-and-compaction.jsonl", [(167_895, 51_665)]),
        ("codex_compacted-and-aborted.jsonl", [(226_546, 21_416)]),
        ("pi_compaction-with-kept-index.jsonl", [(174_738, 25_739), (184_915, 28_617)]),
    ],
)
def test_compactions_are_measured_before_and_after(name, figures):
    """Before a compaction stands the last billed context, after it the next one."""
    report = quick(CORPUS / name)
    assert [(one.billed_before, one.billed_after) for one in report.compactions] == figures
    for one in report.compactions:
        assert one.visible_after < one.visible_before
        if one.stated_before is not None:  # what the program itself had counted
            assert 0 <= one.stated_before - one.billed_before <= 3_100


def test_a_session_that_starts_in_the_middle_is_said_to():
    """Its first bill holds history that is not in the file; after the full compaction the rest is small again."""
    report = quick(CORPUS / "claude-code_starts-mid-session.jsonl")
    main = report.threads[0]
    assert main.starts_mid_session
    assert main.unlogged_tokens > 140_000
    assert main.rows[-1].unlogged_tokens < 40_000


def test_pi_logs_its_context_nearly_whole():
    """Where the log says what was kept, what is visible after a compaction comes close to the next bill."""
    for one in xray(CORPUS / "pi_compaction-with-kept-index.jsonl").compactions:
        assert one.visible_after == pytest.approx(one.billed_after, rel=0.35)


@pytest.mark.parametrize("path", files("*.*"), ids=lambda path: path.name)
def test_every_file_gives_a_report(path):
    """No file of the corpus is too strange; what is never known is said as None, and nothing is below 0."""
    if path.suffix == ".md":
        return
    report = xray(path, counter=MessageCounter(chars_counter(4), message_overhead_tokens=0))
    assert report.format
    assert report.session_count >= 1
    assert sum(report.added_tokens.values()) > 0
    for thread in report.threads:
        assert min(thread.added_tokens) >= 0
        for row in thread.rows:
            assert min(row.parts) >= 0
            assert sum(row.by_tool) == row.parts[PARTS.index("tool_results")]
