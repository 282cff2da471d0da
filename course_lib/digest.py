"""A digest of a conversation, written by rules: no model call, and the same every time (chapter 05).

What the user asked for, word for word (the first order and the latest ones); the latest decisions, findings and errors;
the files that were edited; how things stand. A rule knows nothing of meaning: it takes sentences that look like
decisions, and last lines of results.

    >>> from course_lib.messages import ToolUseBlock, assistant, user
    >>> older = (
    ...     user("Fix the parser. Never touch vendor/."),
    ...     assistant("I use the second grammar, because the first one is ambiguous."),
    ...     assistant("Now the edit.", ToolUseBlock("c1", "edit_file", {"path": "parser.py"})),
    ...     user(ToolResultBlock("c1", "edited parser.py")),
    ... )
    >>> print(digest_of(older).text)
    [Digest of 4 older messages, written by rules]
    ## What the user asked for
    - Fix the parser. Never touch vendor/.
    ## Decisions
    - I use the second grammar, because the first one is ambiguous.
    ## Files edited so far
    - parser.py
    ## Current state
    - Last said: Now the edit.

A digest that is folded again is read back, so that folding twice forgets no order and no file.

What this leaves out on purpose: everything that no rule looks for. Compare it with a model's summary in the chapter.
Source: chapter 05; the parts and their numbers are those of an article on agent context management (2026).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from course_lib.history_parts import is_request, messages_covered
from course_lib.messages import Messages, ToolResultBlock, ToolUseBlock, message_text, tool_results, tool_uses
from course_lib.text_cuts import head

__all__ = ["Digest", "digest_of"]

_MOST_ORDERS = 20  # the first and the latest: without a limit, a long conversation would be nothing but its orders
_MOST_CHARS = 1_500  # of one order; other entries have far less
_LINE_CHARS = 160
_DECISION = re.compile(
    r"\b(?:because|decid\w+|lesson|instead|therefore|chose|choose|must|never|always|wrong|the reason)\b", re.IGNORECASE
)
_FIRST_LINE = re.compile(r"\[Digest of \d+ older messages, written by rules\]")
_HEADINGS = {
    "earlier": "An earlier summary",
    "orders": "What the user asked for",
    "decisions": "Decisions",
    "findings": "Findings",
    "errors": "Errors",
    "edited": "Files edited so far",
    "state": "Current state",
}


@dataclass(frozen=True, kw_only=True)
class Digest:
    """What rules found in the older messages: entries of text by heading, oldest first."""

    messages: int
    earlier: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The digest as the model reads it."""
        lines = [f"[Digest of {self.messages} older messages, written by rules]"]
        for name, heading in _HEADINGS.items():
            entries: tuple[str, ...] = getattr(self, name)
            lines += [f"## {heading}"] * bool(entries)
            lines += ["- " + "\n  ".join(entry.splitlines()) for entry in entries]  # no entry can look like a heading
        return "\n".join(lines)


def digest_of(messages: Messages, *, max_decisions: int = 5, max_findings: int = 5, max_errors: int = 3) -> Digest:
    """Return the digest of the messages.

    Args:
        messages: the older part; a digest among them is read back.
        max_decisions: the latest so many are kept.
        max_findings: the same.
        max_errors: the same.
    """
    calls = {call.id: call for message in messages for call in tool_uses(message)}
    results = [result for message in messages for result in tool_results(message)]
    said = [message_text(message) for message in messages if message.role == "assistant" and message_text(message)]
    earlier = [_read_back(message_text(message)) for message in messages if message.kind == "summary"]
    good = [result for result in results if not result.is_error]
    orders = [message_text(message) for message in messages if is_request(message) and message_text(message).strip()]
    found = {
        "earlier": [],
        "orders": [_limited(order, _MOST_CHARS) for order in orders],
        "decisions": [_line(sentence) for text in said for sentence in _sentences(text) if _DECISION.search(sentence)],
        "findings": [_result_line(r, calls) for r in good if r.text.strip() and not _edited(r, calls)],
        "errors": [_result_line(result, calls) for result in results if result.is_error],
        "edited": [path for result in good for path in _edited(result, calls)],
        "state": [f"Last said: {_line(said[-1])}"] if said else [],
    }
    everything = {name: [*(e for old in earlier for e in old.get(name, ())), *found[name]] for name in found}
    most = {"decisions": max_decisions, "findings": max_findings, "errors": max_errors, "state": 1}
    listed = {name: _latest(entries, most.get(name)) for name, entries in everything.items()}
    if len(listed["orders"]) > _MOST_ORDERS:
        listed["orders"] = (listed["orders"][0], *listed["orders"][1 - _MOST_ORDERS :])
    return Digest(messages=messages_covered(messages), **listed)


def _latest(entries: Iterable[str], most: int | None) -> tuple[str, ...]:
    """Each entry once, where it was said last, and the latest `most` of them."""
    unique = list(dict.fromkeys(reversed(list(entries))))[::-1]
    return tuple(unique if most is None else unique[max(0, len(unique) - most) :])


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]


def _line(text: str) -> str:
    return _limited(" ".join(text.split()), _LINE_CHARS)


def _limited(text: str, most_chars: int) -> str:
    return text.strip() if len(text) <= most_chars else f"{head(text, most_chars, len).strip()} […]"


def _result_line(result: ToolResultBlock, calls: Mapping[str, ToolUseBlock]) -> str:
    """Which call, and the line that says how it went: an error's first one, else the last."""
    lines = result.text.strip().splitlines() or [""]
    return f"{_call_name(calls.get(result.tool_use_id))}: {_line(lines[0] if result.is_error else lines[-1])}"


def _call_name(call: ToolUseBlock | None) -> str:
    if call is None:
        return "a tool"
    shown = next((value for value in call.input.values() if isinstance(value, str) and "\n" not in value), "")
    return f"{call.name} {_line(shown)}".strip()


def _edited(result: ToolResultBlock, calls: Mapping[str, ToolUseBlock]) -> list[str]:
    call = calls.get(result.tool_use_id)
    changes = call is not None and re.search(r"edit|write|patch|replace", call.name, re.IGNORECASE)
    path = (call.input.get("path") or call.input.get("file_path")) if call and changes else None
    return [path] if isinstance(path, str) else []


def _read_back(text: str) -> dict[str, list[str]]:
    """The entries of a digest's text, by name; any other summary is one entry."""
    first, *lines = text.split("\n")
    if not _FIRST_LINE.fullmatch(first):
        return {"earlier": [text]}
    names = {f"## {heading}": name for name, heading in _HEADINGS.items()}
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        if line in names:
            current = found.setdefault(names[line], [])
        elif line.startswith("- "):
            current.append(line[2:])
        elif current:
            current[-1] += "\n" + line.removeprefix("  ")
    return found
