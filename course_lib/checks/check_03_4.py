"""03.4 count_after_edit: the last usage that is still true, and an estimate of what came after it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect
from course_lib.checks.token_practice import estimated_tokens
from course_lib.messages import Usage, assistant, user

ONE = assistant("one", usage=Usage(1_000, output_tokens=50))
TWO = assistant("two", usage=Usage(200, cache_read_tokens=1_500, cache_write_tokens=300, output_tokens=70))
HISTORY = (user("a"), ONE, user("b" * 900), TWO, user("c"))
AT_ONE, AT_TWO = 1_050, 2_070
STALE = "That is the last usage, but it measured a conversation that is no more: an older message was changed."


def edited(index):
    """The history with one message shortened; a usage in it stays."""
    return (*HISTORY[:index], replace(HISTORY[index], content="-"), *HISTORY[index + 1 :])


def test_nothing_was_changed(answer):
    """The last usage covers everything up to its message, the answer and the cached tokens included."""
    mistakes = (
        Mistake(AT_TWO - 70 + 100, "The answer itself is in the next request too: its output_tokens are missing."),
        Mistake(270 + 100, "Cached tokens are in the window as well: `usage.context_tokens` has them all."),
        Mistake(AT_TWO, "What came after the answer is missing."),
        Mistake(AT_TWO + 500, "What the usage covers is estimated once more."),
        Mistake(AT_TWO + 200, "The estimate starts one message too early: the usage covers its own message."),
        Mistake(AT_ONE + 300, "You took the first usage. The last true one covers more."),
    )
    expect(answer, (HISTORY, HISTORY), estimated_tokens, returns=AT_TWO + 100, mistakes=mistakes)


def test_an_old_message_was_changed(answer):
    """A usage behind the change is stale; the one before it still holds."""
    none = Mistake(500, "Every usage was thrown away. One before the change is still true.")
    mistakes = (Mistake(AT_TWO + 100, STALE), none)
    expect(answer, (HISTORY, edited(2)), estimated_tokens, returns=AT_ONE + 300, mistakes=mistakes)


def test_the_first_message_was_changed(answer):
    """Then no usage is true, and everything is estimated."""
    mistakes = (Mistake(AT_TWO + 100, STALE), Mistake(AT_ONE + 300, STALE))
    expect(answer, (HISTORY, edited(0)), estimated_tokens, returns=500, mistakes=mistakes)


def test_the_answer_itself_was_changed(answer):
    """Its output_tokens measured what it said before."""
    own = Mistake(AT_TWO + 100, "The message with the usage was itself changed: its output_tokens are no longer true.")
    expect(answer, (HISTORY, edited(3)), estimated_tokens, returns=AT_ONE + 300, mistakes=(own,))


def test_the_oldest_messages_are_gone(answer):
    """When the beginning was dropped, no place fits any more, though each message is one of the old ones."""
    place = Mistake(
        lambda got: got in (AT_TWO + 100, AT_TWO + 200),
        "Each message is an old one, but not in its old place: what was measured began with messages that are gone.",
    )
    expect(answer, (HISTORY, HISTORY[2:]), estimated_tokens, returns=300, mistakes=(place,))


def test_the_newest_messages_are_gone(answer):
    """When only the end was dropped, what the earlier usage measured is all there."""
    expect(answer, (HISTORY, HISTORY[:3]), estimated_tokens, returns=AT_ONE + 100)


def test_new_messages_came(answer):
    """A history that grew is measured as before, up to the last answer."""
    expect(answer, (HISTORY[:3], HISTORY[:3]), estimated_tokens, returns=AT_ONE + 100)
    grown = Mistake(AT_ONE + 300, "The new messages are no edit: an answer that came after `before` has a true usage.")
    expect(answer, (HISTORY[:3], HISTORY), estimated_tokens, returns=AT_TWO + 100, mistakes=(grown,))


def test_no_usage_at_all(answer):
    """Where nothing was measured, everything is estimated; of nothing there is nothing."""
    plain = (user("a"), assistant("b"), user("c"))
    expect(answer, (plain, plain), estimated_tokens, returns=300)
    expect(answer, ((), ()), estimated_tokens, returns=0)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(0, 7))
def test_any_history(answer, has_usage, changed):
    """Histories with usages here and there, changed anywhere, fifty of them."""
    before = tuple(
        replace(assistant("a"), usage=Usage(1_000 * n + 7, output_tokens=n)) if used else user("q")
        for n, used in enumerate(has_usage, start=1)
    )
    after = (*before[:changed], *(replace(message, content="-") for message in before[changed : changed + 1]))
    after += before[changed + 1 :]
    true = [n for n, used in enumerate(has_usage, start=1) if used and n <= changed]
    anchor = max(true, default=0)
    right = (1_001 * anchor + 7 if anchor else 0) + 100 * (len(before) - anchor)
    expect(answer, (before, after), estimated_tokens, returns=right)
