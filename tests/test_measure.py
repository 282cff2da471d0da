"""The scoreboard: facts from requests, the bill from calls, the verdict from files; a strategy is asked nothing."""

from dataclasses import replace

import pytest

from course_lib.client import Request, ScriptedClient
from course_lib.errors import RateLimitError
from course_lib.measure.facts import REFACTORING_FACTS, PlantedFact, shares_shown
from course_lib.measure.metered import MeteredClient
from course_lib.measure.scoreboard import measure_strategy, scoreboard
from course_lib.messages import ToolResultBlock, ToolSpec, ToolUseBlock, assistant, user
from course_lib.simulation.choices import STRATEGIES, when_full
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.setup import RECENT_RATIO, make_setup
from course_lib.simulation.workspace import make_workspace
from course_lib.strategies import Truncation
from course_lib.tokens import MessageCounter
from course_lib.window import Window

FACTS = {fact.name: fact for fact in REFACTORING_FACTS}
SMALL = Window(context_tokens=9_000, reserve_tokens=1_000)


def request(*texts):
    """A request with these texts of the user."""
    return Request(messages=tuple(map(user, texts)))


# --- facts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("the task", REFACTORING.task, "Hello."),
        ("vendor/ is off limits", "Keep out of vendor/.", "vendor/ is a folder."),
        ("'shipment', not 'parcel'", "Use the word 'shipment', not 'parcel'.", "A parcel is a shipment."),
        ("the first module is done", "Done: freight/billing/credit_notes.py", "See freight/billing/credit_notes.py"),
        ("which test failed early", "FAIL test_late_fee: 3 != 4", "FAIL test_other"),
        (
            "how prices are rounded",
            "Lesson: prices are rounded by half_up from freight.money.",
            "Prices are rounded somehow.",
        ),
    ],
)
def test_a_fact_is_shown_when_a_reader_would_know_it(name, shown, hidden):
    """Whoever wrote the words, and in whatever words the offline model understands."""
    assert FACTS[name].is_shown(request("x", shown))
    assert not FACTS[name].is_shown(request("x", hidden))


def test_words_are_looked_for_in_results_too():
    """An error stands in a tool's result."""
    call = assistant(ToolUseBlock("c1", "run_command", {}))
    shown = Request(messages=(user("go"), call, user(ToolResultBlock("c1", "FAIL test_late_fee", is_error=True))))
    assert FACTS["which test failed early"].is_shown(shown)


def test_every_kind_of_fact_is_planted():
    """First instruction, constraint, path, error and decision."""
    kinds = {fact.kind for fact in REFACTORING_FACTS}
    assert kinds == {"first instruction", "constraint", "path", "error", "decision"}


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        ([], 0),
        (["no", "no"], 0),
        (["yes"], 1),
        (["no", "no", "yes", "yes"], 1),
        (["yes", "no"], 0.5),
        (["no", "yes", "no", "yes", "no"], 0.5),
    ],
)
def test_the_share_begins_with_the_first_request_that_shows_the_fact(texts, share):
    """What was not there yet is not lost; a fact that never comes has a share of 0."""
    fact = PlantedFact(kind="error", name="it", words="yes")
    assert shares_shown([request(text) for text in texts], [fact]) == {"it": share}


# --- the bill --------------------------------------------------------------------------------------------------------


def test_every_answered_call_is_billed():
    """With what was sent and what it cost; a call that raised costs nothing and raises."""
    client = MeteredClient(ScriptedClient(["one", RateLimitError("wait"), "two"], window_tokens=5_000))
    tool = ToolSpec("f", "does f", {})
    client.complete((user("a"),), system="s", tools=[tool], max_tokens=7)
    with pytest.raises(RateLimitError):
        client.complete((user("b"),))
    client.complete((user("c"),))
    assert [call.request.messages[0].content[0].text for call in client.calls] == ["a", "c"]
    first = client.calls[0].request
    assert (first.system, first.tools, first.max_tokens, client.window_tokens) == ("s", (tool,), 7, 5_000)
    assert client.calls[0].usage.output_tokens > 0


# --- setup -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("window", "most"), [(8_000, None), (32_000, 16_000), (200_000, 16_000)])
def test_the_recent_part_is_smaller_in_a_small_window(window, most):
    """At most 16,000 tokens, and never more than a share of what the window has for messages."""
    scenario = replace(REFACTORING, window=Window(context_tokens=window, reserve_tokens=1_000))
    setup = make_setup(scenario, OfflineModel(window_tokens=window, counter=MessageCounter(len)))
    assert setup.tokens_at(0.5) == int(0.5 * setup.available_tokens)
    assert setup.max_recent_tokens == (most or max(1, setup.tokens_at(RECENT_RATIO)))


# --- one score -------------------------------------------------------------------------------------------------------


def short(make_hooks, name="it", window=SMALL, max_rounds=14):
    """The score of the first rounds."""
    scenario = replace(REFACTORING, window=window, max_rounds=max_rounds)
    return measure_strategy(name, make_hooks, scenario, client=OfflineModel(window_tokens=window.context_tokens))


def test_a_run_without_a_strategy_is_measured():
    """It dies of its length: nothing was compacted, nothing lost, and every request continued the one before."""
    score = short(STRATEGIES["none"])
    assert (score.ending, score.compactions, score.compression_ratio) == ("ContextOverflowError", 0, 1.0)
    assert (score.facts_kept, score.constraints_broken, score.invalid_requests, score.extra_calls) == (1.0, 0, 0, 0)
    assert score.model_calls == score.rounds - 1  # the last one was refused
    assert not score.outcome.is_complete
    assert 0.5 < score.usage.cache_read_tokens / score.tokens_sent < 1


def test_a_summary_costs_calls_of_its_own():
    """They are on the bill, are told apart, and the compaction has a ratio."""
    score = short(STRATEGIES["summarisation"])
    assert score.extra_calls == score.model_calls - score.rounds > 0
    assert score.compactions >= 1
    assert 0 < score.compression_ratio < 1


def test_a_ladder_hands_its_reserve_to_the_agent():
    """A climb that halves the reserve lets the agent ask for shorter answers, so that the room is really there."""
    window = Window(context_tokens=9_000, reserve_tokens=3_000)
    client = MeteredClient(OfflineModel(window_tokens=window.context_tokens))
    setup = make_setup(replace(REFACTORING, window=window, max_rounds=14), client)
    hooks = STRATEGIES["five levels"](setup)
    with make_workspace() as workspace:
        list(setup.agent(workspace, lambda _: hooks).run(REFACTORING.task))
    asked = [call.request.max_tokens for call in client.calls]
    assert asked == sorted(asked, reverse=True)
    assert (asked[0], asked[-1]) == (3_000, hooks["manager"].window.reserve_tokens)
    assert asked[-1] < 3_000


def test_a_strategy_that_makes_invalid_requests_is_found_out():
    """A view with an orphan in it is refused by the model, and that is on the score."""
    score = short(lambda _: {"project": lambda messages: messages[-1:]}, max_rounds=3)
    assert (score.invalid_requests, score.ending) == (1, "PairingError")


def test_a_function_of_ones_own_is_measured_like_any_strategy():
    """The learner's strategy needs no class: messages in, messages out."""

    def my_own(messages):
        return (*messages[:1], *Truncation(keep_messages=4)(messages)[1:])

    score = short(when_full(lambda _: my_own, at_ratio=0.6), name="my own")
    assert score.name == "my own"
    assert score.compactions >= 1
    assert score.facts_shown["the task"] == 1.0


def test_the_scoreboard_runs_every_strategy_in_every_window():
    """In the order of the windows, then of the strategies; twice the same."""
    scenario = replace(REFACTORING, window=SMALL, max_rounds=2)
    windows = [SMALL, Window(context_tokens=20_000, reserve_tokens=1_000)]
    ways = {name: STRATEGIES[name] for name in ("none", "truncation")}
    scores = scoreboard(ways, windows, scenario=scenario)
    assert [(score.name, score.window_tokens) for score in scores] == [
        ("none", 9_000), ("truncation", 9_000), ("none", 20_000), ("truncation", 20_000),
    ]  # fmt: skip
    assert scores[0] == scoreboard({"none": STRATEGIES["none"]}, [SMALL], scenario=scenario)[0]


def test_a_cache_knows_equal_messages():
    """A view that makes its first message anew each time, in the same words, is billed like one that keeps it."""
    anew = short(lambda _: {"project": lambda messages: (user(REFACTORING.task), *messages[1:])})
    assert anew.usage == short(STRATEGIES["none"]).usage
