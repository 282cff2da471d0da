"""A session log to look at: the course's own simulated agent, written down the way a real program does it (chapter 04).

    sample_session_path()      the file that ships with the course
    write_sample(path)         makes it anew: byte for byte the same on every machine

The run is that of the running scenario, with the offline model. What a real log has and the run has not is added
here: one call of a sub-agent, one compaction, a picture, a cache that is gone after a pause, and a call at the end that
nobody answered. The bill is counted with the course's own counter, so visible and billed tokens agree; in a real log
they do not.

Source: chapter 04; the form is that of Claude Code's session files (2026).
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from course_lib.events import HistoryRewritten, ResponseReceived, Run, ToolFinished, record_run
from course_lib.messages import (
    ImageBlock,
    Message,
    Messages,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_uses,
    user,
)
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING, Scenario, build_agent
from course_lib.simulation.workspace import make_workspace
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.window import Window
from course_lib.wire_anthropic import to_anthropic

__all__ = ["sample_events", "sample_session_path", "write_sample"]

Record = dict[str, Any]

COMPACT_ABOVE_TOKENS = 20_000  # messages; then the sample's history gives way to a summary
SUB_AGENT_PROMPT = "Look over the invoices: which modules there lack type hints and docstrings? Change nothing."
_ROUNDS = 56  # of the main agent: enough to see it all, and the file stays small
_SUB_AGENT_AT = 3  # the answer after which the sub-agent is sent out
_WINDOW = Window(context_tokens=200_000, reserve_tokens=4_000)
_SYNTAX = {"ensure_ascii": False, "separators": (",", ":")}
# The smallest picture there is: one grey dot.
_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="


def sample_session_path() -> Path:
    """Return the path of the sample that ships with the course."""
    return Path(__file__).parents[1] / "data" / "sample_session.jsonl"


def write_sample(path: Path) -> None:
    """Run the scenario and write its log: always the same bytes."""
    lines = (json.dumps(record, **_SYNTAX) + "\n" for record in _records())  # type: ignore[arg-type]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def sample_events() -> tuple[Run, Run]:
    """Return the two runs of the sample: that of the main agent, and that of its sub-agent."""
    side = replace(REFACTORING, window=_WINDOW, task=SUB_AGENT_PROMPT, max_rounds=3)
    return _run(replace(REFACTORING, window=_WINDOW, max_rounds=_ROUNDS), _Compaction()), _run(side, None)


def _run(scenario: Scenario, rewrite: "_Compaction | None") -> Run:
    with make_workspace() as workspace:
        client = OfflineModel(window_tokens=scenario.window.context_tokens)
        agent = build_agent(workspace, scenario=scenario, client=client, rewrite=rewrite)
        return record_run(agent.run(scenario.task))


class _Compaction:
    """A hook that replaces a long history by a summary, once: the task word for word, and what was edited."""

    def __init__(self) -> None:
        self._count = MessageCounter(TiktokenCounter())
        self._is_done = False

    def __call__(self, messages: Messages) -> tuple[Messages, object]:
        calls = [call for message in messages for call in tool_uses(message)]
        if self._is_done or not calls or calls[-1].name != "read_file":  # what was just read must be read again
            return messages, None
        if self._count.messages(messages) <= COMPACT_ABOVE_TOKENS:
            return messages, None
        self._is_done = True
        edited = sorted({str(call.input["path"]) for call in calls if call.name == "edit_file"})
        lines = [
            "This session is being continued from a previous conversation that ran out of context.",
            f"The task, word for word: {message_text(messages[0])}",
            "Edited and done:",
            *(f"- {path}" for path in edited),
        ]
        return (user("\n".join(lines), kind="summary"),), None


def _records() -> Iterator[Record]:
    main, side = sample_events()
    log = _Log()

    def after(answers: int) -> Iterator[Record]:
        if answers == _SUB_AGENT_AT:
            yield from _sub_agent(log, side)

    yield from log.prompt(REFACTORING.task)
    yield from _written(log, main, after)
    yield from _after_a_pause(log)


def _written(log: "_Log", run: Run, after: Callable[[int], Iterator[Record]]) -> Iterator[Record]:
    """The records of a run; `after` adds some behind the results of an answer, which it gets the number of."""
    results: list[ToolResultBlock] = []
    answers = 0
    for event in run.events:
        if isinstance(event, ToolFinished):
            results.append(event.result)
            continue
        if results:
            yield from log.results(results)
            yield from after(answers)
            results = []
        if isinstance(event, ResponseReceived):
            answers += 1
            yield from log.answer(event.response.message)
        elif isinstance(event, HistoryRewritten):
            yield from log.compaction(event.after)


def _sub_agent(log: "_Log", run: Run) -> Iterator[Record]:
    """The main agent's call, the sub-agent's own conversation, and what came back."""
    call = ToolUseBlock("call_task", "Task", {"description": "look over the invoices", "prompt": SUB_AGENT_PROMPT})
    yield from log.answer(assistant("A sub-agent looks over the invoices.", call))
    inner = log.side("agent-1")
    yield from inner.prompt(SUB_AGENT_PROMPT)
    yield from _written(inner, run, lambda _: iter(()))
    read = sum(isinstance(event, ToolFinished) and event.call.name == "read_file" for event in run.events)
    report = f"I read {read} files. The modules of freight/billing lack type hints and docstrings."
    yield from log.results([ToolResultBlock(call.id, report)])


def _after_a_pause(log: "_Log") -> Iterator[Record]:
    """An hour later: the cache is gone, a picture comes in, and the file ends before the last call is answered."""
    log.pause(timedelta(hours=1))
    yield from log.prompt("Here is a label as it comes out of the printer. Is the town in the right place?", _picture())
    look = ToolUseBlock("call_label", "read_file", {"path": "freight/warehouse/labels.py"})
    yield from log.answer(assistant("I look at how labels are made.", look), is_cut_off=True)


def _picture() -> ImageBlock:
    return ImageBlock("image/png", _DOT)


class _Log:
    """Writes a conversation down as Claude Code does, with ids, times and bills that are made up, always the same."""

    def __init__(self, parent: "_Log | None" = None, agent: str = "") -> None:
        self._shared: _Shared = parent._shared if parent else _Shared()
        self._agent = agent
        self._messages: Messages = ()
        self._cached_tokens = 0
        self._previous: str | None = None

    def side(self, agent: str) -> "_Log":
        """Return the log of a sub-agent, in the same file."""
        return _Log(self, agent)

    def pause(self, time: timedelta) -> None:
        """Let time pass; the provider's cache forgets."""
        self._shared.now += time
        self._cached_tokens = 0

    def prompt(self, text: str, *pictures: ImageBlock) -> Iterator[Record]:
        """What the person says."""
        message = user(text, *pictures)
        self._messages += (message,)
        content = to_anthropic([message])[0]["content"] if pictures else text
        yield self._record("user", message={"role": "user", "content": content})

    def results(self, results: list[ToolResultBlock]) -> Iterator[Record]:
        """Tool results, one a record."""
        if results:
            self._messages += (user(*results),)
        for result in results:
            yield self._record("user", message=to_anthropic([user(result)])[0])

    def answer(self, message: Message, *, is_cut_off: bool = False) -> Iterator[Record]:
        """A model's answer, a block a record; each repeats the usage, and only the last one knows all of it.

        Args:
            message: the answer.
            is_cut_off: the program ended before it could note how the answer ended.
        """
        usage = self._bill(message)
        self._messages += (message,)
        id_, blocks = self._shared.next_message_id(), to_anthropic([message])[0]["content"]
        for place, block in enumerate(blocks, 1):
            is_whole = place == len(blocks) and not is_cut_off
            said = {
                "id": id_,
                "type": "message",
                "role": "assistant",
                "model": "offline-model",
                "content": [block],
                "stop_reason": ("tool_use" if tool_uses(message) else "end_turn") if is_whole else None,
                "usage": _usage_record(usage, output_tokens=usage.output_tokens if is_whole else 2),
            }
            yield self._record("assistant", message=said, requestId=id_.replace("msg", "req"))

    def compaction(self, after: Messages) -> Iterator[Record]:
        """The history gives way to a summary; the old records stay where they are."""
        before = self._shared.tokens(self._messages)
        logical, self._previous = self._previous, None
        yield self._record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=logical,
            compactMetadata={"trigger": "auto", "preTokens": before},
        )
        self._messages = after
        self._cached_tokens = self._shared.tokens(())
        summary = {"role": "user", "content": message_text(after[0])}
        yield self._record("user", message=summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def _bill(self, answer: Message) -> Usage:
        context = self._shared.tokens(self._messages)
        fresh = 3  # a provider never caches the very end
        written = context - self._cached_tokens - fresh
        usage = Usage(fresh, self._cached_tokens, written, self._shared.counter.message(answer))
        self._cached_tokens = context - fresh
        return usage

    def _record(self, kind: str, **more: Any) -> Record:
        self._shared.now += timedelta(seconds=4)
        uuid = self._shared.next_uuid()
        record: Record = {
            "parentUuid": self._previous,
            "isSidechain": bool(self._agent),
            **({"agentId": self._agent} if self._agent else {}),
            "userType": "external",
            "cwd": "/project",
            "sessionId": self._shared.session_id,
            "version": "2.1.0",
            "type": kind,
            **more,
            "uuid": uuid,
            "timestamp": self._shared.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        self._previous = uuid
        return record


class _Shared:
    """What all threads of one file share."""

    def __init__(self) -> None:
        self._random = random.Random(4)
        self.session_id = self.next_uuid()
        self.now = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
        self.counter = MessageCounter(TiktokenCounter())
        self._answers = 0
        self._tools = _tools()

    def next_uuid(self) -> str:
        """Return an id that no other record has."""
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def next_message_id(self) -> str:
        """Return an id for the next answer."""
        self._answers += 1
        return f"msg_{self._answers:04}"

    def tokens(self, messages: Messages) -> int:
        """Return the tokens of a request with these messages; system prompt and tools are in it, and not in the log."""
        return self.counter.request(messages, system=REFACTORING.system, tools=self._tools)


def _tools() -> tuple[ToolSpec, ...]:
    with make_workspace() as workspace:
        agent = build_agent(workspace, client=OfflineModel())
    return tuple(tool.spec for tool in agent.tools.values())


def _usage_record(usage: Usage, *, output_tokens: int) -> Mapping[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": output_tokens,
    }
