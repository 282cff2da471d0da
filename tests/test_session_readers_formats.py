"""The oddities of every other format, each once, and what a reader makes of it."""

import json

import pytest
from session_fixtures.events import kinds, of
from session_fixtures.samples import (
    anthropic_messages,
    anthropic_requests,
    anthropic_response,
    call,
    chat_messages,
    chat_requests,
    codex,
    codex_item,
    codex_tokens,
    completion,
    gemini_messages,
    lines,
    pi_message,
    responses_items,
    responses_response,
    text,
)

from course_lib.messages import (
    ImageBlock,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    Usage,
    message_text,
    tool_results,
    tool_uses,
)
from course_lib.session_logs.reading import detect_format, read_session
from course_lib.session_logs.records import (
    CallBilled,
    FixedCostLogged,
    HistoryCompacted,
    MessageLogged,
    SessionStarted,
)
from course_lib.session_logs.replay import conversation


@pytest.fixture
def read(tmp_path):
    """Write values as a file and read it as a session."""

    def reading(values):
        path = tmp_path / "s.jsonl"
        path.write_bytes(values if isinstance(values, bytes) else lines(values))
        return list(read_session(path))

    return reading


def said(events, thread=""):
    """The texts of the conversation, empty for messages without text."""
    return [message_text(message) for message in conversation(events, thread)]


# --- Codex CLI


def test_codex_cached_input_is_taken_out_of_the_input(read):
    """Its input count includes the cached part; the course's buckets share nothing."""
    assert [event.usage for event in of(CallBilled, read(codex()))] == [Usage(103, 0, 0, 20), Usage(103, 100, 0, 5)]


def test_codex_a_count_of_zero_or_without_news_is_no_call(read):
    """After a compaction a count says 0; without info or with the same total it says nothing new."""
    zero = codex_tokens(0, 0, 0, 306)
    zero["payload"]["info"]["total_token_usage"]["output_tokens"] = 6
    assert len(of(CallBilled, read([*codex(), zero]))) == 2
    assert len(of(CallBilled, read([*codex(), codex_tokens(203, 100, 5, 306)]))) == 2
    assert len(of(CallBilled, read([*codex(), codex_tokens(203, 100, 5, 509)]))) == 3


def test_codex_totals_alone_are_enough(read):
    """Where only the sum so far is logged, the difference is the call."""
    records = codex()
    for record in records:
        info = record["payload"].get("info")
        if info:
            del info["last_token_usage"]
    assert [event.usage.input_tokens for event in of(CallBilled, read(records))] == [103, 203]


def test_codex_answers_without_a_count_stay_apart(read):
    """Two answers, with results between, are two messages even where no count parts them."""
    records = [record for record in codex() if record["payload"].get("type") != "token_count"]
    assert [message.role for message in conversation(read(records))] == ["user", "assistant", "user", "assistant"]


def test_codex_outputs_after_the_count_belong_to_the_answer_before(read):
    """Other versions write the count before the outputs."""
    records = codex()
    records.insert(8, records.pop(10))
    assert said(read(records)) == said(read(codex()))
    assert kinds(read(records)) == []


def test_codex_compaction_replaces_the_history(read):
    """The replacement is what the log says; the summary in it cannot be read, and that is said."""
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]},
        {"type": "compaction", "encrypted_content": "xyz"},
    ]
    compacted = {"type": "compacted", "payload": {"message": "", "replacement_history": history}}
    after = codex_item("message", role="user", content=[{"type": "input_text", "text": "new"}])
    events = read([*codex(), compacted, after])
    assert [event.kind for event in of(HistoryCompacted, events)] == ["full"]
    assert said(events) == ["kept", "", "new"]
    assert kinds(events) == ["unreadable part"]


def test_codex_old_compaction_is_a_summary(read):
    """Older versions log the summary's text and no history."""
    events = read([*codex(), {"type": "compacted", "payload": {"message": "SUMMARY"}}])
    assert [(m.kind, message_text(m)) for m in conversation(events)] == [("summary", "SUMMARY")]


def test_codex_texts_in_the_persons_name_are_injected(read):
    """Environment, project instructions, aborts and developer messages are not typed by anybody."""
    texts = ["<environment_context>x", "# AGENTS.md instructions", "<turn_aborted>x", "typed"]
    records = [codex_item("message", role="user", content=[{"type": "input_text", "text": t}]) for t in texts]
    developer = codex_item("message", role="developer", content=[{"type": "input_text", "text": "be brief"}])
    events = read([*records, developer])
    assert [event.is_injected for event in of(MessageLogged, events)] == [True, True, True, False, True]


def test_codex_reasoning_that_cannot_be_read_is_said_once(read):
    """Encrypted reasoning is kept for its size, and one remark is enough."""
    reasoning = codex_item("reasoning", summary=[], content=None, encrypted_content="abc")
    answer = codex_item("message", role="assistant", content=[{"type": "output_text", "text": "a"}])
    events = read([codex()[2], reasoning, answer, codex_tokens(5, 0, 1, 5), reasoning, answer])
    assert kinds(events) == ["unreadable part"]
    assert conversation(events)[1].content[0] == ThinkingBlock("", "abc")


def test_codex_resumes_and_forks(read):
    """The same session again is not a new one; a fork says that its parent's calls are repeated in it."""
    meta = codex()[0]
    fork = {"type": "session_meta", "payload": {"id": "s0", "forked_from_id": "s1"}}
    events = read([fork, meta, *codex()[1:], meta])
    assert [event.session_id for event in of(SessionStarted, events)] == ["s0", "s1"]
    assert kinds(events) == ["duplicate record"]


def test_codex_calls_of_all_kinds(read):
    """A patch has plain text as input; a search that the provider did is kept whole; outputs may be lists."""
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    records = [
        codex()[2],
        codex_item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c1", status="completed"),
        codex_item("web_search_call", status="completed", action={"query": "x"}),
        codex_item("function_call", name="f", arguments="{broken", call_id="c2"),
        codex_item("custom_tool_call_output", call_id="c1", output="Exit code: 0"),
        codex_item("function_call_output", call_id="c2", output=[{"type": "input_text", "text": "see"}, image]),
        codex_item("ghost_snapshot", ghost_commit={}),
        codex_item("novelty", x=1),
        {"type": "world_state", "payload": {}},
        {"type": "what", "payload": {}},
    ]
    events = read(records)
    _, answer, results, *_ = conversation(events)
    patch, broken = tool_uses(answer)
    assert (patch.name, dict(patch.input)) == ("apply_patch", {"input": "*** Begin"})
    assert dict(broken.input) == {"INVALID_JSON": "{broken"}
    assert isinstance(answer.content[1], RawBlock)
    assert [result.content for result in tool_results(results)] == [
        (TextBlock("Exit code: 0"),),
        (TextBlock("see"), ImageBlock("image/png", "AAAA")),
    ]
    assert kinds(events) == ["unknown record", "unknown record"]


@pytest.mark.parametrize(
    ("output", "said_text", "is_error"),
    [
        ({"content": "no", "success": False}, "no", True),
        ({"content": "yes", "success": True}, "yes", False),
        ({"other": 1}, '{"other": 1}', False),
        ([1, 2], "[1, 2]", False),
        (None, "", False),
        (7, "7", False),
    ],
)
def test_codex_outputs_of_any_type(read, output, said_text, is_error):
    """A string nearly always; anything else is kept as JSON text."""
    records = [codex()[2], codex_item("function_call", name="f", arguments="{}", call_id="c1")]
    events = read([*records, codex_item("function_call_output", call_id="c1", output=output)])
    (result,) = tool_results(conversation(events)[2])
    assert (result.text, result.is_error) == (said_text, is_error)


# --- Pi


def pi_answer(*blocks, usage=None, **fields):
    """An answer of Pi."""
    return pi_message(role="assistant", content=list(blocks), usage=usage or {"input": 9, "output": 1}, **fields)


def pi_user(words):
    """A prompt of Pi."""
    return pi_message(role="user", content=[text(words)])


def test_pi_compaction_keeps_from_the_line_that_it_names(read):
    """The index counts lines from 0; what stands from there on stays behind the summary, over a second one too."""
    records = [
        {"type": "session", "id": "s1", "cwd": "/w"},
        pi_user("one"),
        pi_answer(text("two")),
        pi_user("three"),
        {"type": "compaction", "summary": "S1", "firstKeptEntryIndex": 2, "tokensBefore": 500},
        pi_user("four"),
    ]
    events = read(records)
    (compaction,) = of(HistoryCompacted, events)
    assert (compaction.kept_messages, compaction.tokens_before) == (2, 500)
    assert said(events) == ["S1", "two", "three", "four"]
    second = {"type": "compaction", "summary": "S2", "firstKeptEntryIndex": 3, "tokensBefore": 600}
    assert said(read([*records, second])) == ["S2", "three", "four"]
    lost = {"type": "compaction", "summary": "S2", "firstKeptEntryIndex": 3_000}
    assert said(read([*records, lost])) == ["S2"]


def test_pi_broken_off_answers_and_the_persons_own_commands(read):
    """An answer with a usage of zeros is no call; a command that the person ran is injected text."""
    zero = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    shell = pi_message(role="bashExecution", command="ls", output="a.txt", exitCode=0)
    events = read([pi_user("go"), pi_answer(usage=zero, stopReason="aborted"), shell])
    assert of(CallBilled, events) == []
    assert said(events) == ["go", "$ ls\na.txt"]
    assert [event.is_injected for event in of(MessageLogged, events)] == [False, True]


def test_pi_a_second_session_in_the_file_is_a_thread_of_its_own(read):
    """A second header begins it."""
    first = {"type": "session", "id": "s1", "cwd": "/w"}
    events = read([first, pi_user("one"), {**first, "id": "s2"}, pi_user("two")])
    assert (said(events), said(events, "s2")) == (["one"], ["two"])


def test_pi_what_is_not_known_is_said(read):
    """A role, a kind of line, a thinking block without text: kept where there is something to keep."""
    events = read(
        [
            pi_user("go"),
            pi_message(role="narrator", content="meanwhile"),
            {"type": "novelty"},
            pi_answer({"type": "thinking"}),
            {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 700},
            {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 4, "tokensBefore": 1},
        ]
    )
    assert kinds(events) == ["wrong type", "unknown record", "wrong type", "unreadable part"]


def test_pi_images_and_errors(read):
    """An image in a result is one, and an error flag is kept."""
    tool_call = {"type": "toolCall", "id": "c1", "name": "f", "arguments": {}}
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    result = pi_message(role="toolResult", toolCallId="c1", content=[image], isError=True)
    (block,) = tool_results(conversation(read([pi_user("go"), pi_answer(tool_call), result]))[2])
    assert (block.content, block.is_error) == ((ImageBlock("image/png", "AAAA"),), True)


# --- Gemini CLI


def gemini(*messages):
    """A new file with the messages."""
    return [{"sessionId": "s1", "projectHash": "h"}, *messages]


def test_gemini_the_last_writing_of_a_message_counts(read):
    """At the place of the first writing; notes for the person are not in the context."""
    first, answer, note, last = gemini_messages()
    early = {**answer, "tokens": {"input": 1}, "toolCalls": []}
    events = read(gemini(first, early, answer, note, last))
    assert [event.usage.context_tokens for event in of(CallBilled, events)] == [103, 203]
    assert of(CallBilled, events)[0].place.line == 3
    assert [event.in_context for event in of(MessageLogged, events)] == [True, True, True, False, True]


def test_gemini_a_message_written_again_much_later_adds_its_calls(read):
    """The text counts once, the calls that it had not before are read, and the repetition is said."""
    first, answer, _, last = gemini_messages()
    early = {key: value for key, value in answer.items() if key != "toolCalls"}
    events = read(gemini(first, early, last, answer, answer))
    assert kinds(events) == ["duplicate record"]
    assert [len(tool_uses(message)) for message in conversation(events)] == [0, 0, 0, 2, 0]
    assert len(of(CallBilled, events)) == 2


def test_gemini_failed_and_cancelled_calls(read):
    """An error is the result, marked as one; a cancelled call has an empty one; without tokens nothing is billed."""
    calls = [
        {
            "id": "c1",
            "name": "f",
            "args": {},
            "status": "error",
            "result": [{"functionResponse": {"response": {"error": "no"}}}],
        },
        {"id": "c2", "name": "f", "args": {}, "status": "cancelled"},
        {"id": "c3", "name": "f", "args": {}, "status": "executing"},
    ]
    events = read(gemini({"id": "1", "type": "gemini", "content": "x", "toolCalls": calls}))
    results = tool_results(conversation(events)[1])
    assert [(r.tool_use_id, r.text, r.is_error) for r in results] == [("c1", "no", True), ("c2", "", True)]
    assert of(CallBilled, events) == []
    assert kinds(events) == ["missing result"]


def test_gemini_thoughts_and_tool_prompts_are_counted(read):
    """Thoughts are output, tool prompts input, and the cached part is taken out of the input."""
    tokens = {"input": 100, "cached": 60, "output": 5, "thoughts": 7, "tool": 3, "total": 115}
    (bill,) = of(CallBilled, read(gemini({"id": "1", "type": "gemini", "content": "x", "tokens": tokens})))
    assert bill.usage == Usage(43, 60, 0, 12)


def test_gemini_a_second_session_in_the_file_is_a_thread_of_its_own(read):
    """Another header begins it; the same header again does not."""
    one, two = ({"id": str(n), "type": "user", "content": f"text {n}"} for n in (1, 2))
    header = gemini()[0]
    events = read([header, one, header, {**header, "sessionId": "s2"}, two, {"id": "3", "type": "novelty"}])
    assert (said(events), said(events, "s2")) == (["text 1"], ["text 2"])
    assert kinds(events) == ["unknown record"]


# --- Chat Completions


def test_chat_a_request_that_is_not_longer_is_a_branch(read):
    """The same request again, answered otherwise: billed twice, and the second answer is in a branch."""
    first, second = chat_requests()
    again = {**first, "response": completion({"content": "other"}, 9, 103, 0, 2)}
    events = read([first, second, again])
    assert len(of(CallBilled, events)) == 3
    assert said(events)[-1] != "other"
    branch = {event.thread for event in of(MessageLogged, events)} - {""}
    assert [said(events, name)[-1] for name in branch] == ["other"]


def test_chat_a_shorter_request_that_begins_alike_was_compacted(read):
    """The same first message, then something else and less: the history was replaced."""
    first, second = chat_requests()
    start = chat_messages()[:2]
    messages = [*start, {"role": "user", "content": "In short: two greetings."}]
    assert len(messages) < len(second["request"]["messages"])
    request = {"messages": messages, "tools": first["request"]["tools"]}
    events = read([first, second, {"request": request, "response": completion({"content": "fine"}, 9, 50, 0, 2)}])
    assert len(of(HistoryCompacted, events)) == 1
    assert said(events) == [start[1]["content"], "In short: two greetings.", "fine"]


def test_chat_a_replaced_history_has_its_batches_whole(read):
    """Results that stand apart in the request come together in the replacement, as everywhere in the course."""
    first, _ = chat_requests()
    follow_up = [*chat_messages(), {"role": "user", "content": "And now?"}, {"role": "assistant", "content": None}]
    long = {"messages": [*follow_up, {"role": "user", "content": "On."}], "tools": first["request"]["tools"]}
    shorter = {**long, "messages": [chat_messages()[0], {"role": "user", "content": "go"}, *chat_messages()[2:5]]}
    long["messages"][1] = shorter["messages"][1]
    events = read(
        [{"request": long}, {"request": {**shorter, "messages": [*shorter["messages"][:2], *follow_up[6:7]]}}]
    )
    assert said(events) == ["go", "And now?"]
    changed = [*shorter["messages"][:2], {"role": "user", "content": "x"}, *shorter["messages"][2:]]
    events = read([{"request": long}, {"request": {**shorter, "messages": changed}}])
    assert [len(tool_results(message)) for message in conversation(events)] == [0, 0, 0, 2]


def test_chat_late_system_prompts_and_several_answers(read):
    """A system prompt in the middle is injected text; of several answers to one request the first counts."""
    loose = [{"role": "user", "content": "go"}, {"role": "system", "content": "be brief"}]
    events = read(loose)
    assert [event.is_injected for event in of(MessageLogged, events)] == [False, True]
    log = {"messages": chat_messages()[:2], "response": completion({"content": "one"}, 1, 9, 0, 1)}
    log["response"]["choices"].append({"message": {"content": "two"}})
    events = read([log])
    assert said(events)[-1] == "one"
    assert kinds(events) == ["duplicate record"]


def test_chat_other_first_messages_are_other_conversations(read):
    """A list of unrelated dialogues, one a line: each a thread."""
    dialogues = [{"messages": [{"role": "user", "content": f"question {n}"}]} for n in range(3)]
    events = read(dialogues)
    assert [event.thread for event in of(SessionStarted, events)] == ["", "conversation 2", "conversation 3"]
    assert [said(events, event.thread) for event in of(SessionStarted, events)] == [[f"question {n}"] for n in range(3)]


def test_chat_an_answer_may_come_back_in_another_form(read):
    """A program that trims the answer before it sends it back goes on with the same conversation."""
    first, second = json.loads(json.dumps(chat_requests()))
    second["request"]["messages"][2]["content"] = "trimmed"
    events = read([first, second])
    assert kinds(events) == []
    assert len(conversation(events)) == 4


def test_chat_what_was_sent_differently_later_is_said(read):
    """An earlier message in another form: its first form counts."""
    first, second = json.loads(json.dumps(chat_requests()))
    extra = {"role": "user", "content": "more"}
    first["request"]["messages"].append({**extra, "content": "more, with a reminder"})
    second["request"]["messages"].insert(2, extra)
    events = read([first, second])
    assert kinds(events) == ["rewritten history"]
    assert said(events)[1] == "more, with a reminder"


def test_chat_a_fault_that_every_request_repeats_is_said_once(read):
    """A broken message in the prefix is broken in each request, and is one oddity."""
    first, second = json.loads(json.dumps(chat_requests()))
    for exchange in (first, second):
        exchange["request"]["messages"][1]["content"] = 17
    assert kinds(read([first, second])) == ["wrong type"]


def test_chat_oddities_of_messages(read):
    """Null content, a refusal, a call without a function, an unknown role, a message that is none."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": None},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": "c1"}]},
        {"role": "narrator", "content": "meanwhile"},
        "what?",
        {"role": "developer", "content": "be brief"},
        {"role": "tool", "content": "orphan", "tool_call_id": "c9"},
    ]
    events = read([messages])
    assert said(events) == ["go", "no", "x", "meanwhile", "be brief", ""]
    assert sorted(kinds(events)) == ["orphan result", "wrong type", "wrong type", "wrong type"]
    assert [event.is_injected for event in of(MessageLogged, events)] == [False, False, False, False, True, False]


def test_chat_deepseek_names_the_cached_part_differently(read):
    """Cache hits are part of the prompt count there as well."""
    log = {"messages": chat_messages()[:2], "response": completion({"content": "hi"}, 1, 100, 0, 2)}
    log["response"]["usage"] = {"prompt_tokens": 100, "prompt_cache_hit_tokens": 60, "completion_tokens": 2}
    (bill,) = of(CallBilled, read([log]))
    assert bill.usage == Usage(40, 60, 0, 2)


def test_chat_images_and_files(read):
    """A data URL becomes an image."""
    parts = [text("see"), {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    (message,) = conversation(read([[{"role": "user", "content": parts}]]))
    assert message.content == (TextBlock("see"), ImageBlock("image/png", "AAAA"))


def test_lists_of_messages_one_a_line(read):
    """A line may be a whole list, too."""
    events = read([[{"role": "user", "content": "one"}], [{"role": "user", "content": "two"}]])
    assert (said(events), said(events, "conversation 2")) == (["one"], ["two"])


# --- Trajectories


def test_tau_bench_every_run_is_a_thread(read):
    """Two runs of one task begin alike and are two conversations; an id may be used again within one."""
    one = chat_messages()[:4]
    one[2] = {**one[2], "tool_calls": one[2]["tool_calls"][:1]}
    reused = [*one, {**one[2], "content": "again"}, {**one[3], "content": "second"}]
    runs = [{"task_id": 0, "trial": trial, "traj": reused} for trial in range(2)]
    events = read([runs])
    threads = [event.thread for event in of(SessionStarted, events)]
    assert threads == ["", "run 2 task_id 0 trial 1"]
    for thread in threads:
        results = [r.text for m in conversation(events, thread) for r in tool_results(m)]
        assert results == ["hello", "second"]
    assert kinds(events) == []


def test_trajectories_without_messages_are_said(read):
    """A list of runs with one that is none, and a trajectory with nothing in it."""
    run = {"task_id": 0, "traj": chat_messages()}
    assert kinds(read([[run, {"task_id": 1}, 7]])) == ["unknown record", "unknown record"]
    assert kinds(read([{"trajectory": [], "history": []}])) == ["wrong type"]
    assert kinds(read([{"trajectory": [], "history": []}, [5]])) == ["wrong type", "unknown record"]


def test_mini_swe_agent_version_1(read):
    """Actions as text; the last message is the submission, which was never sent."""
    messages = [
        {"role": "system", "content": "be careful"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "```bash\nls\n```", "extra": {"response": completion({}, 1, 50, 0, 4)}},
        {"role": "user", "content": "a.txt"},
        {"role": "user", "content": "diff --git"},
    ]
    info = {"exit_status": "Submitted", "submission": "diff --git"}
    events = read([{"trajectory_format": "mini-swe-agent-1", "messages": messages, "info": info}])
    assert [event.in_context for event in of(MessageLogged, events)] == [True, True, True, False]
    assert [event.usage for event in of(CallBilled, events)] == [Usage(50, 0, 0, 4)]
    assert of(FixedCostLogged, events)[0].system == "be careful"


def test_swe_agent_demonstrations_are_injected(read):
    """A demonstration in the history was put there by the program."""
    history = [{"role": "user", "content": "demo", "is_demo": True}, {"role": "user", "content": "go"}]
    events = read([{"trajectory": [], "history": history, "info": {}}])
    assert [event.is_injected for event in of(MessageLogged, events)] == [True, False]


def test_few_shot_dialogues_are_texts(read):
    """Each dialogue is one text in a thread of its own."""
    events = read([{"messages_display": "user: hi"}, {"messages_display": "user: ho"}])
    assert (said(events), said(events, "dialogue 2")) == (["user: hi"], ["user: ho"])


# --- Responses and Anthropic


def test_responses_a_response_that_is_not_there_is_said(read):
    """The request goes on from a response of another file."""
    request = {"model": "m", "input": "go on", "previous_response_id": "r0"}
    events = read([{"request": request, "response": responses_response(1, responses_items()[-1:], 9, 0, 1)}])
    assert kinds(events) == ["mid-session start"]
    assert said(events) == ["go on", "Two greetings."]


def test_responses_items_that_cannot_be_read_are_said_once(read):
    """Encrypted reasoning and an unknown item, which every later request repeats."""
    strange = [{"type": "reasoning", "summary": [], "encrypted_content": "x"}, {"type": "novelty"}]
    items = [responses_items()[0], *strange, {"type": "ghost_snapshot"}, {"role": "user", "content": "on"}]
    events = read([{"model": "m", "input": items[:3]}, {"model": "m", "input": items}])
    assert kinds(events) == ["unreadable part", "unknown record"]
    assert said(events) == ["What is in a.txt and b.txt?", "", "on"]


def test_responses_a_bare_response(read):
    """A response alone is a call with its answer; what the provider did itself is kept whole."""
    search = {"type": "web_search_call", "status": "completed"}
    events = read([responses_response(1, [search, *responses_items()[-1:]], 100, 40, 1)])
    assert of(CallBilled, events)[0].usage == Usage(60, 40, 0, 1)
    assert isinstance(conversation(events)[0].content[0], RawBlock)


def test_anthropic_compaction_by_the_provider(read):
    """The answer begins with the summary; its pass is a call of its own, and the history is replaced."""
    first, second = anthropic_requests()[1:]
    block = {"type": "compaction", "content": "SUMMARY"}
    response = anthropic_response(2, {"role": "assistant", "content": [block, text("done")]}, 0, 5)
    passes = [
        {"type": "compaction", "input_tokens": 55_196, "output_tokens": 900},
        {"type": "message", "input_tokens": 3, "output_tokens": 5},
    ]
    response["usage"]["iterations"] = passes
    events = read([first, {**second, "response": {"body": response}}])
    assert [event.usage.context_tokens for event in of(CallBilled, events)] == [103, 55_196, 103]
    assert len(of(HistoryCompacted, events)) == 1
    summary, answer = conversation(events)
    assert (summary.kind, message_text(answer)) == ("summary", "done")


def test_anthropic_a_streamed_response(read):
    """The text of the events is put together: blocks, arguments in pieces, the usage from start and end."""
    stream = [
        {
            "type": "message_start",
            "message": {"id": "r1", "model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
        {"type": "content_block_start", "index": 1, "content_block": {**call("c1", ""), "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"path"'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ': "a"}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    ]
    raw = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in stream) + "data: {torn\n"
    (first,) = anthropic_requests()[1:2]
    events = read([{**first, "response": {"body_raw": raw}}])
    answer = conversation(events)[1]
    assert message_text(answer) == "I look."
    assert [dict(block.input) for block in tool_uses(answer)] == [{"path": "a"}]
    assert of(CallBilled, events)[0].usage == Usage(9, 0, 0, 7)


def test_anthropic_blocks_without_a_class_are_kept(read):
    """Redacted thinking and the provider's own tools, word for word."""
    blocks = [{"type": "redacted_thinking", "data": "x"}, {"type": "server_tool_use", "id": "s", "name": "web_search"}]
    messages = [anthropic_messages()[0], {"role": "assistant", "content": blocks}]
    answer = conversation(read([{"model": "m", "system": "s", "messages": messages}]))[1]
    assert [dict(block.raw) for block in answer.content] == blocks


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"messages": [{"role": "user", "content": "hi"}], "system": "s"}, "Anthropic Messages"),
        ({"messages": [{"role": "user", "content": "hi"}], "tools": [{"input_schema": {}}]}, "Anthropic Messages"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "OpenAI Chat Completions"),
        ({"messages": []}, "OpenAI Chat Completions"),
        ({"model": "m", "input": "hi"}, "OpenAI Responses"),
        ({"choices": [{"message": {"content": "hi"}}]}, "OpenAI Chat Completions"),
        ({"type": "message", "role": "assistant", "content": [], "usage": {}}, "Anthropic Messages"),
        ({"type": "summary", "summary": "x", "leafUuid": "y"}, "Claude Code"),
        ({"type": "session", "id": "1", "cwd": "/w"}, "Pi"),
    ],
)
def test_shapes_that_look_alike_are_told_apart(tmp_path, value, name):
    """One record is enough to know the format by."""
    path = tmp_path / "x"
    path.write_bytes(lines([value]))
    assert detect_format(path) == name
