"""05.2 shrink_results: old results become placeholders, and nothing becomes untrue."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, tool_results, user

LONG = "line of a long file\n" * 20


def call(*ids):
    """Return an assistant message with these calls."""
    return assistant(*(ToolUseBlock(id_, "read_file", {}) for id_ in ids))


def small(id_, text=LONG):
    """Return the placeholder for a result with this text."""
    return ToolResultBlock(id_, f"[result left out: {len(text)} characters]")


HISTORY = (user("go"), call("a"), user(ToolResultBlock("a", LONG)), call("b"), user(ToolResultBlock("b", LONG)))


def test_an_old_result_becomes_a_placeholder(answer):
    """Old results shrink, the last messages stay as they are."""
    claims = Mistake(
        lambda got: "done" in got[2].content[0].text,
        "The placeholder says that something is done. It should say only what is missing, and how much.",
    )
    expect(answer, HISTORY, 2, returns=(*HISTORY[:2], user(small("a")), *HISTORY[3:]), mistakes=(claims,))


def test_an_error_stays_an_error(answer):
    """A failed call must still be seen to have failed, with its reason."""
    failed = user(ToolResultBlock("a", f"no such file\n{LONG}", is_error=True))
    history = (*HISTORY[:2], failed, *HISTORY[3:])
    success = Mistake(
        lambda got: not got[2].content[0].is_error,
        "The error became a success: `is_error` is gone, and the model will believe that the call worked.",
    )
    emptied = Mistake(
        lambda got: got[2].content[0].is_error,
        "It is still an error, but its reason is gone: leave errors as they are.",
    )
    expect(answer, history, 2, returns=history, mistakes=(success, emptied))


def test_a_text_behind_the_results(answer):
    """What somebody said in the same message stays, word for word."""
    history = (*HISTORY[:2], user(ToolResultBlock("a", LONG), "And hurry up."), *HISTORY[3:])
    lost = Mistake(
        lambda got: len(got[2].content) == 1, "The text behind the result is gone: only results are to be replaced."
    )
    shrunk = (*HISTORY[:2], user(small("a"), "And hurry up."), *HISTORY[3:])
    expect(answer, history, 2, returns=shrunk, mistakes=(lost,))


def test_a_batch_with_one_error(answer):
    """In a batch each result is looked at for itself."""
    both = user(ToolResultBlock("a", LONG), ToolResultBlock("x", "denied", is_error=True))
    history = (HISTORY[0], call("a", "x"), both, *HISTORY[3:])
    whole = Mistake(
        lambda got: got[2] == both, "One error kept the whole message. Look at each result, not at the message."
    )
    expected = (*history[:2], user(small("a"), both.content[1]), *HISTORY[3:])
    expect(answer, history, 2, returns=expected, mistakes=(whole,))


def test_a_short_result_stays(answer):
    """A result that is not longer than its placeholder is kept."""
    history = (*HISTORY[:2], user(ToolResultBlock("a", "ok")), *HISTORY[3:])
    grown = Mistake(
        lambda got: len(got[2].content[0].text) > 2, "The placeholder is longer than what it replaces: then keep it."
    )
    expect(answer, history, 2, returns=history, mistakes=(grown,))


def test_keep_more_than_there_is(answer):
    """When all messages are to be kept, nothing changes; when none, all results shrink."""
    negative = Mistake(
        lambda got: got != HISTORY,
        "Nothing is old here. `len(messages) - keep` is negative, and a negative index counts from the end.",
    )
    expect(answer, HISTORY, 7, returns=HISTORY, mistakes=(negative,))
    everything = (*HISTORY[:2], user(small("a")), HISTORY[3], user(small("b")))
    expect(answer, HISTORY, 0, returns=everything)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 90)), max_size=6), st.integers(0, 14))
def test_no_error_ever_becomes_a_success(answer, results, keep):
    """Fifty conversations: every result keeps its call and its flag, and none gets longer."""
    history = [user("go")]
    for number, (is_error, size) in enumerate(results):
        history += [call(f"c{number}"), user(ToolResultBlock(f"c{number}", "x" * size, is_error=is_error))]

    def holds(got):
        pairs = [
            (b, a)
            for x, y in zip(history, got, strict=True)
            for b, a in zip(tool_results(x), tool_results(y), strict=True)
        ]
        return all(
            (a.tool_use_id, a.is_error) == (b.tool_use_id, b.is_error) and len(a.text) <= len(b.text) for b, a in pairs
        )

    expect_that(
        answer,
        tuple(history),
        keep,
        holds=holds,
        says="every result with its call's id and its `is_error`, and none longer than before",
    )
