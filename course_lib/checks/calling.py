"""One call of an answer: on copies of the arguments, with what it returned, raised and printed (chapter 00).

    >>> call = make_call(sorted, ([3, 1, 2],), {})
    >>> call.called, call.got, call.error
    ('sorted([3, 1, 2])', [1, 2, 3], None)

What this leaves out on purpose: a time limit. An answer that does not end is ended from outside, with its process.
Source: chapter 00.
"""

import contextlib
import copy
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from course_lib.checks.comparing import difference
from course_lib.checks.showing import call_text, compact, plain_name, short_text, steady

__all__ = ["Call", "error_text", "make_call", "on_call"]

MAX_PRINTED_CHARS = 2_000  # of what one call prints


def on_call(called: str) -> None:
    """Is told of each call before it is made. The worker puts its own in place, to know which call hung."""


@dataclass(frozen=True)
class Call:
    """A call that was made.

    Attributes:
        called: the call as it would be written.
        args: the copies that the answer got.
        kwargs: those that it got by name.
        got: what it returned.
        error: what it raised instead.
        printed: what it printed, the start of it.
    """

    called: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    got: Any
    error: BaseException | None
    printed: str

    def change(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[str, str] | None:
        """Return the arguments as they were given and as they are now, or None when the answer left them alone.

        The answer got copies, so `args` and `kwargs` are still what they were.
        """
        if not difference((*args, dict(kwargs)), (*self.args, dict(self.kwargs)), ignore_objects=True):
            return None
        return call_text("", args, kwargs), call_text("", self.args, self.kwargs)


def make_call(answer: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object]) -> Call:
    """Call the answer, whatever it does."""
    called = call_text(plain_name(answer) if callable(answer) else compact(answer), args, kwargs)
    own_args, own_kwargs = tuple(map(_copy, args)), {key: _copy(value) for key, value in kwargs.items()}
    on_call(called)
    echo: Any = _Echo(sys.stdout)
    got: Any = None
    error: BaseException | None = None
    with contextlib.redirect_stdout(echo), contextlib.redirect_stderr(echo):
        try:
            got = answer(*own_args, **own_kwargs)
        except MemoryError as problem:
            traceback.clear_frames(problem.__traceback__)  # what filled the memory is still held there
            error = problem
        except BaseException as problem:  # sys.exit or pytest.skip in an answer is a wrong answer too
            error = problem
    return Call(called, own_args, own_kwargs, got, error, echo.kept)


def error_text(error: BaseException) -> str:
    """Return an exception as the last line of a traceback shows it, in brief; never fails."""
    try:
        text = steady(error.msg if isinstance(error, SyntaxError) else str(error))  # the rest of it is said elsewhere
    except BaseException:  # an exception class of the learner's may do anything here
        text = ""
    name = type(error).__name__
    return short_text(f"{name}: {text}" if text else name, 400)


def _copy(value: object) -> object:
    try:
        return copy.deepcopy(value)
    except Exception:  # a lock, a generator: the answer gets the thing itself
        return value


class _Echo:
    """A stream that passes on what is printed, and keeps the start of it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.kept = stream, ""

    def write(self, text: str) -> int:
        self.kept += text[: max(0, MAX_PRINTED_CHARS - len(self.kept))]
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
