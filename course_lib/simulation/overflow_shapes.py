"""How servers say "too long", and what only sounds like it: error bodies to recognise (chapter 10).

    >>> from course_lib.errors import ContextOverflowError
    >>> from course_lib.providers.error_shapes import error_from_response
    >>> kinds = {type(error_from_response(shape.status, shape.body)) for shape in OVERFLOW_SHAPES}
    >>> kinds == {ContextOverflowError}
    True

The shapes and their words are quoted in public issue threads (the numbers are those of the threads); names of models
and accounts are left out.
Source: chapter 10; `tests/test_refusals.py` names the threads, which are of 2023 to 2026.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["LOOKALIKE_SHAPES", "OVERFLOW_SHAPES", "ErrorShape"]


@dataclass(frozen=True)
class ErrorShape:
    """One refusal as it comes over the wire; `server` is for tables."""

    server: str
    status: int
    body: object

    @property
    def text(self) -> str:
        """The whole body as one text."""
        return self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)

    @property
    def words(self) -> str:
        """What it says to people."""
        inner = self.body.get("error", self.body) if isinstance(self.body, Mapping) else self.body
        return str(inner.get("message", "")) if isinstance(inner, Mapping) else str(inner)

    @property
    def names(self) -> str:
        """What it calls itself: `type` and `code`, where it says them."""
        inner = self.body.get("error", self.body) if isinstance(self.body, Mapping) else self.body
        found = [inner.get("type"), inner.get("code")] if isinstance(inner, Mapping) else []
        return ", ".join(str(name) for name in found if name)


def _anthropic(status: int, kind: str, message: str) -> ErrorShape:
    return ErrorShape("Anthropic", status, {"type": "error", "error": {"type": kind, "message": message}})


def _openai(server: str, status: int, kind: str, code: str | None, message: str) -> ErrorShape:
    error: dict[str, Any] = {"message": message, "type": kind, "param": None, "code": code}
    return ErrorShape(server, status, {"error": error})


_INVALID, _MAXIMUM = "invalid_request_error", "This model's maximum context length is"

OVERFLOW_SHAPES: tuple[ErrorShape, ...] = (
    _anthropic(400, _INVALID, "prompt is too long: 211180 tokens > 200000 maximum"),
    _anthropic(
        400,
        _INVALID,
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or "
        "`max_tokens` and try again",
    ),
    _anthropic(413, "request_too_large", "Request exceeds the maximum size"),
    _openai(
        "OpenAI",
        400,
        _INVALID,
        "context_length_exceeded",
        f"{_MAXIMUM} 8192 tokens. However, your messages resulted in 8227 tokens. Please reduce the length of the "
        "messages.",
    ),
    _openai(
        "OpenAI",
        400,
        _INVALID,
        "context_length_exceeded",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
    _openai(
        "DeepSeek",
        400,
        _INVALID,
        "invalid_request_error",
        f"{_MAXIMUM} 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the "
        "completion). Please reduce the length of the messages or completion.",
    ),
    _openai(
        "Qwen",
        400,
        _INVALID,
        "invalid_parameter_error",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]",
    ),
    ErrorShape(
        "vLLM",
        400,
        {
            "object": "error",
            "message": f"{_MAXIMUM} 128000 tokens. However, you requested 65535 output tokens and your prompt contains "
            "at least 62466 input tokens, for a total of at least 128001 tokens.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    ErrorShape(
        "llama.cpp",
        400,
        {
            "error": {
                "code": 400,
                "message": "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 14429,
                "n_ctx": 8192,
            }
        },
    ),
    ErrorShape("Ollama", 400, {"error": "prompt too long; exceeded max context length by 17 tokens"}),
    ErrorShape("a proxy before it", 413, "<html><h1>413 Request Entity Too Large</h1></html>"),
)

# Shortening the conversation mends none of these.
LOOKALIKE_SHAPES: tuple[ErrorShape, ...] = (
    _openai(
        "OpenAI",
        429,
        "tokens",
        "rate_limit_exceeded",
        "Request too large for this model on tokens per min (TPM): Limit 30000, Requested 41000.",
    ),
    _anthropic(
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
    ),
    _anthropic(
        400,
        _INVALID,
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model",
    ),
    _openai(
        "OpenAI",
        400,
        _INVALID,
        "string_above_max_length",
        "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but "
        "got a string with length 2086 instead.",
    ),
    _anthropic(529, "overloaded_error", "Overloaded"),
)
