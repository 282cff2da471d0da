"""Whatever happens to one record of a log: only the clear error is raised, and the other records are not lost."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_fixtures.samples import ANSWER, QUESTION, RESULTS, SAMPLES, claude, claude_code, lines

from course_lib.messages import Message, message_text, tool_results, tool_uses
from course_lib.session_logs import lines as lines_module
from course_lib.session_logs.detect import FORMATS
from course_lib.session_logs.lines import SessionLogError
from course_lib.session_logs.reading import read_session
from course_lib.session_logs.records import CallBilled, HistoryCompacted, MessageLogged, Oddity, Place
from course_lib.session_logs.replay import conversation

MARKERS = (QUESTION, ANSWER, *RESULTS.values(), "a.txt", "b.txt")
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["user", "assistant", "compacted", "tool_use", "tool_result", "c1", "\ud800"]),
    st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner)),
)
LOCAL_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def places_in(value, path=()):
    """Every path into the value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for key, entry in inner for deeper in places_in(entry, (*path, key)))]


def with_change(value, path, new):
    """The value with what is at the path replaced, or taken out where the new value is `...`."""
    if not path:
        return None if new is ... else new
    changed = copy.deepcopy(value)
    at = changed
    for key in path[:-1]:
        at = at[key]
    if new is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return changed


def written(values):
    """All that the records write down as part of the conversation; Codex's copies for the screen are not."""
    return json.dumps([v for v in values if not (isinstance(v, dict) and v.get("type") == "event_msg")])


def heard(events):
    """All that stands in messages and summaries, as one text."""
    messages = [event.message for event in events if isinstance(event, MessageLogged)]
    messages += [m for event in events if isinstance(event, HistoryCompacted) for m in event.replacement]
    return repr([message.content for message in messages])


@st.composite
def changed_samples(draw):
    """A sample with one value of one record changed, and the number of that record."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    values = SAMPLES[name]()
    number = draw(st.integers(0, len(values) - 1))
    path = draw(st.sampled_from(places_in(values[number])))
    values[number] = with_change(values[number], path, draw(st.one_of(st.just(...), ODD_VALUES)))
    return values, number


@LOCAL_FILE
@given(changed_samples())
def test_a_wrong_value_breaks_nothing_else(tmp_path, changed):
    """One value of any record becomes anything, or goes: every other line is still read."""
    values, number = changed
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(values))
    try:
        events = list(read_session(path))
    except SessionLogError:
        assert len(values) == 1, "only a document may be lost whole"
        return
    assert all(1 <= event.place.line <= max(len(values), 9) for event in events)
    if len(values) > 1:
        others = written(values[:number] + values[number + 1 :])
        text = heard(events)
        assert [marker for marker in MARKERS if marker in others and marker not in text] == []


@LOCAL_FILE
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_a_file_may_end_anywhere(tmp_path, name, data):
    """Cut at any byte, the lines that are whole are read as they would be without the rest."""
    values = SAMPLES[name]()
    raw = lines(values)
    cut = data.draw(st.integers(0, len(raw)))
    path = tmp_path / "s.jsonl"
    path.write_bytes(raw[:cut])
    whole = values[: raw[:cut].count(b"\n")]
    try:
        text = heard(read_session(path))
    except SessionLogError:
        assert not any(format_.recognises(value) for format_ in FORMATS for value in whole)
        return
    assert [marker for marker in MARKERS if marker in written(whole) and marker not in text] == []


@LOCAL_FILE
@given(st.binary(max_size=400))
def test_any_bytes_at_all_give_the_clear_error(tmp_path, raw):
    """What is no log is refused in words."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(raw)
    with pytest.raises(SessionLogError):
        list(read_session(path))


@LOCAL_FILE
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_lines_in_any_order_and_number_are_billed_once(tmp_path, name, data):
    """Records dropped, repeated and shuffled: no call with an id is billed twice, no block is in a thread twice."""
    values = data.draw(st.lists(st.sampled_from(SAMPLES[name]()), max_size=20))
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(values) or b"\n")
    try:
        events = list(read_session(path))
    except SessionLogError:
        return
    ids = [event.call_id for event in events if isinstance(event, CallBilled) and event.call_id]
    assert len(ids) == len(set(ids))
    for thread in {event.thread for event in events if isinstance(event, MessageLogged)}:
        for message in conversation(events, thread):
            assert isinstance(message, Message)
            assert not (tool_uses(message) and tool_results(message))


def test_a_line_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    """Above the limit a line is said and skipped, without its being held in memory; at the limit it is read."""
    values = claude_code()
    longest = max(len(lines([value])) for value in values)
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(values))
    monkeypatch.setattr(lines_module, "MAX_RECORD_BYTES", longest)
    assert [e for e in read_session(path) if isinstance(e, Oddity)] == []
    monkeypatch.setattr(lines_module, "MAX_RECORD_BYTES", longest - 1)
    events = list(read_session(path))
    assert [event.kind for event in events if isinstance(event, Oddity)][:1] == ["broken line"]
    assert ANSWER in heard(events)


def test_a_document_that_is_too_large_is_refused(tmp_path, monkeypatch):
    """A document must be held whole: above the limit the error says so."""
    path = tmp_path / "s.json"
    path.write_text(json.dumps(SAMPLES["Gemini CLI old"]()[0], indent=1))
    monkeypatch.setattr(lines_module, "MAX_RECORD_BYTES", path.stat().st_size)
    assert list(read_session(path))
    monkeypatch.setattr(lines_module, "MAX_RECORD_BYTES", path.stat().st_size - 1)
    with pytest.raises(SessionLogError, match="a JSON document of more than"):
        list(read_session(path))


def test_a_long_line_is_read(tmp_path):
    """Twenty megabytes of one text in one record are one message."""
    words = "word " * 4_000_000
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines([claude("user", "u1", None, {"role": "user", "content": words})]))
    assert [len(message_text(message)) for message in conversation(read_session(path))] == [len(words)]


def test_a_document_nested_too_deeply_is_refused(tmp_path):
    """Python's limit is not the user's problem: the error says what is wrong."""
    path = tmp_path / "s.json"
    path.write_bytes(b"[\n" * 100_000 + b"]" * 100_000)
    with pytest.raises(SessionLogError):
        list(read_session(path))


def test_reading_is_lazy(tmp_path):
    """The first events are there before the file has been read to its end."""
    path = tmp_path / "s.jsonl"
    filler = [claude("user", f"u{i}", None, {"role": "user", "content": f"text {i}"}) for i in range(2_000)]
    path.write_bytes(lines(filler) + b"{broken\n")
    events = read_session(path)
    assert next(events).place == Place("s.jsonl", 1)
    assert [event.kind for event in events if isinstance(event, Oddity)] == ["broken line"]
