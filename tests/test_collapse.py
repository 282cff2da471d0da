"""Tier 4: the history is provably never changed, and the view is the same after the log was read back."""

import copy
import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from compaction_histories import check_sendable
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import conversations, histories

from course_lib.agent import Agent, Tool
from course_lib.client import ScriptedClient
from course_lib.collapse import CollapseStore, Span
from course_lib.compaction import apply
from course_lib.errors import CompactionError, TranscriptError
from course_lib.events import record_run
from course_lib.messages import (
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    user,
)
from course_lib.microcompact import ClearOldResults
from course_lib.snip import Snip
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import find_pair_faults, pending_calls
from course_lib.transcript import Transcript

COUNTER = MessageCounter(chars_counter(4))


def history(batches=6):
    """A task, batches, and another request."""
    messages = [user("the task")]
    for number in range(batches):
        call = ToolUseBlock(f"c{number}", "grep", {"pattern": f"{number}"})
        messages += [assistant(f"step {number}", call), user(ToolResultBlock(call.id, f"result {number} " * 50))]
    return (*messages, user("go on"))


def shown(store, messages):
    """Who says what in the view, in short."""
    view = store.project(messages)
    return [m.kind[0] if m.kind != "chat" else str(next(i for i, o in enumerate(messages) if o is m)) for m in view]


def test_a_span_is_shown_as_its_summary():
    """In its place stands one message with the count and the words; all others are the same objects."""
    store, messages = CollapseStore(), history()
    store.collapse(1, 5, "Two searches.", messages)
    assert shown(store, messages) == ["0", "s", *map(str, range(5, 14))]
    assert message_text(store.project(messages)[1]) == "[Summary of 4 messages]\nTwo searches."


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (1, 5, (1, 5)),
        (2, 5, (3, 5)),
        (1, 4, (1, 3)),
        (2, 6, (3, 5)),
        (0, 14, (0, 14)),
        (0, 1, (0, 1)),
        (13, 14, (13, 14)),
    ],
)
def test_edges_move_inwards(start, end, span):
    """A span never parts a call from its result: it becomes smaller, and takes in nothing that nobody named."""
    store = CollapseStore()
    store.collapse(start, end, "Words.", history())
    assert (store.log[0].start, store.log[0].end) == span


@pytest.mark.parametrize(
    ("start", "end", "summary"),
    [
        (5, 5, "x"),
        (6, 5, "x"),
        (-1, 5, "x"),
        (0, 15, "x"),
        (14, 15, "x"),
        (1, 5, ""),
        (1, 5, " \n"),
        (2, 3, "x"),
        (1, 2, "x"),
    ],
)
def test_what_is_no_span_is_refused(start, end, summary):
    """Empty, backwards, outside, without words, or inside of one batch: an error, and nothing is recorded."""
    told = []
    store = CollapseStore(on_record=told.append)
    with pytest.raises(CompactionError):
        store.collapse(start, end, summary, history())
    assert (store.log, told) == ((), [])


def test_a_running_batch_is_never_taken_in():
    """The calls that nobody has answered stay in the view, so that their results find them."""
    messages = (*history(2), assistant(ToolUseBlock("open", "grep", {})))
    store = CollapseStore()
    store.collapse(1, len(messages), "Everything.", messages)
    assert [call.id for call in pending_calls(store.project(messages))] == ["open"]


# --- nested and overlapping ------------------------------------------------------------------------------------------

SPANS = [
    ((1, 3), (3, 5), True),  # side by side
    ((3, 5), (1, 3), True),  # the same, the later one in front
    ((3, 5), (1, 9), True),  # around
    ((3, 5), (3, 5), True),  # the same once more
    ((3, 5), (3, 9), True),  # around, with one edge in common
    ((1, 9), (3, 5), False),  # inside of what is shown
    ((1, 5), (3, 9), False),  # overlapping behind
    ((3, 9), (1, 5), False),  # overlapping in front
]


@pytest.mark.parametrize(("first", "second", "is_taken"), SPANS)
def test_two_spans(first, second, is_taken):
    """Beside and around is taken, inside and across is refused and changes nothing."""
    store, messages = CollapseStore(), history()
    store.collapse(*first, "First.", messages)
    before = store.project(messages)
    if is_taken:
        store.collapse(*second, "Second.", messages)
        assert len(store.log) == 2
        assert any("Second." in message_text(message) for message in store.project(messages))
    else:
        with pytest.raises(CompactionError, match="collapsed already"):
            store.collapse(*second, "Second.", messages)
        assert store.project(messages) == before


def test_a_larger_span_takes_in_several():
    """Three spans, two of them inside a fourth: the view shows the fourth and the one beside it, the log all four."""
    store, messages = CollapseStore(), history()
    for start in (1, 5, 9):
        store.collapse(start, start + 2, f"From {start}.", messages)
    store.collapse(1, 7, "From the start.", messages)
    assert [span.summary for span in store.shown] == ["From the start.", "From 9."]
    assert shown(store, messages) == ["0", "s", "7", "8", "s", "11", "12", "13"]
    assert len(store.log) == 4
    assert store.next_start() == 11


# --- the history -----------------------------------------------------------------------------------------------------


def test_without_a_span_the_view_is_the_history():
    """Nothing was collapsed, or only what this history does not have: the very same tuple."""
    messages = history()
    assert CollapseStore().project(messages) is messages
    store = CollapseStore()
    store.collapse(1, 5, "Words.", messages)
    assert store.project(messages[:3]) == messages[:3]


def test_nothing_is_hidden_that_was_not_summarised():
    """The history was snipped, or a result cleared: other messages stand in the span's place, and all are shown."""
    messages = history()
    for edit in (Snip(counter=COUNTER, tokens_to_free=100), ClearOldResults(keep_results=1, counter=COUNTER)):
        store = CollapseStore()
        store.collapse(1, 7, "Words.", messages)
        rewritten = edit(messages)
        assert rewritten != messages
        assert store.project(rewritten) == rewritten


def test_a_lost_usage_changes_nothing():
    """What was billed is no part of what was said: the span is still shown."""
    messages = tuple(replace(m, usage=Usage(9)) if m.role == "assistant" else m for m in history())
    store = CollapseStore()
    store.collapse(1, 7, "Words.", messages)
    assert shown(store, history()) == shown(store, messages)


def check_view(store, messages):
    """The view is sound: what is not a summary is the history's own, in order, and no pair is broken."""
    view = store.project(messages)
    own = [message for message in view if message.kind != "summary" or any(message is m for m in messages)]
    places = iter(messages)
    assert all(any(message is other for other in places) for message in own)
    assert [fault for fault in find_pair_faults(view) if fault.kind != "pending_call"] == []
    assert pending_calls(view) == pending_calls(messages)
    assert len(messages) - len(own) == sum(span.end - span.start for span in store.shown)
    check_sendable(view)
    return view


spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6)


@given(histories(), spans)
def test_the_history_is_never_changed(messages, wanted):
    """Any spans of any history: the very same objects, deep down as they were, and a view that both providers take."""
    snapshot, identities = copy.deepcopy(messages), list(map(id, messages))
    told, store = [], None
    store = CollapseStore(on_record=told.append)
    for number, (start, end) in enumerate(wanted):
        before = store.project(messages)
        try:
            store.collapse(start, end, f"Summary {number}.", messages)
        except CompactionError:
            assert store.project(messages) == before
        view = check_view(store, messages)
    assert messages == snapshot
    assert list(map(id, messages)) == identities
    assert told == [asdict(span) for span in store.log]
    again = CollapseStore(json.loads(json.dumps(told)))
    assert again.log == store.log
    assert not wanted or again.project(messages) == view


@given(conversations(max_turns=4), spans)
def test_the_view_grows_with_the_history(messages, wanted):
    """What was collapsed early stays collapsed: the view of a longer history begins as that of the shorter one did."""
    store, half = CollapseStore(), messages[: len(messages) // 2]
    for start, end in wanted:
        try:
            store.collapse(start, end, "Words.", half)
        except CompactionError:
            continue
    early = store.project(half)
    assert store.project(messages)[: len(early)] == early


@settings(max_examples=25)
@given(conversations(max_turns=4), spans)
def test_the_view_survives_a_real_transcript(messages, wanted):
    """Messages and spans through a file and back: other objects, the same view."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "s1"
        with Transcript(folder, now=lambda: "t", sync="system") as transcript:
            transcript.save(messages)
            store = CollapseStore(on_record=lambda record: transcript.note("collapse", record))
            for start, end in wanted:
                try:
                    store.collapse(start, end, "Words 数据.", messages)
                except CompactionError:
                    continue
            view = store.project(messages)
        with Transcript(folder, now=lambda: "t", sync="system") as transcript:
            again = CollapseStore(transcript.notes.get("collapse", ()))
            assert again.project(transcript.view) == view
            assert transcript.view == messages


# --- the log ---------------------------------------------------------------------------------------------------------

GOOD = {"start": 1, "end": 5, "summary": "Words.", "fingerprint": "0123456789abcdef"}
BAD = [
    {}, [], None, "start", 7, {**GOOD, "start": "1"}, {**GOOD, "start": 1.0}, {**GOOD, "start": True},
    {**GOOD, "start": -1},
    {**GOOD, "end": 1}, {**GOOD, "end": None}, {**GOOD, "summary": ""}, {**GOOD, "summary": None}, {**GOOD, "more": 1},
    {**GOOD, "fingerprint": ""}, {key: value for key, value in GOOD.items() if key != "fingerprint"},
]  # fmt: skip


@pytest.mark.parametrize("record", BAD)
def test_a_record_that_makes_no_sense_is_an_error(record):
    """Whatever stands in the file: a clear error with the way out, and no crash."""
    with pytest.raises(CompactionError, match="makes no sense"):
        CollapseStore([GOOD, record])


def test_a_log_that_overlaps_is_an_error():
    """Two records that no store could have written together."""
    with pytest.raises(CompactionError, match="overlaps 1 to 5"):
        CollapseStore([GOOD, {**GOOD, "start": 3, "end": 9}])


def test_what_could_not_be_recorded_was_not_collapsed():
    """The disk is full: the error comes through, and the view is as it was, now and after a resume."""

    def fail(_):
        raise TranscriptError("disk full")

    store, messages = CollapseStore(on_record=fail), history()
    with pytest.raises(TranscriptError):
        store.collapse(1, 5, "Words.", messages)
    assert (store.log, store.project(messages)) == ((), messages)


def test_a_span_knows_what_it_contains_and_meets():
    """Both sides of each edge."""
    span = Span(3, 6, "Words.", "f")
    around = [
        Span(start, end, "Words.", "f") for start, end in ((3, 6), (4, 5), (2, 6), (3, 7), (0, 3), (6, 9), (5, 9))
    ]
    assert [span.contains(other) for other in around] == [True, True, False, False, False, False, False]
    assert [span.meets(other) for other in around] == [True, True, True, True, False, False, True]


def test_an_agent_with_a_small_view_keeps_its_whole_history():
    """As a hook: each request is small, everything that was ever said is still there, and no span is made twice."""
    calls = [assistant(f"step {number}", ToolUseBlock(f"c{number}", "grep", {})) for number in range(8)]
    client, store = ScriptedClient([*calls, "Done."]), CollapseStore()

    def project(messages):
        start = max(1, store.next_start())
        if len(messages) - start > 6:
            store.collapse(start, len(messages) - 2, f"Steps from {start}.", messages)
        return store.project(messages)

    grep = Tool(ToolSpec("grep", "Searches.", {}), lambda _: "found " * 100)
    agent = Agent(client, [grep], project=project)
    assert record_run(agent.run("go")).error is None
    assert len(agent.messages) == 18
    assert max(len(request.messages) for request in client.requests) <= 9
    assert [len(tool_results(m)) for m in agent.messages[2::2]][:8] == [1] * 8
    assert len(store.log) == len({(span.start, span.end) for span in store.log}) >= 2
    assert apply(lambda m: m, agent.messages, COUNTER)[1].outcome == "skipped"
