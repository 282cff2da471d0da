"""The loop: its order, its hooks, and what it leaves behind when something goes wrong in the middle."""

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.agent import Agent, Tool
from course_lib.client import Request, Response, ScriptedClient
from course_lib.errors import (
    ContextOverflowError,
    CourseError,
    EmptyResponseError,
    InvalidRequestError,
    MessageFormatError,
    OverloadedError,
    PairingError,
    SettingsError,
    ToolError,
)
from course_lib.events import (
    HistoryRewritten,
    RequestSent,
    ResponseReceived,
    Run,
    RunFailed,
    RunFinished,
    ToolFinished,
    record_run,
)
from course_lib.messages import (
    ImageBlock,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    user,
)
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import NO_RESULT_TEXT, find_pair_faults, pending_calls
from course_lib.wire_openai import INVALID_JSON

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
    "required": ["path"],
}


def tool(run, name="read", schema=SCHEMA):
    """A tool that does what the function says."""
    return Tool(ToolSpec(name, f"does {name}", schema), run)


def call(*ids, name="read", **arguments):
    """An assistant message that calls the tool once for each id."""
    return assistant(*(ToolUseBlock(id_, name, arguments or {"path": id_}) for id_ in ids))


def read(arguments):
    """The tool of most tests: it says what it was asked for."""
    return f"text of {arguments['path']}"


def agent_for(*script, tools=None, window_tokens=128_000, **more):
    """An agent with a scripted model that counts characters, and the tool `read`."""
    counter = MessageCounter(len, message_overhead_tokens=0)
    client = ScriptedClient(script, window_tokens=window_tokens, counter=counter)
    return Agent(client, [tool(read)] if tools is None else tools, **more)


def kinds(events):
    """The names of the events, in order."""
    return [type(event).__name__ for event in events]


def results_of(messages):
    """What the calls got, in order: (id, text, is it an error)."""
    return [(r.tool_use_id, r.text, r.is_error) for message in messages for r in tool_results(message)]


def result_of(one_call, *tools):
    """The one result of a run in which the model makes this call."""
    agent = agent_for(one_call, "done", tools=tools or None)
    assert record_run(agent.run("go")).error is None
    (result,) = tool_results(agent.messages[2])
    return result


# --- the loop --------------------------------------------------------------------------------------------------------


def test_an_answer_without_calls_ends_the_run():
    """One request, one response, and the run is finished with the model's words."""
    agent = agent_for("hello")
    events = list(agent.run("hi"))
    assert kinds(events) == ["RequestSent", "ResponseReceived", "RunFinished"]
    assert events[-1] == RunFinished(1, "hello", "end_turn")
    assert agent.messages == (user("hi"), assistant("hello"))


def test_the_loop_asks_runs_the_tools_and_asks_again():
    """Request, response, tools, until a response calls none; rounds are numbered from 1."""
    agent = agent_for(call("a"), call("b"), "done")
    events = list(agent.run("go"))
    turn = ["RequestSent", "ResponseReceived", "ToolFinished"]
    assert kinds(events) == [*turn, *turn, "RequestSent", "ResponseReceived", "RunFinished"]
    assert [event.round_number for event in events] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert agent.messages == (
        user("go"),
        call("a"),
        user(ToolResultBlock("a", "text of a")),
        call("b"),
        user(ToolResultBlock("b", "text of b")),
        assistant("done"),
    )


def test_parallel_calls_run_in_order_and_are_answered_together():
    """Each call has its event, in order; all results of a batch stand in one message."""
    asked = []
    agent = agent_for(call("a", "b", "c"), "done", tools=[tool(lambda given: asked.append(given["path"]) or "ok")])
    finished = [event for event in agent.run("go") if isinstance(event, ToolFinished)]
    assert asked == [event.call.id for event in finished] == ["a", "b", "c"]
    assert agent.messages[2] == user(*(event.result for event in finished))


def test_a_run_goes_on_where_the_last_one_ended():
    """The conversation is one: a second run adds to it."""
    agent = agent_for("one", "two")
    record_run(agent.run("first"))
    record_run(agent.run("second"))
    assert agent.messages == (user("first"), assistant("one"), user("second"), assistant("two"))


def test_nothing_happens_before_the_first_event_is_asked_for():
    """`run` is a generator: made but not started, it changes nothing."""
    agent = agent_for("hello")
    events = agent.run("hi")
    assert agent.messages == ()
    next(events)
    assert agent.messages == (user("hi"),)


def test_everything_is_sent_each_time():
    """System prompt, tools and reserve go out with every request, and the whole conversation."""
    agent = agent_for(call("a"), "done", system="be brief", max_output_tokens=77)
    run = record_run(agent.run("go"))
    for request in run.requests:
        assert (request.system, [spec.name for spec in request.tools], request.max_tokens) == ("be brief", ["read"], 77)
    assert [len(request.messages) for request in run.requests] == [1, 3]


@given(st.lists(st.integers(1, 3), max_size=5))
def test_each_request_is_a_prefix_of_the_next(batches):
    """Without hooks the conversation only grows: every message of a request is the same object in the next."""
    script = [call(*(f"c{turn}_{number}" for number in range(size))) for turn, size in enumerate(batches)]
    agent = agent_for(*script, "done")
    requests = record_run(agent.run("go")).requests
    assert len(requests) == len(batches) + 1
    for earlier, later in pairwise(requests):
        assert len(later.messages) == len(earlier.messages) + 2
        assert [*map(id, earlier.messages)] == [*map(id, later.messages[: len(earlier.messages)])]


def test_the_text_of_a_run_is_the_last_message_only():
    """Words beside calls are not the answer; the answer is the text of the last message."""
    talk = assistant("I look.", *call("a").content)
    events = list(agent_for(talk, assistant(ThinkingBlock("so"), "It is", "there.")).run("go"))
    assert events[-1].text == "It is\nthere."


def test_usage_stays_on_the_messages():
    """Each assistant message in the history carries what its call was billed."""
    agent = agent_for(call("a"), "done")
    responses = record_run(agent.run("go")).responses
    assert [agent.messages[at].usage for at in (1, 3)] == [response.usage for response in responses]
    assert all(response.usage.input_tokens > 0 for response in responses)


@pytest.mark.parametrize(("max_rounds", "reason"), [(3, "end_turn"), (2, "max_rounds"), (1, "max_rounds")])
def test_rounds_are_limited(max_rounds, reason):
    """The run ends, incomplete and said so, when the last round was not enough; exactly enough is complete."""
    agent = agent_for(call("a"), call("b"), "done", max_rounds=max_rounds)
    last = record_run(agent.run("go")).events[-1]
    assert (last.reason, last.is_complete, last.round_number) == (reason, reason == "end_turn", max_rounds)
    assert ("rounds" in last.text) == (reason == "max_rounds")
    assert find_pair_faults(agent.messages) == ()


def test_the_defaults_of_an_agent():
    """The reserve is that of a request, and 200 rounds are enough for any task of the course."""
    agent = agent_for("done")
    assert record_run(agent.run("go")).requests[0].max_tokens == Request(messages=()).max_tokens == 4_096
    assert agent.max_rounds == 200


def test_a_run_out_of_rounds_can_be_continued():
    """The tools of the last round have run, so the next run has a sound conversation to go on with."""
    agent = agent_for(call("a"), "done", max_rounds=1)
    record_run(agent.run("go"))
    assert results_of(agent.messages) == [("a", "text of a", False)]
    assert record_run(agent.run("go on")).events[-1].text == "done"


@pytest.mark.parametrize(
    ("reason", "is_complete"),
    [("end_turn", True), ("max_tokens", False), ("refusal", False), ("tool_use", False)],
)
def test_only_an_end_by_the_models_own_word_is_complete(reason, is_complete):
    """An answer that was cut off or refused is finished, but not complete."""
    last = record_run(agent_for(Response(assistant("well"), reason, Usage())).run("go")).events[-1]
    assert (last.reason, last.text, last.is_complete) == (reason, "well", is_complete)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_a_blank_message_is_refused_before_it_is_said(text):
    """No provider takes a blank message: it is refused and does not spoil the conversation."""
    agent = agent_for("hello")
    with pytest.raises(MessageFormatError, match="blank"):
        list(agent.run(text))
    assert agent.messages == ()
    assert record_run(agent.run("hi")).error is None


def test_two_tools_of_one_name_are_refused():
    """A name that two tools share is a settings error at once, not a tool that is silently lost."""
    with pytest.raises(SettingsError, match="read"):
        agent_for(tools=[tool(read), tool(read)])


# --- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_back", "content"),
    [
        ("text", (TextBlock("text"),)),
        ([TextBlock("a"), ImageBlock(url="u")], (TextBlock("a"), ImageBlock(url="u"))),
        ((block for block in ["a", "b"]), (TextBlock("a"), TextBlock("b"))),
        ("", (TextBlock("(no output)"),)),
        ([], (TextBlock("(no output)"),)),
        (None, (TextBlock("(no output)"),)),
    ],
    ids=range(6),
)
def test_what_a_tool_gives_back(given_back, content):
    """Text and blocks are the result; nothing at all is said to be no output."""
    assert result_of(call("a"), tool(lambda _: given_back)) == ToolResultBlock("a", content)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("no such file: use ls"), "no such file: use ls"),
        (ToolError(), "the tool refused"),
        (ValueError("bad"), "ValueError: bad"),
        (KeyError("x"), "KeyError: 'x'"),
        (StopIteration(), "StopIteration: "),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_exception_in_a_tool_is_an_error_result(error, text):
    """A tool's refusal is sent in its own words, a bug with its name; the run goes on in both cases."""

    def fail(_):
        raise error

    assert result_of(call("a"), tool(fail)) == ToolResultBlock("a", text, is_error=True)


@pytest.mark.parametrize("given_back", [5, {"text": "a"}, [5], object()], ids=["number", "dict", "list", "object"])
def test_a_tool_that_gives_back_no_content_is_an_error_result(given_back):
    """What is neither text nor blocks is the tool's bug; the model reads what was wrong, the run goes on."""
    result = result_of(call("a"), tool(lambda _: given_back))
    assert result.is_error
    assert "MessageFormatError" in result.text


def test_an_error_leaves_the_other_calls_alone():
    """Of three parallel calls the one that fails has an error result, the others their texts."""

    def fail_for_b(given):
        if given["path"] == "b":
            raise ToolError("not b")
        return read(given)

    agent = agent_for(call("a", "b", "c"), "done", tools=[tool(fail_for_b)])
    record_run(agent.run("go"))
    assert results_of(agent.messages) == [("a", "text of a", False), ("b", "not b", True), ("c", "text of c", False)]


@pytest.mark.parametrize(
    ("one_call", "words"),
    [
        (call("a", name="write"), ["there is no tool 'write'", "read, list"]),
        (call("a", lines=3), ["missing 'path'", "it takes path, lines"]),
        (call("a", path="p", line=3), ["unknown 'line'", "it takes path, lines"]),
        (call("a", line=3), ["missing 'path'", "unknown 'line'"]),
        (call("a", name="list", path="p"), ["unknown 'path'"]),
        (call("a", **{INVALID_JSON: '{"path": '}), ["not a JSON object", '{"path": ']),
    ],
    ids=["unknown tool", "missing", "unknown", "both", "takes none", "broken"],
)
def test_a_wrong_call_is_answered_with_what_is_wrong(one_call, words):
    """An unknown tool, or wrong arguments, reach no tool; the error names what was wrong and what would be right."""
    asked = []
    empty = {"type": "object", "properties": {}}
    result = result_of(one_call, tool(asked.append), tool(asked.append, name="list", schema=empty))
    assert asked == []
    assert result.is_error
    for word in words:
        assert word in result.text


@pytest.mark.parametrize("arguments", [{"path": "p"}, {"path": "p", "lines": 3}])
def test_right_arguments_reach_the_tool(arguments):
    """Required arguments, with optional ones or without, are handed over as they are."""
    asked = []
    result_of(call("a", **arguments), tool(lambda given: asked.append(given) or "ok"))
    assert asked == [arguments]


def test_a_schema_without_properties_takes_everything():
    """A tool whose schema names no arguments is not refused any."""
    result = result_of(call("a", anything=1), tool(lambda given: str(given), schema={"type": "object"}))
    assert (result.text, result.is_error) == ("{'anything': 1}", False)


def test_long_broken_arguments_are_cut_in_the_error():
    """Very long broken arguments do not come back as a very long error."""
    assert len(result_of(call("a", **{INVALID_JSON: "{" * 100_000})).text) < 400


def test_a_tool_cannot_change_the_history():
    """A tool that changes its input, on top or deep inside, changes its own copy."""

    def greedy(given):
        given["path"]["deep"].append("more")
        given.clear()
        return "ok"

    agent = agent_for(call("a", path={"deep": ["x"]}), "done", tools=[tool(greedy)])
    record_run(agent.run("go"))
    assert agent.messages[1] == call("a", path={"deep": ["x"]})


# --- interrupted in the middle ---------------------------------------------------------------------------------------


def interrupting(*at):
    """A tool during which the learner presses stop, for these paths."""

    def run(given):
        if given["path"] in at:
            raise KeyboardInterrupt
        return read(given)

    return tool(run)


@pytest.mark.parametrize(("at", "done"), [("a", 0), ("b", 1), ("c", 2)])
def test_an_interrupted_batch_is_whole(at, done):
    """Stopped in a tool, calls that were done keep their results, the others get the standard error, at once."""
    agent = agent_for(call("a", "b", "c"), "fine", tools=[interrupting(at)])
    with pytest.raises(KeyboardInterrupt):
        list(agent.run("go"))
    expected = [(id_, f"text of {id_}", False) for id_ in "abc"[:done]]
    expected += [(id_, NO_RESULT_TEXT, True) for id_ in "abc"[done:]]
    assert results_of(agent.messages) == expected
    assert find_pair_faults(agent.messages) == ()
    assert record_run(agent.run("go on")).error is None


def test_interrupted_twice_it_still_goes_on():
    """Two interrupted runs, one after the other, leave a conversation that the third can finish."""
    agent = agent_for(call("a", "b"), call("c", "d"), "fine", tools=[interrupting("b", "c")])
    for text in ("go", "again"):
        with pytest.raises(KeyboardInterrupt):
            list(agent.run(text))
        assert find_pair_faults(agent.messages) == ()
    assert record_run(agent.run("at last")).events[-1].text == "fine"
    assert [is_error for _, _, is_error in results_of(agent.messages)] == [False, True, True, True]


EVENTS = ["RequestSent", "ResponseReceived", "ToolFinished", "ToolFinished", "RequestSent", "ResponseReceived"]


@pytest.mark.parametrize("stop_after", range(1, len(EVENTS) + 1), ids=lambda count: f"{count}-{EVENTS[count - 1]}")
def test_a_run_closed_at_any_event_can_be_followed_by_another(stop_after):
    """Whoever stops listening in the middle leaves sound pairs, or calls that the next run answers before it asks."""
    agent = agent_for(call("a", "b"), "one", "two", "three")
    events = agent.run("go")
    assert kinds(next(events) for _ in range(stop_after)) == EVENTS[:stop_after]
    events.close()
    assert {fault.kind for fault in find_pair_faults(agent.messages)} <= {"pending_call"}
    assert record_run(agent.run("go on")).error is None
    assert find_pair_faults(agent.messages) == ()
    assert pending_calls(agent.messages) == ()


def test_a_run_closed_twice_in_a_row_goes_on():
    """Left twice after the first tool, both batches are whole."""
    agent = agent_for(call("a", "b"), call("c", "d"), "fine")
    for text in ("go", "again"):
        for event in agent.run(text):
            if isinstance(event, ToolFinished):
                break
    assert [is_error for _, _, is_error in results_of(agent.messages)] == [False, True, False, True]
    assert record_run(agent.run("at last")).error is None


def test_a_forgotten_run_does_not_spoil_the_next():
    """A run that is left open, and closed only after another one has finished, is mended by the run after that."""
    agent = agent_for(call("a", "b"), "one", "two")
    forgotten = agent.run("go")
    while not isinstance(next(forgotten), ToolFinished):
        pass
    assert record_run(agent.run("go on")).error is None
    forgotten.close()
    assert record_run(agent.run("again")).error is None
    assert find_pair_faults(agent.messages) == ()


def test_a_refused_request_leaves_the_conversation_usable():
    """After an error of the provider the user's message stays, and the next run sends it again."""
    agent = agent_for(OverloadedError("busy"), "hello")
    assert isinstance(record_run(agent.run("hi")).error, OverloadedError)
    run = record_run(agent.run("are you there?"))
    assert run.requests[0].messages == (user("hi"), user("are you there?"))
    assert run.error is None


# --- hooks -----------------------------------------------------------------------------------------------------------


def test_rewrite_becomes_the_history():
    """Before each request the rewrite hook may replace the history; the event has both, and what the hook reports."""

    def forget(messages):
        return (messages, None) if len(messages) < 3 else ((messages[0], *messages[-2:]), "dropped")

    agent = agent_for(call("a"), call("b"), "done", rewrite=forget)
    run = record_run(agent.run("go"))
    rewritten = [event for event in run.events if isinstance(event, HistoryRewritten)]
    assert [(event.round_number, event.detail) for event in rewritten] == [(2, "dropped"), (3, "dropped")]
    assert [(len(event.before), len(event.after)) for event in rewritten] == [(3, 3), (5, 3)]
    assert run.requests[2].messages == rewritten[1].after
    assert agent.messages == (*rewritten[1].after, assistant("done"))


def test_rewrite_comes_before_the_request_with_the_pending_message_in():
    """The hook sees the history as it would be sent, the new message or the tools' results included."""
    seen = []
    agent = agent_for(call("a"), "done", rewrite=lambda messages: seen.append(messages) or (messages, None))
    run = record_run(agent.run("go"))
    assert seen == [request.messages for request in run.requests]
    assert "HistoryRewritten" not in kinds(run.events)


@pytest.mark.parametrize(
    ("rewrite", "heard"),
    [
        (lambda messages: (messages, None), False),
        (lambda messages: (messages, "tried, and failed"), True),
        (lambda messages: ((*messages,), None), True),
    ],
    ids=["nothing", "a report", "another tuple"],
)
def test_a_hook_is_heard_of_when_it_did_or_says_something(rewrite, heard):
    """The same tuple and no report is no event; a report, or another tuple, is one."""
    events = record_run(agent_for("done", rewrite=rewrite).run("go")).events
    assert ("HistoryRewritten" in kinds(events)) == heard


def test_project_changes_the_view_and_not_the_history():
    """What a request shows may differ; the history stays whole, and no event tells of a change."""
    agent = agent_for(call("a"), "done", project=lambda messages: messages[:1])
    run = record_run(agent.run("go"))
    assert [request.messages for request in run.requests] == [(user("go"),), (user("go"),)]
    assert len(agent.messages) == 4
    assert "HistoryRewritten" not in kinds(run.events)


def test_project_sees_what_rewrite_left():
    """Rewrite first, then project: the view is one of the history that is kept."""
    order = []
    agent = agent_for(
        "done",
        rewrite=lambda messages: order.append("rewrite") or ((*messages, user("rewritten")), None),
        project=lambda messages: order.append("project") or (*messages, user("shown")),
    )
    run = record_run(agent.run("go"))
    assert order == ["rewrite", "project"]
    assert run.requests[0].messages == (user("go"), user("rewritten"), user("shown"))
    assert agent.messages == (user("go"), user("rewritten"), assistant("done"))


@pytest.mark.parametrize("hook", ["rewrite", "project", "recover"])
def test_an_error_in_a_hook_fails_the_run(hook):
    """A hook that raises an error of the course ends the run with the event and that error."""
    failure = CourseError("the hook failed")

    def fail(*_):
        raise failure

    run = record_run(agent_for(ContextOverflowError("too long"), "done", **{hook: fail}).run("go"))
    assert run.error is failure
    assert run.events[-1] == RunFailed(1, failure)


def test_a_hook_that_breaks_a_pair_is_found_out():
    """A hook's history is sent as it is: a broken pair is refused, not mended in silence."""
    run = record_run(agent_for(call("a"), "done", rewrite=lambda messages: (messages[-1:], None)).run("go"))
    assert isinstance(run.error, PairingError)


# --- too long --------------------------------------------------------------------------------------------------------


def overflowing(**more):
    """An agent whose second request is too long: the window has 400 tokens, and the tool answers with 500."""
    agent = agent_for(
        call("a"), "done", window_tokens=400, max_output_tokens=20, tools=[tool(lambda _: "x" * 500)], **more
    )
    assert MessageCounter(len).request((), tools=[t.spec for t in agent.tools.values()]) < 200
    return agent


def test_without_recover_too_long_ends_the_run():
    """The event comes first, then the error is raised; the history is as it was sent."""
    agent, events = overflowing(), []
    with pytest.raises(ContextOverflowError) as error:
        events.extend(iter(agent.run("go")))
    assert events[-1] == RunFailed(2, error.value)
    assert len(agent.messages) == 3


def test_recover_shortens_and_the_request_is_sent_again():
    """The hook gets the history and the error; what it returns becomes the history, in the same round."""
    heard = []

    def shorten(messages, error):
        heard.append((messages, error))
        return (*messages[:-1], user(ToolResultBlock("a", "short"))), "shrunk"

    agent = overflowing(recover=shorten)
    run = record_run(agent.run("go"))
    assert kinds(run.events)[3:] == [
        "RequestSent",
        "HistoryRewritten",
        "RequestSent",
        "ResponseReceived",
        "RunFinished",
    ]
    assert [event.round_number for event in run.events[3:]] == [2] * 5
    assert run.events[4].detail == "shrunk"
    ((messages, error),) = heard
    assert (len(messages), error.request_tokens > error.limit_tokens) == (3, True)
    assert results_of(agent.messages) == [("a", "short", False)]


def test_recover_is_asked_again_as_long_as_it_helps():
    """One step may not be enough: the hook is asked until the request fits."""

    def halve(messages, _):
        (result,) = tool_results(messages[-1])
        return (*messages[:-1], user(ToolResultBlock("a", result.text[: len(result.text) // 2]))), len(result.text)

    run = record_run(overflowing(recover=halve).run("go"))
    assert [event.detail for event in run.events if isinstance(event, HistoryRewritten)] == [500, 250]
    assert run.error is None


@pytest.mark.parametrize(
    "same", [lambda messages: messages, lambda messages: (*messages[:1], *messages[1:])], ids=["same", "equal"]
)
@pytest.mark.parametrize("detail", [None, "nothing found"])
def test_recover_that_changes_nothing_ends_the_run(same, detail):
    """When the hook has nothing left to shorten, the run ends with the provider's error, not in an endless loop."""
    run = record_run(overflowing(recover=lambda messages, _: (same(messages), detail)).run("go"))
    assert isinstance(run.error, ContextOverflowError)
    assert kinds(run.events)[-1] == "RunFailed"
    assert len(run.requests) == 2


def test_an_answer_cut_off_by_the_window_is_too_long():
    """Providers that stop at the end of the window have not answered: it counts as an overflow, for recover too."""
    cut = Response(assistant("I was abou"), "context_window_exceeded", Usage())
    agent = agent_for(cut)
    assert isinstance(record_run(agent.run("go")).error, ContextOverflowError)
    assert agent.messages == (user("go"),)
    agent = agent_for(cut, "done", recover=lambda messages, _: ((*messages, user("shorter")), None))
    assert record_run(agent.run("go")).events[-1].text == "done"


# --- answers that are none -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [assistant(), assistant(""), assistant(" \n"), assistant("", "\t")], ids=range(4))
def test_an_answer_with_nothing_in_it_fails_the_run(answer):
    """No blocks, or only blank texts, is an error; the conversation is not spoilt by it."""
    agent = agent_for(answer, "hello")
    run = record_run(agent.run("hi"))
    assert isinstance(run.error, EmptyResponseError)
    assert kinds(run.events) == ["RequestSent", "RunFailed"]
    assert agent.messages == (user("hi"),)
    assert record_run(agent.run("hello?")).error is None


@pytest.mark.parametrize("block", [ThinkingBlock("so"), RawBlock({"type": "new"})], ids=["thinking", "raw"])
def test_an_answer_without_text_is_an_answer(block):
    """Thinking alone, or a block that the course does not know, is something: the run ends with an empty text."""
    run = record_run(agent_for(assistant(block)).run("hi"))
    assert (run.error, run.events[-1].text) == (None, "")


def test_blank_texts_beside_calls_are_left_out():
    """Some models put blank texts around their calls, and their API refuses to read them again: they go at once."""
    answer = assistant("\n\n", ThinkingBlock("so", "sig"), *call("a").content, "")
    agent = agent_for(answer, "done")
    run = record_run(agent.run("go"))
    assert run.error is None
    assert agent.messages[1] == assistant(ThinkingBlock("so", "sig"), *call("a").content)
    assert agent.messages[1].usage == run.responses[0].usage


def test_a_whole_answer_stays_the_same_object():
    """A response with nothing to leave out is passed on as it came."""
    ready = Response(assistant("hello"), "end_turn", Usage(1))
    run = record_run(agent_for(ready).run("hi"))
    assert run.responses[0] is ready


# --- records of runs -------------------------------------------------------------------------------------------------


def test_a_recorded_run_has_requests_responses_and_rounds():
    """The record sorts the events: requests, responses and the number of the last round."""
    run = record_run(agent_for(call("a"), "done").run("go"))
    assert run.requests == tuple(event.request for event in run.events if isinstance(event, RequestSent))
    assert run.responses == tuple(event.response for event in run.events if isinstance(event, ResponseReceived))
    assert [message_text(response.message) for response in run.responses] == ["", "done"]
    assert (run.rounds, run.error) == (2, None)


def test_an_error_of_the_course_is_recorded_with_the_events_before():
    """A failed run is returned with every event up to the failure, and its error, and nothing is raised."""
    run = record_run(agent_for(call("a")).run("go"))
    assert kinds(run.events) == ["RequestSent", "ResponseReceived", "ToolFinished", "RequestSent", "RunFailed"]
    assert isinstance(run.error, InvalidRequestError)
    assert run.events[-1].error is run.error
    assert run.rounds == 2


def test_a_bug_is_not_recorded_but_raised():
    """An exception that is none of the course's comes through: a record must not hide a bug."""

    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record_run(agent_for("done", rewrite=broken).run("go"))


def test_no_events_are_no_rounds():
    """An empty record has nothing in it."""
    assert record_run([]) == Run(())
    assert (Run(()).rounds, Run(()).requests, Run(()).responses) == (0, (), ())


@pytest.mark.parametrize(
    "value",
    [
        RequestSent(1, Request(messages=())),
        ResponseReceived(1, Response(assistant("a"), "end_turn", Usage())),
        ToolFinished(1, ToolUseBlock("a", "read", {}), ToolResultBlock("a")),
        HistoryRewritten(1, (), ()),
        RunFinished(1, "a"),
        RunFailed(1, CourseError()),
        Run(()),
        tool(read),
    ],
    ids=lambda value: type(value).__name__,
)
def test_events_and_records_are_frozen(value):
    """A recorded run cannot be changed afterwards, nor can a tool."""
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


def test_a_run_is_complete_unless_something_else_is_said():
    """The reason of a finished run is the model's own end by default."""
    assert RunFinished(1, "a").is_complete
