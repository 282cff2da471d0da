"""A model behind a prompt cache: what each request would cost at a provider, for a model that has none (chapter 08).

    >>> from course_lib.client import ScriptedClient
    >>> from course_lib.messages import user
    >>> from course_lib.prompt_cache import OPENAI_RULES
    >>> from course_lib.tokens import MessageCounter
    >>> model = ScriptedClient(["One.", "Two."], counter=MessageCounter(len))
    >>> client = CachedClient(model, PrefixCache(OPENAI_RULES, model.counter, now=lambda: 0.0))
    >>> question = user("a" * 2_000)
    >>> first = client.complete((question,))
    >>> client.complete((question, first.message, user("go on"))).usage.cache_read_tokens
    2004

The meter's cost strip and the scoreboard show reads and writes, as soon as the client reports them.

Source: chapter 08.
"""

from collections.abc import Sequence
from dataclasses import replace

from course_lib.client import LLMClient, Request, Response
from course_lib.messages import Messages, ToolSpec
from course_lib.prompt_cache import CacheUse, PrefixCache
from course_lib.tokens import MessageCounter

__all__ = ["CachedClient"]


class CachedClient:
    """Passes everything on to a model, and bills the input as the cache says.

    Args:
        client: the model.
        cache: counts every request and remembers it; the model's own count of the input is not used.

    `uses` keeps what became of each request that was answered.
    """

    def __init__(self, client: LLMClient, cache: PrefixCache) -> None:
        self.client, self.cache = client, cache
        self.uses: list[CacheUse] = []

    @property
    def window_tokens(self) -> int:
        """Tokens of the model's window."""
        return self.client.window_tokens

    @property
    def counter(self) -> MessageCounter:
        """How requests are counted."""
        return self.cache.counter

    @property
    def cost(self) -> float:
        """What the input of all requests has cost, in tokens of full price."""
        return sum(self.cache.rules.price(use.usage) for use in self.uses)

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Ask the model; what it refuses is not billed, and nothing of it is kept."""
        response = self.client.complete(messages, system=system, tools=tools, max_tokens=max_tokens)
        request = Request(messages=tuple(messages), system=system, tools=tuple(tools), max_tokens=max_tokens)
        use = self.cache.send(request)
        self.uses.append(use)
        usage = replace(use.usage, output_tokens=response.usage.output_tokens)
        return replace(response, message=replace(response.message, usage=usage), usage=usage)
