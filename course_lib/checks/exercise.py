"""What an exercise and a question are (chapter 00).

Source: chapter 00.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from course_lib.errors import SettingsError

__all__ = ["Exercise", "Kind", "Option", "Question"]

# Write it from its specification · find and mend a real bug · choose settings for a budget · say the number first.
Kind = Literal["implement", "fix", "tune", "predict"]


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


@dataclass(frozen=True)
class Option:
    """One possible answer, and why it is right or wrong."""

    text: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question; `right` is the 0-based place of its right option."""

    id: str
    text: str
    options: tuple[Option, ...]
    right: int
