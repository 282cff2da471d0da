"""The simulation of a hundred rounds: never too long, the same for a seed, and honest about what was done."""

import pytest

from course_lib.levels import five_levels
from course_lib.simulation.hundred_rounds import HUNDRED_ROUNDS_WINDOW, hundred_rounds
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.window import Window

SMALL = Window(context_tokens=16_000, reserve_tokens=4_096)


def rough():
    """A quick counter of its own."""
    return MessageCounter(chars_counter(4))


@pytest.mark.parametrize("seed", range(5))
def test_no_round_is_too_long(seed):
    """Messages, system prompt, tools and reserve fit the window after every climb, and climbs were needed."""
    run = hundred_rounds(seed)
    assert not run.overflows
    assert 0.8 * HUNDRED_ROUNDS_WINDOW.context_tokens < run.peak_tokens <= HUNDRED_ROUNDS_WINDOW.context_tokens
    assert run.statuses[-1].total_tokens <= run.peak_tokens
    assert run.stats.log


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [(200, 2_000), (5_000, 30_000), (1, 50)])
def test_no_round_is_too_long_in_a_small_window(seed, words):
    """Also where one result is larger than all that is left, and where it is larger than the whole window."""
    run = hundred_rounds(
        seed,
        words=words,
        window=SMALL,
        counter=rough(),
        make_ladder=lambda counter: five_levels(counter, max_recent_tokens=4_000),
    )
    assert not run.overflows
    assert run.stats.reserve_tokens >= 1_024


def test_a_status_every_ten_rounds():
    """Ten for a hundred rounds; the last one also where it is no tenth, and the first as large as the article's."""
    run = hundred_rounds(0, counter=rough())
    assert [status.round_number for status in run.statuses] == list(range(10, 101, 10))
    assert [s.round_number for s in hundred_rounds(0, rounds=25, counter=rough()).statuses] == [10, 20, 25]
    assert 10_000 < run.statuses[0].tokens < 25_000
    assert run.statuses[0].messages == 21


def test_statuses_and_log_tell_the_same():
    """Levels, compactions and reserve of the last status are those of the log."""
    run = hundred_rounds(3, window=SMALL, counter=rough())
    assert max(status.level for status in run.statuses) == max(step.level for step in run.stats.log)
    assert run.statuses[-1].compactions == run.stats.compactions > 3
    assert run.statuses[-1].reserve_tokens == run.stats.reserve_tokens
    assert run.stats.advice
    assert [status.compactions for status in run.statuses] == sorted(status.compactions for status in run.statuses)


def test_a_seed_fixes_everything():
    """The same seed gives the same run, another one another."""
    assert hundred_rounds(1, rounds=20, counter=rough()) == hundred_rounds(1, rounds=20, counter=rough())
    assert (
        hundred_rounds(1, rounds=20, counter=rough()).statuses != hundred_rounds(2, rounds=20, counter=rough()).statuses
    )


def test_an_overflow_would_be_seen():
    """In a window that the fixed cost alone fills, the peak says so."""
    assert hundred_rounds(0, rounds=1, window=Window(context_tokens=700, reserve_tokens=100), counter=rough()).overflows
