r"""Taking an answer out of a notebook file: run its code cells, without a kernel (chapter 00).

    >>> plain_python("%matplotlib inline\nfiles = !ls\nx = (7\n     % 4)")
    'pass\nfiles = None\nx = (7\n     % 4)'

Cells run in order in one namespace. What only IPython understands is passed over, and so is a cell that raises: it may
be an earlier exercise's, and an answer does not depend on it unless it uses it. Only the exercise's own cell may print.

What this leaves out on purpose: outputs, `await` outside of functions, and cells of other languages.
Source: chapter 00.
"""

import ast
import contextlib
import io
import json
import linecache
import re
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

__all__ = ["GET_BACK", "AnswerNotFoundError", "Cell", "answer_from_notebook", "plain_python", "read_cells"]

GET_BACK = "To get it back: course start"
MAX_NOTEBOOK_BYTES = 50_000_000
_MISSING = object()
_GET_NEW = "To get a new one, rename it, and then: course start"
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun")  # cell magics with Python below them
_MAGIC_LINE = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_MAGIC_VALUE = re.compile(r"^(\s*[\w., ]+=\s*)[%!].*$")


class AnswerNotFoundError(CourseError):
    """A notebook file gives no answer to an exercise; the message says why.

    Args:
        message: in sentences.
        error: the exception that the exercise's own cell raised, if that was the reason.
        way_out: the next step, where the file is the trouble.
    """

    def __init__(self, message: str, *, error: BaseException | None = None, way_out: str = "") -> None:
        super().__init__(message)
        self.error = error
        self.way_out = way_out


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among them (from 1), its text, and the exercise that it is the answer's cell of."""

    number: int
    source: str
    exercise: str = ""

    @property
    def file_name(self) -> str:
        """What its code calls itself in a traceback."""
        return f"<cell {self.number}>"

    @property
    def title(self) -> str:
        """How to find it: its number and first line."""
        first = next((line for line in self.source.splitlines() if line.strip()), "")
        return f"code cell {self.number} ({first.strip()[:60]})"


def read_cells(notebook: Path) -> list[Cell]:
    """Return the code cells of a notebook.

    Raises:
        AnswerNotFoundError: no file, no notebook, or a huge one.
    """
    try:
        if notebook.stat().st_size > MAX_NOTEBOOK_BYTES:
            raise AnswerNotFoundError(
                f"{notebook.name} is larger than {MAX_NOTEBOOK_BYTES // 10**6} MB.",
                way_out="Clear its outputs in JupyterLab (Edit, Clear Outputs of All Cells) and save it.",
            )
        content = json.loads(notebook.read_bytes())
        cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        return [_cell(number, cell) for number, cell in enumerate(cells, start=1)]
    except OSError as error:
        way_out = GET_BACK if isinstance(error, FileNotFoundError) else _GET_NEW
        says = f"{notebook.name} cannot be read: {error.strerror or error}."
        raise AnswerNotFoundError(says, way_out=way_out) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error!s:.200}" if str(error) else type(error).__name__
        says = f"{notebook.name} is no notebook in today's format ({reason})."
        raise AnswerNotFoundError(says, way_out=_GET_NEW) from None


def answer_from_notebook(
    notebook: Path, exercise_id: str, answer_name: str, *, on_cell: Callable[[Cell], None] = lambda _cell: None
) -> Any:
    """Run a notebook's code up to the answer's `check(…)` and return what has its name then.

    Not only up to the exercise's own cell: some learners write their answer below it, and `check` finds it there. Where
    there is no such call any more, the next exercise's cell is the end.

    Args:
        notebook: the file.
        exercise_id: such as "01.2".
        answer_name: of the function, class or value.
        on_cell: is told of each cell before it runs.

    Raises:
        AnswerNotFoundError: the file cannot be read, or there is no such answer in it.
    """
    cells = read_cells(notebook)
    places = [i for i, cell in enumerate(cells) if cell.exercise == exercise_id]
    if not places:
        gone = f"The cell of exercise {exercise_id} is not in {notebook.name} any more."
        raise AnswerNotFoundError(f"{gone} {_way_out(exercise_id)}")
    namespace = _fresh_main()
    answer: Any = _MISSING
    error: BaseException | None = None
    for i, cell in enumerate(cells[: _end(cells, places[-1], answer_name)]):
        on_cell(cell)
        raised, before = _run(cell, namespace, may_print=i in places), answer
        answer = namespace.get(answer_name, _MISSING)
        if answer is not before:
            error = None
        elif i in places:
            error = raised
    if error is not None:
        raise AnswerNotFoundError(f"The cell of exercise {exercise_id} does not run to its end.", error=error)
    if answer is _MISSING:
        gone = f"There is no `{answer_name}` after the cell of exercise {exercise_id}. Was it renamed?"
        raise AnswerNotFoundError(f"{gone} {_way_out(exercise_id)}")
    return answer


def _end(cells: Sequence[Cell], place: int, answer_name: str) -> int:
    """Where to stop: behind the first cell from `place` on that checks the answer, or before the next exercise's."""
    for i in range(place, len(cells)):
        if i > place and cells[i].exercise:
            return i
        if re.search(rf"\bcheck\(\s*{answer_name}\b", cells[i].source):
            return i + 1
    return len(cells)


def plain_python(source: str) -> str:
    """Return a cell's source without what only IPython understands; "" for a cell of another language.

    A line such as `% 4` may be Python, within brackets. So a line is only taken out where Python cannot read on.
    """
    if source.lstrip().startswith("%%"):
        magic, _, rest = source.lstrip().partition("\n")
        return plain_python(rest) if magic[2:].split(" ")[0].strip() in _PYTHON_MAGICS else ""
    lines = source.split("\n")
    for _ in lines:
        try:
            ast.parse("\n".join(lines))
            break
        except SyntaxError as error:
            number = min(error.lineno or 1, len(lines)) - 1
        except (ValueError, RecursionError, MemoryError):  # a zero byte, or far too deeply nested
            break
        without = _MAGIC_VALUE.sub(r"\1None", _MAGIC_LINE.sub(r"\1pass", lines[number]))
        if without == lines[number]:
            break
        lines[number] = without
    return "\n".join(lines)


def _cell(number: int, cell: dict[str, Any]) -> Cell:
    source, metadata = cell["source"], cell.get("metadata", {})
    text = source if isinstance(source, str) else "".join(source)
    is_exercise = "exercise" in metadata.get("tags", ())
    return Cell(number, text, str(metadata.get("exercise", "")) if is_exercise else "")


def _fresh_main() -> dict[str, Any]:
    """The namespace of a module `__main__` of the notebook's own: classes look for the module they are made in."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    vars(module)["display"] = lambda *_args, **_kwargs: None
    return vars(module)


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _run(cell: Cell, namespace: dict[str, Any], *, may_print: bool) -> BaseException | None:
    """Run one cell, in silence unless it may print; return what it raised."""
    source = plain_python(cell.source)
    linecache.cache[cell.file_name] = (len(source), None, source.splitlines(keepends=True), cell.file_name)
    output = sys.stdout if may_print else _Nowhere()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(_Nowhere()):
        try:
            exec(compile(source, cell.file_name, "exec"), namespace)
        except BaseException as error:  # also exit()
            return error
    return None


def _way_out(exercise_id: str) -> str:
    return f"To get the cell back: course reset {exercise_id} (your text is kept aside)."
