"""What a learner uses in a notebook: `check`, `hint`, `solution`, `question` (chapter 00).

    from course_lib.learner import check, hint, question, solution

    check(tokens_left)                 # a function or class: its name says which exercise it answers
    check(predicted_tokens, "01.5")    # a value has no name
    hint("01.5")                       # the next of three
    solution("01.5")                   # after a pass; with anyway=True also before
    question("01.a")                   # a question for understanding, answered by a click

Each returns a value that the notebook shows. Importing this loads nothing else; what works behind it is imported when
it is used.
Source: chapter 00.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.learner.helping import Note
    from course_lib.learner.result import CheckResult
    from course_lib.widgets.question import QuestionCard

__all__ = ["check", "hint", "question", "solution"]


def check(answer: object, exercise: str = "") -> "CheckResult":
    """Check an answer, remember the outcome, and return it.

    Args:
        answer: the function or class that the exercise asks for, or a value.
        exercise: the exercise's number, such as "01.5"; a function's or class's name says it.

    Raises:
        UnknownExerciseError: no exercise asks for such an answer.
        CourseCheckError: the course failed, not the answer.
    """
    from course_lib.learner.checking import check_answer

    return check_answer(answer, exercise)


def hint(exercise: object) -> "Note":
    """Return the next of an exercise's three hints.

    Args:
        exercise: its number, such as "01.5", or the name of its answer, or the answer.

    Raises:
        UnknownExerciseError: there is no such exercise.
    """
    from course_lib.learner.helping import next_hint

    return next_hint(exercise)


def solution(exercise: object, *, anyway: bool = False) -> "Note":
    """Return the course's answer to an exercise, and why it is right, once yours has passed.

    Args:
        exercise: its number, such as "01.5", or the name of its answer, or the answer.
        anyway: show it before.

    Raises:
        UnknownExerciseError: there is no such exercise.
    """
    from course_lib.learner.helping import show_solution

    return show_solution(exercise, anyway=anyway)


def question(question_id: str) -> "QuestionCard":
    """Return a question for understanding, to be answered in the notebook.

    Args:
        question_id: the chapter and a letter, such as "01.a".

    Raises:
        SettingsError: there is no such question; the message lists those there are.
    """
    from course_lib.checks.catalogue import find_question
    from course_lib.widgets.question import QuestionCard

    return QuestionCard(find_question(question_id))
