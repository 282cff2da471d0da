"""Tier 5, first half: notes without a model call, each message noted once, and nothing lost by a resume."""

import copy
from dataclasses import replace

import pytest
from compaction_histories import check_step
from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from course_lib.compaction import apply
from course_lib.errors import NothingToDoError
from course_lib.messages import ToolResultBlock, ToolUseBlock, Usage, assistant, message_text, user
from course_lib.microcompact import ClearOldResults
from course_lib.session_memory import MemoryCompaction, SessionMemory
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.transcript import Transcript

COUNTER = MessageCounter(chars_counter(4))


def edit(number, result="edited"):
    """A call that edits a file, and its result."""
    call = ToolUseBlock(f"e{number}", "edit_file", {"path": f"{number}.py"})
    return assistant(f"I decided to edit {number}, because it is next.", call), user(ToolResultBlock(call.id, result))


def work(count):
    """A task, and so many edits."""
    return (user("Fix it. Never touch vendor/."), *(message for number in range(count) for message in edit(number)))


def compaction(memory, keep=2):
    """The strategy for these notes."""
    return MemoryCompaction(memory=memory, counter=COUNTER, keep_messages=keep)


def test_what_rules_can_find_is_noted():
    """Orders word for word, decisions, errors, edited files; no findings, which are long and can be had again."""
    memory = SessionMemory()
    call = ToolUseBlock("g", "grep", {"pattern": "x"})
    memory.update((*work(2), assistant(call), user(ToolResultBlock("g", "no such folder", is_error=True))))
    found = memory.digest
    assert found.orders == ("Fix it. Never touch vendor/.",)
    assert found.decisions == tuple(f"I decided to edit {number}, because it is next." for number in range(2))
    assert (found.edited, found.errors, found.findings) == (("0.py", "1.py"), ("grep x: no such folder",), ())


def test_message_by_message_is_the_same_as_all_at_once():
    """However often it looks, the notes are those of one look at everything."""
    messages, at_once, often = work(5), SessionMemory(), SessionMemory()
    at_once.update(messages)
    for end in range(1, len(messages) + 1):
        often.update(messages[:end])
        often.update(messages[:end])
    assert often.digest == at_once.digest


def test_a_batch_is_noted_once_its_results_are_there():
    """Looked at between a call and its result, the edit is not lost."""
    memory, messages = SessionMemory(), work(1)
    memory.update(messages[:2])
    assert memory.digest.edited == ()
    memory.update(messages)
    assert memory.digest.edited == ("0.py",)


def test_what_was_only_changed_is_not_counted_again():
    """A usage was dropped, an old result cleared: the same messages, no new ones."""
    memory = SessionMemory()
    messages = tuple(replace(m, usage=Usage(9)) if m.role == "assistant" else m for m in work(6))
    memory.update(messages)
    before = memory.digest
    memory.update(tuple(replace(message, usage=None) for message in messages))
    long = (*messages[:2], user(ToolResultBlock("e0", "edited " * 99)), *messages[3:])
    memory.update(ClearOldResults(keep_results=1, counter=COUNTER)(long))
    assert memory.digest == before


def test_the_same_words_said_twice_are_two_messages():
    """What counts is the message, not its text; an id that is used again is another call."""
    memory = SessionMemory()
    memory.update((user("Fix it."), *edit(1), *edit(1), user("Fix it.")))
    assert memory.digest.messages == 6
    assert memory.digest.edited == ("1.py",)


@pytest.mark.parametrize(("max_decisions", "kept"), [(1, [9]), (3, [7, 8, 9]), (10, list(range(10)))])
def test_only_the_latest_decisions_are_kept(max_decisions, kept):
    """The limit is a sharp one; of edited files all are kept."""
    memory = SessionMemory(max_decisions=max_decisions)
    memory.update(work(10))
    assert [int(line.split()[4].strip(",")) for line in memory.digest.decisions] == kept
    assert len(memory.digest.edited) == 10


def test_notes_in_own_words():
    """A note is kept once, a blank one not at all, the oldest goes when there are too many, a huge one is cut."""
    memory = SessionMemory(max_notes=3)
    for note in (" first ", "first", "", " \n", "second", "third", "fourth", "x" * 9_999):
        memory.remember(note)
    assert memory.notes[:2] == ("third", "fourth")
    assert len(memory.notes) == 3
    assert len(memory.notes[2]) < 1_600


def test_a_note_cannot_look_like_a_heading():
    """Lines of a note are set in, so that reading back takes it for what it is."""
    memory, again = SessionMemory(), SessionMemory()
    memory.update(work(1))
    note = "two lines\n## Decisions\n- nothing\n## Notes\n- more"
    memory.remember(note)
    again.update((user(memory.text, kind="summary"), user("go on")))
    assert again.notes == (note,)
    assert again.digest.decisions == memory.digest.decisions
    assert again.digest.state == memory.digest.state


@pytest.mark.parametrize(
    ("messages", "is_empty"),
    [((), True), ((assistant("Hello."),), True), ((user("Hello."),), False), ((user("x", kind="summary"),), False)],
)
def test_when_there_are_no_notes(messages, is_empty):
    """An order or an earlier summary is worth keeping, a greeting of the model is not."""
    memory = SessionMemory()
    memory.update(messages)
    assert memory.is_empty is is_empty


# --- as a strategy ---------------------------------------------------------------------------------------------------


def test_the_older_part_gives_way_to_the_notes():
    """Task, notes, recent messages; no model is called, and what was asked stands word for word."""
    memory, messages = SessionMemory(), work(20)
    after, event = apply(compaction(memory), messages, COUNTER)
    assert event.outcome == "applied"
    assert [message.kind for message in after] == ["chat", "summary", "chat", "chat"]
    assert after[0] is messages[0]
    assert "19.py" not in message_text(after[1]) or "18.py" in message_text(after[1])
    assert all(f"- {number}.py" in message_text(after[1]) for number in range(18))


def test_compacting_again_counts_nothing_twice():
    """Ten compactions of one session: every edit is there, and the number of messages is that of the messages."""
    memory, messages, said = SessionMemory(), work(0), 1
    for turn in range(10):
        messages = (*messages, *(m for number in range(5) for m in edit(10 * turn + number, "edited " * 99)))
        said += 10
        messages, event = apply(compaction(memory), messages, COUNTER)
        assert event.outcome == "applied"
    text = message_text(messages[1])
    assert text.startswith(f"[Digest of {said} older messages")
    assert len(memory.digest.edited) == 50
    assert text.count("Never touch vendor/") == 1


def test_notes_survive_a_resume(tmp_path):
    """A new memory that sees the resumed view knows what the old one knew."""
    old = SessionMemory()
    old.remember("The parser is slow.")
    messages, _ = apply(compaction(old), work(12), COUNTER)
    with Transcript(tmp_path / "s", now=lambda: "t") as transcript:
        transcript.save(messages)
    new = SessionMemory()
    with Transcript(tmp_path / "s", now=lambda: "t") as transcript:
        new.update(transcript.view)
    assert new.notes == old.notes
    assert set(new.digest.edited) == set(old.digest.edited)
    assert new.digest.orders == old.digest.orders


@pytest.mark.parametrize("messages", [(user("go"),), (user("go"), *edit(1)), (assistant("Hi."), user("Hello"))])
def test_nothing_old_is_nothing_to_do(messages):
    """A short conversation is left alone: skipped, and no failure."""
    with pytest.raises(NothingToDoError):
        compaction(SessionMemory(), keep=10)(messages)
    assert apply(compaction(SessionMemory(), keep=10), messages, COUNTER)[1].outcome == "skipped"


@pytest.mark.parametrize(("spare", "outcome"), [(0, "applied"), (-1, "skipped")])
def test_notes_that_are_too_long_are_left_to_a_model(spare, outcome):
    """At the limit they are used, one token above it they are not."""
    memory, messages = SessionMemory(), work(20)
    memory.update(messages)
    limit = COUNTER.text(memory.text) + spare
    strategy = MemoryCompaction(memory=memory, counter=COUNTER, keep_messages=2, max_notes_tokens=limit)
    assert apply(strategy, messages, COUNTER)[1].outcome == outcome


@given(histories(), st.sampled_from([1, 4, 20]), st.sampled_from([400, 16_000]))
def test_random_histories(messages, keep, recent):
    """Pairs whole, every message accounted for, newest words there; a second time does no harm."""
    strategy = MemoryCompaction(memory=SessionMemory(), counter=COUNTER, keep_messages=keep, max_recent_tokens=recent)
    snapshot = copy.deepcopy(messages)
    after, event = apply(strategy, messages, COUNTER)
    assert messages == snapshot
    check_step(messages, after, event, COUNTER)
    again, second = apply(strategy, after, COUNTER)
    check_step(after, again, second, COUNTER)
