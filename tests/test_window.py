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
from course_lib.tool_pairs import find_pair_faults
from course_lib.window import (
    FIXED_PARTS,
    PARTS,
    Composition,
    Window,
    composition,
    is_typed,
    resent_tokens,
    task_start,
)

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


@pytest.mark.parametrize(
    ("tokens", "fits"), [(0, True), (99_071, True), (99_072, True), (99_073, False), (99_509, False)]
)
def test_a_request_fits_only_with_its_answer(tokens, fits):
    """XiaomiMiMo/MiMo-Code#2356: 99,509 tokens and a reserve of 32,000 are 437 more than the window of 131,072."""
    window = Window(context_tokens=131_072, reserve_tokens=32_000)
    assert window.fits(tokens) is fits
    assert 99_509 + 32_000 - window.context_tokens == 437


def test_fixed_and_growing_are_told_apart():
    """System prompt and tools are fixed, all else grows, and together they are the whole."""
    made = Composition({part: 10**index for index, part in enumerate(PARTS)}, WINDOW)
    assert PARTS[:2] == FIXED_PARTS
    assert (made.fixed_tokens, made.growing_tokens) == (11, 1_111_100)
    assert made.fixed_tokens + made.growing_tokens == made.total_tokens


def test_a_composition_of_few_parts_has_them_too():
    """A part that is not named counts nothing."""
    made = Composition({"user": 5, "tools": 2}, WINDOW)
    assert (made.fixed_tokens, made.growing_tokens) == (2, 5)


@pytest.mark.parametrize(
    ("fixed", "growing", "ratio"),
    [(0, 0, 0.0), (400, 200, 0.5), (400, 400, 1.0), (400, 401, 401 / 400), (800, 1, None)],
)
def test_the_ratio_of_a_composition_is_the_windows(fixed, growing, ratio):
    """Growing tokens over what the fixed cost leaves; infinite where it leaves nothing."""
    made = Composition({"tools": fixed, "tool_results": growing}, WINDOW)
    assert made.usage_ratio == (float("inf") if ratio is None else ratio)


@given(conversations(), st.sampled_from([(), TOOLS]))
def test_the_fixed_cost_is_that_of_a_request_without_messages(messages, tools):
    """Whatever was said, the fixed part stays what it was before anybody spoke."""
    made = composition(messages, window=WINDOW, counter=COUNTER, system="be brief", tools=tools)
    assert made.fixed_tokens == COUNTER.request((), system="be brief", tools=tools)
    assert made.growing_tokens == COUNTER.messages(messages)


@pytest.mark.parametrize(
    ("sizes", "rounds", "tokens"), [([300] * 10, 7, 21_000), ([], 7, 0), ([5], 0, 0), ([1, 2], 1, 3)]
)
def test_what_is_sent_again_is_paid_again(sizes, rounds, tokens):
    """Ten tools of 300 tokens in seven rounds are the article's 21,000 tokens."""
    assert resent_tokens(sizes, rounds=rounds) == tokens


def test_rounds_cannot_be_negative():
    """The error names the value."""
    with pytest.raises(SettingsError, match="rounds is -1"):
        resent_tokens([300], rounds=-1)


def call(*ids):
    """An assistant message with these calls."""
    return assistant(*(ToolUseBlock(id_, "ls", {}) for id_ in ids))


def results(*ids, text=None):
    """A user message with the results of these calls, and a text behind them."""
    return user(*(ToolResultBlock(id_, "out") for id_ in ids), *([text] if text else []))


OLD = (user("first task"), call("a"), results("a"), assistant("done"))
NEW = (user("second task"), call("b", "c"), results("b", "c"))


@pytest.mark.parametrize(
    ("messages", "start"),
    [
        ((), 0),
        (OLD[:1], 0),
        (OLD, 0),
        ((*OLD, *NEW), 4),
        ((*OLD, *NEW, assistant("done")), 4),
        ((*OLD, *NEW, user("go on")), 7),
        ((*OLD, *NEW, user("a summary", kind="summary")), 4),
        ((*OLD, *NEW, user("files again", kind="restored")), 4),
        ((user("a summary", kind="summary"), call("a"), results("a")), 0),
        ((*OLD, call("b"), results("b", text="no, stop that")), 4),
        ((*OLD, user(ImageBlock(url="u")), call("b")), 4),
    ],
    ids=range(11),
)
def test_where_the_task_in_hand_begins(messages, start):
    """At the last message that a person typed; results and what a compaction wrote are none."""
    assert task_start(messages) == start


@given(conversations())
def test_the_task_in_hand_parts_no_pair(messages):
    """What is kept whole needs nothing of what was before it, and after its start nobody typed anything more."""
    start = task_start(messages)
    assert not {fault.kind for fault in find_pair_faults(messages[start:])} - {
        fault.kind for fault in find_pair_faults(messages)
    }
    typed = [index for index, message in enumerate(messages) if is_typed(message)]
    assert start <= (typed[-1] if typed else 0)


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        (user("x"), True),
        (user(), False),
        (assistant("x"), False),
        (results("a"), False),
        (results("a", text="x"), True),
        (user("x", kind="boundary"), False),
        (user(DocumentBlock(url="u")), True),
    ],
    ids=range(7),
)
def test_what_a_person_typed(message, typed):
    """A user message with more in it than results, which no compaction wrote."""
    assert is_typed(message) is typed
