"""The loop that makes a model an agent (chapter 01).

Ask the model; if it calls tools, run them and ask again; if it calls none, it is done. Everything else in this course
hangs on three hooks of this loop, so the loop itself never changes again:

    rewrite   before each request: may return a shorter history, which *becomes* the history (chapters 05-09)
    project   before each request: may show the model a different view; the history stays as it is (chapters 08-09)
    recover   after "too long": may return a shorter history to try again with (chapter 10)

`Agent.run` is a generator of events, so a chart can follow a run while it happens, and replay it afterwards.

What this leaves out on purpose: how to shorten anything. With no hooks, the conversation only grows.
Source: chapter 01; the loop and its order (compact first, then ask) are described in an article on agent context
management (2026).
"""

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from course_lib.client import LLMClient, Request, Response
from course_lib.errors import (
    ContextOverflowError,
    CourseError,
    EmptyResponseError,
    MessageFormatError,
    SettingsError,
    ToolError,
)
from course_lib.events import (
    AgentEvent,
    HistoryRewritten,
    RequestSent,
    ResponseReceived,
    RunFailed,
    RunFinished,
    ToolFinished,
)
from course_lib.messages import (
    Block,
    Messages,
    TextBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    message_text,
    tool_uses,
    user,
)
from course_lib.tool_pairs import NO_RESULT_TEXT, repair
from course_lib.wire_openai import INVALID_JSON

__all__ = [
    "Agent",
    "Project",
    "Recover",
    "Rewrite",
    "Tool",
]


@dataclass(frozen=True)
class Tool:
    """A tool: what the model is told about it, and the function that does it.

    `run` takes the call's input and returns the result (text, or blocks); an exception becomes an error result.
    """

    spec: ToolSpec
    run: Callable[[Mapping[str, Any]], "str | Iterable[Block]"]


# A hook returns the messages to go on with (the very same tuple when nothing changed) and what it has to report.
Rewrite: TypeAlias = Callable[[Messages], tuple[Messages, object]]
Project: TypeAlias = Callable[[Messages], Messages]
Recover: TypeAlias = Callable[[Messages, ContextOverflowError], tuple[Messages, object]]


class Agent:
    """A model, its tools, and the conversation so far.

    Args:
        client: the model.
        tools: what the model may call.
        system: the system prompt.
        max_output_tokens: the reserve for each answer.
        max_rounds: model calls per `run`; then the run ends incomplete.
        rewrite, project, recover: the hooks of chapters 05 to 10; none of them is needed.
    """

    def __init__(
        self,
        client: LLMClient,
        tools: Sequence[Tool] = (),
        *,
        system: str = "",
        max_output_tokens: int = 4_096,
        max_rounds: int = 200,
        rewrite: Rewrite | None = None,
        project: Project | None = None,
        recover: Recover | None = None,
    ) -> None:
        self.client = client
        self.tools = {tool.spec.name: tool for tool in tools}
        if len(self.tools) < len(tools):
            raise SettingsError(f"two tools have one name: {sorted(tool.spec.name for tool in tools)}")
        self.system = system
        self.max_output_tokens = max_output_tokens
        self.max_rounds = max_rounds
        self.rewrite, self.project, self.recover = rewrite, project, recover
        self.messages: Messages = ()

    def run(self, text: str) -> Iterator[AgentEvent]:
        """Work on the user's `text` until the model stops calling tools; yield an event for everything that happens.

        Raises:
            ModelError: the model gave no usable answer (a `RunFailed` event comes first).
            MessageFormatError: the text is blank.
        """
        if not text.strip():
            raise MessageFormatError(f"the user's text is {text!r}: no provider takes a blank message")
        self.messages = (*repair(self.messages), user(text))
        for round_number in range(1, self.max_rounds + 1):
            try:
                yield from self._rewrite(round_number)
                response = yield from self._query(round_number)
            except CourseError as error:
                yield RunFailed(round_number, error)
                raise
            calls = tool_uses(response.message)
            if not calls:
                yield RunFinished(round_number, message_text(response.message), response.stop_reason)
                return
            yield from self._execute(round_number, calls)
        yield RunFinished(self.max_rounds, f"stopped after {self.max_rounds} rounds", "max_rounds")

    def _rewrite(self, round_number: int) -> Iterator[AgentEvent]:
        if self.rewrite is not None:
            yield from self._replace_history(round_number, *self.rewrite(self.messages))

    def _replace_history(self, round_number: int, after: Messages, detail: object) -> Iterator[AgentEvent]:
        before, self.messages = self.messages, after
        if after is not before or detail is not None:
            yield HistoryRewritten(round_number, before, after, detail)

    def _query(self, round_number: int) -> Generator[AgentEvent, None, Response]:
        """Ask the model once, or again as long as the recover hook finds something to shorten."""
        while True:
            request = self._request()
            yield RequestSent(round_number, request)
            try:
                response = self._complete(request)
            except ContextOverflowError as error:
                if self.recover is None:
                    raise
                before = self.messages
                yield from self._replace_history(round_number, *self.recover(before, error))
                if self.messages == before:
                    raise  # nothing was shortened: the same request would be refused for ever
                continue
            self.messages = (*self.messages, response.message)
            yield ResponseReceived(round_number, response)
            return response

    def _request(self) -> Request:
        shown = self.project(self.messages) if self.project else self.messages
        specs = tuple(tool.spec for tool in self.tools.values())
        return Request(messages=shown, system=self.system, tools=specs, max_tokens=self.max_output_tokens)

    def _complete(self, request: Request) -> Response:
        response = self.client.complete(
            request.messages, system=request.system, tools=request.tools, max_tokens=request.max_tokens
        )
        if response.stop_reason == "context_window_exceeded":
            raise ContextOverflowError("the answer was cut off at the end of the window: shorten the conversation")
        # Blank texts go: some models write them, and no provider takes them back.
        blocks = response.message.content
        content = tuple(b for b in blocks if not isinstance(b, TextBlock) or b.text.strip())
        if not content:
            raise EmptyResponseError("the model answered with nothing: send the request again")
        return response if content == blocks else replace(response, message=replace(response.message, content=content))

    def _execute(self, round_number: int, calls: Sequence[ToolUseBlock]) -> Iterator[AgentEvent]:
        """Run the calls in order; whatever interrupts this, every call has its result afterwards."""
        results: list[ToolResultBlock] = []
        try:
            for call in calls:
                results.append(self._run_tool(call))
                yield ToolFinished(round_number, call, results[-1])
        finally:
            missing = calls[len(results) :]
            results += [ToolResultBlock(call.id, NO_RESULT_TEXT, is_error=True) for call in missing]
            self.messages = (*self.messages, user(*results))

    def _run_tool(self, call: ToolUseBlock) -> ToolResultBlock:
        try:
            tool = self._tool(call)
            given = copy.deepcopy(dict(call.input))  # a tool may change its input: the history must not change with it
            return ToolResultBlock(call.id, tool.run(given) or "(no output)")
        except ToolError as error:
            return ToolResultBlock(call.id, str(error) or "the tool refused", is_error=True)
        except Exception as error:  # whatever a tool raises, the model must get to read it, and the run goes on
            return ToolResultBlock(call.id, f"{type(error).__name__}: {error}", is_error=True)

    def _tool(self, call: ToolUseBlock) -> Tool:
        """The tool of the call, after a look at its input; `ToolError` says what the model got wrong."""
        if call.name not in self.tools:
            raise ToolError(f"there is no tool {call.name!r}: the tools are {', '.join(self.tools)}")
        tool = self.tools[call.name]
        if INVALID_JSON in call.input:
            raise ToolError(f"the arguments of {call.name!r} are not a JSON object: {call.input[INVALID_JSON]!r:.200}")
        known = tool.spec.input_schema.get("properties", call.input)  # a schema that names none takes all
        missing = [name for name in tool.spec.input_schema.get("required", ()) if name not in call.input]
        unknown = [name for name in call.input if name not in known]
        if missing or unknown:
            wrong = [f"missing {name!r}" for name in missing] + [f"unknown {name!r}" for name in unknown]
            raise ToolError(f"wrong arguments for {call.name!r}: {', '.join(wrong)}; it takes {', '.join(known)}")
        return tool
