"""The model of a provider's prompt cache, held to the providers' documented rules and to a real server."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations

from course_lib.client import Request
from course_lib.errors import SettingsError
from course_lib.measure.llama_cache import (
    LlamaServerError,
    measure_cache,
    predicted_shares,
    recorded_run,
    requests_to_compare,
    running_server,
    why_not,
)
from course_lib.messages import ToolResultBlock, ToolSpec, ToolUseBlock, Usage, assistant, user
from course_lib.prompt_cache import (
    ANTHROPIC_RULES,
    LLAMA_CPP_RULES,
    OPENAI_EARLIER_RULES,
    OPENAI_RULES,
    CacheRules,
    PrefixCache,
    requests_to_pay_back,
)
from course_lib.tokens import MessageCounter, TiktokenCounter

LETTERS = MessageCounter(len, message_overhead_tokens=0)
ALL_RULES = [ANTHROPIC_RULES, OPENAI_RULES, OPENAI_EARLIER_RULES, LLAMA_CPP_RULES]
TOOLS = (ToolSpec("ls", "Lists files. " * 60, {"type": "object"}),)


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        """The time."""
        return self.seconds


def cache_for(rules, clock=None):
    """A cache that counts letters."""
    return PrefixCache(rules, LETTERS, now=clock or Clock())


def sent(cache, *messages, system="", tools=()):
    """What became of a request, as (new, read, written)."""
    usage = cache.send(Request(messages=messages, system=system, tools=tools)).usage
    assert usage.output_tokens == 0
    return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens


# --- the documented rules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "is_kept"), [(1_023, False), (1_024, True)])
@pytest.mark.parametrize("rules", ALL_RULES[:3])
def test_a_short_beginning_is_not_kept(rules, length, is_kept):
    """1,024 tokens are kept and read again, one less is paid in full each time."""
    cache, message = cache_for(rules), user("a" * length)
    sent(cache, message)
    assert (sent(cache, message)[1] > 0) is is_kept


@pytest.mark.parametrize(("rules", "seconds"), [(ANTHROPIC_RULES, 300), (OPENAI_RULES, 1_800)])
@pytest.mark.parametrize(("late", "is_kept"), [(-0.1, True), (0, False)])
def test_what_is_not_used_is_forgotten(rules, seconds, late, is_kept):
    """Five minutes at one provider, thirty at the other."""
    clock = Clock()
    cache, message = cache_for(rules, clock), user("a" * 2_000)
    sent(cache, message)
    clock.seconds += seconds + late
    assert sent(cache, message) == ((0, 2_000, 0) if is_kept else (0, 0, 2_000))


def test_use_starts_the_time_anew():
    """Read every four minutes, a beginning lives for ever."""
    clock = Clock()
    cache, message = cache_for(ANTHROPIC_RULES, clock), user("a" * 2_000)
    sent(cache, message)
    for _ in range(10):
        clock.seconds += 240
        assert sent(cache, message) == (0, 2_000, 0)


def test_a_server_of_ones_own_forgets_nothing():
    """No time to live, no least length; one token is always computed."""
    clock = Clock()
    cache = cache_for(LLAMA_CPP_RULES, clock)
    assert sent(cache, user("short")) == (5, 0, 0)
    clock.seconds = 10**9
    assert sent(cache, user("short")) == (1, 4, 0)
    assert sent(cache, user("short"), assistant("yes"), user("go on")) == (8, 5, 0)


@pytest.mark.parametrize(("blocks_between", "is_found"), [(19, True), (20, False)])
def test_anthropic_looks_at_twenty_blocks(blocks_between, is_found):
    """The marked block is the first of them: nineteen blocks before it are searched, and no more."""
    cache, first = cache_for(ANTHROPIC_RULES), user("a" * 2_000)
    sent(cache, first)
    more = user(*["b" * 10] * blocks_between)
    assert sent(cache, first, more)[1] == (2_000 if is_found else 0)


def test_two_marks_reach_further_than_one():
    """The mark two messages before the end finds what the one at the end can't: a round of many parallel calls."""
    cache, first = cache_for(ANTHROPIC_RULES), user("a" * 2_000)
    sent(cache, first)
    calls = [ToolUseBlock(f"c{number}", "ls", {}) for number in range(15)]
    results = [ToolResultBlock(call.id, "b" * 10) for call in calls]
    assert sent(cache, first, assistant(*calls), user(*results))[1] == 2_000
    one_mark = cache_for(replace(ANTHROPIC_RULES, marks=1))
    sent(one_mark, first)
    assert sent(one_mark, first, assistant(*calls), user(*results))[1] == 0


def test_openai_finds_from_anywhere():
    """No look-back: a beginning is found behind forty blocks."""
    cache, first = cache_for(OPENAI_RULES), user("a" * 2_000)
    sent(cache, first)
    assert sent(cache, first, user(*["b"] * 40)) == (0, 2_000, 40)


def test_marked_beginnings_are_whole():
    """Where marks decide, a changed message is read from nowhere, however it begins; an earlier end is found."""
    cache, first = cache_for(OPENAI_RULES), user("a" * 2_000)
    sent(cache, first)
    sent(cache, first, user("b" * 3_000))
    assert sent(cache, first, user("b" * 2_999 + "c")) == (0, 2_000, 3_000)


def test_earlier_models_read_to_the_token_in_steps():
    """Everything is kept, and read in steps of 128, also up to the middle of a message; writing is not billed."""
    cache, first = cache_for(OPENAI_EARLIER_RULES), user("a" * 1_000)
    assert sent(cache, first, user("b" * 1_000)) == (2_000, 0, 0)
    assert sent(cache, first, user("b" * 500 + "c" * 500)) == (2_000 - 1_408, 1_408, 0)
    assert 1_408 == 1_500 // 128 * 128


def test_tools_and_system_prompt_come_first():
    """A new tool changes everything, a new system prompt leaves the tools, a new message leaves both."""
    cache = cache_for(ANTHROPIC_RULES)
    tools_tokens = sum(map(LETTERS.tool, TOOLS))
    longer = (ToolSpec("ls", "Lists files! " * 100, {"type": "object"}),)
    base, other = "s" * 2_000, "z" * 2_000
    rules = replace(ANTHROPIC_RULES, min_tokens=100)
    cache = cache_for(rules)
    assert sent(cache, user("a"), system=base, tools=TOOLS)[1] == 0
    assert sent(cache, user("b"), system=base, tools=TOOLS)[1] == tools_tokens + 2_000
    assert sent(cache, user("b"), system=other, tools=TOOLS)[1] == tools_tokens
    assert sent(cache, user("b"), system=base, tools=longer)[1] == 0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10])
def test_the_end_of_a_request_is_always_marked(count):
    """However few messages there are: sent again, all of it is read."""
    cache = cache_for(ANTHROPIC_RULES)
    messages = [user("a" * 2_000), *(user(f"{number}" * 50) for number in range(count - 1))]
    sent(cache, *messages)
    assert sent(cache, *messages)[0::2] == (0, 0)


def test_prices_are_the_documented_ones():
    """Writing costs a quarter more and reading a tenth, at both; earlier models wrote for nothing."""
    usage = Usage(input_tokens=1_000, cache_read_tokens=1_000, cache_write_tokens=1_000)
    assert ANTHROPIC_RULES.price(usage) == OPENAI_RULES.price(usage) == pytest.approx(1_000 + 100 + 1_250)
    assert OPENAI_EARLIER_RULES.write_price == 1.0
    assert LLAMA_CPP_RULES.price(usage) == 2_000


@pytest.mark.parametrize(
    "setting",
    [
        {"min_tokens": 0},
        {"step_tokens": 0},
        {"ttl_seconds": 0},
        {"ttl_seconds": math.nan},
        {"marks": 0},
        {"marks": -1},
        {"lookback_blocks": 0},
        {"read_price": -0.1},
        {"write_price": -1},
        {"always_new_tokens": -1},
    ],
)
def test_rules_that_make_no_sense_are_refused(setting):
    """Each number has its bound."""
    with pytest.raises(SettingsError):
        CacheRules(name="x", **setting)


def test_forgetting_is_complete():
    """After a long pause everything is paid again."""
    cache = cache_for(OPENAI_RULES)
    sent(cache, user("a" * 2_000))
    cache.forget()
    assert sent(cache, user("a" * 2_000)) == (0, 0, 2_000)


# --- what it means ---------------------------------------------------------------------------------------------------


def growing(cache, rounds, edit=lambda messages, _: messages):
    """Send a conversation round after round; return the price of each request."""
    messages, prices = (user("the task"),), []
    for number in range(rounds):
        call = ToolUseBlock(f"c{number}", "read", {})
        messages = (*messages, assistant(call), user(ToolResultBlock(call.id, chr(97 + number) * 2_000)))
        messages = edit(messages, number)
        prices.append(cache.rules.price(cache.send(Request(messages=messages, system="s" * 2_000)).usage))
    return prices


@pytest.mark.parametrize("rules", ALL_RULES)
def test_a_conversation_that_only_grows_pays_for_what_is_new(rules):
    """After the first requests, each costs about its new messages and a tenth of the rest."""
    prices = growing(cache_for(rules), 20)
    for number, price in enumerate(prices[2:], 2):
        whole = 2_000 + 2_100 * (number + 1)
        assert price < 1.25 * 2_300 + 0.1 * whole + 200, number


def test_clearing_one_result_each_turn_costs_more_than_leaving_all():
    """The surprise of chapter 08: a shorter conversation that is dearer, since the cache is broken every time."""

    def clear_the_fifth_last(messages, number):
        place = 2 * (number - 5) + 2
        if place < 2:
            return messages
        (old,) = messages[place].content
        cleared = replace(messages[place], content=(ToolResultBlock(old.tool_use_id, "cleared"),))
        return (*messages[:place], cleared, *messages[place + 1 :])

    left, cleared = (
        growing(cache_for(ANTHROPIC_RULES), 30),
        growing(cache_for(ANTHROPIC_RULES), 30, clear_the_fifth_last),
    )
    assert sum(cleared) > 1.2 * sum(left)


@pytest.mark.parametrize("rules", [ANTHROPIC_RULES, OPENAI_RULES])
def test_the_turns_to_pay_back_are_those_of_the_cache(rules):
    """The formula says what the cache bills: a request before the edit has cost more, and after it less."""
    freed, behind = 4_000, 6_000
    due = requests_to_pay_back(rules, freed_tokens=freed, rewritten_tokens=behind)
    assert due == pytest.approx(6_000 * 1.15 / 400)

    def cost(first_result, requests):
        cache = cache_for(rules)
        before = (user("t" * 2_000), user("o" * freed), user("b" * behind))
        sent(cache, before[0]), sent(cache, *before)
        after = (before[0], user(first_result), before[2]) if first_result else (before[0], before[2])
        return sum(rules.price(cache.send(Request(messages=after)).usage) for _ in range(requests))

    assert cost("", math.floor(due)) > cost("o" * freed, math.floor(due))
    assert cost("", math.ceil(due)) < cost("o" * freed, math.ceil(due))


def test_paying_back_has_its_limits():
    """Nothing behind the edit costs nothing; where reading is free, a cached token is never worth taking out."""
    assert requests_to_pay_back(ANTHROPIC_RULES, freed_tokens=5, rewritten_tokens=0) == 0
    assert requests_to_pay_back(ANTHROPIC_RULES, freed_tokens=0, rewritten_tokens=5) == math.inf
    assert requests_to_pay_back(LLAMA_CPP_RULES, freed_tokens=5, rewritten_tokens=5) == math.inf
    assert requests_to_pay_back(LLAMA_CPP_RULES, freed_tokens=5, rewritten_tokens=0) == 0


@given(conversations(), conversations(prefix="d"), st.sampled_from(ALL_RULES), st.integers(0, 6))
def test_the_bill_always_adds_up(one, two, rules, cut):
    """For any two requests: the buckets are disjoint and together the request; what is read was sent before."""
    rules = replace(rules, min_tokens=1, step_tokens=1)
    cache = PrefixCache(rules, MessageCounter(len), now=lambda: 0.0)
    both = (*one[:cut], *two)
    for messages in (one, both, one, both):
        request = Request(messages=messages, system="Be brief.")
        use = cache.send(request)
        total = cache.counter.request(messages, system="Be brief.")
        assert use.usage.context_tokens == total
        assert min(vars(use.usage).values()) >= 0
        assert use.messages_read <= len(messages)
    again = cache.send(Request(messages=both, system="Be brief.")).usage
    assert again.cache_read_tokens == total - rules.always_new_tokens


@given(conversations(), st.sampled_from(ALL_RULES))
def test_a_copy_is_read_like_the_original(messages, rules):
    """What counts is what is sent, not which objects it is made of."""
    cache = PrefixCache(replace(rules, min_tokens=1, step_tokens=1), MessageCounter(len), now=lambda: 0.0)
    cache.send(Request(messages=messages))
    usage = cache.send(Request(messages=tuple(replace(message) for message in messages))).usage
    assert usage.input_tokens + usage.cache_write_tokens == rules.always_new_tokens


# --- a real server ---------------------------------------------------------------------------------------------------


def check_shares(steps):
    """The model of the cache says of every request what the server said, within two points of a hundred."""
    predicted = predicted_shares(LLAMA_CPP_RULES, MessageCounter(TiktokenCounter()))
    assert [step.name for step in steps] == [name for name, _ in requests_to_compare()]
    for step, share in zip(steps, predicted, strict=True):
        assert step.cached_share == pytest.approx(share, abs=0.02), step
    by_name = {step.name: step for step in steps}
    first, same, longer = (by_name[name] for name in ("first", "identical", "one more turn"))
    assert first.cached_tokens == 0
    assert same.cached_tokens == same.prompt_tokens - LLAMA_CPP_RULES.always_new_tokens
    assert longer.cached_tokens == first.prompt_tokens
    assert by_name["one old result cleared"].cached_share < 0.05


def test_the_recorded_run_is_what_the_model_says():
    """Identical, longer, edited: the recording of a llama.cpp server and the model agree."""
    run = recorded_run()
    assert run.server.startswith("llama.cpp")
    check_shares(run.steps)


def test_the_recorded_run_is_about_these_requests():
    """The requests are the recorded ones: as long as the server said, as far as another tokenizer can tell."""
    counter = MessageCounter(TiktokenCounter())
    counts = [counter.request(one.messages, system=one.system) for _, one in requests_to_compare()]
    recorded = [step.prompt_tokens for step in recorded_run().steps]
    assert [count / recorded[0] for count in recorded] == pytest.approx([n / counts[0] for n in counts], abs=0.03)


def test_a_real_server_says_the_same():
    """Live, where the optional packages are installed and this processor can run them."""
    if why_not():
        pytest.skip(f"no llama.cpp server: {why_not()}")
    try:
        with running_server() as (address, key):
            steps = measure_cache(address, key)
    except LlamaServerError as error:
        if "instructions" in str(error):
            pytest.skip(str(error))
        raise
    check_shares(steps)


def test_no_server_is_an_error_that_says_so():
    """Nobody listens: an error of the course with the address in it."""
    with pytest.raises(LlamaServerError, match=r"http://127\.0\.0\.1:9/"):
        measure_cache("http://127.0.0.1:9", "key")
