"""Instructions for Anthropic's server, made from our settings: what the SDK types, and what arrives over the wire."""

import json

import httpx2
import pytest
from anthropic.types.beta import BetaContextManagementConfigParam
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from test_anthropic_client import LS, Server, client_for, message, refusal

from course_lib.errors import ContextOverflowError, SettingsError
from course_lib.messages import RawBlock, TextBlock, ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.microcompact import COMPACTABLE_TOOLS, ClearOldResults, clearing_instruction
from course_lib.providers.anthropic_client import AnthropicClient
from course_lib.providers.settings import ProviderSettings
from course_lib.tiers import compaction_instruction
from course_lib.wire_anthropic import to_anthropic

CLEARING = clearing_instruction(
    ClearOldResults(keep_results=5, exclude_tools={"todo"}, clear_at_least_tokens=5_000), trigger_tokens=30_000
)
COMPACTION = compaction_instruction(trigger_tokens=150_000, instructions="Keep every path.")
BOTH = {"edits": [*CLEARING["edits"], *COMPACTION["edits"]]}
HISTORY = (
    user("Look"),
    assistant(ToolUseBlock("t1", "ls", {"path": "."})),
    user(ToolResultBlock("t1", "a b")),
)


SDK_TYPES = TypeAdapter(BetaContextManagementConfigParam)


def validated(instruction):
    """The instruction as the SDK's types take it; keys that they do not know are gone."""
    return {"edits": list(SDK_TYPES.validate_python(instruction)["edits"])}


@given(
    st.integers(0, 50), st.integers(0, 10**6), st.sets(st.sampled_from(["todo", "ask", "Read"])), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_every_clearing_instruction_is_what_the_sdk_types(keep, least, exclude, clear_inputs, chosen):
    """Any settings: valid, and no key that the SDK would not know."""
    settings = ClearOldResults(
        keep_results=keep,
        clear_at_least_tokens=least,
        exclude_tools=exclude,
        tools=COMPACTABLE_TOOLS if chosen else None,
    )
    names = ["Read", "todo", "mine"]
    made = clearing_instruction(settings, trigger_tokens=9, clear_tool_inputs=clear_inputs, tool_names=names)
    assert validated(made) == made
    left_out = set(made["edits"][0].get("exclude_tools", ()))
    assert left_out == exclude | ({"todo", "mine"} if chosen else set())


@pytest.mark.parametrize("instruction", [COMPACTION, compaction_instruction(trigger_tokens=1)])
def test_a_compaction_instruction_is_what_the_sdk_types(instruction):
    """With words of one's own and without: valid, and a blank one says nothing."""
    assert validated(instruction) == instruction
    assert ("instructions" in instruction["edits"][0]) is (instruction is COMPACTION)


def test_a_wrong_instruction_would_be_noticed():
    """The check above can fail: an unknown key goes missing, an unknown kind is refused."""
    (edit,) = CLEARING["edits"]
    assert validated({"edits": [{**edit, "more": 1}]}) == CLEARING
    with pytest.raises(ValueError, match="clear_all"):
        validated({"edits": [{**edit, "type": "clear_all"}]})


def test_a_set_of_tools_needs_to_know_the_others():
    """The server can only leave tools out: without their names, a todo list would be cleared."""
    with pytest.raises(SettingsError, match="tool_names"):
        clearing_instruction(ClearOldResults(tools=COMPACTABLE_TOOLS), trigger_tokens=1)


@pytest.mark.parametrize(
    ("instruction", "betas"),
    [
        (CLEARING, {"context-management-2025-06-27"}),
        (COMPACTION, {"compact-2026-01-12"}),
        (
            {"edits": [*CLEARING["edits"], *COMPACTION["edits"]]},
            {"context-management-2025-06-27", "compact-2026-01-12"},
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_it_arrives_as_it_was_made(stream, instruction, betas):
    """Through the SDK and over the wire: the instruction word for word, its header, and the history unchanged."""
    server = Server(message())
    client = client_for(server, stream=stream)
    client.context_management = instruction
    response = client.complete(HISTORY, system="Be brief.", tools=(LS,), max_tokens=100)
    (body,) = server.bodies
    assert body["context_management"] == instruction
    assert body["messages"] == to_anthropic(HISTORY)
    assert set(body) - {"stream"} == {"model", "max_tokens", "system", "tools", "messages", "context_management"}
    assert set(server.requests[0].headers["anthropic-beta"].split(",")) == betas
    assert response.stop_reason == "tool_use"
    assert response.usage.context_tokens == 4_312


def test_without_an_instruction_nothing_is_said():
    """No beta, no header: the requests of the other chapters are what they were."""
    server = Server(message())
    client_for(server).complete(HISTORY)
    assert "context_management" not in server.bodies[0]
    assert "anthropic-beta" not in server.requests[0].headers


def test_it_is_counted_with_the_request():
    """The provider counts what it would send to the model: with the instruction."""
    server = Server({"input_tokens": 95, "context_management": {"original_input_tokens": 2_095}})
    client = client_for(server)
    client.context_management = CLEARING
    assert client.count_tokens(HISTORY, tools=(LS,)) == 95
    assert server.bodies[0]["context_management"] == CLEARING
    assert server.requests[0].url.path == "/v1/messages/count_tokens"


def test_it_can_be_given_when_the_client_is_made():
    """As an argument, like everything else of a client."""
    server = Server(message())
    settings = ProviderSettings(provider="anthropic", model="some-model", api_key="k", max_retries=0)
    http_client = httpx2.Client(transport=httpx2.MockTransport(server))
    AnthropicClient(settings, http_client=http_client, context_management=COMPACTION).complete(HISTORY)
    assert server.bodies[0]["context_management"] == COMPACTION


def test_a_summary_of_the_server_is_kept_and_sent_back():
    """The answer begins with a compaction block: it is kept word for word, and goes back where it stood."""
    block = {"type": "compaction", "content": "Two files were read.", "encrypted_content": None}
    server = Server(message([block, {"type": "text", "text": "On we go."}], "end_turn"), message())
    client = client_for(server)
    client.context_management = COMPACTION
    answer = client.complete(HISTORY).message
    first, second = answer.content
    assert isinstance(first, RawBlock)
    assert first.raw["content"] == "Two files were read."
    assert second == TextBlock("On we go.")
    client.complete((*HISTORY, answer, user("Good.")))
    back = server.bodies[1]["messages"][3]["content"][0]
    assert {key: value for key, value in back.items() if value is not None} == {
        key: value for key, value in block.items() if value is not None
    }


def test_a_refusal_is_the_same_error():
    """The beta's errors are the API's errors."""
    server = Server(refusal(400, "invalid_request_error", "prompt is too long: 210 tokens > 200 maximum"))
    client = client_for(server)
    client.context_management = CLEARING
    with pytest.raises(ContextOverflowError) as caught:
        client.complete(HISTORY)
    assert caught.value.request_tokens == 210
    assert json.loads(server.requests[0].content)["context_management"] == CLEARING
