"""A conversation as text: every message in it, each block in its own words, and never longer than asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import conversations, histories

from course_lib.messages import (
    DocumentBlock,
    ImageBlock,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    user,
)
from course_lib.tokens import TiktokenCounter
from course_lib.transcript_text import as_pieces, as_text

EXACT = TiktokenCounter()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (user("Hello", "again"), "USER: Hello\nUSER: again"),
        (assistant(ThinkingBlock("hm", "sig"), "I look."), "ASSISTANT: I look."),
        (assistant(ToolUseBlock("c1", "grep", {"pattern": "é"})), 'CALL c1 grep {"pattern": "é"}'),
        (user(ToolResultBlock("c1", "two\nlines")), "RESULT of c1: two\nlines"),
        (user(ToolResultBlock("c1", "no", is_error=True)), "ERROR of c1: no"),
        (user(ToolResultBlock("c1", [ImageBlock(url="x"), TextBlock("t")])), "RESULT of c1: [an image]\nt"),
        (user(ToolResultBlock("c1", [ToolResultBlock("c2", "inner")])), "RESULT of c1: inner"),
        (user(ToolResultBlock("c1")), "RESULT of c1: "),
        (user(DocumentBlock("text/plain", "data", title="Report")), "USER: [a document: Report]"),
        (user(DocumentBlock(url="x")), "USER: [a document]"),
        (assistant(RawBlock({"type": "redacted_thinking"})), "ASSISTANT: [a block of another kind]"),
        (assistant(ThinkingBlock("hm")), ""),
    ],
)
def test_each_block_is_told_in_its_way(message, expected):
    """Who speaks, what is called, what came back, and whether it was an error; thinking is left out."""
    assert as_text(message, 1_000, len) == expected


@given(conversations(), st.integers(0, 80))
def test_a_text_keeps_to_the_limit(messages, most):
    """Whatever is in a message, its text has at most so many tokens."""
    for message in messages:
        assert len(as_text(message, most, len)) <= most


def test_only_the_longest_blocks_are_cut():
    """In a message that is too long, short blocks stay whole and every block is there."""
    message = user(*(ToolResultBlock(f"c{number}", "x" * size) for number, size in enumerate([10, 5_000, 20])))
    text = as_text(message, 500, len)
    assert len(text) > 450
    assert "RESULT of c0: " + "x" * 10 + "\n" in text
    assert "RESULT of c1: x" in text
    assert text.endswith("RESULT of c2: " + "x" * 20)


@given(histories(), st.sampled_from([100, 700, 5_000]))
def test_every_message_is_in_a_piece(messages, most):
    """Pieces keep to the limit, and together they show each call and each result, in order."""
    pieces = as_pieces(messages, most, len)
    assert all(0 < len(piece) <= most for piece in pieces)
    everything = "\n".join(pieces)
    if most > 700:
        at = 0
        for message in messages:
            for block in message.content:
                if isinstance(block, ToolUseBlock | ToolResultBlock):
                    id_ = block.id if isinstance(block, ToolUseBlock) else block.tool_use_id
                    at = everything.index(id_, at)


def test_a_conversation_that_fits_is_one_piece():
    """Exactly as many tokens as fit make one piece; one less room makes two."""
    messages = (user("first"), user("second"))
    whole = "USER: first\nUSER: second"
    assert as_pieces(messages, len(whole) + 1, len) == [whole]
    assert as_pieces(messages, len(whole), len) == ["USER: first", "USER: second"]


def test_nothing_to_show_makes_no_piece():
    """Thinking alone, or no message at all."""
    assert as_pieces((), 100, len) == []
    assert as_pieces((assistant(ThinkingBlock("hm")),), 100, len) == []


def test_pieces_counted_exactly_fit_as_a_whole():
    """Tokens that merge or part where texts are joined do not make a piece too long."""
    messages = [user(f"{number} 数据库 e\u0301 " * 30) for number in range(40)]
    assert all(EXACT(piece) <= 500 for piece in as_pieces(messages, 500, EXACT))
