"""The values a conversation is made of: frozen, equal by what was said, and strict about what they take."""

import dataclasses
import pickle

import pytest
from hypothesis import given
from strategies import conversations

from course_lib.errors import MessageFormatError
from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    Message,
    RawBlock,
    TextBlock,
    ThinkingBlock,
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

VALUES = [
    TextBlock("a"),
    ThinkingBlock("a", "s"),
    ToolUseBlock("c1", "f", {"x": 1}),
    ToolResultBlock("c1", "a"),
    ImageBlock("image/png", "aGk="),
    DocumentBlock("application/pdf", "aGk="),
    RawBlock({"type": "new"}),
    Usage(1, 2, 3, 4),
    ToolSpec("f", "does f", {"type": "object"}),
    user("a"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_no_field_can_be_set(value):
    """Every value is frozen: setting any of its fields raises."""
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_equal_values_have_equal_hashes(value):
    """A copy with the same fields is equal and has the same hash, so that values work in sets."""
    twin = pickle.loads(pickle.dumps(value))
    assert twin is not value
    assert {value, twin} == {value}


@given(conversations())
def test_every_message_can_be_hashed(messages):
    """Whatever a conversation holds, its messages work in sets and as keys."""
    twins = pickle.loads(pickle.dumps(messages))
    assert {*messages, *twins} == set(twins)
    assert hash(messages) == hash(twins)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("a"), user("b")),
        (user("a"), assistant("a")),
        (user("a"), user("a", kind="summary")),
        (user("a", "b"), user("b", "a")),
        (assistant(ToolUseBlock("c1", "f", {"x": 1})), assistant(ToolUseBlock("c1", "f", {"x": 2}))),
        (user(ToolResultBlock("c1", "a")), user(ToolResultBlock("c1", "a", is_error=True))),
        (assistant(ThinkingBlock("a", "s")), assistant(ThinkingBlock("a", "t"))),
    ],
)
def test_what_was_said_makes_the_difference(one, other):
    """Role, kind, and every field of every block take part in equality."""
    assert one != other


@pytest.mark.parametrize("change", [{"id": "m1"}, {"usage": Usage(5)}, {"id": "m1", "usage": Usage(5)}])
def test_id_and_usage_take_no_part_in_equality(change):
    """A message stays equal to itself, hash included, when it gets an id or a usage."""
    message = assistant("a")
    named = dataclasses.replace(message, **change)
    assert named == message
    assert hash(named) == hash(message)


def test_replacing_a_field_keeps_the_block_objects():
    """A new message made from an old one shares its blocks."""
    message = user("a", ImageBlock(url="https://example.org/a.png"))
    changed = dataclasses.replace(message, kind="summary")
    assert [*map(id, changed.content)] == [*map(id, message.content)]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (user("a"), (TextBlock("a"),)),
        (user("a", "b"), (TextBlock("a"), TextBlock("b"))),
        (user(), ()),
        (user(""), (TextBlock(""),)),
        (Message("user", "abc"), (TextBlock("abc"),)),
        (Message("user", ["a", TextBlock("b")]), (TextBlock("a"), TextBlock("b"))),
        (assistant("a", ThinkingBlock("t")), (TextBlock("a"), ThinkingBlock("t"))),
    ],
)
def test_a_string_becomes_one_text_block(made, expected):
    """A string is one text block wherever blocks are expected, not a block for each letter."""
    assert made.content == expected
    assert type(made.content) is tuple


@pytest.mark.parametrize(
    ("content", "expected"), [("abc", (TextBlock("abc"),)), ((), ()), (["a", "b"], (TextBlock("a"), TextBlock("b")))]
)
def test_a_result_takes_strings_too(content, expected):
    """The content of a result follows the same rule as the content of a message."""
    assert ToolResultBlock("c1", content).content == expected


def test_a_result_has_no_content_by_default():
    """A result without content is empty and no error."""
    assert ToolResultBlock("c1") == ToolResultBlock("c1", (), is_error=False)


def test_the_text_of_a_result_includes_nested_results():
    """Texts inside are joined by line ends, nested ones too; images and empty texts add nothing."""
    inner = ToolResultBlock("c2", ["b", ImageBlock("image/png", "aGk="), ToolResultBlock("c3", "c")])
    assert ToolResultBlock("c1", ["a", "", inner, "d"]).text == "a\nb\nc\nd"


def test_the_text_of_thinking_is_the_thinking():
    """`text` and `thinking` of a thinking block are the same."""
    assert ThinkingBlock("why").text == "why"


@pytest.mark.parametrize("role", ["system", "tool", "developer", "", "User", None, 5, []])
def test_a_strange_role_is_refused_by_name(role):
    """Only user and assistant speak; the error names what was given."""
    with pytest.raises(MessageFormatError) as error:
        Message(role, ())
    assert repr(role) in str(error.value)


@pytest.mark.parametrize("kind", ["chat", "boundary", "summary", "restored"])
def test_each_kind_can_be_given(kind):
    """All four kinds exist for both roles."""
    assert user("a", kind=kind).kind == kind
    assert assistant("a", kind=kind).kind == kind


def test_an_unknown_kind_is_refused_by_name():
    """A kind that is none of the four is refused; the error names it and lists them."""
    with pytest.raises(MessageFormatError, match=r"'summery'.*chat, boundary, summary, restored"):
        user("a", kind="summery")


@pytest.mark.parametrize(
    ("role", "block", "name"),
    [
        ("user", ToolUseBlock("c1", "f", {}), "ToolUseBlock"),
        ("assistant", ToolResultBlock("c1", ""), "ToolResultBlock"),
    ],
)
def test_calls_and_results_have_their_role(role, block, name):
    """A call in a user message, or a result in an assistant's, is refused with both named."""
    with pytest.raises(MessageFormatError, match=rf"{name}.*'{role}'"):
        Message(role, (TextBlock("a"), block))


@pytest.mark.parametrize(
    "make",
    [
        lambda bad: user(bad),
        lambda bad: Message("user", (bad,)),
        lambda bad: ToolResultBlock("c1", (bad,)),
    ],
    ids=["user", "message", "result"],
)
@pytest.mark.parametrize("bad", [None, 5, b"bytes", {"type": "text"}, ["a"], TextBlock], ids=repr)
def test_a_part_that_is_no_block_is_refused_by_name(make, bad):
    """What is neither string nor block is refused, and the error shows it."""
    with pytest.raises(MessageFormatError) as error:
        make(bad)
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize("make", [lambda bad: Message("user", bad), lambda bad: ToolResultBlock("c1", bad)])
@pytest.mark.parametrize("bad", [None, 5, {"text": "a"}, TextBlock("a")], ids=repr)
def test_content_that_is_no_sequence_is_refused_by_name(make, bad):
    """Content must be a string or a sequence of blocks: a dict's keys are not taken for texts."""
    with pytest.raises(MessageFormatError) as error:
        make(bad)
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda bad: ToolUseBlock("c1", "f", bad),
        lambda bad: RawBlock(bad),
        lambda bad: ToolSpec("f", "", bad),
    ],
    ids=["input", "raw", "schema"],
)
@pytest.mark.parametrize("bad", [None, 5, "text", ["a", "b"], [("a", 1)]], ids=repr)
def test_a_mapping_must_be_one(make, bad):
    """Input, raw block and schema take mappings only; the error shows what was given."""
    with pytest.raises(MessageFormatError) as error:
        make(bad)
    assert repr(bad) in str(error.value)


def test_an_input_without_end_is_refused():
    """An input nested so deeply that Python cannot copy it is a format error, not a crash."""
    deep: dict = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(MessageFormatError, match=r"'c1'.*nested too deeply"):
        ToolUseBlock("c1", "f", deep)
    while deep:  # take it apart again from outside, or freeing it recurses
        deep = deep["a"]


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (lambda given: ToolUseBlock("c1", "f", given), lambda block: block.input),
        (lambda given: RawBlock(given), lambda block: block.raw),
        (lambda given: ToolSpec("f", "", given), lambda spec: spec.input_schema),
    ],
    ids=["input", "raw", "schema"],
)
def test_the_callers_mapping_stays_the_callers(make, read):
    """Changing the given mapping afterwards, also deep inside, does not change the value."""
    given = {"path": {"name": ["a.txt"]}}
    value = make(given)
    given["path"]["name"].append("b.txt")
    given["more"] = 1
    assert read(value) == {"path": {"name": ["a.txt"]}}


@pytest.mark.parametrize(
    ("usage", "expected"), [(Usage(), 0), (Usage(100, 20, 3), 123), (Usage(100, 20, 3, output_tokens=50), 123)]
)
def test_context_tokens_are_the_three_input_buckets(usage, expected):
    """Everything the model read counts, cached or not; what it wrote does not."""
    assert usage.context_tokens == expected


def test_nothing_is_billed_by_default():
    """All four buckets start at zero."""
    assert Usage() == Usage(0, 0, 0, 0)


def test_calls_and_results_come_in_order():
    """`tool_uses` and `tool_results` return the very block objects, in order, and nothing else."""
    one, two = ToolUseBlock("c1", "f", {}), ToolUseBlock("c2", "g", {})
    assert [*map(id, tool_uses(assistant("a", one, ThinkingBlock("b"), two)))] == [id(one), id(two)]
    first, second = ToolResultBlock("c1", "1"), ToolResultBlock("c2", "2")
    assert [*map(id, tool_results(user(first, second, "text")))] == [id(first), id(second)]


@pytest.mark.parametrize("message", [user("a"), assistant(ThinkingBlock("a"))])
def test_a_message_may_have_neither_calls_nor_results(message):
    """Without calls and results both functions return an empty tuple."""
    assert (tool_uses(message), tool_results(message)) == ((), ())


def test_the_text_of_a_message_is_its_text_blocks():
    """Text blocks joined by line ends; no thinking, no calls, no results."""
    assert message_text(assistant("a", ThinkingBlock("x"), "b", ToolUseBlock("c1", "f", {"text": "x"}))) == "a\nb"
    assert message_text(user(ToolResultBlock("c1", "x"), "a")) == "a"


def test_base64_data_is_kept_out_of_the_repr():
    """A repr in an error message never floods the screen with an image."""
    data = "aGVsbG8=" * 100
    assert data not in repr(user(ImageBlock("image/png", data), DocumentBlock("application/pdf", data)))
