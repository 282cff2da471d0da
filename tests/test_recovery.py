"""When the request was refused as too long: what is tried, in which order, how often, and what is never done twice."""

import itertools
import json
import re

import httpx2
import pytest
from compaction_histories import build_history, check_sendable
from hypothesis import given, settings
from hypothesis import strategies as st
from mock_server import HOW_TO_INSTALL, IS_INSTALLED, mock_server
from strategies import histories

from course_lib.agent import Agent, Tool
from course_lib.client import Response, ScriptedClient
from course_lib.errors import (
    ContextOverflowError,
    CourseError,
    OverloadedError,
    RateLimitError,
    RecoveryExhaustedError,
)
from course_lib.events import HistoryRewritten, RequestSent, RunFailed, RunFinished, ToolFinished, record_run
from course_lib.messages import (
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    tool_uses,
    user,
)
from course_lib.providers.settings import ProviderSettings, make_client
from course_lib.recovery import Recovery, ShrinkLargest
from course_lib.simulation.offline_model import OfflineModel
from course_lib.summarize import TwoStageSummary
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import find_pair_faults

COUNTER = MessageCounter(chars_counter(4))
SUMMARY = "<summary>Everything up to here is done and green.</summary>"
SHRINK, COLLAPSE, SUMMARISE = "shrink the largest results", "collapse the oldest", "two-stage summary"


def too_long(request=None, limit=None):
    """A refusal, with or without numbers."""
    return ContextOverflowError("prompt is too long", request_tokens=request, limit_tokens=limit, status=400)


def batch(*sizes, first=0):
    """A batch with a result of about so many tokens for each size."""
    ids = [f"c{first}_{at}" for at in range(len(sizes))]
    results = [
        ToolResultBlock(id_, f"{id_} " + "word " * (size * 4 // 5)) for id_, size in zip(ids, sizes, strict=True)
    ]
    return assistant(*(ToolUseBlock(id_, "f", {}) for id_ in ids)), user(*results)


def talk(rounds, size=100, first=0):
    """A request, and rounds of one result each."""
    return (user("Fix it. Never touch vendor/."), *(m for n in range(rounds) for m in batch(size, first=first + n)))


def summary(*replies, keep=2):
    """A summary strategy with a model that answers these, then well for ever."""
    client = ScriptedClient(itertools.chain(replies, itertools.repeat(SUMMARY)), window_tokens=10**6, counter=COUNTER)
    return TwoStageSummary(
        client=client,
        counter=COUNTER,
        keep_messages=keep,
        least_tokens=1,
        max_request_tokens=50,
        max_requests_tokens=100,
        max_recent_tokens=10**6,
    )


def names(report):
    """What was tried, and what came of it."""
    return [(attempt.name, attempt.outcome) for attempt in report.attempts]


# --- the order -------------------------------------------------------------------------------------------------------


def test_the_largest_result_is_shrunk_before_anything_is_thrown_away():
    """One result of ten thousand among small ones: it alone is shorter, and every message is there."""
    history = (*talk(4), *batch(10_000, 50, first=9), *talk(1, first=20)[1:])
    shorter, report = Recovery(counter=COUNTER, summary=summary())(history, too_long(11_000, 5_000))
    assert names(report) == [(SHRINK, "applied")]
    assert [*map(id, shorter[:10])] == [*map(id, history[:10])]
    assert tool_results(shorter[10])[1] is tool_results(history[10])[1]
    assert COUNTER.messages(shorter) <= COUNTER.messages(history) - 6_000


def test_several_large_results_share_what_they_lose():
    """They are cut to one height, not one of them to nothing."""
    history = (user("go"), *batch(4_000, 4_000, 4_000))
    shorter, _ = Recovery(counter=COUNTER)(history, too_long(12_000, 8_000))
    sizes = [COUNTER.block(result) for result in tool_results(shorter[2])]
    assert max(sizes) - min(sizes) < 20
    assert min(sizes) > 1_500


def test_results_are_not_shrunk_to_nothing():
    """A result at the floor stays as it is."""
    history = (user("go"), *batch(480, 90))
    assert ShrinkLargest(counter=COUNTER, tokens_to_free=10**9)(history) == history
    (cut,) = (m for m in ShrinkLargest(counter=COUNTER, tokens_to_free=10**9)((user("go"), *batch(900)))[2:])
    assert 300 < COUNTER.block(tool_results(cut)[0]) <= 500


def test_then_the_oldest_rounds_go_and_requests_stay():
    """With no large result, the oldest rounds go, as many as needed."""
    history = talk(20)
    shorter, report = Recovery(counter=COUNTER, summary=summary())(history, too_long(2_000, 1_500))
    assert names(report) == [(SHRINK, "skipped"), (COLLAPSE, "applied")]
    assert shorter[0] is history[0]
    assert shorter[1].kind == "boundary"
    assert shorter[-1] is history[-1]
    assert 500 <= report.attempts[1].tokens_freed < 700


def test_a_summary_comes_last_and_only_if_it_is_needed():
    """When the gentler steps are not enough by the provider's own numbers, the model is asked in the same try."""
    history = (*STUCK, *batch(100))
    strategy = summary()
    shorter, report = Recovery(counter=COUNTER, summary=strategy)(history, too_long(3_300, 300))
    assert [name for name, _ in names(report)] == [SHRINK, COLLAPSE, SUMMARISE]
    assert report.attempts[-1].outcome == "applied"
    assert len(strategy.client.requests) == 1
    assert shorter[0].kind == "summary"
    assert report.name == "recovery: two-stage summary"


def test_without_numbers_one_step_is_tried_at_a_time():
    """Where the provider does not say how much is too much, a fifth is freed, and the request is made again."""
    history = talk(20)
    shorter, report = Recovery(counter=COUNTER, summary=summary())(history, too_long())
    assert names(report) == [(SHRINK, "skipped"), (COLLAPSE, "applied")]
    freed = COUNTER.messages(history) - COUNTER.messages(shorter)
    assert 0.2 <= freed / COUNTER.messages(history) < 0.3


@pytest.mark.parametrize(("request_tokens", "limit"), [(100, None), (None, 100), (0, 0), (100, 200)])
def test_odd_numbers_do_no_harm(request_tokens, limit):
    """Half of the numbers, zeros, or a request that would have fitted: something is freed, and nothing breaks."""
    history = talk(20)
    shorter, report = Recovery(counter=COUNTER)(history, too_long(request_tokens, limit))
    assert report.outcome == "applied"
    assert COUNTER.messages(shorter) < COUNTER.messages(history)


# --- once a turn -----------------------------------------------------------------------------------------------------

WORDS_ONLY = (user("Fix it."), user("y" * 12_000), user("go on"))  # no result to shrink, no round to collapse
STUCK = (user("Fix it."), assistant("x" * 8_000), user("y" * 4_000), assistant("z" * 400), user("go on"))


def until_exhausted(hook, look, view, numbers=(9_000, 1)):
    """Refuse for ever; look at every try, and return the last one."""
    for _ in range(200):
        try:
            shorter, report = hook(view, too_long(*numbers))
        except RecoveryExhaustedError:
            return view
        assert report.outcome == "applied"
        assert COUNTER.messages(shorter) < COUNTER.messages(view)
        look(shorter)
        view = shorter
    pytest.fail("two hundred tries and no end")


def test_one_summary_a_turn():
    """After one that helped, a second refusal in the turn finds nothing left; the next turn may have one again."""
    strategy = summary(keep=1)
    hook = Recovery(counter=COUNTER, summary=strategy)
    view, _ = hook((*STUCK, *batch(100)), too_long(3_500, 500))
    grown = (*view, assistant("w" * 4_000), *batch(100, first=5))
    grown = until_exhausted(hook, lambda view: view, grown)
    assert len(strategy.client.requests) == 1
    new_turn = (
        *grown,
        assistant("v"),
        user("A new task: " + "n" * 8_000),
        assistant("w"),
        user("Now."),
        assistant("z"),
    )
    hook(new_turn, too_long(9_000, 100))
    assert len(strategy.client.requests) == 2


def test_a_summary_that_takes_the_request_in_begins_no_new_turn():
    """The request is inside the summary afterwards; that is still the same turn."""
    strategy = summary(keep=1)
    hook = Recovery(counter=COUNTER, summary=strategy)
    history = (*STUCK, assistant("a " * 3_000), *batch(50, first=1), assistant("b " * 3_000), *batch(50, first=2))
    view, _ = hook(history, too_long(9_000, 50))
    assert not any(m.kind == "chat" and message_text(m) == "go on" for m in view)
    until_exhausted(hook, lambda view: view, (*view, assistant("w" * 4_000), *batch(50, first=7)))
    assert len(strategy.client.requests) == 1


def test_a_summary_that_failed_is_not_paid_for_again_in_the_turn():
    """Its failure is reported; the next refusal of the turn does without."""
    strategy = summary("no tags", OverloadedError("busy"), keep=1)
    seen = []
    hook = Recovery(counter=COUNTER, summary=strategy, on_attempt=seen.append)
    for _ in range(2):
        with pytest.raises(RecoveryExhaustedError, match=r"two-stage summary \(the answer has no whole <summary>"):
            hook(WORDS_ONLY, too_long(3_500, 500))
    assert len(strategy.client.requests) == 1
    assert [event.name for event in seen] == [SHRINK, COLLAPSE, SUMMARISE, SHRINK, COLLAPSE]
    assert {event.trigger for event in seen} == {"recovery"}


def test_the_last_error_says_what_was_tried_and_what_would_help():
    """Each attempt with its reason, what is left, the ways out, the provider's words and numbers."""
    with pytest.raises(RecoveryExhaustedError) as caught:
        Recovery(counter=COUNTER)((user("x" * 40_000),), too_long(10_004, 500))
    text = str(caught.value)
    for part in (SHRINK, COLLAPSE, "no round is old enough", "10,004 tokens", "A larger window", "prompt is too long"):
        assert part in text
    assert (caught.value.request_tokens, caught.value.limit_tokens, caught.value.status) == (10_004, 500, 400)
    assert isinstance(caught.value, ContextOverflowError)


@given(histories(max_moves=12), st.sampled_from([(None, None), (2_000, 100), (10**6, 1), (101, 100)]), st.booleans())
def test_it_ends_and_breaks_nothing(history, numbers, with_summary):
    """Refused for ever, any history comes to an end after a few tries; every try is shorter and can be sent."""
    hook = Recovery(counter=COUNTER, summary=summary() if with_summary else None)

    def look(view):
        assert {fault.kind for fault in find_pair_faults(view)} <= {"pending_call"}
        check_sendable(view)

    until_exhausted(hook, look, history, numbers)


# --- in a run --------------------------------------------------------------------------------------------------------

F = ToolSpec("f", "Does something.", {"type": "object", "properties": {}})


class CountedTool:
    """A tool that keeps count of its runs."""

    def __init__(self, result):
        self.result, self.runs = result, 0

    def __call__(self, _):
        """Return the result once more."""
        self.runs += 1
        return f"{self.runs}: {self.result}"


def call(number):
    """An answer that calls the tool."""
    return assistant(f"Step {number}.", ToolUseBlock(f"k{number}", "f", {}))


def check_nothing_twice(run, tool, *, calls):
    """Each call ran once, in order, each answer came once, and no request was sent twice."""
    finished = [event.call.id for event in run.events if isinstance(event, ToolFinished)]
    assert finished == [*dict.fromkeys(finished)]
    assert tool.runs == len(finished) == calls
    sent = [event.request.messages for event in run.events if isinstance(event, RequestSent)]
    assert all(a != b for a, b in itertools.pairwise(sent))


@pytest.mark.parametrize("numbers", [True, False])
def test_a_run_goes_on_after_refusals_and_does_nothing_twice(numbers):
    """A model with a small window refuses again and again; the run ends well, each tool ran once, no pair is broken."""

    class Forgetful(ScriptedClient):
        def complete(self, messages, **rest):
            try:
                return super().complete(messages, **rest)
            except ContextOverflowError as error:
                raise error if numbers else too_long() from None

    tool = CountedTool("word " * 400)
    client = Forgetful([*map(call, range(12)), "All done."], window_tokens=3_000, counter=COUNTER)
    agent = Agent(client, [Tool(F, tool)], max_output_tokens=200, recover=Recovery(counter=COUNTER))
    run = record_run(agent.run("Do it twelve times."))
    assert isinstance(run.events[-1], RunFinished)
    assert run.events[-1].text == "All done."
    check_nothing_twice(run, tool, calls=12)
    recovered = [event for event in run.events if isinstance(event, HistoryRewritten)]
    assert recovered
    assert all(event.detail.name.startswith("recovery: ") for event in recovered)
    assert requests_hold(agent.messages, "Do it twelve times.")
    assert find_pair_faults(agent.messages) == ()


def requests_hold(messages, text):
    """Whether the user's words are still there word for word."""
    return any(text in message_text(message) for message in messages)


def test_a_run_that_cannot_be_saved_fails_once_with_the_reason():
    """When nothing helps, the run ends with the error that lists what was tried."""
    client = ScriptedClient(["never"], window_tokens=500, counter=COUNTER)
    agent = Agent(client, max_output_tokens=100, recover=Recovery(counter=COUNTER))
    run = record_run(agent.run("x" * 40_000))
    assert isinstance(run.events[-1], RunFailed)
    assert isinstance(run.error, RecoveryExhaustedError)
    assert len(client.requests) == 1


@pytest.mark.parametrize(
    "error", [RateLimitError("tokens per minute", status=429), OverloadedError("busy", status=529)]
)
def test_other_refusals_are_not_answered_by_forgetting(error):
    """A rate limit is no overflow: nothing is thrown away, and the error goes up."""
    agent = Agent(ScriptedClient([error]), recover=Recovery(counter=COUNTER))
    agent.messages = talk(10)
    before = agent.messages
    assert record_run(agent.run("go on")).error is error
    assert agent.messages[: len(before)] == before


def test_an_answer_cut_off_by_the_window_is_recovered_from():
    """Some providers refuse by stopping: that has no numbers, and is handled like any other."""
    cut = Response(assistant("half an ans"), "context_window_exceeded", Usage())
    agent = Agent(ScriptedClient([cut, "done"]), recover=Recovery(counter=COUNTER))
    agent.messages = talk(10)
    run = record_run(agent.run("go on"))
    assert run.error is None
    assert "half an ans" not in str(agent.messages)


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_against_the_offline_model(dialect):
    """It refuses in either provider's words, and counts exactly where the hook estimates: the run ends well."""
    client = OfflineModel(window_tokens=3_000, dialect=dialect)
    tool = CountedTool("data " * 300)
    history = build_history(["call long", "parallel", "ask", "answer long"] * 6, "answered")
    agent = Agent(
        client,
        [Tool(F, tool)],
        max_output_tokens=200,
        max_rounds=6,
        recover=Recovery(counter=COUNTER, summary=summary()),
    )
    agent.messages = history
    run = record_run(agent.run("Go on."))
    assert run.error is None
    sent = [event for event in run.events if isinstance(event, RequestSent)]
    assert len(sent) > run.rounds
    assert requests_hold(agent.messages, "Never touch anything under vendor/.")
    calls = [use.id for response in run.responses for use in tool_uses(response.message)]
    assert calls == [*dict.fromkeys(calls)]


@given(histories(max_moves=10), st.sampled_from([600, 2_000]), st.sampled_from(["anthropic", "openai"]))
@settings(max_examples=25)
def test_random_histories_against_the_offline_model(history, window_tokens, dialect):
    """Whatever the history: the run ends, with an answer or with the error that lists what was tried."""
    client = OfflineModel(window_tokens=window_tokens, dialect=dialect, counter=COUNTER)
    agent = Agent(client, max_output_tokens=100, max_rounds=1, recover=Recovery(counter=COUNTER, summary=summary()))
    agent.messages = history
    run = record_run(agent.run("Go on."))
    assert run.error is None or isinstance(run.error, RecoveryExhaustedError)
    assert len(run.requests) < 60


# --- over HTTP -------------------------------------------------------------------------------------------------------


def answer_of(provider, text):
    """A whole answer in the provider's shape."""
    if provider == "anthropic":
        usage = {"input_tokens": 1, "output_tokens": 1}
        content = [{"type": "text", "text": text}]
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": content,
            "stop_reason": "end_turn",
            "usage": usage,
        }
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def anthropic(kind, message):
    """An error as Anthropic words it."""
    return {"type": "error", "error": {"type": kind, "message": message}}


def openai(message, kind="invalid_request_error", code=None, **more):
    """An error as OpenAI, and servers that speak like it, word it."""
    return {"error": {"message": message, "type": kind, "code": code, **more}}


# How providers say it, by status and body; {n} is what the request had, in their own count.
MAXIMUM = "This model's maximum context length is 2000 tokens. However, your messages resulted in {n} tokens."
WORDS = {
    "anthropic": (400, anthropic("invalid_request_error", "prompt is too long: {n} tokens > 2000 maximum")),
    "anthropic 413": (413, anthropic("request_too_large", "Request exceeds the maximum size")),
    "openai": (400, openai(MAXIMUM, code="context_length_exceeded")),
    "openai words only": (400, openai("Your input exceeds the context window of this model.")),
    "llama.cpp": (400, openai("too long", "exceed_context_size_error", 400, n_prompt_tokens=9_000, n_ctx=2_000)),
}


@pytest.mark.parametrize("words", WORDS)
def test_through_the_sdks_every_shape_of_too_long_is_recovered_from(words):
    """A transport that refuses as the provider does, until the request is short: the run ends with one answer."""
    status, body = WORDS[words]
    provider = "anthropic" if words.startswith("anthropic") else "openai"
    sizes = []

    def serve(request):
        sizes.append(len(request.content) // 4)
        if sizes[-1] > 2_000:
            return httpx2.Response(status, json=json.loads(json.dumps(body).replace("{n}", str(sizes[-1]))))
        return httpx2.Response(200, json=answer_of(provider, "Done."))

    settings_ = ProviderSettings(provider=provider, model="m", api_key="k", window_tokens=10**6, max_retries=2)
    client = make_client(settings_, http_client=httpx2.Client(transport=httpx2.MockTransport(serve)))
    agent = Agent(client, recover=Recovery(counter=COUNTER))
    agent.messages = (*talk(30), assistant("ok"))
    run = record_run(agent.run("Go on."))
    assert run.error is None, run.error
    assert run.events[-1].text == "Done."
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes) >= 2  # nothing was sent twice, by the SDK neither
    assert requests_hold(agent.messages, "Never touch vendor/.")


WINDOW_TOKENS = 600


@pytest.fixture(scope="module")
def address():
    """The address of a server that speaks both protocols and has a small window."""
    if not IS_INSTALLED:
        pytest.skip(HOW_TO_INSTALL)
    with mock_server(WINDOW_TOKENS) as running:
        yield running


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_against_a_real_server(address, provider, stream):
    """Over HTTP, streamed or not: a conversation ten times too long is made short, and answered once."""
    path = {"anthropic": "/anthropic", "openai": "/v1"}[provider]
    client = make_client(
        ProviderSettings(
            provider=provider,
            model="some-model",
            base_url=address + path,
            window_tokens=WINDOW_TOKENS,
            max_output_tokens=100,
            max_retries=0,
            stream=stream,
        )
    )
    attempts = []
    agent = Agent(client, max_output_tokens=100, recover=Recovery(counter=COUNTER, on_attempt=attempts.append))
    agent.messages = (*talk(4, size=1_500), assistant("ok"))
    run = record_run(agent.run("Say hello."))
    assert run.error is None, run.error
    assert len(run.responses) == 1
    assert any(event.outcome == "applied" for event in attempts)
    assert requests_hold(agent.messages, "Never touch vendor/.")


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_real_server_that_nothing_helps_against(address, provider):
    """One endless message of the user: the error says what was tried and what the server said."""
    path = {"anthropic": "/anthropic", "openai": "/v1"}[provider]
    settings_ = {"model": "some-model", "window_tokens": WINDOW_TOKENS, "max_output_tokens": 100, "max_retries": 0}
    client = make_client(ProviderSettings(provider=provider, base_url=address + path, **settings_))
    agent = Agent(client, max_output_tokens=100, recover=Recovery(counter=COUNTER))
    run = record_run(agent.run("word " * 4_000))
    assert isinstance(run.error, RecoveryExhaustedError)
    assert isinstance(run.error, CourseError)
    assert re.search(r"Tried: shrink the largest results .*; collapse the oldest ", str(run.error))
    assert run.error.limit_tokens == WINDOW_TOKENS
