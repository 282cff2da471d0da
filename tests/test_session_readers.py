"""Readers of session logs: whatever program wrote the session, the same conversation and the same bill come out."""

import json

import pytest
from session_fixtures.events import kinds, of
from session_fixtures.samples import ANSWER, BILLED, QUESTION, RESULTS, SAMPLES, SYSTEM, lines

from course_lib.messages import TextBlock, ThinkingBlock, Usage, assistant, message_text, tool_results, tool_uses
from course_lib.session_logs.lines import SessionLogError
from course_lib.session_logs.reading import detect_format, find_sessions, read_session
from course_lib.session_logs.records import CallBilled, FixedCostLogged, MessageLogged, SessionStarted
from course_lib.session_logs.replay import conversation
from course_lib.tool_pairs import find_pair_faults


@pytest.fixture
def read(tmp_path):
    """Write values (or bytes) as a file and read it as a session."""

    def reading(values, name="log.txt"):
        path = tmp_path / name
        path.write_bytes(values if isinstance(values, bytes) else lines(values))
        return list(read_session(path))

    return reading


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_gives_the_same_conversation(read, name):
    """Question, one answer with both calls, one message with both results in the order of the calls, answer."""
    events = read(SAMPLES[name]())
    question, calls, results, answer = conversation(events)
    assert message_text(question) == QUESTION
    assert [(c.id, c.name, dict(c.input)["path"]) for c in tool_uses(calls)] == [
        ("c1", "read_file", "a.txt"),
        ("c2", "read_file", "b.txt"),
    ]
    assert [block.text.strip() for block in calls.content if isinstance(block, ThinkingBlock)] == ["hm"]
    assert [(r.tool_use_id, r.text) for r in tool_results(results)] == list(RESULTS.items())
    assert message_text(answer) == ANSWER
    assert find_pair_faults(conversation(events)) == ()
    assert kinds(events) == []


@pytest.mark.parametrize("name", sorted(BILLED))
def test_every_format_gives_the_same_bill(read, name):
    """Two calls, each billed once, in buckets that share no token, before the answer and after what went in."""
    events = [event for event in read(SAMPLES[name]()) if getattr(event, "thread", "") == ""]
    bills = [event.usage for event in of(CallBilled, events)]
    assert [usage.context_tokens for usage in bills] == [103, 203]
    assert [usage.cache_read_tokens for usage in bills] == [0, 100]
    assert [usage.output_tokens for usage in bills] == [20, 5]
    order = [type(e).__name__ if isinstance(e, CallBilled) else e.message.role for e in events if _is_turn(e)]
    assert order == ["user", "CallBilled", "assistant", "user", "CallBilled", "assistant"]
    assert [m.usage for m in conversation(events) if m.role == "assistant"] == bills


def _is_turn(event):
    return isinstance(event, CallBilled) or (isinstance(event, MessageLogged) and event.in_context)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_layout_of_the_file_does_not_matter(read, name):
    """Windows line ends, a byte order mark, blank lines, no last line end: the same events."""
    plain = lines(SAMPLES[name]())
    events = read(plain)
    assert read(plain.replace(b"\n", b"\r\n")) == events
    assert read(b"\xef\xbb\xbf" + plain) == events
    assert read(plain.rstrip(b"\n")) == events
    assert [type(e) for e in read(b"\n \n" + plain.replace(b"\n", b"\n\n"))] == [type(e) for e in events]


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if len(sample()) == 1])
def test_a_document_may_be_pretty_printed(read, name):
    """One value over many lines is the same as in one line."""
    (value,) = SAMPLES[name]()
    assert read(json.dumps(value, indent=2).encode()) == read([value])
    assert read(b"\n" + json.dumps(value, indent=1).encode()) == read([value])


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if len(sample()) > 1])
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"{broken\n", "broken line"),
        (b'{"novelty": 1}\n', "unknown record"),
        (b"[1]\n", ("unknown record", "broken line")),
    ],
)
def test_a_strange_line_costs_no_other(read, name, line, kind):
    """A broken line, and objects and arrays that nobody knows, anywhere in any log: said, and passed over."""
    values = SAMPLES[name]()
    plain = conversation(read(values))
    for at in range(1, len(values) + 1):
        events = read(lines(values[:at]) + line + lines(values[at:]))
        assert conversation(events) == plain
        assert len(kinds(events)) == 1
        assert kinds(events)[0] in kind


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("file_name", ["full.jsonl", "x.json", "y.traj", "z"])
def test_the_format_is_found_by_content(tmp_path, name, file_name):
    """Whatever the file is called, the name of the format comes from what it holds."""
    path = tmp_path / file_name
    path.write_bytes(lines(SAMPLES[name]()))
    assert name.startswith(detect_format(path))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_session_says_where_it_begins(read, name):
    """The first event is the start of the main conversation, with the format's name."""
    first = of(SessionStarted, read(SAMPLES[name]()))
    main = [event for event in first if event.thread == ""]
    assert [name.startswith(event.format) for event in main] == [True]


@pytest.mark.parametrize(
    "name", ["Codex CLI", "OpenAI Chat Completions, requests", "OpenAI Responses", "Anthropic Messages"]
)
def test_a_system_prompt_in_the_log_is_said_once(read, name):
    """System prompt and tools, however often the requests repeat them."""
    fixed = of(FixedCostLogged, read(SAMPLES[name]()))
    assert [event.system for event in fixed] == [SYSTEM]
    assert [tool.name for tool in fixed[0].tools] == ([] if name == "Codex CLI" else ["read_file"])


@pytest.mark.parametrize("name", SAMPLES)
def test_every_event_has_a_place_inside_the_file(read, name):
    """A line of the file, or for a document the number of one of its items."""
    values = SAMPLES[name]()
    places = [event.place for event in read(values)]
    assert {place.file for place in places} == {"log.txt"}
    assert all(1 <= place.line <= max(len(values), 8) for place in places)


@pytest.mark.parametrize("name", SAMPLES)
def test_times_change_nothing(read, name):
    """File order counts: with every time stamp taken out or reversed, the events are the same."""
    values = SAMPLES[name]()
    stamped = json.loads(json.dumps(values))
    for number, value in enumerate(stamped):
        if isinstance(value, dict):
            value["timestamp"] = f"2026-01-01T00:00:{59 - number:02}Z"
    assert read(stamped) == read(values)


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        (b"", "holds nothing"),
        (b" \r\n\n", "holds nothing"),
        (b"hello\nworld\n", "no JSON"),
        (b'{"a": 1}\n', "keys of the first: 'a'"),
        (b"{}\n", "keys of the first: none"),
        (b"[1, 2]", "beginning with [1, 2]"),
        (b"42\n", "no JSON"),
        (b'{\n "sessionId": "s",\n "projectHash": "h",\n "messages": [\n', "broken in line 5"),
        (b'{\n "a": 1' + b"1" * 5_000 + b"\n}", "cannot be read"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b'{"messages": "none"}', "'messages'"),
    ],
)
def test_an_unknown_file_gets_a_clear_error(tmp_path, raw, seen):
    """The error names the file and what was seen in it, and the formats that could have been read."""
    path = tmp_path / "strange.jsonl"
    path.write_bytes(raw)
    with pytest.raises(SessionLogError, match=r"^strange\.jsonl: ") as error:
        list(read_session(path))
    assert seen in str(error.value)
    if "keys" in seen:
        assert "Claude Code, Codex CLI, Pi" in str(error.value)
    with pytest.raises(SessionLogError):
        detect_format(path)


def test_a_missing_file_and_a_folder_get_a_clear_error(tmp_path):
    """The error says what is wrong with the path."""
    with pytest.raises(SessionLogError, match="cannot be opened"):
        detect_format(tmp_path / "absent.jsonl")
    with pytest.raises(SessionLogError, match="is no file"):
        detect_format(tmp_path)
    with pytest.raises(SessionLogError, match="cannot be opened"):
        detect_format("a\0b")


def test_documents_may_stand_one_after_the_other(read):
    """Pretty-printed values in a row are read like lines, each placed where it begins; a torn last one is said."""
    values = SAMPLES["Claude Code"]()
    raw = "\n".join(json.dumps(value, indent=2) for value in values)
    events = read(raw.encode())
    assert conversation(events) == conversation(read(values))
    line_of_question = 1 + json.dumps(values[0], indent=2).count("\n") + 1
    assert of(MessageLogged, events)[0].place.line == line_of_question
    assert kinds(read(raw.encode() + b'\n{\n "type": "us')) == ["torn last line"]


def test_sessions_are_found_in_a_folder(tmp_path):
    """Logs of every format in all folders below, in the order of their paths; other files are passed over."""
    wanted = []
    for number, name in enumerate(SAMPLES):
        path = tmp_path / f"sub{number % 3}" / f"{number:02}{('.jsonl', '.json', '.txt', '')[number % 4]}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lines(SAMPLES[name]()))
        wanted.append(path)
    (tmp_path / "package.json").write_text('{"name": "x", "version": "1"}')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "readme.md").write_text("# hello")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 300)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "log.jsonl").write_bytes(lines(SAMPLES["Pi"]()))
    assert list(find_sessions(tmp_path)) == sorted(wanted)
    with pytest.raises(SessionLogError, match="is no folder"):
        list(find_sessions(tmp_path / "absent"))


def test_a_conversation_is_that_of_one_thread(read):
    """The title that a traced program asked for beside is a thread of its own."""
    events = read(SAMPLES["Anthropic Messages"]())
    threads = {event.thread for event in of(MessageLogged, events)}
    assert threads == {"", "aside 1"}
    (title,) = conversation(events, "aside 1")
    assert title.content == (TextBlock("Title?"),)


def test_usage_stands_at_the_answer(read):
    """An assistant message carries what its call was billed, and its id."""
    answer = conversation(read(SAMPLES["Claude Code"]()))[-1]
    assert answer == assistant(ANSWER)
    assert answer.usage == Usage(3, 100, 100, 5)
    assert answer.id == "m2"
