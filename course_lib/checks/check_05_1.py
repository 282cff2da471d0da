"""05.1 truncate: the last messages, whole batches, the order in front, and a note that counts right."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.tool_pairs import find_pair_faults


def call(*ids):
    """Return an assistant message with these calls."""
    return assistant(*(ToolUseBlock(id_, "read_file", {}) for id_ in ids))


def result(*ids):
    """Return a user message with results for these calls."""
    return user(*(ToolResultBlock(id_, "text") for id_ in ids))


def note(count):
    """Return the note for so many messages."""
    return user(f"[{count} older messages were left out here.]", kind="boundary")


TALK = (user("the order"), assistant("1"), user("2"), assistant("3"), user("4"), assistant("5"))
BATCH = (user("the order"), assistant("1"), call("a", "b"), result("a", "b"), assistant("2"), user("3"))


def test_plain_messages(answer):
    """The order, a note, and the last two messages."""
    mistakes = (
        Mistake(lambda got: TALK[0] not in got, "The first message is gone: it holds the order."),
        Mistake((TALK[0], note(4), *TALK[4:]), "The note counts the first message too, but that one was not left out."),
        Mistake((TALK[0], *TALK[4:]), "There is no note. Whoever reads this cannot see that something is missing."),
    )
    expect(answer, TALK, 2, returns=(TALK[0], note(3), *TALK[4:]), mistakes=mistakes)


def test_a_cut_inside_a_batch(answer):
    """When the cut would fall between calls and results, the calls stay as well."""
    parted = Mistake(
        lambda got: find_pair_faults(got),
        "A result lost its call, so every provider would refuse this. Keep more: go back to the call.",
    )
    less = Mistake(
        lambda got: len(got) < 6, "The whole batch was dropped: keep more rather than less than `keep` messages."
    )
    expect(answer, BATCH, 3, returns=(BATCH[0], note(1), *BATCH[2:]), mistakes=(parted, less))


def test_nothing_to_leave_out(answer):
    """When everything stays, the conversation comes back as it was, without a note and nothing twice."""
    twice = Mistake(
        lambda got: sum(message == TALK[0] for message in got) > 1,
        "The first message is there twice: once as the order, once among the last ones.",
    )
    noted = Mistake(lambda got: note(0) in got, "A note says that 0 messages were left out. Then leave the note out.")
    for keep in (6, 5, 100):
        expect(answer, TALK, keep, returns=TALK, mistakes=(twice, noted))


def test_a_call_that_still_runs(answer):
    """A batch at the end that is not answered yet stays as it is."""
    history = (*TALK, call("c"))
    expect(answer, history, 1, returns=(TALK[0], note(5), history[-1]))


def test_only_the_order(answer):
    """A conversation of one message has nothing to leave out."""
    expect(answer, TALK[:1], 1, returns=TALK[:1])


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(1, 12))
def test_whatever_the_conversation(answer, batches, keep):
    """Fifty conversations: the order in front, the last messages at the end, no pair broken."""
    history = [user("the order")]
    for number, size in enumerate(batches):
        ids = [f"c{number}{letter}" for letter in "abc"[:size]]
        history += [call(*ids), result(*ids)] if ids else [assistant("text"), user("go on")]
    expect_that(
        answer,
        tuple(history),
        keep,
        holds=lambda got: got[0] == history[0] and list(got[-keep:]) == history[-keep:] and not find_pair_faults(got),
        says="the order in front, the last messages at the end, and every call with its results",
    )
