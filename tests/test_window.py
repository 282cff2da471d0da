"""The window as one budget, and what fills it."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations

from course_lib.client import Request
from course_lib.errors import CourseError, SettingsError
from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    RawBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    assistant,
    user,
)
from course_lib.tokens import MESSAGE_OVERHEAD_TOKENS, MessageCounter
from course_lib.window import PARTS, Composition, Window, composition

# One character is one token, an image is 100, and framing 10 a message: sums that can be done by hand.
COUNTER = MessageCounter(len, image_tokens=100, message_overhead_tokens=10)
WINDOW = Window(context_tokens=1_000, reserve_tokens=200)
TOOLS = (ToolSpec("ls", "lists", {"type": "object"}), ToolSpec("cat", "reads", {}))


def parts_of(*messages, **more):
    """The parts that are not zero."""
    made = composition(messages, window=WINDOW, counter=COUNTER, **more)
    return {part: tokens for part, tokens in made.tokens_by_part.items() if tokens}


def test_the_articles_example():
    """128K window, 4K reserve, about 10K fixed: 114K are left for the conversation."""
    window = Window(context_tokens=128_000, reserve_tokens=4_000)
    assert (window.input_tokens, window.available_tokens(fixed_tokens=10_000)) == (124_000, 114_000)


@pytest.mark.parametrize(("context", "reserve"), [(1, 0), (100, 0), (100, 99)])
def test_a_reserve_below_the_window_is_fine(context, reserve):
    """From nothing to all but one token may be reserved."""
    assert Window(context_tokens=context, reserve_tokens=reserve).input_tokens == context - reserve


@pytest.mark.parametrize(("context", "reserve"), [(100, 100), (100, 101), (100, -1), (0, 0), (-5, 0), (4_096, None)])
def test_a_reserve_that_leaves_nothing_is_refused(context, reserve):
    """A reserve as large as the window, or negative, is a settings error that names both numbers."""
    given_reserve = {} if reserve is None else {"reserve_tokens": reserve}
    with pytest.raises(SettingsError) as error:
        Window(context_tokens=context, **given_reserve)
    assert isinstance(error.value, CourseError)
    assert str(context) in str(error.value)
    assert str(4_096 if reserve is None else reserve) in str(error.value)


@pytest.mark.parametrize(("fixed", "available"), [(0, 800), (799, 1), (800, 0), (801, 0), (5_000, 0)])
def test_available_is_never_below_zero(fixed, available):
    """The fixed cost takes its share first; what is left ends at zero."""
    assert WINDOW.available_tokens(fixed_tokens=fixed) == available


@pytest.mark.parametrize(
    ("history", "fixed", "ratio"),
    [
        (0, 0, 0.0),
        (400, 0, 0.5),
        (800, 0, 1.0),
        (1_600, 0, 2.0),
        (300, 400, 0.75),
        (1, 799, 1.0),
        (0, 800, float("inf")),
        (5, 900, float("inf")),
    ],
)
def test_the_usage_ratio(history, fixed, ratio):
    """History over what is available: 1 is full, above over-full, and infinite where nothing is available."""
    assert WINDOW.usage_ratio(history, fixed_tokens=fixed) == ratio


@pytest.mark.parametrize("value", [WINDOW, Composition({}, WINDOW)], ids=["window", "composition"])
def test_windows_and_compositions_are_frozen(value):
    """Both are values: another one is another object."""
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


def test_the_default_reserve_is_that_of_a_request():
    """What a window keeps free is what a request asks for, where neither says anything."""
    assert Window(context_tokens=10_000).reserve_tokens == Request(messages=()).max_tokens == 4_096


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (user("abc"), {"user": 13}),
        (user(), {"user": 10}),
        (assistant("abc"), {"assistant": 13}),
        (assistant(ThinkingBlock("abcd"), "x"), {"thinking": 4, "assistant": 11}),
        (assistant(ThinkingBlock("abcd")), {"thinking": 4, "assistant": 10}),
        (assistant(ToolUseBlock("c1", "ls", {})), {"assistant": 14}),
        (user(ToolResultBlock("c1", "abc")), {"tool_results": 13}),
        (user(ToolResultBlock("c1", "abc"), "de"), {"tool_results": 3, "user": 12}),
        (user(ToolResultBlock("c1", [ImageBlock(url="u")])), {"tool_results": 110}),
        (user(ImageBlock(url="u"), "abc"), {"documents": 100, "user": 13}),
        (user(DocumentBlock(url="u")), {"documents": 100, "user": 10}),
        (user(RawBlock({"a": 1})), {"user": 18}),
        (assistant(RawBlock({"a": 1})), {"assistant": 18}),
    ],
    ids=range(13),
)
def test_the_part_of_each_block(message, expected):
    """Each block belongs to one part; the framing goes to the speaker, or to the results where nothing else is."""
    assert parts_of(message) == expected


def test_system_and_tools_have_their_own_parts():
    """The fixed cost stands apart from the conversation."""
    assert parts_of(system="be brief", tools=TOOLS) == {"system": 8, "tools": sum(map(COUNTER.tool, TOOLS))}


def test_an_empty_request_has_all_parts_at_zero():
    """Every part is there, in order, also when it is empty, so that charts have the same shape."""
    empty = composition((), window=WINDOW, counter=COUNTER)
    assert tuple(empty.tokens_by_part) == PARTS
    assert (empty.total_tokens, empty.free_tokens) == (0, 800)
    assert [empty.share(part) for part in PARTS] == [0.0] * len(PARTS)


@given(conversations(), st.text(max_size=20), st.sampled_from([(), TOOLS]))
def test_the_parts_add_up_to_the_request(messages, system, tools):
    """The composition is a partition: its sum is the count of the request, to the token, and the shares make one."""
    counter = MessageCounter(len, image_tokens=100)
    made = composition(messages, window=WINDOW, counter=counter, system=system, tools=tools)
    assert made.total_tokens == counter.request(messages, system=system, tools=tools)
    assert sum(map(made.share, PARTS)) == pytest.approx(1.0)


@pytest.mark.parametrize(("tokens", "free"), [(0, 800), (799, 1), (800, 0), (801, -1)])
def test_free_tokens_go_below_zero(tokens, free):
    """An over-long request has a negative amount free: how much has to go."""
    assert Composition({"user": tokens}, WINDOW).free_tokens == free


def test_a_share_is_of_the_request():
    """Three of four tokens are three quarters, whatever the window."""
    made = Composition(dict.fromkeys(PARTS, 0) | {"user": 1, "tool_results": 3}, WINDOW)
    assert (made.share("tool_results"), made.share("user"), made.share("system")) == (0.75, 0.25, 0.0)


def test_the_default_framing_is_the_counters():
    """Composition uses the counter's own framing, not a constant of its own."""
    made = composition((user(""),), window=WINDOW, counter=MessageCounter(len))
    assert made.tokens_by_part["user"] == MESSAGE_OVERHEAD_TOKENS
