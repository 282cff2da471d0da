"""06.5 levels: how far up a climb may go, for ten states."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_ladders import PRACTICE_STATES, levels_allowed

RIGHT = [levels_allowed(state.usage_ratio) for state in PRACTICE_STATES]
WHOLE_WINDOW = [
    levels_allowed((state.message_tokens + state.fixed_tokens) / state.context_tokens) for state in PRACTICE_STATES
]
NO_RESERVE = [
    levels_allowed(state.message_tokens / (state.context_tokens - state.fixed_tokens)) for state in PRACTICE_STATES
]
NOTHING_FIXED = [
    levels_allowed(state.message_tokens / (state.context_tokens - state.reserve_tokens)) for state in PRACTICE_STATES
]


def test_ten_levels(answer):
    """A list of ten numbers from 0 to 4."""
    expect_value(
        answer,
        holds=lambda levels: (
            isinstance(levels, list | tuple)
            and len(levels) == len(PRACTICE_STATES)
            and all(type(level) is int and 0 <= level <= 4 for level in levels)
        ),
        says="a list of ten whole numbers from 0 to 4",
        mistakes=(
            Mistake(
                lambda levels: 5 in levels,
                "Level 5 of the article is the other four once more, so the harshest step is 4.",
            ),
        ),
    )


def test_the_levels(answer):
    """Each is the one that the library's ladder gives."""
    wrong = [number for number, (got, right) in enumerate(zip(answer, RIGHT, strict=True), 1) if got != right]
    mistakes = (
        Mistake(
            lambda levels: list(levels) == WHOLE_WINDOW,
            "That is the share of the whole window. The ratio is messages over what is *available* for them.",
        ),
        Mistake(lambda levels: list(levels) == NO_RESERVE, "You forgot the reserve: it is not available either."),
        Mistake(lambda levels: list(levels) == NOTHING_FIXED, "You forgot what is fixed: it is not available either."),
        Mistake(lambda _: 3 in wrong or 6 in wrong, "Look at the edges: a step may run *from* its ratio on."),
        Mistake(lambda _: 2 in wrong, "63,999 of 80,000 is not 80 % yet."),
        Mistake(lambda _: True, f"Not right yet: state {', '.join(map(str, wrong))}. Work out the ratio first."),
    )
    expect_value(
        answer,
        holds=lambda levels: list(levels) == RIGHT,
        says="the harshest level that each state allows",
        mistakes=mistakes,
    )
