"""Every exercise of the course, in one list (chapter 00).

An exercise is one entry here, one check file beside this module, and its cells in a notebook. Everything else (the
learner's notebook, hints, progress, the command line) is made from these three.

    >>> find_exercise("tokens_left").id
    '00.1'
    >>> find_exercise("00.1").check_file.name
    'check_00_1.py'

What this leaves out on purpose: the task, the stub and the answer with its reason. They are cells of
`solutions/NN_*.ipynb`.
Source: chapter 00.
"""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from course_lib.errors import CourseError, SettingsError

__all__ = ["EXERCISES", "Exercise", "Kind", "UnknownExerciseError", "chapter_exercises", "find_exercise"]

# Write it from its specification · find and mend a real bug · choose settings for a budget · say the number first.
Kind = Literal["implement", "fix", "tune", "predict"]


class UnknownExerciseError(CourseError, LookupError):
    """There is no such exercise; the message lists those with a similar name."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: the way here is of no use to a learner."""
        return [str(self)]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise.

    Attributes:
        id: "NN.k": the chapter's two digits and the exercise's number in it.
        title: a few words.
        kind: what the learner does.
        minutes: how long it takes, about.
        answer_name: the name of the function, class or value that the learner defines.
        hints: three, from a nudge to nearly the answer, in Markdown.

    Raises:
        SettingsError: an id of another form, an unknown kind, or not three different hints.
    """

    id: str
    title: str
    kind: Kind
    minutes: int
    answer_name: str
    hints: tuple[str, str, str]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d\d\.[1-9]\d*", self.id):
            raise SettingsError(f"exercise id {self.id!r}: expected two digits, a dot and a number, such as '01.2'")
        if self.kind not in get_args(Kind):
            raise SettingsError(
                f"kind {self.kind!r} of exercise {self.id}: expected one of {', '.join(get_args(Kind))}"
            )
        if len(set(self.hints)) != 3 or not all(self.hints):
            raise SettingsError(f"hints of exercise {self.id}: expected three different ones, got {self.hints!r}")

    @property
    def chapter(self) -> str:
        """The chapter's two digits."""
        return self.id.partition(".")[0]

    @property
    def check_file(self) -> Path:
        """The pytest file that checks an answer: `check_NN_k.py` beside this module."""
        return Path(__file__).with_name(f"check_{self.id.replace('.', '_')}.py")


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        id="00.1",
        title="What is left of the window",
        kind="implement",
        minutes=3,
        answer_name="tokens_left",
        hints=(
            "The window is one budget. Two things are taken out of it: what is used already, and what is kept free.",
            "Subtract both `used_tokens` and `reserve_tokens` from `window_tokens`. What if that goes below 0?",
            "`max(0, …)` returns its second argument, but never less than 0.",
        ),
    ),
    Exercise(
        id="01.1",
        title="Find the broken pairs",
        kind="implement",
        minutes=15,
        answer_name="find_broken_pairs",
        hints=(
            "Go through the messages in order and remember one thing only: which calls the message before made.",
            "At each message compare two sets: the ids called in the message before, and the ids answered here. "
            "What stands in only one of them is broken.",
            "`called ^ answered` is what is in exactly one of two sets. Collect it at every message; after the last "
            "one, whatever it called is open and broken as well.",
        ),
    ),
    Exercise(
        id="01.2",
        title="A cut that parts a batch",
        kind="fix",
        minutes=10,
        answer_name="nearest_cut",
        hints=(
            "Take a batch of two results of which only one has its call in the kept part. What do the sets look like?",
            "`called & answered` is true as soon as *one* id is in both. Is one enough?",
            "Every answered call must be among the called ones: one set has to be contained in the other, `<=`.",
        ),
    ),
    Exercise(
        id="01.3",
        title="Head and tail",
        kind="fix",
        minutes=15,
        answer_name="head_and_tail",
        hints=(
            "Try it on a batch of two results, with a tail of 0, and with head and tail longer than the conversation.",
            "Work with two indexes, where the head ends and where the tail starts, and move them out of batches: "
            "the tail's start forward over all leading results, the head's end back to before a call whose results "
            "are not all in the head. `messages[-0:]` is everything.",
            "First: `if head + tail >= len(messages): return messages`. Then `start = len(messages) - tail` and "
            "`while start < len(messages) and tool_results(messages[start]): start += 1`. For the head: as long as the "
            "message behind its end holds a result, or its last message a call, make it one shorter.",
        ),
    ),
    Exercise(
        id="01.4",
        title="As much memory as the budget allows",
        kind="tune",
        minutes=8,
        answer_name="keep_messages",
        hints=(
            "Print `max(request_sizes(n))` for some `n`. Why the largest?",
            "It grows with `n`. You look for the last `n` at which it is not above `BUDGET_TOKENS`.",
            "`max(n for n in range(1, 80) if max(request_sizes(n)) <= BUDGET_TOKENS)`",
        ),
    ),
    Exercise(
        id="01.5",
        title="What does a run send?",
        kind="predict",
        minutes=7,
        answer_name="predicted_tokens",
        hints=(
            "Write down the first three requests: 1,000, 1,500, 2,000. How long is the last one?",
            "From the first request to the last they grow evenly. What is their average?",
            "The average of the first (1,000) and the last (1,000 + 39 × 500), times 40.",
        ),
    ),
)


def find_exercise(id_or_answer_name: str) -> Exercise:
    """Return the exercise with this id ("01.2") or this name of the answer ("tokens_left").

    Raises:
        UnknownExerciseError: there is none; the message lists the nearest ones.
    """
    wanted = id_or_answer_name.strip()
    for exercise in EXERCISES:
        if wanted in (exercise.id, exercise.answer_name):
            return exercise
    raise UnknownExerciseError(f"There is no exercise {wanted!r:.60}. {_near(wanted)}")


def chapter_exercises(chapter: str) -> tuple[Exercise, ...]:
    """Return the exercises of a chapter ("01"), in order; none for a chapter without exercises."""
    return tuple(exercise for exercise in EXERCISES if exercise.chapter == chapter)


def _near(wanted: str) -> str:
    names = {exercise.answer_name: exercise for exercise in EXERCISES}
    same_chapter = chapter_exercises(wanted[:2])
    close = [names[name] for name in difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)]
    listed = [f"{exercise.id} ({exercise.answer_name})" for exercise in close or same_chapter or EXERCISES[:5]]
    return f"{'Did you mean' if close else 'There are'} {', '.join(listed)}{'?' if close else '.'}"
