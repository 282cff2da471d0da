"""Where two values differ, in words (chapter 00).

    >>> difference([1, 2, 3], [1, 5, 3])
    'at [1]: 5 instead of 2'
    >>> difference((1, 2), [1, 2])
    'a list instead of a tuple'
    >>> difference({"a": 1}, {"a": 1})
    ''

Types count: a list is no tuple, and 1 is not True. Only whole numbers and decimal numbers may stand for each other.
So a value is compared piece by piece, and no `__eq__` that a learner wrote decides.

What this leaves out on purpose: every difference but the first.
Source: chapter 00.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

from course_lib.checks.showing import compact
from course_lib.messages import Message

__all__ = ["difference", "is_same"]


def is_same(expected: object, got: object) -> bool:
    """Return whether the two are equal, in the sense of `difference`."""
    return not difference(expected, got)


def difference(expected: object, got: object, *, place: str = "", ignore_objects: bool = False) -> str:
    """Return the first place where `got` differs from `expected`, and how; "" if nowhere.

    Args:
        expected: the value that is right.
        got: the one that is looked at.
        place: what the text says about where both stand, such as `[1].text`.
        ignore_objects: two objects of one class that does not say what equal means (no `__eq__`) count as equal.

    Raises:
        RecursionError: the values are nested too deeply.
    """
    if expected is got:
        return ""
    if _is_number(expected) and _is_number(got):
        return "" if expected == got or (expected != expected and got != got) else _instead(expected, got, place)
    if type(expected) is not type(got):
        return _other_type(expected, got, place)
    if is_dataclass(expected) and not isinstance(expected, type):
        compared = [field.name for field in fields(expected) if field.compare]
        parts = [(f"{place}.{name}", getattr(expected, name), getattr(got, name)) for name in compared]
        found = _first(parts, ignore_objects)
        is_seen = isinstance(expected, Message) and compact(expected) != compact(got)
        return _instead(expected, got, place) if found and is_seen else found
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _in_mappings(expected, got, place, ignore_objects)
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return _in_sequences(expected, got, place, ignore_objects)
    if ignore_objects and type(expected).__eq__ is object.__eq__:
        return ""
    return "" if expected == got else _instead(expected, got, place)


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _in_sequences(expected: Sequence[object], got: Sequence[object], place: str, ignore_objects: bool) -> str:
    pairs = enumerate(zip(expected, got, strict=False))
    found = _first([(f"{place}[{i}]", one, other) for i, (one, other) in pairs], ignore_objects)
    if not found and len(expected) != len(got):
        return f"{_at(place)}{len(got)} {'item' if len(got) == 1 else 'items'} instead of {len(expected)}"
    return found


def _in_mappings(
    expected: Mapping[object, object], got: Mapping[object, object], place: str, ignore_objects: bool
) -> str:
    for words, keys, others in (("is missing", expected, got), ("is too much", got, expected)):
        lonely = next((key for key in keys if key not in others), None)
        if lonely is not None:
            return f"{_at(place)}{compact(lonely)} {words}"
    return _first([(f"{place}[{compact(key)}]", expected[key], got[key]) for key in expected], ignore_objects)


def _first(parts: list[tuple[str, object, object]], ignore_objects: bool) -> str:
    found = (difference(one, other, place=place, ignore_objects=ignore_objects) for place, one, other in parts)
    return next(filter(None, found), "")


def _instead(expected: object, got: object, place: str) -> str:
    if isinstance(expected, str) and isinstance(got, str) and len(expected) + len(got) > 80:
        start = next((i for i, pair in enumerate(zip(expected, got, strict=False)) if pair[0] != pair[1]), None)
        start = min(len(expected), len(got)) if start is None else start
        from_there = f"{got[start:][:30]!r} instead of {expected[start:][:30]!r}"
        return f"{_at(place)}from character {start} on {from_there}"
    return f"{_at(place)}{compact(got, max_chars=120)} instead of {compact(expected, max_chars=120)}"


def _other_type(expected: object, got: object, place: str) -> str:
    wanted, given = (type(value).__name__ for value in (expected, got))
    if wanted == given or None in (expected, got) or _is_number(expected):
        shown = _instead(expected, got, place)
        return f"{shown} (of another class {given})" if wanted == given else shown
    return f"{_at(place)}{_article(given)} {given} instead of {_article(wanted)} {wanted}"


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeiou" else "a"


def _at(place: str) -> str:
    return f"at {place}: " if place else ""
