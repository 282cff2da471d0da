"""Tool definitions only when they are needed (chapter 04).

Every definition that is registered is sent, and paid, in every round, used or not. Here the request begins with one
small tool, `find_tools`, whose description names what there is. The model asks for the tools it needs, and from then
on their definitions come along, appended in the order in which they were asked for:

    >>> from course_lib.messages import ToolResultBlock, assistant, user
    >>> read, write, mail = (ToolSpec(name, "…", {"type": "object"}) for name in ("read", "write", "send_mail"))
    >>> catalogue = ToolCatalogue((ToolGroup("files", "Work on files.", (read, write)),
    ...                            ToolGroup("mail", "Send messages.", (mail,))))
    >>> [tool.name for tool in catalogue.tools_for(())]
    ['find_tools']
    >>> call = assistant(ToolUseBlock("c1", "find_tools", {"names": ["write"]}))
    >>> answer = user(ToolResultBlock("c1", catalogue.find({"names": ["write"]})))
    >>> [tool.name for tool in catalogue.tools_for((user("go"), call, answer))]
    ['find_tools', 'write']

What is loaded is read off the conversation and kept nowhere else, so it survives a restart. A compaction that drops
the calls must hand on what they had loaded (`loaded=`).

A list that only grows at its end keeps the prefix of the list in a provider's cache. What stands *behind* the tools in
the request, the system prompt and the conversation, is read anew whenever the list changes: so ask once, for several.

What this leaves out on purpose: searching by meaning, and taking tools away again, which would cost the cache.
Source: chapter 04; an article on context management (2026) asks for it, Anthropic's tool search tool (November 2025)
and Claude Code do it.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from course_lib.client import LLMClient, Response
from course_lib.errors import SettingsError, ToolError
from course_lib.messages import (
    Message,
    Messages,
    ToolSpec,
    ToolUseBlock,
    tool_results,
    tool_uses,
)
from course_lib.tokens import MessageCounter

__all__ = [
    "FIND_TOOLS",
    "ToolCatalogue",
    "ToolGroup",
    "ToolLoadingClient",
    "definition_tokens",
    "groups_from_json",
    "sample_groups",
    "shared_prefix_tokens",
]

FIND_TOOLS = "find_tools"


@dataclass(frozen=True)
class ToolGroup:
    """Tools that belong together: a short name, one sentence on what they are for, and their definitions."""

    name: str
    description: str
    tools: tuple[ToolSpec, ...]


@dataclass(frozen=True)
class ToolCatalogue:
    """All tools there are, in groups; `always` are the ones that every request has.

    Raises:
        SettingsError: two tools or groups of one name, or one that is called `find_tools`.
    """

    groups: tuple[ToolGroup, ...]
    always: tuple[ToolSpec, ...] = ()

    def __post_init__(self) -> None:
        names = [group.name for group in self.groups] + [tool.name for tool in self.tools] + [FIND_TOOLS]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SettingsError(f"{', '.join(map(repr, twice))} names two things in the catalogue: rename one of them")

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """Every definition there is, `find_tools` left out."""
        return (*self.always, *chain.from_iterable(group.tools for group in self.groups))

    @cached_property
    def find_tools(self) -> ToolSpec:
        """The definition of the tool that loads others: a line a group."""
        lines = [f"- {g.name}: {g.description} ({', '.join(tool.name for tool in g.tools)})" for g in self.groups]
        description = "Load tools; you can call them from your next turn on. Ask for all you need at once.\n"
        names = {"type": "array", "items": {"type": "string"}, "description": "Tools, or groups for all in them."}
        schema = {"type": "object", "properties": {"names": names}, "required": ["names"]}
        return ToolSpec(FIND_TOOLS, description + "\n".join(lines), schema)

    def find(self, given: Mapping[str, Any]) -> str:
        """Answer a call of `find_tools`: this is the function of that tool.

        Raises:
            ToolError: `names` is no list of known names; then nothing is loaded.
        """
        names = given.get("names")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ToolError(f"names is {names!r:.80}: expected a list with names of tools or groups")
        unknown = [name for name in names if name not in self._by_name]
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._by_name, n=3)
            way_out = f"did you mean {', '.join(near)}?" if near else f"the groups are {', '.join(self._group_names)}"
            raise ToolError(f"there is no tool {unknown[0]!r:.80}, and nothing was loaded: {way_out}")
        found = dict.fromkeys(tool.name for name in names for tool in self._by_name[name])
        return f"Loaded: {', '.join(found)}."

    def loaded_names(self, messages: Iterable[Message]) -> tuple[str, ...]:
        """Return the tools that were loaded in these messages, each once, in the order in which they were asked for.

        A call counts when it was answered without an error in the next message.
        """
        found: dict[str, None] = {}
        calls: tuple[ToolUseBlock, ...] = ()
        for message in messages:
            answered = {result.tool_use_id for result in tool_results(message) if not result.is_error}
            for call in calls:
                if call.id in answered:
                    found |= dict.fromkeys(tool.name for tool in self._asked_for(call))
            calls = tuple(call for call in tool_uses(message) if call.name == FIND_TOOLS)
        return tuple(found)

    def tools_for(self, messages: Iterable[Message], *, loaded: Sequence[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the definitions that a request with these messages needs.

        Args:
            messages: the conversation.
            loaded: names that earlier messages had loaded before a compaction dropped them; they come first.
        """
        names = dict.fromkeys((*loaded, *self.loaded_names(messages)))
        specs = (tool for name in names for tool in self._by_name.get(name, ()))
        standing = (self.find_tools, *self.always)
        return (*standing, *(tool for tool in specs if tool not in self.always))

    def _asked_for(self, call: ToolUseBlock) -> Iterator[ToolSpec]:
        names = call.input.get("names")
        for name in names if isinstance(names, list) else ():
            yield from self._by_name.get(name, ()) if isinstance(name, str) else ()

    @cached_property
    def _by_name(self) -> dict[str, tuple[ToolSpec, ...]]:
        return {tool.name: (tool,) for tool in self.tools} | {group.name: group.tools for group in self.groups}

    @property
    def _group_names(self) -> list[str]:
        return [group.name for group in self.groups]


class ToolLoadingClient:
    """A client that sends, of all the tools it is given, only those that the conversation has loaded.

    The agent registers every tool, so that it can run them, and knows nothing of this.

    Args:
        client: the model behind it.
        catalogue: what can be loaded.
    """

    def __init__(self, client: LLMClient, catalogue: ToolCatalogue) -> None:
        self.client, self.catalogue = client, catalogue

    @property
    def window_tokens(self) -> int:
        """The window of the model behind it."""
        return self.client.window_tokens

    def complete(
        self, messages: Messages, *, system: str = "", tools: Sequence[ToolSpec] = (), max_tokens: int = 4_096
    ) -> Response:
        """Send the request with the tools that it needs; tools that are not in the catalogue go along as they are."""
        known = {FIND_TOOLS, *(tool.name for tool in self.catalogue.tools)}
        others = [tool for tool in tools if tool.name not in known]
        shown = (*others, *self.catalogue.tools_for(messages))
        return self.client.complete(messages, system=system, tools=shown, max_tokens=max_tokens)


def definition_tokens(tools_by_round: Iterable[Sequence[ToolSpec]], *, counter: MessageCounter) -> int:
    """Return the tokens that all rounds together sent as tool definitions."""
    return sum(counter.tool(tool) for tools in tools_by_round for tool in tools)


def shared_prefix_tokens(before: Sequence[ToolSpec], after: Sequence[ToolSpec], *, counter: MessageCounter) -> int:
    """Return the tokens of the definitions with which both lists begin: what a cache can keep of them."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return sum(counter.tool(tool) for tool, _ in same)


def groups_from_json(text: str, *, where: str = "the tools") -> tuple[ToolGroup, ...]:
    """Return the groups in a JSON list of objects with a `name`, a `description` and `tools`, as providers take them.

    Args:
        text: the list; each tool has a `name`, a `description` and an `input_schema`.
        where: what to call it in an error.

    Raises:
        SettingsError: no such list, with the place.
    """
    try:
        records = json.loads(text)
        return tuple(
            ToolGroup(
                str(record["name"]),
                str(record["description"]),
                tuple(ToolSpec(str(t["name"]), str(t["description"]), t["input_schema"]) for t in record["tools"]),
            )
            for record in records
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SettingsError(
            f"{where} cannot be read ({type(error).__name__}: {error}): expected a list of groups"
        ) from error


def sample_groups() -> tuple[ToolGroup, ...]:
    """Return four groups of tools that ship with the course as an example: definitions, with nothing behind them."""
    path = Path(__file__).with_name("data") / "sample_tools.json"
    return groups_from_json(path.read_text(encoding="utf-8"), where=path.name)
