"""`hint` and `solution` in a notebook: help in small steps, and the whole answer at the end (chapter 00).

What this leaves out on purpose: the hints (`course_lib.checks.catalogue`) and the answers (`solutions/NN_*.ipynb`: per
exercise a code cell tagged `solution` and a text cell tagged `reason` too, both with the exercise's number in their
metadata).
Source: chapter 00.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.checks.catalogue import find_exercise
from course_lib.checks.exercise import Exercise
from course_lib.learner.checking import exercise_of, has_passed

__all__ = ["Note", "next_hint", "show_solution"]

_shown_here: dict[str, int] = {}  # in this process: progress may not be kept, in the clone for example


@dataclass(frozen=True)
class Note:
    """A piece of Markdown that a notebook shows as such, and a terminal as text."""

    text: str

    def __str__(self) -> str:
        return self.text.replace("**", "")

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return self.text


def next_hint(exercise: object, *, folder: Path | None = None, in_terminal: bool = False) -> Note:
    """Return the next hint, and remember how far it went; after the third, all three.

    Args:
        exercise: its number, the name of its answer, or the answer.
        folder: the learner's folder; None means the one that the present folder lies in.
        in_terminal: `solution(…)` cannot be typed there.
    """
    found = _find(exercise)
    answer = f'The answer{", in the notebook" if in_terminal else ""}: `solution("{found.id}", anyway=True)`'
    shown = max(_shown_here.get(found.id, 0), _hints_kept(found.id, folder))
    if shown >= len(found.hints):
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(found.hints, start=1))
        return Note(f"**All hints for {found.id}**\n\n{listed}\n\nThere are no more. {answer}")
    _shown_here[found.id] = shown + 1
    trouble = _keep_hint(found.id, folder)
    left = len(found.hints) - shown - 1
    more = f"{left} more: call it again." if left else f"That was the last. {answer}"
    text = f"**Hint {shown + 1} of {len(found.hints)} for {found.id}**\n\n{found.hints[shown]}\n\n{more}"
    return Note(f"{text}\n\n{trouble}" if trouble else text)


def show_solution(exercise: object, *, anyway: bool = False) -> Note:
    """Return the course's answer and the reason for it; before a pass only when asked for `anyway`."""
    found = _find(exercise)
    if not anyway and not has_passed(found.id):
        return Note(
            f'Exercise {found.id} has not passed yet: `hint("{found.id}")` helps. '
            f'To see the answer all the same: `solution("{found.id}", anyway=True)`'
        )
    for file in _solution_files(found):
        cells = list(_cells(file, found.id))
        answer = [text for tag, text in cells if tag == "solution"]
        if answer:
            reasons = [text for tag, text in cells if tag == "reason"]
            code = "\n\n".join(f"```python\n{text}\n```" for text in answer)
            return Note("\n\n".join([f"**Our answer to {found.id}**", code, *reasons]))
    return Note(
        f"The answer to {found.id} is not here: it stands in `solutions/{found.chapter}_*.ipynb`, beside the exercises."
    )


def _find(exercise: object) -> Exercise:
    return find_exercise(exercise) if isinstance(exercise, str) else exercise_of(exercise)


def _hints_kept(exercise_id: str, folder: Path | None) -> int:
    try:
        from course_lib.learner.progress import hints_shown

        return hints_shown(exercise_id, folder)
    except Exception:  # not known: then as if none
        return 0


def _keep_hint(exercise_id: str, folder: Path | None) -> str:
    try:
        from course_lib.learner.progress import record_hint

        return record_hint(exercise_id, folder)
    except Exception as error:
        return f"Your progress could not be written down ({type(error).__name__}: {error})."


def _solution_files(exercise: Exercise) -> Iterator[Path]:
    """The chapter's solutions in the present folder or the nearest above it that has some."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        yield from sorted((folder / "solutions").glob(f"{exercise.chapter}_*.ipynb"))


def _cells(file: Path, exercise_id: str) -> Iterator[tuple[str, str]]:
    """Tag and text of an exercise's cells that are tagged as solution or reason; none of a file that is no notebook."""
    try:
        cells: list[dict[str, Any]] = json.loads(file.read_bytes())["cells"]
        for cell in cells:
            metadata, source = cell.get("metadata", {}), cell["source"]
            tag = next((tag for tag in ("reason", "solution") if tag in metadata.get("tags", ())), "")
            if tag and str(metadata.get("exercise")) == exercise_id:
                yield tag, (source if isinstance(source, str) else "".join(source)).strip()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
