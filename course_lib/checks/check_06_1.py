"""06.1 escalate: the gentlest level first, measured after each, and no further than the target."""

from hypothesis import given
from hypothesis import strategies as st

from course_lib.checks.expectations import Mistake, expect, expect_that
from course_lib.errors import CompactionError
from course_lib.messages import user


def talk(count):
    """Return so many messages."""
    return tuple(user(f"m{number}") for number in range(count))


def ratio_of(messages):
    """Twenty messages fill the window."""
    return len(messages) / 20


def drop_two(messages):
    """The gentle one."""
    return messages[2:]


def drop_four(messages):
    """A harsher one."""
    return messages[4:]


def keep_two(messages):
    """The harshest."""
    return messages[-2:]


def add_one(messages):
    """One that makes it longer."""
    return (user("summary"), *messages)


def nothing(messages):
    """One that has nothing to do."""
    return messages


def break_down(messages):
    """One that fails."""
    raise CompactionError(f"the model wrote no summary of {len(messages)} messages")


THREE = [(0.8, drop_two), (0.85, drop_four), (0.9, keep_two)]


def test_gentle_first_and_no_further_than_needed(answer):
    """Two levels are enough, so the third does not run."""
    history = talk(18)
    mistakes = (
        Mistake((history[-2:], [3]), "It began with the harshest level that applies. Begin with the gentlest."),
        Mistake(
            (history[-2:], [1, 2, 3]), "All levels ran, although the target was reached after two. Look before each."
        ),
        Mistake(
            (history[2:], [1]),
            "After level 1 the ratio is 0.8, not yet below the target of 0.7, and it stopped. Which levels may run is "
            "decided once, by the ratio at the start.",
        ),
    )
    expect(answer, history, THREE, ratio_of, 0.7, returns=(history[6:], [1, 2]), mistakes=mistakes)


def test_only_levels_whose_ratio_is_reached(answer):
    """A level whose ratio is not reached at the start stays out, even when the target is missed."""
    history = talk(17)
    harsh = Mistake(
        lambda got: 3 in got[1], "Level 3 ran, although the ratio at the start was 0.85 and it may run from 0.9 on."
    )
    late = Mistake((history[2:], [1]), "The ratio is exactly 0.85, and level 2 may run *from* 0.85 on.")
    expect(answer, history, THREE, ratio_of, 0.3, returns=(history[6:], [1, 2]), mistakes=(harsh, late))


def test_exactly_at_the_target(answer):
    """A ratio that is exactly the target is not below it."""
    history = talk(18)
    early = Mistake(
        (history[2:], [1]), "It stopped at a ratio of exactly 0.8, with a target of 0.8: go on until it is *below*."
    )
    expect(answer, history, THREE, ratio_of, 0.8, returns=(history[6:], [1, 2]), mistakes=(early,))


def test_nothing_is_due(answer):
    """Below the first level's ratio nothing happens; the same with no levels, and when it is below the target."""
    history = talk(15)
    ran = Mistake(lambda got: got[1], "The ratio is 0.75, and the first level may run from 0.8 on: nothing is due.")
    expect(answer, history, THREE, ratio_of, 0.5, returns=(history, []), mistakes=(ran,))
    expect(answer, history, [], ratio_of, 0.5, returns=(history, []))


def test_a_level_that_does_not_help(answer):
    """What makes it longer, or changes nothing, is thrown away and not named; the next level has its turn."""
    history = talk(18)
    grown = Mistake(
        lambda got: got[0][:1] == (user("summary"),) or 1 in got[1],
        "Level 1 made it longer, and its result was kept, or counted as used. Measure after each level, and throw away "
        "what does not lower the ratio.",
    )
    gave_up = Mistake((history, []), "It gave up after a level that did not help. The next one has its turn.")
    levels = [(0.8, add_one), (0.8, nothing), (0.85, drop_four)]
    expect(answer, history, levels, ratio_of, 0.75, returns=(history[4:], [3]), mistakes=(grown, gave_up))


def test_a_level_that_fails(answer):
    """An edit that raises a `CompactionError` did not help; the next level has its turn."""
    history = talk(18)
    raised = Mistake(CompactionError, "An edit may fail. Catch the `CompactionError`, and go on with the next level.")
    levels = [(0.8, break_down), (0.9, keep_two)]
    expect(answer, history, levels, ratio_of, 0.7, returns=(history[-2:], [2]), mistakes=(raised,))


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.sampled_from([0.5, 0.8, 0.9]), st.integers(-2, 6)), max_size=5),
    st.sampled_from([0.2, 0.4, 0.49]),
)
def test_whatever_the_levels(answer, size, drops, target):
    """Fifty ladders: never longer, only allowed levels, in order, and none after the target was reached."""
    history = talk(size)

    def dropping(count):
        return lambda messages: messages[count:] if count >= 0 else (user("more"),) * -count + messages

    ladder = sorted(drops)
    levels = [(at, dropping(count)) for at, count in ladder]

    def holds(got):
        messages, used = got
        left, expected = history, []
        for number, (at, count) in enumerate(ladder, 1):
            if at <= ratio_of(history) and ratio_of(left) >= target and count > 0 and left:
                left, expected = left[count:], [*expected, number]
        return messages == left and used == expected

    expect_that(
        answer,
        history,
        levels,
        ratio_of,
        target,
        holds=holds,
        says="the allowed levels from the gentlest up, until the ratio is below the target, and the numbers of those "
        "that helped",
    )
