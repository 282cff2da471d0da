"""`OpenAIClient` against OpenAI's real SDK, with a transport that answers as OpenAI and the servers like it do."""

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
    InvalidRequestError,
    OverloadedError,
    PairingError,
    RateLimitError,
    StreamCutError,
)
from course_lib.messages import (
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    user,
)
from course_lib.providers.openai_client import OpenAIClient
from course_lib.providers.settings import ProviderSettings
from course_lib.wire_openai import INVALID_JSON, to_openai

SECRET = "plain-0123456789-do-not-show"
LOCAL = "http://127.0.0.1:9/v1"
LS = ToolSpec("ls", "Lists a folder.", {"type": "object", "properties": {"path": {"type": "string"}}})
CALLS = [
    {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "a"}'}},
    {"id": "call_2", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
]
USAGE = {
    "prompt_tokens": 5_000,
    "completion_tokens": 55,
    "total_tokens": 5_055,
    "prompt_tokens_details": {"cached_tokens": 4_096, "cache_write_tokens": 400},
    "completion_tokens_details": {"reasoning_tokens": 30},
}


def completion(*, finish_reason="stop", usage=USAGE, **said):
    """A completion as the API sends it in one piece."""
    message = {"role": "assistant", "content": None, "refusal": None, **said}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "some-model", "choices": [choice]}
    return {**whole, "usage": usage} if usage else whole


def chunks(whole):
    """The same completion as the API streams it: deltas in small pieces, the reason, then the usage with no choice."""
    (choice,) = whole["choices"]
    message = choice["message"]
    yield chunk({"role": "assistant", "content": "" if message["content"] else None})
    for key in ("reasoning_content", "content", "refusal"):
        text = message.get(key) or ""
        yield from (chunk({key: part}) for part in (text[:6], text[6:]) if part)
    for index, call in enumerate(message.get("tool_calls") or ()):
        arguments = call["function"]["arguments"]
        start = {**call, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [{"index": index, **start}]})
        for part in (arguments[:4], arguments[4:]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, choice["finish_reason"])
    if "usage" in whole:
        yield {**chunk({}), "choices": [], "usage": whole["usage"]}


def chunk(delta, finish_reason=None):
    """One chunk of a stream."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    start = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "some-model"}
    return {**start, "choices": [choice], "usage": None}


def sse(parts, end=b"data: [DONE]\n\n"):
    """The bytes of an event stream."""
    return b"".join(f"data: {json.dumps(part)}\n\n".encode() for part in parts) + end


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
            return streamed(sse(chunks(answer)))
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
        **{"provider": "openai", "model": "some-model", "api_key": SECRET, "max_retries": 0, **changes}
    )
    http_client = httpx2.Client(transport=httpx2.MockTransport(server))
    return OpenAIClient(settings, on_text=on_text, http_client=http_client)


def refusal(status, words, code=None, **headers):
    """An error as the API sends it."""
    body = {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": code}}
    return httpx2.Response(status, json=body, headers=headers)


@pytest.mark.parametrize(("base_url", "limit"), [("", "max_completion_tokens"), (LOCAL, "max_tokens")])
def test_a_request_holds_what_was_asked_and_nothing_else(base_url, limit):
    """Model, limit, tools and records go out in the API's shape; compatible servers get the older name of the limit."""
    server = Server(completion(content="ok"))
    image = ImageBlock("image/png", "aGVsbG8=")
    history = (
        user("Look", image),
        assistant(ToolUseBlock("t1", "ls", {"path": "."})),
        user(ToolResultBlock("t1", "a b")),
    )
    client_for(server, base_url=base_url).complete(history, system="Be brief.", tools=(LS,), max_tokens=100)
    function = {"name": "ls", "description": "Lists a folder.", "parameters": dict(LS.input_schema)}
    assert server.bodies == [
        {
            "model": "some-model",
            limit: 100,
            "messages": to_openai(history, system="Be brief."),
            "tools": [{"type": "function", "function": function}],
        }
    ]
    (request,) = server.requests
    assert str(request.url) == f"{base_url or 'https://api.openai.com/v1'}/chat/completions"
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert server.bodies[0]["messages"][1]["content"][1]["image_url"]["url"] == "data:image/png;base64,aGVsbG8="


def test_a_streamed_request_asks_for_the_usage_too():
    """A stream tells its usage only when it is asked to."""
    server = Server(completion(content="ok"))
    client_for(server, stream=True).complete((user("hi"),))
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}
    assert set(server.bodies[0]) == {"model", "messages", "max_completion_tokens", "stream", "stream_options"}


@pytest.mark.parametrize("stream", [False, True])
def test_everything_in_an_answer_arrives(stream):
    """Reasoning, text, parallel calls and the tokens in disjoint buckets are the same, streamed or not."""
    answer = completion(
        content="I look, twice.", reasoning_content="Two folders.", tool_calls=CALLS, finish_reason="tool_calls"
    )
    response = client_for(Server(answer), stream=stream).complete((user("go"),), tools=(LS,))
    assert response.message == assistant(
        ThinkingBlock("Two folders."),
        TextBlock("I look, twice."),
        ToolUseBlock("call_1", "ls", {"path": "a"}),
        ToolUseBlock("call_2", "ls", {}),
    )
    assert response.stop_reason == "tool_use"
    assert response.usage == Usage(input_tokens=504, cache_read_tokens=4_096, cache_write_tokens=400, output_tokens=55)
    assert response.message.usage == response.usage
    assert response.usage.context_tokens == 5_000


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}, Usage(input_tokens=10, output_tokens=2)),
        (  # DeepSeek
            {
                "prompt_tokens": 10,
                "completion_tokens": 2,
                "total_tokens": 12,
                "prompt_cache_hit_tokens": 8,
                "prompt_cache_miss_tokens": 2,
            },
            Usage(input_tokens=2, cache_read_tokens=8, output_tokens=2),
        ),
        ({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(cache_read_tokens=9)),
        (None, None),
    ],
)
def test_usage_is_read_from_every_server(said, usage, stream):
    """Cached tokens are taken out of the prompt's; no report is no report, and not a report of zero."""
    response = client_for(Server(completion(content="ok", usage=said)), stream=stream).complete((user("go"),))
    assert response.message.usage == usage
    assert response.usage == (usage or Usage())


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ({"content": "so", "finish_reason": "stop"}, "end_turn"),
        ({"content": "so", "finish_reason": "length"}, "max_tokens"),
        ({"content": "so", "finish_reason": "content_filter"}, "refusal"),
        ({"refusal": "I won't.", "finish_reason": "stop"}, "refusal"),
        ({"tool_calls": CALLS, "finish_reason": "tool_calls"}, "tool_use"),
        ({"tool_calls": CALLS, "finish_reason": "stop"}, "tool_use"),  # some servers
        ({"tool_calls": CALLS, "finish_reason": "length"}, "max_tokens"),
        ({"content": "so", "finish_reason": "tool_calls"}, "end_turn"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_finish_reason_is_translated(said, understood, stream):
    """Each reason has its name in the course, and calls in the message count more than a wrong reason."""
    response = client_for(Server(completion(**said)), stream=stream).complete((user("go"),))
    assert response.stop_reason == understood


def test_a_refusal_is_kept_as_text():
    """What the model says instead of an answer is the answer's text."""
    response = client_for(Server(completion(refusal="I won't."))).complete((user("go"),))
    assert response.message == assistant("I won't.")


def test_text_is_passed_on_while_it_arrives():
    """`on_text` streams the answer and gets each piece of text, but no reasoning and no arguments."""
    heard = []
    answer = completion(content="I look, twice.", reasoning_content="Two folders.", tool_calls=CALLS)
    client_for(Server(answer), on_text=heard.append).complete((user("go"),))
    assert heard == ["I look", ", twice."]


def call_part(index, id_, arguments, name="ls"):
    """A piece of a call in a stream."""
    return chunk({"tool_calls": [{"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}]})


@pytest.mark.parametrize(
    ("parts", "ids", "inputs"),
    [
        # Ollama: every call has number 0 (ollama/ollama 15457), or none at all (7881)
        (
            [call_part(0, "a", '{"path": "x"}'), call_part(0, "b", '{"path": "y"}')],
            ["a", "b"],
            [{"path": "x"}, {"path": "y"}],
        ),
        ([call_part(None, "a", "{}"), call_part(None, "b", "{}")], ["a", "b"], [{}, {}]),
        # pieces of two calls in turn; the name and the id again in every piece
        (
            [call_part(0, "a", '{"pa'), call_part(1, "b", ""), call_part(0, "a", 'th": "x"}'), call_part(1, "b", "{}")],
            ["a", "b"],
            [{"path": "x"}, {}],
        ),
        ([call_part(0, None, "{}"), call_part(1, "", "{}")], ["chatcmpl-1-0", "chatcmpl-1-1"], [{}, {}]),
        ([call_part(0, "a", '{"path": "x')], ["a"], [{INVALID_JSON: '{"path": "x'}]),
    ],
)
def test_parallel_calls_are_put_together(parts, ids, inputs):
    """Calls are told apart by number and id, whatever the server's habits; broken arguments are kept as they are."""
    stream = streamed(sse([*parts, chunk({}, "tool_calls")]))
    response = client_for(Server(stream), base_url=LOCAL, stream=True).complete((user("go"),))
    calls = response.message.content
    assert [call.id for call in calls] == ids
    assert [call.input for call in calls] == inputs
    assert {call.name for call in calls} == {"ls"}


def test_users_in_a_row_are_joined_only_where_it_is_wanted():
    """A local server with a strict chat template gets one message of the user, OpenAI gets both."""
    history = (user("a summary", kind="summary"), user("go on"))
    server = Server(completion(content="ok"), completion(content="ok"))
    client_for(server, base_url=LOCAL, join_users=True).complete(history)
    client_for(server).complete(history)
    said = [[record["content"] for record in body["messages"]] for body in server.bodies]
    assert said == [["a summary\n\ngo on"], ["a summary", "go on"]]


def test_reasoning_goes_back_only_where_it_is_wanted():
    """DeepSeek gets `reasoning_content` with every answer, an empty one too; other servers never see it."""
    history = (user("a"), assistant(ThinkingBlock("hm"), "b"), user("c"), assistant("d"), user("e"))
    server = Server(completion(content="ok"), completion(content="ok"))
    client_for(server, base_url=LOCAL, send_reasoning=True).complete(history, system="Be brief.")
    client_for(server, base_url=LOCAL).complete(history, system="Be brief.")
    said = [[record.get("reasoning_content") for record in body["messages"]] for body in server.bodies]
    assert said == [[None, None, "hm", None, "", None], [None] * 6]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (refusal(400, "too long", "context_length_exceeded"), ContextOverflowError, "too long"),
        (refusal(400, "Duplicate value for 'tool_call_id' of 'c1'"), PairingError, "Duplicate"),
        (refusal(400, "no such field"), InvalidRequestError, "no such field"),
        (refusal(401, f"we do not know {SECRET} here", "invalid_api_key"), AuthenticationError, "[key]"),
        (refusal(429, "slow down", "rate_limit_exceeded", **{"retry-after": "7"}), RateLimitError, "slow down"),
        (httpx2.Response(503, text="<h1>Busy</h1>"), OverloadedError, "Busy"),
        (httpx2.ConnectError("refused"), ConnectionFailedError, "no connection to https://api.openai.com/v1"),
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
        (b'{"error": {"message": "prompt is too long", "code": 400}}', "application/json", ContextOverflowError),
        (json.dumps(completion(content="so", finish_reason=None)).encode(), "application/json", BrokenResponseError),
        (json.dumps(completion(content="so", finish_reason="tired")).encode(), "application/json", BrokenResponseError),
        (json.dumps(completion(tool_calls=[{"id": "c1"}])).encode(), "application/json", BrokenResponseError),
        (json.dumps(completion(content=" ")).encode(), "application/json", EmptyResponseError),
        (json.dumps(completion(content="", finish_reason="length")).encode(), "application/json", EmptyResponseError),
        (
            json.dumps(completion(content="so", finish_reason="insufficient_system_resource")).encode(),
            "application/json",
            OverloadedError,
        ),
    ],
)
def test_a_200_that_is_no_completion_is_no_answer(content, content_type, kind):
    """A page, half a record, nothing at all or an error behind a 200 is an error that says so."""
    answer = httpx2.Response(200, content=content, headers={"content-type": content_type})
    with pytest.raises(kind) as caught:
        client_for(Server(answer)).complete((user("go"),))
    assert type(caught.value) is kind


PARTS = list(chunks(completion(content="I look, twice.")))
OVERFLOW = {"error": {"message": "?", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}}


def cut():
    """A stream whose connection breaks after two chunks."""
    yield sse(PARTS[:2], b"")
    raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", EmptyResponseError),  # a server that means "too long" and says 200
        (sse([]), EmptyResponseError),
        (sse(PARTS[-1:]), EmptyResponseError),  # usage and nothing else
        (sse(PARTS[:3], b""), StreamCutError),  # ends without a reason
        (sse(PARTS[:3]), StreamCutError),  # says that it is done, and gives no reason
        (cut(), StreamCutError),
        (sse([*PARTS[:2], OVERFLOW]), ContextOverflowError),
        (sse(PARTS[:2], b"data: {oops\n\n"), BrokenResponseError),
        (sse(chunks(completion(content=""))), EmptyResponseError),
    ],
)
def test_a_stream_that_is_not_whole_is_no_answer(content, kind):
    """Empty, cut, broken or ended by an error: a stream gives a whole response or an error."""
    with pytest.raises(kind) as caught:
        client_for(Server(streamed(content)), stream=True).complete((user("go"),))
    assert type(caught.value) is kind
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_no_key_is_needed_where_nobody_reads_one(monkeypatch):
    """A server of your own gets a placeholder, and never the key that is meant for OpenAI."""
    monkeypatch.setenv("OPENAI_API_KEY", "meant-for-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "meant-for-openai-too")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example")
    server = Server(completion(content="ok"))
    client_for(server, base_url=LOCAL, api_key="").complete((user("hi"),))
    assert server.requests[0].url.host == "127.0.0.1"
    assert server.requests[0].headers["authorization"] == "Bearer no-key"
    assert not any("meant-for" in value for value in server.requests[0].headers.values())


@pytest.mark.parametrize("stream", [False, True])
def test_no_log_holds_the_key(stream, caplog):
    """Not even the SDK and its HTTP client write the key down when they log everything they do."""
    with caplog.at_level(logging.DEBUG):
        client_for(Server(completion(content="ok")), stream=stream).complete((user("go"),))
        with pytest.raises(AuthenticationError):
            client_for(
                Server(refusal(401, f"we do not know {SECRET} here", "invalid_api_key")), stream=stream
            ).complete((user("go"),))
    assert "openai" in "".join(record.name for record in caplog.records)
    assert SECRET not in caplog.text + "".join(str(vars(record)) for record in caplog.records)


def test_a_bug_looks_like_a_bug(monkeypatch):
    """What no server can cause is not blamed on one: an SDK that changed its arguments shows as a `TypeError`."""
    client = client_for(Server())
    monkeypatch.setattr(client._client.chat.completions, "create", lambda: None)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        client.complete((user("go"),))


def test_a_limit_is_lowered_to_the_settings():
    """No answer is longer than the settings allow, whatever a request asks for."""
    server = Server(completion(content="ok"))
    client_for(server, max_output_tokens=500).complete((user("go"),), max_tokens=9_000)
    assert server.bodies[0]["max_completion_tokens"] == 500
