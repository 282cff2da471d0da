"""The samples and the practice of chapter 07: bad summaries, a bad writer, a killed one, a session full of facts."""

import pytest

from course_lib.checks.practice_summaries import SESSION_FACTS, practice_work, try_summary
from course_lib.client import ScriptedClient
from course_lib.errors import SettingsError, SummaryError
from course_lib.journal_file import JournalFile
from course_lib.messages import ToolSpec, message_text, user
from course_lib.simulation.bad_summaries import BAD_SUMMARIES, SKELETON, SkeletonWriter
from course_lib.simulation.killed_writer import RECORD_CHARS, kill_a_writer
from course_lib.summary_text import read_response
from course_lib.tool_pairs import find_pair_faults
from course_lib.transcript_text import as_text

LOOK = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
SETTINGS = {"prompt": "Summarise the rules.", "keep_messages": 2, "max_summary_tokens": 300}


@pytest.mark.parametrize("name", BAD_SUMMARIES)
def test_each_bad_summary_has_its_fault(name):
    """The parser refuses each of them for the reason that stands beside it."""
    bad = BAD_SUMMARIES[name]
    with pytest.raises(SummaryError) as caught:
        read_response(bad.response)
    assert caught.value.fault == bad.fault


def test_there_are_twenty_and_every_fault_that_a_text_can_show():
    """Twenty samples; only "too long" needs a comparison and is not among them."""
    assert len(BAD_SUMMARIES) == 20
    assert len({bad.fault for bad in BAD_SUMMARIES.values()}) == 8


def test_the_bad_writer_spoils_every_other_summary_and_nothing_else():
    """Requests with tools pass through; of the others the first, third, … get headings only, and all are billed."""
    writer = SkeletonWriter(ScriptedClient(["one", "two", "three", "four"], window_tokens=5_000))
    said = [message_text(writer.complete((user("go"),), tools=tools).message) for tools in ((), (LOOK,), (), ())]
    assert said == [SKELETON, "two", "three", SKELETON]
    assert writer.window_tokens == 5_000
    assert len(writer.client.requests) == 4


def test_a_killed_writer_keeps_what_it_promised(tmp_path):
    """Every promised record is in the journal, whole and in order."""
    promised = kill_a_writer(tmp_path / "log.jsonl", after_records=5)
    with JournalFile(tmp_path / "log.jsonl") as journal:
        numbers = [record["number"] for record in journal.records]
        assert all(len(record["text"]) == RECORD_CHARS for record in journal.records)
    assert promised >= 5
    assert len(numbers) >= promised
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_session_of_the_exercise_holds_every_fact():
    """It is a sound conversation, and each fact stands in it word for word."""
    session = practice_work()
    text = "\n".join(as_text(message, 10**9, len) for message in session)
    assert not find_pair_faults(session)
    assert [name for name, words in SESSION_FACTS.items() if words not in text] == []


def test_nobody_gets_the_facts_for_free():
    """Asked for nothing, the model keeps none of them; and keeping messages alone does not do it either."""
    assert try_summary({**SETTINGS, "prompt": "Summarise briefly."}).recall == 0
    assert try_summary({**SETTINGS, "prompt": "Summarise briefly.", "keep_messages": 20}).recall < 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt": " "},
        {"prompt": 3},
        {"keep_messages": 0},
        {"keep_messages": True},
        {"max_summary_tokens": 0},
        {"extra": 1},
    ],
)
def test_settings_that_make_no_sense(wrong):
    """A wrong value, type or name gets an error that says which."""
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        try_summary({**SETTINGS, **wrong})
    with pytest.raises(SettingsError, match="dictionary"):
        try_summary([])
