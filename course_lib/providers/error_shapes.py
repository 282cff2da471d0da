"""Which error is it? One recogniser for the error bodies of every provider (chapters 01 and 10).

"Too long" alone comes in more than ten shapes; a harness that misses one of them dies where it could have recovered.
So there is one place that decides, by the machine-readable part first (type, code, status), by words only at last.

    >>> body = {"error": {"type": "invalid_request_error", "message": "prompt is too long: 210 tokens > 200 maximum"}}
    >>> error = error_from_response(400, body)
    >>> type(error).__name__, error.request_tokens, error.limit_tokens
    ('ContextOverflowError', 210, 200)

What this leaves out on purpose: retries (the SDKs do them). A 429 that says "request too large" is still a rate limit
here: it is the account's minute that is too short for the request, not the model's window.
Source: chapters 01 and 10; the words are quoted in public issue threads of 2023 to 2026 (Anthropic, OpenAI, DeepSeek,
Qwen, vLLM, llama.cpp, Ollama, Gemini), the types and statuses in the providers' API references of November 2026.
"""

import json
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from course_lib.errors import (
    AuthenticationError,
    BrokenResponseError,
    ContextOverflowError,
    InvalidRequestError,
    ModelError,
    OverloadedError,
    PairingError,
    RateLimitError,
)

__all__ = ["error_from_response", "without_keys"]

# An error page may be megabytes, and gateways wrap the error of the server behind them, some as JSON inside a string.
_MAX_SHOWN_CHARS, _MAX_READ_CHARS, _MAX_PARSED_CHARS, _MAX_DEPTH = 500, 20_000, 1_000_000, 5

# What an error calls itself, then its HTTP status. The first row that fits wins, all names before all statuses.
_RULES: tuple[tuple[type[ModelError], frozenset[str], frozenset[int]], ...] = (
    (
        ContextOverflowError,
        frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"}),
        frozenset({413}),
    ),
    (  # an unpaid bill is here too: the account may not use the model, and waiting does not change that
        AuthenticationError,
        frozenset(
            {"authentication_error", "permission_error", "invalid_api_key", "billing_error", "insufficient_quota"}
        ),
        frozenset({401, 402, 403}),
    ),
    (RateLimitError, frozenset({"rate_limit_error", "rate_limit_exceeded"}), frozenset({429})),
    (
        OverloadedError,
        frozenset({"overloaded_error", "api_error", "timeout_error", "server_error"}),
        frozenset({408, 409, *range(500, 600)}),
    ),
)
_REFUSED_NAMES = frozenset({"invalid_request_error", "not_found_error"})

# <request>: tokens of the request. <limit>: what would have fitted; where it is not said, <window> less <reserve>.
_OVERFLOW_SENTENCES = (
    # Anthropic
    "prompt is too long: <request> tokens > <limit> maximum",
    "prompt is too long",
    "input length and max_tokens exceed context limit: <request> + <reserve> > <window>",
    "exceed context limit",
    # OpenAI, and DeepSeek and older vLLM in the same words
    "context length is <window> tokens. However, you requested <total> tokens "
    "(<request> in the messages, <reserve> in the completion)",
    "context length is <window> tokens. However, you requested <total> tokens "
    "(<request> in the messages, <functions> in the functions, and <reserve> in the completion)",
    "context length is <limit> tokens. However, your messages resulted in <request> tokens",
    "exceed the configured limit of <limit> tokens. Your messages resulted in <request> tokens",
    "exceeds the context window of this model",
    # vLLM
    "is too large: <reserve>. This model's maximum context length is <window> tokens "
    "and your request has <request> input tokens",
    "context length is <window> tokens. However, you requested <reserve> output tokens "
    "and your prompt contains at least <request> input tokens",
    "prompt (length <request>) is longer than the maximum model length of <limit>",
    # llama.cpp, and Ollama that passes it on
    "request (<request> tokens) exceeds the available context size (<limit> tokens)",
    "exceeds the available context size",
    "prompt too long; exceeded max context length",
    # Qwen (DashScope)
    "range of input length should be [1, <limit>]",
    # Gemini
    "input token count (<request>) exceeds the maximum number of tokens allowed (<limit>)",
    "input token count exceeds the maximum number of tokens allowed",
    # whatever else begins like this
    "maximum context length is <limit> tokens",
)
_PAIRING_SENTENCES = (
    # Anthropic
    "tool_use ids were found without tool_result blocks",
    "unexpected tool_use_id found in tool_result blocks",
    "tool_use ids must be unique",
    "each tool_use must have a single result",
    # OpenAI, and DeepSeek and Qwen in the same words ("preceeding" is how some of them spell it)
    "'tool_calls' must be followed by tool messages",
    "role 'tool' must be a response to a preceeding message",
    "role 'tool' must be a response to a preceding message",
    "duplicate value for 'tool_call_id'",
)
_KEY_LIKE = re.compile(
    r"""(?P<lead>\bbearer\s+ | \bapi[ _-]?key\b[^:=\n]{0,20}[:=]\s*)\S{4,}   # said to be one: "API key provided: ..."
      | \b(?:sk|pk|rk|sess|gsk|xai|hf|nvapi)[-_][\w*.\-]{4,}               # looks like one, also half masked with *
      | \bAIza[\w\-]{10,}""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class _Said:
    """What an error body says, however its server wraps it."""

    words: str = ""
    names: frozenset[str] = frozenset()  # every `type` and `code`, in small letters
    numbers: Mapping[str, int] = field(default_factory=dict)


def error_from_response(
    status: int, body: object, *, headers: Mapping[str, str] | None = None, secrets: Sequence[str] = ()
) -> ModelError:
    """Return the course's error for a provider's refusal. Never raises, whatever the body is.

    Args:
        status: the HTTP status; 200 for an error that arrives inside a stream.
        body: the error body: a dict, JSON text, other text, bytes, or None.
        headers: the response's headers; only `retry-after` and `date` are read.
        secrets: texts that must not stand in the message; what looks like a key is taken out in any case.
    """
    said = _read(body)
    message = without_keys(said.words[:_MAX_READ_CHARS], secrets)
    if len(message) > _MAX_SHOWN_CHARS:
        message = message[:_MAX_SHOWN_CHARS] + "…"
    message = message or f"the server answered with status {status} and no message"
    kind = _kind(status, said)
    if kind is ContextOverflowError:
        request_tokens, limit_tokens = _tokens(said)
        return ContextOverflowError(message, request_tokens=request_tokens, limit_tokens=limit_tokens, status=status)
    if kind is RateLimitError:
        return RateLimitError(message, retry_after_seconds=_retry_after_seconds(headers or {}), status=status)
    if kind is AuthenticationError or status == 404:
        message += " (check the key, the model and the address in the settings)"
    return kind(message, status=status)


def without_keys(text: str, secrets: Sequence[str] = ()) -> str:
    """Return the text with `[key]` in place of the secrets, and of whatever else looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub(lambda found: (found["lead"] or "") + "[key]", text)


def _kind(status: int, said: _Said) -> type[ModelError]:
    told = said.numbers.get("code", 0)
    if not 400 <= status < 600 and 400 <= told < 600:
        status = told  # a server that answers with 200 and means 400
    by_name = (kind for kind, names, _ in _RULES if names & said.names)
    by_status = (kind for kind, _, statuses in _RULES if status in statuses)
    decided = next(by_name, None) or next(by_status, None)
    if decided:
        return decided
    if _find(_OVERFLOW_SENTENCES, said.words):
        return ContextOverflowError
    if _find(_PAIRING_SENTENCES, said.words):
        return PairingError
    refused = 400 <= status < 500 or said.names & _REFUSED_NAMES
    return InvalidRequestError if refused else BrokenResponseError


def _tokens(said: _Said) -> tuple[int | None, int | None]:
    """Tokens of the request and of what would have fitted, as far as the body says them."""
    if "n_ctx" in said.numbers:
        return said.numbers.get("n_prompt_tokens"), said.numbers["n_ctx"]
    found = _find(_OVERFLOW_SENTENCES, said.words)
    groups = found.groupdict() if found else {}
    numbers = {name: int(digits.replace(",", "")) for name, digits in groups.items()}
    request = numbers["request"] + numbers.get("functions", 0) if "request" in numbers else None
    if "window" in numbers:
        return request, numbers["window"] - numbers.get("reserve", 0)
    return request, numbers.get("limit")


def _find(sentences: Iterable[str], words: str) -> re.Match[str] | None:
    """The first of the sentences that stands in the words, whatever its quotes, line ends and capital letters."""
    plain = " ".join(words[:_MAX_READ_CHARS].replace("`", "").replace('"', "'").split())
    patterns = (re.sub(r"<(\w+)>", r"(?P<\1>\\d[\\d,]{0,14})", re.escape(sentence)) for sentence in sentences)
    return next((found for pattern in patterns if (found := re.search(pattern, plain, re.IGNORECASE))), None)


def _read(body: object, depth: int = 0) -> _Said:
    body = _parsed(body)
    if isinstance(body, list | tuple) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return _Said(_plain(body))
    wrapped = body.get("error") or body.get("detail")
    inner = _read(wrapped, depth + 1) if wrapped and depth < _MAX_DEPTH else _Said()
    said = [body[key] for key in ("type", "code") if key in body]
    numbers = {key: body[key] for key in ("code", "n_prompt_tokens", "n_ctx") if type(body.get(key)) is int}
    return _Said(
        inner.words or _plain(body.get("message") or body.get("msg")),
        inner.names | {name.lower() for name in said if isinstance(name, str) and len(name) < 100},
        {**numbers, **inner.numbers},
    )


def _parsed(body: object) -> object:
    """The body, with bytes and JSON text decoded."""
    if isinstance(body, bytes | bytearray):
        body = body[:_MAX_PARSED_CHARS].decode("utf-8", "replace")
    if not isinstance(body, str) or len(body) > _MAX_PARSED_CHARS or body.lstrip()[:1] not in ("{", "[", '"'):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _plain(value: object) -> str:
    """The text; of an error page what stands between its tags, on one line."""
    text = value[:_MAX_READ_CHARS].strip() if isinstance(value, str) else ""
    return " ".join(re.sub(r"<[^<>]*>", " ", text).split()) if re.match(r"<[a-z!?]", text, re.IGNORECASE) else text


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """How long to wait: `retry-after-ms`, or `retry-after` in seconds or as a date; None when it is not said."""
    told = {str(name).lower(): str(value) for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        try:
            seconds = float(told[name]) / unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    until = _timestamp(told.get("retry-after", ""))
    now = _timestamp(told.get("date", "")) or time.time()  # the server's own clock, if it says what time it is
    return max(0.0, until - now) if until is not None else None


def _timestamp(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        return None
