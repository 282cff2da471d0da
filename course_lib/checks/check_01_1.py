"""01.1 find_broken_pairs: calls and results that do not meet in adjacent messages."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.tool_pairs import find_pair_faults


def calls(*ids):
    """Return an assistant message with these calls."""
    return assistant(*(ToolUseBlock(id_, "read_file", {}) for id_ in ids))


def results(*ids):
    """Return a user message with results for these calls."""
    return user(*(ToolResultBlock(id_, "text") for id_ in ids))


def test_an_empty_conversation(answer):
    """Where there are no messages, nothing is broken."""
    expect(answer, (), returns=set())


def test_a_sound_conversation(answer):
    """A call that is answered in the next message is fine."""
    expect(answer, (user("go"), calls("c1"), results("c1"), assistant("done")), returns=set())


def test_a_call_without_a_result(answer):
    """A call that is not answered is broken."""
    expect(answer, (user("go"), calls("c1"), user("next")), returns={"c1"})


def test_a_result_without_a_call(answer):
    """A result that nobody asked for is broken."""
    mistake = Mistake(set(), "You look at the calls only. A result needs its call as much as a call its result.")
    expect(answer, (user("go"), results("c1")), returns={"c1"}, mistakes=(mistake,))


def test_a_batch_with_one_result_missing(answer):
    """In a batch of three each call needs its own result."""
    mistake = Mistake(set(), "One answered call is not enough for its batch: look at every call and every result.")
    expect(answer, (user("go"), calls("a", "b", "c"), results("a", "c")), returns={"b"}, mistakes=(mistake,))


def test_two_orphans_in_one_message(answer):
    """Every result of a message is looked at, not only the first."""
    mistake = Mistake(lambda got: got == {"x"}, "Only the first result of the message was looked at.")
    expect(answer, (user("go"), results("x", "y")), returns={"x", "y"}, mistakes=(mistake,))


def test_a_result_that_comes_too_late(answer):
    """A result one message too late is as bad as none."""
    mistake = Mistake(
        set(), "You compare the ids of the whole conversation. The result is there, but not in the very next message."
    )
    late = (user("go"), calls("c1"), user("one moment"), results("c1"))
    expect(answer, late, returns={"c1"}, mistakes=(mistake,))


def test_a_call_at_the_end(answer):
    """A call in the last message has no answer yet."""
    mistake = Mistake(set(), "The calls of the last message were never looked at: nothing comes after them.")
    expect(answer, (user("go"), calls("c1")), returns={"c1"}, mistakes=(mistake,))


ids = st.lists(st.sampled_from("abcd"), unique=True, max_size=3)
messages = st.lists(
    st.one_of(st.just(user("text")), ids.map(lambda i: calls(*i)), ids.map(lambda i: results(*i))), max_size=6
)


@given(messages)
def test_any_conversation(answer, conversation):
    """Conversations of every kind, fifty of them."""
    kinds = ("missing_result", "pending_call", "late_result", "orphan_result")
    faults = find_pair_faults(conversation)
    expect(answer, tuple(conversation), returns={fault.tool_use_id for fault in faults if fault.kind in kinds})
