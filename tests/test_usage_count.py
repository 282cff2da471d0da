"""Counting from what was billed: the anchor, stale usages, what was freed, and what is learned from bills."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations

from course_lib.errors import SettingsError
from course_lib.events import record_run
from course_lib.messages import ToolSpec, Usage, assistant, user
from course_lib.simulation.scenario import REFACTORING, build_agent
from course_lib.simulation.token_samples import TUNED_KINDS, UNSEEN_KINDS, all_texts, reading_session
from course_lib.simulation.token_trigger import TriggerOutcome, highest_safe_threshold, replay_trigger
from course_lib.simulation.workspace import make_workspace
from course_lib.token_estimator import estimate_tokens
from course_lib.tokens import MessageCounter, TiktokenCounter, chars_counter
from course_lib.usage_count import (
    CALIBRATION_PAIRS,
    FACTOR_BOUNDS,
    Calibration,
    TokenCount,
    drop_stale_usage,
    find_anchor,
    hybrid_count,
    without_usage,
)
from course_lib.window import Window

# One character is one token, and framing costs nothing: sums that can be done by hand.
COUNTER = MessageCounter(len, message_overhead_tokens=0)


def billed(text, context, output=0, **buckets):
    """An answer with its usage."""
    return assistant(text, usage=Usage(context, output_tokens=output, **buckets))


FIRST, SECOND = billed("one", 100, 10), billed("two", 200, 20)
HISTORY = (user("a" * 7), FIRST, user("b" * 5), SECOND, user("c" * 3))


# --- the anchor ------------------------------------------------------------------------------------------------------


def test_the_last_usage_covers_everything_up_to_it():
    """What the last answer read and wrote is measured; only the message after it is estimated."""
    assert find_anchor(HISTORY) == 3
    assert hybrid_count(HISTORY, COUNTER) == TokenCount(220, 3)
    assert hybrid_count(HISTORY, COUNTER).total == 223


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, TokenCount(0, 0)),
        (1, TokenCount(0, 7)),
        (2, TokenCount(110, 0)),
        (3, TokenCount(110, 5)),
        (4, TokenCount(220, 0)),
    ],
)
def test_each_length_of_a_history(length, expected):
    """Without a usage everything is estimated; with one in the last message nothing is."""
    assert hybrid_count(HISTORY[:length], COUNTER) == expected


def test_all_buckets_are_context():
    """Cached tokens are in the window like the others, each counted once."""
    message = billed("x", 10, 4, cache_read_tokens=1_000, cache_write_tokens=200)
    assert hybrid_count((user("q"), message), COUNTER).total == 1_214


def test_the_fixed_cost_is_inside_the_measured_part():
    """System prompt and tools are estimated only as long as nothing is measured."""
    fixed = {"system": "s" * 50, "tools": [ToolSpec("ls", "lists", {})]}
    alone = len("s" * 50) + COUNTER.tool(fixed["tools"][0])
    assert hybrid_count(HISTORY[:1], COUNTER, **fixed) == TokenCount(0, 7 + alone)
    assert hybrid_count(HISTORY, COUNTER, **fixed) == TokenCount(220, 3)


@pytest.mark.parametrize(
    "message",
    [
        assistant("no usage"),
        billed("zero", 0, 0),
        billed("only output", 0, 50),
        replace(billed("a summary", 9_000, 300), kind="summary"),
    ],
)
def test_what_is_no_anchor(message):
    """No usage, one that says nothing of the request, or that of another request: the last true one holds."""
    assert find_anchor((*HISTORY, message)) == 3
    assert hybrid_count((*HISTORY, message), COUNTER).total == 223 + COUNTER.message(message)


@given(conversations())
def test_without_usage_the_hybrid_is_the_estimate(messages):
    """A history that nobody billed counts as its request does, fixed cost included."""
    count = hybrid_count(messages, COUNTER, system="sys")
    assert count == TokenCount(0, COUNTER.request(messages, system="sys"))


def test_only_what_came_after_the_anchor_is_counted():
    """A long session costs no more than a short one: the text counter sees the new messages only."""
    texts = []
    counter = MessageCounter(lambda text: texts.append(text) or len(text))
    long = (*(message for _ in range(1_000) for message in HISTORY[:2]), *HISTORY[2:])
    hybrid_count(long, counter)
    assert texts == ["ccc"]


def test_a_factor_is_for_the_estimated_part():
    """What was billed is not corrected; the rest is, and rounded up."""
    assert hybrid_count(HISTORY, COUNTER, factor=1.5) == TokenCount(220, 5)


# --- edits -----------------------------------------------------------------------------------------------------------


def edited(index, history=HISTORY):
    """The history with one message replaced by a shorter one, its usage kept."""
    short = replace(history[index], content="-")
    return (*history[:index], short, *history[index + 1 :])


@pytest.mark.parametrize(("index", "anchor"), [(0, None), (1, None), (2, 1), (3, 1), (4, 3)])
def test_an_edit_makes_later_usages_stale(index, anchor):
    """From the edited message on, its own usage included, none holds; those before it do."""
    assert find_anchor(edited(index)) == 3
    assert find_anchor(drop_stale_usage(HISTORY, edited(index))) == anchor


def test_the_stale_count_lies_and_the_cured_one_does_not():
    """After a result of 1,000 tokens became one character, the old usage still says 1,000 more than there is."""
    history = (user("q"), billed("call", 10), user("x" * 1_000), billed("ok", 1_014, 2), user("next"))
    after = edited(2, history)
    truth = COUNTER.request(after) + 9  # the first usage says 10 where the texts have 1: 9 tokens of fixed cost
    assert hybrid_count(after, COUNTER).total > truth + 990
    assert hybrid_count(drop_stale_usage(history, after), COUNTER).total == pytest.approx(truth, abs=4)


def test_messages_before_the_edit_stay_the_same_objects():
    """And so do later ones that have no usage to lose."""
    after = edited(2)
    cured = drop_stale_usage(HISTORY, after)
    assert [new is old for new, old in zip(cured, after, strict=True)] == [True, True, True, False, True]
    assert cured == after
    assert HISTORY[3].usage is not None


@pytest.mark.parametrize("after", [HISTORY, HISTORY[:4], HISTORY[:0], (*HISTORY, billed("three", 300), user("d"))])
def test_a_history_that_grew_or_lost_its_end_is_as_true_as_before(after):
    """Nothing that a usage measured is gone, so the very same tuple comes back."""
    assert drop_stale_usage(HISTORY, after) is after


@pytest.mark.parametrize("after", [HISTORY[1:], HISTORY[2:], (user("summary"), *HISTORY[3:]), (user("new"), *HISTORY)])
def test_a_history_with_another_start_has_no_anchor(after):
    """Dropped, summarised or inserted: what comes first is not what was measured."""
    assert find_anchor(drop_stale_usage(HISTORY, after)) is None


@given(st.data())
def test_no_usage_survives_its_prefix(data):
    """Whatever was deleted or replaced, a usage stands only behind messages that are all the same objects as before."""
    turns = data.draw(st.integers(1, 5))
    before = tuple(m for n in range(turns) for m in (user("q"), billed("a", 100 + n)))
    kept = data.draw(st.lists(st.sampled_from(range(len(before))), unique=True).map(sorted))
    changed = data.draw(st.sets(st.sampled_from(range(len(before)))))
    after = tuple(replace(before[n], content="-") if n in changed else before[n] for n in kept)
    cured = drop_stale_usage(before, after)
    assert cured == after
    for index, message in enumerate(cured):
        same = all(a is b for a, b in zip(before[: index + 1], after[: index + 1], strict=False))
        assert (message.usage is not None) == (same and after[index].usage is not None)
    assert drop_stale_usage(after, cured) == cured


def test_another_system_prompt_drops_all():
    """A change that no message shows: every usage goes, and the new fixed cost is estimated again."""
    bare = without_usage(HISTORY)
    assert find_anchor(bare) is None
    assert bare == HISTORY
    assert [new is old for new, old in zip(bare, HISTORY, strict=True)] == [True, False, True, False, True]
    assert hybrid_count(bare, COUNTER, system="s" * 40).total == 40 + COUNTER.messages(HISTORY)


def test_what_was_freed_is_taken_off():
    """The other cure: the old usage stays, less what the edit took away by the same counter and factor."""
    assert hybrid_count(HISTORY, COUNTER, tokens_freed=100) == TokenCount(220, 3, 100)
    assert hybrid_count(HISTORY, COUNTER, tokens_freed=100).total == 123
    assert hybrid_count(HISTORY, COUNTER, tokens_freed=100, factor=1.5).freed == 150


def test_freed_without_an_anchor_is_nothing():
    """Where everything is estimated from what is there, nothing is to be taken off again."""
    assert hybrid_count(HISTORY[:1], COUNTER, tokens_freed=5).total == 7


def test_a_total_is_never_below_zero():
    """An estimate of what was freed may be larger than what was billed."""
    assert hybrid_count(HISTORY, COUNTER, tokens_freed=9_999).total == 0


# --- calibration -----------------------------------------------------------------------------------------------------


def test_nothing_learned_changes_nothing():
    """Without a bill the factor is 1."""
    assert Calibration().factor == 1
    assert Calibration().tokens(123) == 123


def test_the_factor_is_billed_over_estimated():
    """One pair is enough to begin; the result is rounded up."""
    learned = Calibration().learn(estimated=100, billed=150)
    assert learned.factor == 1.5
    assert learned.tokens(3) == 5


def test_one_wrong_bill_does_no_harm():
    """A bill that is ten times too high, or nearly zero, leaves the factor with the others."""
    pairs = [(100, 120), (200, 240), (300, 3_600)]
    assert Calibration.from_pairs(pairs).factor == 1.2
    assert Calibration.from_pairs([(100, 120), (200, 2), (300, 360)]).factor == 1.2


def test_old_pairs_are_forgotten():
    """Only the last few requests speak: a conversation changes."""
    pairs = [(100, 300)] * 10 + [(100, 110)] * CALIBRATION_PAIRS
    learned = Calibration.from_pairs(pairs)
    assert (len(learned.pairs), learned.factor) == (CALIBRATION_PAIRS, 1.1)


@pytest.mark.parametrize(("billed_tokens", "factor"), [(10**6, FACTOR_BOUNDS[1]), (1, FACTOR_BOUNDS[0])])
def test_the_factor_is_bounded(billed_tokens, factor):
    """No honest bill is further away than that."""
    assert Calibration.from_pairs([(1_000, billed_tokens)] * 5).factor == factor


@pytest.mark.parametrize(("estimated", "billed_tokens"), [(0, 5), (5, 0), (0, 0)])
def test_an_empty_pair_teaches_nothing(estimated, billed_tokens):
    """A server that reports no usage, or a request that was not estimated, is no evidence."""
    before = Calibration().learn(estimated=10, billed=20)
    assert before.learn(estimated=estimated, billed=billed_tokens) == before


@pytest.mark.parametrize(("estimated", "billed_tokens"), [(-1, 5), (5, -1)])
def test_tokens_are_not_below_zero(estimated, billed_tokens):
    """The error names both numbers."""
    with pytest.raises(SettingsError, match=rf"estimated {estimated} and billed {billed_tokens}"):
        Calibration().learn(estimated=estimated, billed=billed_tokens)


@pytest.fixture(scope="module")
def long_run():
    """The running task in a window that is large enough; the offline model bills exactly."""
    large = replace(REFACTORING, window=Window(context_tokens=128_000, reserve_tokens=2_000))
    with make_workspace() as workspace:
        return record_run(build_agent(workspace, scenario=large).run(REFACTORING.task))


def errors_of(run, counter):
    """The errors of the calibrated estimate and of the calibrated hybrid for each request, before it is sent."""
    learned, whole, hybrid = Calibration(), [], []
    for request, response in zip(run.requests, run.responses, strict=True):
        fixed = {"system": request.system, "tools": request.tools}
        estimated = counter.request(request.messages, **fixed)
        truth = response.usage.context_tokens
        whole.append(learned.tokens(estimated) / truth - 1)
        hybrid.append(hybrid_count(request.messages, counter, factor=learned.factor, **fixed).total / truth - 1)
        learned = learned.learn(estimated=estimated, billed=truth)
    return whole, hybrid


@pytest.mark.parametrize("counter", [chars_counter(4), chars_counter(3.5), estimate_tokens])
def test_the_running_task_within_three_percent(long_run, counter):
    """After three rounds every next request is known to 3 %, both ways, whatever the estimate."""
    whole, hybrid = errors_of(long_run, MessageCounter(counter))
    assert len(whole) > 50
    assert max(map(abs, whole[3:])) <= 0.03
    assert max(map(abs, hybrid[3:])) <= 0.03


def mixed_session(seed, rounds=40):
    """Yield each history of a session whose every round reads a text of another kind, and its exact tokens."""
    rng, exact = Random(seed), MessageCounter(TiktokenCounter())
    texts = [rng.choice(all_texts(rng.choice((*TUNED_KINDS, *UNSEEN_KINDS)))) for _ in range(rounds)]
    session = reading_session(texts, counter=exact, system=REFACTORING.system)
    for end in range(1, len(session), 2):
        yield session[:end], exact.request(session[:end], system=REFACTORING.system)


def mixed_errors(counter, sessions=8):
    """The errors from the tenth request on, of the calibrated estimate and of the calibrated hybrid."""
    whole, hybrid = [], []
    for seed in range(sessions):
        learned = Calibration()
        for number, (history, tokens) in enumerate(mixed_session(seed)):
            estimated = counter.request(history, system=REFACTORING.system)
            if number >= 10:
                whole.append(learned.tokens(estimated) / tokens - 1)
                hybrid.append(hybrid_count(history, counter, factor=learned.factor).total / tokens - 1)
            learned = learned.learn(estimated=estimated, billed=tokens)
    return whole, hybrid


def test_mixed_histories_within_three_percent():
    """Texts of twenty kinds in one session: the estimate by classes, calibrated, is within 3 % every time."""
    whole, hybrid = mixed_errors(MessageCounter(estimate_tokens))
    assert max(map(abs, whole)) <= 0.03
    assert max(map(abs, hybrid)) <= 0.03


def test_dividing_characters_cannot_know_the_next_kind():
    """One factor cannot fit the kind that comes next: within 3 % nine times in ten by the hybrid, but not always."""
    _, hybrid = mixed_errors(MessageCounter(chars_counter(4)))
    within = sum(abs(error) <= 0.03 for error in hybrid) / len(hybrid)
    assert 0.85 <= within < 1


# --- what a wrong count costs ----------------------------------------------------------------------------------------

GROWING = range(1_000, 60_000, 500)


@pytest.mark.parametrize(("error", "safe"), [(0.0, 0.99), (-0.2, 0.79), (-0.4, 0.59), (0.2, 1.0)])
def test_the_highest_safe_threshold(error, safe):
    """A count that is 20 % too low takes a fifth off the thresholds that work; one that is too high takes nothing."""
    found = highest_safe_threshold(GROWING, limit_tokens=30_000, error=error)
    assert found == pytest.approx(safe, abs=0.011)
    assert replay_trigger(GROWING, limit_tokens=30_000, threshold=found, error=error).died_in_round is None


def test_one_step_above_it_dies():
    """Both sides of the boundary."""
    found = highest_safe_threshold(GROWING, limit_tokens=30_000, error=-0.2)
    outcome = replay_trigger(GROWING, limit_tokens=30_000, threshold=found + 0.02, error=-0.2)
    assert outcome == TriggerOutcome(0, 0, 60)


def test_a_count_that_is_too_high_pays_more_calls():
    """The same threshold, and more compactions."""
    high, right = (
        replay_trigger(GROWING, limit_tokens=30_000, threshold=0.7, error=error).compactions for error in (0.2, 0.0)
    )
    assert high > right > 0


def test_a_step_as_large_as_the_window_is_never_safe():
    """No threshold helps against a single result that does not fit."""
    assert highest_safe_threshold([100, 5_000], limit_tokens=1_000, error=0.0) is None


@pytest.mark.parametrize(
    "wrong",
    [{"sizes": []}, {"limit_tokens": 0}, {"threshold": 0}, {"threshold": 1.1}, {"error": -1}, {"kept_share": 1}],
)
def test_a_replay_needs_settings_that_make_sense(wrong):
    """Nothing to replay, or a share out of range, is refused."""
    good = {"sizes": [1], "limit_tokens": 10, "threshold": 0.5, "error": 0.0}
    with pytest.raises(SettingsError, match="expected at least one size"):
        replay_trigger(**{**good, **wrong})
