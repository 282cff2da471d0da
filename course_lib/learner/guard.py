"""Notices when an answer replaces parts of Python or of the check itself (chapter 00).

A check runs a learner's code in its own process. A slip such as `builtins.len = …` would then change the judge as well
as the judged, and make a tick worthless.

    >>> import types
    >>> module = types.ModuleType("judge")
    >>> module.weigh = len
    >>> guard = Guard([module])
    >>> module.weigh = print
    >>> guard.undo()
    ['judge.weigh']
    >>> module.weigh is len
    True

What this leaves out on purpose: an answer that is made to deceive. In its own process it can, and fools its author.
Source: chapter 00.
"""

import builtins
import itertools
import operator
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

__all__ = ["Guard"]

_KINDS = (FunctionType, BuiltinFunctionType, type, staticmethod, classmethod, property)
_CODE = ("__code__", "__defaults__", "__kwdefaults__")
_MISSING = object()
# Kept here, since the builtins are what may be replaced.
_vars, _getattr, _setattr, _delattr, _isinstance = vars, getattr, setattr, delattr, isinstance
_all, _map, _is, _repeat, _code_of = all, map, operator.is_, itertools.repeat, operator.attrgetter(*_CODE)


class Guard:
    """Remembers the functions and classes of modules as they are now, and what they are made of.

    Args:
        modules: those to watch. Their other values may change: modules keep counters and caches.
    """

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._before: list[tuple[str, Any, dict[str, Any]]] = []
        self._names = frozenset(_vars(builtins))
        seen: set[int] = set()
        for module in modules:
            self._remember(module.__name__, module, seen)

    def undo(self) -> list[str]:
        """Put back what was replaced; return its names, [] when nothing was."""
        found = []
        for label, owner, before in self._before:
            if not _is_unchanged(owner, before):
                for name, value in before.items():
                    if _now(owner, name) is not value:
                        _setattr(owner, name, value)
                        found.append(f"{label}.{name}")
            if _isinstance(owner, ModuleType) and owner is not builtins:
                # A new global called `len` stands before the builtin.
                for name in [name for name in _vars(owner) if name in self._names and name not in before]:
                    if name[:2] != "__":
                        _delattr(owner, name)
                        found.append(f"{label}.{name}")
        return found

    def _remember(self, label: str, owner: Any, seen: set[int]) -> None:
        values = {name: value for name, value in _vars(owner).items() if _isinstance(value, _KINDS)}
        if _isinstance(owner, ModuleType):
            shadowing = {name: value for name, value in _vars(owner).items() if name in self._names}
            values = shadowing | values if owner is not builtins else values
        self._before.append((label, owner, values))
        for name, value in values.items():
            if id(value) in seen:
                continue
            seen.add(id(value))
            if _isinstance(value, FunctionType):
                self._before.append((f"{label}.{name}", value, {part: _getattr(value, part) for part in _CODE}))
            elif _isinstance(value, type) and value.__flags__ & _HEAP_TYPE:
                self._remember(f"{label}.{name}", value, seen)


_HEAP_TYPE = 1 << 9  # a class made by a `class` statement: only these can be changed


def _is_unchanged(owner: Any, before: dict[str, Any]) -> bool:
    """Whether nothing was replaced. Nearly always; so without a step of Python for each of thousands of values."""
    now = _code_of(owner) if _isinstance(owner, FunctionType) else _map(_vars(owner).get, before, _repeat(_MISSING))
    return _all(_map(_is, now, before.values()))


def _now(owner: Any, name: str) -> Any:
    if _isinstance(owner, FunctionType):
        return _getattr(owner, name)
    return _vars(owner).get(name, _MISSING)
