"""How a check shows a value: in brief, and the same in every run (chapter 00).

    >>> from course_lib.messages import ToolResultBlock, ToolUseBlock, assistant, user
    >>> call = assistant(ToolUseBlock("c1", "read_file", {"path": "a.txt"}))
    >>> compact((user("go"), call, user(ToolResultBlock("c1", "hello"))))
    "[user 'go', assistant c1:read_file, results c1]"
    >>> compact(list(range(100)))
    '[0, 1, 2, 3, 4, 5, … 93 more …, 99]'

What this leaves out on purpose: everything that differs from run to run, such as memory addresses and the order of
sets, and everything long. Two values that look alike here may differ; `course_lib.checks.comparing` says where.
Source: chapter 00.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import TypeVar

from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["call_text", "compact", "short_text", "steady"]

MAX_CHARS = 400  # of a whole value
MAX_TEXT_CHARS = 60  # of one string in it
MAX_ITEMS = 8  # of one sequence in it
MAX_DEPTH = 5
_BLOCKS = (TextBlock, ThinkingBlock, ToolUseBlock, ToolResultBlock, ImageBlock, DocumentBlock, RawBlock)
_T = TypeVar("_T")
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)


def compact(value: object, *, max_chars: int = MAX_CHARS) -> str:
    """Return a value as a short text, in Python's notation where there is one, a conversation in a shorter one.

    It never fails: a value whose own `repr` does is shown as its type.
    """
    try:
        text = _show(value, 0)
    except BaseException:  # the value may be of a learner's class, whose __repr__ may do anything
        text = f"<{type(value).__name__}>"
    return short_text(text, max_chars)


def call_text(name: str, args: Iterable[object], kwargs: Mapping[str, object]) -> str:
    """Return a call as it would be written: `tokens_left(32_000, 2_000, used_tokens=0)`."""
    shown = [compact(value, max_chars=200) for value in args]
    shown += [f"{key}={compact(value, max_chars=200)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(shown)})"


def short_text(text: str, max_chars: int) -> str:
    """Return the text, or its start and end with how much was left out between."""
    if len(text) <= max_chars:
        return text
    tail = max_chars // 4
    head = max_chars - tail
    return f"{text[:head]} … {len(text) - head - tail} characters … {text[-tail:]}"


def steady(text: str) -> str:
    """Return the text without memory addresses, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]{4,}|\b0x[0-9a-fA-F]{8,}\b", "", text)


def _show(value: object, depth: int) -> str:
    if isinstance(value, bool) or value is None:
        return repr(value)
    if value is ...:
        return "..."
    if isinstance(value, int):
        return _show_int(value)
    if isinstance(value, str):
        return _show_str(value, MAX_TEXT_CHARS)
    if isinstance(value, bytes):
        return f"b{_show_str(value.decode('latin-1'), MAX_TEXT_CHARS)}"
    if isinstance(value, Message):
        return _show_message(value)
    if isinstance(value, _BLOCKS):
        return _show_block(value)
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        return _show_collection(value, depth)
    return _show_object(value, depth)


def _show_int(value: int) -> str:
    if value.bit_length() > 200:  # Python refuses to write very long ones
        return f"<an integer of {value.bit_length():_} bits>"
    return f"{value:_}" if abs(value) >= 1_000 else f"{value:d}"


def _show_str(value: str, max_chars: int) -> str:
    if len(value) <= max_chars:
        return repr(value)
    return f"{value[:max_chars]!r} … {len(value) - max_chars} more characters"


def _show_collection(value: object, depth: int) -> str:
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        pairs = [(key, value[key]) for key in _ends(list(value))]
        return "{" + _join([f"{_show(k, depth + 1)}: {_show(v, depth + 1)}" for k, v in pairs], len(value)) + "}"
    if isinstance(value, set | frozenset):
        shown = sorted(_show(item, depth + 1) for item in value)
        return "{" + _join(_ends(shown), len(value)) + "}" if value else "set()"
    assert isinstance(value, list | tuple)
    shown = [_show(item, depth + 1) for item in _ends(value)]
    is_conversation = bool(value) and all(isinstance(item, Message) for item in value)
    if isinstance(value, list) or is_conversation:
        return f"[{_join(shown, len(value))}]"
    return f"({_join(shown, len(value))}{',' if len(value) == 1 else ''})"


def _ends(items: "Sequence[_T]") -> "list[_T]":
    """The items that are shown: all when there are few, else the first ones and the last."""
    return list(items) if len(items) <= MAX_ITEMS else [*items[: MAX_ITEMS - 2], items[-1]]


def _join(shown: list[str], count: int) -> str:
    if count > len(shown):
        shown = [*shown[:-1], f"… {count - len(shown)} more …", shown[-1]]
    return ", ".join(shown)


def _show_message(message: Message) -> str:
    only_results = all(isinstance(block, ToolResultBlock) for block in message.content)
    kind = "" if message.kind == "chat" else f"({message.kind})"
    if message.content and only_results:
        return " ".join([f"results{kind}", *(_show_block(block).removeprefix("result ") for block in message.content)])
    return " ".join([f"{message.role}{kind}", *(map(_show_block, message.content) if message.content else ["(empty)"])])


def _show_block(block: Block) -> str:
    match block:
        case TextBlock():
            return _show_str(block.text, 30)
        case ToolUseBlock():
            return f"{block.id}:{block.name}"
        case ToolResultBlock():
            return f"result {block.tool_use_id}{' (error)' if block.is_error else ''}"
        case _:
            return type(block).__name__.removesuffix("Block").lower()


def _show_object(value: object, depth: int) -> str:
    name = type(value).__name__
    if isinstance(value, type | ModuleType):
        return value.__name__
    if isinstance(value, _FUNCTIONS):
        return plain_name(value)
    if isinstance(value, GeneratorType):
        return f"<generator {value.__name__}>"
    if is_dataclass(value) and depth < MAX_DEPTH:
        shown = [
            f"{field.name}={_show(getattr(value, field.name), depth + 1)}" for field in fields(value) if field.repr
        ]
        return f"{name}({', '.join(shown)})"
    if type(value).__repr__ is object.__repr__:
        return f"<{name}>"
    return steady(repr(value))


def plain_name(function: "Callable[..., object] | object") -> str:
    """Return a function's or class's name, for a method with its class, without the function it was made in."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).rpartition("<locals>.")[2]
