"""Give one exercise its stub back (`course reset 01.2`), and keep what the learner had.

Only that one cell changes in the notebook's file; every other byte stays. The old text is kept first, under
`.course/set_aside/`, so an interruption loses nothing.

What this leaves out on purpose: the notebook as a whole. Delete or rename it, and `course start` brings a fresh one.
Source: chapter 00.
"""

import errno
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from course_lib.environment.processes import one_at_a_time
from course_lib.learner.content import Cell, cell_source, cell_spans, has_mark, notebook_cells
from course_lib.learner.files import HIDDEN, SavedMeanwhileError, draft, explain, sync_folder
from course_lib.learner.folder import Course, LearnerFolderError, is_inside, resolved
from course_lib.learner.replacing import set_aside

__all__ = ["reset_exercise"]

TAG = "exercise"  # of the cell that the learner writes the answer in

_WAITING = "A start is bringing your folder up to date; waiting for it."
_RELOAD = (
    "If the notebook is open in JupyterLab, reload it now: File > Reload Notebook from Disk. "
    "Until then JupyterLab shows the old text, and saving would bring it back."
)


def reset_exercise(target: Path, exercise_id: str, *, source: Path | None = None) -> str:
    """Put the stub of one exercise back into the learner's notebook.

    The cell is found by its metadata, `{"tags": ["exercise"], "exercise": "01.2"}`. If it is gone, the stub is put
    after the exercise's task; if that is gone too, at the end.

    Args:
        target: the learner's folder.
        exercise_id: such as "01.2".
        source: the course's folder; None means the one this code runs from.

    Returns:
        What was done, and where the old text is: a line each.

    Raises:
        LearnerFolderError: there is no such exercise, or its notebook cannot be read or written.
    """
    if source is None:
        from course_lib.cli import course_root

        source = course_root()
    source, target = resolved(source), resolved(target)
    if is_inside(target, source):
        raise LearnerFolderError(
            f"{target} is the course's own folder: nothing is reset there. "
            "Name yours (--folder), or make one: course start."
        )
    path, stub = find_stub(source, exercise_id)
    place = target / path
    try:
        (target / HIDDEN).mkdir(exist_ok=True)
        with one_at_a_time(target / HIDDEN / "lock", waiting=_WAITING):
            return _Answer(exercise_id, read_notebook(place), place, stub).reset(target)
    except FileNotFoundError as error:
        raise LearnerFolderError(
            f"There is no {path} in {target}. If you renamed it, give it that name again; "
            "if you deleted it, course start brings a fresh one."
        ) from error
    except OSError as error:
        raise LearnerFolderError(f"{place} was not changed: {explain(error, place)}") from error


def find_stub(source: Path, exercise_id: str) -> tuple[str, Cell]:
    """The notebook that an exercise is in, from the course's folder, and its stub cell.

    Raises:
        LearnerFolderError: there is no such exercise.
    """
    if not re.fullmatch(r"\d\d\.\d+", exercise_id):
        raise LearnerFolderError(f"{exercise_id!r} names no exercise: write chapter and number, such as 01.2.")
    course = Course(source)
    there = set()
    for path in course.paths:
        if path.startswith("exercises/") and path.endswith(".ipynb"):
            for cell in notebook_cells(course.version(path).data) or ():
                name = exercise_of(cell)
                if name == exercise_id:
                    return path, cell
                there.add(name)
    names = ", ".join(sorted(there - {""})) or f"none in {source / 'exercises'}"
    raise LearnerFolderError(f"There is no exercise {exercise_id}. There are: {names}.")


def exercise_of(cell: Cell) -> str:
    """The exercise that a cell is for the answer of; "" for any other cell."""
    metadata = cell.get("metadata")
    name = str(metadata.get("exercise", "")) if isinstance(metadata, dict) else ""
    return name if has_mark(cell, name, TAG) else ""


def read_notebook(place: Path) -> tuple[str, list[Cell]]:
    """A learner's notebook: the text of its file, and its cells.

    Raises:
        LearnerFolderError: it cannot be changed safely.
        OSError: it cannot be read.
    """
    if resolved(place) != place:
        raise LearnerFolderError(f"{place} is a link, or in one: nothing is reset through a link. Put the file there.")
    data = place.read_bytes()
    cells = notebook_cells(data)
    with suppress(UnicodeDecodeError):  # JSON in UTF-16: an editor's doing
        if cells is not None:
            return data.decode("utf-8"), cells
    raise LearnerFolderError(
        f"{place} cannot be read as a notebook, so it was left alone. "
        "Rename it, and course start brings a fresh one; your text stays in the renamed file."
    )


@dataclass(frozen=True)
class _Answer:
    """One exercise in a learner's notebook.

    Attributes:
        exercise_id: such as "01.2".
        notebook: the text of the file, and its cells.
        place: the file.
        stub: the cell as the course has it.
    """

    exercise_id: str
    notebook: tuple[str, list[Cell]]
    place: Path
    stub: Cell

    def reset(self, target: Path) -> str:
        """Do it, and say what was done."""
        text, cells = self.notebook
        found = [at for at, cell in enumerate(cells) if has_mark(cell, self.exercise_id, TAG)]
        old = cells[found[0]] if found else None
        more = f"{len(found)} cells are marked as its answer; only the first was looked at." if len(found) > 1 else ""
        name = f"Exercise {self.exercise_id} in {self.place.relative_to(target).as_posix()}"
        if old and (old["cell_type"], cell_source(old)) == (self.stub["cell_type"], cell_source(self.stub)):
            return "\n".join(filter(None, (f"{name} is as it was delivered: nothing to reset.", more)))
        new = self._with_stub(found[0] if found else self._gap(), is_instead=bool(found))
        kept = ""
        if old and cell_source(old).strip():
            copy = set_aside(target, f"{self.exercise_id}_before_reset", ".py", cell_source(old).encode("utf-8"))
            kept = f"Your old text is in {copy.relative_to(target).as_posix()}."
        overwrite(target, self.place, text.encode("utf-8"), new)
        return "\n".join(filter(None, (f"{name} is as it was delivered again.", kept, more, _RELOAD)))

    def _gap(self) -> int:
        """Where the cell belongs when it is gone: after the task's cells, else at the end."""
        cells = self.notebook[1]
        is_task = [cell["cell_type"] == "markdown" and has_mark(cell, self.exercise_id) for cell in cells]
        if True not in is_task:
            return len(cells)
        start = is_task.index(True)
        return next((at for at in range(start, len(cells)) if not is_task[at]), len(cells))

    def _with_stub(self, at: int, *, is_instead: bool) -> bytes:
        """The file with the stub instead of the cell at a place, or before it."""
        text, cells = self.notebook
        spans, end = cell_spans(text)
        stub = self._fitting(cells[at] if is_instead else None)
        cell = json.dumps(stub, ensure_ascii=False, indent=1, sort_keys=True).replace("\n", "\n  ")
        if is_instead:
            start, stop = spans[at]
        elif at < len(spans):
            start = stop = spans[at][0]
            cell = f"{cell},\n  "
        else:
            start = stop = spans[-1][1] if spans else end
            cell = f",\n  {cell}" if spans else f"\n  {cell}\n "
        new = (text[:start] + cell + text[stop:]).encode("utf-8")
        expected = [*cells[:at], stub, *cells[at + is_instead :]]
        if json.dumps(notebook_cells(new), sort_keys=True) != json.dumps(
            expected, sort_keys=True
        ):  # whatever this file is, it was not understood
            raise LearnerFolderError(f"{self.place} is written in a way that is not understood; it was left alone.")
        return new

    def _fitting(self, old: Cell | None) -> Cell:
        """The stub with an id that suits the notebook: ids came with format 4.5, and each is there once."""
        text, cells = self.notebook
        stub = {key: value for key, value in self.stub.items() if key != "id"}
        if stub["cell_type"] == "code":
            stub |= {"outputs": [], "execution_count": None}  # somebody may have run the course's own copy
        ids = [cell.get("id") for cell in cells]
        if old is not None and "id" in old:
            return {**stub, "id": old["id"]}
        if old is not None or json.loads(text.removeprefix("\ufeff")).get("nbformat_minor", 0) < 5:
            return stub
        wanted = str(self.stub.get("id") or f"exercise-{self.exercise_id.replace('.', '-')}")
        while wanted in ids:
            wanted += "-again"
        return {**stub, "id": wanted}


def overwrite(root: Path, place: Path, old: bytes, new: bytes) -> None:
    """Put new bytes into a file's place in one step, if it still has the old ones.

    Raises:
        SavedMeanwhileError: it has others.
        OSError: it cannot be written; then it is as it was.
    """
    path = draft(root, new)
    try:
        path.chmod(place.stat().st_mode & 0o777)
        if place.read_bytes() != old:
            raise SavedMeanwhileError(errno.EBUSY, "it was saved at this very moment", str(place))
        path.replace(place)
        sync_folder(place.parent)
    finally:
        with suppress(OSError):
            path.unlink()
