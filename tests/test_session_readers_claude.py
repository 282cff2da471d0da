"""What Claude Code's files hold beside plain turns: each oddity once, and what a reader makes of it."""

import pytest
from session_fixtures.events import kinds, of
from session_fixtures.samples import call, claude, claude_answer, claude_code, claude_result, lines, text

from course_lib.messages import ImageBlock, RawBlock, TextBlock, message_text, tool_results, tool_uses
from course_lib.session_logs.reading import read_session
from course_lib.session_logs.records import (
    CallBilled,
    HistoryCompacted,
    HistoryRewound,
    MessageLogged,
    Oddity,
    SessionStarted,
)
from course_lib.session_logs.replay import CLEARED_TEXT, conversation


@pytest.fixture
def read(tmp_path):
    """Write records as a file and read it as a session."""

    def reading(records):
        path = tmp_path / "s.jsonl"
        path.write_bytes(records if isinstance(records, bytes) else lines(records))
        return list(read_session(path))

    return reading


def texts(events, thread=""):
    """The texts of a thread's messages, in and out of the context."""
    return [message_text(event.message) for event in of(MessageLogged, events) if event.thread == thread]


def prompt(uuid, parent, words, **fields):
    """A record of something that the person typed."""
    return claude("user", uuid, parent, {"role": "user", "content": words}, **fields)


def answer(uuid, parent, message_id, words="ok", **fields):
    """A record with a whole answer."""
    return claude("assistant", uuid, parent, claude_answer(message_id, text(words), stop="end_turn"), **fields)


def called(uuid, parent, message_id, tool_use_id="c1"):
    """A record with a call."""
    return claude("assistant", uuid, parent, claude_answer(message_id, call(tool_use_id, "a.txt"), stop="tool_use"))


def given(uuid, parent, tool_use_id="c1", content="hello", **fields):
    """A record with a result."""
    return claude("user", uuid, parent, claude_result(tool_use_id, content, **fields))


def boundary(uuid, parent, **metadata):
    """A compaction's record."""
    data = {"trigger": "auto", "preTokens": 1_000, **metadata}
    return claude("system", uuid, None, subtype="compact_boundary", logicalParentUuid=parent, compactMetadata=data)


def summary(uuid, parent, words="SUMMARY"):
    """The record after a compaction's."""
    return prompt(uuid, parent, words, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def test_an_answer_in_pieces_is_billed_once_by_its_last_piece(read):
    """Three pieces that repeat the usage, with a result between, are one call and one message."""
    events = read(claude_code())
    first = of(CallBilled, events)[0]
    assert (first.call_id, first.usage.output_tokens, first.output_is_reliable) == ("m1", 20, True)
    assert [event.call_id for event in of(CallBilled, events)] == ["m1", "m2"]


def test_an_answer_written_before_it_ended_is_not_trusted(read):
    """Without a stop reason in the last piece the output count is not reliable."""
    record = claude("assistant", "a1", "u1", claude_answer("m1", text("long")))
    (bill,) = of(CallBilled, read([prompt("u1", None, "go"), record]))
    assert bill.output_is_reliable is False


def test_a_synthetic_answer_is_no_call(read):
    """Usage of zeros bills nothing, and an API error never was in the context."""
    usage = {"input_tokens": 0, "output_tokens": 0}
    message = {
        "id": "x",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [text("API Error: 529")],
        "usage": usage,
    }
    events = read([prompt("u1", None, "go"), claude("assistant", "a1", "u1", message, isApiErrorMessage=True)])
    assert of(CallBilled, events) == []
    assert [event.in_context for event in of(MessageLogged, events)] == [True, False]
    assert [message.role for message in conversation(events)] == ["user"]


def test_a_second_result_for_a_call_counts_once(read):
    """The first result stays; the second is said to be a duplicate, early or late."""
    start = [prompt("u1", None, "go"), called("a1", "u1", "m1"), given("r1", "a1")]
    early = read([*start, given("r2", "a1", content="again")])
    late = read([*start, answer("a2", "r1", "m2"), given("r2", "a2", content="again")])
    for events in (early, late):
        assert kinds(events) == ["duplicate result"]
        assert [result.text for m in conversation(events) for result in tool_results(m)] == ["hello"]


def test_a_record_with_a_known_uuid_counts_once(read):
    """A record that is written twice is read once."""
    record = prompt("u1", None, "go")
    events = read([record, record])
    assert texts(events) == ["go"]
    assert kinds(events) == ["duplicate record"]


def test_an_id_may_be_used_again(read):
    """Two turns with the same call id each have their own result."""
    records = [prompt("u1", None, "go")]
    for number in (1, 2):
        records += [
            called(f"a{number}", "u1", f"m{number}"),
            given(f"r{number}", f"a{number}", content=f"result {number}"),
        ]
    events = read(records)
    assert [result.text for m in conversation(events) for result in tool_results(m)] == ["result 1", "result 2"]
    assert kinds(events) == []


def test_an_id_may_be_used_again_before_its_first_call_was_answered(read):
    """The result belongs to the call before it, and the first call has none."""
    records = [prompt("u1", None, "go"), called("a1", "u1", "m1"), called("a2", "a1", "m2"), given("r2", "a2")]
    events = read(records)
    assert [(oddity.kind, oddity.place.line) for oddity in of(Oddity, events)] == [("missing result", 2)]
    assert [len(tool_results(message)) for message in conversation(events)] == [0, 0, 0, 1]


def test_calls_and_results_that_do_not_meet_are_said(read):
    """A call that nobody answered, and a result to a call that is not there: both stay in the conversation."""
    events = read(
        [prompt("u1", None, "go"), called("a1", "u1", "m1"), answer("a2", "a1", "m2"), given("r9", "a2", "c9")]
    )
    assert sorted(kinds(events)) == ["missing result", "orphan result"]
    missing = next(event for event in of(Oddity, events) if event.kind == "missing result")
    assert (missing.place.line, missing.detail) == (2, "c1")
    assert [len(tool_results(message)) for message in conversation(events)] == [0, 0, 0, 1]


def test_results_with_foreign_ids_are_paired_by_position(read):
    """As many results as calls, and no id fits: the first belongs to the first."""
    records = [prompt("u1", None, "go"), called("a1", "u1", "m1", "c1"), called("a2", "a1", "m1", "c2")]
    events = read([*records, given("r1", "a1", "x1", "one"), given("r2", "a2", "x2", "two")])
    assert kinds(events) == ["mismatched id"] * 2
    assert [(r.tool_use_id, r.text) for r in tool_results(conversation(events)[2])] == [("c1", "one"), ("c2", "two")]


def test_ids_that_were_taken_out_are_paired_by_position(read):
    """A word in the place of every id: the results still find their calls, in their order."""
    records = [prompt("u1", None, "go"), called("a1", "u1", "m1", "REDACTED"), called("a2", "a1", "m1", "REDACTED")]
    events = read([*records, given("r1", "a1", "REDACTED", "one"), given("r2", "a2", "REDACTED", "two")])
    assert [result.text for result in tool_results(conversation(events)[2])] == ["one", "two"]
    assert kinds(events) == []


def test_glued_torn_and_broken_lines_cost_nothing_else(read):
    """Two objects in a line are both read; half an object and a line that is none are said and passed over."""
    first, second, third = (lines([prompt(f"u{i}", f"u{i - 1}", f"text {i}")]).strip() for i in (2, 3, 4))
    raw = lines([prompt("u1", None, "text 1")]) + first + second + b"\nnot json\n17\n" + third[:40]
    events = read(raw)
    assert texts(events) == ["text 1", "text 2", "text 3"]
    assert [(o.place.line, o.kind) for o in of(Oddity, events)] == [
        (2, "glued line"),
        (3, "broken line"),
        (4, "broken line"),
        (5, "torn last line"),
    ]


def test_a_line_torn_in_the_middle_of_a_file_keeps_what_follows_it(read):
    """The program was killed while it wrote, started again, and went on in the same line."""
    whole = [lines([prompt(f"u{i}", None, f"text {i}")]).strip() for i in (1, 2, 3)]
    events = read(whole[0] + b"\n" + whole[1][:60] + whole[2] + b"\n")
    assert texts(events) == ["text 1", "text 3"]
    assert "broken line" in kinds(events)
    # What only looks like a record is none: the same opening inside a text, or nothing whole at the end of the line.
    for tail in (b'{"type": 1} and more', b'{"type": 1, {"type": '):
        assert texts(read(whole[0] + b"\n" + whole[1][:60] + tail + b"\n")) == ["text 1"]


def test_bytes_that_are_no_text_are_shown_as_such(read):
    """A broken byte becomes a replacement character, and the line is kept."""
    raw = lines([prompt("u1", None, "caf#")]).replace(b"#", b"\xe9")
    events = read(raw)
    assert texts(events) == ["caf\N{REPLACEMENT CHARACTER}"]
    assert kinds(events) == ["not UTF-8"]


def test_a_line_separator_inside_a_text_is_no_line_end(read):
    """U+2028 and its like stand in texts as they are."""
    raw = '{"type": "user", "uuid": "u", "message": {"role": "user", "content": "a\u2028b\u0085c\x7f"}}\n'.encode()
    assert texts(read(raw)) == ["a\u2028b\u0085c\x7f"]


def test_a_lone_surrogate_is_kept(read):
    """Half a character, escaped, is text like any other."""
    raw = b'{"type": "user", "uuid": "u", "message": {"role": "user", "content": "a\\ud83d"}}\n'
    assert texts(read(raw)) == ["a\ud83d"]


def test_a_file_that_starts_mid_session_says_so(read):
    """The first record names a parent that is not there: said once, and the rest is read."""
    events = read([prompt("u7", "u6", "go"), answer("a7", "u7", "m7"), prompt("u8", "a7", "on")])
    assert kinds(events) == ["mid-session start"]
    assert texts(events) == ["go", "ok", "on"]


def test_two_sessions_in_one_file_are_two_threads(read):
    """A second session with a root of its own is a thread of its own, also when the two take turns."""
    other = {"sessionId": "s2"}
    records = [prompt("u1", None, "one"), prompt("v1", None, "uno", **other), answer("a1", "u1", "m1")]
    events = read([*records, answer("b1", "v1", "n1", "si", **other)])
    assert [(event.session_id, event.thread) for event in of(SessionStarted, events)] == [("s1", ""), ("s2", "s2")]
    assert texts(events) == ["one", "ok"]
    assert texts(events, "s2") == ["uno", "si"]


def test_a_resumed_session_goes_on_in_its_thread(read):
    """A new session id whose first record has a known parent is the same conversation."""
    events = read([prompt("u1", None, "one"), answer("a1", "u1", "m1"), prompt("u2", "a1", "two", sessionId="s2")])
    assert texts(events) == ["one", "ok", "two"]
    assert [event.thread for event in of(SessionStarted, events)] == ["", ""]


def test_inline_side_chains_have_threads_of_their_own(read):
    """Version 1 writes sub-agents into the main file; each root begins one, and they may take turns."""
    side = {"isSidechain": True}
    records = [
        prompt("u1", None, "main"),
        prompt("x1", None, "first task", **side),
        prompt("y1", None, "second task", **side),
        answer("x2", "x1", "mx", "first done", **side),
        answer("y2", "y1", "my", "second done", **side),
        answer("a1", "u1", "m1"),
    ]
    events = read(records)
    assert texts(events) == ["main", "ok"]
    assert texts(events, "sidechain 1") == ["first task", "first done"]
    assert texts(events, "sidechain 2") == ["second task", "second done"]
    assert [event.thread for event in of(CallBilled, events)].count("") == 1


def test_a_file_of_a_sub_agent_is_named_by_it(read):
    """Version 2 writes sub-agents into files of their own; its parent in the main file is no oddity."""
    fields = {"isSidechain": True, "agentId": "abc"}
    events = read([prompt("x1", "u1", "task", **fields), answer("x2", "x1", "mx", **fields)])
    assert texts(events, "abc") == ["task", "ok"]
    assert kinds(events) == []


def test_a_compaction_takes_the_place_of_what_came_before(read):
    """The boundary and the summary after it are one event; a call that it cut off is said; old messages are gone."""
    records = [
        prompt("u1", None, "old"),
        called("a1", "u1", "m1"),
        boundary("b1", "a1", postTokens=90),
        summary("s1", "b1"),
        prompt("u2", "s1", "new"),
    ]
    events = read(records)
    (compaction,) = of(HistoryCompacted, events)
    assert (compaction.kind, compaction.trigger, compaction.tokens_before, compaction.tokens_after) == (
        "full",
        "auto",
        1_000,
        90,
    )
    assert compaction.place.line == 3
    assert kinds(events) == ["missing result"]
    assert [(m.kind, message_text(m)) for m in conversation(events)] == [("summary", "SUMMARY"), ("chat", "new")]


@pytest.mark.parametrize("field", ["uuids", "allUuids"])
def test_a_compaction_may_keep_messages(read, field):
    """Preserved records stay behind the summary, also over a second compaction."""
    records = [
        prompt("u1", None, "one"),
        answer("a1", "u1", "m1", "two"),
        prompt("u2", "a1", "three"),
        boundary("b1", "u2", preservedMessages={field: ["a1", "u2"]}),
        summary("s1", "b1"),
        answer("a3", "s1", "m3", "four"),
    ]
    once = read(records)
    assert [message_text(m) for m in conversation(once)] == ["SUMMARY", "two", "three", "four"]
    again = [boundary("b2", "a3", preservedMessages={field: ["u2", "a3"]}), summary("s2", "b2", "SECOND")]
    assert [message_text(m) for m in conversation(read([*records, *again]))] == ["SECOND", "three", "four"]


def test_a_compaction_without_its_summary_is_said(read):
    """The boundary counts even where the log ends, or goes on, without a summary."""
    for rest in ([], [prompt("u2", "b1", "new")]):
        events = read([prompt("u1", None, "old"), boundary("b1", "u1"), *rest])
        assert kinds(events) == ["unreadable part"]
        assert [message_text(m) for m in conversation(events)] == ["new"] * len(rest)


def test_a_summary_without_a_boundary_is_a_compaction(read):
    """Older versions began a new file with the summary of the one before."""
    events = read([summary("s1", None), prompt("u1", "s1", "new")])
    assert [(event.kind, event.tokens_before) for event in of(HistoryCompacted, events)] == [("full", None)]
    assert [message_text(m) for m in conversation(events)] == ["SUMMARY", "new"]


def test_a_micro_compaction_clears_results(read):
    """The results that it names are cleared from then on; ids that are not in the file are said."""
    micro = {"trigger": "auto", "preTokens": 60, "tokensSaved": 20, "compactedToolIds": ["c1", "gone"]}
    records = [
        prompt("u1", None, "go"),
        called("a1", "u1", "m1"),
        given("r1", "a1"),
        claude("system", "y", "r1", subtype="microcompact_boundary", microcompactMetadata=micro),
        answer("a2", "y", "m2"),
    ]
    events = read(records)
    (compaction,) = of(HistoryCompacted, events)
    assert (compaction.kind, compaction.tokens_saved) == ("micro", 20)
    assert compaction.cleared_tool_use_ids == {"c1", "gone"}
    assert kinds(events) == ["unreadable part"]
    messages = conversation(events)
    assert [result.text for m in messages for result in tool_results(m)] == [CLEARED_TEXT]
    logged = [event.message for event in of(MessageLogged, events)]
    assert [new is old for new, old in zip(messages, logged, strict=True)] == [True, True, False, True]


def test_going_back_drops_what_came_after(read):
    """A prompt that goes on from an earlier point than the end: the messages between are no part of it any more."""
    note = claude("system", "y1", "a1", subtype="turn_duration")
    records = [
        prompt("u1", None, "one"),
        answer("a1", "u1", "m1"),
        note,
        prompt("u2", "y1", "wrong"),
        answer("a2", "u2", "m2"),
    ]
    events = read([*records, prompt("u3", "y1", "right")])
    assert [event.dropped_messages for event in of(HistoryRewound, events)] == [2]
    assert [message_text(m) for m in conversation(events)] == ["one", "ok", "right"]


def test_forks_that_are_no_going_back_drop_nothing(read):
    """Notes and parallel results share parents with what follows: a fork by itself means nothing."""
    records = [
        prompt("u1", None, "go"),
        called("a1", "u1", "m1", "c1"),
        claude("progress", "p1", "a1", data={}),
        called("a2", "a1", "m1", "c2"),
        given("r1", "a1", "c1"),
        given("r2", "a2", "c2"),
        claude("attachment", "t1", "r1", attachment={"type": "date_change", "content": "today"}),
        prompt("u2", "r1", "next"),
        prompt("u3", "unknown", "more"),
    ]
    assert of(HistoryRewound, read(records)) == []


def test_attachments_are_injected_context(read):
    """Most become text for the model; a hook's outcome is bookkeeping; a queued command was typed by the person."""
    attachments = [
        {"type": "file", "content": {"type": "text", "file": {"filePath": "a.py", "content": "x = 1"}}},
        {"type": "skill_listing", "content": "- skill"},
        {"type": "deferred_tools_delta", "addedLines": ["one", "two"], "removedNames": []},
        {"type": "queued_command", "prompt": "stop that"},
        {"type": "hook_success", "content": "ran"},
        {"type": "task_reminder", "content": []},
        {"type": "task_reminder", "content": [{"subject": "task"}]},
    ]
    events = read([claude("attachment", f"t{i}", None, attachment=a) for i, a in enumerate(attachments)])
    said = [(message_text(e.message), e.is_injected, e.in_context) for e in of(MessageLogged, events)]
    assert said == [
        ("a.py\nx = 1", True, True),
        ("- skill", True, True),
        ("one\ntwo", True, True),
        ("stop that", False, True),
        ("ran", True, False),
        ('{"subject": "task"}', True, True),
    ]


def test_what_the_program_says_in_the_persons_name_is_injected(read):
    """Meta texts and interrupts are not typed; a text for the screen only is not in the context."""
    records = [
        prompt("u1", None, "typed"),
        prompt("u2", "u1", "caveat", isMeta=True),
        prompt("u3", "u2", [text("[Request interrupted by user for tool use]")]),
        prompt("u4", "u3", "screen", isVisibleInTranscriptOnly=True),
    ]
    said = [(e.is_injected, e.in_context) for e in of(MessageLogged, read(records))]
    assert said == [(False, True), (True, True), (True, True), (False, False)]


def test_texts_between_the_pieces_of_an_answer_come_after_its_results(read):
    """What a program puts between a call and its result is met by the model after the results."""
    records = [
        prompt("u1", None, "go"),
        called("a1", "u1", "m1"),
        prompt("u2", "a1", "reminder", isMeta=True),
        given("r1", "a1"),
        answer("a2", "r1", "m2"),
    ]
    events = read(records)
    assert texts(events) == ["go", "", "", "reminder", "ok"]
    assert [len(tool_results(m)) for m in conversation(events)] == [0, 0, 1, 0, 0]


def test_images_errors_and_unknown_blocks_are_kept(read):
    """An image in a result, an error flag, and a block that has no name here."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    fallback = claude("assistant", "a2", "r1", claude_answer("m2", {"type": "fallback", "from": "x", "to": "y"}))
    records = [
        prompt("u1", None, "go"),
        called("a1", "u1", "m1"),
        given("r1", "a1", content=[image], is_error=True),
        fallback,
    ]
    messages = conversation(read(records))
    (result,) = tool_results(messages[2])
    assert result.content == (ImageBlock("image/png", "AAAA"),)
    assert result.is_error is True
    assert isinstance(messages[3].content[0], RawBlock)


@pytest.mark.parametrize("block", [{"type": "image", "source": {"type": "base64", "data": 7}}, {"x": 1}])
def test_a_block_without_its_fields_is_kept_word_for_word(read, block):
    """What the core refuses as a block is kept, and said."""
    events = read([prompt("u1", None, [block, text("hi")])])
    (message,) = conversation(events)
    assert message.content == (RawBlock(block), TextBlock("hi"))
    assert kinds(events) == ["wrong type"]


def test_a_block_that_is_nested_too_deeply_is_kept_as_text(read):
    """Python can read it but not copy it: its JSON is kept."""
    nested = b'{"type": "novelty", "x": ' + b'{"a":' * 600 + b"1" + b"}" * 601
    raw = lines([prompt("u1", None, ["@"])]).replace(b'"@"', nested)
    (message,) = conversation(read(raw))
    assert isinstance(message.content[0], TextBlock)
    assert message.content[0].text.startswith('{"type": "novelty"')


def test_missing_content_is_no_message(read):
    """Null, absent and empty content say nothing; the call is still billed."""
    message = claude_answer("m1", None)
    for content in ({"content": None}, {"content": []}, {"content": ""}, {}):
        changed = {key: value for key, value in message.items() if key != "content"} | content
        events = read([prompt("u1", None, "go"), claude("assistant", "a1", "u1", changed)])
        assert len(of(CallBilled, events)) == 1
        assert texts(events) == ["go"]


def test_blocks_in_the_wrong_role_are_kept_word_for_word(read):
    """A call that the person seems to have made is no call: kept as it is, and said."""
    events = read([prompt("u1", None, [call("c1", "a.txt"), text("hi")])])
    (message,) = conversation(events)
    assert message.content == (RawBlock(call("c1", "a.txt")), TextBlock("hi"))
    assert kinds(events) == ["wrong type"]


def test_arguments_that_are_no_object_are_kept(read):
    """As everywhere in the course, under one key."""
    broken = {"type": "tool_use", "id": "c1", "name": "f", "input": '{"path": '}
    events = read([prompt("u1", None, "go"), claude("assistant", "a1", "u1", claude_answer("m1", broken))])
    assert dict(tool_uses(conversation(events)[1])[0].input) == {"INVALID_JSON": '{"path": '}


def test_unknown_records_are_said_once_a_kind(read):
    """A kind of record that nobody knows is passed over, and named once."""
    events = read([prompt("u1", None, "go"), *({"type": "novelty", "n": n} for n in range(3)), {"type": ["x"]}])
    assert kinds(events) == ["unknown record", "unknown record"]
    assert texts(events) == ["go"]


def test_deep_nesting_breaks_nothing(read):
    """Nested more deeply than Python can follow, in a line of its own or in a call's arguments."""
    deep = lines([prompt("u2", "u1", "deep")]).replace(b'"deep"', b"[" * 100_000 + b"]" * 100_000)
    nested = b'{"a":' * 600 + b"1" + b"}" * 600
    argument = lines([claude("assistant", "a1", "u1", claude_answer("m1", call("c1", "@")))])
    argument = argument.replace(b'{"path": "@"}', nested)
    events = read(lines([prompt("u1", None, "go")]) + deep + argument + lines([prompt("u3", "a1", "on")]))
    assert [t for t in texts(events) if t] == ["go", "on"]
    assert "broken line" in kinds(events)
    (block,) = tool_uses(conversation(events)[1])
    assert list(block.input) == ["INVALID_JSON"]
