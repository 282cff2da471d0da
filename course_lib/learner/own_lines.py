"""Which line of the learner's code was it (chapter 00)?

A traceback goes through the course, pytest and hypothesis; a learner is helped by one line of it: the innermost that
they wrote. `line_of_error` finds it in an exception, `line_in_dump` in what `faulthandler` writes when a process hangs
or crashes.

    >>> line_in_dump('  File "<cell 2>", line 1 in tokens_left', {"<cell 2>": "while True: pass"})
    'in tokens_left, line 1: while True: pass'

What this leaves out on purpose: the way there.
Source: chapter 00.
"""

import linecache
import re
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["is_own_file", "line_in_dump", "line_of_error"]

MAX_LINE_CHARS = 120
_PACKAGE = Path(__file__).resolve().parent.parent
_NOT_OWN = tuple(
    dict.fromkeys(str(Path(folder).resolve()) for folder in (_PACKAGE, sysconfig.get_path("stdlib"), sys.prefix))
)


def is_own_file(name: str, cells: Mapping[str, str]) -> bool:
    """Return whether code with this file name is the learner's: a notebook cell, or a module of their own."""
    if name in cells or name.startswith("<cell "):
        return True
    return not name.startswith("<") and Path(name).is_file() and not str(Path(name).resolve()).startswith(_NOT_OWN)


def line_of_error(error: BaseException, is_own: Callable[[str], bool]) -> str:
    """Return the innermost own line that an exception went through: `in tokens_left, line 3: return x`; "" if none."""
    if isinstance(error, SyntaxError) and error.filename and is_own(error.filename):
        return _shown("", error.lineno or 1, error.text or "")
    found = ""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if is_own(code.co_filename):
            name = code.co_qualname.rpartition("<locals>.")[2]
            found = _shown(name, step.tb_lineno, linecache.getline(code.co_filename, step.tb_lineno))
        step = step.tb_next
    return found


def line_in_dump(dump: str, cells: Mapping[str, str]) -> str:
    """Return the innermost own line in a dump of `faulthandler`; "" if there is none.

    Args:
        dump: what it wrote.
        cells: the text of notebook cells, by file name.
    """
    for name, number, function in re.findall(r'^  File "(.+)", line (\d+) in (.+)$', dump, re.MULTILINE):
        if name in cells:
            lines = cells[name].splitlines()
            return _shown(function, int(number), lines[int(number) - 1] if int(number) <= len(lines) else "")
    return ""


def _shown(function: str, number: int, line: str) -> str:
    place = f"in {function}, " if function and function != "<module>" else ""
    text = line.strip()[:MAX_LINE_CHARS]
    return f"{place}line {number}{': ' if text else ''}{text}"
