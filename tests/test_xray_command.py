"""`course xray`: what it shows, where it writes, what it refuses; and that it never writes over something else."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from course_lib import cli
from course_lib.cli import main
from course_lib.session_logs.sample import sample_session_path

SAMPLE = sample_session_path()


@pytest.fixture(autouse=True)
def ready(monkeypatch):
    """This Python has all packages."""
    monkeypatch.setattr(cli, "python_for", lambda _level: None)


def run(capsys, *words):
    """Run the command; return status, output and errors."""
    status = main(["xray", *map(str, words)])
    return status, *capsys.readouterr()


def copy_of(sample, target):
    """Put a copy of the sample there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(sample.read_bytes())
    return target


# --- a file ----------------------------------------------------------------------------------------------------------


def test_a_file_is_shown_as_text(capsys):
    """Without options: the page of text, nothing else, status 0."""
    status, out, err = run(capsys, SAMPLE)
    assert (status, err) == (0, "")
    assert out.startswith("X-ray of sample_session.jsonl\n====")


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["--format", "json"], '{\n "schema": "course-xray/1"'),
        (["--format", "html"], "<!DOCTYPE html>"),
        (["--format", "text"], "X-ray of"),
    ],
)
def test_the_format_can_be_chosen(capsys, words, begins):
    """Text, JSON and HTML."""
    assert run(capsys, SAMPLE, *words)[1].startswith(begins)


@pytest.mark.parametrize(
    ("name", "words", "begins"),
    [
        ("r.html", [], "<!DOCTYPE"),
        ("r.json", [], "{"),
        ("r.txt", [], "X-ray of"),
        ("r", [], "X-ray of"),
        ("r.json", ["--format", "text"], "X-ray of"),
    ],
)
def test_a_report_is_written_in_the_format_of_its_name(capsys, tmp_path, name, words, begins):
    """The ending decides unless a format is named; the terminal only hears where the report is."""
    status, out, err = run(capsys, SAMPLE, "--output", tmp_path / name, *words)
    assert (status, out) == (0, "")
    assert str(tmp_path / name) in err
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_thread_can_be_chosen_and_a_wrong_one_is_named(capsys):
    """The error lists the threads that there are."""
    assert "Context over time: agent-1" in run(capsys, SAMPLE, "--thread", "agent-1")[1]
    status, out, err = run(capsys, SAMPLE, "--thread", "nobody")
    assert (status, out) == (1, "")
    assert "'nobody'" in err
    assert "2 agent-1" in err


def test_prices_can_be_set(capsys):
    """Four numbers; with all of them 0 nothing costs anything."""
    assert "12,537 out: $0.00" in run(capsys, SAMPLE, "--prices", "0,0,0,0")[1]


@pytest.mark.parametrize("prices", ["1,2,3", "1,2,3,x", "-1,0,0,0", ""])
def test_prices_that_are_none(capsys, prices):
    """Are a mistake of the command line, with an example of how to say it."""
    with pytest.raises(SystemExit) as ended:
        main(["xray", str(SAMPLE), f"--prices={prices}"])
    assert ended.value.code == 2
    assert "1,0.1,1.25,5" in capsys.readouterr().err


# --- what is refused -------------------------------------------------------------------------------------------------


def refused(capsys, *words):
    """Return the error of a command that must fail with status 1 and show nothing."""
    status, out, err = run(capsys, *words)
    assert (status, out) == (1, "")
    assert "Traceback" not in err
    return err


def test_a_missing_file(capsys, tmp_path):
    """Its name is in the error."""
    assert "nothing.jsonl" in refused(capsys, tmp_path / "nothing.jsonl")


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"hello", b"{}", b"[1, 2]", b"\xff\xfe\x00", b"\x00" * 100, b'{"a":']
)
def test_a_file_that_is_no_log(capsys, tmp_path, content):
    """Whatever is in it: one line that names it."""
    file = tmp_path / "odd.jsonl"
    file.write_bytes(content)
    assert "odd.jsonl" in refused(capsys, file)


def test_a_file_that_is_neither_file_nor_folder(capsys, tmp_path):
    """A socket, for example, is refused and not read for ever."""
    if not hasattr(socket, "AF_UNIX"):
        pytest.skip("no such files here")
    os.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as open_socket:
        open_socket.bind("s.jsonl")
        assert "s.jsonl" in refused(capsys, Path("s.jsonl"))


def test_a_folder_without_logs(capsys, tmp_path):
    """The error says which formats are read."""
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    assert "Claude Code" in refused(capsys, tmp_path)


def test_a_thread_of_a_folder(capsys, tmp_path):
    """Goes with a file only."""
    copy_of(SAMPLE, tmp_path / "a.jsonl")
    assert "--thread" in refused(capsys, tmp_path, "--thread", "main")


@pytest.mark.parametrize("content", ["my only copy", "", "X-ray of my foot\nbroken", '{"schema": "other"}'])
@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_is_no_report_is_kept(capsys, tmp_path, content, force):
    """Without --force it stays as it is; an empty one holds nothing to lose."""
    target = tmp_path / "thesis.txt"
    target.write_text(content)
    if force or not content:
        assert run(capsys, SAMPLE, "--output", target, *["--force"] * force)[0] == 0
        assert target.read_text(encoding="utf-8").startswith("X-ray of sample")
    else:
        assert "--force" in refused(capsys, SAMPLE, "--output", target)
        assert target.read_text() == content


@pytest.mark.parametrize("kind", ["text", "json", "html"])
def test_an_older_report_is_replaced(capsys, tmp_path, kind):
    """A report of this command gives way to a newer one without a question, also to one of another format."""
    target = tmp_path / "report"
    run(capsys, SAMPLE, "--format", kind, "--output", target)
    assert run(capsys, SAMPLE, "--output", target)[0] == 0
    assert target.read_text(encoding="utf-8").startswith("X-ray of")


@pytest.mark.parametrize("how", ["same", "link"])
def test_a_log_is_never_written_over(capsys, tmp_path, how):
    """Not even with --force, not even through a link."""
    log = copy_of(SAMPLE, tmp_path / "log.jsonl")
    target = log
    if how == "link":
        target = tmp_path / "link.txt"
        try:
            target.symlink_to(log)
        except OSError:
            pytest.skip("no links here")
    assert "the log itself" in refused(capsys, log, "--force", "--output", target)
    assert log.read_bytes() == SAMPLE.read_bytes()


def test_output_into_nowhere(capsys, tmp_path):
    """A folder, or a file in a folder that is not there, is said before the work begins."""
    assert "is a folder" in refused(capsys, SAMPLE, "--output", tmp_path)
    assert "there is no folder" in refused(capsys, SAMPLE, "--output", tmp_path / "no" / "report.txt")


def test_a_report_that_cannot_be_written_leaves_the_old_one(capsys, tmp_path, monkeypatch):
    """A full disk, for example: the older report stays whole, and no half file is left."""
    target = tmp_path / "report.txt"
    run(capsys, SAMPLE, "--output", target)
    before = target.read_text(encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert "No space left" in refused(capsys, SAMPLE, "--output", target)
    assert target.read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]


# --- a folder --------------------------------------------------------------------------------------------------------


def test_a_folder_is_summed_up(capsys, tmp_path):
    """Logs at any depth, a line each, and totals."""
    copy_of(SAMPLE, tmp_path / "a" / "one.jsonl")
    copy_of(SAMPLE, tmp_path / "b" / "c" / "two.jsonl")
    status, out, err = run(capsys, tmp_path)
    assert (status, err) == (0, "")
    assert "2 logs read, 122 calls" in out
    assert "a/one.jsonl" in out
    assert "b/c/two.jsonl" in out


def test_a_log_that_cannot_be_opened_is_named_and_skipped(capsys, tmp_path):
    """The others are read; the status says that something is missing."""
    copy_of(SAMPLE, tmp_path / "good.jsonl")
    try:
        (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    except OSError:
        pytest.skip("no links here")
    status, out, err = run(capsys, tmp_path)
    assert status == 1
    assert "skipped gone.jsonl" in err
    assert "1 log read" in out
    assert "gone.jsonl" in out


def test_a_folder_that_may_not_be_listed_is_named(capsys, tmp_path, monkeypatch):
    """A folder inside without permission (made up here: an administrator may list all) is skipped with its name."""
    copy_of(SAMPLE, tmp_path / "good.jsonl")
    (tmp_path / "closed").mkdir()
    real = os.scandir

    def scandir(folder):
        if Path(folder).name == "closed":
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    status, out, err = run(capsys, tmp_path)
    assert status == 1
    assert "skipped closed: Permission denied" in err
    assert "1 log read" in out


def test_a_reader_that_breaks_costs_one_file(capsys, tmp_path, monkeypatch):
    """Even an error nobody thought of is named with its file, and the folder goes on."""
    from course_lib.session_logs import xray_folder as folder_module

    good, bad = copy_of(SAMPLE, tmp_path / "good.jsonl"), copy_of(SAMPLE, tmp_path / "bad.jsonl")
    real = folder_module.read_session

    def read(path):
        if path == bad:
            raise KeyError("surprise")
        return real(path)

    monkeypatch.setattr(folder_module, "read_session", read)
    status, out, err = run(capsys, tmp_path)
    assert status == 1
    assert "skipped bad.jsonl: KeyError" in err
    assert good.name in out


@pytest.mark.parametrize("kind", ["json", "html", "text"])
def test_a_folders_report_in_every_format(capsys, tmp_path, kind):
    """It is written like that of a file, and replaced like that of a file."""
    copy_of(SAMPLE, tmp_path / "logs" / "one.jsonl")
    target = tmp_path / f"report.{kind}"
    for _ in range(2):
        assert run(capsys, tmp_path / "logs", "--output", target)[0] == 0
    text = target.read_text(encoding="utf-8")
    assert "one.jsonl" in text
    if kind == "json":
        assert json.loads(text)["schema"] == "course-xray-folder/1"


def test_a_bar_on_a_terminal_only(capsys, tmp_path, monkeypatch):
    """On a terminal the files' bytes move a bar; into a file nothing of it goes."""
    copy_of(SAMPLE, tmp_path / "one.jsonl")
    assert run(capsys, tmp_path)[2] == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    assert "one.jsonl" in run(capsys, tmp_path)[2]


# --- without words ---------------------------------------------------------------------------------------------------


class Secrets:
    """Unique words, to be found again."""

    def __init__(self):
        self.all = []

    def __call__(self):
        """Return the next secret."""
        self.all.append(f"zq{len(self.all)}secretzq")
        return self.all[-1]


def secret_session(secret):
    """Yield the records of a Claude Code session in which every text is a secret."""
    session, previous = secret(), None

    def record(kind, **more):
        nonlocal previous
        before, previous = previous, secret()
        base = {"type": kind, "parentUuid": before, "uuid": previous, "sessionId": session, "cwd": f"/{secret()}"}
        return {**base, "gitBranch": secret(), "version": secret(), "isSidechain": False, **more}

    usage = {"input_tokens": 9_000, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 5, "output_tokens": 3}
    yield record("user", message={"role": "user", "content": secret()})
    for name in (secret(), "Read", "Bash", secret()):
        id_, path, result = secret(), secret(), secret()
        for _ in range(2):  # read twice
            call = {"type": "tool_use", "id": id_, "name": name, "input": {"file_path": path, "command": path}}
            thought = {"type": "thinking", "thinking": secret(), "signature": secret()}
            message = {"id": secret(), "role": "assistant", "model": secret(), "usage": usage, "stop_reason": None}
            content = [{"type": "text", "text": secret()}, thought, call]
            yield record("assistant", requestId=secret(), message={**message, "content": content})
            answer = {"type": "tool_result", "tool_use_id": id_, "content": result, "is_error": name == "Bash"}
            yield record("user", message={"role": "user", "content": [answer]}, toolUseResult=secret())
    stray = {"type": "tool_result", "tool_use_id": secret(), "content": secret()}
    yield record("user", message={"role": "user", "content": [stray]})
    yield record(secret())
    yield record("system", subtype="api_error", error=secret())
    yield record("attachment", attachment={"type": secret(), "content": secret()})
    yield record("system", subtype="compact_boundary", compactMetadata={"trigger": secret(), "preTokens": 9})
    yield record("user", isCompactSummary=True, message={"role": "user", "content": secret()})
    micro = {"trigger": secret(), "compactedToolIds": [secret()], "tokensSaved": 5}
    yield record("system", subtype="microcompact_boundary", microcompactMetadata=micro)
    side = {"id": secret(), "role": "assistant", "model": secret(), "usage": usage, "content": secret()}
    yield record("assistant", isSidechain=True, agentId=secret(), message=side)
    session = secret()
    yield record("user", message={"role": "user", "content": [{"type": secret(), secret(): secret()}]})


def test_redaction_also_holds_for_what_is_skipped(capsys, tmp_path, monkeypatch):
    """A log that cannot be read is counted, and not named."""
    from course_lib.session_logs import xray_folder as folder_module

    log = copy_of(SAMPLE, tmp_path / "hush.jsonl")

    def broken(path):
        raise OSError(f"cannot read {path}")

    monkeypatch.setattr(folder_module, "read_session", broken)
    assert run(capsys, tmp_path)[0] == 1
    status, out, err = run(capsys, tmp_path, "--redact")
    assert status == 1
    assert "skipped unreadable-1" in err
    assert log.stem not in out + err
    assert str(tmp_path) not in out + err


@pytest.mark.parametrize("kind", ["text", "json", "html"])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_redaction_leaves_no_word_of_the_session(capsys, tmp_path, kind, what):
    """Secrets in every text of a session, in the file's name and in its folder's: none is in the report."""
    secret = Secrets()
    folder = tmp_path / secret()
    folder.mkdir()
    log = folder / f"{secret()}.jsonl"
    records = list(secret_session(secret))
    log.write_text("".join(json.dumps(record) + "\n" for record in records) + "{" + secret() + "\n")
    assert len(secret.all) > 100
    target = tmp_path / "report"
    source = log if what == "file" else folder
    assert run(capsys, source, "--redact", "--format", kind, "--output", target)[0] == 0
    page = target.read_text(encoding="utf-8")
    assert [word for word in secret.all if word in page] == []
    run(capsys, source, "--format", kind, "--output", target)
    shown = target.read_text(encoding="utf-8")
    assert sum(word in shown for word in secret.all) > 3  # so they would have been found


# --- quiet and apart -------------------------------------------------------------------------------------------------


def test_the_command_line_is_read_without_the_packages():
    """Declaring the arguments loads neither tiktoken nor rich: they may not be there yet."""
    import subprocess

    code = (
        "import sys, argparse; from course_lib.session_logs.command import xray_arguments; "
        "xray_arguments(argparse.ArgumentParser()); print('tiktoken' in sys.modules, 'rich' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.split() == ["False", "False"]


def test_nothing_leaves_the_machine(capsys, tmp_path, monkeypatch):
    """No socket is opened, whatever is asked for."""

    def no_network(*_args, **_how):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_network)
    copy_of(SAMPLE, tmp_path / "a.jsonl")
    for words in ([SAMPLE], [tmp_path], [SAMPLE, "--format", "html"]):
        assert run(capsys, *words)[0] == 0
