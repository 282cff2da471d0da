"""The strict double: what both providers refuse, it refuses."""

import dataclasses

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import broken_conversations, conversations

from course_lib.client import LLMClient, Request, Response, ScriptedClient, check_request, response_for
from course_lib.errors import ContextOverflowError, InvalidRequestError, OverloadedError, PairingError
from course_lib.messages import (
    ImageBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    user,
)
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.tool_pairs import find_pair_faults

COUNTER = MessageCounter(len, message_overhead_tokens=0)  # a character is a token: sums that can be done by hand
CALL = assistant(ToolUseBlock("c1", "f", {}))
RESULT = user(ToolResultBlock("c1", "ok"))


def check(*messages, window_tokens=1_000, max_tokens=100, **more):
    """The tokens of a request made of these messages, or the refusal."""
    request = Request(messages=messages, max_tokens=max_tokens, **more)
    return check_request(request, window_tokens=window_tokens, counter=COUNTER)


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ((user("hi"),), 2),
        ((user("hi"), assistant("yes?"), user("go")), 8),
        ((user("hi"), CALL, RESULT), 7),
        ((user("hi"), user("again")), 7),
        ((user(ImageBlock(url="u")),), 2_000),
        ((user("hi"), CALL, user(ToolResultBlock("c1"))), 5),
    ],
    ids=range(6),
)
def test_a_sound_request_is_counted(messages, tokens):
    """What both providers take passes, and its tokens are returned."""
    assert check(*messages, window_tokens=10_000) == tokens


def test_system_and_tools_count_in_a_request():
    """System prompt and tool definitions are part of what is sent."""
    tool = ToolSpec("f", "does f", {"type": "object"})
    assert check(user("hi"), system="brief", tools=(tool,)) == 2 + 5 + COUNTER.tool(tool)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ((), "no message"),
        ((assistant("hi"),), "starts and ends with a user message"),
        ((assistant("hi"), user("hi")), "first message is the assistant's"),
        ((user("hi"), assistant("hi")), "last the assistant's"),
        ((user(),), "message 0 has empty content"),
        ((user(""),), "message 0 has empty content"),
        ((user(" \n"),), "message 0 has empty content"),
        ((user("hi"), assistant(), user("hi")), "message 1 has empty content"),
        ((user("hi"), assistant("a", ""), user("hi")), "message 1 has empty content"),
        ((user("hi"), CALL, user(*RESULT.content, "")), "message 2 has empty content"),
    ],
    ids=range(10),
)
def test_a_wrong_shape_is_refused(messages, words):
    """No message, a wrong one at an end, or empty content is refused with its place, as status 400."""
    with pytest.raises(InvalidRequestError) as error:
        check(*messages)
    assert words in str(error.value)
    assert error.value.status == 400
    assert type(error.value) is InvalidRequestError


def test_two_tools_of_one_name_are_refused():
    """Tool names are unique in a request; the error lists them."""
    tools = tuple(ToolSpec(name, "", {}) for name in ("f", "g", "f"))
    with pytest.raises(InvalidRequestError, match=r"\['f', 'f', 'g'\]"):
        check(user("hi"), tools=tools)
    assert check(user("hi"), tools=tools[:2]) > 0


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ((user("hi"), CALL, user("next")), "missing result for tool call 'c1'"),
        ((user("hi"), RESULT), "orphan result for tool call 'c1'"),
        ((user("hi"), CALL, user("wait", *RESULT.content)), "results not first for tool call 'c1'"),
    ],
)
def test_broken_pairs_are_refused(messages, words):
    """A broken pair is refused before anything is counted."""
    with pytest.raises(PairingError, match=words):
        check(*messages, window_tokens=1)


@given(conversations() | broken_conversations())
def test_a_request_passes_exactly_when_it_is_sound(messages):
    """In a window with room, a request with user messages at both ends and no empty content fails only by its pairs."""
    messages = (user("go"), *(message for message in messages if message.content), user("next"))
    counter = MessageCounter(len)
    request = Request(messages=messages)
    if find_pair_faults(messages):
        with pytest.raises(PairingError):
            check_request(request, window_tokens=10**9, counter=counter)
    else:
        assert check_request(request, window_tokens=10**9, counter=counter) == counter.messages(messages)


@pytest.mark.parametrize(("length", "reserve"), [(900, 100), (1, 999), (1_000, 0), (500, 500)])
def test_a_full_window_is_no_overflow(length, reserve):
    """Request and reserve together may fill the window to the last token."""
    assert check(user("x" * length), window_tokens=1_000, max_tokens=reserve) == length


@pytest.mark.parametrize(("length", "reserve"), [(901, 100), (1, 1_000), (1_001, 0), (5_000, 100)])
def test_one_token_more_overflows(length, reserve):
    """One token above the window is refused with what was sent and what would have fitted, as status 400."""
    with pytest.raises(ContextOverflowError) as error:
        check(user("x" * length), window_tokens=1_000, max_tokens=reserve)
    assert (error.value.request_tokens, error.value.limit_tokens) == (length, 1_000 - reserve)
    assert error.value.status == 400
    for number in (length, reserve, 1_000):
        assert str(number) in str(error.value)


@given(st.integers(1, 300), st.integers(0, 300), st.integers(1, 400))
def test_the_limit_that_an_overflow_names_would_fit(length, reserve, window):
    """A request cut down to the limit in the error is accepted."""
    assume(reserve < window < length + reserve)
    with pytest.raises(ContextOverflowError) as error:
        check(user("x" * length), window_tokens=window, max_tokens=reserve)
    limit = error.value.limit_tokens
    assert check(user("x" * limit), window_tokens=window, max_tokens=reserve) == limit


def scripted(*script, **more):
    """A scripted client that counts characters."""
    return ScriptedClient(script, counter=COUNTER, **more)


def test_answers_come_in_order():
    """Strings, messages and responses of the script are the answers, one a request."""
    ready = Response(assistant("three"), "max_tokens", Usage(1, 2, 3, 4))
    client = scripted("one", assistant(ThinkingBlock("why"), "two"), ready)
    answers = [client.complete((user("hi"),)) for _ in range(3)]
    assert [answer.message for answer in answers] == [
        assistant("one"),
        assistant(ThinkingBlock("why"), "two"),
        assistant("three"),
    ]
    assert answers[2] is ready


@pytest.mark.parametrize(("reply", "reason"), [("text", "end_turn"), (assistant("a"), "end_turn"), (CALL, "tool_use")])
def test_an_answer_stops_for_its_tools_or_for_good(reply, reason):
    """Without a word about it, an answer with calls stops for its tools, and any other is complete."""
    assert scripted(reply).complete((user("hi"),)).stop_reason == reason


def test_usage_is_what_was_counted():
    """The usage of an answer is the request's tokens and its own, on the response and on the message."""
    answer = scripted("three").complete((user("hi"),), system="sys")
    assert answer.usage == Usage(input_tokens=5, output_tokens=5)
    assert answer.message.usage == answer.usage


def test_an_error_of_the_script_is_raised():
    """An exception in the script is raised as it is, and the next answer follows."""
    failure = OverloadedError("busy", status=529)
    client = scripted(failure, "now")
    with pytest.raises(OverloadedError) as error:
        client.complete((user("hi"),))
    assert error.value is failure
    assert client.complete((user("hi"),)).message == assistant("now")


def test_a_script_that_is_over_says_so():
    """A request more than the script has answers is an error that says which request has none."""
    client = scripted("one")
    client.complete((user("hi"),))
    with pytest.raises(InvalidRequestError, match="no answer for request 2"):
        client.complete((user("hi"),))


def test_an_empty_script_has_no_answer():
    """Without a script even the first request has no answer."""
    with pytest.raises(InvalidRequestError, match="no answer for request 1"):
        scripted().complete((user("hi"),))


def test_a_refused_request_uses_up_no_answer():
    """A request that is refused is on record, but the script goes on as if it had not come."""
    client = scripted("one", window_tokens=200)
    with pytest.raises(ContextOverflowError):
        client.complete((user("x" * 101),), max_tokens=100)
    with pytest.raises(PairingError):
        client.complete((user("hi"), CALL, user("next")), max_tokens=100)
    assert client.complete((user("x" * 100),), max_tokens=100).message == assistant("one")
    assert [len(request.messages) for request in client.requests] == [1, 3, 1]


def test_requests_are_kept_as_they_were_sent():
    """A request on record has the very messages, and everything else that was sent, as tuples."""
    client = scripted("one")
    sent, tool = [user("hi"), assistant("yes"), user("go")], ToolSpec("f", "", {})
    client.complete(sent, system="brief", tools=[tool], max_tokens=7)
    (request,) = client.requests
    assert request == Request(messages=tuple(sent), system="brief", tools=(tool,), max_tokens=7)
    assert [*map(id, request.messages)] == [*map(id, sent)]


def test_a_script_may_be_endless():
    """The script is read as it is needed: a generator may write it."""
    client = ScriptedClient(str(number) for number in iter(int, 1))
    assert client.complete((user("hi"),)).message == assistant("0")


def test_the_double_is_a_client():
    """The scripted client fits the protocol: a window, and `complete` with the same defaults."""
    client: LLMClient = ScriptedClient(["one"])
    assert client.window_tokens == 128_000
    client.complete((user("hi"),))
    assert (client.requests[0].system, client.requests[0].tools, client.requests[0].max_tokens) == ("", (), 4_096)


def test_the_counter_of_the_double_can_be_exact():
    """With an exact counter the double refuses by exact tokens."""
    counter = MessageCounter(TiktokenCounter(), message_overhead_tokens=0)
    client = ScriptedClient(["one"], window_tokens=106, counter=counter)
    with pytest.raises(ContextOverflowError):
        client.complete((user("antidisestablishmentarianism!"),), max_tokens=100)
    assert client.complete((user("antidisestablishmentarianism"),), max_tokens=100).message == assistant("one")


@pytest.mark.parametrize(
    "value", [Request(messages=()), Response(CALL, "tool_use", Usage())], ids=["request", "response"]
)
def test_requests_and_responses_are_frozen(value):
    """What was sent and what came back cannot be changed afterwards."""
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


def test_response_for_keeps_the_message():
    """The message of a response is the given one with the usage on it."""
    made = response_for(CALL, Usage(5, output_tokens=2))
    assert (made.message, made.message.usage, made.stop_reason) == (CALL, Usage(5, output_tokens=2), "tool_use")
    assert CALL.usage is None
