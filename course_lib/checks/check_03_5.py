"""03.5 longest_text: which of six texts of sixty characters has most tokens."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.token_practice import SIX_TEXTS
from course_lib.tokens import TiktokenCounter

WHY_NOT = {
    "A": "Everyday English is the cheapest of all scripts: a word and the blank before it are one token.",
    "B": "Code is made of common words and signs; long runs of blanks cost one token.",
    "C": "A hash is expensive, about two characters a token. One of the others is more so.",
    "D": "Digits by threes and signs between them: expensive, but one of the others is more so.",
    "F": "A run of blanks is one token, however long: this is the shortest of the six.",
}


def test_it_is_one_of_the_six(answer):
    """The answer is a letter."""
    letters = ", ".join(SIX_TEXTS)
    expect_value(answer, holds=lambda got: got in SIX_TEXTS, says=f"one of the letters {letters}, as a string")


def test_the_prediction(answer):
    """The check counts all six with the vocabulary that ships with the course."""
    exact = TiktokenCounter()
    longest = max(SIX_TEXTS, key=lambda letter: exact(SIX_TEXTS[letter]))
    expect_value(
        answer,
        holds=lambda got: got == longest,
        says="the text with most tokens",
        mistakes=[Mistake(letter, why) for letter, why in WHY_NOT.items()],
    )
