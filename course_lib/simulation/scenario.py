"""The running task: one agent, one workspace, one order, through all chapters.

`build_agent` wires a model to the tools of a workspace; `measure_outcome` looks at the files afterwards and says what
the run achieved, what it broke, and what it did twice. The verdict comes from the files and the events, never from what
the model claims.
Source: chapter 00.
"""

import ast
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from course_lib.agent import Agent
from course_lib.client import LLMClient
from course_lib.events import Run
from course_lib.messages import ToolUseBlock, tool_uses
from course_lib.providers.settings import make_client, settings_from_environment
from course_lib.simulation.commands import run_program
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.tools import workspace_tools
from course_lib.simulation.workspace import Workspace
from course_lib.window import Window

__all__ = ["REFACTORING", "Outcome", "Scenario", "build_agent", "choose_client", "measure_outcome", "repeated_reads"]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A task and the conditions it is worked under."""

    task: str
    system: str
    window: Window
    max_rounds: int = 200


REFACTORING = Scenario(
    task=(
        "Bring the code in this workspace up to standard: type hints and docstrings in every module, tests green. "
        "The tests and tools themselves are fine. Never touch anything under vendor/. "
        "Use the word 'shipment', not 'parcel', in all new text."
    ),
    system=(
        "You are a careful programmer. You work in a loop: you call tools, read their results, and call the next ones, "
        "until the task is done; then you answer without a call. Your calls have real effects on the files.\n"
        "You see nothing but this conversation: look before you edit, and read an error before you act on it.\n"
        "Paths are relative to the workspace. Commands run there, without a shell; `python` is the only program.\n"
        "Say in one sentence what you are about to do. Report at the end what was done and what was not."
    ),
    window=Window(context_tokens=32_000, reserve_tokens=2_000),
)


def choose_client(window: Window, environ: Mapping[str, str] | None = None) -> LLMClient:
    """Return the model of the course: offline, unless the environment names a provider (README, "A real model").

    Args:
        window: the offline model gets this window; a real model has its own.
        environ: the environment to read; the process's own by default.

    Raises:
        SettingsError: a setting is missing or makes no sense.
    """
    settings = settings_from_environment(os.environ if environ is None else environ)
    if settings.provider == "offline":
        return OfflineModel(window_tokens=window.context_tokens)
    return make_client(settings)


def build_agent(
    workspace: Workspace, *, scenario: Scenario = REFACTORING, client: LLMClient | None = None, **hooks: Any
) -> Agent:
    """Return an agent for the scenario on the workspace; hooks go to `Agent` as they are."""
    return Agent(
        client or choose_client(scenario.window),
        workspace_tools(workspace),
        system=scenario.system,
        max_output_tokens=scenario.window.reserve_tokens,
        max_rounds=scenario.max_rounds,
        **hooks,
    )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run left behind in the files."""

    modules_done: int
    modules_total: int
    failing_tests: int
    vendor_paths_changed: tuple[str, ...]
    texts_with_avoided_word: int

    @property
    def is_complete(self) -> bool:
        """Whether the whole task was done and both constraints were kept."""
        everything = self.modules_done == self.modules_total and self.failing_tests == 0
        return everything and not self.vendor_paths_changed and not self.texts_with_avoided_word


def measure_outcome(workspace: Workspace, before: Mapping[str, str]) -> Outcome:
    """Return what changed in the workspace since the snapshot `before` (path to text)."""
    after = workspace.snapshot()
    done, _, total = _closing_line(workspace, "tools.check_standard").partition(" of ")
    changed = [path for path, text in after.items() if before.get(path) != text]
    new_docstrings = [
        s for path in changed for s in _docstrings(after[path]) if s not in _docstrings(before.get(path, ""))
    ]
    return Outcome(
        modules_done=int(done),
        modules_total=int(total.split()[0]),
        failing_tests=int(_closing_line(workspace, "tests").split(", ")[1].split()[0]),
        vendor_paths_changed=tuple(path for path in changed if path.startswith("vendor/")),
        texts_with_avoided_word=sum("parcel" in docstring.lower() for docstring in new_docstrings),
    )


def _closing_line(workspace: Workspace, module: str) -> str:
    command = [sys.executable, "-m", module]
    output = run_program(command, cwd=workspace.root, timeout_seconds=30, max_output_chars=20_000).output
    return output.strip().splitlines()[-1]


@lru_cache(maxsize=1_024)  # run after run begins with the same files, and mostly ends with the same ones
def _docstrings(text: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    return tuple(docstring for docstring in map(ast.get_docstring, nodes) if docstring)


def repeated_reads(run: Run) -> int:
    """Return how many times the model read a file that it had read before and had not changed since."""
    seen: set[str] = set()
    repeated = 0
    for call in (call for response in run.responses for call in tool_uses(response.message)):
        if call.name == "read_file":
            repeated += _read_key(call) in seen
            seen.add(_read_key(call))
        elif call.name in ("edit_file", "write_file"):
            seen = {key for key in seen if json.loads(key).get("path") != call.input.get("path")}
    return repeated


def _read_key(call: ToolUseBlock) -> str:
    return json.dumps(dict(call.input), sort_keys=True)
