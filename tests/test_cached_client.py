"""A model behind a prompt cache: the same answers, and the bill that a provider would write."""

import itertools

import pytest

from course_lib.client import ScriptedClient
from course_lib.errors import ContextOverflowError
from course_lib.events import record_run
from course_lib.messages import Usage, user
from course_lib.prompt_cache import ANTHROPIC_RULES, OPENAI_RULES, PrefixCache
from course_lib.simulation.cached_client import CachedClient
from course_lib.simulation.choices import STRATEGIES
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING
from course_lib.simulation.setup import make_setup
from course_lib.simulation.workspace import make_workspace
from course_lib.tokens import MessageCounter, chars_counter

LETTERS = MessageCounter(len, message_overhead_tokens=0)


def cached(*script, window_tokens=10_000, rules=OPENAI_RULES):
    """A model with a script behind a cache."""
    model = ScriptedClient(script, window_tokens=window_tokens, counter=LETTERS)
    return CachedClient(model, PrefixCache(rules, LETTERS, now=lambda: 0.0))


def test_the_answer_is_the_models_and_the_bill_is_the_caches():
    """Words and stop reason as they came; input split into written, read and new; output as the model counted it."""
    client, question = cached("One.", "Two."), user("a" * 2_000)
    first = client.complete((question,), max_tokens=100)
    assert first.message.content[0].text == "One."
    assert first.usage == first.message.usage == Usage(0, 0, 2_000, 4)
    second = client.complete((question, first.message, user("go on")), system="", max_tokens=100)
    assert second.usage == Usage(0, 2_000, 9, 4)
    assert client.cost == pytest.approx(2_000 * 1.25 + 200 + 9 * 1.25)
    assert [use.messages_read for use in client.uses] == [0, 1]


def test_what_is_refused_is_not_billed_and_not_kept():
    """Too long, then the same again: still nothing is in the cache."""
    client = cached("One.", window_tokens=1_500)
    with pytest.raises(ContextOverflowError):
        client.complete((user("a" * 2_000),), max_tokens=100)
    assert (client.uses, client.cost) == ([], 0)
    assert client.complete((user("a" * 1_200),), max_tokens=100).usage.cache_write_tokens == 1_200


def test_it_stands_in_for_the_model():
    """Window and counter are those that a setup asks for."""
    client = cached()
    assert client.window_tokens == 10_000
    assert make_setup(REFACTORING, client).counter is LETTERS


def run(way, rounds=25):
    """The first rounds of the running task behind a cache; the client afterwards."""
    counter = MessageCounter(chars_counter(4))
    model = OfflineModel(window_tokens=REFACTORING.window.context_tokens, counter=counter)
    client = CachedClient(model, PrefixCache(ANTHROPIC_RULES, counter, now=lambda: 0.0))
    with make_workspace() as workspace:
        agent = make_setup(REFACTORING, client).agent(workspace, STRATEGIES[way])
        agent.max_rounds = rounds
        record_run(agent.run(REFACTORING.task))
    return client


def test_the_running_task_reads_what_it_sent_before():
    """Nothing managed: a request reads all of the one before it, if that was long enough; clearing reads less."""
    grown, cleared = run("none"), run("three layers")
    for before, now in itertools.pairwise(use.usage for use in grown.uses):
        is_kept = before.context_tokens >= ANTHROPIC_RULES.min_tokens
        assert now.cache_read_tokens == before.context_tokens * is_kept
    reads = [sum(use.usage.cache_read_tokens for use in client.uses) for client in (grown, cleared)]
    assert reads[1] < reads[0]
