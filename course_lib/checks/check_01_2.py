"""01.2 nearest_cut: the largest good cut that is not greater than the index."""

from course_lib.checks.expectations import Mistake, expect
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user


def call(*ids):
    """Return an assistant message with these calls."""
    return assistant(*(ToolUseBlock(id_, "read_file", {}) for id_ in ids))


def result(*ids):
    """Return a user message with results for these calls."""
    return user(*(ToolResultBlock(id_, "text") for id_ in ids))


def test_a_cut_between_texts(answer):
    """Where no tool is involved, every cut is good."""
    mistake = Mistake(1, "The search starts one too low.")
    expect(answer, (user("a"), assistant("b"), user("c")), 2, returns=2, mistakes=(mistake,))


def test_a_cut_before_results(answer):
    """A cut between a call and its result moves back to the call."""
    mistake = Mistake(
        3, "The cut went forward. It should keep more, not less: look for the largest cut up to the index."
    )
    expect(answer, (user("go"), call("c1"), result("c1"), user("next")), 2, returns=1, mistakes=(mistake,))


def test_a_batch_in_two_messages(answer):
    """With results in two messages, a cut between them leaves one without its call."""
    batch = (user("go"), call("a", "b"), result("a"), result("b"), user("next"))
    expect(answer, batch, 3, returns=1)


def test_an_orphan_before_a_good_pair(answer):
    """A good pair that follows does not excuse a result without its call."""
    pairs = (user("go"), call("a"), result("a"), call("b"), result("b"))
    mistake = Mistake(
        2,
        "You ask whether the two sets meet (one result has its call). Every result must have its call: "
        "is one set contained in the other?",
    )
    expect(answer, pairs, 2, returns=1, mistakes=(mistake,))


def test_one_orphan_beside_a_good_result(answer):
    """One result with its call does not excuse another one without."""
    mistake = Mistake(
        lambda got: got in (2, 3),
        "You ask whether the two sets meet (one result has its call). Every result must have its call: "
        "is one set contained in the other?",
    )
    history = (user("go"), call("a"), assistant("and"), call("b"), result("a", "b"), user("next"))
    expect(answer, history, 3, returns=1, mistakes=(mistake,))


def test_a_call_that_still_runs(answer):
    """A call without a result yet is no reason to go back."""
    mistake = Mistake(
        lambda got: got < 3,
        "You also ask that every call has its result. A call may still be running; only results need their calls.",
    )
    expect(answer, (user("go"), call("a"), result("a"), call("b")), 3, returns=3, mistakes=(mistake,))


def test_the_index_itself_is_tried_first(answer):
    """A good cut at the index stays where it is."""
    expect(answer, (user("a"), call("c1"), result("c1"), assistant("x"), user("y")), 3, returns=3)


def test_all_the_way_back(answer):
    """When only the whole conversation is good, the cut is 0."""
    expect(answer, (call("c1"), result("c1")), 1, returns=0)


def test_every_cut_of_a_long_conversation(answer):
    """For every index of a conversation with batches of different sizes, the cut is the nearest good one."""
    history = [user("go")]
    for number in range(6):
        ids = [f"c{number}{letter}" for letter in "abc"[: 1 + number % 3]]
        history += [call(*ids), *(result(id_) for id_ in ids)]
    owners = [i for i, message in enumerate(history) if message.role == "assistant" or i == 0]
    for index in range(len(history)):
        expect(answer, tuple(history), index, returns=max(i for i in owners if i <= index))
