"""The cases of the field guide about summaries, transcripts, roles, restoration and recovery, each as a test.

Each test is named after its case and builds the case's input itself, so that it runs without the field guide's file.
"""

import itertools
import json
import re
import threading
from pathlib import Path

import httpx2
import pytest

from course_lib.agent import Agent, Tool
from course_lib.client import Response, ScriptedClient
from course_lib.compaction import apply
from course_lib.errors import (
    ContextOverflowError,
    EmptyResponseError,
    RateLimitError,
    SettingsError,
    SummaryError,
    ToolError,
    TranscriptError,
)
from course_lib.events import RequestSent, ToolFinished, record_run
from course_lib.ladder import Ladder, Step
from course_lib.manager import ContextManager
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
from course_lib.own_marks import find_mark, refusing_marks
from course_lib.providers.error_shapes import error_from_response
from course_lib.providers.openai_client import OpenAIClient
from course_lib.providers.settings import ProviderSettings, make_client
from course_lib.recovery import Recovery, ShrinkLargest
from course_lib.restore import ReadState, Restoring
from course_lib.snip import Snip
from course_lib.strategies import SelectiveRetention, ToolResultCompression, Truncation
from course_lib.summarize import TwoStageSummary, requests_of, summary_of
from course_lib.summary_text import SUMMARY_INSTRUCTIONS, read_summary
from course_lib.text_cuts import shorten, snip_middle
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import find_pair_faults, repair
from course_lib.transcript import Transcript
from course_lib.usage_count import hybrid_count
from course_lib.window import Window
from course_lib.wire_anthropic import to_anthropic
from course_lib.wire_openai import to_openai

AREAS = {
    "summary-call", "persistence", "roles", "restoration", "recovery", "usage", "concurrency", "semantics",
    "imitation", "unicode",
}  # fmt: skip
# Cases about parts of the course that come later.
LATER: dict[str, str] = {}
# Other areas' cases that had to wait for these chapters.
WAITED = {"CTX-018", "CTX-109"}
COUNTER = MessageCounter(chars_counter(4))
GOOD = "<summary>Everything up to here is done and green.</summary>"
F = ToolSpec("f", "Does something.", {"type": "object", "properties": {}})


def model(*replies, window_tokens=128_000):
    """A model that gives these answers, then good summaries for ever."""
    return ScriptedClient(
        itertools.chain(replies, itertools.repeat(GOOD)), window_tokens=window_tokens, counter=COUNTER
    )


def two_stage(client=None, **settings):
    """The summary strategy with a model that behaves."""
    return TwoStageSummary(
        client=client or model(), counter=COUNTER, **{"least_tokens": 1, "keep_messages": 4, **settings}
    )


def batch(number, result="word " * 200, name="f", **given):
    """A call and its result."""
    return assistant(ToolUseBlock(f"c{number}", name, given)), user(ToolResultBlock(f"c{number}", result))


def talk(rounds, result="word " * 200):
    """A task, and rounds of one call each."""
    return (
        user("The task. Never touch vendor/."),
        *itertools.chain(*(batch(n, f"{n}: {result}") for n in range(rounds))),
    )


def shown(client):
    """Everything that the model was shown, in one text."""
    return "\n".join(message_text(request.messages[-1]) for request in client.requests)


def opened(folder):
    """A transcript with a clock that stands still."""
    return Transcript(folder, now=lambda: "now", sync="system")


# --- summary-call ----------------------------------------------------------------------------------------------------


def test_ctx_042_the_compaction_request_itself_fits():
    """A history of 1.2 windows is summarised by the same model, in requests that it takes."""
    history = talk(60)
    window = int(COUNTER.messages(history) / 1.2)
    client = model(window_tokens=window)
    after, event = apply(two_stage(client, max_summary_tokens=500), history, COUNTER)
    assert event.outcome == "applied"
    assert len(client.requests) > 1  # a refused one would have been an error of this strict double
    assert all(f"RESULT of c{n}: {n}: word" in shown(client) for n in range(58))
    assert COUNTER.messages(after) < window // 10


def test_ctx_043_one_giant_result_is_clipped_for_the_summariser():
    """Eight million characters before the boundary: the request stays small, and every other message is whole in it."""
    client = model(window_tokens=20_000)
    history = (*talk(3), *batch(9, "start " + "x" * 8_000_000 + " end"), *talk(4)[1:])
    _, event = apply(two_stage(client), (*history[:7], *history[7:9], user("on"), *history[9:][:4]), COUNTER)
    assert event.outcome in ("applied", "failed"), event.reason
    assert all(COUNTER.request(request.messages) + request.max_tokens <= 20_000 for request in client.requests)
    assert re.search(r"start x+\n\[… [\d,]+ of [\d,]+ tokens left out …\]\nx+ end", shown(client))


def test_ctx_045_there_is_no_setting_that_takes_the_cap_off():
    """The input is bounded by the model's window, with every setting of the strategy as it is."""
    client = model(window_tokens=16_000)
    assert not any("trim" in name for name in TwoStageSummary.__dataclass_fields__)
    apply(two_stage(client, max_recent_tokens=10**9), talk(300), COUNTER)
    assert client.requests
    assert all(COUNTER.request(r.messages) + r.max_tokens <= 16_000 for r in client.requests)


def test_ctx_046_a_history_without_user_messages_is_still_shown_to_the_model():
    """One task and thirty batches: the model is called with all of it as text; no placeholder is stored unasked."""
    client = model()
    after, event = apply(two_stage(client), talk(30, "x" * 2_000), COUNTER)
    assert event.outcome == "applied"
    assert all(f"RESULT of c{n}: {n}: xxx" in shown(client) for n in range(28))
    assert summary_of(after) == "Everything up to here is done and green."


@pytest.mark.parametrize("blank", ["  \n", "\n\n", "\t"])
def test_ctx_048_a_blank_reply_replaces_nothing(blank):
    """The history stays as it was; a short summary that says something is taken."""
    history = talk(8)
    after, event = apply(two_stage(model(blank)), history, COUNTER)
    assert (after is history, event.error.fault) == (True, "no text")
    _, event = apply(two_stage(model("<summary>Parser fixed, lexer open.</summary>")), history, COUNTER)
    assert event.outcome == "applied"


def test_ctx_049_a_skeleton_of_headings_is_no_summary():
    """Headings with "none" under each, for an input of forty messages."""
    skeleton = re.sub(r"\n\(.*\)", "\n- none", SUMMARY_INSTRUCTIONS[SUMMARY_INSTRUCTIONS.index("## ") :])
    skeleton = "\n".join(line for line in skeleton.splitlines() if line.startswith(("## ", "- ")))
    history = talk(20)
    after, event = apply(two_stage(model(f"<summary>{skeleton}</summary>")), history, COUNTER)
    assert (after is history, event.error.fault) == (True, "headings only")


def test_ctx_056_no_output_at_all_is_a_failure_with_a_name_and_the_next_step_runs():
    """Nothing came back, by either way of saying so: the history is as it was, and a ladder goes on without a model."""
    history = (*talk(8), user("go on"))
    for nothing in (Response(assistant(), "end_turn", Usage()), EmptyResponseError("nothing")):
        after, event = apply(two_stage(model(nothing)), history, COUNTER)
        assert after is history
        assert isinstance(event.error, SummaryError | EmptyResponseError)
    steps = (Step(0.5, two_stage(model(nothing))), Step(0.5, Truncation(keep_messages=2, counter=COUNTER)))
    ladder = Ladder(name="with a way out", steps=steps, target_ratio=0.4)
    manager = ContextManager(Window(context_tokens=2_500, reserve_tokens=0), ladder, counter=COUNTER)
    shorter, report = manager.rewrite(history)
    assert [step.outcome for step in report.steps] == ["failed", "applied"]
    assert len(shorter) < len(history)


def test_ctx_057_the_summary_call_has_no_tool_twice():
    """As text it goes without tools; with the agent's prefix it has the agent's, which cannot have one name twice."""
    client = model()
    apply(two_stage(client), talk(8), COUNTER)
    assert client.requests[0].tools == ()
    with pytest.raises(SettingsError, match="one name"):
        Agent(client, [Tool(F, str), Tool(F, str)])
    history = talk(8)
    after, event = apply(two_stage(model(), share_prefix=True, tools=(F, F)), history, COUNTER)
    assert (after is history, event.outcome) == (True, "failed")


# --- roles -----------------------------------------------------------------------------------------------------------


def test_ctx_062_a_summary_of_everything_leaves_a_user_message():
    """However little is kept, what is left starts with a user message, in both providers' shapes."""
    after, event = apply(two_stage(keep_messages=1), (*talk(8), assistant("All done.")), COUNTER)
    assert event.outcome == "applied"
    assert after[0].role == "user"
    assert to_anthropic(after)[0]["role"] == to_openai(after, system="s")[1]["role"] == "user"


def test_ctx_105_the_latest_request_is_never_a_summary():
    """Synthetic messages are marked, and whoever looks for the last request skips them."""
    after, _ = apply(two_stage(keep_messages=1), (*talk(8), assistant("ok"), user("real"), *batch(99)), COUNTER)
    assert [m.kind for m in after[:2]] == ["summary", "chat"]
    assert requests_of(after)[-1] == "real"
    restoring = Restoring(
        strategy=two_stage(keep_messages=1), read_text=lambda _: "x", counter=COUNTER, plan=lambda: "p"
    )
    after, _ = apply(
        restoring, (*talk(8), assistant("ok"), user("real"), *batch(99, name="read_file", path="a")), COUNTER
    )
    assert "restored" in [m.kind for m in after]
    assert requests_of(after)[-1] == "real"


# --- restoration -----------------------------------------------------------------------------------------------------


def test_ctx_065_an_edit_after_a_compaction_is_not_refused_as_unread():
    """What was read before counts as read after; a restored file with its present text; others must be read again."""
    disk = {"f.py": "old = 1", "g.py": "g = 1"}
    state = ReadState()
    state.was_read("f.py", disk["f.py"])
    history = (*talk(8), *batch(50, "old = 1", "read_file", path="f.py"), *talk(4)[1:])
    disk["f.py"] = "new = 2"
    restoring = Restoring(
        strategy=Truncation(keep_messages=4, counter=COUNTER),
        read_text=disk.__getitem__,
        counter=COUNTER,
        read_state=state,
    )
    after, event = apply(restoring, repair(history), COUNTER)
    assert event.outcome == "applied"
    assert "new = 2" in str(after)
    assert state.refusal("f.py", "new = 2") == ""
    assert "read it before you edit it" in state.refusal("g.py", "g = 1")


# --- semantics -------------------------------------------------------------------------------------------------------


def test_ctx_068_a_loop_is_found_in_what_happened_not_in_what_is_shown(tmp_path):
    """Three identical errors, cleared or left out of the view: events and transcript still hold all three."""
    error = "boom " * 1_000

    def run(_):
        raise ToolError(error)

    calls = [assistant(ToolUseBlock(f"c{n}", "f", {})) for n in range(3)]
    agent = Agent(
        ScriptedClient([*calls, "I give up."]),
        [Tool(F, run)],
        rewrite=lambda messages: apply(ToolResultCompression(max_result_tokens=50, counter=COUNTER), messages, COUNTER),
    )
    with opened(tmp_path / "s") as transcript:
        events = list(transcript.follow(agent, agent.run("go")))
        raw = [r.text for m in transcript.everything for r in tool_results(m) if r.text == error]
    seen = [event.result.text for event in events if isinstance(event, ToolFinished)]
    assert seen == [error] * 3
    assert len(raw) >= 3
    assert error not in str(agent.messages)


@pytest.mark.parametrize(
    "strategy",
    [
        ClearOldResults(keep_results=0, counter=COUNTER),
        ToolResultCompression(max_result_tokens=20, counter=COUNTER),
        SelectiveRetention(keep_messages=1, counter=COUNTER),
        ShrinkLargest(counter=COUNTER, tokens_to_free=10**6, least_tokens=20),
        Snip(counter=COUNTER, tokens_to_free=1),
    ],
    ids=lambda strategy: strategy.name,
)
def test_ctx_069_a_failed_call_stays_a_failed_call(strategy):
    """The flag and the id survive every tier that leaves the result."""
    failed = (assistant(ToolUseBlock("e1", "f", {})), user(ToolResultBlock("e1", "boom " * 500, is_error=True)))
    after, event = apply(
        strategy, (*talk(2), *failed, assistant("Hm."), *batch(7), assistant("ok"), user("on")), COUNTER
    )
    assert event.outcome == "applied", event.reason
    (result,) = [r for m in after for r in tool_results(m) if r.tool_use_id == "e1"]
    assert result.is_error


def test_ctx_107_a_summary_is_asked_to_say_what_nobody_checked():
    """The prompt asks for it by word, the word reaches the next model, and what was left in doubt is still in doubt."""
    assert "say 'unverified' of what nobody has checked" in SUMMARY_INSTRUCTIONS
    said = "## Done\nThe form was filled in. Unverified: whether it was submitted."
    after, _ = apply(two_stage(model(f"<summary>{said}</summary>")), talk(8), COUNTER)
    assert "Unverified: whether it was submitted." in str(after)
    client = model()
    apply(two_stage(client), (*after, *talk(8)[1:]), COUNTER)
    assert "Unverified: whether it was submitted." in shown(client)


def test_ctx_107_what_a_killed_command_printed_is_an_error_for_the_summariser():
    """The partial output of a failed call is shown as an error, not as a result."""
    client = model()
    killed = (
        assistant(ToolUseBlock("k1", "run", {})),
        user(ToolResultBlock("k1", "all ok…\ntimed out", is_error=True)),
    )
    apply(two_stage(client), (talk(1)[0], *killed, *talk(8)[1:]), COUNTER)
    assert "ERROR of k1: all ok…" in shown(client)


# --- usage -----------------------------------------------------------------------------------------------------------


def completion(usage):
    """A transport that answers in OpenAI's shape with this usage."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=body)))


def test_ctx_076_cached_tokens_are_counted_once():
    """OpenAI's prompt count includes the cached part: a hundred thousand, not a hundred and ninety."""
    usage = {"prompt_tokens": 100_000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 90_000}}
    settings = ProviderSettings(provider="openai", model="m", api_key="k")
    response = OpenAIClient(settings, http_client=completion(usage)).complete((user("hi"),))
    assert response.usage.context_tokens == 100_000
    assert (response.usage.input_tokens, response.usage.cache_read_tokens) == (10_000, 90_000)


def test_ctx_077_the_size_of_the_context_is_the_last_call_s_never_the_sum():
    """Six calls of one turn, each of about 160,000 tokens: the context has 164,000."""
    usages = [Usage(input_tokens=155_000 + 1_800 * n, output_tokens=10) for n in range(6)]
    messages = [user("go")]
    for number, usage in enumerate(usages):
        call, result = batch(number, "ok")
        messages += [assistant(*call.content, usage=usage), result]
    count = hybrid_count(messages, COUNTER)
    assert count.measured == 164_010
    assert count.total < 164_100


# --- unicode ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_ctx_090_half_a_character_does_not_make_a_request_unsendable(provider):
    """At the border to the provider a lone half becomes a mark, two halves one character; the history stays."""
    bodies = []

    def serve(request):
        bodies.append(request.content.decode("utf-8"))
        return httpx2.Response(400, json={"error": {"message": "prompt is too long", "type": "invalid_request_error"}})

    settings = ProviderSettings(provider=provider, model="m", api_key="k", max_retries=0)
    client = make_client(settings, http_client=httpx2.Client(transport=httpx2.MockTransport(serve)))
    call = assistant(ToolUseBlock("c1", "f", {"half \ud83d": ["\ude00"]}))
    history = (user("half \ud83d, whole \ud83d\ude00"), call, user(ToolResultBlock("c1", "\ud83d")))
    with pytest.raises(ContextOverflowError):
        client.complete(history, system="\ud83d")
    text = json.dumps(json.loads(bodies[0]), ensure_ascii=False)
    text.encode()
    assert "half \ufffd, whole 😀" in text
    assert text.count("\ufffd") == 5
    assert "\ud83d" in message_text(history[0])


def test_ctx_091_a_cut_in_a_long_run_of_wide_characters_encodes():
    """Forty thousand characters of three bytes, cut by every means of the library: no crash, no replacement."""
    text = "中" * 40_000
    for cut in (
        shorten(text, 500, COUNTER.text),
        snip_middle(text, 25_000),
        shorten(text, 25_000, lambda t: len(t.encode())),
    ):
        assert "\ufffd" not in cut.encode().decode()
        assert cut.count("中") < 40_000


# --- imitation -------------------------------------------------------------------------------------------------------


def test_ctx_103_a_tool_refuses_to_write_the_library_s_own_marks():
    """Every mark that a strategy leaves is known by its form; a tool that is to write one refuses, and says why."""
    history = (
        *talk(6),
        *batch(20, "x" * 4_000, "write_file", path="a", content="y" * 4_000),
        assistant("z" * 4_000),
        user("on"),
    )
    strategies = [
        ClearOldResults(keep_results=0),
        ToolResultCompression(max_result_tokens=50, counter=COUNTER),
        SelectiveRetention(keep_messages=1, counter=COUNTER),
        Truncation(keep_messages=1, counter=COUNTER),
        Snip(counter=COUNTER, tokens_to_free=100),
    ]
    views = [apply(strategy, history, COUNTER)[0] for strategy in strategies]
    written = []
    tool = refusing_marks(Tool(F, lambda given: written.append(given) or "done"))
    for text in [*(find_mark(str(view)) for view in views), find_mark(snip_middle("x" * 999, 300))]:
        assert text
        for name in ("content", "new_text", "new_string"):
            with pytest.raises(ToolError, match="read the file again, and write the whole text"):
                tool.run({"path": "a", name: f"def f():\n    {text}\n"})
    assert written == []
    assert tool.run({"path": "a", "content": "x = 1", "old_text": "[… 5 of 9 tokens left out …]"}) == "done"
    assert tool.spec is F


# --- concurrency -----------------------------------------------------------------------------------------------------


class Waiting:
    """A model that answers when it is told to."""

    window_tokens = 128_000

    def __init__(self):
        self.asked, self.go, self.calls = threading.Event(), threading.Event(), 0

    def complete(self, *_, **__):
        """Wait, then answer with a summary."""
        self.calls += 1
        self.asked.set()
        assert self.go.wait(20)
        return Response(assistant(GOOD), "end_turn", Usage())


def waiting_manager():
    """A manager above its threshold whose model waits for a sign."""
    client = Waiting()
    ladder = Ladder(name="one", steps=(Step(0.5, two_stage(client)),), target_ratio=0.3)
    manager = ContextManager(Window(context_tokens=3_000, reserve_tokens=0), ladder, counter=COUNTER)
    manager.messages = talk(10)
    return manager, client


def test_ctx_106_compactions_at_once_are_one_and_old_summaries_are_folded():
    """Three tasks ask at once: one call, one summary. Summaries that are there twice already become one."""
    manager, client = waiting_manager()
    threads = [threading.Thread(target=manager.get_context) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert client.asked.wait(20)
    client.go.set()
    for thread in threads:
        thread.join(20)
    assert client.calls == 1
    assert [m.kind for m in manager.messages].count("summary") == 1
    near_equal = tuple(user(f"Summary {n}: the parser is fixed.", kind="summary") for n in range(3))
    folding = model()
    after, _ = apply(two_stage(folding), (*near_equal, *talk(8)), COUNTER)
    assert [m.kind for m in after].count("summary") == 1
    assert all(f"Summary {n}: " in shown(folding) for n in range(3))


def test_ctx_116_a_compaction_that_finishes_late_overwrites_nothing():
    """A result that came meanwhile stands behind the summary."""
    manager, client = waiting_manager()
    thread = threading.Thread(target=manager.get_context)
    thread.start()
    assert client.asked.wait(20)
    late = batch(77, "the late result")
    for message in late:
        manager.add_message(message)
    client.go.set()
    thread.join(20)
    assert manager.messages[0].kind == "summary"
    assert [*map(id, manager.messages[-2:])] == [*map(id, late)]
    assert find_pair_faults(manager.messages) == ()


# --- persistence -----------------------------------------------------------------------------------------------------


def test_ctx_110_resume_sees_the_compacted_view(tmp_path):
    """What is loaded is what was in memory: the few tokens after the compaction, not the many before."""
    history = talk(60)
    after, _ = apply(two_stage(), history, COUNTER)
    with opened(tmp_path / "s") as transcript:
        transcript.save(history)
        transcript.save(after, reason="two-stage summary")
    with opened(tmp_path / "s") as transcript:
        assert transcript.view == after
        assert COUNTER.messages(transcript.view) < COUNTER.messages(history) / 10
        assert transcript.everything[: len(history)] == history


def test_ctx_111_the_last_of_two_boundaries_wins(tmp_path):
    """Compacted twice: the second view, whatever stands in the first."""
    view = talk(20)
    with opened(tmp_path / "s") as transcript:
        for number in range(2):
            transcript.save(view)
            view, event = apply(two_stage(model(f"<summary>This is summary number {number}.</summary>")), view, COUNTER)
            assert event.outcome == "applied"
            transcript.save(view)
            view = (*view, *talk(8)[1:]) if number == 0 else view
    with opened(tmp_path / "s") as transcript:
        assert transcript.view == view
        assert summary_of(transcript.view) == "This is summary number 1."


def test_ctx_113_a_torn_last_line_costs_that_line_only(tmp_path):
    """The session loads with everything before it and says what was torn; damage in the middle is an error."""
    with opened(tmp_path / "s") as transcript:
        transcript.save(talk(3))
    path = tmp_path / "s" / "transcript.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"role":"us')
    with opened(tmp_path / "s") as transcript:
        assert (transcript.view, transcript.torn_bytes) == (talk(3), 11)
    path.write_bytes(whole[:40] + whole[60:])
    with pytest.raises(TranscriptError, match="line 1 is damaged"):
        opened(tmp_path / "s")


@pytest.mark.parametrize("torn", [b'{"role":"us', '{"content":"中'.encode()[:-1], b"\xf0\x9f\x98"])
def test_ctx_114_the_next_record_is_not_glued_to_the_fragment(tmp_path, torn):
    """Torn in a word or inside a character: what is appended next is there after a reload."""
    with opened(tmp_path / "s") as transcript:
        transcript.save(talk(1))
    with (tmp_path / "s" / "transcript.jsonl").open("ab") as file:
        file.write(torn)
    with opened(tmp_path / "s") as transcript:
        transcript.save((*transcript.view, assistant("after the tear")))
    with opened(tmp_path / "s") as transcript:
        assert transcript.view == (*talk(1), assistant("after the tear"))


def test_ctx_018_a_boundary_never_parts_a_call_from_its_result(tmp_path):
    """A boundary says which messages the view has, so a result that comes after it stands behind its call on resume."""
    view = (*talk(6), assistant(ToolUseBlock("c99", "f", {})))
    with opened(tmp_path / "s") as transcript:
        transcript.save(view)
        view, event = apply(two_stage(keep_messages=1), view, COUNTER)
        assert event.outcome == "applied"
        transcript.save(view)
        view = (*view, user(ToolResultBlock("c99", "late")))
        transcript.save(view)
    with opened(tmp_path / "s") as transcript:
        assert transcript.view == view
        assert find_pair_faults(transcript.view) == ()


# --- recovery --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", None),
        (400, "no words of its own", "context_length_exceeded"),
        (
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            None,
        ),
        (413, "Payload Too Large", None),
        (400, "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).", None),
    ],
)
def test_ctx_117_every_provider_s_overflow_starts_the_recovery(status, message, code):
    """Whatever the shape, the run goes on with a shorter conversation."""
    error = error_from_response(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}})
    assert isinstance(error, ContextOverflowError)
    agent = Agent(ScriptedClient([error, "done"]), recover=Recovery(counter=COUNTER))
    agent.messages = (*talk(10), assistant("ok"))
    run = record_run(agent.run("on"))
    assert run.error is None
    assert len(run.requests) == 2


def test_ctx_117_tokens_per_minute_are_no_overflow():
    """A rate limit is not answered by forgetting."""
    message = "Rate limit reached: 200000 tokens per minute. Request too large."
    error = error_from_response(429, {"error": {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}})
    assert isinstance(error, RateLimitError)
    agent = Agent(ScriptedClient([error]), recover=Recovery(counter=COUNTER))
    agent.messages = (*talk(10), assistant("ok"))
    assert record_run(agent.run("on")).error is error
    assert len(agent.messages) == 23


def test_ctx_118_over_the_limit_with_two_messages_the_largest_thing_shrinks():
    """No "not beneficial" at the hard limit: the one big result is cut, by hand or after a refusal."""
    history = (user("go"), *batch(1, "word " * 8_000))
    error = ContextOverflowError("too long", request_tokens=10_500, limit_tokens=10_000)
    shorter, report = Recovery(counter=COUNTER)(history, error)
    assert report.attempts[0].name == "shrink the largest results"
    assert COUNTER.messages(shorter) <= COUNTER.messages(history) - 500
    assert shorter[:2] == history[:2]


def test_ctx_109_a_refused_request_is_made_anew_and_a_finished_one_is_not():
    """Tools that ran before the refusal do not run again, no answered request is sent again, and none is hidden."""
    runs = []
    tool = Tool(F, lambda _: runs.append(1) or "word " * 600)
    script = [assistant(ToolUseBlock(f"c{n}", "f", {})) for n in range(4)]
    client = ScriptedClient([*script, "done"], window_tokens=1_800, counter=COUNTER)
    agent = Agent(client, [tool], max_output_tokens=100, recover=Recovery(counter=COUNTER, summary=two_stage()))
    run = record_run(agent.run("Do it four times."))
    assert run.error is None
    assert len(runs) == 4
    sent = [event.request.messages for event in run.events if isinstance(event, RequestSent)]
    assert len(sent) > 5
    assert all(a != b for a, b in itertools.combinations(sent, 2))
    assert all("Do it four times." in requests_of(messages) for messages in sent)
    again = record_run(agent.run("And now?")) if client.requests.clear() is None else None
    assert len(runs) == 4
    assert again.requests[0].messages[-1] == user("And now?")


def test_every_case_of_these_areas_is_here():
    """Each case of the file has a test of its name above, or a reason in LATER why not yet."""
    file = Path(__file__).resolve().parents[2] / "shared" / "cases" / "field_guide.jsonl"
    if not file.is_file():
        pytest.skip("the field guide's file is not beside the repository")
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wanted = {case["id"] for case in cases if case["area"] in AREAS} | WAITED
    source = Path(__file__).read_text(encoding="utf-8")
    here = {f"CTX-{number}" for number in re.findall(r"^def test_ctx_(\d{3})_", source, re.M)}
    assert wanted
    assert wanted == here | set(LATER)
    assert not here & set(LATER)


def test_the_parser_of_these_tests_is_the_library_s():
    """The good summary that the doubles write is one."""
    assert read_summary(GOOD) == "Everything up to here is done and green."
