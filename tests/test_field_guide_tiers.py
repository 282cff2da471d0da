"""The cases of the field guide about caches, spilled results, thinking and settings: what real projects reported.

Each test is named after its case and builds the case's input itself, so that it runs without the field guide's file.
"""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from course_lib.client import Request, ScriptedClient
from course_lib.collapse import CollapseStore
from course_lib.compaction import apply
from course_lib.errors import SettingsError
from course_lib.ladder import run_always
from course_lib.messages import (
    RawBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    assistant,
    tool_results,
    tool_uses,
    user,
)
from course_lib.microcompact import ClearOldResults, is_cleared
from course_lib.prompt_cache import ANTHROPIC_RULES, OPENAI_RULES, PrefixCache, requests_to_pay_back
from course_lib.session_memory import MemoryCompaction, SessionMemory
from course_lib.snip import Snip
from course_lib.spill import READ_SPILLED, FolderSpillStore, page_of, read_spilled_tool
from course_lib.strategies import Truncation
from course_lib.summarize import TwoStageSummary
from course_lib.summary_text import SUMMARY_INSTRUCTIONS
from course_lib.tiers import auto_compact_ratio, auto_compact_trigger, five_tiers
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_budget import BudgetLimits, ToolBudget
from course_lib.transcript import Transcript
from course_lib.window import Window
from course_lib.wire_anthropic import to_anthropic

AREAS = {"cache", "spill", "thinking", "counting", "config", "semantics"}
# Cases with a test in another file of the field guide.
ELSEWHERE = {
    f"CTX-{number:03}": "test_field_guide_compaction.py" for number in (70, 71, 73, 74, 82, 83, 85)
}  # fmt: skip
# Cases about parts of the course that come later.
LATER: dict[str, str] = {}
LETTERS = MessageCounter(len, message_overhead_tokens=0)
QUARTERS = MessageCounter(chars_counter(4))
SUMMARY = "<summary>## Done\nA short summary of what was done so far.</summary>"


class Memory:
    """A store in memory."""

    def __init__(self):
        self.texts = []

    def put(self, text):
        """Keep it."""
        self.texts.append(text)
        return f"spill/{len(self.texts)}.txt"


def model(*replies):
    """A model with a script; without one, it always writes the same summary."""
    return ScriptedClient(replies or itertools.repeat(SUMMARY), window_tokens=10**6, counter=QUARTERS)


def batch(number, result="ok", name="grep", *, is_error=False, said=()):
    """A call and its result."""
    call = ToolUseBlock(f"c{number}", name, {"pattern": "x"})
    return assistant(*said, call), user(ToolResultBlock(call.id, result, is_error))


def all_tiers(keep=1):
    """Every tier that edits, by itself."""
    return [
        ToolBudget(store=Memory(), limits=BudgetLimits(max_result_chars=3_000, preview_chars=100)),
        Snip(counter=QUARTERS, tokens_to_free=500),
        ClearOldResults(keep_results=keep, counter=QUARTERS),
        MemoryCompaction(memory=SessionMemory(), counter=QUARTERS, keep_messages=4),
        TwoStageSummary(client=model(), counter=QUARTERS, keep_messages=4, least_tokens=1),
    ]


# --- cache -----------------------------------------------------------------------------------------------------------


def pruned_cost(rules, requests, *, is_cold):
    """What so many requests cost with and without a prune of 21k near the start of 200k cached tokens."""
    start, old, rest = user("s" * 2_000), user("o" * 21_000), user("r" * 177_000)
    costs = []
    for after in ((start, old, rest), (start, rest)):
        cache = PrefixCache(rules, LETTERS, now=lambda: 0.0)
        cache.send(Request(messages=(start,)))
        cache.send(Request(messages=(start, old, rest)))
        if is_cold:
            cache.forget()
        costs.append(sum(rules.price(cache.send(Request(messages=after)).usage) for _ in range(requests)))
    return costs


@pytest.mark.parametrize("rules", [ANTHROPIC_RULES, OPENAI_RULES])
def test_ctx_092_a_prune_has_to_pay_for_what_it_rewrites(rules):
    """While the cache is warm, 21k of 200k pay after about a hundred requests; when it is cold, at once."""
    due = requests_to_pay_back(rules, freed_tokens=21_000, rewritten_tokens=177_000)
    assert 90 < due < 110
    for requests, is_worth_it in ((1, False), (int(due), False), (int(due) + 1, True)):
        left, pruned = pruned_cost(rules, requests, is_cold=False)
        assert (pruned < left) is is_worth_it
    left, pruned = pruned_cost(rules, 1, is_cold=True)
    assert pruned < left
    left, pruned = pruned_cost(rules, 1, is_cold=False)
    assert pruned > 7 * left  # the report: $1.83 in place of $0.24


def test_ctx_093_clearing_is_sticky_and_comes_in_batches():
    """Each request begins, byte for byte, like the one before, but for a few clearings of many results."""
    strategy = ClearOldResults(counter=QUARTERS, clear_at_least_tokens=6_000)
    messages, before, breaks = (user("go"),), "[", []
    for number in range(40):
        messages, event = apply(strategy, (*messages, *batch(number, f"{number:03}" * 700)), QUARTERS)
        now = json.dumps(to_anthropic(messages))
        is_prefix = now.startswith(before.rstrip("]"))
        assert is_prefix is (event.outcome != "applied")
        breaks += [len(event.shortened)] * (not is_prefix)
        before = now
    assert 1 < len(breaks) <= 4
    assert min(breaks) > 8


def test_ctx_095_a_placeholder_depends_on_its_own_item_only():
    """The same result has the same line, wherever it stands and however many there are."""
    lines = set()
    for count in (6, 9, 30):
        messages = (user("go"), *(m for number in range(count) for m in batch(number, "x" * 900)))
        after, _ = apply(ClearOldResults(counter=QUARTERS), messages, QUARTERS)
        cleared = [result.text for m in after for result in tool_results(m) if is_cleared(result)]
        assert len(cleared) == count - 3
        lines |= set(cleared)
    assert len(lines) == 1
    budget = ToolBudget(store=Memory(), limits=BudgetLimits(max_result_chars=500, preview_chars=50))
    first = tool_results(budget((user("go"), *batch(0, "y" * 900)))[2])[0].text
    later = budget((user("go"), *batch(7, "z" * 900), *batch(0, "y" * 900)))
    assert tool_results(later[4])[0].text == first


def test_ctx_096_a_summary_call_can_share_the_cached_prefix():
    """Same system prompt, tools and messages, the instruction last: nine tenths are read. A call is no summary."""
    tools, system = (ToolSpec("grep", "Searches.", {}),), "You are careful. " * 100
    messages = (user("go"), *(m for number in range(30) for m in batch(number, f"{number:03}" * 300)), user("go on"))
    shares = []
    for share_prefix in (True, False):
        client, cache = model(), PrefixCache(ANTHROPIC_RULES, QUARTERS, now=lambda: 0.0)
        for end in range(2, len(messages), 2):  # the conversation, as it was sent round by round
            cache.send(Request(messages=messages[: end + 1], system=system, tools=tools))
        strategy = TwoStageSummary(
            client=client, counter=QUARTERS, share_prefix=share_prefix, system=system, tools=tools, keep_messages=4
        )
        assert apply(strategy, messages, QUARTERS)[1].outcome == "applied"
        usage = cache.send(client.requests[-1]).usage
        shares.append(usage.cache_read_tokens / usage.context_tokens)
    assert shares[0] > 0.9
    assert shares[1] < 0.1
    calling = TwoStageSummary(
        client=model(assistant(ToolUseBlock("x", "grep", {}))), counter=QUARTERS, share_prefix=True, keep_messages=4
    )
    after, event = apply(calling, messages, QUARTERS)
    assert (after is messages, event.outcome) == (True, "failed")


# --- spill -----------------------------------------------------------------------------------------------------------


def test_ctx_098_reading_a_spilled_result_does_not_spill_it_again(tmp_path):
    """Two hundred thousand characters, spilled and read page by page: one file, bounded pages, an end."""
    store = FolderSpillStore(tmp_path)
    budget, tool, text = ToolBudget(store=store), read_spilled_tool(store, max_chars=60_000), "x" * 200_000
    messages = budget((user("go"), *batch(0, text)))
    path = re.search(r"spill/\w+\.txt", tool_results(messages[2])[0].text)[0]
    found = ""
    for number in range(1, 5):
        page = tool.run({"path": path, "offset_chars": len(found)})
        messages = budget((*messages, *batch(number, page, READ_SPILLED)))
        assert tool_results(messages[-1])[0].text == page
        found += page.partition("\n")[2]
    assert found == text
    assert len(list(tmp_path.iterdir())) == 1


def test_ctx_099_one_huge_line_has_pages_and_a_preview():
    """Three megabytes of JSON without a line end: cut by characters."""
    text = json.dumps([{"id": number, "name": "n" * 80} for number in range(28_000)])
    assert len(text) > 2_900_000
    assert "\n" not in text
    (stub,) = tool_results(ToolBudget(store=Memory())((user("go"), *batch(0, text)))[2])
    assert len(stub.text) < 2_200
    assert text.startswith(stub.text.partition("\n")[2])
    assert len(page_of(text, offset_chars=2_000_000)) < 20_200


def test_ctx_101_one_huge_result_never_goes_into_a_request():
    """482k tokens with a window of 200k, and the conversation otherwise empty: spilled before the first request."""
    window = Window(context_tokens=200_000, reserve_tokens=20_000)
    ladder = five_tiers(
        model(), QUARTERS, budget=ToolBudget(store=Memory()), memory=SessionMemory(), available_tokens=180_000
    )
    messages = (user("go"), *batch(0, "x" * 4 * 482_000))
    after, steps = run_always(ladder, messages, window, QUARTERS)
    assert [step.outcome for step in steps] == ["applied"]
    assert QUARTERS.messages(after) < 1_000
    small, _ = run_always(ladder, messages[:1], window, QUARTERS)
    assert small == messages[:1]


# --- thinking --------------------------------------------------------------------------------------------------------

THOUGHT = ThinkingBlock("Two folders. " * 60, "c2lnbmVk")
HIDDEN = RawBlock({"type": "redacted_thinking", "data": "aGlkZGVu"})


def thoughtful(count=8):
    """Rounds that each begin with thinking, open and redacted."""
    rounds = (m for number in range(count) for m in batch(number, "x" * 4_000, said=(THOUGHT, HIDDEN)))
    return (user("go"), *rounds, user("go on"))


def test_ctx_086_thinking_is_byte_identical_through_every_tier():
    """What is left of thinking goes out as it came in, signature and all."""
    thinking = json.dumps(to_anthropic((assistant(THOUGHT, HIDDEN),))[0]["content"])
    for strategy in all_tiers():
        after, event = apply(strategy, thoughtful(), QUARTERS)
        assert event.outcome == "applied"
        left = [record["content"][:2] for record in to_anthropic(after) if record["content"][0]["type"] == "thinking"]
        assert {json.dumps(blocks) for blocks in left} == {thinking}


@pytest.mark.parametrize("edited", [ThinkingBlock("[old]", "c2lnbmVk"), ThinkingBlock(THOUGHT.thinking[:9], "")])
def test_ctx_087_a_strategy_that_edits_thinking_is_refused(edited):
    """A placeholder beside a signature, or a shorter text: the history stays. Without the whole block it is taken."""

    def rewrite(blocks):
        def strategy(messages):
            return tuple(
                replace(m, content=tuple(one for b in m.content for one in (blocks if b == THOUGHT else (b,))))
                if m.role == "assistant"
                else m
                for m in messages
            )

        return strategy

    messages = thoughtful()
    after, event = apply(rewrite((edited,)), messages, QUARTERS)
    assert (after is messages, event.outcome) == (True, "failed")
    assert "thinking" in event.reason
    assert apply(rewrite(()), messages, QUARTERS)[1].outcome == "applied"


def test_ctx_089_reasoning_goes_with_the_call_that_follows_it():
    """No message with thinking loses its call: they go together or stay together."""
    for strategy in (*all_tiers(), Truncation(keep_messages=5, counter=QUARTERS)):
        after, _ = apply(strategy, thoughtful(), QUARTERS)
        thinking = [m for m in after if any(isinstance(b, ThinkingBlock | RawBlock) for b in m.content)]
        assert thinking
        assert all(m.content[:2] == (THOUGHT, HIDDEN) and len(tool_uses(m)) == 1 for m in thinking)


# --- what things mean ------------------------------------------------------------------------------------------------


def detect_repeat(messages, threshold=3):
    """Whether the same call failed in the same way so often."""
    errors = [result.text for m in messages for result in tool_results(m) if result.is_error]
    return any(errors.count(text) >= threshold for text in errors)


def test_ctx_068_a_detector_reads_the_log_and_not_the_view(tmp_path):
    """Collapsed or snipped, three failures in a row are no longer shown; history and transcript still have them."""
    failed = [message for number in range(3) for message in batch(number, "boom " * 1_000, is_error=True)]
    messages = (user("go"), *failed, *batch(3), user("?"))
    store = CollapseStore()
    store.collapse(1, 7, "Three searches failed.", messages)
    assert [detect_repeat(store.project(messages)), detect_repeat(messages)] == [False, True]
    with Transcript(tmp_path / "s", now=lambda: "t") as transcript:
        transcript.save(messages)
        snipped, _ = apply(Snip(counter=QUARTERS, tokens_to_free=3_000), messages, QUARTERS)
        transcript.save(snipped)
        assert not detect_repeat(transcript.view)
    with Transcript(tmp_path / "s", now=lambda: "t") as transcript:
        assert detect_repeat(transcript.everything)


def test_ctx_069_a_failed_call_stays_failed_through_every_tier():
    """Error flag and call id of each result that is left are what they were."""
    rounds = (m for number in range(9) for m in batch(number, "boom " * 900, is_error=number % 2 == 0))
    messages = (user("go"), *rounds, user("go on"))
    flags = {result.tool_use_id: result.is_error for m in messages for result in tool_results(m)}
    for strategy in all_tiers():
        after, event = apply(strategy, messages, QUARTERS)
        assert event.outcome == "applied"
        left = {result.tool_use_id: result.is_error for m in after for result in tool_results(m)}
        assert left
        assert left.items() <= flags.items()


def test_ctx_107_notes_claim_no_more_than_was_seen():
    """The model is told to say what nobody checked; rules note an edit only when its result says that it was made."""
    assert "unverified" in SUMMARY_INSTRUCTIONS
    memory = SessionMemory()
    calls = [ToolUseBlock(f"c{number}", "edit_file", {"path": f"{number}.py"}) for number in range(2)]
    memory.update(
        (user("go"), assistant(*calls), user(ToolResultBlock("c0", "edited"), ToolResultBlock("c1", "killed", True)))
    )
    assert memory.digest.edited == ("0.py",)
    assert "killed" in memory.digest.errors[0]


# --- settings --------------------------------------------------------------------------------------------------------


def test_ctx_119_a_threshold_is_as_it_was_set_or_refused():
    """Ninety-five percent is ninety-five percent, and is reported; what cannot be is an error, never another value."""
    options = {"budget": ToolBudget(store=Memory()), "memory": SessionMemory(), "available_tokens": 180_000}
    ladder = five_tiers(model(), QUARTERS, auto_at_ratio=0.95, **options)
    assert [step.at_ratio for step in ladder.steps][-1] == 0.95
    for ratio in (1.2, 0.1, -1):
        with pytest.raises(SettingsError, match=str(ratio)):
            five_tiers(model(), QUARTERS, auto_at_ratio=ratio, **options)
    with pytest.raises(SettingsError, match="a smaller reserve"):
        auto_compact_ratio(Window(context_tokens=200_000, reserve_tokens=60_000), max_output_tokens=1, fixed_tokens=0)


def test_ctx_120_capacity_reserve_and_trigger_are_three_values():
    """A window of 16k is never raised by a large output limit, and a window of 0 is no window."""
    with pytest.raises(SettingsError):
        Window(context_tokens=0)
    for max_output in (300_000, 4_096):
        with pytest.raises(SettingsError, match="16,000"):
            auto_compact_trigger(Window(context_tokens=16_000), max_output_tokens=max_output)
    window = Window(context_tokens=40_000, reserve_tokens=4_000)
    trigger = auto_compact_trigger(window, max_output_tokens=300_000)
    assert (window.context_tokens, window.input_tokens, trigger) == (40_000, 36_000, 7_000)


def test_every_case_of_these_areas_is_here():
    """Each case of the file has a test of its name here or in the named file, or a reason in LATER why not yet."""
    file = Path(__file__).resolve().parents[2] / "shared" / "cases" / "field_guide.jsonl"
    if not file.is_file():
        pytest.skip("the field guide's file is not beside the repository")
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wanted = {case["id"] for case in cases if case["area"] in AREAS}

    def named(path):
        return {f"CTX-{n}" for n in re.findall(r"^def test_ctx_(\d{3})_", path.read_text(encoding="utf-8"), re.M)}

    here = named(Path(__file__))
    assert wanted == here | set(ELSEWHERE) | set(LATER)
    assert not here & set(LATER)
    assert all(case in named(Path(__file__).parent / other) for case, other in ELSEWHERE.items())
