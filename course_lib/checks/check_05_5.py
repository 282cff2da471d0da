"""05.5 ranking: which of the five leaves fewest tokens, and which most."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_strategies import FIVE, practice_session, tokens_left


def test_it_names_the_five(answer):
    """A list of the five names, each once."""
    expect_value(
        answer,
        holds=lambda names: isinstance(names, list | tuple) and sorted(names) == sorted(FIVE),
        says=f"a list of these five names, each once: {', '.join(FIVE)}",
    )


def test_the_ranking(answer):
    """The order is the one that applying them really gives."""
    session = practice_session()
    right = sorted(FIVE, key=lambda name: tokens_left(name, session))
    mistakes = (
        Mistake(lambda names: list(names) == right[::-1], "The other way round: the fewest tokens come first."),
        Mistake(
            lambda names: names[0] == "summarisation" or names.index("summarisation") < names.index(right[1]),
            "A summary is short, but what stands beside it is not: how many whole results does summarisation keep, "
            "and how many does selective retention?",
        ),
        Mistake(
            lambda names: names[-1] != "tool-result compression",
            "Compression drops no result. It leaves all of them, at 2,000 tokens each.",
        ),
        Mistake(
            lambda names: names.index("truncation") < names.index("summarisation"),
            "Truncation keeps twenty messages. How many whole results are in them?",
        ),
        Mistake(lambda _: True, "Count the whole results that each of them leaves."),
    )
    expect_value(
        answer,
        holds=lambda names: list(names) == right,
        says="the order that applying them to the session gives",
        mistakes=mistakes,
    )
