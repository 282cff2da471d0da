"""The vocabularies that ship: unpacked where tiktoken looks, once, on every system, and never downloaded."""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from course_lib import vocabularies
from course_lib.errors import CourseError, TokenizerDataError
from course_lib.tokens import TiktokenCounter
from course_lib.vocabularies import VOCABULARIES, prepare_vocabularies

ROOT = Path(__file__).resolve().parents[1]
# What tiktoken looks for: the sha1 of its download address, and the sha256 of the file.
FILES = {
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "fb374d419588a4632f3f557e76b4b70aebbca790": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


def hashes(folder):
    """The sha256 of every file in the folder, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def test_the_names_and_checksums_are_tiktokens():
    """The table says of each encoding what tiktoken looks for."""
    assert dict(VOCABULARIES.values()) == FILES


@pytest.fixture
def no_cache_set(monkeypatch):
    """An environment in which the user has set neither of tiktoken's variables."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.setenv(name, "")  # so that it is put back afterwards
        monkeypatch.delenv(name)
    return monkeypatch


def run_python(code, **environment):
    """Start another Python that runs the code with the course importable, and with this environment besides."""
    clean = {
        name: value for name, value in os.environ.items() if name not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
    }
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**clean, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


COUNT_WITHOUT_NETWORK = """
import socket
import tiktoken.load

def refuse(*args, **kwargs):
    raise AssertionError(f"went out for {args}")

tiktoken.load.read_file = refuse
socket.socket = socket.create_connection = refuse
from course_lib.tokens import TiktokenCounter
print(TiktokenCounter("o200k_base")("antidisestablishmentarianism"), TiktokenCounter("cl100k_base")("2 + 2 = 4"))
"""


@pytest.mark.parametrize("state", ["fresh", "empty value", "corrupted"])
def test_nothing_is_ever_downloaded(tmp_path, state):
    """With no vocabulary on the machine, caching switched off, or a broken file, counting works with no network."""
    environment = {"TIKTOKEN_CACHE_DIR": str(tmp_path / "cache")}
    if state == "empty value":
        environment = {"TIKTOKEN_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    if state == "corrupted":
        (tmp_path / "cache").mkdir()
        for name in FILES:
            (tmp_path / "cache" / name).write_text("half a downl", encoding="utf-8")
    process = run_python(COUNT_WITHOUT_NETWORK, **environment)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.split()) == (0, ["6", "7"]), err


def test_several_processes_may_unpack_at_once(tmp_path):
    """First starts at the same moment all succeed, and leave two whole files and nothing else."""
    code = (
        "from course_lib.vocabularies import prepare_vocabularies as p; print('ready', flush=True); input(); print(p())"
    )
    processes = [run_python(code, TIKTOKEN_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outcomes
    assert hashes(tmp_path) == FILES


def test_a_folder_that_the_user_set_is_kept_and_filled(no_cache_set, tmp_path):
    """`TIKTOKEN_CACHE_DIR` stays as it is, other files in it too, and the vocabularies are put there."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "other").write_bytes(b"")
    no_cache_set.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    assert prepare_vocabularies() == folder
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(folder)
    assert hashes(folder) == {**FILES, "other": hashlib.sha256(b"").hexdigest()}


def test_the_older_variable_is_respected_too(no_cache_set, tmp_path):
    """`DATA_GYM_CACHE_DIR`, which tiktoken also reads, is used when it alone is set."""
    no_cache_set.setenv("DATA_GYM_CACHE_DIR", str(tmp_path))
    assert prepare_vocabularies() == tmp_path
    assert hashes(tmp_path) == FILES


def test_the_default_is_a_folder_of_the_user(no_cache_set, tmp_path):
    """Without a variable the user's cache folder is taken, and the variable set, so that tiktoken looks there."""
    no_cache_set.setattr(sys, "platform", "linux")
    no_cache_set.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = prepare_vocabularies()
    assert folder == tmp_path / "course_lib" / "vocabularies"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(folder)
    assert hashes(folder) == FILES


@pytest.mark.parametrize(
    ("platform", "environment", "below"),
    [
        ("linux", {"XDG_CACHE_HOME": ""}, ".cache"),
        ("darwin", {}, "Library/Caches"),
        ("win32", {"LOCALAPPDATA": ""}, "AppData/Local"),
    ],
)
def test_each_system_has_its_place_for_caches(monkeypatch, tmp_path, platform, environment, below):
    """Where the environment says nothing, the folder is where the system keeps its users' caches."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert vocabularies._user_cache_folder() == tmp_path / below / "course_lib" / "vocabularies"


def test_a_home_that_cannot_be_written_is_no_end(no_cache_set, tmp_path):
    """Where the user's cache folder cannot be made, the system's folder for temporary files is used."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "tmp").mkdir()
    no_cache_set.setattr(vocabularies, "_user_cache_folder", lambda: tmp_path / "file" / "cache")
    no_cache_set.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folder = prepare_vocabularies()
    assert folder.parent == tmp_path / "tmp"
    assert hashes(folder) == FILES


def test_a_set_folder_that_cannot_be_written_is_named(no_cache_set, tmp_path):
    """A folder that the user has set is never replaced in silence: the error names it and the way out."""
    (tmp_path / "file").write_bytes(b"")
    wrong = tmp_path / "file" / "cache"
    no_cache_set.setenv("TIKTOKEN_CACHE_DIR", str(wrong))
    with pytest.raises(TokenizerDataError) as error:
        TiktokenCounter()
    assert isinstance(error.value, CourseError)
    assert str(wrong) in str(error.value)
    assert "set TIKTOKEN_CACHE_DIR to a folder that you can write to" in str(error.value)


def test_a_corrupted_file_is_healed_and_a_good_one_left(no_cache_set, tmp_path):
    """A file with the wrong content is replaced; one that is right is not written again."""
    no_cache_set.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    prepare_vocabularies()
    broken, good = (tmp_path / name for name in FILES)
    broken.write_bytes(broken.read_bytes()[:-1])
    os.utime(good, (1_000, 1_000))
    prepare_vocabularies()
    assert hashes(tmp_path) == FILES
    assert good.stat().st_mtime == 1_000
