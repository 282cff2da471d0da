"""There and back through the shape of Anthropic's Messages API, checked against the types of its SDK."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import broken_conversations, conversations, json_objects, json_values

from course_lib.errors import MessageFormatError
from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    assistant,
    user,
)
from course_lib.wire_anthropic import as_record, from_anthropic, record_field, to_anthropic, tools_to_anthropic


def spoken_out(value):
    """The value with every lazy iterator in it run to its end: pydantic checks their items only then."""
    if isinstance(value, dict):
        return {key: spoken_out(item) for key, item in value.items()}
    if isinstance(value, str | int | float | None):
        return value
    return [spoken_out(item) for item in value]


@pytest.fixture(scope="module")
def sdk_reads():
    """The outside oracle: the SDK's own types read a record, refuse unknown fields, and give back what they read."""
    from anthropic.types import MessageParam
    from pydantic import TypeAdapter

    adapter = TypeAdapter(MessageParam)
    return lambda record: spoken_out(adapter.validate_python(record, extra="forbid"))


@given(conversations(inputs=json_objects) | broken_conversations())
def test_there_and_back_loses_nothing(messages):
    """Every conversation, broken ones too, comes back equal."""
    assert from_anthropic(to_anthropic(messages)) == messages


@given(conversations())
def test_records_are_json(messages):
    """Records survive a file: as JSON text and back they still give the same messages."""
    assert from_anthropic(json.loads(json.dumps(to_anthropic(messages)))) == messages


@given(messages=conversations(nested=False))
def test_the_sdk_takes_the_records(sdk_reads, messages):
    """The SDK's types accept every record, and read no more and no less than what stands in it."""
    records = to_anthropic(messages)
    assert [sdk_reads(record) for record in records] == records


@pytest.mark.parametrize(
    ("block", "record"),
    [
        (TextBlock("a"), {"type": "text", "text": "a"}),
        (
            ImageBlock("image/png", "aGk="),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        ),
        (
            ImageBlock(url="https://example.org/a.png"),
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ),
        (
            DocumentBlock("application/pdf", "aGk=", title="T"),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
                "title": "T",
            },
        ),
        (
            DocumentBlock("text/plain", "plain words"),
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words"}},
        ),
        (
            ToolResultBlock("c1", "a"),
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a"}]},
        ),
        (ToolResultBlock("c1"), {"type": "tool_result", "tool_use_id": "c1", "content": []}),
        (
            ToolResultBlock("c1", [ImageBlock("image/png", "aGk=")], is_error=True),
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}],
                "is_error": True,
            },
        ),
        (RawBlock({"type": "search_result", "title": "T"}), {"type": "search_result", "title": "T"}),
    ],
)
def test_the_record_of_a_users_block(block, record):
    """Each block of a user message has this record, and is read from it again."""
    assert to_anthropic([user(block)]) == [{"role": "user", "content": [record]}]
    assert from_anthropic([{"role": "user", "content": [record]}]) == (user(block),)


@pytest.mark.parametrize(
    ("block", "record"),
    [
        (ThinkingBlock("why", "sig"), {"type": "thinking", "thinking": "why", "signature": "sig"}),
        (ToolUseBlock("c1", "f", {"x": [1]}), {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": [1]}}),
        (RawBlock({"type": "redacted_thinking", "data": "x"}), {"type": "redacted_thinking", "data": "x"}),
    ],
)
def test_the_record_of_an_assistants_block(block, record):
    """Each block of an assistant message has this record, and is read from it again."""
    assert to_anthropic([assistant(block)]) == [{"role": "assistant", "content": [record]}]
    assert from_anthropic([{"role": "assistant", "content": [record]}]) == (assistant(block),)


def test_parallel_calls_and_their_results_stay_together():
    """Parallel calls are one record, and so are their results."""
    calls = assistant(ToolUseBlock("c1", "f", {}), ToolUseBlock("c2", "g", {}))
    results = user(ToolResultBlock("c1", "1"), ToolResultBlock("c2", "2"))
    assert [len(record["content"]) for record in to_anthropic([calls, results])] == [2, 2]


@pytest.mark.parametrize(
    "content", ["hello", ["hello"], [{"type": "text", "text": "hello"}]], ids=["str", "list", "block"]
)
def test_text_may_be_a_bare_string(content):
    """The API's short form for text is read like the long one, in messages and in results."""
    assert from_anthropic([{"role": "user", "content": content}]) == (user("hello"),)
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    assert from_anthropic([{"role": "user", "content": [result]}]) == (user(ToolResultBlock("c1", "hello")),)


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}, {"content": []}], ids=str)
def test_a_result_may_be_empty(content):
    """A tool result without content, in any of the ways to say so, is an empty result."""
    record = {"type": "tool_result", "tool_use_id": "c1", **content}
    assert from_anthropic([{"role": "user", "content": [record]}]) == (user(ToolResultBlock("c1")),)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        {"type": "image", "source": 5},
        {"type": "document"},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a"},
            "citations": {"enabled": True},
        },
        {"type": "document", "source": {"type": "content", "content": "a"}},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "a_block_of_next_year", "anything": {"deep": [1, None]}},
    ],
    ids=lambda record: record["type"],
)
def test_what_has_no_class_is_kept_word_for_word(record):
    """A block that the course cannot say with its own classes comes back exactly as it was, in its place."""
    messages = from_anthropic([{"role": "assistant", "content": [record, {"type": "text", "text": "end"}]}])
    assert messages == (assistant(RawBlock(record), "end"),)
    assert to_anthropic(messages)[0]["content"][0] == record


@pytest.mark.parametrize(
    "more", [{"caller": {"type": "direct"}}, {"cache_control": {"type": "ephemeral"}}, {"toolset_name": "x"}]
)
def test_a_call_is_a_call_whatever_else_it_says(more):
    """A tool_use with fields of newer APIs is still a call, or its result would have none."""
    record = {"type": "tool_use", "id": "c1", "name": "f", "input": {}, **more}
    assert from_anthropic([{"role": "assistant", "content": [record]}]) == (assistant(ToolUseBlock("c1", "f", {})),)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "a", "cache_control": None},
        {"type": "text", "text": "a", "citations": None},
    ],
    ids=str,
)
def test_cache_marks_and_empty_fields_are_no_content(record):
    """A cache mark belongs to a request, not to what was said; a field that is None says nothing."""
    assert from_anthropic([{"role": "user", "content": [record]}]) == (user("a"),)


def test_what_the_sdk_answers_with_can_be_read():
    """A response message of the SDK, dumped with all its empty fields, is read block for block."""
    from anthropic.types import Message as SdkMessage

    answer = SdkMessage.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "any",
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [
                {"type": "thinking", "thinking": "why", "signature": "sig"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}, "caller": {"type": "direct"}},
            ],
        }
    )
    assert from_anthropic([answer.model_dump()]) == (
        assistant(ThinkingBlock("why", "sig"), "I look.", ToolUseBlock("c1", "f", {"x": 1})),
    )


def test_records_share_nothing_with_the_messages():
    """Changing a record, as a cache mark does, or its deepest part, changes no message."""
    before = assistant(ToolUseBlock("c1", "f", {"x": {"y": [1]}}), RawBlock({"type": "new", "deep": [1]}))
    call, raw = to_anthropic([before])[0]["content"]
    call["input"]["x"]["y"].append(2)
    call["cache_control"] = {"type": "ephemeral"}
    raw["deep"].append(2)
    assert before == assistant(ToolUseBlock("c1", "f", {"x": {"y": [1]}}), RawBlock({"type": "new", "deep": [1]}))


GOOD = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "NoneType"),
        (5, "int"),
        ("hi", "str: hi"),
        ([], "list"),
        ({}, "'role' is 'None'"),
        ({"content": "hi"}, "'role' is 'None'"),
        ({"role": 5, "content": "hi"}, "'role' is '5'"),
        ({"role": "system", "content": "hi"}, "role 'system'"),
        ({"role": "user"}, "'content' is 'None'"),
        ({"role": "user", "content": 5}, "'content' is '5'"),
        ({"role": "user", "content": {"type": "text"}}, "'content' is"),
        ({"role": "user", "content": [5]}, "int: 5"),
        ({"role": "user", "content": [None]}, "NoneType"),
        ({"role": "user", "content": [{}]}, "without a type"),
        ({"role": "user", "content": [{"type": None}]}, "without a type"),
        ({"role": "user", "content": [{"type": ["text"]}]}, "without a type"),
        ({"role": "user", "content": [{"type": "text"}]}, "'text' is 'None'"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "'text' is '5'"),
        ({"role": "user", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}, "ToolUseBlock"),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "'tool_use_id' is 'None'"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": 5}]}, "'content' is '5'"),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": {}}]},
            "'content' is '{}'",
        ),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [7]}]}, "int: 7"),
        ({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": 5}}]}, "'data' is '5'"),
        ({"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": []}}]}, "'url' is"),
        ({"role": "user", "content": [{"type": "document", "source": {"type": "url"}, "title": 5}]}, "'title' is '5'"),
        ({"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "c"}]}, "ToolResultBlock"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f"}]}, "'input' is 'None'"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": "{}"}]}, "'input'"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": 5, "name": "f", "input": {}}]}, "'id' is '5'"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "input": {}}]}, "'name' is 'None'"),
        ({"role": "assistant", "content": [{"type": "thinking", "signature": "s"}]}, "'thinking' is 'None'"),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "a", "signature": 5}]}, "'signature'"),
    ],
    ids=str,
)
def test_a_malformed_record_is_named_with_its_place(record, words):
    """What is no message raises a `MessageFormatError` with the index of the record and what is wrong in it."""
    with pytest.raises(MessageFormatError) as error:
        from_anthropic([GOOD, record])
    assert str(error.value).startswith("message 1: ")
    assert words in str(error.value)


KEYS = [
    "type",
    "text",
    "content",
    "tool_use_id",
    "id",
    "name",
    "input",
    "source",
    "data",
    "media_type",
    "url",
    "thinking",
    "title",
]
TYPES = ["text", "tool_use", "tool_result", "image", "document", "thinking", "base64", "url", "other"]
almost_blocks = st.recursive(
    json_values | st.sampled_from(TYPES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
        | st.builds(
            lambda kind, rest: {**rest, "type": kind},
            st.sampled_from(TYPES),
            st.dictionaries(st.sampled_from(KEYS), inner),
        )
    ),
    max_leaves=10,
)
almost_records = json_values | st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant"]) | json_values,
        "content": almost_blocks | st.lists(almost_blocks),
    },
)


@given(st.lists(almost_records, max_size=3))
def test_any_json_is_read_or_refused(records):
    """Whatever JSON arrives, it is read to something that goes there and back, or refused: never another exception."""
    try:
        messages = from_anthropic(records)
    except MessageFormatError:
        return
    assert from_anthropic(to_anthropic(messages)) == messages


def test_tools_are_named_described_and_specified():
    """A tool definition has the three fields of the API, with a schema of its own."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert tools_to_anthropic([ToolSpec("ls", "list a folder", schema)]) == [
        {"name": "ls", "description": "list a folder", "input_schema": schema}
    ]


def test_as_record_gives_the_object_back():
    """An object passes through; what is none is refused with its place and its type."""
    record = {"a": 1}
    assert as_record(record, "line 7") is record
    with pytest.raises(MessageFormatError, match="line 7: expected an object, got list"):
        as_record([], "line 7")


def test_record_field_wants_the_type():
    """A field of one of the types is returned; any other is refused with place, key, value and what was expected."""
    assert record_field({"a": 1}, "a", "line 7", (str, int)) == 1
    with pytest.raises(MessageFormatError, match="line 7: 'a' is '1', expected str or list"):
        record_field({"a": 1}, "a", "line 7", (str, list))


@pytest.mark.parametrize("value", ["x" * 10_000, {"deep": ["x" * 10_000]}], ids=["text", "nested"])
def test_an_error_shows_only_the_start_of_a_long_value(value):
    """A wrong value of a megabyte does not flood the error message."""
    with pytest.raises(MessageFormatError) as error:
        record_field({"a": value}, "a", "line 7", (int,))
    assert len(str(error.value)) < 200
