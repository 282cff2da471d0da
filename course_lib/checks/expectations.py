"""What a check expects of an answer, and what it says when that is not so (chapter 00).

    >>> def tokens_left(window_tokens, reserve_tokens, used_tokens):
    ...     return window_tokens - used_tokens
    >>> forgotten = Mistake(32_000, "You forgot the reserve.")
    >>> expect(tokens_left, 32_000, 2_000, 0, returns=30_000, mistakes=(forgotten,))
    Traceback (most recent call last):
    course_lib.checks.expectations.Unexpected: called tokens_left(32_000, 2_000, 0)
    expected 30_000
    got 32_000
    likely cause: You forgot the reserve.

`expect` is for one result that is right, `expect_that` for a property that a right result has, `expect_raises` for a
refusal, `expect_value` for an answer that is a value. The first three call the answer on copies, catch what it raises
and prints, and see that it left its arguments alone; they return the result, for a check in several steps.

What this leaves out on purpose: `assert`. It cannot say what was called, nor why it may have gone wrong.
Source: chapter 00.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.checks.calling import Call, error_text, make_call
from course_lib.checks.causes import cause_of_error, cause_of_value
from course_lib.checks.comparing import difference
from course_lib.checks.showing import compact

__all__ = ["Mistake", "Unexpected", "expect", "expect_raises", "expect_that", "expect_value"]

_NOTHING = object()


@dataclass(frozen=True)
class Mistake:
    """A known mistake, and what to say to who made it.

    Attributes:
        when: the value that the mistake leads to; or a function that says of a value whether it comes from the mistake
            (of the arguments too, when it takes more than one); or a class of exceptions that the mistake raises.
        says: the likely cause, in a sentence.
    """

    when: object
    says: str

    def explains(self, got: object, error: BaseException | None = None, args: Sequence[object] = ()) -> bool:
        """Return whether a result (or an exception instead of one) looks like this mistake."""
        if isinstance(self.when, type) and issubclass(self.when, BaseException):
            return isinstance(error, self.when)
        if error is not None:
            return False
        return _ask(self.when, got, args) if callable(self.when) else not _difference(self.when, got)


class Unexpected(AssertionError):  # noqa: N818 (it is read as "Unexpected: called …")
    """An answer did something else than expected.

    Attributes:
        called: the call as it would be written; "" for an answer that is a value.
        expected: the right result, or what is true of it.
        got: the result, or the exception, in brief.
        likely_cause: a sentence; "" when nothing is known.
        difference: the place where expected and got differ; "" when they show it themselves.
        printed: what the call printed.
        error: the exception that the answer raised, if it did.
    """

    def __init__(
        self,
        *,
        called: str = "",
        expected: str = "",
        got: str = "",
        likely_cause: str = "",
        difference: str = "",
        printed: str = "",
        error: BaseException | None = None,
    ) -> None:
        self.called, self.expected, self.got, self.likely_cause = called, expected, got, likely_cause
        self.difference, self.printed, self.error = difference, printed, error
        lines = {"called ": called, "expected ": expected, "got ": got, "difference: ": difference}
        lines["likely cause: "] = likely_cause
        super().__init__("\n".join(name + text for name, text in lines.items() if text))


def expect(
    answer: Callable[..., Any], *args: object, returns: object, mistakes: Sequence[Mistake] = (), **kwargs: object
) -> Any:
    """Call the answer and expect this result; return it.

    Args:
        answer: the learner's function, class or method.
        args: the arguments; the answer gets copies.
        returns: the right result. Types count, but 1 and 1.0 are the same.
        mistakes: known ones, the most telling first.
        kwargs: more arguments, by name.

    Raises:
        Unexpected: another result, an exception, or an argument that was changed.
    """
    call, expected = make_call(answer, args, kwargs), compact(returns)
    differs = "" if call.error else _difference(returns, call.got)
    if call.error is None and not differs:
        return _checked(call, args, kwargs, expected)
    cause = _known(call, mistakes)
    if call.error is None:
        cause = cause or cause_of_value(returns, call.got, printed=call.printed)
        if differs == f"{compact(call.got, max_chars=120)} instead of {compact(returns, max_chars=120)}":
            differs = ""  # anybody sees it
    raise _unexpected(call, expected, cause, differs) from call.error


def expect_that(
    answer: Callable[..., Any],
    *args: object,
    holds: Callable[..., object],
    says: str,
    mistakes: Sequence[Mistake] = (),
    **kwargs: object,
) -> Any:
    """Call the answer and expect that something is true of the result; return it.

    Args:
        answer: the learner's function, class or method.
        args: the arguments; the answer gets copies.
        holds: gets the result, and the copies too when it takes more than one argument. An exception means no.
        says: what is true, as it follows on "expected": "every call keeps its result".
        mistakes: known ones, the most telling first.
        kwargs: more arguments, by name.

    Raises:
        Unexpected: it is not true, an exception, or an argument that was changed.
    """
    call = make_call(answer, args, kwargs)
    if call.error is None and _ask(holds, call.got, call.args):
        return _checked(call, args, kwargs, says)
    cause = _known(call, mistakes)
    if call.error is None and (call.got is None or call.got is ...):
        cause = cause or cause_of_value(_NOTHING, call.got)
    raise _unexpected(call, says, cause) from call.error


def expect_raises(
    answer: Callable[..., Any],
    *args: object,
    raises: type[Exception],
    mistakes: Sequence[Mistake] = (),
    **kwargs: object,
) -> Exception:
    """Call the answer and expect it to refuse with this exception (or a subclass of it); return the exception.

    Raises:
        Unexpected: a result, another exception, or an argument that was changed.
    """
    call, expected = make_call(answer, args, kwargs), f"the exception {raises.__name__}"
    if isinstance(call.error, raises):
        _checked(call, args, kwargs, expected)
        return call.error
    raise _unexpected(call, expected, _known(call, mistakes)) from call.error


def expect_value(
    value: object,
    *,
    equals: object = _NOTHING,
    near: tuple[float, float] | None = None,
    holds: Callable[[Any], object] | None = None,
    says: str = "",
    mistakes: Sequence[Mistake] = (),
) -> None:
    """Expect something of an answer that is a value: a predicted number, or settings.

    Args:
        value: the answer.
        equals: the right value; or
        near: the right number, and how far off it the answer may be as a share of it (0.1 is 10 %); or
        holds: says whether the value is right.
        says: what is expected, in words; needed with `holds`. With `near` the number is not given away.
        mistakes: known ones, the most telling first.

    Raises:
        Unexpected: it is not right.
        TypeError: not just one of `equals`, `near` and `holds`, or `holds` without `says`.
    """
    if sum((equals is not _NOTHING, near is not None, holds is not None)) != 1 or (holds and not says):
        raise TypeError("expect_value needs one of `equals`, `near` and `holds`; with `holds` also `says`")
    if near is not None:
        number, share = near
        is_right = type(value) in (int, float) and abs(value - number) <= share * abs(number)  # type: ignore[operator]
        equals, says = number, says or f"a number within {share:.0%} of the right one"
    else:
        is_right = _ask(holds, value, ()) if holds else not _difference(equals, value)
    if is_right:
        return
    cause = next((mistake.says for mistake in mistakes if mistake.explains(value)), "")
    if not cause:
        is_empty = value is None or value is ...
        cause = "Put your answer in its place." if is_empty else cause_of_value(equals, value)
    raise Unexpected(expected=says or compact(equals), got=compact(value), likely_cause=cause)


def _checked(call: Call, args: Sequence[object], kwargs: Mapping[str, object], expected: str) -> Any:
    """Return a result that is right, after a look at the arguments."""
    change = call.change(args, kwargs)
    if change is None:
        return call.got
    raise Unexpected(
        called=call.called,
        expected=f"{expected}, and its input left as it was: {change[0]}",
        got=f"it changed its input: {change[1]}",
        likely_cause="It changed its input, which whoever called it still needs. Make a new value instead.",
        printed=call.printed,
    )


def _unexpected(call: Call, expected: str, likely_cause: str, differs: str = "") -> Unexpected:
    return Unexpected(
        called=call.called,
        expected=expected,
        got=error_text(call.error) if call.error else compact(call.got),
        likely_cause=likely_cause,
        difference=differs,
        printed=call.printed,
        error=call.error,
    )


def _known(call: Call, mistakes: Sequence[Mistake]) -> str:
    known = (mistake.says for mistake in mistakes if mistake.explains(call.got, call.error, call.args))
    return next(known, cause_of_error(call.error) if call.error else "")


def _difference(expected: object, got: object) -> str:
    try:
        return difference(expected, got)
    except RecursionError:
        return "nested too deeply to be compared"


def _ask(question: Any, got: object, args: Sequence[object]) -> bool:
    """Whether a predicate holds; one that cannot even be computed for such a value does not."""
    try:
        takes_args = len(inspect.signature(question).parameters) > 1
        return bool(question(got, *args) if takes_args else question(got))
    except Exception:
        return False
