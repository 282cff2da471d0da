"""05.4 settings: the small job to its end, both orders kept, within the budget."""

from functools import cache

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_strategies import BUDGET_TOKENS, TriedSettings, try_settings


@cache
def _tried(items: tuple[tuple[str, object], ...]) -> TriedSettings:
    return try_settings(dict(items))


def tried(settings):
    """Return what came of the job; it is run once only for all tests."""
    return _tried(tuple(sorted(settings.items())))


def test_they_are_settings(answer):
    """A dictionary with the four settings, each with a value that makes sense."""

    def is_accepted(settings):
        tried(settings)
        return True

    expect_value(
        answer,
        holds=is_accepted,
        says="a dictionary that `try_settings` takes",
        mistakes=(Mistake(lambda _: True, "Call `try_settings(settings)` yourself: its error names the setting."),),
    )


def test_the_job_gets_done(answer):
    """Every module is up to standard at the end."""
    mistakes = (
        Mistake(
            lambda settings: tried(settings).is_too_long,
            "A request was refused as too long. This strategy frees too little, or begins too late.",
        ),
        Mistake(
            lambda _: True,
            "It did not come to an end: it forgets what it has just read, and starts again. Keep a little more.",
        ),
    )
    expect_value(
        answer,
        holds=lambda settings: tried(settings).modules_done == tried(settings).modules_total,
        says="all modules up to standard",
        mistakes=mistakes,
    )


def test_both_orders_are_kept(answer):
    """Nothing under vendor/ was touched, and no new text says 'parcel'."""
    expect_value(
        answer,
        holds=lambda settings: not tried(settings).orders_broken,
        says="no order broken",
        mistakes=(Mistake(lambda _: True, "The order was forgotten. Which setting holds on to it?"),),
    )


def test_it_stays_within_the_budget(answer):
    """All requests together have no more tokens than the budget."""
    expect_value(
        answer,
        holds=lambda settings: tried(settings).tokens_sent <= BUDGET_TOKENS,
        says=f"at most {BUDGET_TOKENS:,} tokens sent in all",
        mistakes=(
            Mistake(
                lambda settings: settings["strategy"] == "summarisation" and settings["keep_messages"] <= 4,
                "What summaries cost counts as well. Is there a way without a model call?",
            ),
            Mistake(lambda _: True, "Too much was sent. Keep fewer messages, or begin earlier."),
        ),
    )
