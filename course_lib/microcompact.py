"""Clear old tool results, in batches, and with an eye on the cache (chapters 07 and 08).

What a tool said long ago is often the largest part of a conversation and the least needed: the file can be read again.
`ClearOldResults` replaces old results by a line that names the tool. Its settings make the variants of four articles:

    keep_results=3                              before every request, everything but the newest three
    tools=COMPACTABLE_TOOLS                     only results of tools that can be called again
    clear_at_least_tokens=5_000                 only when it is worth breaking the cache for

    >>> from course_lib.messages import ToolUseBlock, assistant, user
    >>> calls = [ToolUseBlock(f"c{n}", "read_file", {"path": f"{n}.txt"}) for n in range(5)]
    >>> batches = [(assistant(c), user(ToolResultBlock(c.id, "text " * 99))) for c in calls]
    >>> shorter = ClearOldResults()((user("go"), *(m for batch in batches for m in batch)))
    >>> [tool_results(message)[0].text[:32] for message in shorter[2:7:2]]
    ['[result of read_file cleared: ca', '[result of read_file cleared: ca', 'text text text text text text te']

While the cache is *warm*, rewriting old text throws it away. Then the history can be sent unchanged, with an
instruction for the server to clear it there (`clearing_instruction`).

What this leaves out on purpose: calls and answers. An assistant's text holds its reasoning, and stays.
Source: chapters 07 and 08; the set of tools, and warm and cold, are those of an article on Claude Code's tiers, keep
three is of published course notes (2026); the instruction is that of Anthropic's context editing, beta of September
2025.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from course_lib.errors import NothingToDoError, SettingsError
from course_lib.messages import Message, Messages, ToolResultBlock, tool_results, tool_uses
from course_lib.tokens import MessageCounter, chars_counter

__all__ = ["COMPACTABLE_TOOLS", "ClearOldResults", "clearing_instruction", "is_cleared"]

# What these tools said can be had again by calling them. A todo list or a tool search is small and dense: it stays.
COMPACTABLE_TOOLS = frozenset(
    {
        *(
            "read_file",
            "list_files",
            "grep",
            "glob",
            "run_command",
            "web_search",
            "web_fetch",
            "edit_file",
            "write_file",
        ),
        *("Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write"),
    }
)
_MARK = "cleared: call it again if you need it]"


def is_cleared(result: ToolResultBlock) -> bool:
    """Whether the result is a line that `ClearOldResults` put there."""
    return result.text.startswith("[result of ") and result.text.endswith(_MARK)


@dataclass(frozen=True, kw_only=True)
class ClearOldResults:
    """Old tool results give way to a line that names the tool; errors stay, and what the model has not read yet.

    Args:
        keep_results: how many of the newest results stay whole.
        tools: only results of these tools are cleared; None means of all.
        exclude_tools: results of these tools are never cleared.
        clear_at_least_tokens: with less to gain, nothing is cleared: each clearing costs the cache of all that follows.
        counter: says what is to be gained.

    Raises:
        SettingsError: a number below 0.
    """

    name: str = "clear old results"
    keep_results: int = 3
    tools: Collection[str] | None = None
    exclude_tools: Collection[str] = frozenset()
    clear_at_least_tokens: int = 0
    counter: MessageCounter = field(default_factory=lambda: MessageCounter(chars_counter(4)), repr=False, compare=False)

    def __post_init__(self) -> None:
        if min(self.keep_results, self.clear_at_least_tokens) < 0:
            raise SettingsError(f"{self}: expected numbers from 0 up")

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages with the old results cleared.

        Raises:
            NothingToDoError: less than `clear_at_least_tokens` would be gained.
        """
        names = {call.id: call.name for message in messages for call in tool_uses(message)}
        results = [id(result) for message in messages for result in tool_results(message)]
        answered = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=-1)
        unread = sum(len(tool_results(message)) for message in messages[answered + 1 :])
        newest = set(results[max(0, len(results) - max(self.keep_results, unread)) :])
        after = tuple(self._without_old(message, names, newest) for message in messages)
        gained = self.counter.messages(messages) - self.counter.messages(after)
        if gained < self.clear_at_least_tokens:
            raise NothingToDoError(f"{gained:,} tokens to gain, and {self.clear_at_least_tokens:,} is the least")
        return after

    def _without_old(self, message: Message, names: dict[str, str], newest: set[int]) -> Message:
        content = tuple(
            self._line(block, names.get(block.tool_use_id, "a tool"))
            if isinstance(block, ToolResultBlock) and id(block) not in newest
            else block
            for block in message.content
        )
        is_untouched = all(a is b for a, b in zip(content, message.content, strict=True))
        return message if is_untouched else replace(message, content=content)

    def _line(self, result: ToolResultBlock, tool: str) -> ToolResultBlock:
        line = ToolResultBlock(result.tool_use_id, f"[result of {tool} {_MARK}")
        may_go = (self.tools is None or tool in self.tools) and tool not in self.exclude_tools
        is_shorter = self.counter.block(line) < self.counter.block(result)
        return line if may_go and is_shorter and not result.is_error else result


def clearing_instruction(
    settings: ClearOldResults,
    *,
    trigger_tokens: int,
    clear_tool_inputs: bool = False,
    tool_names: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the same settings as an instruction for Anthropic's server, to send with an unchanged history.

    The server knows tools to leave out, and none to choose, so a set of tools is turned around. It clears results of
    failed calls as well, and what it put in their place it does not say.

    Args:
        settings: what to clear.
        trigger_tokens: of the request, from which on the server clears.
        clear_tool_inputs: whether the calls' arguments go as well.
        tool_names: every tool of the request; needed where the settings name the tools to clear.

    Returns:
        The value of `context_management` in a request (beta header `context-management-2025-06-27`).

    Raises:
        SettingsError: the settings name the tools to clear, and nobody says which others there are.
    """
    names = frozenset(tool_names)
    if settings.tools is not None and not names:
        raise SettingsError(f"{settings.name!r} clears only some tools: pass tool_names, to leave the others out")
    exclude = names.difference(names if settings.tools is None else settings.tools).union(settings.exclude_tools)
    edit: dict[str, Any] = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": trigger_tokens},
        "keep": {"type": "tool_uses", "value": settings.keep_results},
        "clear_tool_inputs": clear_tool_inputs,
    }
    if settings.clear_at_least_tokens:
        edit["clear_at_least"] = {"type": "input_tokens", "value": settings.clear_at_least_tokens}
    if exclude:
        edit["exclude_tools"] = sorted(exclude)
    return {"edits": [edit]}
