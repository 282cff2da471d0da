"""The five tiers of Claude Code as one ladder (chapter 09).

    1 tool-result budget     always: long results go to disk
    2 snip                   old rounds go, a mark stays
    3 microcompact           old results of tools that can be called again are cleared, in batches
    4 collapse               shown small, kept whole: a view and no edit, so it stands beside the ladder (`collapse`)
    5 auto compact           the session's notes; if they are not enough, a model's summary

    >>> auto_compact_trigger(Window(context_tokens=200_000), max_output_tokens=32_000)
    167000

The order is from the least destructive to the most; each runs only if the one before was not enough.

Anthropic's server has tier 5 as well, if it is asked (`compaction_instruction`).

What this leaves out on purpose: exact thresholds of the first tiers, which the article does not give. Ours lie below
the one of tier 5, and are settings.
Source: chapter 09; tiers, order, and tier 5's threshold are those of an article on Claude Code's compression (2026).
"""

from collections.abc import Iterable
from typing import Any

from course_lib.client import LLMClient
from course_lib.errors import SettingsError
from course_lib.history_parts import MAX_RECENT_TOKENS
from course_lib.ladder import Ladder, Step
from course_lib.microcompact import COMPACTABLE_TOOLS, ClearOldResults
from course_lib.session_memory import MemoryCompaction, SessionMemory
from course_lib.snip import Snip
from course_lib.summarize import TwoStageSummary
from course_lib.tokens import MessageCounter
from course_lib.tool_budget import ToolBudget
from course_lib.window import Window

__all__ = [
    "AUTO_COMPACT_MARGIN_TOKENS",
    "MAX_RESERVED_OUTPUT_TOKENS",
    "auto_compact_ratio",
    "auto_compact_trigger",
    "compaction_instruction",
    "five_tiers",
]

MAX_RESERVED_OUTPUT_TOKENS = 20_000
AUTO_COMPACT_MARGIN_TOKENS = 13_000
_LEAST_AUTO_RATIO = 0.35  # the other tiers, and the target, lie up to 0.3 below
_RECENT_SHARE = 0.6  # of the target: what stays untouched at most; the rest is for notes or a summary


def auto_compact_trigger(window: Window, *, max_output_tokens: int) -> int:
    """Return from how many tokens of a request on tier 5 runs: the window less output (20,000 at most) less 13,000.

    Raises:
        SettingsError: the window is too small for this rule.

    >>> auto_compact_trigger(Window(context_tokens=32_000), max_output_tokens=4_096)
    14904
    """
    trigger = window.context_tokens - min(max_output_tokens, MAX_RESERVED_OUTPUT_TOKENS) - AUTO_COMPACT_MARGIN_TOKENS
    if trigger <= 0:
        raise SettingsError(
            f"a window of {window.context_tokens:,} tokens leaves no room below a margin of "
            f"{AUTO_COMPACT_MARGIN_TOKENS:,}: use a usage ratio instead"
        )
    return trigger


def auto_compact_ratio(window: Window, *, max_output_tokens: int, fixed_tokens: int) -> float:
    """Return the same threshold as a usage ratio, for `five_tiers`.

    Args:
        window: its reserve is what the ratio leaves out.
        max_output_tokens: of the model.
        fixed_tokens: of system prompt and tools.

    Raises:
        SettingsError: no messages fit below the threshold, or the window is full before it is reached.
    """
    trigger = auto_compact_trigger(window, max_output_tokens=max_output_tokens)
    if fixed_tokens >= trigger or not window.fits(trigger):
        raise SettingsError(
            f"the threshold is {trigger:,} tokens, with {fixed_tokens:,} of system prompt and tools below it and a "
            f"reserve of {window.reserve_tokens:,} above: use fewer tools or a smaller reserve"
        )
    return window.usage_ratio(trigger - fixed_tokens, fixed_tokens=fixed_tokens)


def five_tiers(
    client: LLMClient,
    counter: MessageCounter,
    *,
    budget: ToolBudget,
    memory: SessionMemory,
    available_tokens: int,
    auto_at_ratio: float = 0.9,
    keep_results: int = 5,
    clear_share: float = 0.1,
    exclude_tools: Iterable[str] = (),
) -> Ladder:
    """Return the ladder of the five tiers (the fourth is a view, `CollapseStore.project`).

    Args:
        client: writes the summary of last resort.
        counter: counts texts and messages.
        budget: tier 1, with its memory of what it decided.
        memory: the notes of tier 5.
        available_tokens: what the window has for messages.
        auto_at_ratio: the usage ratio of tier 5, from 0.35; see `auto_compact_ratio`. The others lie below it.
        keep_results: newest results that tier 3 leaves.
        clear_share: of the available tokens: less is not worth clearing.
        exclude_tools: tools whose results tier 3 never clears.
    """
    _check_room(available_tokens, auto_at_ratio)
    clear = _microcompact(counter, keep_results, exclude_tools, int(clear_share * available_tokens))
    target_ratio = auto_at_ratio - 0.3
    target_tokens = int(target_ratio * available_tokens)
    recent = max(1, min(MAX_RECENT_TOKENS, int(_RECENT_SHARE * target_tokens)))
    notes = MemoryCompaction(
        memory=memory, counter=counter, max_recent_tokens=recent, max_notes_tokens=target_tokens - recent
    )
    steps = (
        Step(auto_at_ratio - 0.15, Snip(counter=counter, tokens_to_free=max(1, int(0.15 * available_tokens)))),
        Step(auto_at_ratio - 0.05, clear),
        Step(auto_at_ratio, notes),
        Step(auto_at_ratio, TwoStageSummary(client=client, counter=counter, max_recent_tokens=recent)),
    )
    return Ladder(name="five tiers", always=(budget,), steps=steps, target_ratio=target_ratio, max_passes=1)


def _microcompact(
    counter: MessageCounter, keep_results: int, exclude_tools: Iterable[str], clear_at_least_tokens: int
) -> ClearOldResults:
    return ClearOldResults(
        name="microcompact",
        keep_results=keep_results,
        tools=COMPACTABLE_TOOLS,
        exclude_tools=frozenset(exclude_tools),
        clear_at_least_tokens=clear_at_least_tokens,
        counter=counter,
    )


def _check_room(available_tokens: int, auto_at_ratio: float) -> None:
    if available_tokens < 1 or not _LEAST_AUTO_RATIO <= auto_at_ratio <= 1:
        raise SettingsError(
            f"available_tokens {available_tokens}, auto_at_ratio {auto_at_ratio}: expected room for messages, and a "
            f"ratio from {_LEAST_AUTO_RATIO} to 1"
        )


def compaction_instruction(*, trigger_tokens: int, instructions: str = "") -> dict[str, Any]:
    """Return an instruction for Anthropic's server to write the summary itself, to send with an unchanged history.

    Args:
        trigger_tokens: of the request, from which on the server compacts.
        instructions: what the summary has to hold; the server's own by default.

    Returns:
        The value of `context_management` in a request (beta header `compact-2026-01-12`). What it costs is in
        `usage.iterations` of the answer, and in no other count.
    """
    edit: dict[str, Any] = {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": trigger_tokens},
    }
    if instructions:
        edit["instructions"] = instructions
    return {"edits": [edit]}
