"""Both clients over real HTTP, against `llmock`: a server that speaks both protocols and fails as the providers do."""

import json
import urllib.error
import urllib.request

import pytest
from mock_server import HOW_TO_INSTALL, IS_INSTALLED, mock_server

from course_lib.agent import Agent, Tool
from course_lib.errors import (
    AuthenticationError,
    BrokenResponseError,
    ConnectionFailedError,
    ContextOverflowError,
    OverloadedError,
    RateLimitError,
    StreamCutError,
)
from course_lib.events import RunFinished, record_run
from course_lib.messages import ToolSpec, message_text, tool_results, user
from course_lib.providers.settings import ProviderSettings, make_client

if not IS_INSTALLED:
    pytest.skip(HOW_TO_INSTALL, allow_module_level=True)

WINDOW_TOKENS = 600
PROVIDERS = {"anthropic": "/anthropic", "openai": "/v1"}
LS = ToolSpec("ls", "Lists the files of a folder.", {"type": "object", "properties": {"path": {"type": "string"}}})


@pytest.fixture(scope="module")
def address():
    """The address of a server that runs as long as this module's tests."""
    with mock_server(WINDOW_TOKENS) as running:
        yield running


def plan(address, **behavior):
    """Tell the server how to treat the next request."""
    body = json.dumps({"behaviors": [behavior]}).encode()
    request = urllib.request.Request(f"{address}/_llmock/scenario", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.status == 201


def client_for(address, provider, **changes):
    """A client for the server; the model's name means nothing to it."""
    settings = {"model": "some-model", "window_tokens": WINDOW_TOKENS, "max_output_tokens": 100, "max_retries": 0}
    return make_client(
        ProviderSettings(provider=provider, base_url=address + PROVIDERS[provider], **{**settings, **changes})
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_agent_runs_to_its_end(address, provider, stream):
    """Call, result and answer go over the wire and back in both protocols, streamed or not."""
    agent = Agent(client_for(address, provider, stream=stream), [Tool(LS, lambda _: "a.txt b.txt")], system="Be brief.")
    run = record_run(agent.run("List the files of this folder"))
    assert isinstance(run.events[-1], RunFinished)
    assert run.events[-1].is_complete
    assert [message.role for message in agent.messages] == ["user", "assistant", "user", "assistant"]
    assert tool_results(agent.messages[2])[0].text == "a.txt b.txt"
    assert message_text(agent.messages[3])
    assert [response.stop_reason for response in run.responses] == ["tool_use", "end_turn"]
    assert all(response.usage.context_tokens > 0 for response in run.responses)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_long_request_is_refused_and_a_shorter_one_taken(address, provider, stream):
    """The refusal says how long the request is and what would have fitted; the agent's recover hook gets to see it."""
    client = client_for(address, provider, stream=stream)
    seen = []

    def forget(messages, error):
        seen.append(error)
        return messages[-1:], "forgot"

    agent = Agent(client, recover=forget)
    agent.messages = (user("word " * 4_000),)
    assert record_run(agent.run("hi")).error is None
    (error,) = seen
    assert error.limit_tokens == WINDOW_TOKENS < error.request_tokens
    with pytest.raises(ContextOverflowError):
        client.complete((user("word " * 4_000),))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AuthenticationError),
        (403, AuthenticationError),
        (413, ContextOverflowError),
        (429, RateLimitError),
        (500, OverloadedError),
        (503, OverloadedError),
        (529, OverloadedError),
    ],
)
def test_each_status_is_its_error(address, provider, status, kind):
    """The bodies that a server of either protocol sends are recognised."""
    plan(address, type="fail", status=status)
    with pytest.raises(kind) as caught:
        client_for(address, provider).complete((user("hi"),))
    assert caught.value.status == status


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_overloaded_server_is_asked_again(address, provider):
    """With retries allowed, one failure goes by unseen."""
    plan(address, type="fail", status=503, retry_after=0)
    assert client_for(address, provider, max_retries=1).complete((user("hi"),)).stop_reason == "end_turn"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [("disconnect", StreamCutError), ("truncate", StreamCutError), ("malformed", BrokenResponseError)],
)
def test_a_broken_stream_is_no_answer(address, provider, fault, kind):
    """A dropped connection, an early end and a broken event are errors, not short answers."""
    plan(address, type="stream_fault", kind=fault, after_chunks=3)
    with pytest.raises(kind):
        client_for(address, provider, stream=True).complete((user("Tell me something about context windows"),))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_silent_server_is_not_waited_for(address, provider):
    """After the time-out the call fails, also in the middle of a stream."""
    plan(address, type="stream_fault", kind="stall", after_chunks=2, stall_seconds=5)
    with pytest.raises(ConnectionFailedError, match=r"sent nothing for 0\.2 seconds"):
        client_for(address, provider, stream=True, timeout_seconds=0.2).complete((user("hi"),))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_server_is_an_error_that_says_where(provider):
    """Where nobody listens, the message names the address."""
    with pytest.raises(ConnectionFailedError, match=r"no connection to http://127\.0\.0\.1:9/"):
        client_for("http://127.0.0.1:9", provider).complete((user("hi"),))
