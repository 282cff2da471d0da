"""Practice for chapter 05: a small job to run under settings of one's own, and a session to predict.

    try_settings({"strategy": "truncation", "keep_messages": 20, "at_ratio": 0.8, "pin_first": True})

The small job is the running task on twelve modules, by the offline model, with real tools but for the test runner: it
answers at once, so that a run takes a moment.
Source: chapter 05.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from course_lib.agent import Agent, Rewrite
from course_lib.client import ScriptedClient
from course_lib.compaction import Strategy, apply, rewrite_above
from course_lib.errors import ContextOverflowError, SettingsError
from course_lib.events import record_run
from course_lib.measure.metered import MeteredClient
from course_lib.messages import Messages, ToolResultBlock, ToolUseBlock, assistant, user
from course_lib.simulation.annotate import improve
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.tools import tool_specs, workspace_tools
from course_lib.simulation.workspace import Workspace, make_workspace
from course_lib.strategies import (
    ContextFolding,
    SelectiveRetention,
    Summarisation,
    ToolResultCompression,
    Truncation,
)
from course_lib.text_cuts import head
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.window import Window

__all__ = [
    "BUDGET_TOKENS",
    "FIVE",
    "PRACTICE_COUNTER",
    "PRACTICE_STRATEGIES",
    "PRACTICE_WINDOW",
    "TriedSettings",
    "practice_session",
    "run_small_job",
    "tokens_left",
    "try_settings",
    "whole_characters",
]

PRACTICE_COUNTER = MessageCounter(chars_counter(4))
PRACTICE_WINDOW = Window(context_tokens=9_000, reserve_tokens=1_000)
BUDGET_TOKENS = 90_000  # that all requests of the small job may have together
PRACTICE_STRATEGIES = ("truncation", "summarisation", "selective retention", "context folding")
FIVE = (*PRACTICE_STRATEGIES, "tool-result compression")
_KINDS: Mapping[str, tuple[type, ...]] = {
    "strategy": (str,),
    "keep_messages": (int,),
    "at_ratio": (int, float),
    "pin_first": (bool,),
}
_MOST_ROUNDS = 80
_FOLDERS = ("notify", "pricing", "warehouse")  # of the small job; without the modules that ask for more than docstrings
_LEFT_OUT = ("freight/pricing/fuel.py", "freight/warehouse/storage.py")


def whole_characters(text: str) -> list[str]:
    """Return the text as a list of what a reader sees as one character: a letter with its accent, a whole emoji."""
    return list(_whole_characters(text))


@lru_cache(maxsize=64)  # a check asks again for the same text
def _whole_characters(text: str) -> tuple[str, ...]:
    found = []
    while text:
        size = next(size for size in range(1, len(text) + 1) if head(text, size, len))
        found.append(text[:size])
        text = text[size:]
    return tuple(found)


# --- a small job -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TriedSettings:
    """What came of the small job.

    Attributes:
        modules_done, modules_total: up to standard at the end, of all.
        orders_broken: files changed under vendor/, and files with new text that says 'parcel'.
        tokens_sent: of all requests together, those for summaries too.
        rounds: of the agent.
        is_too_long: whether a request was refused as too long.
    """

    modules_done: int
    modules_total: int
    orders_broken: int
    tokens_sent: int
    rounds: int
    is_too_long: bool

    @property
    def is_done(self) -> bool:
        """Whether every module is up to standard and both orders were kept."""
        return self.modules_done == self.modules_total and not self.orders_broken and not self.is_too_long


def try_settings(settings: Mapping[str, Any]) -> TriedSettings:
    """Run the small job under these settings, in a fresh workspace, and return what came of it.

    Args:
        settings: "strategy" (one of PRACTICE_STRATEGIES), "keep_messages" (of the last ones), "at_ratio" (of what the
            window has for messages: from there on the strategy is applied), "pin_first" (whether the order stays).

    Raises:
        SettingsError: a setting is missing, unknown, of another type, or out of its range.
    """
    _check(settings)
    model = MeteredClient(OfflineModel(window_tokens=PRACTICE_WINDOW.context_tokens, counter=PRACTICE_COUNTER))
    fixed_tokens = PRACTICE_COUNTER.request((), system=REFACTORING.system, tools=tool_specs())
    trigger_tokens = int(settings["at_ratio"] * PRACTICE_WINDOW.available_tokens(fixed_tokens=fixed_tokens))
    rewrite = rewrite_above(trigger_tokens, _strategy(settings, model), PRACTICE_COUNTER)
    return run_small_job(PRACTICE_WINDOW, model, rewrite)


def run_small_job(window: Window, model: MeteredClient, rewrite: Rewrite) -> TriedSettings:
    """Run the small job in a fresh workspace under a `rewrite` hook, and return what came of it."""
    with make_workspace() as workspace:
        for path in workspace.files("freight"):
            if path.split("/")[1] not in _FOLDERS or path in _LEFT_OUT:
                workspace.resolve(path).unlink()
        before = workspace.snapshot()
        run = record_run(_agent(workspace, window, model, rewrite).run(REFACTORING.task))
        changed = workspace.changed_paths(before)
        return TriedSettings(
            modules_done=len(_modules(workspace)) - len(_below_standard(workspace)),
            modules_total=len(_modules(workspace)),
            orders_broken=sum(_breaks_an_order(path, before[path], workspace.read_text(path)) for path in changed),
            tokens_sent=sum(call.usage.context_tokens for call in model.calls),
            rounds=run.rounds,
            is_too_long=isinstance(run.error, ContextOverflowError),
        )


def _check(settings: Mapping[str, Any]) -> None:
    if not isinstance(settings, Mapping) or set(settings) != set(_KINDS):
        raise SettingsError(f"settings {settings!r:.200}: expected a dictionary with {', '.join(_KINDS)}")
    for name, kinds in _KINDS.items():
        if type(settings[name]) not in kinds:
            raise SettingsError(f"{name} is {settings[name]!r:.80}: expected a value of type {kinds[-1].__name__}")
    if settings["strategy"] not in PRACTICE_STRATEGIES:
        raise SettingsError(f"strategy {settings['strategy']!r:.80}: choose one of {', '.join(PRACTICE_STRATEGIES)}")
    if settings["keep_messages"] < 1 or not 0 < settings["at_ratio"] <= 1:
        raise SettingsError("keep_messages starts at 1, and at_ratio is above 0 and at most 1")


def _strategy(settings: Mapping[str, Any], model: MeteredClient) -> Strategy:
    shared: dict[str, Any] = {
        "keep_messages": settings["keep_messages"],
        "pin_first": settings["pin_first"],
        "pin_latest": settings["pin_first"],
        "counter": PRACTICE_COUNTER,
    }
    match settings["strategy"]:
        case "truncation":
            return Truncation(**shared)
        case "summarisation":
            return Summarisation(client=model, max_summary_tokens=500, **shared)
        case "selective retention":
            return SelectiveRetention(**shared)
    return ContextFolding(**shared)


def _agent(workspace: Workspace, window: Window, model: MeteredClient, rewrite: Rewrite) -> Agent:
    """An agent with the usual tools, but a test runner that answers at once."""

    def run_command(given: Mapping[str, Any]) -> str:
        if "check_standard" not in given["command"]:
            return "30 tests, 0 failures\nexit code 0"
        below, total = _below_standard(workspace), len(_modules(workspace))
        lines = [f"{path}: hints or docstrings are missing" for path in below]
        return "\n".join([*lines, f"{total - len(below)} of {total} modules up to standard", "exit code 0"])

    tools = [replace(t, run=run_command) if t.spec.name == "run_command" else t for t in workspace_tools(workspace)]
    return Agent(
        model,
        tools,
        system=REFACTORING.system,
        max_output_tokens=window.reserve_tokens,
        max_rounds=_MOST_ROUNDS,
        rewrite=rewrite,
    )


def _modules(workspace: Workspace) -> list[str]:
    return [path for path in workspace.files("freight") if not path.endswith("__init__.py")]


def _below_standard(workspace: Workspace) -> list[str]:
    return [path for path in _modules(workspace) if improve(workspace.read_text(path), path=path)]


def _breaks_an_order(path: str, before: str, after: str) -> bool:
    new_lines = set(after.splitlines()) - set(before.splitlines())
    return path.startswith("vendor/") or any('"""' in line and "parcel" in line.lower() for line in new_lines)


# --- a session to predict --------------------------------------------------------------------------------------------


def practice_session() -> Messages:
    """Return a session: an order, then 24 rounds with a sentence, a call and a result of 3,000 tokens."""
    messages = [user("x" * 800)]
    for number in range(24):
        call = ToolUseBlock(f"c{number}", "read_log", {"day": number})
        messages += [assistant("y" * 360, call), user(ToolResultBlock(call.id, "z" * 12_000))]
    return tuple(messages)


def tokens_left(name: str, messages: Messages) -> int:
    """Return how many tokens one of the FIVE leaves of the messages, with the numbers of the article.

    The model writes a summary of 400 tokens. Nothing but the number of messages limits what stays.
    """
    roomy: dict[str, Any] = {"counter": PRACTICE_COUNTER, "max_recent_tokens": 10**9}
    writer = ScriptedClient(["s" * 1_600], window_tokens=10**9)
    strategies: dict[str, Strategy] = {
        "truncation": Truncation(**roomy),
        "summarisation": Summarisation(client=writer, **roomy),
        "selective retention": SelectiveRetention(**roomy),
        "context folding": ContextFolding(**roomy),
        "tool-result compression": ToolResultCompression(counter=PRACTICE_COUNTER),
    }
    return apply(strategies[name], messages, PRACTICE_COUNTER)[1].tokens_after
