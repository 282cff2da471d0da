"""The session that ships with the course: made anew it is the same, and it holds what chapter 04 shows."""

import json
import re

import pytest

from course_lib.session_logs.reading import detect_format, read_session
from course_lib.session_logs.records import HistoryCompacted, MessageLogged
from course_lib.session_logs.sample import sample_session_path, write_sample
from course_lib.session_logs.xray import xray
from course_lib.simulation.offline_model import OfflineModel
from course_lib.simulation.scenario import REFACTORING, build_agent
from course_lib.simulation.workspace import make_workspace
from course_lib.tokens import MessageCounter, TiktokenCounter


@pytest.fixture(scope="module")
def records():
    """The records of the sample."""
    return [json.loads(line) for line in sample_session_path().read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def report():
    """The X-ray of the sample."""
    return xray(sample_session_path())


def test_the_sample_can_be_made_anew(tmp_path):
    """The file in the repository is what the simulated run gives today, byte for byte (if not: `write_sample`)."""
    write_sample(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == sample_session_path().read_bytes()


def test_the_sample_is_small_and_names_no_machine(records):
    """At most 400 kB, and no path but paths inside the project."""
    text = sample_session_path().read_text(encoding="utf-8")
    assert len(text.encode()) <= 400_000
    assert {record["cwd"] for record in records} == {"/project"}
    assert not re.search(r"(?<![\w.])/(?:tmp|home|root|Users|work|var)\b|[A-Z]:\\\\", text)


def test_the_sample_is_written_as_a_real_program_does(records):
    """Answers are split, every piece repeats its usage, and only the last one knows how the answer ended."""
    assert detect_format(sample_session_path()) == "Claude Code"
    pieces = {}
    for record in records:
        if record["type"] == "assistant":
            pieces.setdefault(record["message"]["id"], []).append(record["message"])
    split = [group for group in pieces.values() if len(group) > 1]
    assert len(split) > 20
    for group in split:
        assert {message["usage"]["cache_read_input_tokens"] for message in group} == {
            group[0]["usage"]["cache_read_input_tokens"]
        }
        assert all(message["stop_reason"] is None for message in group[:-1])
    ids = [record["uuid"] for record in records]
    assert len(set(ids)) == len(ids)
    assert [record["timestamp"] for record in records] == sorted(record["timestamp"] for record in records)


def test_the_sample_holds_one_of_everything(report):
    """A compaction, a sub-agent, a repeated read that the compaction caused, an open call, a lost cache, a picture."""
    assert [one.kind for one in report.compactions] == ["full"]
    assert [thread.name for thread in report.threads] == ["main", "agent-1"]
    assert report.repeated_reads.times == report.repeated_reads.after_compaction == 1
    assert [(oddity.kind, oddity.times) for oddity in report.oddities] == [("missing result", 1)]
    main = report.threads[0]
    assert (main.cold_calls, main.unreliable_outputs, main.prompts) == (1, 1, 2)
    assert report.added_tokens["documents"] > 0
    assert main.unrecorded_drops == ()


def test_the_samples_overhead_is_exactly_what_is_not_in_it(report):
    """What the first bill has more than the log shows is the system prompt and the tool definitions, to the token."""
    with make_workspace() as workspace:
        agent = build_agent(workspace, client=OfflineModel())
    counter = MessageCounter(TiktokenCounter())
    fixed = counter.request((), system=agent.system, tools=[tool.spec for tool in agent.tools.values()])
    assert [thread.unlogged_tokens for thread in report.threads] == [fixed, fixed]
    assert report.compactions[0].unlogged_after == fixed
    assert report.threads[0].calibration == 1.0


def test_visible_and_billed_agree_at_every_call(report):
    """The sample's provider counts as the course does, so the two meet at each call, also after the compaction."""
    for thread in report.threads:
        for row in thread.rows:
            assert row.visible_tokens + row.unlogged_tokens == row.context_tokens


def test_the_task_survives_the_compaction():
    """The summary says the task word for word: an honest one, so the agent goes on as before."""
    events = list(read_session(sample_session_path()))
    (compaction,) = (event for event in events if isinstance(event, HistoryCompacted))
    assert REFACTORING.task in compaction.replacement[0].content[0].text
    after = [e for e in events[events.index(compaction) :] if isinstance(e, MessageLogged) and not e.thread]
    assert len(after) > 20
