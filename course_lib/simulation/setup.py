"""What a way of managing context is given before a run: the scenario, the model, how to count, what is fixed.

    >>> from course_lib.simulation.scenario import REFACTORING
    >>> setup = make_setup(REFACTORING)
    >>> setup.tokens_at(0.8) < setup.available_tokens < REFACTORING.window.input_tokens
    True

Source: chapter 05.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from course_lib.agent import Agent
from course_lib.client import LLMClient
from course_lib.errors import SettingsError
from course_lib.history_parts import MAX_RECENT_TOKENS
from course_lib.manager import ContextManager
from course_lib.messages import ToolSpec
from course_lib.simulation.scenario import Scenario, build_agent, choose_client
from course_lib.simulation.tools import tool_specs
from course_lib.simulation.workspace import Workspace
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.window import Window

__all__ = ["RECENT_RATIO", "MakeHooks", "Setup", "make_setup"]

RECENT_RATIO = 0.6  # of what the window has for messages


@dataclass(frozen=True)
class Setup:
    """Everything that a strategy can be made for; `workspace` is there as soon as an agent is made for one."""

    scenario: Scenario
    client: LLMClient
    counter: MessageCounter
    tools: tuple[ToolSpec, ...]
    workspace: Workspace | None = None

    @property
    def window(self) -> Window:
        """The scenario's window."""
        return self.scenario.window

    @property
    def fixed_tokens(self) -> int:
        """Tokens of system prompt and tools."""
        return self.counter.request((), system=self.scenario.system, tools=self.tools)

    @property
    def available_tokens(self) -> int:
        """Tokens that the window has for messages."""
        return self.window.available_tokens(fixed_tokens=self.fixed_tokens)

    @property
    def max_recent_tokens(self) -> int:
        """Tokens of the messages that a compaction may leave alone: less in a small window, or nothing would fit."""
        return max(1, min(MAX_RECENT_TOKENS, self.tokens_at(RECENT_RATIO)))

    def tokens_at(self, usage_ratio: float) -> int:
        """Return how many tokens of messages make this usage ratio."""
        return int(usage_ratio * self.available_tokens)

    def read_text(self, path: str) -> str:
        """Return the present text of a file of the workspace, for what is read again after a compaction.

        Raises:
            ToolError: there is no such file, or it cannot be read.
        """
        if self.workspace is None:
            raise SettingsError("there is no workspace yet: `agent` makes the hooks with one")
        return self.workspace.read_text(path)

    def agent(self, workspace: Workspace, make_hooks: "MakeHooks") -> Agent:
        """Return an agent on the workspace with fresh hooks.

        Hooks may be those of `Agent`, or `manager`: a `ContextManager`, whose reserve the agent then keeps to.
        """
        hooks = dict(make_hooks(replace(self, workspace=workspace)))
        manager: ContextManager | None = hooks.pop("manager", None)
        if manager is None:
            return build_agent(workspace, scenario=self.scenario, client=self.client, **hooks)
        agent = build_agent(workspace, scenario=self.scenario, client=self.client, rewrite=manager.rewrite, **hooks)

        def keep_to_reserve(_: object) -> None:
            agent.max_output_tokens = manager.window.reserve_tokens

        manager.observers = (*manager.observers, keep_to_reserve)
        return agent


MakeHooks: TypeAlias = Callable[[Setup], Mapping[str, Any]]


def make_setup(scenario: Scenario, client: LLMClient | None = None) -> Setup:
    """Return the setup for a scenario; without a client, with the model that the environment names."""
    client = client or choose_client(scenario.window)
    counter = getattr(client, "counter", None) or MessageCounter(TiktokenCounter())
    return Setup(scenario, client, counter, tool_specs())
