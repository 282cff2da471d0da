"""Token counts against tiktoken itself; the vocabulary that ships; and the counting of messages."""

import gc
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations

from course_lib import tokens
from course_lib.errors import CourseError, SettingsError, TokenizerDataError
from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolSpec,
    ToolUseBlock,
    Usage,
    assistant,
    user,
)
from course_lib.tokens import (
    DEFAULT_ENCODING,
    IMAGE_TOKENS,
    MESSAGE_OVERHEAD_TOKENS,
    MessageCounter,
    TiktokenCounter,
    chars_counter,
    cjk_aware_counter,
    encoding_name_for_model,
    prepare_vocabularies,
    rough_estimate,
)

ROOT = Path(__file__).resolve().parents[1]
ENCODINGS = ["o200k_base", "cl100k_base"]
# What tiktoken looks for: the sha1 of its download address, and the sha256 of the file.
FILES = {
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "fb374d419588a4632f3f557e76b4b70aebbca790": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
COUNTERS = {name: TiktokenCounter(name) for name in ENCODINGS}
ORACLES = {name: tiktoken.get_encoding(name) for name in ENCODINGS}


def oracle(encoding, text):
    """What tiktoken counts when special tokens are to be read as plain text."""
    return len(ORACLES[encoding].encode(text, disallowed_special=()))


def hashes(folder):
    """The sha256 of every file in the folder, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


# --- texts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("cl100k_base", "tiktoken is great!", 6),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "2 + 2 = 4", 7),
        ("cl100k_base", "お誕生日おめでとう", 9),
        ("o200k_base", "antidisestablishmentarianism", 6),
        ("o200k_base", "2 + 2 = 4", 7),
        ("o200k_base", "お誕生日おめでとう", 8),
        ("o200k_base", "", 0),
    ],
)
def test_counts_that_openai_published(encoding, text, expected):
    """The counts that OpenAI's cookbook prints for these texts."""
    assert TiktokenCounter(encoding)(text) == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text() | st.text(alphabet=" \n\r\t/'ab0.\u4e2d\U0001f600\u0301", max_size=60))
def test_any_text_counts_as_tiktoken_counts_it(encoding, text):
    """Whatever the text, the count is tiktoken's."""
    assert COUNTERS[encoding](text) == oracle(encoding, text)


@pytest.mark.parametrize("special", ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_special_tokens_are_plain_text(encoding, special):
    """Text that looks like a special token neither raises, as in tiktoken's default, nor counts as one."""
    assert COUNTERS[encoding](f"a {special} b") == oracle(encoding, f"a {special} b") > 5


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00"], ids=ascii)
def test_lone_surrogates_are_counted(text):
    """Half a character, as a broken tool writes it, is counted and does not raise."""
    assert 1 <= COUNTERS[DEFAULT_ENCODING](text) <= 6


# A million of these in a row: tokens that they should have, give or take one a seam.
RUNS = {" ": 1_000_000 / 128, "\n": 1_000_000 / 16, "\t": 1_000_000 / 16, "a": 1_000_000 / 8, "/": 1_000_000 / 64}


@pytest.mark.parametrize("letter", RUNS, ids=ascii)
def test_a_million_of_one_letter_is_counted(letter):
    """Long runs, on which tiktoken's regular expressions give up, are counted to a token or two a seam."""
    assert COUNTERS["o200k_base"](letter * 1_000_000) == pytest.approx(RUNS[letter], abs=20)


CODE = "".join(
    f'class Part{n}:\n    """Part {n}."""\n\n    def run(self, x):  # {n}\n        return x * {n}\n\n\n// {n}\n\n'
    for n in range(4_000)
)


@pytest.mark.parametrize("text", [CODE, CODE.replace("\n", "\r\n")], ids=["unix", "windows"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_code_counts_exactly(encoding, text):
    """Code is cut before lines at which no token crosses, so that the pieces add up exactly."""
    assert len(text) > 3 * tokens._PIECE_CHARS
    assert COUNTERS[encoding](text) == oracle(encoding, text)


@pytest.mark.parametrize(
    "text",
    [" " * 350_000, "word " * 70_000, "\n" * 350_000, " \n" * 175_000, "数据" * 175_000, "x = 1;\n// y\n" * 30_000],
    ids=["blanks", "one line", "line ends", "blank lines", "chinese", "comments"],
)
def test_a_seam_costs_a_token_or_two(text):
    """Where a text has no good place to cut, each of its three seams costs two tokens at most."""
    assert abs(COUNTERS["o200k_base"](text) - oracle("o200k_base", text)) <= 6


LINES = st.builds(
    lambda indent, words, end: " " * indent + " ".join(words) + end,
    st.integers(0, 8),
    st.lists(st.sampled_from(["def", "x", "=", "foo(bar)", "'s", "#", "12345", "数据", "{}"]), min_size=1, max_size=6),
    st.sampled_from(["\n", "\n\n", ";\n", ":\r\n"]),
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(lines=st.lists(LINES, min_size=5, max_size=30))
def test_line_starts_are_exact_seams(encoding, lines):
    """With pieces of 60 characters, and so many seams, lines of code still count exactly."""
    text = "".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PIECE_CHARS", 60)
        assert COUNTERS[encoding](text) == oracle(encoding, text)


@given(text=st.text(alphabet="ab \n\r/", max_size=80), size=st.integers(1, 20))
def test_pieces_are_the_whole_text(text, size):
    """Pieces put together are the text again; none is empty, none too long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PIECE_CHARS", size)
        pieces = list(tokens._pieces(text))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= size for piece in pieces)


@pytest.mark.parametrize("name", ["p50k_base", "", "gpt-4o", None])
def test_an_encoding_that_does_not_ship_is_refused(name):
    """Other encodings would have to be downloaded: the error names the one asked for and those that ship."""
    with pytest.raises(TokenizerDataError, match="o200k_base") as error:
        TiktokenCounter(name)
    assert repr(name) in str(error.value)


def test_a_counter_says_what_it_is():
    """The repr names the encoding, for the labels of charts."""
    assert repr(TiktokenCounter("cl100k_base")) == "TiktokenCounter('cl100k_base')"


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-davinci-003", DEFAULT_ENCODING),
        ("claude-of-next-year", DEFAULT_ENCODING),
        ("", DEFAULT_ENCODING),
    ],
)
def test_the_encoding_of_a_model(model, encoding):
    """Known models have their own; unknown ones, and those whose vocabulary does not ship, the stated default."""
    assert encoding_name_for_model(model) == encoding


# --- the vocabulary that ships ---------------------------------------------------------------------------------------


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
    code = "from course_lib.tokens import prepare_vocabularies as p; print('ready', flush=True); input(); print(p())"
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
    assert tokens._user_cache_folder() == tmp_path / below / "course_lib" / "vocabularies"


def test_a_home_that_cannot_be_written_is_no_end(no_cache_set, tmp_path):
    """Where the user's cache folder cannot be made, the system's folder for temporary files is used."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "tmp").mkdir()
    no_cache_set.setattr(tokens, "_user_cache_folder", lambda: tmp_path / "file" / "cache")
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


# --- estimators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chars_per_token", "text", "expected"),
    [
        (4, "", 0),
        (4, "a", 1),
        (4, "a" * 4, 1),
        (4, "a" * 5, 2),
        (4, "a" * 8, 2),
        (3.5, "a" * 7, 2),
        (3.5, "a" * 8, 3),
        (4, "中" * 4, 1),
        (0.5, "ab", 4),
    ],
)
def test_characters_divided_and_rounded_up(chars_per_token, text, expected):
    """Both sides of each full token."""
    assert chars_counter(chars_per_token)(text) == expected


def test_three_and_a_half_is_the_default():
    """Without an argument, 3.5 characters are a token."""
    assert chars_counter()("a" * 35) == 10


@pytest.mark.parametrize("constant", [0, -1, -0.5])
def test_a_constant_must_be_above_zero(constant):
    """Nothing can be divided by zero characters; the error names the value."""
    for make in (chars_counter, cjk_aware_counter, lambda value: cjk_aware_counter(1, value)):
        with pytest.raises(SettingsError, match=str(constant)):
            make(constant)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("中文字", 2),
        ("中文字符", 3),
        ("中文字abcd", 3),
        ("ひらがな", 3),
        ("カタカナ", 3),
        ("한국어", 2),
        ("。，！", 2),
        ("𠀀𠀁𠀂", 2),
        ("éàü€", 1),
        ("дом?", 1),
        ("😀😀😀😀", 1),
    ],
)
def test_cjk_has_its_own_constant(text, expected):
    """Chinese, Japanese and Korean characters count 1.5 a token, all others 4, and the sum is rounded up once."""
    assert cjk_aware_counter()(text) == expected


def test_both_cjk_constants_are_settings():
    """Six CJK characters at 1 a token and four others at 2 a token are 8 tokens."""
    assert cjk_aware_counter(1, 2)("中文中文中文abcd") == 8


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), 0),
        ((user("a" * 12),), 4),
        ((user("a" * 13),), 6),
        ((user("a" * 12), assistant("b" * 12)), 8),
        ((assistant(ThinkingBlock("a" * 12, "signature")),), 4),
        ((assistant(ToolUseBlock("c1", "grep", {})),), 3),
        ((assistant(ToolUseBlock("c1", "grep", {"a": "b"})),), 6),
        ((user(ToolResultBlock("c1", "a" * 12)),), 4),
        ((user(ToolResultBlock("c1", [ToolResultBlock("c2", "a" * 12), ImageBlock(url="u")])),), 2_671),
        ((user(ImageBlock("image/png", "aGk=" * 9_999)),), 2_667),
        ((user(DocumentBlock(url="u")),), 2_667),
    ],
    ids=range(11),
)
def test_the_rule_of_thumb_by_hand(messages, expected):
    """Four characters a token in each block, 2,000 for an image, nothing for framing; then times 4/3, rounded up."""
    assert rough_estimate(messages) == expected


def test_the_safety_factor_is_a_setting():
    """A factor of 1 leaves the plain sum."""
    assert rough_estimate((user("a" * 12),), safety_factor=1) == 3


# --- messages --------------------------------------------------------------------------------------------------------


class Spy:
    """A counter that counts characters and remembers what it was asked."""

    def __init__(self):
        self.texts = []

    def __call__(self, text):
        """One token a character."""
        self.texts.append(text)
        return len(text)


def one(block):
    """The tokens of a block when each character is one and an image 100."""
    return MessageCounter(len, image_tokens=100).block(block)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (TextBlock("abc"), 3),
        (TextBlock(""), 0),
        (ThinkingBlock("abc", "signature"), 3),
        (ToolUseBlock("a long id", "grep", {}), 4 + len("{}")),
        (ToolUseBlock("c1", "grep", {"q": {"deep": ["x" * 50]}}), 4 + len('{"q": {"deep": [""]}}') + 50),
        (ToolUseBlock("c1", "f", {"q": "数据"}), 1 + len('{"q": "数据"}')),
        (ToolResultBlock("c1", "abc"), 3),
        (ToolResultBlock("c1"), 0),
        (ToolResultBlock("c1", "abc", is_error=True), 3),
        (ToolResultBlock("c1", ["abc", ToolResultBlock("c2", ["de", ToolResultBlock("c3", "f")])]), 6),
        (ToolResultBlock("c1", ["abc", ImageBlock(url="u"), DocumentBlock(url="u")]), 203),
        (ImageBlock("image/png", "x" * 5_000), 100),
        (DocumentBlock("application/pdf", "x" * 5_000, title="T"), 100),
        (RawBlock({"type": "new", "a": "数"}), len('{"type": "new", "a": "数"}')),
        (RawBlock({"type": "image", "source": {"type": "file", "file_id": "f" * 500}}), 100),
        (RawBlock({"type": "document", "source": {"data": "x" * 5_000}, "citations": {"enabled": True}}), 100),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else None,
)
def test_the_tokens_of_a_block(block, expected):
    """Arguments and nested results count in full, images and documents at a fixed size, signatures and ids nothing."""
    assert one(block) == expected


def test_framing_is_added_to_each_message():
    """An empty message costs its framing, by default the stated constant, and so does each of several."""
    counter = MessageCounter(len)
    assert counter.message(user()) == MESSAGE_OVERHEAD_TOKENS
    assert counter.messages([user("abc"), assistant("de")]) == 5 + 2 * MESSAGE_OVERHEAD_TOKENS
    assert MessageCounter(len, message_overhead_tokens=7).message(user("abc")) == 10


def test_images_have_the_stated_size_by_default():
    """An image costs `IMAGE_TOKENS` where nothing else is said."""
    assert MessageCounter(len).block(ImageBlock(url="u")) == IMAGE_TOKENS


def test_a_tool_definition_counts_in_full():
    """Name, description and schema, down to the last nested word."""
    schema = {"type": "object", "properties": {"path": {"description": "x" * 300}}}
    tool = ToolSpec("read_file", "Reads a file.", schema)
    assert MessageCounter(len).tool(tool) == len(json.dumps(["read_file", "Reads a file.", schema]))


@given(conversations(), st.text(max_size=20))
def test_the_parts_of_a_request_add_up(messages, system):
    """A request is its system prompt, its tools and its messages, and a message its framing and its blocks."""
    counter = MessageCounter(len, image_tokens=100)
    tools = (ToolSpec("ls", "lists", {}), ToolSpec("cat", "reads", {"type": "object"}))
    by_hand = len(system) + sum(map(counter.tool, tools))
    by_hand += sum(MESSAGE_OVERHEAD_TOKENS + sum(map(counter.block, message.content)) for message in messages)
    assert counter.request(messages, system=system, tools=tools) == by_hand


def test_an_empty_request_costs_nothing():
    """No system prompt, no tools and no messages are no tokens, and nothing is counted."""
    spy = Spy()
    assert MessageCounter(spy).request(()) == 0
    assert spy.texts == []


def test_each_message_is_counted_once():
    """Asked again, alone or in another history, a message is not counted again; an equal other one is."""
    spy = Spy()
    counter = MessageCounter(spy)
    message, other = user("one", "two"), user("three")
    assert counter.message(message) == counter.message(message) == 6 + MESSAGE_OVERHEAD_TOKENS
    counter.messages((message, other))
    counter.messages([message])
    assert spy.texts == ["one", "two", "three"]
    twin = user("three")
    counter.message(twin)
    assert spy.texts == ["one", "two", "three", "three"]


def test_usage_has_no_part_in_a_count():
    """What the provider billed is another number (chapter 03)."""
    assert MessageCounter(len).message(assistant("a", usage=Usage(1_000))) == 1 + MESSAGE_OVERHEAD_TOKENS


def test_counting_keeps_no_message_alive():
    """A counter remembers numbers, not messages: dropped messages are freed, and their entries go."""
    counter = MessageCounter(len)
    messages = [user(f"message {number}") for number in range(100)]
    assert counter.messages(messages) > 0
    watched = weakref.ref(messages[0])
    assert len(counter._counted) == 100
    del messages
    gc.collect()
    assert watched() is None
    assert counter._counted == {}


def test_a_new_message_at_an_old_address_is_counted():
    """Python re-uses the addresses of freed objects: the count of a dead message never answers for a new one."""
    counter = MessageCounter(len, message_overhead_tokens=0)
    assert [counter.message(user("x" * number)) for number in range(500)] == [*range(500)]


def test_a_counter_can_go_before_its_messages():
    """Freeing a counter and then its messages raises nothing, not even in a destructor."""
    message = user("a")
    counter = MessageCounter(len)
    counter.message(message)
    watched = weakref.ref(counter)
    del counter
    gc.collect()
    assert watched() is None
    assert MessageCounter(len).message(message) == 1 + MESSAGE_OVERHEAD_TOKENS
