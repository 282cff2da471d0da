"""Small helpers for logs in which any field may be missing, null or of another type than it should be.

What this leaves out on purpose: judging. A wrong value counts as a missing one here; readers say so where it matters.
Source: chapter 04; the names of the usage fields are those of the providers' API references, November 2026.
"""

import json
from collections.abc import Mapping
from typing import Any

from course_lib.errors import MessageFormatError
from course_lib.messages import ToolSpec, Usage

__all__ = [
    "anthropic_usage",
    "as_list",
    "as_mapping",
    "as_text",
    "count",
    "dump",
    "gemini_usage",
    "openai_usage",
    "optional_count",
    "pi_usage",
    "tool_specs",
]


def as_mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def optional_count(value: object) -> int | None:
    """The value if it is a number of something, whole and not negative; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        return None
    return int(value)


def count(value: object) -> int:
    """The value if it is a number of something, else 0."""
    return optional_count(value) or 0


def dump(value: object) -> str:
    """The value as JSON text, however strange it is."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return f"[a {type(value).__name__} that is nested too deeply to be written]"


def anthropic_usage(raw: object) -> Usage:
    """Anthropic's usage, whose buckets are disjoint already."""
    usage = as_mapping(raw)
    return Usage(
        input_tokens=count(usage.get("input_tokens")),
        cache_read_tokens=count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=count(usage.get("cache_creation_input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
    )


def openai_usage(raw: object) -> Usage:
    """The usage of Chat Completions, Responses or Codex, with the cached part taken out of the input."""
    usage = as_mapping(raw)
    details = as_mapping(usage.get("prompt_tokens_details")) or as_mapping(usage.get("input_tokens_details"))
    total = count(usage.get("prompt_tokens")) or count(usage.get("input_tokens"))
    names = (
        usage.get("cached_input_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cache_read_input_tokens"),
    )
    read = min(total, count(details.get("cached_tokens")) or next((count(name) for name in names if count(name)), 0))
    written = min(total - read, count(usage.get("cache_creation_input_tokens")))
    output = count(usage.get("completion_tokens")) or count(usage.get("output_tokens"))
    return Usage(total - read - written, read, written, output)


def gemini_usage(raw: object) -> Usage:
    """Gemini CLI's tokens: cached inside input; thoughts and tool prompts apart."""
    tokens = as_mapping(raw)
    total = count(tokens.get("input"))
    read = min(total, count(tokens.get("cached")))
    return Usage(
        input_tokens=total - read + count(tokens.get("tool")),
        cache_read_tokens=read,
        output_tokens=count(tokens.get("output")) + count(tokens.get("thoughts")),
    )


def pi_usage(raw: object) -> Usage:
    """Pi's usage, whose buckets are disjoint already."""
    usage = as_mapping(raw)
    return Usage(*(count(usage.get(name)) for name in ("input", "cacheRead", "cacheWrite", "output")))


def tool_specs(raw: object) -> tuple[ToolSpec, ...]:
    """Tool definitions of any of the APIs; what is none is left out."""
    specs = []
    for tool in as_list(raw):
        entry = as_mapping(as_mapping(tool).get("function")) or as_mapping(tool)
        schema: object = next((entry[key] for key in ("input_schema", "parameters", "inputSchema") if key in entry), {})
        name = as_text(entry.get("name")) or as_text(entry.get("type"))
        if name:
            try:
                specs.append(ToolSpec(name, as_text(entry.get("description")), as_mapping(schema)))
            except MessageFormatError:
                specs.append(ToolSpec(name, as_text(entry.get("description")), {}))
    return tuple(specs)
