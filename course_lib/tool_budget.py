r"""Tier 1: a budget for tool results, before anything else is touched (chapter 08).

A result above its limit goes to disk as a whole, and a short stub takes its place: path, size, a preview. Nothing is
lost, since the model can read the file. Results of parallel calls also have a limit together, and the largest are
spilled first.

    >>> from course_lib.messages import ToolUseBlock, assistant, user
    >>> class Memory:
    ...     def put(self, text):
    ...         return "spill/1.txt"
    >>> call, result = ToolUseBlock("c1", "grep", {}), ToolResultBlock("c1", "a line of output\n" * 5_000)
    >>> budget = ToolBudget(store=Memory())
    >>> shorter = budget((user("go"), assistant(call), user(result)))
    >>> tool_results(shorter[2])[0].text.splitlines()[0]
    '[85,000 characters, kept in spill/1.txt: read_spilled shows it, a page at a time. It begins:]'

A decision, once made, is kept: the same stub in every later request, byte for byte, so that the cached beginning of the
conversation stays what it is. It holds for that very text: what another strategy made of a result is left alone, and a
later call that uses the same id again gets a decision of its own.

What this leaves out on purpose: counting tokens. The limits are in characters, as the tools' own limits are.
Source: chapter 08; limits and preview are those of an article on Claude Code's five tiers (2026).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from course_lib.errors import SettingsError
from course_lib.messages import Block, Message, Messages, TextBlock, ToolResultBlock, tool_results, tool_uses
from course_lib.spill import READ_SPILLED, SpillStore
from course_lib.text_cuts import head

__all__ = ["BudgetLimits", "ToolBudget"]

_NOTICE_CHARS = 200  # more than a notice usually has: what saves less than that is not worth a file


@dataclass(frozen=True, kw_only=True)
class BudgetLimits:
    """Limits in characters.

    Args:
        max_result_chars: of one result, whatever its tool's own limit is.
        max_message_chars: of the results of one batch together. Results of exempt tools count and stay, and so does
            what is too short for a notice to be shorter.
        preview_chars: of the stub's preview, which ends at a line end where it can.
        max_chars_by_tool: a tool's own limit; the smaller one counts.

    Raises:
        SettingsError: limits that make no sense together.
    """

    max_result_chars: int = 50_000
    max_message_chars: int = 200_000
    preview_chars: int = 2_000
    max_chars_by_tool: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.preview_chars < self.max_result_chars <= self.max_message_chars:
            raise SettingsError(
                f"preview_chars {self.preview_chars}, max_result_chars {self.max_result_chars}, max_message_chars "
                f"{self.max_message_chars}: expected each to be above 0 and smaller than the next"
            )
        if min((self.max_chars_by_tool or {}).values(), default=1) < 1:
            raise SettingsError(f"max_chars_by_tool {self.max_chars_by_tool}: expected limits above 0")

    def of(self, tool: str) -> int:
        """Return the limit for one result of the tool."""
        return min(self.max_result_chars, (self.max_chars_by_tool or {}).get(tool, self.max_result_chars))


class ToolBudget:
    """The strategy; one for a session, since it remembers what it decided.

    Args:
        store: where long texts go.
        limits: see `BudgetLimits`.
        exempt_tools: their results are never spilled: tools that keep to a page by themselves. The tool that reads
            spilled texts must be among them, or reading a spilled text would spill it again.
        decisions: stubs by call id, from an earlier part of the session.
        on_decision: told of every new decision, for example to record it in the transcript; what it raises is raised,
            and then the decision was not made.
        read_tool: the tool that the stubs name.
    """

    name = "tool-result budget"

    def __init__(
        self,
        *,
        store: SpillStore,
        limits: BudgetLimits | None = None,
        exempt_tools: Collection[str] = (READ_SPILLED, "read_file", "Read"),
        decisions: Mapping[str, str] | None = None,
        on_decision: Callable[[str, str], None] = lambda _id, _stub: None,
        read_tool: str = READ_SPILLED,
    ) -> None:
        self.store, self.limits = store, limits or BudgetLimits()
        self.exempt_tools = frozenset({*exempt_tools, read_tool})
        self.decisions = dict(decisions or {})
        self.on_decision, self.read_tool = on_decision, read_tool

    def __call__(self, messages: Messages) -> Messages:
        """Return the messages with every result within its limit.

        Raises:
            TranscriptError: a text or a decision could not be written.
        """
        names: dict[str, str] = {}  # of the latest call by id: ids may be used again
        shorter = []
        for message in messages:
            shorter.append(self._within(message, names))
            names |= {call.id: call.name for call in tool_uses(message)}
        return tuple(shorter)

    def _within(self, message: Message, names: Mapping[str, str]) -> Message:
        results = tool_results(message)
        stubs: dict[int, str] = {}  # by the identity of the result
        may_go = [result for result in results if names.get(result.tool_use_id) not in self.exempt_tools]
        may_go.sort(key=lambda result: len(result.text), reverse=True)

        def chars() -> int:
            return sum(len(stubs.get(id(result), result.text)) for result in results)

        for is_alone in (True, False):  # each by its own limit first, then all of them together
            for result in (one for one in may_go if id(one) not in stubs):
                limit = self.limits.of(names.get(result.tool_use_id, ""))
                is_too_long = len(result.text) > limit if is_alone else chars() > self.limits.max_message_chars
                stub = self._stub_text(result, min(limit, self.limits.preview_chars), is_too_long)
                if stub is not None:
                    stubs[id(result)] = stub
        if not stubs:
            return message
        content = tuple(
            _with_text(block, stubs[id(block)]) if isinstance(block, ToolResultBlock) and id(block) in stubs else block
            for block in message.content
        )
        return replace(message, content=content)

    def _stub_text(self, result: ToolResultBlock, preview_chars: int, is_too_long: bool) -> str | None:
        """The stub as it was decided for this text, or a new one if that is due; None where the result stays."""
        text, known = result.text, self.decisions.get(result.tool_use_id)
        if known is not None and _is_of(known, text):
            return known
        if text == known or not is_too_long:
            return None
        preview = _preview(text, preview_chars)
        if len(text) - len(preview) <= _NOTICE_CHARS:
            return None
        where = f"kept in {self.store.put(text)}: {self.read_tool} shows it, a page at a time. It begins:"
        stub = f"{_size(text)}, {where}]\n{preview}"
        if len(stub) >= len(text):
            return None
        self.on_decision(result.tool_use_id, stub)
        self.decisions[result.tool_use_id] = stub
        return stub


def _size(text: str) -> str:
    return f"[{len(text):,} characters"


def _is_of(stub: str, text: str) -> bool:
    """Whether the stub stands for this text: its length and its beginning."""
    notice, _, preview = stub.partition("\n")
    return notice.startswith(f"{_size(text)},") and text.startswith(preview)


def _preview(text: str, most_chars: int) -> str:
    """The beginning of the text, up to the last line end in it, unless that would be less than half."""
    piece = head(text, most_chars, len)
    end = piece.rfind("\n") + 1
    return piece[:end].rstrip("\n") if end > most_chars // 2 else piece


def _with_text(result: ToolResultBlock, text: str) -> ToolResultBlock:
    """The result with another text; images and whatever else is in it stay."""
    return replace(result, content=(TextBlock(text), *_others(result)))


def _others(result: ToolResultBlock) -> Iterator[Block]:
    for block in result.content:
        if isinstance(block, ToolResultBlock):
            yield from _others(block)
        elif not isinstance(block, TextBlock):
            yield block
