"""The tools of a session while it is read: calls, results, the biggest of them, reads made twice (chapter 04).

Source: chapter 04.
"""

import heapq
from collections import OrderedDict
from collections.abc import Iterable
from itertools import count

from course_lib.messages import ToolResultBlock, ToolUseBlock
from course_lib.session_logs.labels import short_label
from course_lib.session_logs.records import Place
from course_lib.session_logs.xray_calls import MOST_REMEMBERED, KnownCall, ReadLog, call_label, path_that_is_read
from course_lib.session_logs.xray_report import BigResult, RepeatedReads, ToolUse

__all__ = ["OTHER_TOOLS", "UNKNOWN_TOOL", "ToolFold"]

OTHER_TOOLS, UNKNOWN_TOOL = "(further tools)", "(unknown tool)"
_MOST_TOOLS = 48
_MOST_RESULTS = 15
_MOST_FILES = 15
_CALLS, _ERRORS, _ARGUMENTS, _RESULTS = range(4)


class ToolFold:
    """Everything about tools so far; of a bounded size."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sums: list[list[int]] = []
        self._pending: OrderedDict[tuple[str, str], KnownCall] = OrderedDict()
        self._reads = ReadLog()
        self._biggest: list[tuple[int, int, BigResult]] = []  # a heap: the smallest of them first
        self._order = count(0, -1)  # of two results of one size, the earlier one counts as bigger

    def called(self, thread: str, call: ToolUseBlock, tokens: int) -> None:
        """Take in a call and the tokens of its name and arguments."""
        number = self._number(call.name)
        self._sums[number][_CALLS] += 1
        self._sums[number][_ARGUMENTS] += tokens
        path = path_that_is_read(call)
        key = ReadLog.key_of(thread, call) if path else 0
        self._pending[thread, call.id] = KnownCall(number, call_label(call), path, key)
        if len(self._pending) > MOST_REMEMBERED:
            self._pending.popitem(last=False)

    def answered(self, thread: str, result: ToolResultBlock, tokens: int, place: Place, epoch: int) -> int:
        """Take in a result; return its tool's number."""
        call = self._pending.pop((thread, result.tool_use_id), None)
        number = call.tool if call else self._number(UNKNOWN_TOOL)
        self._sums[number][_ERRORS] += result.is_error
        self._sums[number][_RESULTS] += tokens
        if call:
            self._reads.add(thread, call, result, tokens, place, epoch)
        if tokens and (len(self._biggest) < _MOST_RESULTS or tokens > self._biggest[0][0]):
            name = next(name for name, known in self._numbers.items() if known == number)
            label = call.label if call else ""
            big = BigResult(tokens=tokens, tool=name, label=label, thread=thread, place=place, is_error=result.is_error)
            heapq.heappush(self._biggest, (tokens, next(self._order), big))
            if len(self._biggest) > _MOST_RESULTS:
                heapq.heappop(self._biggest)
        return number

    def cleared(self, thread: str, tool_use_ids: Iterable[str]) -> None:
        """Note that these results left the context."""
        self._reads.clear(thread, list(tool_use_ids))

    def _number(self, name: str) -> int:
        name = short_label(name, 60)
        if name not in self._numbers and len(self._numbers) >= _MOST_TOOLS:
            name = OTHER_TOOLS
        if name not in self._numbers:
            self._numbers[name] = len(self._numbers)
            self._sums.append([0, 0, 0, 0])
        return self._numbers[name]

    @property
    def tools(self) -> tuple[ToolUse, ...]:
        """All tools, in the order in which they first appeared."""
        return tuple(
            ToolUse(
                name=name,
                calls=sums[_CALLS],
                errors=sums[_ERRORS],
                argument_tokens=sums[_ARGUMENTS],
                result_tokens=sums[_RESULTS],
            )
            for name, sums in zip(self._numbers, self._sums, strict=True)
        )

    @property
    def biggest(self) -> tuple[BigResult, ...]:
        """The biggest results, the biggest first."""
        return tuple(big for _, _, big in sorted(self._biggest, key=lambda one: one[:2], reverse=True))

    @property
    def repeated_reads(self) -> RepeatedReads:
        """What was read again."""
        return self._reads.report(_MOST_FILES)
