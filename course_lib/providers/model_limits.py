"""How much a model holds: one dated table, and a question to the provider (chapter 04).

Windows change faster than code. So there is one table, `data/model_limits.json`, with the day on which it was looked
up; `settings` takes a model's window from it, unless COURSE_WINDOW_TOKENS says otherwise. A row names the beginning of
a model's name: what follows must be a new word, so that the window of a 4 is never taken for that of a 4.5.

    >>> limits = table_limits("a-model-of-tomorrow")
    >>> limits.context_tokens, limits.source
    (128000, 'default')
    >>> limits.note.partition(":")[0]
    "'a-model-of-tomorrow' is not in the table of 2026-11-30"

The provider knows better, where it says: `look_up_limits` asks it, and falls back to the table.

What this leaves out on purpose: windows of servers of your own. Only who started them knows (`COURSE_WINDOW_TOKENS`).
Source: chapter 04; the numbers are those of the providers' model pages, the answer is that of Anthropic's Models API,
November 2026.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import httpx2

    from course_lib.providers.settings import ProviderSettings

__all__ = ["ModelLimits", "limits_of", "look_up_limits", "table_limits"]

TABLE = Path(__file__).parents[1] / "data" / "model_limits.json"
WAY_OUT = "set COURSE_WINDOW_TOKENS if you know better"


@dataclass(frozen=True, kw_only=True)
class ModelLimits:
    """What a model holds, in tokens, and where the numbers come from, in a word and in a sentence."""

    context_tokens: int
    max_output_tokens: int
    source: Literal["provider", "table", "default", "settings"]
    note: str


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def table_limits(model: str) -> ModelLimits:
    """Return what the table says of the model; a default that says so where it says nothing.

    The longest row wins. A router's prefix ("vendor/model") is left out.
    """
    name, table = model.lower().rpartition("/")[2], _table()
    rows = [row for row in table["models"] if _begins_with(name, row["prefix"])]
    row = max(rows, key=lambda row: len(row["prefix"]), default=table["default"])
    numbers = {key: int(row[key]) for key in ("context_tokens", "max_output_tokens")}
    window = f"{numbers['context_tokens']:,} tokens"
    if rows:
        note = f"{model!r} holds {window}, by the table of {table['as_of']} (row {row['prefix']!r}): {WAY_OUT}"
        return ModelLimits(**numbers, source="table", note=note)
    note = f"{model!r} is not in the table of {table['as_of']}: {window} are assumed; {WAY_OUT}"
    return ModelLimits(**numbers, source="default", note=note)


def _begins_with(name: str, prefix: str) -> bool:
    rest = name[len(prefix) :]
    return name.startswith(prefix) and not (rest[:1].isalnum() or rest[:1] == ".")


def limits_of(settings: "ProviderSettings") -> ModelLimits:
    """Return what the model of these settings holds as far as they know: the table's word, or what was set."""
    limits = table_limits(settings.model)
    if settings.provider != "offline" and settings.window_tokens == limits.context_tokens:
        return limits
    said = "it is told to hold" if settings.provider == "offline" else f"{settings.window_tokens:,} tokens, as set"
    return ModelLimits(
        context_tokens=settings.window_tokens,
        max_output_tokens=settings.max_output_tokens,
        source="settings",
        note=f"{settings.model!r} holds {said}" if settings.model else f"the offline model holds what {said}",
    )


def look_up_limits(settings: "ProviderSettings", *, http_client: "httpx2.Client | None" = None) -> ModelLimits:
    """Return what the model of these settings holds: by its provider's word, or else as `limits_of` says.

    Only Anthropic's API says it, so only that one is asked, and only with a key. Whatever goes wrong there is told in
    the note.

    Args:
        settings: which model of whom.
        http_client: an HTTP client of your own, for tests.
    """
    if settings.provider != "anthropic" or not settings.api_key:
        return limits_of(settings)
    from course_lib.providers.anthropic_client import AnthropicClient

    try:
        context, output = AnthropicClient(settings, http_client=http_client).model_limits()
    except CourseError as error:
        return _without_answer(settings, f"{type(error).__name__}: {str(error)[:200]}")
    if context is None:
        return _without_answer(settings, "it did not say")
    return ModelLimits(
        context_tokens=context,
        max_output_tokens=output or settings.max_output_tokens,
        source="provider",
        note=f"{settings.model!r} holds {context:,} tokens, says the provider",
    )


def _without_answer(settings: "ProviderSettings", why: str) -> ModelLimits:
    limits = limits_of(settings)
    return replace(limits, note=f"{limits.note} (the provider was asked: {why})")
