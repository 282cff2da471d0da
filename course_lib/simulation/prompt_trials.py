"""What a system prompt is worth: the running task under it, and what came of it in a line (chapter 02).

    >>> trial = try_prompt("", max_rounds=5)
    >>> trial.rounds, trial.modules_done
    (2, 0)

Source: chapter 02.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from course_lib.events import Run, record_run
from course_lib.messages import Messages, message_text, tool_results, tool_uses
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.prompt_sections import MEMORY_FILE, scenario_with
from course_lib.simulation.scenario import Outcome, build_agent, measure_outcome
from course_lib.simulation.workspace import make_workspace
from course_lib.system_prompt import SystemPrompt, shared_prefix_tokens
from course_lib.tokens import MessageCounter, TokenCounter

__all__ = ["Trial", "read_anew", "try_prompt"]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A run under a system prompt, and what it left behind."""

    run: Run
    outcome: Outcome
    memory_text: str  # what stands in the memory file afterwards; "" when there is none

    @property
    def rounds(self) -> int:
        """How many requests were sent."""
        return len(self.run.requests)

    @property
    def modules_done(self) -> int:
        """Modules that are up to standard."""
        return self.outcome.modules_done

    @property
    def failed_calls(self) -> int:
        """Calls that came back as errors."""
        results = (message for request in self.run.requests for message in request.messages[-1:])
        return sum(result.is_error for message in results for result in tool_results(message))

    @property
    def wrong_turns(self) -> int:
        """Edits that put the built-in round() where prices are rounded."""
        calls = (call for response in self.run.responses for call in tool_uses(response.message))
        return sum("return round(" in str(call.input.get("new_text", "")) for call in calls)

    @property
    def tokens_sent(self) -> int:
        """Tokens of all requests together."""
        return sum(response.usage.context_tokens for response in self.run.responses)

    @property
    def last_words(self) -> str:
        """The text of the last answer."""
        return message_text(self.run.responses[-1].message)

    def __str__(self) -> str:
        return (
            f"{self.rounds:3} rounds, {self.failed_calls:2} failed calls, {self.wrong_turns} wrong turns, "
            f"{self.modules_done:2} of {self.outcome.modules_total} modules"
        )


def try_prompt(
    prompt: SystemPrompt | str,
    *,
    max_rounds: int = 200,
    context_tokens: int = 128_000,
    project: Callable[[Messages], Messages] | None = None,
) -> Trial:
    """Run the running task under the prompt, with the offline model in a fresh workspace.

    Args:
        prompt: the system prompt.
        max_rounds: after so many rounds the run is stopped.
        context_tokens: the model's window.
        project: a hook of the agent that shortens what a request shows.
    """
    scenario = replace(scenario_with(prompt, context_tokens=context_tokens), max_rounds=max_rounds)
    with make_workspace() as workspace:
        before, memory = workspace.snapshot(), workspace.root / MEMORY_FILE
        client = OfflineModel(window_tokens=context_tokens)
        agent = build_agent(workspace, scenario=scenario, client=client, project=project)
        run = record_run(agent.run(scenario.task))
        text = memory.read_text(encoding="utf-8") if memory.exists() else ""
        return Trial(run=run, outcome=measure_outcome(workspace, before), memory_text=text)


def read_anew(run: Run, systems: Sequence[str], counter: TokenCounter) -> list[int]:
    """Return how many tokens of each request no prompt cache could reuse, had it been sent with these system prompts.

    A request begins with the tools, then comes the system prompt, then the messages; reused is the beginning that it
    shares with the request before. The run's own system prompt has to be about as long as these.

    Args:
        run: a run whose messages were never shortened.
        systems: the system prompt of each request.
        counter: tokens of a text.
    """
    sizes = [response.usage.context_tokens for response in run.responses]
    tools_tokens = sum(map(MessageCounter(counter).tool, run.requests[0].tools))
    anew = sizes[:1]
    for (earlier, size), (system, next_size) in pairwise(zip(systems, sizes, strict=True)):
        shared = size if system == earlier else tools_tokens + shared_prefix_tokens(earlier, system, counter)
        anew.append(next_size - shared)
    return anew
