"""What is usually behind a wrong result, whatever the exercise (chapter 00).

An exercise's own known mistakes come first (`Mistake` in `expectations`); these are the ones that everybody makes.

    >>> cause_of_value(30_000, None)
    'Your function ends without a `return`.'

What this leaves out on purpose: guessing. Where nothing is known, nothing is said.
Source: chapter 00.
"""

import builtins
import difflib
from types import CoroutineType, GeneratorType, TracebackType

from course_lib.checks.comparing import is_same

__all__ = ["DOTS", "cause_of_error", "cause_of_value"]

DOTS = "Three dots still stand in your code: replace them."


def cause_of_value(expected: object, got: object, *, printed: str = "") -> str:
    """Return the likely cause of a wrong value in a sentence, "" when none is known.

    Args:
        expected: the right value.
        got: the value that was returned.
        printed: what the call printed.
    """
    if got is ...:
        return DOTS
    if got is None:
        if printed.strip() and printed.strip() in (str(expected), repr(expected)):
            return "Your function prints the result: it should return it."
        return "Your function ends without a `return`."
    if isinstance(got, GeneratorType):
        return "With `yield` your function gives a generator: collect its values, for example with `tuple(…)`."
    if isinstance(got, CoroutineType):
        got.close()  # or Python complains later that nobody waited for it
        return "With `async` your function gives a coroutine: a plain `def` is wanted here."
    if type(expected) is type(got) or callable(got):
        return "Your function returns a function: did you forget to call it?" if callable(got) else ""
    return _cause_in_type(expected, got)


def _cause_in_type(expected: object, got: object) -> str:
    name = type(expected).__name__
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple) and is_same(list(expected), list(got)):
        return f"The items are right, but they should be in a {name}: `{name}(…)` makes one."
    if isinstance(got, str) and not isinstance(expected, str) and got == str(expected):
        return f"It is a text that looks right; a value of type {name} is wanted."
    if isinstance(got, tuple) and len(got) == 1 and is_same(expected, got[0]):
        return "It is right, but in a tuple: is there a comma too much behind it?"
    if isinstance(expected, bool) and got in (0, 1):
        return "True or False is wanted, not a number."
    return ""


def cause_of_error(error: BaseException) -> str:
    """Return the likely cause of an exception in a learner's code in a sentence, "" when none is known."""
    text = str(error) if type(error) is TypeError else ""  # of a learner's own class, it may be anything
    match error:
        case NotImplementedError():
            return "The stub's `raise NotImplementedError` still stands in your code: replace it."
        case TypeError() if "ellipsis" in text:
            return DOTS
        case TypeError() if "positional argument" in text or "keyword argument" in text:
            return "Keep the names and the order of the parameters as they are in the task."
        case TypeError() if "NoneType" in text:
            return "Something is None here: look for a function without `return`."
        case RecursionError():
            return "A function calls itself and comes to no end: when should it stop?"
        case MemoryError():
            return "Your code uses more memory than a check has: does a list grow without end?"
        case SystemExit():
            return "`exit()` ends the whole program: use `return` instead."
        case NameError(name=str(name)) if name:
            close = difflib.get_close_matches(name, _known_names(error.__traceback__), n=1, cutoff=0.7)
            return f"A slip of the pen? There is a name `{close[0]}`." if close else ""
    return ""


def _known_names(traceback: TracebackType | None) -> list[str]:
    """The names that could have been meant where an exception came from."""
    if traceback is None:
        return []
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    return sorted({*frame.f_code.co_varnames, *frame.f_globals, *filter(str.islower, dir(builtins))})
