"""`AnthropicClient` against Anthropic's real SDK, with a transport that answers as the API does."""

import json
import logging
import traceback

import httpx2
import pytest

from course_lib.errors import (
    AuthenticationError,
    BrokenResponseError,
    ConnectionFailedError,
    ContextOverflowError,
    EmptyResponseError,
    OverloadedError,
    PairingError,
    RateLimitError,
    StreamCutError,
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
    user,
)
from course_lib.providers.anthropic_client import AnthropicClient
from course_lib.providers.settings import ProviderSettings
from course_lib.wire_anthropic import to_anthropic

SECRET = "plain-0123456789-do-not-show"
LS = ToolSpec("ls", "Lists a folder.", {"type": "object", "properties": {"path": {"type": "string"}}})
CONTENT = [
    {"type": "thinking", "thinking": "Two folders.", "signature": "c2lnbmVk"},
    {"type": "redacted_thinking", "data": "aGlkZGVu"},
    {"type": "text", "text": "I look, twice."},
    {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "a"}, "caller": {"type": "direct"}},
    {"type": "tool_use", "id": "toolu_2", "name": "ls", "input": {}},
]
USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 300,
    "cache_read_input_tokens": 4_000,
    "output_tokens": 55,
    "service_tier": "standard",
}


def message(content=CONTENT, stop_reason="tool_use", usage=USAGE):
    """A message as the API sends it in one piece."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def events(whole):
    """The same message as the API streams it: blocks in small pieces, the stop reason and the output count last."""
    begin = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begin}
    yield {"type": "ping"}
    for index, block in enumerate(whole["content"]):
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {**block, **EMPTY.get(block["type"], {})},
        }
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas(block))
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


EMPTY = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}


def deltas(block):
    """The pieces of one block."""
    match block:
        case {"type": "text", "text": text}:
            yield from ({"type": "text_delta", "text": part} for part in (text[:6], text[6:]))
        case {"type": "thinking", "thinking": thinking, "signature": signature}:
            yield {"type": "thinking_delta", "thinking": thinking}
            yield {"type": "signature_delta", "signature": signature}
        case {"type": "tool_use", "input": input_}:
            text = json.dumps(input_) if input_ else ""
            yield from ({"type": "input_json_delta", "partial_json": part} for part in ("", text[:4], text[4:]))


def sse(parts):
    """The bytes of an event stream."""
    return "".join(f"event: {part['type']}\ndata: {json.dumps(part)}\n\n" for part in parts).encode()


class Server:
    """A transport that answers every request with the next answer, and keeps the requests."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        """Keep the request and return the next answer, as a stream if one was asked for."""
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx2.Response):
            return answer
        if json.loads(request.content).get("stream"):
            return streamed(sse(events(answer)))
        return httpx2.Response(200, json=answer)

    @property
    def bodies(self):
        """The JSON of all requests."""
        return [json.loads(request.content) for request in self.requests]


def streamed(content):
    """A 200 with an event stream."""
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)


def client_for(server, *, on_text=None, **changes):
    """A client that talks to the transport and to nothing else."""
    settings = ProviderSettings(
        **{"provider": "anthropic", "model": "some-model", "api_key": SECRET, "max_retries": 0, **changes}
    )
    http_client = httpx2.Client(transport=httpx2.MockTransport(server))
    return AnthropicClient(settings, on_text=on_text, http_client=http_client)


def refusal(status, kind, words, **headers):
    """An error as the API sends it."""
    body = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    return httpx2.Response(status, json=body, headers=headers)


def test_a_request_holds_what_was_asked_and_nothing_else():
    """Model, limit, system prompt, tools and messages go out in the API's shape, with the key in a header."""
    server = Server(message())
    image = ImageBlock("image/png", "aGVsbG8=")
    history = (
        user("Look", image),
        assistant(ToolUseBlock("t1", "ls", {"path": "."})),
        user(ToolResultBlock("t1", "a b")),
    )
    client_for(server).complete(history, system="Be brief.", tools=(LS,), max_tokens=100)
    assert server.bodies == [
        {
            "model": "some-model",
            "max_tokens": 100,
            "system": "Be brief.",
            "tools": [{"name": "ls", "description": "Lists a folder.", "input_schema": dict(LS.input_schema)}],
            "messages": to_anthropic(history),
        }
    ]
    (request,) = server.requests
    assert str(request.url) == "https://api.anthropic.com/v1/messages"
    assert SECRET in "".join(request.headers.values())
    assert server.bodies[0]["messages"][0]["content"][1]["source"]["data"] == "aGVsbG8="


def test_a_short_request_leaves_out_what_is_empty():
    """No system prompt and no tools means that neither is mentioned."""
    server = Server(message())
    client_for(server).complete((user("hi"),))
    assert set(server.bodies[0]) == {"model", "max_tokens", "messages"}


@pytest.mark.parametrize("stream", [False, True])
def test_everything_in_an_answer_arrives(stream):
    """Thinking with its signature, parallel calls and the disjoint token counts are the same, streamed or not."""
    response = client_for(Server(message()), stream=stream).complete((user("go"),), tools=(LS,))
    assert response.message == assistant(
        ThinkingBlock("Two folders.", "c2lnbmVk"),
        RawBlock({"type": "redacted_thinking", "data": "aGlkZGVu"}),
        TextBlock("I look, twice."),
        ToolUseBlock("toolu_1", "ls", {"path": "a"}),
        ToolUseBlock("toolu_2", "ls", {}),
    )
    assert response.stop_reason == "tool_use"
    assert response.usage == Usage(input_tokens=12, cache_read_tokens=4_000, cache_write_tokens=300, output_tokens=55)
    assert response.message.usage == response.usage


def test_thinking_goes_back_untouched():
    """What the model thought is sent back word for word, with its signature, the redacted part too."""
    server = Server(message(), message([{"type": "text", "text": "done"}], "end_turn"))
    client = client_for(server)
    asked = (user("go"),)
    answer = client.complete(asked).message
    client.complete((*asked, answer, user(ToolResultBlock("toolu_1", "x"), ToolResultBlock("toolu_2", "y"))))
    assert server.bodies[1]["messages"][1]["content"][:2] == CONTENT[:2]


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_window_exceeded"),
    ],
)
def test_a_stop_reason_is_translated(said, understood):
    """Each reason of the API has its name in the course."""
    answer = message([{"type": "text", "text": "so"}], said)
    assert client_for(Server(answer)).complete((user("go"),)).stop_reason == understood


@pytest.mark.parametrize(("max_tokens", "is_streamed"), [(21_333, False), (21_334, True)])
def test_a_long_answer_is_streamed_by_itself(max_tokens, is_streamed):
    """Above the SDK's limit for one piece the client streams, and the answer is the same."""
    server = Server(message())
    response = client_for(server, max_output_tokens=64_000).complete((user("go"),), max_tokens=max_tokens)
    assert server.bodies[0].get("stream", False) is is_streamed
    assert response.stop_reason == "tool_use"


def test_text_is_passed_on_while_it_arrives():
    """`on_text` streams the answer and gets each piece of text, but no thinking and no arguments."""
    heard = []
    server = Server(message())
    client_for(server, on_text=heard.append).complete((user("go"),))
    assert heard == ["I look", ", twice."]
    assert server.bodies[0]["stream"] is True


def test_an_error_of_the_listener_is_the_listeners():
    """What `on_text` raises comes out as it is: it is no fault of the provider."""
    with pytest.raises(ZeroDivisionError):
        client_for(Server(message()), on_text=lambda _: 1 / 0).complete((user("go"),))


@pytest.mark.parametrize(
    ("max_tokens", "thinking"), [(2_048, None), (2_049, {"type": "enabled", "budget_tokens": 2_048})]
)
def test_thinking_is_asked_for_where_there_is_room(max_tokens, thinking):
    """The budget is part of the answer's limit: a request with no more than the budget goes without thinking."""
    server = Server(message())
    client_for(server, thinking_tokens=2_048).complete((user("go"),), max_tokens=max_tokens)
    assert server.bodies[0].get("thinking") == thinking


def test_a_limit_is_lowered_to_the_settings():
    """No answer is longer than the settings allow, whatever a request asks for."""
    server = Server(message())
    client_for(server, max_output_tokens=500).complete((user("go"),), max_tokens=9_000)
    assert server.bodies[0]["max_tokens"] == 500


def test_a_request_is_counted_by_the_provider():
    """Counting sends the same request, without a limit, to its own address."""
    server = Server({"input_tokens": 2_095})
    counted = client_for(server).count_tokens((user("hi"),), system="Be brief.", tools=(LS,))
    assert counted == 2_095
    assert server.requests[0].url.path == "/v1/messages/count_tokens"
    assert set(server.bodies[0]) == {"model", "system", "tools", "messages"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (
            refusal(400, "invalid_request_error", "prompt is too long: 210 tokens > 200 maximum"),
            ContextOverflowError,
            "210",
        ),
        (refusal(413, "request_too_large", "Request exceeds the maximum size"), ContextOverflowError, "maximum size"),
        (refusal(400, "invalid_request_error", "messages.1: `tool_use` ids must be unique"), PairingError, "unique"),
        (refusal(401, "authentication_error", f"we do not know {SECRET} here"), AuthenticationError, "[key]"),
        (refusal(429, "rate_limit_error", "slow down", **{"retry-after": "7"}), RateLimitError, "slow down"),
        (refusal(529, "overloaded_error", "Overloaded"), OverloadedError, "Overloaded"),
        (httpx2.Response(502, text="<h1>Bad gateway</h1>"), OverloadedError, "Bad gateway"),
        (httpx2.ConnectError("refused"), ConnectionFailedError, "no connection to https://api.anthropic.com"),
        (httpx2.ReadTimeout("slow"), ConnectionFailedError, "sent nothing for 600 seconds"),
    ],
)
def test_what_goes_wrong_is_one_of_the_courses_errors(stream, answer, kind, words):
    """Refusals and failures have the same error streamed or not, and nothing reachable from it holds the key."""
    with pytest.raises(kind) as caught:
        client_for(Server(answer), stream=stream).complete((user("go"),))
    error = caught.value
    assert type(error) is kind
    assert words in str(error)
    assert SECRET not in "".join(traceback.format_exception(error))
    assert (error.__cause__, error.__context__) == (None, None)
    if kind is RateLimitError:
        assert error.retry_after_seconds == 7.0


@pytest.mark.parametrize(
    ("content", "content_type", "kind"),
    [
        (b"<html>Welcome</html>", "text/html", EmptyResponseError),
        (b"{}", "application/json", EmptyResponseError),
        (b"{", "application/json", BrokenResponseError),
        (b'{"type": "error", "error": {"type": "overloaded_error"}}', "application/json", OverloadedError),
        (json.dumps(message(stop_reason=None)).encode(), "application/json", BrokenResponseError),
        (json.dumps(message([{"type": "tool_use"}])).encode(), "application/json", BrokenResponseError),
    ],
)
def test_a_200_that_is_no_message_is_no_answer(content, content_type, kind):
    """A page, half a record or an error behind a 200 is an error that says so."""
    answer = httpx2.Response(200, content=content, headers={"content-type": content_type})
    with pytest.raises(kind) as caught:
        client_for(Server(answer)).complete((user("go"),))
    assert type(caught.value) is kind


PARTS = list(events(message([{"type": "text", "text": "I look, twice."}], "end_turn")))
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
NO_JSON = b"event: content_block_delta\ndata: {oops\n\n"


def cut():
    """A stream whose connection breaks after four events."""
    yield sse(PARTS[:4])
    raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", EmptyResponseError),
        (sse([{"type": "ping"}]), EmptyResponseError),
        (sse(PARTS[:5]), StreamCutError),  # ends without a stop reason
        (cut(), StreamCutError),
        (sse([*PARTS[:4], OVERLOADED]), OverloadedError),
        (sse(PARTS[:4]) + NO_JSON, BrokenResponseError),
        (sse([*PARTS[:1], PARTS[3]]), BrokenResponseError),  # a piece of a block that never began
        (sse(events(message([], "end_turn"))), EmptyResponseError),
        (sse(events(message([{"type": "text", "text": "\n"}], "end_turn"))), EmptyResponseError),
        (sse(events(message([], "max_tokens"))), EmptyResponseError),
        (sse(events(message(stop_reason="tired"))), BrokenResponseError),
    ],
)
def test_a_stream_that_is_not_whole_is_no_answer(content, kind):
    """Empty, cut, broken or ended by an error: a stream gives a whole response or an error."""
    with pytest.raises(kind) as caught:
        client_for(Server(streamed(content)), stream=True).complete((user("go"),))
    assert type(caught.value) is kind
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize("stop_reason", ["refusal", "model_context_window_exceeded"])
def test_an_empty_answer_with_a_reason_is_an_answer(stop_reason):
    """A refusal or a full window may come with no content, and says what happened."""
    response = client_for(Server(message([], stop_reason))).complete((user("go"),))
    assert response.message.content == ()
    assert response.stop_reason in ("refusal", "context_window_exceeded")


def test_the_sdk_asks_again_when_it_may():
    """An overload is retried as often as the settings say; a refusal is not."""
    again = {"retry-after-ms": "1"}
    server = Server(refusal(529, "overloaded_error", "Overloaded", **again), message())
    assert client_for(server, max_retries=1).complete((user("go"),)).stop_reason == "tool_use"
    assert len(server.requests) == 2
    server = Server(refusal(400, "invalid_request_error", "prompt is too long", **again), message())
    with pytest.raises(ContextOverflowError):
        client_for(server, max_retries=1).complete((user("go"),))
    assert len(server.requests) == 1


def test_no_variable_of_the_sdk_changes_where_the_key_goes(monkeypatch):
    """The SDK's own variables for address and token are not read: the settings are all there is."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-token")
    server = Server(message(), message())
    client_for(server).complete((user("go"),))
    client_for(server, base_url="http://127.0.0.1:9", api_key="").complete((user("go"),))
    assert [request.url.host for request in server.requests] == ["api.anthropic.com", "127.0.0.1"]
    assert not any("other-token" in "".join(request.headers.values()) for request in server.requests)


@pytest.mark.parametrize("stream", [False, True])
def test_no_log_holds_the_key(stream, caplog):
    """Not even the SDK and its HTTP client write the key down when they log everything they do."""
    with caplog.at_level(logging.DEBUG):
        client_for(Server(message()), stream=stream).complete((user("go"),))
        with pytest.raises(AuthenticationError):
            client_for(
                Server(refusal(401, "authentication_error", f"we do not know {SECRET} here")), stream=stream
            ).complete((user("go"),))
    assert "anthropic" in "".join(record.name for record in caplog.records)
    assert SECRET not in caplog.text + "".join(str(vars(record)) for record in caplog.records)


def test_a_bug_looks_like_a_bug(monkeypatch):
    """What no server can cause is not blamed on one: an SDK that changed its arguments shows as a `TypeError`."""
    client = client_for(Server())
    monkeypatch.setattr(client._client.messages, "create", lambda: None)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        client.complete((user("go"),))
