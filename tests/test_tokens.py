"""Token counts against tiktoken itself, the rules of thumb, and the counting of messages."""

import gc
import json
import weakref

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations

from course_lib import tokens
from course_lib.errors import SettingsError, TokenizerDataError
from course_lib.events import record_run
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
from course_lib.simulation.scenario import REFACTORING, build_agent
from course_lib.simulation.workspace import make_workspace
from course_lib.tokens import (
    DEFAULT_ENCODING,
    IMAGE_TOKENS,
    MESSAGE_OVERHEAD_TOKENS,
    MessageCounter,
    TiktokenCounter,
    chars_counter,
    cjk_aware_counter,
    encoding_name_for_model,
    rough_estimate,
)
from course_lib.wire_openai import to_openai

ENCODINGS = ["o200k_base", "cl100k_base"]
COUNTERS = {name: TiktokenCounter(name) for name in ENCODINGS}
ORACLES = {name: tiktoken.get_encoding(name) for name in ENCODINGS}


def oracle(encoding, text):
    """What tiktoken counts when special tokens are to be read as plain text."""
    return len(ORACLES[encoding].encode(text, disallowed_special=()))


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


HOSTILE = {
    "chinese": "中" * 400_000,
    "emoji joiners": "👩\u200d" * 200_000,
    "half characters": "\ud800" * 200_000,
    "accents": "\u0301" * 400_000,
    "special tokens": "<|endoftext|>" * 60_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_megabytes_of_odd_text_are_counted(text):
    """What breaks other counters, a megabyte of it: counted in about a second, as ten times a tenth of it."""
    tenth = text[: len(text) // 10]
    assert COUNTERS["o200k_base"](text) == pytest.approx(10 * COUNTERS["o200k_base"](tenth), rel=0.01)


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


def test_a_text_document_counts_as_its_text():
    """A document in plain text is sent as what it says, and its title with it; without text it has the fixed size."""
    assert one(DocumentBlock("text/plain", "x" * 5_000, title="Notes")) == 5_005
    assert one(DocumentBlock("text/plain", url="u")) == 100


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


def test_a_session_costs_linear_work():
    """Asked for the whole history before each of 300 requests, the text counter sees each text once."""
    spy, history = Spy(), (user("go"),)
    counter = MessageCounter(spy)
    for number in range(300):
        call = assistant(ToolUseBlock(f"c{number}", "read", {"n": number}))
        history = (*history, call, user(ToolResultBlock(f"c{number}", f"text {number}")))
        counter.messages(history)
    assert len(spy.texts) == 1 + 300 * 3  # a name, arguments and a result a round


def json_strings(value):
    """Every text in a provider's record, as the model reads it: not escaped, without the envelope."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() if key != "id" for text in json_strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in json_strings(inner)]
    return [value] if isinstance(value, str) else []


def test_the_count_is_that_of_the_wire():
    """Requests of the running task: within 5 % of their bare texts as OpenAI gets them, and below the escaped JSON."""
    with make_workspace() as workspace:
        requests = record_run(build_agent(workspace).run(REFACTORING.task)).requests
    exact = TiktokenCounter()
    for request in (requests[0], requests[len(requests) // 2], requests[-1]):
        records = to_openai(request.messages, system=request.system)
        tools = [[tool.name, tool.description, dict(tool.input_schema)] for tool in request.tools]
        bare = sum(map(exact, json_strings(records))) + exact(json.dumps(tools))
        wire = exact(json.dumps([records, tools], ensure_ascii=False))
        counted = MessageCounter(exact).request(request.messages, system=request.system, tools=request.tools)
        assert counted == pytest.approx(bare, rel=0.05)
        assert counted < wire


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
