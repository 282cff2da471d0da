"""What an exercise is made of, and which part of it is missing (`course exercises`).

An exercise stands in four places: the catalogue, its check file, cells in a notebook of solutions/, and a file of right
and wrong answers for the gate. `missing_parts` names what is not there, in sentences.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_lib.checks.catalogue import EXERCISES
from course_lib.checks.exercise import Exercise

__all__ = ["missing_parts"]

WRONG_ANSWERS = 3
ANSWER_MARK = re.compile(r"^# %% (right|wrong): .", re.MULTILINE)


def missing_parts(root: Path) -> list[str]:
    """Return a sentence for each part of an exercise that is missing, or belongs to none.

    Args:
        root: the course's folder.
    """
    found = [problem for exercise in EXERCISES for problem in _missing_of(exercise, root)]
    return found + list(_strays(root))


def _missing_of(exercise: Exercise, root: Path) -> Iterator[str]:
    if not exercise.check_file.is_file():
        yield f"{exercise.id}: no check file {exercise.check_file.name} in course_lib/checks"
    masters = sorted((root / "solutions").glob(f"{exercise.chapter}_*.ipynb"))
    if len(masters) != 1:
        yield f"{exercise.id}: {len(masters)} notebooks solutions/{exercise.chapter}_*.ipynb, not one"
    else:
        yield from _missing_cells(exercise, masters[0])
    yield from _missing_answers(exercise, root)


def _missing_cells(exercise: Exercise, master: Path) -> Iterator[str]:
    where = f"in solutions/{master.name}"
    cells = json.loads(master.read_text(encoding="utf-8"))["cells"]
    own = [cell for cell in cells if cell["metadata"].get("exercise") == exercise.id]
    task = next((_source(cell) for cell in own if cell["cell_type"] == "markdown"), "")
    if not task.startswith(f"## {exercise.id} {exercise.title}"):
        yield f"{exercise.id}: no task {where}: a text cell that begins with '## {exercise.id} {exercise.title}'"
    elif f"*{exercise.kind} · {exercise.minutes} minutes*" not in task:
        yield f"{exercise.id}: the task {where} does not say '*{exercise.kind} · {exercise.minutes} minutes*'"
    for tags, what in (({"exercise"}, "stub"), ({"solution"}, "answer"), ({"solution", "reason"}, "reason")):
        count = sum(set(cell["metadata"].get("tags", ())) == tags for cell in own)
        if count != 1:
            yield f"{exercise.id}: {count} cells for the {what} {where} (tagged {', '.join(sorted(tags))}), not one"
    check = re.compile(rf"^check\({exercise.answer_name}\b", re.MULTILINE)
    if not any(cell["cell_type"] == "code" and check.search(_source(cell)) for cell in cells):
        yield f"{exercise.id}: no cell with check({exercise.answer_name}) {where}"


def _missing_answers(exercise: Exercise, root: Path) -> Iterator[str]:
    file = root / "tests" / "exercise_answers" / f"{exercise.id.replace('.', '_')}.py"
    if not file.is_file():
        yield f"{exercise.id}: no answers for the gate in tests/exercise_answers/{file.name}"
        return
    kinds = Counter(ANSWER_MARK.findall(file.read_text(encoding="utf-8")))
    for kind, least in (("right", 1), ("wrong", WRONG_ANSWERS)):
        if kinds[kind] < least:
            yield f"{exercise.id}: {kinds[kind]} {kind} answers in tests/exercise_answers/{file.name}, at least {least}"


def _strays(root: Path) -> Iterator[str]:
    """Files and cells of exercises that the catalogue does not have."""
    ids = {exercise.id for exercise in EXERCISES}
    checks = EXERCISES[0].check_file.parent.glob("check_*.py")
    for file in sorted([*checks, *(root / "tests" / "exercise_answers").glob("*.py")]):
        if file.stem.removeprefix("check_").replace("_", ".") not in ids:
            yield f"{file.name}: no such exercise in course_lib/checks/chapters"
    for master in sorted((root / "solutions").glob("*.ipynb")):
        cells = json.loads(master.read_text(encoding="utf-8"))["cells"]
        for id_ in sorted({cell["metadata"].get("exercise", "") for cell in cells} - ids - {""}):
            yield f"{id_}: in solutions/{master.name}, but not in course_lib/checks/chapters"


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])
