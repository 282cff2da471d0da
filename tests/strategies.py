"""Hypothesis strategies for conversations: valid ones, broken ones, and JSON of any shape.

`conversations()` draws what both providers accept, `broken_conversations()` what a careless trimmer leaves behind.
Texts, images, thinking and calls stand in them as in real sessions: parallel calls, results in any order, text after
the results, results inside results. `histories()` are long ones, for what makes conversations shorter.
"""

from collections.abc import Callable
from functools import cache
from itertools import permutations

from compaction_histories import ENDINGS, MOVES, build_history
from hypothesis import strategies as st

from course_lib.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    Messages,
    RawBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    user,
)

MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

texts = st.text(min_size=1, max_size=20).filter(str.strip)
names = st.sampled_from(["read_file", "grep", "ls", "run"])
base64_data = st.sampled_from(["aGVsbG8=", "d29ybGQ=", "/+8="])
urls = st.sampled_from(["https://example.org/a.png", "https://example.org/b.png"])
numbers = st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.text(max_size=8), json_values, max_size=3)
usual_inputs = st.sampled_from(
    [{}, {"path": "a.txt"}, {"path": "数据", "lines": [1, 2]}, {"edit": {"old": "a\n", "new": None}, "all": True}]
)

text_blocks = st.builds(TextBlock, texts)
thinking_blocks = st.builds(ThinkingBlock, texts, st.sampled_from(["", "c2lnbmF0dXJl"]))
images = st.builds(ImageBlock, st.sampled_from(MEDIA_TYPES), base64_data) | st.builds(ImageBlock, url=urls)
documents = (
    st.builds(DocumentBlock, st.just("application/pdf"), base64_data, title=st.sampled_from(["", "Report"]))
    | st.builds(DocumentBlock, st.just("text/plain"), texts, title=st.sampled_from(["", "Notes"]))
    | st.builds(DocumentBlock, url=urls)
)
# Blocks that the course has no class for, as Anthropic's API takes them.
user_raws = st.just(RawBlock({"type": "image", "source": {"type": "file", "file_id": "file_1"}}))
assistant_raws = st.just(RawBlock({"type": "redacted_thinking", "data": "c2VjcmV0"}))
result_raws = st.just(RawBlock({"type": "tool_reference", "tool_name": "grep"}))


@cache
def result_contents(*, raws: bool = True, nested: bool = True) -> st.SearchStrategy[str | list[Block]]:
    """What a tool gives back: a text, several blocks, nothing at all, or a result inside the result."""
    inner = text_blocks | images | documents
    if raws:
        inner = inner | result_raws
    if nested:
        inner = inner | st.builds(ToolResultBlock, st.just("inner"), st.lists(text_blocks, max_size=2))
    return texts | st.lists(inner, max_size=3)


@cache
def _said(*, raws: bool) -> tuple[st.SearchStrategy[list[Block]], ...]:
    """What a user says alone, what a user says behind results, and what an assistant thinks."""
    others = text_blocks | images | documents
    others = others | user_raws if raws else others
    thought = thinking_blocks | assistant_raws if raws else thinking_blocks
    return st.lists(others, min_size=1, max_size=2), st.lists(others, max_size=1), st.lists(thought, max_size=1)


_spoken = st.lists(text_blocks, max_size=2)
_batch_orders = st.sampled_from([order for size in range(4) for order in permutations(range(size))])


@st.composite
def conversations(
    draw: Callable,
    *,
    max_turns: int = 3,
    prefix: str = "c",
    inputs: st.SearchStrategy[dict] = usual_inputs,
    raws: bool = True,
    nested: bool = True,
) -> Messages:
    """Valid conversations: they start with a user message, and every call is answered in the next message.

    Args:
        draw: given by hypothesis.
        max_turns: turns, each a user message, and a batch of calls or an answer.
        prefix: the ids are this and a number, each used once.
        inputs: what stands in the calls.
        raws: with blocks that the course has no class for.
        nested: with results inside results.
    """
    asked, added, thought = _said(raws=raws)
    contents = result_contents(raws=raws, nested=nested)
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, max_turns))):
        messages.append(user(*draw(asked)))
        order = draw(_batch_orders)
        calls = [ToolUseBlock(f"{prefix}{turn}_{at}", draw(names), draw(inputs)) for at in range(len(order))]
        spoken = (*draw(thought), *draw(_spoken), *calls)
        messages.append(Message("assistant", spoken or (TextBlock("done"),)))
        if calls:
            results = [ToolResultBlock(calls[at].id, draw(contents), draw(st.booleans())) for at in order]
            messages.append(Message("user", (*results, *draw(added))))
    return tuple(messages)


@cache
def _soups(prefix: str) -> st.SearchStrategy[Messages]:
    """Messages put together at random, with few ids, so that every kind of fault comes up."""
    ids = st.sampled_from([f"{prefix}{number}" for number in range(3)])
    calls = st.builds(ToolUseBlock, ids, names, usual_inputs) | text_blocks
    results = st.builds(ToolResultBlock, ids, result_contents(), st.booleans()) | text_blocks
    assistants = st.builds(Message, st.just("assistant"), st.lists(calls, max_size=3))
    users = st.builds(Message, st.just("user"), st.lists(results, max_size=3))
    return st.lists(assistants | users, max_size=8).map(tuple)


@st.composite
def _damaged(draw: Callable, prefix: str) -> Messages:
    """A valid conversation after an accident: shuffled, cut, doubled, or with ids used again."""
    messages = list(draw(conversations(prefix=prefix)))
    for accident in draw(st.lists(st.sampled_from(["shuffle", "drop", "double", "reuse", "strip"]), max_size=3)):
        if not messages:
            break
        at = draw(st.integers(0, len(messages) - 1))
        match accident:
            case "shuffle":
                messages = list(draw(st.permutations(messages)))
            case "drop":
                del messages[at]
            case "double":
                messages.insert(draw(st.integers(0, len(messages))), messages[at])
            case "reuse":
                messages = [_with_one_id(message, f"{prefix}0_0") for message in messages]
            case "strip":
                messages[at] = Message(messages[at].role, messages[at].content[1:])
    return tuple(messages)


def _with_one_id(message: Message, tool_use_id: str) -> Message:
    content: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolUseBlock):
            block = ToolUseBlock(tool_use_id, block.name, block.input)
        elif isinstance(block, ToolResultBlock):
            block = ToolResultBlock(tool_use_id, block.content, block.is_error)
        content.append(block)
    return Message(message.role, tuple(content))


def broken_conversations(*, prefix: str = "b") -> st.SearchStrategy[Messages]:
    """Conversations that may break every rule of pairing (a few are valid by chance)."""
    return _soups(prefix) | _damaged(prefix)


@cache
def histories(*, max_moves: int = 25) -> st.SearchStrategy[Messages]:
    """Long conversations, as agents have them: mixed ones, and turns of one kind of move over and over."""
    moves = st.lists(st.sampled_from(MOVES), max_size=max_moves)
    endless = st.builds(lambda move, times: [move] * times, st.sampled_from(MOVES), st.integers(1, 2 * max_moves))
    return st.builds(build_history, moves | endless, st.sampled_from(ENDINGS), st.booleans())
