"""06.2 Talk: a number of tokens that is true after every change."""

import contextlib

from course_lib.checks.expectations import Mistake, expect, expect_that, expect_value
from course_lib.messages import message_text, user


def letters(message):
    """Return one token a letter."""
    return len(message_text(message))


def keep_last(messages):
    """Return the last message."""
    return messages[-1:]


def grow(messages):
    """Return more than there was."""
    return (*messages, user("and a summary of it"))


def change_nothing(messages):
    """Return the messages."""
    return messages


def fail(messages):
    """Raise, as a summary may."""
    raise ValueError(f"no answer from the model about {len(messages)} messages")


STALE = "`tokens` still counts what is gone. The next message would start the next compaction, and so on for ever."


def filled(answer):
    """Return a talk with three messages of 10, 20 and 5 tokens."""
    talk = expect_that(answer, letters, holds=lambda made: made.messages == (), says="a talk without messages")
    for size in (10, 20, 5):
        expect(talk.add, user("x" * size), returns=None)
    return talk


def test_it_counts_what_was_added(answer):
    """Three messages of 10, 20 and 5 tokens."""
    talk = filled(answer)
    method = Mistake(callable, "`tokens` is a method now. Whoever reads `talk.tokens` wants a number: `@property`.")
    expect_value(talk.tokens, equals=35, mistakes=(method,))
    expect(talk.is_full, 35, returns=True)
    expect(talk.is_full, 36, returns=False)


def test_after_a_compaction(answer):
    """Ten of thirty-five tokens stay, and so it is no longer full."""
    talk = filled(answer)
    nothing = Mistake(None, "`compact` returns nothing. It should return how many tokens were freed.")
    zero = Mistake(0, "It counted before and after with the same number. Count the messages, before and after.")
    expect(talk.compact, keep_last, returns=30, mistakes=(nothing, zero))
    expect_value(talk.tokens, equals=5, mistakes=(Mistake(35, STALE),))
    expect(talk.is_full, 30, returns=False)


def test_when_somebody_else_changes_the_messages(answer):
    """An agent sets `talk.messages` itself; the count follows."""
    talk = filled(answer)
    talk.messages = (user("x" * 7),)
    remembered = Mistake(
        35, "Somebody set `talk.messages`, and `tokens` did not notice. A number that is computed cannot be stale."
    )
    expect_value(talk.tokens, equals=7, mistakes=(remembered,))
    expect(talk.add, user("xyz"), returns=None)
    expect_value(talk.tokens, equals=10)


def test_an_edit_that_does_not_help(answer):
    """What frees nothing or makes it longer is thrown away, and frees 0."""
    talk = filled(answer)
    before = talk.messages
    negative = Mistake(lambda got: isinstance(got, int) and got < 0, "It got longer: keep it as it was, and say 0.")
    expect(talk.compact, grow, returns=0, mistakes=(negative,))
    longer = Mistake(lambda got: len(got) > 3, "The edit made the talk longer, and the longer one was kept.")
    expect_value(talk.messages, equals=before, mistakes=(longer,))
    expect(talk.compact, change_nothing, returns=0)
    expect_value(talk.tokens, equals=35)


def test_an_edit_that_raises(answer):
    """The talk is as it was, whatever the edit raised."""
    talk = filled(answer)
    before = talk.messages
    with contextlib.suppress(ValueError):
        talk.compact(fail)
    expect_value(talk.messages, equals=before)
    expect_value(talk.tokens, equals=35)


def test_forty_turns(answer):
    """A talk that is compacted when it has 30 tokens: with messages of 5 tokens that is every fifth turn."""
    talk = expect_that(answer, letters, holds=lambda made: made.messages == (), says="a talk without messages")
    compactions = 0
    for _ in range(41):
        expect(talk.add, user("hello"), returns=None)
        if talk.is_full(30):
            talk.compact(keep_last)
            compactions += 1
    every_turn = Mistake(lambda count: count > 20, "From the first compaction on it compacts in every turn. " + STALE)
    expect_value(compactions, equals=8, mistakes=(every_turn,))
