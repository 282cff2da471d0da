"""There and back through the shape of OpenAI's Chat Completions, checked against the types of its SDK.

This shape can say less than the course's own. `comes_back_as` states exactly what returns from a round trip.
"""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    MEDIA_TYPES,
    base64_data,
    broken_conversations,
    conversations,
    json_objects,
    json_values,
    names,
    texts,
    urls,
)

from course_lib.errors import MessageFormatError
from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    Messages,
    RawBlock,
    TextBlock,
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
from course_lib.tool_pairs import find_pair_faults
from course_lib.wire_openai import ERROR_MARK, INVALID_JSON, from_openai, parse_arguments, to_openai, tools_to_openai

ATTACHED = "[attached to the next user message]"


def comes_back_as(messages: Messages, *, reasoning: bool = False) -> Messages:
    """The messages after a round trip, when every user message with results stands after a message without any."""
    return tuple(back for message in messages for back in _comes_back(message, reasoning))


def _comes_back(message: Message, reasoning: bool) -> list[Message]:
    if message.role == "assistant":
        thinking = "\n".join(block.thinking for block in message.content if isinstance(block, ThinkingBlock))
        kept = [ThinkingBlock(thinking)] if reasoning and thinking else []  # joined, first, without its signature
        spoken = [TextBlock(message_text(message))] if message_text(message) else []  # joined by line ends
        return [Message("assistant", (*kept, *spoken, *tool_uses(message)))]  # what has no class is left out
    results = tool_results(message)
    attached = [b for result in results for b in result.content if isinstance(b, ImageBlock | DocumentBlock)]
    others = [block for block in message.content if not isinstance(block, ToolResultBlock)]
    rest = user(*(_as_part(block) for block in (*attached, *others)))
    answers = [user(*map(_as_tool_message, results))] if results else []
    return [*answers, rest] if rest.content or not results else answers  # results first, all the rest behind them


def _as_tool_message(result: ToolResultBlock) -> ToolResultBlock:
    has_attachment = any(isinstance(block, ImageBlock | DocumentBlock) for block in result.content)
    text = "\n".join(filter(None, [result.text, ATTACHED if has_attachment else ""]))
    return ToolResultBlock(result.tool_use_id, text, result.is_error)  # one text


def _as_part(block: Block) -> Block:
    if isinstance(block, DocumentBlock) and (block.url or block.media_type == "text/plain"):
        separator, body = (" ", block.url) if block.url else ("\n", block.data)
        return TextBlock(separator.join(filter(None, [block.title, body])))
    return block


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
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    adapter = TypeAdapter(ChatCompletionMessageParam)
    return lambda record: spoken_out(adapter.validate_python(record, extra="forbid"))


@given(conversations(inputs=json_objects), st.booleans())
def test_there_and_back_loses_only_what_is_stated(messages, reasoning):
    """A valid conversation comes back as `comes_back_as` says, and no other way."""
    assert from_openai(to_openai(messages, reasoning=reasoning))[1] == comes_back_as(messages, reasoning=reasoning)


@given(broken_conversations())
def test_the_second_trip_loses_nothing(messages):
    """What came back once is a fixed point, even if its pairs are broken: both ways again change nothing."""
    once = from_openai(to_openai(messages))[1]
    assert from_openai(to_openai(once))[1] == once


@given(conversations())
def test_pairs_stay_whole(messages):
    """Valid pairs are valid after the round trip: splitting and joining moves no result away from its call."""
    assert find_pair_faults(from_openai(to_openai(messages))[1]) == ()


calls = st.builds(
    lambda id_, name, arguments: {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}},
    st.uuids().map(str),
    names,
    json_objects.map(lambda value: json.dumps(value, ensure_ascii=False))
    | st.sampled_from(['{"path": "a', "[1]", "null", "7"]),
)
parts = st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, texts)
    | st.builds(lambda url: {"type": "image_url", "image_url": {"url": url}}, urls)
    | st.builds(
        lambda kind, data: {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}},
        st.sampled_from(MEDIA_TYPES),
        base64_data,
    )
    | st.builds(
        lambda data, name: {
            "type": "file",
            "file": {"filename": name, "file_data": f"data:application/pdf;base64,{data}"},
        },
        base64_data,
        st.sampled_from(["document", "Report"]),
    )
    | st.just({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}),
    min_size=2,
    max_size=3,
)
usual_records = st.one_of(
    st.builds(lambda content: {"role": "user", "content": content}, texts | parts),
    st.builds(lambda text: {"role": "assistant", "content": text}, texts),
    st.builds(
        lambda text, made: {"role": "assistant", "content": text, "tool_calls": made},
        st.none() | texts,
        st.lists(calls, min_size=1, max_size=3),
    ),
    st.builds(
        lambda id_, text: {"role": "tool", "tool_call_id": id_, "content": text},
        st.uuids().map(str),
        st.text(max_size=9),
    ),
)


@given(st.none() | texts, st.lists(usual_records))
def test_records_as_openai_writes_them_come_back_the_same(system, records):
    """The other way round, from records to messages to records, loses nothing that this shape usually holds."""
    records = [*([{"role": "system", "content": system}] if system else []), *records]
    read_system, messages = from_openai(records)
    assert to_openai(messages, system=read_system) == records


@given(messages=conversations(raws=False))
def test_the_sdk_takes_the_records(sdk_reads, messages):
    """The SDK's types accept every record, and read no more and no less than what stands in it."""
    records = to_openai(messages, system="be brief")
    assert [sdk_reads(record) for record in records] == records


def test_each_result_is_a_message_of_its_own():
    """Parallel calls are one record, their results one each, in order; joined again they are one message."""
    messages = (
        assistant(ToolUseBlock("c1", "f", {"x": 1}), ToolUseBlock("c2", "g", {})),
        user(ToolResultBlock("c2", "two"), ToolResultBlock("c1", "one")),
    )
    records = to_openai(messages)
    assert records == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
    ]
    assert from_openai(records) == ("", messages)


def test_results_of_two_batches_are_not_joined():
    """Only tool messages in a row belong together: a message between them parts the batches."""
    records = [
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "assistant", "content": "next"},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "user", "content": "and"},
        {"role": "tool", "tool_call_id": "c3", "content": "3"},
    ]
    assert [[result.tool_use_id for result in tool_results(m)] for m in from_openai(records)[1]] == [
        ["c1"],
        [],
        ["c2"],
        [],
        ["c3"],
    ]


def test_images_of_results_follow_in_a_user_message():
    """Tool messages hold text only: images go behind *all* results of the batch, and the result says so."""
    picture, plan = ImageBlock("image/png", "aGk="), ImageBlock(url="https://example.org/b.png")
    message = user(ToolResultBlock("c1", ["seen", picture]), ToolResultBlock("c2", [plan]), "what now?")
    assert to_openai([message]) == [
        {"role": "tool", "tool_call_id": "c1", "content": f"seen\n{ATTACHED}"},
        {"role": "tool", "tool_call_id": "c2", "content": ATTACHED},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "image_url", "image_url": {"url": "https://example.org/b.png"}},
                {"type": "text", "text": "what now?"},
            ],
        },
    ]


def test_an_image_in_a_tool_message_is_read():
    """Some servers do put images in tool messages: they are part of the result, not lost."""
    content = [
        {"type": "text", "text": "seen"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]
    assert from_openai([{"role": "tool", "tool_call_id": "c1", "content": content}])[1] == (
        user(ToolResultBlock("c1", ["seen", ImageBlock(url="https://example.org/a.png")])),
    )


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (ToolResultBlock("c1", "gone", is_error=True), ERROR_MARK + "gone"),
        (ToolResultBlock("c1", "", is_error=True), ERROR_MARK),
        (ToolResultBlock("c1", "gone"), "gone"),
        (ToolResultBlock("c1", ERROR_MARK + "gone", is_error=True), ERROR_MARK * 2 + "gone"),
    ],
)
def test_the_mark_in_front_carries_the_error_flag(result, content):
    """There is no error flag in this shape: a mark in front of the text stands for it, both ways."""
    records = [{"role": "tool", "tool_call_id": "c1", "content": content}]
    assert to_openai([user(result)]) == records
    assert from_openai(records)[1] == (user(result),)


def test_the_mark_is_found_in_parts_too():
    """A tool message given as a list of parts has its mark at the start of the first text."""
    content = [{"type": "text", "text": ERROR_MARK + "gone"}, {"type": "text", "text": "for good"}]
    assert from_openai([{"role": "tool", "tool_call_id": "c1", "content": content}])[1] == (
        user(ToolResultBlock("c1", ["gone", "for good"], is_error=True)),
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ("{}", {}),
        ("", {}),
        (None, {}),
        ({"path": "a"}, {"path": "a"}),
        ('{"path": "a', {INVALID_JSON: '{"path": "a'}),
        ("[1]", {INVALID_JSON: "[1]"}),
        ("null", {INVALID_JSON: "null"}),
        ("7", {INVALID_JSON: "7"}),
        (" ", {INVALID_JSON: " "}),
        (7, {INVALID_JSON: "7"}),
        ([1], {INVALID_JSON: "[1]"}),
        ("[" * 100_000, {INVALID_JSON: "[" * 100_000}),
        ("9" * 5_000, {INVALID_JSON: "9" * 5_000}),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_arguments_are_parsed_or_kept(arguments, expected):
    """A JSON object is parsed; anything else is kept as text under INVALID_JSON, and nothing raises."""
    assert parse_arguments(arguments) == expected


@given(st.text())
def test_any_arguments_survive_the_round_trip(text):
    """Arguments that are no JSON object go back to the model exactly as it wrote them."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": text}}
    (back,) = to_openai(from_openai([{"role": "assistant", "content": None, "tool_calls": [call]}])[1])
    parsed = parse_arguments(text)
    assert back["tool_calls"][0]["function"]["arguments"] == (text if INVALID_JSON in parsed else json.dumps(parsed))


@pytest.mark.parametrize("given_input", [{INVALID_JSON: 5}, {INVALID_JSON: "x", "path": "a"}])
def test_an_input_that_only_looks_broken_goes_out_as_json(given_input):
    """Only the one key with a text in it stands for broken arguments."""
    (record,) = to_openai([assistant(ToolUseBlock("c1", "f", given_input))])
    assert json.loads(record["tool_calls"][0]["function"]["arguments"]) == given_input


def test_arguments_are_not_escaped():
    """Chinese stays Chinese: escapes would cost six characters for one."""
    (record,) = to_openai([assistant(ToolUseBlock("c1", "f", {"path": "数据"}))])
    assert record["tool_calls"][0]["function"]["arguments"] == '{"path": "数据"}'


THOUGHT = assistant(ThinkingBlock("one", "sig"), "a", ThinkingBlock("two"))


def test_thinking_is_left_out():
    """By default thinking is not sent back."""
    assert to_openai([THOUGHT]) == [{"role": "assistant", "content": "a"}]


def test_thinking_goes_back_where_a_server_wants_it():
    """With `reasoning` it is sent as `reasoning_content`, joined by line ends."""
    assert to_openai([THOUGHT], reasoning=True) == [
        {"role": "assistant", "content": "a", "reasoning_content": "one\ntwo"}
    ]


def test_a_message_without_thinking_has_no_reasoning_field():
    """With `reasoning`, a message that was not thought about gets no empty field."""
    assert to_openai([assistant("a")], reasoning=True) == [{"role": "assistant", "content": "a"}]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    ("value", "expected"), [("why", (ThinkingBlock("why"),)), ("", ()), (None, ()), (5, ()), ([], ())]
)
def test_reasoning_is_read_under_both_names(key, value, expected):
    """Servers call it one or the other; what is no text is no reasoning."""
    assert from_openai([{"role": "assistant", "content": "a", key: value}])[1] == (assistant(*expected, "a"),)


@pytest.mark.parametrize(
    "record", [{"content": None, "refusal": "I won't"}, {"content": [{"type": "refusal", "refusal": "I won't"}]}]
)
def test_a_refusal_is_what_the_assistant_said(record):
    """The words of a refusal are the message's text, in whichever field they come."""
    assert from_openai([{"role": "assistant", **record}])[1] == (assistant("I won't"),)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (assistant(), ""),
        (assistant(ThinkingBlock("why")), ""),
        (assistant(RawBlock({"type": "redacted_thinking", "data": "x"})), ""),
        (assistant(""), ""),
        (assistant("a"), "a"),
        (assistant("a", "b"), "a\nb"),
        (assistant(ToolUseBlock("c1", "f", {})), None),
        (assistant("a", ToolUseBlock("c1", "f", {})), "a"),
    ],
)
def test_only_a_message_with_calls_has_no_content(message, content):
    """Texts are joined; without any, content is null beside calls and an empty string elsewhere, as the API asks."""
    (record,) = to_openai([message])
    assert record["content"] == content
    assert ("tool_calls" in record) == bool(tool_uses(message))


@pytest.mark.parametrize("content", [None, "", []], ids=repr)
def test_an_assistant_may_have_said_nothing(content):
    """No content, in any of the ways to say so, is a message without blocks."""
    assert from_openai([{"role": "assistant", "content": content}])[1] == (assistant(),)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (user("a"), "a"),
        (user(""), ""),
        (user(), []),
        (user("a", "b"), [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (user(ImageBlock(url="u")), [{"type": "image_url", "image_url": {"url": "u"}}]),
    ],
)
def test_a_single_text_is_a_string_and_the_rest_are_parts(message, content):
    """A user message with one text has a string as content; all others keep their parts apart."""
    records = [{"role": "user", "content": content}]
    assert to_openai([message]) == records
    assert from_openai(records)[1] == (message,)


@pytest.mark.parametrize(
    ("document", "part"),
    [
        (
            DocumentBlock("application/pdf", "aGk=", title="Report"),
            {"type": "file", "file": {"filename": "Report", "file_data": "data:application/pdf;base64,aGk="}},
        ),
        (
            DocumentBlock("application/pdf", "aGk="),
            {"type": "file", "file": {"filename": "document", "file_data": "data:application/pdf;base64,aGk="}},
        ),
        (DocumentBlock("text/plain", "words", title="T"), {"type": "text", "text": "T\nwords"}),
        (DocumentBlock("text/plain", "words"), {"type": "text", "text": "words"}),
        (
            DocumentBlock(url="https://example.org/a.pdf", title="T"),
            {"type": "text", "text": "T https://example.org/a.pdf"},
        ),
    ],
)
def test_documents_become_files_or_text(document, part):
    """Data becomes a file part; plain text and addresses, which this shape has no part for, become text."""
    assert to_openai([user(document, "?")])[0]["content"][0] == part


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file_1"}},
        {"type": "file", "file": 5},
        {"type": "text_of_next_year", "text": "a"},
        {"type": "text_of_next_year"},
    ],
    ids=str,
)
def test_an_unknown_part_is_kept_word_for_word(part):
    """A user's part that the course has no class for comes back exactly as it was, alone or beside others."""
    for content in ([part], [part, {"type": "text", "text": "end"}]):
        records = [{"role": "user", "content": content}]
        assert from_openai(records)[1][0].content[0] == RawBlock(part)
        assert to_openai(from_openai(records)[1]) == records


def test_a_raw_text_block_keeps_its_other_fields():
    """A raw block that calls itself text is not flattened to a string, which would lose the rest of it."""
    raw = {"type": "text", "text": "a", "citations": []}
    assert to_openai([user(RawBlock(raw))]) == [{"role": "user", "content": [raw]}]


def test_records_share_nothing_with_the_messages():
    """Changing a record changes no message."""
    message = user(RawBlock({"type": "new", "deep": [1]}))
    to_openai([message])[0]["content"][0]["deep"].append(2)
    assert message == user(RawBlock({"type": "new", "deep": [1]}))


@pytest.mark.parametrize(
    ("records", "system", "roles"),
    [
        ([("system", "a"), ("user", "b")], "a", ["user"]),
        ([("developer", "a"), ("user", "b")], "a", ["user"]),
        ([("system", "a"), ("system", "b"), ("user", "c")], "a\nb", ["user"]),
        ([("user", "b")], "", ["user"]),
        ([("system", "a"), ("user", "b"), ("system", "c")], "a", ["user", "user"]),
        ([("user", "b"), ("developer", "c"), ("assistant", "d")], "", ["user", "user", "assistant"]),
        ([], "", []),
    ],
)
def test_the_system_prompt_is_what_stands_first(records, system, roles):
    """System and developer records before all messages are the system prompt; later ones become user messages."""
    read_system, messages = from_openai([{"role": role, "content": content} for role, content in records])
    assert (read_system, [message.role for message in messages]) == (system, roles)


@pytest.mark.parametrize(("system", "records"), [("", []), ("be brief", [{"role": "system", "content": "be brief"}])])
def test_an_empty_system_prompt_is_no_record(system, records):
    """The system prompt is the first record; an empty one is none."""
    assert to_openai([], system=system) == records


def test_a_system_prompt_may_come_in_parts():
    """Text parts of a system record are joined by line ends."""
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert from_openai([{"role": "system", "content": content}]) == ("a\nb", ())


@pytest.mark.parametrize(
    "record", [{"tool_call_id": "c1"}, {"tool_call_ids": ["c1"]}, {"tool_call_id": None, "tool_call_ids": ["c1"]}]
)
def test_the_id_of_a_result_is_found_under_both_names(record):
    """Some logs keep a list of ids; its first is the result's."""
    assert from_openai([{"role": "tool", "content": "a", **record}])[1] == (user(ToolResultBlock("c1", "a")),)


def _call(**fields: object) -> dict:
    return {"role": "assistant", "content": None, "tool_calls": [fields]}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "NoneType"),
        (5, "int"),
        ("hi", "str: hi"),
        ([], "list"),
        ({}, "'role' is 'None'"),
        ({"role": None, "content": "hi"}, "'role' is 'None'"),
        ({"role": "function", "content": "hi"}, "role 'function'"),
        ({"role": "user", "content": 5}, "'content' is '5'"),
        ({"role": "user", "content": {"type": "text", "text": "a"}}, "'content' is"),
        ({"role": "user", "content": ["hi"]}, "str: hi"),
        ({"role": "user", "content": [{}]}, "without a type"),
        ({"role": "user", "content": [{"type": 5}]}, "without a type"),
        ({"role": "user", "content": [{"type": "text"}]}, "'text' is 'None'"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "'image_url' is 'None'"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": 5}}]}, "'url' is '5'"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "'url' is 'None'"),
        ({"role": "user", "content": [{"type": "file", "file": {"file_data": 5}}]}, "'file_data' is '5'"),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_data": "", "filename": 5}}]},
            "'filename' is '5'",
        ),
        ({"role": "assistant", "content": 5}, "'content' is '5'"),
        ({"role": "assistant", "content": None, "refusal": 5}, "'refusal' is '5'"),
        ({"role": "assistant", "tool_calls": 5}, "'tool_calls' is '5'"),
        ({"role": "assistant", "tool_calls": {"id": "c1"}}, "'tool_calls' is"),
        ({"role": "assistant", "tool_calls": [None]}, "NoneType"),
        (_call(id="c1"), "'function' is 'None'"),
        (_call(id="c1", function="f"), "'function' is 'f'"),
        (_call(id="c1", function={}), "'name' is 'None'"),
        (_call(id=5, function={"name": "f", "arguments": "{}"}), "'id' is '5'"),
        (_call(function={"name": "f", "arguments": "{}"}), "'id' is 'None'"),
        ({"role": "tool", "content": "a"}, "without tool_call_id"),
        ({"role": "tool", "content": "a", "tool_call_id": 5}, "without tool_call_id"),
        ({"role": "tool", "content": "a", "tool_call_ids": 5}, "without tool_call_id"),
        ({"role": "tool", "content": "a", "tool_call_ids": []}, "without tool_call_id"),
        ({"role": "tool", "content": "a", "tool_call_ids": {"c1": 1}}, "without tool_call_id"),
        ({"role": "tool", "content": 5, "tool_call_id": "c1"}, "'content' is '5'"),
        ({"role": "tool", "content": [{"type": "text", "text": 5}], "tool_call_id": "c1"}, "'text' is '5'"),
    ],
    ids=str,
)
def test_a_malformed_record_is_named_with_its_place(record, words):
    """What is no message raises a `MessageFormatError` with the index of the record and what is wrong in it."""
    with pytest.raises(MessageFormatError) as error:
        from_openai([{"role": "user", "content": "hi"}, record])
    assert str(error.value).startswith("message 1: ")
    assert words in str(error.value)


@pytest.mark.parametrize("content", [5, [{"type": "text", "text": 5}], [7]], ids=str)
def test_a_malformed_system_record_is_refused_too(content):
    """The system prompt is read as strictly as the messages."""
    with pytest.raises(MessageFormatError, match="message 0: "):
        from_openai([{"role": "system", "content": content}])


ROLES = ["system", "developer", "user", "assistant", "tool"]
TYPES = ["text", "image_url", "file", "refusal", "function", "other"]
KEYS = [
    "type",
    "text",
    "image_url",
    "url",
    "file",
    "file_data",
    "filename",
    "function",
    "name",
    "arguments",
    "id",
    "refusal",
]
almost_parts = st.recursive(
    json_values | st.sampled_from(TYPES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(
            lambda kind, rest: {**rest, "type": kind},
            st.sampled_from(TYPES),
            st.dictionaries(st.sampled_from(KEYS), inner),
        )
    ),
    max_leaves=10,
)
FIELDS = ["content", "tool_calls", "tool_call_id", "tool_call_ids", "reasoning", "reasoning_content", "refusal"]
almost_records = json_values | st.builds(
    lambda role, rest: {**rest, "role": role},
    st.sampled_from(ROLES) | json_values,
    st.dictionaries(st.sampled_from(FIELDS), almost_parts | st.lists(almost_parts, max_size=3)),
)


@given(st.lists(almost_records, max_size=3))
def test_any_json_is_read_or_refused(records):
    """Whatever JSON arrives, it is read to something that can be sent again, or refused: never another exception."""
    try:
        system, messages = from_openai(records)
    except MessageFormatError:
        return
    assert isinstance(to_openai(messages, system=system, reasoning=True), list)


JOINED = [
    ([user("a"), user("b")], ["a\n\nb"]),
    ([user("a"), user("b", "c"), user("d")], [[{"type": "text", "text": text} for text in "abcd"]]),
    ([user(ImageBlock(url="https://example.org/a.png")), user("b")], [["image_url", "text"]]),
    ([user("a"), assistant("b"), user("c")], ["a", "b", "c"]),
    ([assistant("a"), assistant("b")], ["a", "b"]),
]


@pytest.mark.parametrize(("messages", "contents"), JOINED)
def test_users_in_a_row_become_one_message_where_a_template_wants_it(messages, contents):
    """Texts are joined by an empty line, anything else as parts; without the setting, nothing is joined."""
    records = to_openai(messages, join_users=True)
    said = [record["content"] for record in records]
    if isinstance(contents[0], list) and isinstance(contents[0][0], str):
        said = [[part["type"] for part in content] for content in said]
    assert said == contents
    assert len(to_openai(messages)) == len(messages)


@given(conversations())
def test_joining_loses_nothing_and_leaves_no_users_in_a_row(messages):
    """Results stay messages of their own behind their calls; every text is there, in its order."""
    plain, joined = to_openai(messages), to_openai(messages, join_users=True)
    roles = [record["role"] for record in joined]
    assert not any(a == b == "user" for a, b in itertools.pairwise(roles))
    assert [r for r in joined if r["role"] != "user"] == [r for r in plain if r["role"] != "user"]
    assert find_pair_faults(from_openai(joined)[1]) == ()

    def texts(records):
        contents = [record["content"] for record in records if record["role"] == "user"]
        parts = [part for c in contents for part in ([{"text": c}] if isinstance(c, str) else c)]
        return "\n\n".join(part.get("text", "(other)") for part in parts)

    assert texts(joined) == texts(plain)
    assert plain == to_openai(messages)  # and nothing was changed in place


def test_tools_are_wrapped_as_functions():
    """A tool definition has the function wrapper of the API around its three fields."""
    schema = {"type": "object", "properties": {}}
    assert tools_to_openai([ToolSpec("ls", "list a folder", schema)]) == [
        {"type": "function", "function": {"name": "ls", "description": "list a folder", "parameters": schema}}
    ]
