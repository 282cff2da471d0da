"""How would this provider refuse the request? In its own words, without asking it (chapter 01).

`check_request_as` is as strict as `course_lib.client.check_request`, but the refusal is first built as the provider's
real error body and then recognised like one that came over the wire, so the offline model fails exactly like the API.

    >>> from course_lib.messages import user
    >>> from course_lib.tokens import MessageCounter, chars_counter
    >>> request = Request(messages=(user("x" * 4_000),), max_tokens=100)
    >>> status, body = refusal_body("anthropic", request, window_tokens=500, counter=MessageCounter(chars_counter(4)))
    >>> status, body["error"]["message"]
    (400, 'prompt is too long: 1004 tokens > 500 maximum')

What one provider refuses and the other is known to take: OpenAI does not mind when a later turn uses a call's id again.
What is refused here though a provider takes it (OpenAI: the assistant first or last, empty content) is told in the
course's own words, since that provider has none.

What this leaves out on purpose: limits on images, names and schemas.
Source: chapter 01; the words are quoted in public issue threads of 2023 to 2026, see `tests/test_refusals.py`.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from course_lib.client import Request
from course_lib.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from course_lib.providers.error_shapes import error_from_response
from course_lib.tokens import MessageCounter
from course_lib.tool_pairs import find_pair_faults
from course_lib.wire_openai import to_openai

__all__ = ["Dialect", "check_request_as", "error_from_response", "refusal_body"]

Dialect = Literal["anthropic", "openai"]
Refusal: TypeAlias = tuple[int, dict[str, Any]]
_Problem: TypeAlias = tuple[str, Mapping[str, Any]]  # a key of the tables below, and what its words name

_MISSING = (
    "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
_UNEXPECTED = (
    "messages.{index}.content.{block}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. "
    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
)
_NOT_UNIQUE = "messages.{index}.content.{block}: `tool_use` ids must be unique"
_ANTHROPIC: dict[str, str] = {
    "no_message": "messages: at least one message is required",
    "assistant_first": 'messages: first message must use the "user" role',
    "assistant_last": (
        "This model does not support assistant message prefill. The conversation must end with a user message."
    ),
    "no_content": (
        "messages.{index}: all messages must have non-empty content except for the optional final assistant message"
    ),
    "empty_text": "messages: text content blocks must be non-empty",
    "blank_text": "messages: text content blocks must contain non-whitespace text",
    "tool_names": "tools: Tool names must be unique.",
    "missing_result": _MISSING,
    "pending_call": _MISSING,
    "results_not_first": _MISSING,
    "orphan_result": _UNEXPECTED,
    "late_result": _UNEXPECTED,
    "duplicate_call": _NOT_UNIQUE,
    "reused_id": _NOT_UNIQUE,
    "duplicate_result": (
        "messages.{index}.content.{block}: each tool_use must have a single result. "
        "Found multiple `tool_result` blocks with id: {id}"
    ),
    "too_long": "prompt is too long: {tokens} tokens > {window} maximum",
    "no_room": (
        "input length and `max_tokens` exceed context limit: {tokens} + {max_tokens} > {window}, "
        "decrease input length or `max_tokens` and try again"
    ),
}

_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {ids}"
)
_UNASKED = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
_TWICE = (
    "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{earlier}] and messages[{later}]."
)
_TOO_LONG = (
    "This model's maximum context length is {window} tokens. However, you requested {total} tokens "
    "({messages} in the messages, {functions}{max_tokens} in the completion). "
    "Please reduce the length of the messages or completion."
)
_ROLE = "messages.[{record}].role"
_OPENAI: dict[str, tuple[str, str, str | None]] = {  # words, param, code
    "no_message": (
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "messages",
        "empty_array",
    ),
    "assistant_first": ("(course) the first message is the assistant's: start with a user message", _ROLE, None),
    "assistant_last": ("(course) the last message is the assistant's: end with a user message", _ROLE, None),
    "no_content": ("(course) a message has no content: leave it out", "messages.[{record}].content", None),
    "empty_text": ("(course) a text is empty: leave it out", "messages.[{record}].content", None),
    "blank_text": ("(course) a text is blank: leave it out", "messages.[{record}].content", None),
    "tool_names": ("Tool names must be unique.", "tools", None),
    "missing_result": (_UNANSWERED, _ROLE, None),
    "pending_call": (_UNANSWERED, _ROLE, None),
    "results_not_first": (_UNANSWERED, _ROLE, None),
    "orphan_result": (_UNASKED, _ROLE, None),
    "late_result": (_UNASKED, _ROLE, None),
    "duplicate_call": (_TWICE, "messages.[{later}].tool_call_id", None),
    "duplicate_result": (_TWICE, "messages.[{later}].tool_call_id", None),
    "too_long": (_TOO_LONG, "messages", "context_length_exceeded"),
    "no_room": (_TOO_LONG, "messages", "context_length_exceeded"),
}


def check_request_as(dialect: Dialect, request: Request, *, window_tokens: int, counter: MessageCounter) -> int:
    """Return the request's tokens, or raise what the provider's refusal of it becomes.

    Args:
        dialect: whose words to use.
        request: the whole request.
        window_tokens: tokens of the window, request and answer together.
        counter: how the request is counted.

    Raises:
        PairingError, ContextOverflowError, InvalidRequestError: as `course_lib.client.check_request`.
    """
    refusal = refusal_body(dialect, request, window_tokens=window_tokens, counter=counter)
    if refusal is not None:
        raise error_from_response(*refusal)
    return counter.request(request.messages, system=request.system, tools=request.tools)


def refusal_body(dialect: Dialect, request: Request, *, window_tokens: int, counter: MessageCounter) -> Refusal | None:
    """Return the HTTP status and the error body of the provider's refusal; None when it would take the request."""
    problem = (
        _shape_problem(request) or _pair_problem(dialect, request) or _length_problem(request, window_tokens, counter)
    )
    if problem is None:
        return None
    key, names = problem
    if dialect == "anthropic":
        error = {"type": "invalid_request_error", "message": _ANTHROPIC[key].format(**names)}
        return 400, {"type": "error", "error": error}
    words, param, code = _OPENAI[key]
    names = {**names, **_places_in_records(request, names)}
    error = {"message": words.format(**names), "type": "invalid_request_error"}
    return 400, {"error": {**error, "param": param.format(**names), "code": code}}


def _shape_problem(request: Request) -> _Problem | None:
    messages = request.messages
    if not messages:
        return "no_message", {}
    for key, index in (("assistant_first", 0), ("assistant_last", len(messages) - 1)):
        if messages[index].role != "user":
            return key, {"index": index}
    for index, message in enumerate(messages):
        if not message.content:
            return "no_content", {"index": index}
        texts = [block.text for block in message.content if isinstance(block, TextBlock)]
        if not all(texts):
            return "empty_text", {"index": index}
        if not all(text.strip() for text in texts):
            return "blank_text", {"index": index}
    if len({tool.name for tool in request.tools}) < len(request.tools):
        return "tool_names", {}
    return None


def _pair_problem(dialect: Dialect, request: Request) -> _Problem | None:
    faults = [f for f in find_pair_faults(request.messages) if dialect == "anthropic" or f.kind != "reused_id"]
    if not faults:
        return None
    first = faults[0]
    same = [f.tool_use_id for f in faults if (f.kind, f.message_index) == (first.kind, first.message_index)]
    index = first.message_index - (first.kind == "results_not_first")  # told of the calls that it comes after
    places = _blocks_with_id(request.messages[first.message_index], first.tool_use_id)
    names = {"index": index, "first_block": places[0], "block": places[-1], "id": first.tool_use_id}
    return first.kind, {**names, "ids": ", ".join(same)}


def _blocks_with_id(message: Message, tool_use_id: str) -> list[int]:
    return [
        index
        for index, block in enumerate(message.content)
        if (isinstance(block, ToolUseBlock) and block.id == tool_use_id)
        or (isinstance(block, ToolResultBlock) and block.tool_use_id == tool_use_id)
    ]


def _length_problem(request: Request, window_tokens: int, counter: MessageCounter) -> _Problem | None:
    tokens = counter.request(request.messages, system=request.system, tools=request.tools)
    total = tokens + request.max_tokens
    if total <= window_tokens:
        return None
    functions = sum(map(counter.tool, request.tools))
    names = {
        "tokens": tokens,
        "messages": tokens - functions,
        "functions": f"{functions} in the functions, and " if functions else "",
        "max_tokens": request.max_tokens,
        "total": total,
        "window": window_tokens,
    }
    return ("too_long" if tokens > window_tokens else "no_room"), names


def _places_in_records(request: Request, names: Mapping[str, Any]) -> dict[str, int]:
    """Where message `index` stands among OpenAI's records, where the system prompt and each result are records too."""
    if "index" not in names:
        return {}
    message = request.messages[names["index"]]
    start = len(to_openai(request.messages[: names["index"]], system=request.system))
    if message.role == "assistant":  # its results follow, so two calls of one id have their results there
        return {"record": start, "earlier": start + 1, "later": start + 2}
    earlier, later = (
        start + sum(isinstance(block, ToolResultBlock) for block in message.content[: names.get(key, 0)])
        for key in ("first_block", "block")
    )
    return {"record": later, "earlier": earlier, "later": later}
