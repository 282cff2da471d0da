"""One task, one table: every strategy runs it; files, requests and bill say what came of it (chapter 05).

    scores = scoreboard(STRATEGIES, windows=[REFACTORING.window])
    print(score_table(scores))  # measure.tables

A strategy is measured from outside. The verdict on the task comes from the files, the facts from the requests, the
tokens from the bill; a strategy is asked nothing about itself.

What this leaves out on purpose: chance. The offline model does the same every time; chapter 13 adds seeds.
Source: chapter 05.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from course_lib.client import LLMClient, Request
from course_lib.compaction import CompactionEvent
from course_lib.errors import ContextOverflowError, InvalidRequestError
from course_lib.events import HistoryRewritten, Run, record_run
from course_lib.ladder import CompactionPass
from course_lib.measure.facts import REFACTORING_FACTS, PlantedFact, shares_shown
from course_lib.measure.metered import MeteredClient
from course_lib.messages import Usage, message_text
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING, Outcome, Scenario, measure_outcome, repeated_reads
from course_lib.simulation.setup import MakeHooks, Setup, make_setup
from course_lib.simulation.workspace import make_workspace
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.window import Window

__all__ = ["Score", "measure_strategy", "scoreboard"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one run under one strategy achieved, kept and cost.

    Attributes:
        name: the strategy.
        window_tokens: of the window it ran in.
        outcome: what the files say.
        ending: "finished", or the name of the error that ended the run.
        rounds: rounds of the agent.
        facts_shown: by fact, the share of requests that showed it once it had been there.
        repeated_reads: files read again although nothing had changed in them.
        repeated_lessons: how often a lesson was learned again.
        compactions: how often the history was made shorter.
        compression_ratio: tokens after over tokens before, over all compactions; 1.0 without any.
        model_calls: all that were answered.
        extra_calls: those of them that only served the strategy.
        usage: the whole bill, as if the provider kept in its cache what two successive requests begin with.
        invalid_requests: requests refused for anything but their length.
        run: the run itself, for who wants to look closer (the meter shows it).
    """

    name: str
    window_tokens: int
    outcome: Outcome
    ending: str
    rounds: int
    facts_shown: Mapping[str, float]
    repeated_reads: int
    repeated_lessons: int
    compactions: int
    compression_ratio: float
    model_calls: int
    extra_calls: int
    usage: Usage
    invalid_requests: int
    run: Run | None = field(default=None, repr=False, compare=False)

    @property
    def constraints_broken(self) -> int:
        """Files changed that were off limits, and texts with the word to avoid."""
        return len(self.outcome.vendor_paths_changed) + self.outcome.texts_with_avoided_word

    @property
    def facts_kept(self) -> float:
        """The mean share over all facts: 1.0 is nothing lost."""
        return sum(self.facts_shown.values()) / len(self.facts_shown) if self.facts_shown else 1.0

    @property
    def tokens_sent(self) -> int:
        """Tokens that the model read, cached or not."""
        return self.usage.context_tokens


def scoreboard(
    strategies: Mapping[str, MakeHooks],
    windows: Sequence[Window] = (REFACTORING.window,),
    *,
    scenario: Scenario = REFACTORING,
    facts: Sequence[PlantedFact] = REFACTORING_FACTS,
) -> tuple[Score, ...]:
    """Run the scenario once for each strategy in each window, on the offline model; return the scores in that order.

    Args:
        strategies: ways of managing context, by name.
        windows: the windows to run in.
        scenario: the task; its own window is not used.
        facts: what to look for in the requests.
    """
    jobs = [(name, replace(scenario, window=window)) for window in windows for name in strategies]
    counter = TiktokenCounter()  # loaded once, before the threads start

    def run(job: tuple[str, Scenario]) -> Score:
        name, one = job
        client = OfflineModel(window_tokens=one.window.context_tokens, counter=MessageCounter(counter))
        return measure_strategy(name, strategies[name], one, client=client, facts=facts)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # much of a run is waiting for the project's tests
        return tuple(pool.map(run, jobs))


def measure_strategy(
    name: str,
    make_hooks: MakeHooks,
    scenario: Scenario = REFACTORING,
    *,
    client: LLMClient | None = None,
    facts: Sequence[PlantedFact] = REFACTORING_FACTS,
) -> Score:
    """Run the scenario once under one strategy, in a fresh workspace, and return what came of it.

    Args:
        name: what the strategy is called.
        make_hooks: the strategy, see `simulation.choices`.
        scenario: task and window.
        client: the model; by default the one that the environment names.
        facts: what to look for in the requests.
    """
    setup = make_setup(scenario, client)
    metered = MeteredClient(setup.client)
    run, outcome = _run_once(replace(setup, client=metered), make_hooks)
    compactions, ratio = _compactions(run)
    return Score(
        name=name,
        window_tokens=scenario.window.context_tokens,
        outcome=outcome,
        ending=type(run.error).__name__ if run.error else "finished",
        rounds=run.rounds,
        facts_shown=shares_shown(run.requests, facts),
        repeated_reads=repeated_reads(run),
        repeated_lessons=_repeated_lessons(run),
        compactions=compactions,
        compression_ratio=ratio,
        model_calls=len(metered.calls),
        extra_calls=len(metered.calls) - len(run.responses),
        usage=_bill(metered, setup.counter),
        invalid_requests=_is_invalid(run),
        run=run,
    )


def _run_once(setup: Setup, make_hooks: MakeHooks) -> tuple[Run, Outcome]:
    with make_workspace() as workspace:
        before = workspace.snapshot()
        run = record_run(setup.agent(workspace, make_hooks).run(setup.scenario.task))
        return run, measure_outcome(workspace, before)


def _repeated_lessons(run: Run) -> int:
    lessons = (message_text(response.message).startswith("Lesson:") for response in run.responses)
    return max(0, sum(lessons) - 1)


def _is_invalid(run: Run) -> bool:
    return isinstance(run.error, InvalidRequestError) and not isinstance(run.error, ContextOverflowError)


def _compactions(run: Run) -> tuple[int, float]:
    """How many were applied, and what they left of the tokens they found, all together."""
    details = (event.detail for event in run.events if isinstance(event, HistoryRewritten))
    events: list[CompactionEvent] = []
    for detail in details:
        if isinstance(detail, CompactionPass):
            events += [step.event for step in detail.steps if step.event]
        elif isinstance(detail, CompactionEvent):
            events.append(detail)
    applied = [event for event in events if event.outcome == "applied"]
    before, after = (sum(getattr(e, name) for e in applied) for name in ("tokens_before", "tokens_after"))
    return len(applied), after / before if before else 1.0


def _bill(client: MeteredClient, counter: MessageCounter) -> Usage:
    """All calls together; what a request of the agent shares with the one before it is read from the cache."""
    billed = cached = output = 0
    before: Request | None = None
    for call in client.calls:
        billed += call.usage.context_tokens
        output += call.usage.output_tokens
        if not call.request.tools:
            continue  # a call that only serves the strategy stands alone
        if before is not None:
            cached += _shared_tokens(before, call.request, counter)
        before = call.request
    return Usage(input_tokens=billed - cached, cache_read_tokens=cached, output_tokens=output)


def _shared_tokens(one: Request, other: Request, counter: MessageCounter) -> int:
    if (one.system, one.tools) != (other.system, other.tools):
        return 0
    pairs = zip(one.messages, other.messages, strict=False)
    shared = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one.messages), len(other.messages)))
    return counter.request(other.messages[:shared], system=other.system, tools=other.tools)
