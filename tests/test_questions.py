"""Questions for understanding: every option has its word, and the right one has no favourite place."""

from collections import Counter

import pytest

from course_lib.checks.catalogue import QUESTIONS, find_question
from course_lib.errors import SettingsError
from course_lib.widgets.question import QuestionCard

CHAPTERS = sorted({question.id[:2] for question in QUESTIONS})


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_two_to_four(chapter):
    """Enough to check understanding, not enough to bore."""
    assert 2 <= sum(question.id.startswith(chapter) for question in QUESTIONS) <= 4


def test_right_answers_are_spread_over_the_places():
    """Guessing always the same place does not help."""
    places = Counter(question.right for question in QUESTIONS)
    assert set(places) == {0, 1, 2}
    assert max(places.values()) - min(places.values()) <= 1


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_every_option_is_explained(question):
    """Only the explanation of the right option begins with "Right", and no two options are the same."""
    marks = [option.explanation.startswith("Right") for option in question.options]
    assert marks == [place == question.right for place in range(len(question.options))]
    assert len({option.text for option in question.options}) == len(question.options) >= 3


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_a_wrong_choice_gives_its_reason_and_not_the_answer(question):
    """Who chooses wrong reads why, and can choose again."""
    card = QuestionCard(question)
    wrong = (question.right + 1) % len(question.options)
    card.choose(wrong)
    assert "Not this one" in card.verdict
    assert question.options[question.right].explanation not in card.verdict
    card.choose(question.right)
    assert "Not this one" not in card.verdict
    assert all(option.explanation.split("“")[0][:20] in card.verdict for option in question.options)


def test_without_a_kernel_the_question_can_be_read():
    """A saved notebook shows the question and its options as text."""
    data = QuestionCard(find_question("00.a"))._repr_mimebundle_()
    text = (data[0] if isinstance(data, tuple) else data)["text/plain"]
    assert all(option.text in text for option in find_question("00.a").options)


def test_an_unknown_question_is_named():
    """The error lists the questions that there are."""
    with pytest.raises(SettingsError, match=r"'99\.z'.*00\.a"):
        find_question("99.z")
