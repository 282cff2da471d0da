"""Every provider's refusal becomes the right error, and the course refuses in the providers' words.

The wordings in the tables below were quoted in public issue threads; each row names one.
"""

import json

import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.client import Request, check_request
from course_lib.errors import (
    AuthenticationError,
    BrokenResponseError,
    ContextOverflowError,
    InvalidRequestError,
    ModelError,
    OverloadedError,
    PairingError,
    RateLimitError,
)
from course_lib.messages import Message, ToolResultBlock, ToolSpec, ToolUseBlock, assistant, user
from course_lib.providers.refusals import check_request_as, error_from_response, refusal_body
from course_lib.tokens import MessageCounter, chars_counter

COUNTER = MessageCounter(chars_counter(4))
MAXIMUM = "This model's maximum context length is"


def anthropic(message, kind="invalid_request_error"):
    """An error body as Anthropic sends it."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def openai(message, code=None, kind="invalid_request_error"):
    """An error body as OpenAI sends it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_as(dialect, request, window_tokens=10_000):
    """What `check_request_as` makes of the request, or None."""
    try:
        check_request_as(dialect, request, window_tokens=window_tokens, counter=COUNTER)
    except ModelError as error:
        return error
    return None


# Words alone, as a 400 without a telling code, and the tokens that they say: of the request, of what would have fitted.
OVERFLOW_WORDS = [
    # anthropics/claude-code 62560, docker/docker-agent 569
    ("prompt is too long: 211180 tokens > 200000 maximum", 211_180, 200_000),
    ("input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease", 178_959, 136_000),
    # crewAIInc/crewAI-examples 121, FoundationAgents/OpenManus 62, archi-physics/archi 497, anomalyco/opencode 6071
    (f"{MAXIMUM} 8192 tokens. However, your messages resulted in 8227 tokens. Please reduce", 8_227, 8_192),
    (
        f"{MAXIMUM} 8192 tokens. However, you requested 8213 tokens "
        "(6683 in the messages, 730 in the functions, and 800 in the completion).",
        7_413,
        7_392,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 477469 tokens.",
        477_469,
        272_000,
    ),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", None, None),
    # DeepSeek: anomalyco/models.dev 1295. Qwen: agentscope-ai/QwenPaw 6255
    (
        f"{MAXIMUM} 131072 tokens. However, you requested 131134 tokens "
        "(122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
        122_942,
        122_880,
    ),
    ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]", None, 983_616),
    # vLLM: vllm-project/vllm 42474; the other two are quoted in the code of several of its users
    (
        f"{MAXIMUM} 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 "
        "input tokens, for a total of at least 128001 tokens.",
        62_466,
        62_465,
    ),
    (f"'max_tokens' is too large: 9. {MAXIMUM} 100 tokens and your request has 95 input tokens", 95, 91),
    ("The decoder prompt (length 88049) is longer than the maximum model length of 32768.", 88_049, 32_768),
    # llama.cpp: can1357/oh-my-pi 556, ggml-org/llama.cpp 15780. Ollama: in the code of several of its users
    ("request (20001 tokens) exceeds the available context size (8192 tokens), try increasing it", 20_001, 8_192),
    ("the request exceeds the available context size. try increasing the context size", None, None),
    ("prompt too long; exceeded max context length by 17 tokens", None, None),
    # Gemini: field guide CTX-117
    (
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        1_048_577,
        1_048_576,
    ),
    ("The input token count exceeds the maximum number of tokens allowed 1048576", None, None),
    (f"{MAXIMUM} 4097 tokens, and then words that nobody has seen yet", None, 4_097),
]


@pytest.mark.parametrize(("words", "request_tokens", "limit_tokens"), OVERFLOW_WORDS)
def test_a_context_overflow_is_recognised_by_its_words(words, request_tokens, limit_tokens):
    """Overflow is one error with the provider's numbers, whoever refuses, wrapped or not, as text or as bytes."""
    flat = {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": 400}
    for body in (anthropic(words), openai(words), json.dumps(openai(words)), flat, {"error": words}, words.encode()):
        error = error_from_response(400, body)
        assert type(error) is ContextOverflowError
        assert (error.request_tokens, error.limit_tokens) == (request_tokens, limit_tokens)
        assert str(error) == words


LLAMA = {"code": 400, "message": "?", "type": "exceed_context_size_error", "n_prompt_tokens": 14_429, "n_ctx": 8_192}


@pytest.mark.parametrize(
    ("status", "body", "request_tokens", "limit_tokens"),
    [
        (413, anthropic("?", "request_too_large"), None, None),
        (413, "<html><h1>413 Request Entity Too Large</h1></html>", None, None),
        (400, openai("?", "context_length_exceeded"), None, None),
        (200, openai("?", "context_length_exceeded"), None, None),  # in a stream
        (400, {"error": LLAMA}, 14_429, 8_192),
        (200, {"error": LLAMA}, 14_429, 8_192),  # oobabooga/textgen 7257
        (500, {"error": {"code": 500, "message": "?", "type": "exceed_context_size_error"}}, None, None),
        (400, {"error": json.dumps({"error": LLAMA})}, 14_429, 8_192),  # Ollama passes it on as text
    ],
)
def test_a_context_overflow_is_recognised_by_its_name_or_status(status, body, request_tokens, limit_tokens):
    """Type, code and status 413 decide without any words."""
    error = error_from_response(status, body)
    assert type(error) is ContextOverflowError
    assert (error.request_tokens, error.limit_tokens, error.status) == (request_tokens, limit_tokens, status)


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model",
        "messages: text content blocks must be non-empty",
        "Missing `reasoning_content` field in the assistant message at message index 2.",
    ],
)
def test_a_refusal_that_shortening_cannot_mend_is_no_overflow(message):
    """Sentences about the answer's limit, or about one message, must not start a compaction."""
    assert type(error_from_response(400, openai(message))) is InvalidRequestError


@pytest.mark.parametrize(
    "body",
    [
        # anthropics/claude-code 8210, 18947, 20700 (without and with backticks), vectorize-io/hindsight 4250
        anthropic("messages.167: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
        anthropic("messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each"),
        anthropic("messages.5.content.1: tool_use ids must be unique"),
        anthropic("messages.4.content.5: each tool_use must have a single result. Found multiple `tool_result`"),
        # BerriAI/litellm 10083, run-llama/llama_index 10493, agno-agi/agno 5116
        openai("An assistant message with 'tool_calls' must be followed by tool messages responding to each"),
        openai("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"),
        openai("Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in messages[7] and messages[8]."),
        # DeepSeek: FoundationAgents/OpenManus 744; Qwen: philschmid/mcp-openai-gemini-llama-example 5
        openai("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
        openai('<400> messages with role "tool" must be a response to a preceeding message with "tool_calls".'),
    ],
)
def test_a_broken_pair_is_recognised_in_the_words_of_every_provider(body):
    """A tool call without its result, or the reverse, is a `PairingError`, which no shorter request mends."""
    assert type(error_from_response(400, body)) is PairingError


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, anthropic("invalid x-api-key", "authentication_error"), AuthenticationError),
        (403, anthropic("no access", "permission_error"), AuthenticationError),
        (402, openai("Insufficient Balance", "invalid_request_error", "unknown_error"), AuthenticationError),
        (
            429,
            openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
            AuthenticationError,
        ),
        (429, anthropic("slow down", "rate_limit_error"), RateLimitError),
        (200, anthropic("slow down", "rate_limit_error"), RateLimitError),
        (
            429,
            openai("Request too large: Limit 30000, Requested 30601", "rate_limit_exceeded", "tokens"),
            RateLimitError,
        ),
        (529, anthropic("Overloaded", "overloaded_error"), OverloadedError),
        (200, anthropic("Overloaded", "overloaded_error"), OverloadedError),
        (500, None, OverloadedError),
        (599, b"\xff\xfe", OverloadedError),
        (408, "", OverloadedError),
        (400, anthropic("no such field"), InvalidRequestError),
        (404, openai("The model does not exist", "model_not_found"), InvalidRequestError),
        (499, None, InvalidRequestError),
        (200, anthropic("no such field"), InvalidRequestError),
        (200, {"error": {"code": 400, "message": "bad"}}, InvalidRequestError),
        (200, {"error": {"code": 503, "message": "bad"}}, OverloadedError),
        (400, {"error": {"code": 503, "message": "bad"}}, InvalidRequestError),
        (422, {"detail": [{"msg": "field required", "type": "missing"}]}, InvalidRequestError),
        (200, "hm", BrokenResponseError),
        (302, None, BrokenResponseError),
    ],
)
def test_other_refusals_are_told_apart_by_name_then_by_status(status, body, kind):
    """What an error calls itself counts before its status, and the status before any words."""
    error = error_from_response(status, body)
    assert type(error) is kind
    assert error.status == status


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers, seconds):
    """`retry-after` comes in seconds, in milliseconds or as a date; nonsense is no time at all."""
    assert error_from_response(429, None, headers=headers).retry_after_seconds == seconds


@pytest.mark.parametrize(
    "echo",
    [
        "Incorrect API key provided: sk-proj-****************MxYA. You can find your key in the settings.",
        "Incorrect API key provided: https://*****lETQ. You can",
        "Authentication Fails, Your api key: ****4f2a is invalid",
        "token rejected: Bearer abcdef0123456789",
        "gsk_abcdefgh12345 is unknown",
        "the key my-own-secret is unknown",
    ],
)
def test_a_key_that_a_server_echoes_is_not_passed_on(echo):
    """The message of an error never holds a key, half a key, or a text that is known to be one."""
    message = str(error_from_response(401, openai(echo, "invalid_api_key"), secrets=("my-own-secret", "")))
    assert "[key]" in message
    assert not any(part in message for part in ("MxYA", "lETQ", "4f2a", "abcdef", "my-own-secret"))


def test_ids_and_hyphens_are_no_keys():
    """What the reader needs to see stays: call ids, and words that only look a little like a key."""
    message = "messages.1: task-specific risk-based call toolu_01AbCdEf, api key: ok"
    assert str(error_from_response(400, anthropic(message))) == message


def test_an_error_page_is_cut_short_and_loses_its_tags():
    """A megabyte of HTML becomes one readable line."""
    message = str(error_from_response(502, "<html><title>Bad gateway</title>" + "<p>x</p>" * 200_000))
    assert message.startswith("Bad gateway x x")
    assert len(message) <= 501


@given(
    st.integers(), strategies.json_values | st.binary() | st.text(), st.dictionaries(st.text(), st.text(), max_size=2)
)
def test_no_body_breaks_the_recogniser(status, body, headers):
    """Whatever a server sends, the result is one of the course's errors with a short message."""
    for shape in (body, {"error": body}, {"type": body, "code": body, "message": body, "n_ctx": body}, [body]):
        error = error_from_response(status, shape, headers=headers)
        assert isinstance(error, ModelError)
        assert 0 < len(str(error)) < 600


@pytest.mark.parametrize(
    "body", ["[" * 200_000, '{"a":' * 200_000, "9" * 5_000, {"error": "prompt is too long: " + "9" * 99}]
)
def test_hostile_bodies_are_only_text(body):
    """Deep nesting and endless numbers neither raise nor hang."""
    assert isinstance(error_from_response(400, body), InvalidRequestError)


CALL, RESULT = ToolUseBlock("c1", "ls", {}), ToolResultBlock("c1", "ok")
ASKED = (user("go"), assistant(CALL))


MISSING = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: c1. Each `tool_use`"
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
)
UNASKED = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
TWICE = "Invalid parameter: Duplicate value for 'tool_call_id' of 'c1', in messages[2] and messages[3]."


@pytest.mark.parametrize(
    ("messages", "anthropic_words", "openai_words"),
    [
        ((), "messages: at least one message is required", "Invalid 'messages': empty array."),
        ((assistant("hi"), user("go")), 'messages: first message must use the "user" role', "(course)"),
        ((user("go"), assistant("hi")), "This model does not support assistant message prefill.", "(course)"),
        ((user("go"), Message("assistant", ()), user("go")), "messages.1: all messages must have non-", "(course)"),
        ((user(""),), "messages: text content blocks must be non-empty", "(course)"),
        ((user(" \n"),), "messages: text content blocks must contain non-whitespace text", "(course)"),
        ((*ASKED, user("next")), MISSING, UNANSWERED),
        ((*ASKED, user("first", RESULT)), MISSING, UNANSWERED),
        ((user("go", RESULT),), "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` block", UNASKED),
        ((*ASKED, user(RESULT, RESULT)), "messages.2.content.1: each tool_use must have a single result.", TWICE),
        ((user("go"), assistant(CALL, CALL), user(RESULT)), "messages.1.content.1: `tool_use` ids must be", TWICE),
    ],
)
def test_a_refusal_speaks_in_the_providers_words(messages, anthropic_words, openai_words):
    """The same fault is refused by both, each in its own words and with the place as it counts."""
    for dialect, words in (("anthropic", anthropic_words), ("openai", openai_words)):
        error = error_as(dialect, Request(messages=messages))
        assert type(error) is (PairingError if "tool_" in anthropic_words else InvalidRequestError)
        assert str(error).startswith(words)
        assert error.status == 400


def test_bodies_have_the_shape_that_the_providers_send():
    """Anthropic wraps type and message; OpenAI adds which parameter was wrong, counted in its own records."""
    request = Request(messages=(*ASKED, user("next")), system="Be brief.")
    status, body = refusal_body("anthropic", request, window_tokens=10_000, counter=COUNTER)
    assert (status, body["type"], body["error"]["type"]) == (400, "error", "invalid_request_error")
    status, body = refusal_body("openai", request, window_tokens=10_000, counter=COUNTER)
    assert (status, body["error"]["param"], body["error"]["code"]) == (400, "messages.[2].role", None)


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_two_tools_of_one_name_are_refused(dialect):
    """A name that stands for two tools is refused before anything is counted."""
    tool = ToolSpec("ls", "", {})
    error = error_as(dialect, Request(messages=(user("go"),), tools=(tool, tool)))
    assert "Tool names must be unique." in str(error)


def test_only_openai_takes_an_id_that_an_earlier_turn_used():
    """An id used again in a later turn is refused by Anthropic and taken by OpenAI."""
    request = Request(messages=(*ASKED, user(RESULT), assistant(CALL), user(RESULT)))
    assert str(error_as("anthropic", request)) == "messages.3.content.0: `tool_use` ids must be unique"
    assert error_as("openai", request) is None


@pytest.mark.parametrize(
    ("window_tokens", "anthropic_words"),
    [
        (200, None),
        (199, "input length and `max_tokens` exceed context limit: 100 + 100 > 199, decrease input length or"),
        (100, "input length and `max_tokens` exceed context limit: 100 + 100 > 100, decrease input length or"),
        (99, "prompt is too long: 100 tokens > 99 maximum"),
    ],
)
def test_an_overflow_is_told_from_a_lack_of_room_at_the_exact_token(window_tokens, anthropic_words):
    """Request and answer may fill the window; one token more is refused, with two sentences by Anthropic."""
    request = Request(messages=(user("x" * 4 * 96),), max_tokens=100)
    errors = {dialect: error_as(dialect, request, window_tokens) for dialect in ("anthropic", "openai")}
    if anthropic_words is None:
        assert errors == {"anthropic": None, "openai": None}
    else:
        assert str(errors["anthropic"]).startswith(anthropic_words)
        assert "However, you requested 200 tokens (100 in the messages, 100 in the comp" in str(errors["openai"])
        assert [error.request_tokens for error in errors.values()] == [100, 100]
        assert errors["openai"].limit_tokens == window_tokens - 100


@settings(max_examples=60)
@given(strategies.broken_conversations() | strategies.conversations(), st.sampled_from([50, 1_000]))
def test_both_dialects_are_as_strict_as_the_core(messages, window_tokens):
    """What `check_request` takes is taken, what it refuses becomes the same error; OpenAI takes re-used ids."""
    request = Request(messages=messages, system="Be brief.", tools=(ToolSpec("ls", "", {}),), max_tokens=10)
    try:
        expected = check_request(request, window_tokens=window_tokens, counter=COUNTER)
    except ModelError as error:
        expected = error
    for dialect in ("anthropic", "openai"):
        found = error_as(dialect, request, window_tokens)
        if isinstance(expected, int):
            assert found is None
            assert check_request_as(dialect, request, window_tokens=window_tokens, counter=COUNTER) == expected
        elif dialect == "anthropic" or "reused id" not in str(expected):
            assert type(found) is type(expected)
