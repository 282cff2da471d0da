"""A tool call and its result are one thing (chapter 01).

Both providers refuse a conversation in which a call has no result, or a result has no call: every call of an assistant
message is answered in the very next message, results first. Everything that shortens a conversation can break that, so
this module comes before all of them:

    find_pair_faults(messages)      what is wrong, and where
    repair(messages)                a valid conversation with nothing else changed
    safe_cut(messages, index)       the nearest place where cutting parts no pair
    keep_from(messages, index)      the valid rest after a safe cut

A *batch* is an assistant message with calls, together with the results that answer it.

What this leaves out on purpose: it never invents what a tool would have said. A call that nobody answered gets an error
result that says so.
Source: chapter 01; Anthropic's and OpenAI's documented rules for tool results; the pairing cases of the field guide.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from course_lib.errors import PairingError
from course_lib.messages import Block, Message, Messages, ToolResultBlock, ToolUseBlock, tool_results, tool_uses, user

__all__ = [
    "NO_RESULT_TEXT",
    "FaultKind",
    "PairFault",
    "check_pairs",
    "find_pair_faults",
    "keep_from",
    "pending_calls",
    "repair",
    "safe_cut",
]

NO_RESULT_TEXT = "[no result: the call was interrupted before the tool answered]"

FaultKind = Literal[
    "missing_result",  # a call that the message directly after it does not answer
    "pending_call",  # a call at the end that nothing answers: sound while a tool runs, but no request can be sent
    "late_result",  # a result that is there, but not in the message directly after its call
    "orphan_result",  # a result whose call is nowhere before it
    "duplicate_result",  # a second result for one call
    "duplicate_call",  # two calls of one message share an id
    "reused_id",  # a later turn uses the id of an earlier call again
    "results_not_first",  # text or an image stands before a result in its message
]


@dataclass(frozen=True)
class PairFault:
    """One broken pair: what is wrong, with which call id, in which message (0-based)."""

    kind: FaultKind
    tool_use_id: str
    message_index: int

    def __str__(self) -> str:
        return f"message {self.message_index}: {self.kind.replace('_', ' ')} for tool call {self.tool_use_id!r}"


def find_pair_faults(messages: Sequence[Message]) -> tuple[PairFault, ...]:
    """Return every broken pair, in the order of the messages; an empty tuple means both providers accept the pairs.

    >>> call = Message("assistant", (ToolUseBlock("c1", "read_file", {}),))
    >>> [str(fault) for fault in find_pair_faults((user("go"), call, user("next")))]
    ["message 1: missing result for tool call 'c1'"]
    """
    return tuple(sorted((*_call_faults(messages), *_result_faults(messages)), key=lambda fault: fault.message_index))


def check_pairs(messages: Sequence[Message]) -> None:
    """Raise `PairingError` that names every broken pair, if there is one."""
    faults = find_pair_faults(messages)
    if faults:
        raise PairingError("; ".join(map(str, faults)) + ". Use tool_pairs.repair, or cut at tool_pairs.safe_cut.")


def pending_calls(messages: Sequence[Message]) -> tuple[ToolUseBlock, ...]:
    """Return the calls of the running batch that no tool has answered yet; empty when no batch is running."""
    start = _running_batch(messages)
    if start is None:
        return ()
    answered = _result_ids(messages[start + 1 :])
    return tuple(call for call in tool_uses(messages[start]) if call.id not in answered)


def _running_batch(messages: Sequence[Message]) -> int | None:
    """Index of the last message with calls, if nothing but results came after it."""
    for index in range(len(messages) - 1, -1, -1):
        if tool_uses(messages[index]):
            return index
        if len(tool_results(messages[index])) < len(messages[index].content):
            return None
    return None


def _call_faults(messages: Sequence[Message]) -> Iterator[PairFault]:
    seen: set[str] = set()
    running = _running_batch(messages)
    pending = {call.id for call in pending_calls(messages)}
    for index, message in enumerate(messages):
        ids = Counter(call.id for call in tool_uses(message))
        answered = _result_ids(messages[index + 1 : index + 2])
        for tool_use_id, uses in ids.items():
            if uses > 1:
                yield PairFault("duplicate_call", tool_use_id, index)
            if tool_use_id in seen:
                yield PairFault("reused_id", tool_use_id, index)
            if tool_use_id not in answered:
                is_pending = index == running and tool_use_id in pending
                yield PairFault("pending_call" if is_pending else "missing_result", tool_use_id, index)
        seen.update(ids)


def _result_faults(messages: Sequence[Message]) -> Iterator[PairFault]:
    called: set[str] = set()
    answered: set[str] = set()
    for index, message in enumerate(messages):
        owners = {call.id for call in tool_uses(messages[index - 1])} if index else set()
        for tool_use_id in (result.tool_use_id for result in tool_results(message)):
            if tool_use_id not in called:
                yield PairFault("orphan_result", tool_use_id, index)
            elif tool_use_id in answered:
                yield PairFault("duplicate_result", tool_use_id, index)
            elif tool_use_id not in owners:
                yield PairFault("late_result", tool_use_id, index)
            answered.add(tool_use_id)
        yield from (PairFault("results_not_first", id_, index) for id_ in _ids_after_other_blocks(message))
        calls = {call.id for call in tool_uses(message)}
        called |= calls
        answered -= calls


def _ids_after_other_blocks(message: Message) -> list[str]:
    first_other = next((i for i, b in enumerate(message.content) if not isinstance(b, ToolResultBlock)), None)
    if first_other is None:
        return []
    return [b.tool_use_id for b in message.content[first_other:] if isinstance(b, ToolResultBlock)]


def _result_ids(messages: Sequence[Message]) -> set[str]:
    return {result.tool_use_id for message in messages for result in tool_results(message)}


def repair(messages: Sequence[Message]) -> Messages:
    """Return the conversation with every pair whole and everything else as it was.

    Results move directly behind their calls, in the order of the calls; orphans and duplicates go (the last result that
    a tool really gave wins); a call without a result gets an error result; a re-used id gets a new one. A message that
    needs no mending stays the same object. Repairing twice gives the same as repairing once.
    """
    if not find_pair_faults(messages):
        return tuple(messages)
    answers = _AnswersByCall(messages)
    every_id = {call.id for message in messages for call in tool_uses(message)}
    mended: list[Message] = []
    taken: set[str] = set()
    for index, message in enumerate(messages):
        calls = tool_uses(message)
        if calls:
            renamed = _with_fresh_ids(message, taken, every_id)
            mended += [renamed, _answer(renamed, answers.of(calls, index), messages[index + 1 : index + 2])]
        elif not (index and tool_uses(messages[index - 1]) and tool_results(message)):  # else already taken in above
            mended += _without_results(message)
    return tuple(mended)


class _AnswersByCall:
    """Looks up which results belong to a call: those between it and the next call of the same id."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._results: dict[str, list[tuple[int, ToolResultBlock]]] = defaultdict(list)
        self._calls: dict[str, list[int]] = defaultdict(list)
        for index, message in enumerate(messages):
            for call in tool_uses(message):
                self._calls[call.id].append(index)
            for result in tool_results(message):
                self._results[result.tool_use_id].append((index, result))

    def of(self, calls: Sequence[ToolUseBlock], index: int) -> list[ToolResultBlock]:
        found = {call.id: self._between(call.id, index) for call in calls}
        wanted = Counter(call.id for call in calls)
        return [_pick(found[call.id], call.id, is_only=wanted[call.id] == 1) for call in calls]

    def _between(self, tool_use_id: str, index: int) -> list[ToolResultBlock]:
        end = next((later for later in self._calls[tool_use_id] if later > index), None)
        return [r for at, r in self._results[tool_use_id] if at > index and (end is None or at <= end)]


def _pick(results: list[ToolResultBlock], tool_use_id: str, *, is_only: bool) -> ToolResultBlock:
    if not results:
        return ToolResultBlock(tool_use_id, NO_RESULT_TEXT, is_error=True)
    if not is_only:
        return results.pop(0)  # two calls share the id: the first result belongs to the first of them
    real = [result for result in results if result.text != NO_RESULT_TEXT]
    return (real or results)[-1]


def _answer(calls: Message, results: Sequence[ToolResultBlock], following: Sequence[Message]) -> Message:
    """The user message that answers the calls: results first, then what else stood in the message after them."""
    ids = [call.id for call in tool_uses(calls)]
    named = tuple(
        r if r.tool_use_id == id_ else replace(r, tool_use_id=id_) for r, id_ in zip(results, ids, strict=True)
    )
    if not (following and tool_results(following[0])):
        return user(*named)
    given = tool_results(following[0])
    if len(given) == len(named) and set(given) == set(named) and not _ids_after_other_blocks(following[0]):
        return following[0]  # whole already, in whatever order: untouched means the same object
    others = tuple(block for message in _without_results(following[0]) for block in message.content)
    return replace(following[0], content=(*named, *others))


def _without_results(message: Message) -> list[Message]:
    content = tuple(block for block in message.content if not isinstance(block, ToolResultBlock))
    if len(content) == len(message.content):
        return [message]
    return [replace(message, content=content)] if content else []


def _with_fresh_ids(message: Message, taken: set[str], every_id: set[str]) -> Message:
    """Give each call whose id is taken a new, predictable one that nobody has; note what is taken now."""
    content: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolUseBlock):
            if block.id in taken:
                fresh = (f"{block.id}~{number}" for number in count(2))
                block = replace(block, id=next(id_ for id_ in fresh if id_ not in every_id))
                every_id.add(block.id)
            taken.add(block.id)
        content.append(block)
    return message if tuple(content) == message.content else replace(message, content=tuple(content))


def safe_cut(messages: Sequence[Message], index: int, *, keep: Literal["more", "less"] = "more") -> int:
    """Return the nearest index at which the conversation can be cut in two without parting a pair.

    Args:
        messages: the conversation.
        index: where one would like to cut; messages from here on are the part that is kept. Clamped to 0..len.
        keep: "more" moves the cut towards the start (the call comes along), "less" towards the end (the whole batch
            goes). Calls that are still unanswered pin the cut before them: a running batch is always kept whole.

    >>> call = Message("assistant", (ToolUseBlock("c1", "f", {}), ToolUseBlock("c2", "g", {})))
    >>> results = user(ToolResultBlock("c1", "1"), ToolResultBlock("c2", "2"))
    >>> safe_cut((user("go"), call, results, user("next")), 2)
    1
    >>> safe_cut((user("go"), call, results, user("next")), 2, keep="less")
    3
    """
    wanted = max(0, min(index, len(messages)))
    forbidden = _inside_batches(messages)
    step = -1 if keep == "more" else 1
    cut = wanted
    while cut in forbidden:
        cut += step
    return cut if cut <= len(messages) else safe_cut(messages, wanted)  # a running batch reaches the end: keep it


def keep_from(messages: Sequence[Message], index: int, *, keep: Literal["more", "less"] = "more") -> Messages:
    """Return the valid rest of the conversation from a safe cut near `index` on; results whose call is nowhere go."""
    return repair(messages[safe_cut(messages, index, keep=keep) :])


def _inside_batches(messages: Sequence[Message]) -> set[int]:
    """Every index at which a cut would leave a call on one side and one of its results on the other."""
    inside: set[int] = set()
    called_at: dict[str, int] = {}
    for index, message in enumerate(messages):
        for result in tool_results(message):
            if result.tool_use_id in called_at:
                inside.update(range(called_at[result.tool_use_id] + 1, index + 1))
        called_at.update({call.id: index for call in tool_uses(message)})
    running = _running_batch(messages)
    if running is not None and pending_calls(messages):
        inside.update(range(running + 1, len(messages) + 1))
    return inside
