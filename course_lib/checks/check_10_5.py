"""10.5 steps: which step of a recovery saves which conversation."""

from course_lib.checks.expectations import Mistake, expect_value
from course_lib.checks.practice_recovery import CASES, STEPS, step_that_saves

HINTS = {
    "one log": "one result is huge, and the first step cuts the largest.",
    "fifty small ones": "no result is long enough to be cut. Old rounds can go.",
    "five of a size": "no result is huge, but all are long: they are cut to one height.",
    "a talkative model": "the results are short, the model's own words are long. Nothing there can be shrunk.",
    "five letters": "it is the user who said all that, and a collapse takes nothing of the user's.",
    "one letter": "the newest message alone is too long, and nobody has answered it. Is anything else worth taking?",
}


def test_it_names_a_step_for_each(answer):
    """A dictionary with the six conversations, and one of the four steps for each."""
    expect_value(
        answer,
        holds=lambda steps: set(steps) == set(CASES) and set(steps.values()) <= set(STEPS),
        says=f"a dictionary with {', '.join(CASES)}, and one of {', '.join(STEPS)} for each",
    )


def test_the_steps(answer):
    """Each is the last step that the library's recovery really needs."""
    right = {name: step_that_saves(messages) for name, messages in CASES.items()}
    mistakes = [
        Mistake(lambda steps, name=name: steps[name] != right[name], f"Look at {name!r} again: {HINTS[name]}")
        for name in CASES
    ]
    expect_value(
        answer,
        holds=lambda steps: steps == right,
        says="the last step that the library's recovery needs, for each of the six",
        mistakes=mistakes,
    )
