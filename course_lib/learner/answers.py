"""Taking an answer out of a notebook's kernel: is there one, and can it go to another process (chapter 00)?

    >>> def later(): ...
    >>> is_stub(later), is_stub(len)
    (True, False)

A function of a notebook goes along with the globals it uses and the text of its cells (so that an error can show the
learner's line). Functions of modules are imported again on the other side.

What this leaves out on purpose: what cannot be copied, such as an open file, a widget or a generator. It is named.
Source: chapter 00.
"""

import dis
import inspect
import io
import linecache
import types
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

from course_lib.errors import CourseError

__all__ = ["CannotTakeAlongError", "Packed", "is_stub", "pack"]

MAX_PICKLE_BYTES = 50_000_000
MAX_SOURCE_CHARS = 2_000_000
_NO_WORK = {"RESUME", "NOP", "CACHE", "COPY_FREE_VARS", "LOAD_CONST", "LOAD_COMMON_CONSTANT", "PUSH_NULL"}
_NO_WORK |= {"RETURN_VALUE", "RETURN_CONST", "LOAD_GLOBAL", "PRECALL", "CALL", "RAISE_VARARGS"}


class CannotTakeAlongError(CourseError):
    """An answer uses something that cannot be copied to another process; the message says what."""


@dataclass(frozen=True)
class Packed:
    """An answer on its way.

    Attributes:
        data: the answer and the globals it uses, pickled.
        sources: the text of notebook cells, by the file name that their code has.
    """

    data: bytes
    sources: Mapping[str, str]


def is_stub(answer: object) -> bool:
    """Return whether nothing was written yet.

    That is None, three dots, settings with three dots in them, a function that does nothing but return one of those or
    raise NotImplementedError, and a class of such functions.
    """
    if answer is None or answer is ...:
        return True
    if isinstance(answer, types.FunctionType):
        return _does_nothing(answer)
    if isinstance(answer, type):
        own = [value for name, value in vars(answer).items() if isinstance(value, types.FunctionType)]
        return bool(own) and all(map(_does_nothing, own))
    return any(value is ... for value in _values(answer))


def pack(answer: object) -> Packed:
    """Return the answer in a form that another process can load.

    Raises:
        CannotTakeAlongError: it uses something that cannot be pickled.
    """
    try:
        data = _dumps(answer)
    except Exception as error:  # whatever an object's own pickling raises
        raise CannotTakeAlongError(_why_not(answer, error)) from None
    if len(data) > MAX_PICKLE_BYTES:
        size = f"{len(data) / 1e6:.0f} MB"
        raise CannotTakeAlongError(
            f"Your answer uses {size} of data from the notebook: too much for a check. Use less."
        )
    return Packed(data, notebook_sources())


def notebook_sources() -> dict[str, str]:
    """Return the text of all cells that ran in this process, the last ones first when there are too many.

    IPython keeps them in `linecache`, as entries that belong to no file on a disk (their time is None).
    """
    found: dict[str, str] = {}
    chars = 0
    for name, entry in reversed(list(linecache.cache.items())):
        if len(entry) == 4 and entry[1] is None:
            text = "".join(entry[2])
            chars += len(text)
            if chars > MAX_SOURCE_CHARS:
                break
            found[name] = text
    return found


def _does_nothing(function: types.FunctionType) -> bool:
    code = function.__code__
    steps = list(dis.get_instructions(code))
    if not set(code.co_names) <= {"NotImplementedError"} or any(step.opname not in _NO_WORK for step in steps):
        return False
    given = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    if any(step.opname == "RAISE_VARARGS" for step in steps):
        return True
    return all(value is None or value is ... for value in given)


def _values(answer: object) -> Iterator[object]:
    if isinstance(answer, Mapping):
        yield from answer.values()
    elif isinstance(answer, list | tuple):
        yield from answer
    elif is_dataclass(answer):
        yield from (getattr(answer, field.name, None) for field in fields(answer))


def _dumps(value: object) -> bytes:
    import cloudpickle  # type: ignore[import-untyped]

    reduce_code = cloudpickle.Pickler.dispatch_table[types.CodeType]

    def reduce_with_file_name(code: types.CodeType) -> tuple[Any, ...]:
        return code_with_file_name, (code.co_filename, *reduce_code(code)[:2])

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Cloudpickle leaves out the file names of code, but the learner's own line is found by them."""

        dispatch_table: ClassVar[Any] = ChainMap(
            {types.CodeType: reduce_with_file_name}, cloudpickle.Pickler.dispatch_table
        )

    buffer = io.BytesIO()
    Pickler(buffer).dump(value)
    return buffer.getvalue()


def code_with_file_name(name: str, make: Callable[..., types.CodeType], args: Sequence[Any]) -> types.CodeType:
    """Return a code object as it was before it was pickled. Its file name is the notebook cell's."""
    return make(*args).replace(co_filename=name)


def _why_not(answer: object, error: Exception) -> str:
    """Name the global or the enclosing function's variable that stands in the way."""
    functions = [value for value in (answer, *_methods(answer)) if isinstance(value, types.FunctionType)]
    for function in functions:
        used = inspect.getclosurevars(function)
        for name, value in {**used.globals, **used.nonlocals}.items():
            try:
                _dumps(value)
            except Exception:
                what = f"{function.__name__} uses `{name}`, of type {type(value).__name__}."
                why = "A check runs your code in a process of its own, where this cannot go along."
                return f"{what} {why} Make it inside the function, or do without it."
    return f"Your answer cannot be copied to the process that checks it: {error}"


def _methods(answer: Any) -> Iterator[object]:
    if isinstance(answer, type):
        yield from vars(answer).values()
