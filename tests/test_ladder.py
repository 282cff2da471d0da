"""One climb: the gentlest step first, no more than needed, and an end that says what came of it."""

import math

import pytest
from compaction_histories import KEEPS, LADDERS, RECENTS, check_ladder
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import histories

from course_lib.errors import SettingsError
from course_lib.ladder import HalveReserve, Ladder, Step, climb
from course_lib.messages import assistant, user
from course_lib.tokens import MessageCounter
from course_lib.window import Window

LETTERS = MessageCounter(len, message_overhead_tokens=0)


class Keep:
    """Keeps the last so many messages, and remembers how often it was asked."""

    def __init__(self, messages, error=None):
        self.name, self.messages, self.error, self.asked = f"keep {messages}", messages, error, 0

    def __call__(self, messages):
        """Return the last messages."""
        self.asked += 1
        if self.error:
            raise self.error
        return messages[len(messages) - self.messages :] if self.messages < len(messages) else messages


def ladder(*steps, target=0.5, passes=2):
    """A ladder of (ratio, strategy)."""
    return Ladder(name="l", steps=tuple(Step(*step) for step in steps), target_ratio=target, max_passes=passes)


def full(ratio, window_tokens=1_000):
    """A history of messages of ten tokens each that fill the window so far, and the window."""
    count = round(ratio * window_tokens / 10)
    return tuple(user(f"{number:010}") for number in range(count)), Window(
        context_tokens=window_tokens, reserve_tokens=0
    )


def taken(report):
    """What was done, in short."""
    return [(step.level, step.outcome) for step in report.steps]


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratios", "target", "passes"),
    [
        ((), 0.5, 1),
        ((0.8, 0.7), 0.5, 1),
        ((0.8,), 0.8, 1),
        ((0.8,), 0.9, 1),
        ((0.8,), 0.0, 1),
        ((0.8,), -0.1, 1),
        ((0.8, 1.01), 0.5, 1),
        ((0.0, 0.8), -1, 1),
        ((math.nan,), 0.5, 1),
        ((0.8,), math.nan, 1),
        ((0.8,), 0.5, 0),
    ],
)
def test_a_ladder_that_cannot_work_is_refused(ratios, target, passes):
    """No steps, falling ratios, a target at or above the trigger, a trigger of nothing or beyond the window."""
    with pytest.raises(SettingsError):
        ladder(*((ratio, Keep(1)) for ratio in ratios), target=target, passes=passes)


def test_a_ladder_whose_ratios_rise_to_the_whole_window_is_fine():
    """Equal ratios, and 1.0 for the last, are allowed; the first is the trigger."""
    assert ladder((0.7, Keep(2)), (0.7, Keep(1)), (1.0, Keep(1))).trigger_ratio == 0.7


# --- which steps run -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "levels"), [(0.79, []), (0.80, [1]), (0.89, [1]), (0.90, [1, 2]), (0.94, [1, 2]), (0.95, [1, 2, 3])]
)
def test_a_step_may_run_from_its_ratio_on(ratio, levels):
    """Exactly at a ratio the step is allowed; below it, it is not."""
    messages, window = full(ratio)
    helpless = (Keep(1_000), Keep(1_001), Keep(1_002))
    _, _, report = climb(ladder((0.8, helpless[0]), (0.9, helpless[1]), (0.95, helpless[2])), messages, window, LETTERS)
    assert [level for level, _ in taken(report)] == levels


def test_a_climb_goes_from_gentle_to_harsh_and_stops_below_the_target():
    """The second step reaches it, so the third does not run."""
    messages, window = full(0.96)
    steps = ((0.8, Keep(60)), (0.9, Keep(49)), (0.95, Keep(5)))
    after, _, report = climb(ladder(*steps), messages, window, LETTERS)
    assert taken(report) == [(1, "applied"), (2, "applied")]
    assert after == messages[-49:]
    assert (report.ratio_before, report.ratio_after) == (0.96, 0.49)
    assert report.name == "keep 60 + keep 49"
    assert report.tokens_freed == 470


@pytest.mark.parametrize(("kept", "is_enough"), [(49, True), (50, False)])
def test_the_target_must_be_passed(kept, is_enough):
    """Exactly at the target the climb goes on; one message below, it ends."""
    messages, window = full(0.96)
    _, _, report = climb(ladder((0.8, Keep(kept)), (0.95, Keep(5))), messages, window, LETTERS)
    assert len(report.steps) == (1 if is_enough else 2)


def test_a_manual_climb_does_not_look_at_ratios():
    """Every step may run, until the target; below it there is nothing to do."""
    messages, window = full(0.6)
    _, _, report = climb(ladder((0.8, Keep(58)), (0.9, Keep(5))), messages, window, LETTERS, trigger="manual")
    assert taken(report) == [(1, "applied"), (2, "applied")]
    messages, window = full(0.4)
    after, _, report = climb(ladder((0.8, Keep(5))), messages, window, LETTERS, trigger="manual")
    assert (after, report.outcome, report.steps, report.name) == (messages, "skipped", (), "nothing to do")


def test_a_level_runs_alone_whatever_the_target():
    """Asked for by number, one step runs, once."""
    messages, window = full(0.3)
    one, two = Keep(20), Keep(10)
    after, _, report = climb(ladder((0.8, one), (0.9, two)), messages, window, LETTERS, trigger="manual", level=2)
    assert (taken(report), one.asked, two.asked, len(after)) == ([(2, "applied")], 0, 1, 10)


def test_a_level_of_a_ladder_with_one_step_runs_once():
    """Also where that step is the whole ladder, which a climb would go over again."""
    messages, window = full(0.96)
    _, _, report = climb(ladder((0.8, Shave()), passes=5), messages, window, LETTERS, trigger="manual", level=1)
    assert taken(report) == [(1, "applied")]


# --- passes ----------------------------------------------------------------------------------------------------------


class Shave:
    """Takes a tenth of the messages each time."""

    name = "shave"

    def __call__(self, messages):
        """Return nine tenths."""
        return messages[len(messages) // 10 :]


@pytest.mark.parametrize(("ratio", "passes", "times"), [(0.96, 1, 1), (0.96, 3, 3), (0.9, 3, 1)])
def test_only_from_the_harshest_ratio_on_a_climb_goes_over_the_steps_again(ratio, passes, times):
    """The loop over all levels is the last level: below its ratio each allowed step runs once."""
    messages, window = full(ratio)
    _, _, report = climb(ladder((0.8, Shave()), (0.95, Keep(1_000)), passes=passes), messages, window, LETTERS)
    assert [step.level for step in report.steps if step.outcome == "applied"] == [1] * times


def test_later_passes_note_only_what_helped():
    """A step that had nothing to do is noted once, and a pass in which nothing helped is the last."""
    messages, window = full(0.96)
    twice = Keep(90)
    _, _, report = climb(ladder((0.8, Shave()), (0.9, twice), passes=5, target=0.6), messages, window, LETTERS)
    assert taken(report) == [(1, "applied"), (2, "skipped"), *[(1, "applied")] * 4]
    helpless = Keep(1_000)
    _, _, report = climb(ladder((0.8, helpless), passes=5), messages, window, LETTERS)
    assert (taken(report), helpless.asked) == ([(1, "skipped")], 1)


def test_what_failed_is_not_tried_again_in_the_same_climb():
    """A summary call that failed is paid for once."""
    messages, window = full(0.96)
    failing = Keep(1, error=RuntimeError("no"))
    _, _, report = climb(ladder((0.8, Shave()), (0.9, failing), passes=5, target=0.6), messages, window, LETTERS)
    assert failing.asked == 1
    assert report.outcome == "applied"
    assert [step.outcome for step in report.steps].count("failed") == 1


# --- the end ---------------------------------------------------------------------------------------------------------


def test_a_climb_in_which_a_step_failed_and_none_helped_has_failed():
    """It is called by the step that failed."""
    messages, window = full(0.85)
    after, _, report = climb(
        ladder((0.8, Keep(1, error=RuntimeError("no"))), (0.9, Keep(5))), messages, window, LETTERS
    )
    assert after is messages
    assert (report.outcome, report.name, report.reason) == ("failed", "keep 1", "")


def test_when_no_step_helps_the_reason_says_what_cannot_shrink():
    """The numbers: what is fixed, what stays, what the window takes."""
    messages, window = full(0.85)
    _, _, report = climb(ladder((0.8, Keep(1_000))), messages, window, LETTERS, fixed_tokens=50)
    assert (report.outcome, report.name) == ("failed", "no step helps")
    assert all(number in report.reason for number in ("50 tokens are system", "850 are in messages", "takes 1,000"))


def test_harsher_steps_that_are_not_allowed_yet_are_no_reason():
    """Between the first step and the last, having nothing to do is no failure."""
    messages, window = full(0.85)
    _, _, report = climb(ladder((0.8, Keep(1_000)), (0.9, Keep(5))), messages, window, LETTERS)
    assert (report.outcome, report.reason) == ("skipped", "")


def test_a_climb_that_helped_too_little_says_so():
    """Applied, and still above the trigger after the last step: both are told."""
    messages, window = full(0.96)
    _, _, report = climb(ladder((0.8, Keep(85)), passes=1), messages, window, LETTERS)
    assert report.outcome == "applied"
    assert report.reason.startswith("no step helps")
    _, _, report = climb(ladder((0.8, Keep(79)), passes=1), messages, window, LETTERS)
    assert report.reason == ""


@pytest.mark.parametrize("fixed", [1_000, 5_000])
def test_without_room_for_any_message_no_strategy_is_asked(fixed):
    """System prompt and tools fill the window: no call helps, and the reason is given."""
    messages, window = full(0.5)
    step = Keep(1)
    after, _, report = climb(ladder((0.8, step)), messages, window, LETTERS, fixed_tokens=fixed)
    assert (after, step.asked, report.outcome) == (messages, 0, "failed")
    assert f"{fixed:,} tokens are system prompt and tools" in report.reason


def test_a_smaller_reserve_can_make_room_again():
    """Where only the reserve is in the way, halving it comes first, and then the strategies run."""
    messages = full(0.5)[0]
    window = Window(context_tokens=10_000, reserve_tokens=9_000)
    steps = ((0.8, HalveReserve()), (0.9, Keep(5)))
    _, smaller, report = climb(ladder(*steps), messages, window, LETTERS, fixed_tokens=1_000)
    assert smaller.reserve_tokens == 4_500
    assert report.steps[0].ratio_before == math.inf
    assert report.steps[0].ratio_after == 500 / 4_500
    assert taken(report) == [(1, "applied")]


# --- halving the reserve ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reserve", "expected"),
    [
        (8_192, 4_096),
        (4_096, 2_048),
        (2_049, 1_024),
        (2_048, 1_024),
        (1_500, 1_024),
        (1_024, 1_024),
        (500, 500),
        (0, 0),
    ],
)
def test_the_reserve_is_halved_down_to_its_floor(reserve, expected):
    """From 8,192 to 1,024 in three steps; a reserve that was smaller from the start stays."""
    window = Window(context_tokens=128_000, reserve_tokens=reserve)
    halved = HalveReserve().halved(window)
    assert halved == Window(context_tokens=128_000, reserve_tokens=expected)
    assert (halved is window) == (reserve == expected)


def test_the_step_that_halves_frees_no_message():
    """It has no event, its reserve is noted, and at the floor it is skipped."""
    messages, _ = full(0.85)
    window = Window(context_tokens=1_100, reserve_tokens=100)
    small = HalveReserve(floor_tokens=50)
    after, smaller, report = climb(ladder((0.8, small), (0.95, Keep(1))), messages, window, LETTERS)
    assert after is messages
    (step,) = report.steps
    assert (step.event, step.tokens_freed, step.reserve_tokens, report.tokens_freed) == (None, 0, 50, 0)
    _, same, report = climb(ladder((0.8, small), (0.95, Keep(1))), messages, smaller, LETTERS)
    assert (same is smaller, report.outcome) == (True, "skipped")


# --- both ladders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LADDERS))
@settings(max_examples=40)
@given(data=st.data())
def test_what_every_climb_keeps_to(name, data):
    """On any history in any window: see `compaction_histories.check_ladder`."""
    messages = data.draw(histories())
    options = tuple(data.draw(st.sampled_from(one)) for one in (KEEPS, RECENTS, (True, False)))
    counter = data.draw(st.sampled_from(["chars", "cjk", "letters"]))
    check_ladder(name, options, messages, counter, data.draw(st.sampled_from([1_000, 8_000, 40_000])))


def test_an_empty_history_is_never_too_full():
    """Nothing to do, nothing said."""
    after, window, report = climb(ladder((0.8, Keep(1))), (), Window(context_tokens=10, reserve_tokens=0), LETTERS)
    assert (after, report.outcome, report.reason) == ((), "skipped", "")
    assert window.context_tokens == 10
    assert assistant("x") not in after
