"""The pairing cases of the field guide: failures that real projects reported, and the behaviour that is right.

Each test is named after its case and holds the case's input, so that it runs without the field guide's file.
"""

import json
import re
from pathlib import Path

import pytest

from course_lib.agent import Agent, Tool
from course_lib.client import Request, ScriptedClient, check_request
from course_lib.errors import PairingError
from course_lib.events import RunFailed, record_run
from course_lib.messages import (
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    assistant,
    message_text,
    tool_results,
    tool_uses,
    user,
)
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import NO_RESULT_TEXT, find_pair_faults, keep_from, pending_calls, repair, safe_cut

# Cases about parts of the course that come later.
LATER = {"CTX-018": "a compaction record in a transcript: see test_field_guide_summaries"}


def calls(*ids):
    """An assistant message with a call for each id."""
    return assistant(*(ToolUseBlock(id_, "f", {}) for id_ in ids))


def results(**texts):
    """A user message with a result for each id."""
    return user(*(ToolResultBlock(id_, text) for id_, text in texts.items()))


def result_ids(messages):
    """The ids of all results, in order."""
    return [result.tool_use_id for message in messages for result in tool_results(message)]


def call_ids(messages):
    """The ids of all calls, in order."""
    return [call.id for message in messages for call in tool_uses(message)]


def test_ctx_001_the_kept_window_never_begins_with_an_orphan():
    """Keeping the last messages, with default options, pulls the call in; asked for less, it drops both."""
    messages = (user("go"), calls("c1"), results(c1="x" * 4000), assistant("done"), user("next"))
    assert keep_from(messages, 2) == messages[1:]
    assert keep_from(messages, 2, keep="less") == messages[3:]


def test_ctx_002_every_kept_result_needs_its_owner():
    """Owning one of two results is not enough: the call comes along for its own, and the orphan goes."""
    messages = (
        user("q"),
        assistant(ToolUseBlock("b", "Read", {})),
        user(ToolResultBlock("a", "old"), ToolResultBlock("b", "ok")),
        user("next"),
    )
    assert safe_cut(messages, 2) == 1
    assert result_ids(keep_from(messages, 2)) == ["b"]


@pytest.mark.parametrize("popped", range(5))
def test_ctx_004_popping_one_message_takes_its_partner_along(popped):
    """Whichever message a budget pops from the middle, call and result go, or stay, together."""
    messages = [user("1"), calls("c1"), results(c1="big"), user("2"), assistant("ok")]
    del messages[popped]
    mended = repair(messages)
    assert find_pair_faults(mended) == ()
    assert call_ids(mended) == result_ids(mended)
    assert "big" not in str(mended) or popped not in (1, 2)


def test_ctx_005_the_whole_leading_run_of_results_is_stripped():
    """A tail that starts with two results of a parallel batch keeps neither, or the batch with both."""
    messages = (
        user("1"),
        calls("c1", "c2"),
        user(ToolResultBlock("c1", "1")),
        user(ToolResultBlock("c2", "2")),
        assistant("x"),
        user("2"),
    )
    assert repair((messages[0], *messages[-4:])) == (user("1"), assistant("x"), user("2"))
    assert keep_from(messages, 2, keep="less") == (assistant("x"), user("2"))
    assert result_ids(keep_from(messages, 3)) == ["c1", "c2"]


def test_ctx_007_a_limit_is_a_ceiling():
    """The last two of four items would start with an output: one is given, not a broken two and not three."""
    items = (user("q"), calls("c1"), results(c1="out"), assistant("a"))
    assert keep_from(items, len(items) - 2, keep="less") == (assistant("a"),)


def _agent_in_the_middle_of_a_run(project):
    tool = Tool(ToolSpec("f", "does f", {"type": "object", "properties": {}}), lambda _: "result")
    return Agent(ScriptedClient([calls("c1"), "done"]), [tool], project=project)


def test_ctx_008_a_view_is_safe_in_the_middle_of_a_run():
    """Keep-last-1 beside the task, by the library's own function, works while a batch is the newest thing there is."""
    agent = _agent_in_the_middle_of_a_run(lambda messages: (messages[0], *keep_from(messages[1:], len(messages) - 2)))
    run = record_run(agent.run("U"))
    assert run.error is None
    assert result_ids(run.requests[1].messages) == ["c1"]


def test_ctx_008_a_careless_view_is_refused_by_name():
    """A view that keeps only the tool's answer ends the run with an error that names the orphan."""
    run = record_run(_agent_in_the_middle_of_a_run(lambda messages: messages[-1:]).run("U"))
    assert isinstance(run.error, PairingError)
    assert isinstance(run.events[-1], RunFailed)
    assert "orphan result for tool call 'c1'" in str(run.error)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [("real", "again", "again"), ("real", NO_RESULT_TEXT, "real"), (NO_RESULT_TEXT, "real", "real")],
)
def test_ctx_010_two_results_for_a_call_become_one(first, second, kept):
    """At most one result a call: the last that is not synthetic."""
    messages = (user("summary", kind="summary"), calls("c1"), results(c1=first), results(c1=second))
    assert repair(messages) == (*messages[:2], results(c1=kept))


def test_ctx_011_the_summary_request_goes_through_the_same_repair():
    """Parallel results in two messages are refused loudly as they are, and merged into one by repair."""
    to_summarise = (calls("c1", "c2"), user(ToolResultBlock("c1", "1")), user(ToolResultBlock("c2", "2")))
    counter = MessageCounter(chars_counter())

    def check(messages):
        return check_request(Request(messages=messages), window_tokens=10_000, counter=counter)

    with pytest.raises(PairingError, match="'c2'"):
        check((user("go"), *to_summarise, user("summarise")))
    assert repair(to_summarise) == (to_summarise[0], results(c1="1", c2="2"))
    assert check((user("go"), *repair(to_summarise), user("summarise"))) > 0


@pytest.mark.parametrize("keep", ["more", "less"])
@pytest.mark.parametrize("index", range(4))
def test_ctx_013_calls_in_flight_pin_the_boundary(index, keep):
    """While c2 runs, no cut takes its batch away: the open batch stays, word for word."""
    messages = (user("U"), calls("c1", "c2"), results(c1="1"))
    kept = messages[safe_cut(messages, index, keep=keep) :]
    assert [call.id for call in pending_calls(kept)] == ["c2"]
    assert [*map(id, kept[-2:])] == [*map(id, messages[-2:])]


def test_ctx_014_a_trailing_call_is_answered_before_the_summary_call():
    """A history that ends with an unanswered call can be sent, with a request behind it, after repair."""
    history = (user("U"), calls("c1"))
    client = ScriptedClient(["a summary"])
    response = client.complete((*repair(history), user("summarise")))
    assert message_text(response.message) == "a summary"
    assert tool_results(client.requests[0].messages[2])[0].is_error


@pytest.mark.parametrize("keep", ["more", "less"])
@pytest.mark.parametrize("index", range(6))
def test_ctx_017_calls_and_responses_are_equally_many(index, keep):
    """Wherever a compression wants to split, each side has as many responses as calls."""
    messages = (user("q"), calls("a", "b"), results(a="1", b="2"), assistant("done"), user("next"))
    cut = safe_cut(messages, index, keep=keep)
    for side in (messages[:cut], messages[cut:]):
        assert call_ids(side) == result_ids(side)


def test_ctx_020_repair_runs_when_nothing_is_dropped():
    """The call of a timed-out turn is answered although the cut keeps everything."""
    timed_out = assistant(ThinkingBlock("why", "sig"), ToolUseBlock("c1", "f", {}))
    messages = (user("U"), timed_out, assistant(), *(user("x" * 20_000) for _ in range(3)))
    kept = keep_from(messages, 0)
    assert kept == (messages[0], timed_out, user(ToolResultBlock("c1", NO_RESULT_TEXT, is_error=True)), *messages[2:])


def test_ctx_020_the_agent_repairs_before_it_asks():
    """A conversation that ends in a dangling call goes on: each run starts with a repair."""
    agent = Agent(ScriptedClient(["hello"]))
    agent.messages = (user("U"), calls("c1"), *(user("x" * 20_000) for _ in range(3)))
    run = record_run(agent.run("next"))
    assert run.error is None
    assert result_ids(run.requests[0].messages) == ["c1"]


def test_every_case_of_the_field_guide_is_here():
    """Each pairing case of the file has a test of its name above, or a reason in LATER why not yet."""
    file = Path(__file__).resolve().parents[2] / "shared" / "cases" / "field_guide.jsonl"
    if not file.is_file():
        pytest.skip("the field guide's file is not beside the repository")
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wanted = {case["id"] for case in cases if case["area"] == "pairing"}
    here = {
        f"CTX-{number}"
        for number in re.findall(r"^def test_ctx_(\d{3})_", Path(__file__).read_text(encoding="utf-8"), re.M)
    }
    assert wanted
    assert wanted == here | set(LATER)
    assert not here & set(LATER)
