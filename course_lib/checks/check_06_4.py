"""06.4 ladder: one ladder for two windows, the job done, both orders kept, within both budgets."""

from functools import cache

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_ladders import LADDER_BUDGETS, PRACTICE_WINDOWS, practice_ladder, try_ladder
from course_lib.checks.practice_strategies import TriedSettings

SMALL, LARGE = PRACTICE_WINDOWS


@cache
def _tried(items: tuple[tuple[float, str], ...], target: float, small: bool) -> TriedSettings:
    return try_ladder({"steps": items, "target": target}, SMALL if small else LARGE)


def tried(settings, *, small):
    """Return what came of the job in one of the windows; it is run once only for all tests."""
    return _tried(tuple(settings["steps"]), settings["target"], small)


def test_it_is_a_ladder(answer):
    """Steps with ratios that do not fall, known names, and a target below the first ratio."""
    mistakes = (
        Mistake(
            lambda settings: settings["target"] >= settings["steps"][0][0],
            "The target is not below the first step: a climb would end where it began.",
        ),
        Mistake(lambda _: True, "Call `try_ladder(ladder, PRACTICE_WINDOWS[0])` yourself: its error says more."),
    )
    expect_value(answer, holds=practice_ladder, says="a dictionary that `try_ladder` takes", mistakes=mistakes)


def test_the_job_gets_done_in_both_windows(answer):
    """Every module is up to standard at the end, in the small window and in the large one."""
    mistakes = (
        Mistake(
            lambda settings: tried(settings, small=True).is_too_long or tried(settings, small=False).is_too_long,
            "A request was refused as too long. The harshest step is not harsh enough.",
        ),
        Mistake(
            lambda settings: tried(settings, small=False).modules_done < tried(settings, small=False).modules_total,
            "In the large window it did not come to an end within its rounds.",
        ),
        Mistake(
            lambda _: True,
            "In the small window it did not come to an end: it forgets what it has just read, and reads it again. "
            "Begin later, or take another step.",
        ),
    )
    expect_value(
        answer,
        holds=lambda settings: all(
            tried(settings, small=small).modules_done == tried(settings, small=small).modules_total
            and not tried(settings, small=small).is_too_long
            for small in (True, False)
        ),
        says="all modules up to standard, in both windows",
        mistakes=mistakes,
    )


def test_both_orders_are_kept(answer):
    """Nothing under vendor/ was touched, and no new text says 'parcel', in both windows."""
    expect_value(
        answer,
        holds=lambda settings: not any(tried(settings, small=small).orders_broken for small in (True, False)),
        says="no order broken",
        mistakes=(Mistake(lambda _: True, "The order was forgotten. Which of the steps drops the first message?"),),
    )


def test_it_stays_within_both_budgets(answer):
    """All requests together have no more tokens than the budget, in each window."""
    low, high = LADDER_BUDGETS
    mistakes = (
        Mistake(
            lambda settings: tried(settings, small=True).tokens_sent <= low,
            "Within the budget in the small window, and above it in the large one: there, it begins too late.",
        ),
        Mistake(
            lambda settings: any(name in ("snip", "shrink") for _, name in settings["steps"]),
            "Too much was sent. Does a gentle step pay here? It frees little, and what it takes is read again.",
        ),
        Mistake(lambda _: True, "Too much was sent. Try another ratio."),
    )
    expect_value(
        answer,
        holds=lambda settings: (
            tried(settings, small=True).tokens_sent <= low and tried(settings, small=False).tokens_sent <= high
        ),
        says=f"at most {low:,} tokens sent in the small window and {high:,} in the large one",
        mistakes=mistakes,
    )
