"""01.3 head_and_tail: keep both ends, part no batch."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.tool_pairs import repair


def call(*ids):
    """Return an assistant message with these calls."""
    return assistant(*(ToolUseBlock(id_, "read_file", {}) for id_ in ids))


def result(id_):
    """Return a user message with one result."""
    return user(ToolResultBlock(id_, "text"))


BATCH = (user("1"), call("a", "b"), result("a"), result("b"), assistant("x"), user("2"))


def test_plain_messages(answer):
    """Without tools the first and the last messages stay."""
    plain = (user("1"), assistant("2"), user("3"), assistant("4"), user("5"))
    expect(answer, plain, 1, 2, returns=(plain[0], *plain[3:]))


def test_a_tail_that_starts_with_two_results(answer):
    """The whole run of results at the start of the tail goes, not only its first."""
    one_left = (BATCH[0], *BATCH[3:])
    mistake = Mistake(
        one_left, "Only the first of the leading results was dropped. There may be several: one `if` is not enough."
    )
    expect(answer, BATCH, 1, 4, returns=(BATCH[0], *BATCH[4:]), mistakes=(mistake,))


def test_a_head_that_ends_with_a_call(answer):
    """A call at the end of the head goes when its results were dropped."""
    mistake = Mistake((*BATCH[:2], *BATCH[4:]), "The call at the end of the head stayed, and its results are gone.")
    expect(answer, BATCH, 2, 2, returns=(BATCH[0], *BATCH[4:]), mistakes=(mistake,))


def test_a_head_that_ends_inside_a_batch(answer):
    """A head that holds some of a batch's results drops the whole batch."""
    mistake = Mistake(
        (*BATCH[:3], *BATCH[4:]), "The head ends inside a batch: a call without one of its results is broken."
    )
    expect(answer, BATCH, 3, 2, returns=(BATCH[0], *BATCH[4:]), mistakes=(mistake,))


def test_a_whole_batch_in_the_head(answer):
    """A batch that is whole in the head stays."""
    history = (*BATCH, assistant("y"), user("3"))
    mistake = Mistake(lambda got: len(got) < 5, "A batch that is whole in the head was dropped. It parts nothing.")
    expect(answer, history, 4, 1, returns=(*BATCH[:4], history[-1]), mistakes=(mistake,))


def test_a_tail_of_nothing(answer):
    """A tail of 0 keeps the head only."""
    mistake = Mistake(lambda got: len(got) > 1, "`messages[-0:]` is the whole conversation, not an empty tail.")
    expect(answer, BATCH, 1, 0, returns=BATCH[:1], mistakes=(mistake,))


def test_head_and_tail_that_overlap(answer):
    """When head and tail cover everything, the conversation comes back as it was, nothing twice."""
    mistake = Mistake(lambda got: len(got) > len(BATCH), "Head and tail overlap, and the messages in both came twice.")
    expect(answer, BATCH, 5, 5, returns=BATCH, mistakes=(mistake,))
    expect(answer, BATCH, 4, 4, returns=BATCH, mistakes=(mistake,))
    expect(answer, BATCH, 3, 3, returns=BATCH)


@given(st.lists(st.integers(0, 3), max_size=5), st.integers(0, 8), st.integers(0, 8))
def test_no_batch_is_ever_parted(answer, batches, head, tail):
    """Whatever the batches and the numbers, each kept call has its results and each kept result its call."""
    history = [user("go")]
    for number, size in enumerate(batches):
        ids = [f"c{number}{letter}" for letter in "abc"[:size]]
        history += [call(*ids), *map(result, ids)] if ids else [assistant("text")]
    history.append(user("end"))
    expect_that(
        answer,
        tuple(history),
        head,
        tail,
        holds=lambda got: _results_joined(got) == _results_joined(repair(got)),
        says="every kept call has its results and every kept result its call",
    )


def _results_joined(messages):
    return [block for message in messages for block in message.content]
