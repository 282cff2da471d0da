"""Everything that was said, on disk: a resumed session sees the view of before the stop, and nothing is there twice."""

import contextlib
import errno
import itertools
import json
import os
import random
import signal
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import broken_conversations, conversations, histories

from course_lib import transcript as transcript_module
from course_lib.agent import Agent, Tool
from course_lib.client import ScriptedClient
from course_lib.compaction import apply, rewrite_above
from course_lib.errors import CourseError, TranscriptError
from course_lib.events import RequestSent, ToolFinished
from course_lib.messages import (
    TextBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    tool_results,
    user,
)
from course_lib.microcompact import ClearOldResults
from course_lib.strategies import Truncation
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.tool_pairs import NO_RESULT_TEXT, find_pair_faults, repair
from course_lib.transcript import Transcript

COUNTER = MessageCounter(chars_counter(4))
is_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and modes of a POSIX system")


def opened(folder, **settings):
    """The transcript in the folder, with a clock that stands still and no waiting for the disk."""
    return Transcript(Path(folder), now=lambda: "2026-11-30T12:00:00Z", **{"sync": "system", **settings})


def resumed(folder):
    """What a new process sees: the view and everything."""
    with opened(folder) as transcript:
        return transcript.view, transcript.everything


def records(folder):
    """The records in the file."""
    return [json.loads(line) for line in (Path(folder) / "transcript.jsonl").read_text(encoding="utf-8").splitlines()]


def snapshots(folder):
    """The names of the snapshots, in order."""
    return sorted(file.name for file in (Path(folder) / "snapshots").glob("*"))


def exactly(messages):
    """What must be the same after a resume: also usage and id, which equality leaves out."""
    return [(m, m.kind, m.usage, m.id) for m in messages]


@pytest.fixture
def folder(tmp_path):
    """A session's folder that is not there yet."""
    return tmp_path / "sessions" / "s1"


ONE, TWO, THREE, FOUR = user("one"), assistant("two", usage=Usage(10, 1, 2, 3)), user("three"), assistant("four")
SHORT = user("one and two, in short", kind="summary")

# --- saving and resuming ---------------------------------------------------------------------------------------------


def test_a_conversation_comes_back(folder):
    """Saved as it grows, message by message or several at once, it is read as it was."""
    with opened(folder) as transcript:
        transcript.save((ONE,))
        transcript.save((ONE, TWO, THREE))
        transcript.save((ONE, TWO, THREE))
        assert transcript.view == (ONE, TWO, THREE)
    view, everything = resumed(folder)
    assert exactly(view) == exactly(everything) == exactly((ONE, TWO, THREE))
    assert [record["id"] for record in records(folder)] == ["m1", "m2", "m3"]


@given(conversations() | histories(max_moves=8))
@settings(max_examples=60)
def test_every_kind_of_message_survives(tmp_path_factory, messages):
    """Images, thinking, raw blocks, nested results, odd texts: what is resumed is what was saved."""
    folder = tmp_path_factory.mktemp("any")
    with opened(folder) as transcript:
        transcript.save(messages)
    assert exactly(resumed(folder)[0]) == exactly(messages)


@given(broken_conversations())
@settings(max_examples=40)
def test_a_broken_conversation_is_saved_as_it_is(tmp_path_factory, messages):
    """A transcript tells what was, and mends nothing."""
    folder = tmp_path_factory.mktemp("broken")
    with opened(folder) as transcript:
        transcript.save(messages)
    assert resumed(folder)[0] == messages


@pytest.mark.parametrize(
    "odd", ["a\u2028b\u2029c\x85d", "half \ud83d pair", "\x00\x1b[31m", "\r\n\r", "数据 👩\u200d👩\u200d👧"]
)
def test_odd_texts_are_one_line_and_come_back(folder, odd):
    """Line separators, halves of surrogate pairs and control characters are escaped and come back."""
    message = user(odd, ToolResultBlock("c1", odd))
    with opened(folder) as transcript:
        transcript.save((message,))
        transcript.save((user(odd, kind="summary"),))
    assert len((folder / "transcript.jsonl").read_bytes().decode("utf-8").splitlines()) == 2
    assert resumed(folder) == ((user(odd, kind="summary"),), (message, user(odd, kind="summary")))


def test_ids_and_kinds_survive(folder):
    """A message's own id and its kind are part of what is kept."""
    message = replace(ONE, kind="restored", id="msg_1")
    with opened(folder) as transcript:
        transcript.save((message,))
    assert exactly(resumed(folder)[0]) == exactly((message,))


def test_a_boundary_is_the_view_from_there_on(folder):
    """After a compaction, resume sees the compacted view, and the full conversation is still in the file."""
    with opened(folder) as transcript:
        transcript.save((ONE, TWO, THREE))
        transcript.save((SHORT, THREE), reason="summary")
        transcript.save((SHORT, THREE, FOUR))
    view, everything = resumed(folder)
    assert exactly(view) == exactly((SHORT, THREE, FOUR))
    assert everything == (ONE, TWO, THREE, SHORT, FOUR)
    boundary = records(folder)[3]
    assert (boundary["type"], boundary["reason"], boundary["view"][1]) == ("boundary", "summary", "m3")


def test_the_newest_of_two_boundaries_wins(folder):
    """Compacted twice, the second view is the one to go on from."""
    shorter = user("all of it, in short", kind="summary")
    with opened(folder) as transcript:
        transcript.save((ONE, TWO, THREE))
        transcript.save((SHORT, THREE))
        transcript.save((SHORT, THREE, FOUR))
        transcript.save((shorter, FOUR))
    assert exactly(resumed(folder)[0]) == exactly((shorter, FOUR))


def test_nothing_is_appended_twice_after_a_resume(folder):
    """A resumed view that is saved again adds nothing; a new message adds one record."""
    with opened(folder) as transcript:
        transcript.save((ONE, TWO, THREE))
        transcript.save((SHORT, THREE))
    before = (folder / "transcript.jsonl").read_bytes()
    with opened(folder) as transcript:
        transcript.save(transcript.view)
        assert (folder / "transcript.jsonl").read_bytes() == before
        transcript.save((*transcript.view, FOUR))
    assert len(records(folder)) == 5
    assert len({record.get("id", "boundary") for record in records(folder)}) == 5
    assert resumed(folder)[1] == (ONE, TWO, THREE, SHORT, FOUR)


def test_a_message_that_only_lost_its_usage_is_not_written_again(folder):
    """`apply` takes the usage from what stands behind a cut: the view has none, and the words are there once."""
    history = (ONE, TWO, THREE, assistant("word " * 500, usage=Usage(99)), user("go"))
    with opened(folder) as transcript:
        transcript.save(history)
        after, event = apply(Truncation(keep_messages=3, pin_first=False), history, COUNTER)
        assert event.outcome == "failed" or after[-2].usage is None
        after = (user("[left out]", kind="boundary"), *(replace(m, usage=None) for m in history[2:]))
        transcript.save(after)
        transcript.save((*after, FOUR))
        again = tuple(replace(m, usage=None) if m.usage else m for m in after[1:])
        transcript.save((*again, FOUR))
        view = transcript.view
    assert (folder / "transcript.jsonl").read_text(encoding="utf-8").count("word word") == 250
    assert exactly(resumed(folder)[0]) == exactly(view)
    assert [m.usage for m in resumed(folder)[0]] == [None] * 4
    assert len(resumed(folder)[1]) == 7


# Edits that are made on a random history, one after another.
EDITS = (
    lambda view: view,
    lambda view: view[len(view) // 2 :],
    lambda view: (user("in short", kind="summary"), *view[-3:]),
    lambda view: tuple(replace(m, usage=None) for m in view),
    lambda view: (*view[:-1], user("changed at the end")),
    lambda view: ClearOldResults(keep_results=0)(view),
    lambda _: (),
    lambda view: view[::-1],
)


@given(st.lists(st.tuples(histories(max_moves=4), st.sampled_from(EDITS), st.booleans()), max_size=5))
@settings(max_examples=60)
def test_after_any_edits_and_resumes_the_view_is_the_same(tmp_path_factory, moves):
    """Whatever is said, edited and reopened: view and file agree, and everything ever said is there."""
    folder = tmp_path_factory.mktemp("edits")
    transcript, said = opened(folder), []
    for said_now, edit, reopens in moves:
        view = (*transcript.view, *said_now)
        transcript.save(view)
        said += said_now
        transcript.save(edit(view), reason="edit")
        expected = exactly(transcript.view)
        if reopens:
            transcript.close()
            transcript = opened(folder)
        assert exactly(transcript.view) == expected
    everything = transcript.everything
    transcript.close()
    assert all(message in everything for message in said)
    ids = [
        r["id"]
        for record in records(folder)
        for r in (record, *record.get("view", ()))
        if "id" in r and isinstance(r, dict)
    ]
    assert len(ids) == len(set(ids)) == len(everything)


def test_notes_come_back_in_order(folder):
    """What mechanisms remember beside the messages, by name, oldest first."""
    with opened(folder) as transcript:
        transcript.note("spill", {"id": "c1", "path": "a.txt"})
        transcript.save((ONE,))
        transcript.note("collapse", [1, 2])
        transcript.note("spill", {"id": "c2"})
    with opened(folder) as transcript:
        assert transcript.notes == {"spill": [{"id": "c1", "path": "a.txt"}, {"id": "c2"}], "collapse": [[1, 2]]}
        assert transcript.view == (ONE,)


# --- snapshots -------------------------------------------------------------------------------------------------------


def test_a_snapshot_is_taken_before_messages_go(folder):
    """Each compaction has its own, with the whole view before it, in the order of their names; others take none."""
    with opened(folder) as transcript:
        transcript.save((ONE, TWO, THREE))
        assert snapshots(folder) == []
        transcript.save((SHORT, THREE))
        transcript.save((SHORT, THREE, FOUR))
        transcript.save((replace(SHORT, content=(TextBlock("shorter"),)), THREE, FOUR))
    with opened(folder) as transcript:
        transcript.save((FOUR,))
    assert snapshots(folder) == ["0001.jsonl", "0002.jsonl"]
    texts = [
        [json.loads(line)["content"][0]["text"] for line in (folder / "snapshots" / name).read_text().splitlines()]
        for name in snapshots(folder)
    ]
    assert texts == [["one", "two", "three"], ["shorter", "three", "four"]]


def test_a_deleted_snapshot_makes_no_other_one_vanish(folder):
    """Numbers go on from the highest: nothing is written over."""
    with opened(folder) as transcript:
        for number in range(3):
            transcript.save((*transcript.view, ONE, user(f"{number}")))
            transcript.save((user(f"short {number}", kind="summary"),))
    (folder / "snapshots" / "0001.jsonl").unlink()
    last = (folder / "snapshots" / "0003.jsonl").read_text()
    with opened(folder) as transcript:
        transcript.save((*transcript.view, ONE))
        transcript.save((TWO,))
    assert snapshots(folder) == ["0002.jsonl", "0003.jsonl", "0004.jsonl"]
    assert (folder / "snapshots" / "0003.jsonl").read_text() == last


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_put_aside(folder):
    """All before it is there, how much was torn is said, and the next message is a line of its own."""
    with opened(folder) as transcript:
        transcript.save((ONE, TWO))
    with (folder / "transcript.jsonl").open("ab") as file:
        file.write(b'{"type": "message", "id": "m3", "te')
    with opened(folder) as transcript:
        assert transcript.view == (ONE, TWO)
        assert transcript.torn_bytes == 35
        transcript.save((*transcript.view, THREE))
    assert resumed(folder)[0] == (ONE, TWO, THREE)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "boundary", "view": ["m9"]},
        {"type": "boundary", "view": [{"same_as": "m9"}]},
        {"type": "boundary"},
        {"type": "boundary", "view": 3},
        {"type": "boundary", "view": [3]},
        {"type": "message", "role": "user"},
        {"type": "message", "id": "m1", "role": "user", "content": "twice", "kind": "chat"},
        {"type": "message", "id": "x", "role": "user", "content": "odd id", "kind": "chat"},
        {"type": "message", "id": "m7", "role": "robot", "content": "hi", "kind": "chat"},
        {"type": "message", "id": "m7", "role": "user", "content": "hi", "kind": "odd"},
        {"type": "message", "id": "m7", "role": "user", "content": [{"no": "type"}], "kind": "chat"},
        {"type": "message", "id": "m7", "role": "user", "content": "hi", "kind": "chat", "usage": {"odd": 1}},
        {"type": "novelty"},
        {"no": "type"},
        {"type": "note"},
    ],
)
def test_a_record_that_makes_no_sense_is_an_error_with_its_number(folder, record):
    """A view that is not the one from before the stop is never handed out; the file is left as it was, and free."""
    with opened(folder) as transcript:
        transcript.save((ONE,))
    path = folder / "transcript.jsonl"
    path.write_text(
        path.read_text() + json.dumps(record) + "\n" + json.dumps({"type": "note", "name": "a", "value": 1}) + "\n"
    )
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(TranscriptError, match=r"transcript\.jsonl, record 2 makes no sense"):
            opened(folder)
    assert path.read_bytes() == before


def test_a_line_taken_out_by_hand_makes_no_other_message_take_its_place(folder):
    """Without the line of a message that a boundary names, the boundary makes no sense; others are unharmed."""
    with opened(folder) as transcript:
        transcript.save((ONE, TWO, THREE))
        transcript.save((SHORT, THREE))
    path = folder / "transcript.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[1:]))
    assert resumed(folder)[0] == (SHORT, THREE)
    path.write_text("".join([*lines[:2], lines[3]]))
    with pytest.raises(TranscriptError, match="m3"):
        opened(folder)


@pytest.mark.parametrize(
    ("text", "said"), [("{", "take it away"), ('{"format": "other"}', "another version"), ("[]", "take it away")]
)
def test_a_session_of_another_kind_is_refused(folder, text, said):
    """What `session.json` says is looked at before anything is written."""
    with opened(folder) as transcript:
        transcript.save((ONE,))
    (folder / "session.json").write_text(text)
    with pytest.raises(TranscriptError, match=said):
        opened(folder)


def test_the_session_says_what_it_is(folder):
    """Format and beginning, written once."""
    opened(folder).close()
    first = (folder / "session.json").read_text()
    Transcript(folder, now=lambda: "later").close()
    assert json.loads(first)["began"] == "2026-11-30T12:00:00Z"
    assert (folder / "session.json").read_text() == first


# --- who may, and where it cannot ------------------------------------------------------------------------------------


@is_posix
def test_folder_and_files_are_the_owners_alone(folder):
    """Whatever the umask would allow."""
    umask = os.umask(0)
    try:
        with opened(folder) as transcript:
            transcript.save((ONE, TWO, THREE))
            transcript.save((SHORT, THREE))
    finally:
        os.umask(umask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    expected = {"s1": 0o700, "snapshots": 0o700, "0001.jsonl": 0o600, "transcript.jsonl": 0o600, "session.json": 0o600}
    assert modes == expected


def test_two_sessions_in_one_folder_are_kept_apart(folder):
    """The second gets an error; the first goes on."""
    with opened(folder) as transcript:
        with pytest.raises(TranscriptError, match="open already"):
            opened(folder)
        transcript.save((ONE,))
    assert resumed(folder)[0] == (ONE,)


def test_a_place_that_cannot_be_a_folder_is_an_error(tmp_path):
    """A file in its way, named in the message."""
    (tmp_path / "file").touch()
    with pytest.raises(TranscriptError, match="cannot make the folder"):
        opened(tmp_path / "file" / "s1")


def full_disk(monkeypatch, *, after=0):
    """From now on every write to the journal fails, but for the first few."""
    left, real = itertools.count(-after), os.write

    def write(file, data):
        if next(left) >= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data)

    monkeypatch.setattr("course_lib.journal_file.os.write", write)


def test_a_full_disk_is_said_and_a_later_save_makes_up_for_it(folder, monkeypatch):
    """What was saved before is safe; with room again, everything that was missed is written."""
    with opened(folder) as transcript:
        transcript.save((ONE,))
        with monkeypatch.context() as patched:
            full_disk(patched, after=1)
            with pytest.raises(TranscriptError, match=r"No space left on device.*can go on"):
                transcript.save((ONE, TWO, THREE, FOUR))
            assert transcript.view == (ONE, TWO)
            with pytest.raises(TranscriptError):
                transcript.save((SHORT, THREE))
        transcript.save((ONE, TWO, THREE, FOUR))
    view, everything = resumed(folder)
    assert view == everything == (ONE, TWO, THREE, FOUR)


def test_a_snapshot_that_cannot_be_written_is_said(folder, monkeypatch):
    """Nothing is compacted on paper before its snapshot is there; no half of a file is left under its name."""

    def failing(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with opened(folder) as transcript:
        transcript.save((ONE, TWO, THREE))
        with monkeypatch.context() as patched:
            patched.setattr(transcript_module.os, "fsync", failing)
            with pytest.raises(TranscriptError, match=r"cannot write .*0001\.jsonl: No space left"):
                transcript.save((SHORT, THREE))
        assert not (folder / "snapshots" / "0001.jsonl").exists()
        transcript.save((SHORT, THREE))
    assert snapshots(folder) == ["0001.jsonl"]
    assert resumed(folder)[0] == (SHORT, THREE)


# --- following an agent ----------------------------------------------------------------------------------------------

LS = ToolSpec("ls", "Lists files.", {"type": "object", "properties": {}})


def calling(*ids):
    """An answer with calls."""
    return assistant("I look.", *(ToolUseBlock(id_, "ls", {}) for id_ in ids))


def agent_with(*script, run=lambda _: "a.txt " * 60, **hooks):
    """An agent whose model answers from a script."""
    return Agent(ScriptedClient(script), [Tool(LS, run)], **hooks)


def test_a_followed_run_is_saved_as_it_happens(folder):
    """At each event, the file holds the conversation up to there; at the end all of it."""
    agent = agent_with(calling("c1", "c2"), calling("c3"), "done")
    with opened(folder) as transcript:
        for event in transcript.follow(agent, agent.run("go")):
            if isinstance(event, RequestSent):
                assert transcript.view == event.request.messages
    assert exactly(resumed(folder)[0]) == exactly(agent.messages)


def test_results_that_a_compaction_clears_at_once_are_on_disk(folder):
    """The last results of a batch come into the history right before the next compaction: they are saved before it."""
    numbers = itertools.count()
    agent = agent_with(
        *(calling(f"c{n}") for n in range(4)),
        "done",
        run=lambda _: f"listing {next(numbers)} " * 50,
        rewrite=rewrite_above(1, ClearOldResults(keep_results=0), COUNTER),
    )
    with opened(folder) as transcript:
        events = [*transcript.follow(agent, agent.run("go"))]
        everything = transcript.everything
    assert events
    texts = [result.text for message in everything for result in tool_results(message)]
    assert all(f"listing {number} " * 50 in texts for number in range(4))
    assert exactly(resumed(folder)[0]) == exactly(agent.messages)


def test_a_compaction_in_a_run_makes_a_snapshot_and_a_boundary_with_its_name(folder):
    """What the view was before, and which step it was."""
    agent = agent_with(
        *(calling(f"c{n}") for n in range(6)), "done", rewrite=rewrite_above(400, Truncation(keep_messages=3), COUNTER)
    )
    with opened(folder) as transcript:
        assert [*transcript.follow(agent, agent.run("go"))]
    boundaries = [record for record in records(folder) if record["type"] == "boundary"]
    assert boundaries
    assert {record["reason"] for record in boundaries} == {"truncation"}
    assert len(snapshots(folder)) == len(boundaries)
    assert exactly(resumed(folder)[0]) == exactly(agent.messages)


@pytest.mark.parametrize("stop_after", range(1, 9))
def test_a_run_that_is_left_is_whole_on_disk(folder, stop_after):
    """Whoever stops listening in the middle, also amid a batch: file and agent agree, and no batch is torn."""
    agent = agent_with(calling("c1", "c2", "c3"), calling("c4"), "done")
    with opened(folder) as transcript:
        events = transcript.follow(agent, agent.run("go"))
        seen = [*itertools.islice(events, stop_after)]
        events.close()
    view = resumed(folder)[0]
    assert exactly(view) == exactly(agent.messages)
    assert {fault.kind for fault in find_pair_faults(view)} <= {"pending_call"}  # no tool had begun
    amid = isinstance(seen[-1], ToolFinished) and seen[-1].call.id in ("c1", "c2")
    assert (NO_RESULT_TEXT in str(view)) == amid


@pytest.mark.parametrize("error", [KeyboardInterrupt, CourseError])
def test_an_interrupted_tool_is_on_disk_with_its_error_result(folder, error):
    """An interrupt in a tool, or an error of the model: what was said until then is saved, and raised it is, too."""

    def run(_):
        raise KeyboardInterrupt

    agent = agent_with(calling("c1"), run=run) if error is KeyboardInterrupt else agent_with(calling("c1"))
    with opened(folder) as transcript, pytest.raises(error):
        list(transcript.follow(agent, agent.run("go")))
    view = resumed(folder)[0]
    assert exactly(view) == exactly(agent.messages)
    assert repair(view) == view
    assert len(view) == 3


def test_without_room_the_run_ends_or_goes_on_as_one_likes(folder, monkeypatch):
    """By default the error ends the run; with `on_error` it is told, the run goes on, and later saves catch up."""
    agent = agent_with(calling("c1"), "done")
    with opened(folder) as transcript, monkeypatch.context() as patched:
        full_disk(patched, after=1)
        with pytest.raises(TranscriptError):
            list(transcript.follow(agent, agent.run("go")))
    assert resumed(folder)[0] == (user("go"),)
    errors = []
    agent = agent_with(calling("c1"), "done")
    with opened(folder.parent / "s2") as transcript:
        events = transcript.follow(agent, agent.run("go"), on_error=errors.append)
        with monkeypatch.context() as patched:
            full_disk(patched)
            first = [next(events), next(events)]
        rest = list(events)
    assert (len(first) + len(rest), len(errors)) == (6, 2)
    assert exactly(resumed(folder.parent / "s2")[0]) == exactly(agent.messages)


# --- killed ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, so that many children start in a second or two")
@pytest.mark.parametrize("seed", range(20))
def test_killed_amid_saves_and_compactions_the_view_is_one_that_was(tmp_path, seed):
    """A child saves and compacts until it is killed: what was acknowledged is there, and the view is one that was."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _talk_for_ever(tmp_path / "s", sending, seed)
        os._exit(1)
    os.close(sending)
    os.read(receiving, 1)
    time.sleep(random.Random(seed).uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(receiving, "rb") as rest:
        acknowledged = len(rest.read())
    view, everything = resumed(tmp_path / "s")
    views = list(itertools.islice(_views(seed), acknowledged + 2))
    known = [tuple(map(str, view)) for view in views]
    grown = [k[:end] for k, last in zip(known[1:], known, strict=False) for end in range(len(last), len(k) + 1)]
    assert tuple(map(str, view)) in [(), *known[:1], *known[max(0, acknowledged - 1) :], *grown]
    said = {str(message) for one in views[:acknowledged] for message in one}
    assert said <= set(map(str, everything))
    with opened(tmp_path / "s") as transcript:
        transcript.save((*transcript.view, FOUR))
    assert resumed(tmp_path / "s")[0] == (*view, FOUR)


def _views(seed):
    """An endless session: two messages a time, and now and then a summary."""
    dice = random.Random(seed)
    view = ()
    for number in itertools.count():
        view = (*view, user(f"{number} é😀" * dice.randint(1, 50)), assistant(f"answer {number}"))
        yield view
        if dice.random() < 0.3:
            view = (user(f"summary {number}", kind="summary"), *view[-2:])
            yield view


def _talk_for_ever(folder, sending, seed):
    transcript = opened(folder)
    os.write(sending, b".")
    for view in _views(seed):
        transcript.save(view)
        os.write(sending, b".")
