"""The five strategies, each one's own behaviour; what all must keep to is in the properties at the end."""

import itertools

import pytest
from compaction_histories import KEEPS, RECENTS, STRATEGIES, check_strategy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import histories

from course_lib.client import Response, ScriptedClient
from course_lib.compaction import apply
from course_lib.digest import digest_of
from course_lib.errors import (
    AuthenticationError,
    CompactionError,
    ConnectionFailedError,
    ContextOverflowError,
    EmptyResponseError,
    InvalidRequestError,
    ModelError,
    NothingToDoError,
    OverloadedError,
    PairingError,
    RateLimitError,
    SettingsError,
    StreamCutError,
)
from course_lib.messages import (
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    assistant,
    message_text,
    tool_results,
    tool_uses,
    user,
)
from course_lib.strategies import (
    SUMMARY_PROMPT,
    ContextFolding,
    SelectiveRetention,
    Summarisation,
    ToolResultCompression,
    Truncation,
)
from course_lib.tokens import MessageCounter

LETTERS = MessageCounter(len)
KEEPERS = [Truncation, SelectiveRetention, ContextFolding]


def step(number, result="ok", is_error=False, said="", **given_):
    """A call and its result."""
    call = ToolUseBlock(f"c{number}", "read_file", given_)
    return assistant(*([said] if said else []), call), user(ToolResultBlock(call.id, result, is_error))


def steps(count, result="a result of some length " * 10):
    """A task, and so many calls with results."""
    return (user("The task. Not in vendor/!"), *(m for number in range(count) for m in step(number, result)))


def model(*replies):
    """A model with a script."""
    return ScriptedClient(replies, window_tokens=50_000, counter=LETTERS)


def summarise(client, **options):
    """A summarisation with small numbers."""
    defaults = {"keep_messages": 4, "least_tokens": 10, "max_summary_tokens": 2_000, "counter": LETTERS}
    return Summarisation(client=client, **{**defaults, **options})


# --- truncation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [19, 20, 21])
def test_up_to_the_number_to_keep_nothing_goes(count):
    """Twenty messages, with the pinned one twenty-one, are nothing to do."""
    messages = (user("task"), *(assistant(f"{number}") for number in range(count - 1)))
    with pytest.raises(NothingToDoError):
        Truncation()(messages)


def test_one_message_more_and_it_gives_way_to_a_note():
    """Of twenty-two messages one goes, between the pinned first and the last twenty."""
    messages = (user("task"), *(assistant(f"{number}") for number in range(21)))
    after = Truncation()(messages)
    assert [message_text(m) for m in after[:3]] == ["task", "[1 older messages were left out here.]", "1"]
    assert len(after) == 22
    assert after[1].kind == "boundary"


def test_truncation_as_the_article_has_it_pins_nothing():
    """Without pins the task goes like any other message."""
    after = Truncation(keep_messages=4, pin_first=False, pin_latest=False)(steps(9))
    assert message_text(after[0]) == "[15 older messages were left out here.]"
    assert after[1:] == steps(9)[-4:]


def test_the_note_counts_all_that_ever_went():
    """A second truncation adds to the number of the first."""
    once = Truncation(keep_messages=4)(steps(9))
    twice = Truncation(keep_messages=4)((*once, *steps(3)[1:]))
    assert message_text(twice[1]) == "[20 older messages were left out here.]"
    assert sum(m.kind == "boundary" for m in twice) == 1


def test_a_batch_at_the_edge_is_kept_whole():
    """Where the last messages would begin with a result, its call comes along."""
    after = Truncation(keep_messages=3)(steps(9))
    assert [*map(id, after[2:])] == [*map(id, after[-4:])]
    assert tool_uses(after[2])


# --- summarisation ---------------------------------------------------------------------------------------------------


def test_the_summary_stands_between_what_was_asked_and_what_is_recent():
    """Pinned task, one summary that says how much it stands for, and the last messages as the same objects."""
    messages = steps(9)
    after = summarise(model("All is well."))(messages)
    assert after[0] is messages[0]
    assert message_text(after[1]) == "[Summary of 14 older messages]\nAll is well."
    assert after[1].kind == "summary"
    assert [*map(id, after[2:])] == [*map(id, messages[-4:])]


def test_the_model_is_shown_everything_that_goes():
    """One request, without tools: every older message as text, then the prompt; nothing of what stays."""
    client = model("summary")
    summarise(client)((*steps(5), user("newest")))
    (request,) = client.requests
    text = message_text(request.messages[0])
    assert text.startswith("<conversation>\nCALL c0 read_file")
    assert text.endswith(f"\n</conversation>\n\n{SUMMARY_PROMPT}")
    assert [f"CALL c{n}" in text for n in range(5)] == [f"RESULT of c{n}" in text for n in range(5)]
    assert [f"CALL c{n}" in text for n in range(5)] == [True] * 3 + [False] * 2
    assert request.tools == ()
    assert request.max_tokens == 2_000


def test_a_second_summary_is_written_with_the_first():
    """There is only ever one, and it counts what both stand for."""
    client = model("first summary", "second summary")
    once = summarise(client)(steps(9))
    twice = summarise(client)((*once, *steps(9)[1:]))
    assert [m.kind for m in twice].count("summary") == 1
    assert message_text(twice[1]) == "[Summary of 32 older messages]\nsecond summary"
    assert "first summary" in message_text(client.requests[1].messages[0])


@pytest.mark.parametrize(("least", "is_called"), [(0, True), (1, True), (2, False)])
def test_too_little_is_not_worth_a_call(least, is_called):
    """An older part of exactly the least tokens is summarised; one token less of it, and no model is asked."""
    messages = steps(9)
    older = LETTERS.messages(messages[1:-4])
    client = model("summary")
    _, event = apply(summarise(client, least_tokens=older - 1 + least), messages, LETTERS)
    assert (event.outcome == "applied", len(client.requests)) == (is_called, is_called)
    assert is_called or event.outcome == "skipped"


@pytest.mark.parametrize(("share", "is_called"), [(0.0999, True), (0.1001, False)])
def test_a_small_part_of_a_large_history_is_not_worth_a_call(share, is_called):
    """What is older has to be a tenth of the whole."""
    older = user("x" * 996, kind="chat")
    rest = user("y" * 8_996)
    client = model("summary")
    strategy = summarise(client, keep_messages=1, pin_first=False, pin_latest=False, least_share=share)
    assert LETTERS.messages((older, rest)) == 10_000
    _, event = apply(strategy, (older, rest), LETTERS)
    assert len(client.requests) == is_called, event


def test_an_old_summary_alone_is_not_summarised_again():
    """What counts is what has come since: a long summary and two short messages are not worth a call."""
    client = model("x" * 1_500)
    once = summarise(client)(steps(20))
    _, event = apply(summarise(client, least_tokens=1_000), (*once, user("a"), assistant("b")), LETTERS)
    assert (event.outcome, len(client.requests)) == ("skipped", 1)


def test_a_part_longer_than_the_window_goes_in_pieces():
    """Each request fits the window, every message is in one, and each sees the summary so far."""
    client = ScriptedClient(map("summary {}".format, itertools.count(1)), window_tokens=8_000, counter=LETTERS)
    messages = steps(40, "x" * 900)
    after = summarise(client, max_summary_tokens=1_000)(messages)
    assert len(client.requests) > 5
    shown = [message_text(request.messages[0]) for request in client.requests]
    assert all(any(f"RESULT of c{n}: " in text for text in shown) for n in range(38))
    assert ["Summary so far:\nsummary" in text for text in shown] == [False, *[True] * (len(shown) - 1)]
    assert message_text(after[1]).endswith(f"\nsummary {len(shown)}")


def test_one_message_longer_than_the_window_is_shown_in_part():
    """A result of megabytes is cut, and said to be; the request fits."""
    client = ScriptedClient(itertools.repeat("summary"), window_tokens=8_000, counter=LETTERS)
    summarise(client, max_summary_tokens=1_000)((*steps(1, "x" * 2_000_000), *steps(9)[1:4], user("a"), user("b")))
    assert "tokens left out" in message_text(client.requests[1].messages[0])


def test_a_window_without_room_for_a_conversation_is_said():
    """No call is made when summary and prompt fill the summariser's window."""
    client = ScriptedClient(["summary"], window_tokens=4_000, counter=LETTERS)
    _, event = apply(summarise(client), steps(9), LETTERS)
    assert event.outcome == "failed"
    assert "max_summary_tokens" in event.reason
    assert client.requests == []


def test_a_long_summary_so_far_is_cut_in_the_next_request():
    """A model that writes more than it was allowed to does not make its own next request too long."""
    client = ScriptedClient(itertools.repeat("s" * 7_000), window_tokens=8_000, counter=LETTERS)
    summarise(client, max_summary_tokens=1_000)(steps(40, "x" * 900))
    assert len(client.requests) > 5


MODEL_ERRORS = [
    ModelError("?"), InvalidRequestError("malformed"), PairingError("pair"), ContextOverflowError("too long"),
    AuthenticationError("no key"), RateLimitError("wait"), OverloadedError("busy"), ConnectionFailedError("no line"),
    StreamCutError("cut"), EmptyResponseError("nothing"), RuntimeError("a bug"), ValueError(),
]  # fmt: skip
NO_SUMMARIES = [
    assistant("  \n"),
    assistant(ToolUseBlock("x", "read_file", {})),
    assistant("I call.", ToolUseBlock("x", "read_file", {})),
    assistant(ThinkingBlock("hm", "sig")),
    Response(assistant("I can't help with that."), "refusal", Usage()),
    Response(assistant("half a"), "context_window_exceeded", Usage()),
]


@pytest.mark.parametrize("reply", MODEL_ERRORS + NO_SUMMARIES, ids=lambda reply: type(reply).__name__)
def test_a_failed_summary_changes_nothing(reply):
    """Whatever the model raises or answers instead of a summary: failed, with a reason, and the very same history."""
    messages = steps(9)
    after, event = apply(summarise(model(reply)), messages, LETTERS)
    assert after is messages
    assert messages == steps(9)
    assert event.outcome == "failed"
    assert event.reason


def test_a_failure_in_a_later_piece_changes_nothing():
    """Half a summary is none."""
    client = ScriptedClient(["first", RateLimitError("wait")], window_tokens=8_000, counter=LETTERS)
    messages = steps(40, "x" * 900)
    after, event = apply(summarise(client, max_summary_tokens=1_000), messages, LETTERS)
    assert after is messages
    assert isinstance(event.error, RateLimitError)


def test_a_summary_longer_than_what_it_replaces_is_refused():
    """A summary of more tokens is a failure; one token less than before is a success."""
    messages = steps(9)
    header = LETTERS.message(user("[Summary of 14 older messages]\n"))
    older = LETTERS.messages(messages[1:-4])
    for extra, outcome in ((0, "failed"), (-1, "applied")):
        _, event = apply(summarise(model("x" * (older - header + extra))), messages, LETTERS)
        assert event.outcome == outcome


def test_a_summary_cut_off_at_its_limit_is_taken():
    """A model that ran into max_tokens has written a summary."""
    reply = Response(assistant("As far as I came"), "max_tokens", Usage())
    assert message_text(summarise(model(reply))(steps(9))[1]).endswith("\nAs far as I came")


# --- selective retention ---------------------------------------------------------------------------------------------


def retained(*messages, **options):
    """The messages after selective retention, with three more behind them that stay."""
    return SelectiveRetention(keep_messages=3, counter=LETTERS, **options)((*messages, *map(user, "xyz")))


def test_long_results_become_placeholders_with_their_size():
    """The result of a named tool gives way to a line; its call stays, and so does the pair."""
    call, result = step(1, "x" * 500)
    after = retained(user("task"), call, result)
    assert after[1] is call
    assert tool_results(after[2]) == (ToolResultBlock("c1", "[result of read_file left out: 500 tokens]"),)


def test_errors_and_everything_the_user_said_stay():
    """Long errors, long requests, and words behind results are the same objects or word for word."""
    call, error = step(1, "E" * 500, is_error=True)
    call2, result = step(2, "x" * 500)
    mixed = user(*result.content, "long words " * 50)
    messages = (user("t" * 500), call, error, call2, mixed, assistant("a" * 500))
    after = retained(*messages)
    assert [a is b for a, b in zip(after, messages, strict=False)] == [True, True, True, True, False, False]
    assert after[4].content[1] is mixed.content[1]
    assert message_text(after[5]) == "[text left out: 500 tokens]"


def test_summaries_and_notes_stay():
    """What another compaction wrote is not thrown away by this one."""
    summary = user("s" * 500, kind="summary")
    assert retained(user("task"), summary, assistant("a" * 500))[1] is summary


def test_long_arguments_go_as_a_whole():
    """No marker inside an argument that a model might copy into a file: the argument goes, a key of its own says so."""
    call, result = step(1, "ok", path="a.py", content="x" * 500, lines=[1, 2])
    (short,) = tool_uses(retained(user("task"), call, result)[1])
    assert short.input == {"path": "a.py", "lines": [1, 2], "left_out": ["content"]}
    assert (short.id, short.name) == ("c1", "read_file")


@pytest.mark.parametrize(("size", "outcome"), [(99, "skipped"), (100, "applied")])
def test_what_is_small_stays(size, outcome):
    """A text of exactly the least tokens gives way, one with a token less does not."""
    strategy = SelectiveRetention(keep_messages=3, counter=LETTERS, least_tokens=100)
    after, event = apply(strategy, (user("task"), assistant("a" * size), *map(user, "xyz")), LETTERS)
    assert event.outcome == outcome
    assert message_text(after[1]) == ("[text left out: 100 tokens]" if outcome == "applied" else "a" * size)


def test_a_placeholder_is_never_replaced_by_another():
    """However little is called small: it is done once, and what is shorter than a placeholder is left alone."""
    strategy = SelectiveRetention(keep_messages=2, counter=LETTERS, least_tokens=1)
    messages = (*steps(5), assistant("short"), user("x"), user("y"))
    once, event = apply(strategy, messages, LETTERS)
    assert event.outcome == "applied"
    assert apply(strategy, once, LETTERS)[1].outcome == "skipped"
    assert "short" in [message_text(message) for message in once]


def test_images_in_results_go_with_them():
    """A result of images counts for what images cost, and its placeholder says so."""
    call = assistant(ToolUseBlock("c1", "look", {}))
    result = user(ToolResultBlock("c1", [ImageBlock(url="x"), ImageBlock(url="y")]))
    assert tool_results(retained(user("task"), call, result)[2])[0].text == "[result of look left out: 4,000 tokens]"


# --- tool-result compression -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "is_cut"), [(1_999, False), (2_000, False), (2_001, True)])
def test_only_results_over_the_limit_are_cut(size, is_cut):
    """2,000 tokens stay, of 2,001 the middle goes; nothing else changes."""
    messages = (user("t" * 9_000), *step(1, "x" * size), assistant("a" * 9_000), user("go on"))
    after, event = apply(ToolResultCompression(counter=LETTERS), messages, LETTERS)
    assert event.outcome == ("applied" if is_cut else "skipped")
    assert event.shortened == ((2,) if is_cut else ())
    assert LETTERS.block(after[2].content[0]) <= 2_000


def test_an_error_that_is_cut_is_still_an_error():
    """The flag, the id, and the end of the text, where the message stands, survive."""
    messages = (user("go"), *step(1, "trace " * 900 + "KeyError: 'x'", is_error=True), user("next"))
    (result,) = tool_results(apply(ToolResultCompression(counter=LETTERS), messages, LETTERS)[0][2])
    assert result.is_error
    assert result.text.endswith("KeyError: 'x'")


def test_the_last_messages_can_be_left_alone():
    """With messages to keep, only results before them are cut."""
    messages = (user("go"), *step(1, "x" * 900), *step(2, "y" * 900))
    strategy = ToolResultCompression(max_result_tokens=100, keep_messages=2, counter=LETTERS)
    assert apply(strategy, messages, LETTERS)[1].shortened == (2,)
    assert strategy(messages[:2]) == messages[:2]


# --- context folding -------------------------------------------------------------------------------------------------


def test_folding_puts_the_digest_in_the_place_of_the_older_part():
    """Task, digest, and the last four messages."""
    messages = steps(9)
    after = ContextFolding(counter=LETTERS)(messages)
    assert after[0] is messages[0]
    assert message_text(after[1]) == digest_of(messages[1:-4]).text
    assert [*map(id, after[2:])] == [*map(id, messages[-4:])]


def test_folding_hands_its_numbers_on():
    """How many decisions, findings and errors are settings."""
    text = message_text(ContextFolding(max_findings=1, counter=LETTERS)(steps(9))[1])
    assert text.count("- read_file") == 1


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", KEEPERS)
@pytest.mark.parametrize("options", [{"keep_messages": 0}, {"keep_messages": -1}, {"max_recent_tokens": 0}])
def test_senseless_settings_are_refused_at_once(strategy, options):
    """When the strategy is made, not in the middle of a run."""
    with pytest.raises(SettingsError):
        strategy(**options)


@pytest.mark.parametrize("options", [{"max_result_tokens": 0}, {"keep_messages": -1}])
def test_a_senseless_compression_is_refused_at_once(options):
    """No room for a result, or less than no message to keep."""
    with pytest.raises(SettingsError):
        ToolResultCompression(**options)


@pytest.mark.parametrize("strategy", [*KEEPERS, lambda **options: summarise(model(), **options)])
def test_a_huge_result_is_cut_although_nothing_is_old(strategy):
    """Where all messages are recent, the one that is too large is shortened, nothing is dropped, no model is asked."""
    messages = (user("the task"), *step(1, "x" * 100_000), assistant("ok"), user("next"))
    after, event = apply(strategy(keep_messages=20, max_recent_tokens=5_000, counter=LETTERS), messages, LETTERS)
    assert event.outcome == "applied"
    assert (event.kept, event.shortened) == ((0, 1, 3, 4), (2,))
    assert event.tokens_after < 6_000
    assert after[0] is messages[0]


@pytest.mark.parametrize("strategy", [*KEEPERS, lambda **options: summarise(model("summary"), **options)])
def test_a_running_batch_stays_open(strategy):
    """Compacting while a tool runs keeps its call word for word, and invents no result."""
    messages = (*steps(9), assistant("I look.", ToolUseBlock("open", "grep", {})))
    after, event = apply(strategy(keep_messages=4, counter=LETTERS), messages, LETTERS)
    assert event.outcome == "applied"
    assert after[-1] is messages[-1]


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@settings(max_examples=40)
@given(data=st.data())
def test_what_every_strategy_keeps_to(name, data):
    """On any history, with any settings: see `compaction_histories.check_step`."""
    messages = data.draw(histories())
    options = tuple(data.draw(st.sampled_from(one)) for one in (KEEPS, RECENTS, (True, False)))
    check_strategy(name, options, messages, data.draw(st.sampled_from(["chars", "cjk", "letters"])))


@given(histories(), st.sampled_from(KEEPS), st.sampled_from(RECENTS), st.sampled_from([*MODEL_ERRORS, *NO_SUMMARIES]))
@settings(max_examples=40)
def test_no_failure_of_a_model_changes_a_history(messages, keep, most, reply):
    """A summariser that fails leaves the same messages; at most their results were cut, as without a model."""
    client = ScriptedClient(itertools.repeat(reply), window_tokens=10**6, counter=LETTERS)
    strategy = Summarisation(client=client, keep_messages=keep, max_recent_tokens=most, least_tokens=1)
    after, event = apply(strategy, messages, strategy.counter)
    if client.requests:
        assert event.outcome == "failed"
        assert isinstance(event.error, CompactionError | ModelError | RuntimeError | ValueError)
    if event.outcome != "applied":
        assert after is messages
    assert not event.summarised
    assert not any(message.kind == "summary" for message in after)


def test_texts_of_any_block_are_the_blocks_own():
    """A strategy never edits a text in place of its block: the old message still has the old words."""
    messages = steps(9)
    text = tool_results(messages[2])[0].content[0]
    apply(ToolResultCompression(max_result_tokens=50, counter=LETTERS), messages, LETTERS)
    assert tool_results(messages[2])[0].content[0] is text
    assert text == TextBlock("a result of some length " * 10)
