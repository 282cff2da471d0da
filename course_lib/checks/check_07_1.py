"""07.1 split_point: the last place that leaves enough behind it and parts no call from its result."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user

TEN = [f"t{number}" for number in range(10)]


def call(*ids):
    """Return an assistant message with these calls."""
    return assistant("Working.", *(ToolUseBlock(id_, "read_file", {}) for id_ in ids))


def result(*ids):
    """Return one message with the results of these calls."""
    return user(*(ToolResultBlock(id_, "ok") for id_ in ids))


TALK = (user("go"), call("a"), result("a"), call("b"), result("b"), assistant("Done."))
BATCH = (user("go"), call(*TEN), *(result(id_) for id_ in TEN), assistant("Ten files read."), user("Fine."))
PARTED = Mistake(
    lambda got, messages, keep: got == max(0, len(messages) - keep),
    "A call stands before this index and its result behind it. Which calls are still open there?",
)
TOO_FEW = Mistake(
    lambda got, messages, keep: isinstance(got, int) and got > max(0, len(messages) - keep),
    "Fewer than `keep` messages are left behind it: move to the left, not to the right.",
)
TOO_MANY = Mistake(
    lambda got: got == 0, "There is a good place further to the right: look for the last one, not the first."
)


def test_a_plain_talk(answer):
    """Where no call is open, the index is just where `keep` says."""
    expect(answer, TALK, 1, returns=5, mistakes=(TOO_MANY,))
    expect(answer, TALK, 3, returns=3, mistakes=(TOO_MANY,))


def test_between_a_call_and_its_result(answer):
    """An index between the two moves in front of the call."""
    expect(answer, TALK, 2, returns=3, mistakes=(PARTED, TOO_FEW))
    expect(answer, TALK, 4, returns=1, mistakes=(PARTED, TOO_FEW))


def test_a_batch_of_ten(answer):
    """Ten calls in one message, their results in ten: the batch stays whole wherever the index falls in it."""
    one_only = Mistake(
        lambda got: isinstance(got, int) and 1 < got < 12,
        "The batch was cut in two. It is not enough that some results have their call: the last message of a batch is "
        "the one with its last result.",
    )
    for keep in (3, 7, 12):
        expect(answer, BATCH, keep, returns=1, mistakes=(one_only, TOO_FEW, TOO_MANY))
    expect(answer, BATCH, 2, returns=12, mistakes=(TOO_MANY,))


def test_a_batch_in_one_message(answer):
    """The same batch with all results in one message."""
    whole = (user("go"), call(*TEN), result(*TEN), assistant("Ten files read."))
    expect(answer, whole, 2, returns=1, mistakes=(PARTED, TOO_FEW))
    expect(answer, whole, 1, returns=3, mistakes=(TOO_MANY,))


def test_a_call_that_still_runs(answer):
    """A call without a result stays behind the index, and everything after it."""
    running = (*TALK, call("c", "d"), result("c"), user("Still running?"))
    old = Mistake(
        lambda got: isinstance(got, int) and got > 6,
        "Call 'd' has no result yet and would become part of the past. An open call stays behind the index.",
    )
    expect(answer, running, 1, returns=6, mistakes=(old,))


def test_more_than_there_is(answer):
    """With fewer messages than `keep`, or just as many, everything stays."""
    negative = Mistake(
        lambda got: isinstance(got, int) and got != 0,
        "Nothing is old here, so the index is 0. Is your index negative, or counted from the end?",
    )
    for keep in (6, 7, 100):
        expect(answer, TALK, keep, returns=0, mistakes=(negative,))
    expect(answer, (), 3, returns=0, mistakes=(negative,))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=7), st.integers(1, 15))
def test_whatever_the_log(answer, batches, keep):
    """Fifty logs: the right index each time."""
    log, good = [user("go")], [0, 1]
    for number, (size, is_in_one) in enumerate(batches):
        ids = [f"c{number}_{place}" for place in range(size)]
        log.append(call(*ids) if ids else assistant("A word."))
        log += [result(*ids)] if is_in_one and ids else [result(id_) for id_ in ids]
        good.append(len(log))
    right = max(index for index in good if index <= max(0, len(log) - keep))
    expect(answer, tuple(log), keep, returns=right, mistakes=(TOO_FEW, PARTED))
