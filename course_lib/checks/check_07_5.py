"""07.5 summary_settings: nine tenths of the facts, within the tokens."""

from functools import cache

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_summaries import LEAST_RECALL, MOST_TOKENS, TriedSummary, try_summary


@cache
def _tried(items: tuple[tuple[str, object], ...]) -> TriedSummary:
    return try_summary(dict(items))


def tried(settings):
    """Return what came of the summary; it is written once only for all tests."""
    return _tried(tuple(sorted(settings.items())))


def test_they_are_settings(answer):
    """A dictionary with the three settings, each with a value that makes sense."""

    def is_accepted(settings):
        tried(settings)
        return True

    expect_value(
        answer,
        holds=is_accepted,
        says="a dictionary that `try_summary` takes",
        mistakes=(
            Mistake(lambda _: True, "Call `try_summary(summary_settings)` yourself: its error names the setting."),
        ),
    )


def test_a_summary_was_written(answer):
    """The summary took the place of something."""
    expect_value(
        answer,
        holds=lambda settings: not tried(settings).problem,
        says="a session that was made shorter",
        mistakes=(
            Mistake(lambda _: True, "Nothing was made shorter; `try_summary(summary_settings).problem` says why."),
        ),
    )


def test_it_is_short_enough(answer):
    """Summary and kept messages together stay under the cap."""
    expect_value(
        answer,
        holds=lambda settings: tried(settings).tokens <= MOST_TOKENS,
        says=f"at most {MOST_TOKENS:,} tokens left",
        mistakes=(
            Mistake(
                lambda settings: settings["keep_messages"] > 2,
                "Most of what is left are messages that were kept whole, with file contents in them. Keep fewer.",
            ),
        ),
    )


def test_the_facts_are_there(answer):
    """Nine of ten facts can still be read."""
    mistakes = (
        Mistake(
            lambda settings: settings["max_summary_tokens"] < 200,
            "The summary was cut: it has not enough room for what you ask for.",
        ),
        Mistake(
            lambda settings: "the task" in tried(settings).missing,
            "Not even the user's order is left. What the prompt does not ask for does not survive: ask for each kind.",
        ),
        Mistake(
            lambda _: True,
            "Some kinds of facts are missing. Print `try_summary(summary_settings).missing`, and ask for each by name.",
        ),
    )
    expect_value(
        answer,
        holds=lambda settings: tried(settings).recall >= LEAST_RECALL,
        says=f"at least {LEAST_RECALL:.0%} of the facts",
        mistakes=mistakes,
    )
