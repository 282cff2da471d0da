"""The readers on skeletons of real logs, where those are at hand: billed figures against a count of the raw JSON."""

import json
from collections import Counter
from pathlib import Path

import pytest

from course_lib.messages import ImageBlock, tool_results, tool_uses
from course_lib.session_logs.reading import detect_format, find_sessions, read_session
from course_lib.session_logs.records import CallBilled, HistoryCompacted, MessageLogged, Oddity, SessionStarted
from course_lib.session_logs.replay import conversation
from course_lib.tool_pairs import find_pair_faults, repair

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real logs is not at hand")

FORMATS = {
    "claude-code": "Claude Code",
    "codex": "Codex CLI",
    "gemini-cli": "Gemini CLI",
    "pi": "Pi",
    "swe-agent": "SWE-agent trajectory",
    "openai_few-shot-retail.jsonl": "few-shot dialogues",
    "openai_llm-log.json": "OpenAI Chat Completions",
}
FILES = sorted(path.name for path in CORPUS.glob("*") if path.suffix != ".md") if CORPUS.is_dir() else []
# What each file holds beside plain turns, counted in it by hand.
ODDITIES = {
    "claude-code_glued-line.jsonl": {"glued line": 1, "duplicate record": 1},
    "claude-code_orphans-and-compaction.jsonl": {"missing result": 2},
    "claude-code_starts-mid-session.jsonl": {"mid-session start": 1, "unreadable part": 1},
    "codex_compacted-and-aborted.jsonl": {"unreadable part": 2, "missing result": 1},
    "codex_orphan-calls.jsonl": {"unreadable part": 1, "missing result": 2},
    "codex_websearch.jsonl": {"unreadable part": 1},
    "openai_llm-log.json": {"missing result": 1},
    "pi_compaction-with-kept-index.jsonl": {"mismatched id": 448, "missing result": 6},
}
REPLAYED = "swe-agent_function-calling.traj"  # its replay uses an id on up to four turns
_cache = {}


def events_of(name):
    """The events of a file, read once."""
    if name not in _cache:
        _cache[name] = list(read_session(CORPUS / name))
    return _cache[name]


def of(kind, name):
    """The events of one kind in a file."""
    return [event for event in events_of(name) if isinstance(event, kind)]


def raw_values(name):
    """Every JSON value of a file, glued ones apart: nothing here is the reader's code."""
    text = (CORPUS / name).read_text(encoding="utf-8")
    decoder, at, values = json.JSONDecoder(), 0, []
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values


def counted_bill(name):
    """Calls, and tokens in (cached or not), read from cache, and out: straight from the raw JSON."""
    calls = {}
    total = None
    for number, value in enumerate(raw_values(name)):
        if name.startswith("claude") and value["type"] == "assistant":
            u = value["message"]["usage"]
            read = u["cache_read_input_tokens"]
            everything = u["input_tokens"] + u["cache_creation_input_tokens"] + read
            calls[value["message"]["id"]] = (everything, read, u["output_tokens"])
        elif name.startswith("codex") and value["payload"].get("type") == "token_count" and value["payload"]["info"]:
            info = value["payload"]["info"]
            if info["total_token_usage"] != total:
                u = info["last_token_usage"]
                calls[number] = (u["input_tokens"], u["cached_input_tokens"], u["output_tokens"])
            total = info["total_token_usage"]
        elif name.startswith("gemini"):
            for message in value.get("messages", [value]):
                if message.get("type") == "gemini" and "tokens" in message:
                    t = message["tokens"]
                    calls[message["id"]] = (t["input"] + t["tool"], t["cached"], t["output"] + t["thoughts"])
        elif name.startswith("pi") and value["type"] == "message" and "usage" in value["message"]:
            u = value["message"]["usage"]
            calls[number] = (u["input"] + u["cacheRead"] + u["cacheWrite"], u["cacheRead"], u["output"])
        elif name == "openai_llm-log.json":
            u = value["response"]["usage"]
            calls[0] = (u["prompt_tokens"], u["prompt_tokens_details"]["cached_tokens"], u["completion_tokens"])
    billed = [call for call in calls.values() if any(call)]
    return len(billed), *(sum(call[part] for call in billed) for part in range(3))


def test_every_file_of_the_corpus_is_found():
    """Sixteen files, and each is a session."""
    assert [path.name for path in find_sessions(CORPUS)] == FILES


@pytest.mark.parametrize("name", FILES)
def test_the_format_is_known(name):
    """Each file is recognised as what its name says it is."""
    assert detect_format(CORPUS / name) == next(f for start, f in FORMATS.items() if name.startswith(start))


@pytest.mark.parametrize("name", FILES)
def test_the_bill_is_that_of_the_raw_file(name):
    """Calls and tokens agree with a count that shares no code with the readers."""
    bills = [event.usage for event in of(CallBilled, name)]
    read = (
        len(bills),
        sum(usage.context_tokens for usage in bills),
        sum(usage.cache_read_tokens for usage in bills),
        sum(usage.output_tokens for usage in bills),
    )
    assert read == counted_bill(name)


@pytest.mark.parametrize("name", FILES)
def test_the_oddities_are_those_of_the_file(name):
    """Each is found as often as it is there, and none besides."""
    assert Counter(event.kind for event in of(Oddity, name)) == ODDITIES.get(name, {})


@pytest.mark.parametrize("name", FILES)
def test_every_event_has_a_place_in_the_file(name):
    """A line of it, or the number of an item of a document."""
    values = raw_values(name)
    last = (CORPUS / name).read_bytes().count(b"\n") + 1
    if len(values) == 1:
        last = max(len(values[0].get(key, ())) for key in ("messages", "history")) + 1
    assert all(event.place.file == name and 1 <= event.place.line <= last for event in events_of(name))


@pytest.mark.parametrize("name", FILES)
def test_no_block_is_in_a_thread_twice(name):
    """Each message, call and result that was logged is logged once, and no call has two results."""
    most = 4 if name == REPLAYED else 1
    for thread in {event.thread for event in of(MessageLogged, name)}:
        messages = [event.message for event in of(MessageLogged, name) if event.thread == thread]
        calls = Counter(call.id for message in messages for call in tool_uses(message))
        results = Counter(result.tool_use_id for message in messages for result in tool_results(message))
        assert max(calls.values(), default=0) <= most
        assert results == calls - (calls - results)
    ids = [event.call_id for event in of(CallBilled, name) if event.call_id]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", FILES)
def test_every_conversation_can_be_made_a_valid_request(name):
    """Only what the log itself broke is broken: calls without a result and nothing else."""
    for thread in {event.thread for event in of(MessageLogged, name)}:
        messages = conversation(events_of(name), thread)
        own = {"reused_id"} if name == REPLAYED else {"missing_result", "pending_call"}
        assert {fault.kind for fault in find_pair_faults(messages)} <= own
        assert find_pair_faults(repair(messages)) == ()


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("claude")])
def test_calls_and_results_are_all_read(name):
    """Calls and results in the events are as many as in the file."""
    blocks = Counter()
    seen = set()
    for value in raw_values(name):
        content = value.get("message", {}).get("content")
        if value["type"] in ("user", "assistant") and isinstance(content, list) and value["uuid"] not in seen:
            seen.add(value["uuid"])
            blocks.update(block["type"] for block in content)
    messages = [event.message for event in of(MessageLogged, name)]
    assert sum(len(tool_uses(message)) for message in messages) == blocks["tool_use"]
    assert sum(len(tool_results(message)) for message in messages) == blocks["tool_result"]


def around_compactions(name):
    """The contexts of the calls before and after each full compaction, and what the log says it was before."""
    found, before, open_compaction = [], 0, None
    for event in events_of(name):
        if isinstance(event, HistoryCompacted) and event.kind == "full":
            open_compaction = (event.tokens_before, before)
        elif isinstance(event, CallBilled) and event.thread == "":
            if open_compaction:
                found.append((*open_compaction, event.usage.context_tokens))
            before, open_compaction = event.usage.context_tokens, None
    return found


def test_claude_code_compacts_three_times():
    """Before at 155 to 157 thousand tokens, as the log says and the bill confirms; after at 60 to 67 thousand."""
    found = around_compactions("claude-code_3-compactions.jsonl")
    assert len(found) == 3
    for stated, before, after in found:
        assert 155_000 <= stated <= 157_000
        assert 84 <= stated - before <= 3_090
        assert 60_000 <= round(after, -3) <= 67_000


def test_claude_code_starts_mid_session():
    """The first call has 146 thousand tokens already; a micro-compaction names ids that are absent; one compaction."""
    name = "claude-code_starts-mid-session.jsonl"
    assert 146_000 <= of(CallBilled, name)[0].usage.context_tokens < 147_000
    micro = next(event for event in of(HistoryCompacted, name) if event.kind == "micro")
    assert (micro.tokens_before, micro.tokens_saved, len(micro.cleared_tool_use_ids)) == (60_888, 21_091, 42)
    ((stated, _, after),) = around_compactions(name)
    assert (stated, round(after, -3)) == (155_068, 33_000)


def test_claude_code_side_chains_are_threads():
    """Two sub-agents were written into the main file, in the middle of a batch of its calls; no batch is torn by it."""
    name = "claude-code_inline-sidechain.jsonl"
    threads = Counter(event.thread for event in of(MessageLogged, name))
    assert set(threads) == {"", "sidechain 1", "sidechain 2"}
    results = [tool_results(event.message) for event in of(MessageLogged, name) if event.thread == ""]
    assert [len(batch) for batch in results if len(batch) > 1] == [3, 3]


def test_claude_code_an_image_is_one():
    """The picture inside a result is an image and no text."""
    messages = [event.message for event in of(MessageLogged, "claude-code_image-in-result.jsonl")]
    inside = [block for message in messages for result in tool_results(message) for block in result.content]
    assert sum(isinstance(block, ImageBlock) for block in inside) == 1


def test_codex_compacts_once():
    """From 226 thousand tokens to 21 thousand; the summary is not in the log, the kept messages are."""
    name = "codex_compacted-and-aborted.jsonl"
    ((stated, before, after),) = around_compactions(name)
    assert stated is None
    assert 204_000 <= before <= 238_000
    assert 20_000 <= after <= 27_000
    (compaction,) = of(HistoryCompacted, name)
    assert len(compaction.replacement) == 13


def test_pi_compacts_twice_and_keeps_the_rest():
    """What the log says was there before fits the bill; the kept messages begin with the person's, as they do there."""
    name = "pi_compaction-with-kept-index.jsonl"
    assert around_compactions(name) == [(175_004, 174_738, 25_739), (185_014, 184_915, 28_617)]
    logged, first_kept = [], []
    for event in events_of(name):
        if isinstance(event, MessageLogged):
            logged.append(event)
        elif isinstance(event, HistoryCompacted):
            first_kept.append(logged[-event.kept_messages].place.line)
    assert first_kept == [293 + 1, 551 + 1]  # the log counts lines from 0


def test_dialogues_are_apart():
    """Each of the 69 examples is a session of its own."""
    started = of(SessionStarted, "openai_few-shot-retail.jsonl")
    assert len({event.thread for event in started}) == len(started) == 69
