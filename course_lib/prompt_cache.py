"""What a provider's prompt cache makes of each request: read, written, or paid in full (chapter 08).

A cache keeps beginnings of requests. A request that begins like an earlier one pays little for that part; one changed
character near the front, and everything behind it is new. `PrefixCache` is a model of that, with rules as settings:

    ANTHROPIC_RULES        kept where the request says so (up to four marks), for five minutes; found again only within
                           twenty blocks of a mark
    OPENAI_RULES           kept at the end of each request without being asked, for half an hour; found from anywhere
    OPENAI_EARLIER_RULES   every beginning is kept, in steps of 128 tokens, and writing costs nothing
    LLAMA_CPP_RULES        a server of your own: to the token, as long as it has memory; what is read costs no time

    >>> from course_lib.messages import user
    >>> cache = PrefixCache(OPENAI_RULES, MessageCounter(len), now=lambda: 0.0)
    >>> first, second = user("a" * 2_000), user("b" * 500)
    >>> cache.send(Request(messages=(first,))).usage
    Usage(input_tokens=0, cache_read_tokens=0, cache_write_tokens=2004, output_tokens=0)
    >>> cache.send(Request(messages=(first, second))).usage
    Usage(input_tokens=0, cache_read_tokens=2004, cache_write_tokens=504, output_tokens=0)

What this leaves out on purpose: chance. Real caches forget early, or keep longer than they promise, spread requests
over machines, and have less room than there are requests.
Source: chapter 08, which compares it with a run on a real server (`course_lib.measure.llama_cache`); the providers'
documentation of prompt caching (November 2026). OpenAI's earlier rules are those of its models before GPT-5.6.
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from course_lib.client import Request
from course_lib.errors import SettingsError
from course_lib.messages import Message, TextBlock, ToolResultBlock, Usage
from course_lib.tokens import MessageCounter
from course_lib.wire_anthropic import to_anthropic, tools_to_anthropic

__all__ = [
    "ANTHROPIC_RULES",
    "LLAMA_CPP_RULES",
    "OPENAI_EARLIER_RULES",
    "OPENAI_RULES",
    "CacheRules",
    "CacheUse",
    "PrefixCache",
    "requests_to_pay_back",
]


@dataclass(frozen=True, kw_only=True)
class CacheRules:
    """How a provider keeps and prices beginnings of requests.

    Args:
        name: of the provider.
        min_tokens: a shorter beginning is not kept.
        step_tokens: what is read is rounded down to a multiple of this.
        ttl_seconds: how long an unused beginning is kept; using it starts the time anew.
        marks: at how many places of a request its beginning is kept: first of all at its end. None where every
            beginning is kept, to the token, and writing is not billed.
        lookback_blocks: how many blocks are searched for a kept beginning, the marked one included; None for all.
        always_new_tokens: of the end of a request, never read from the cache.
        read_price, write_price: relative to the price of input.

    Raises:
        SettingsError: a number that makes no sense.
    """

    name: str
    min_tokens: int = 1_024
    step_tokens: int = 1
    ttl_seconds: float = 300.0
    marks: int | None = None
    lookback_blocks: int | None = None
    always_new_tokens: int = 0
    read_price: float = 0.1
    write_price: float = 1.25

    def __post_init__(self) -> None:
        counts = (self.min_tokens, self.step_tokens, self.marks or 1, self.lookback_blocks or 1)
        amounts = (self.always_new_tokens, self.read_price, self.write_price)
        if min(counts) < 1 or 0 in (self.marks, self.lookback_blocks) or min(amounts) < 0 or not self.ttl_seconds > 0:
            raise SettingsError(f"{self}: expected prices from 0 up, everything else above 0, or None for no limit")

    def price(self, usage: Usage) -> float:
        """Return what the input of a request costs, in tokens of full price."""
        written = usage.cache_write_tokens * self.write_price
        return usage.input_tokens + usage.cache_read_tokens * self.read_price + written


ANTHROPIC_RULES = CacheRules(name="Anthropic", marks=4, lookback_blocks=20)
OPENAI_RULES = CacheRules(name="OpenAI", marks=1, ttl_seconds=1_800.0)
OPENAI_EARLIER_RULES = CacheRules(name="OpenAI, earlier models", step_tokens=128, write_price=1.0)
LLAMA_CPP_RULES = CacheRules(
    name="llama.cpp", min_tokens=1, ttl_seconds=math.inf, always_new_tokens=1, read_price=0.0, write_price=1.0
)


def requests_to_pay_back(rules: CacheRules, *, freed_tokens: int, rewritten_tokens: int) -> float:
    """Return after how many requests an edit of old messages has cost less than leaving them alone.

    Args:
        rules: the provider's.
        freed_tokens: what the edit takes out; it would have been read from the cache each time.
        rewritten_tokens: what stands behind the edit and is not in the cache any more.

    Returns:
        0 where nothing stands behind the edit, infinity where it never pays.
    """
    once = rewritten_tokens * max(0.0, rules.write_price - rules.read_price)
    each_time = freed_tokens * rules.read_price
    return once / each_time if each_time > 0 else math.inf if once > 0 else 0.0


@dataclass(frozen=True)
class CacheUse:
    """What became of one request's input: the bill, and how many whole messages were in the part that was read."""

    usage: Usage
    messages_read: int


@dataclass(frozen=True)
class _Segment:
    """A piece of a request: tools, system prompt, or one message. `key` stands for everything up to its end."""

    key: str
    key_before: str
    content: str | Message
    end_tokens: int
    blocks: int


class PrefixCache:
    """A provider's cache, for one conversation or many.

    Args:
        rules: the provider's.
        counter: counts requests.
        now: returns the time in seconds; only differences count.
    """

    def __init__(self, rules: CacheRules, counter: MessageCounter, *, now: Callable[[], float]) -> None:
        self.rules, self.counter, self._now = rules, counter, now
        self._kept: dict[str, tuple[_Segment, float]] = {}  # by key: the last piece of a beginning, and until when
        self._digests: dict[int, tuple[Message, str]] = {}

    def send(self, request: Request) -> CacheUse:
        """Return what the request's input costs now, and keep what it leaves behind."""
        now = self._now()
        self._kept = {key: (segment, until) for key, (segment, until) in self._kept.items() if until > now}
        segments = self._segments(request)
        total = segments[-1].end_tokens if segments else 0
        marked = self._marked(segments)
        place = self._longest_kept(segments, marked)
        read = self._read_tokens(segments, place, total)
        keep = [segments[index] for index in marked if self._is_kept(segments[index])]
        written = 0
        if self.rules.marks is not None:
            written = max(0, max((segment.end_tokens for segment in keep), default=0) - read)
            keep += segments[place : place + 1] if place >= 0 else []  # its time starts anew
        self._kept |= {segment.key: (segment, now + self.rules.ttl_seconds) for segment in keep}
        whole = [segment for segment in segments[: place + 1] if isinstance(segment.content, Message)]
        return CacheUse(Usage(total - read - written, read, written), len(whole) if read else 0)

    def forget(self) -> None:
        """Forget everything, as after a long pause."""
        self._kept.clear()

    def _is_kept(self, segment: _Segment) -> bool:
        """Whether a beginning is long enough; where all are kept, its length matters only when it is read."""
        return self.rules.marks is None or segment.end_tokens >= self.rules.min_tokens

    def _longest_kept(self, segments: Sequence[_Segment], marked: Sequence[int]) -> int:
        """Where the longest kept beginning ends that the rules let the request find; -1 without one."""
        found = (index for index in range(len(segments) - 1, -1, -1) if segments[index].key in self._kept)
        return next((index for index in found if self._is_in_reach(index, segments, marked)), -1)

    def _is_in_reach(self, index: int, segments: Sequence[_Segment], marked: Sequence[int]) -> bool:
        if self.rules.lookback_blocks is None:
            return True
        following = next((mark for mark in marked if mark >= index), None)
        if following is None:
            return False
        return sum(segment.blocks for segment in segments[index + 1 : following + 1]) < self.rules.lookback_blocks

    def _read_tokens(self, segments: Sequence[_Segment], place: int, total: int) -> int:
        """Tokens that are read: up to the place, and where everything is kept, also a part of the piece after it."""
        read = segments[place].end_tokens if place >= 0 else 0
        if self.rules.marks is None and place + 1 < len(segments):
            piece = segments[place + 1]
            rivals = (kept for kept, _ in self._kept.values() if kept.key_before == piece.key_before)
            read += max((self._common_tokens(kept.content, piece.content) for kept in rivals), default=0)
            read = min(read, piece.end_tokens)
        read = max(0, min(read, total - self.rules.always_new_tokens))
        return read // self.rules.step_tokens * self.rules.step_tokens if read >= self.rules.min_tokens else 0

    def _common_tokens(self, one: str | Message, other: str | Message) -> int:
        """Tokens of the common beginning of two pieces."""
        if isinstance(one, str) and isinstance(other, str):
            return self.counter.text(_common_start(one, other))
        tokens = 0
        if isinstance(one, Message) and isinstance(other, Message) and one.role == other.role:
            for left, right in zip(one.content, other.content, strict=False):
                if left != right:
                    texts = [block.text for block in (left, right) if isinstance(block, TextBlock | ToolResultBlock)]
                    return tokens + (self.counter.text(_common_start(*texts)) if len(texts) == 2 else 0)
                tokens += self.counter.block(left)
        return tokens

    def _marked(self, segments: Sequence[_Segment]) -> list[int]:
        """Where beginnings are kept: everywhere; or at the end, two messages before it, after tools and system."""
        if self.rules.marks is None:
            return list(range(len(segments)))
        fixed = [index for index, segment in enumerate(segments) if isinstance(segment.content, str)]
        messages = [index for index, segment in enumerate(segments) if isinstance(segment.content, Message)]
        return sorted({*fixed, *messages[-3:-2], *messages[-1:]})[-self.rules.marks :]

    def _segments(self, request: Request) -> list[_Segment]:
        """Tools, system prompt and messages, in the order in which a provider reads them."""
        pieces: list[tuple[str | Message, str, int, int]] = []
        if request.tools:
            text = json.dumps(tools_to_anthropic(request.tools), sort_keys=True)
            pieces.append((text, text, sum(map(self.counter.tool, request.tools)), len(request.tools)))
        if request.system:
            pieces.append((request.system, request.system, self.counter.text(request.system), 1))
        for message in request.messages:
            pieces.append((message, self._digest(message), self.counter.message(message), len(message.content)))
        ends = accumulate(tokens for _, _, tokens, _ in pieces)
        keys = list(accumulate((text for _, text, _, _ in pieces), _chained, initial=""))
        return [
            _Segment(keys[at + 1], keys[at], content, end, blocks)
            for at, ((content, _, _, blocks), end) in enumerate(zip(pieces, ends, strict=True))
        ]

    def _digest(self, message: Message) -> str:
        known = self._digests.get(id(message))
        if known is None or known[0] is not message:
            known = (message, _chained("", json.dumps(to_anthropic((message,)), sort_keys=True)))
            self._digests[id(message)] = known
        return known[1]


def _chained(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _common_start(one: str, other: str) -> str:
    differing = (index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return one[: next(differing, min(len(one), len(other)))]
