r"""What an agent should always know: the system prompt, in sections and in one order (chapter 02).

Nine sections are written by a person and are the same in every session: the *stable* ones. Four more are looked up when
a session starts (`prompt_sources`): the *dynamic* ones. Stable parts come first and dynamic ones last, because a
provider's prompt cache keeps the beginning of a request for as long as not one character of it changes.

    >>> prompt = build_system_prompt([
    ...     Section("session_facts", "Date: Monday, 2026-11-30"),
    ...     Section("identity", "You are a careful programmer."),
    ... ])
    >>> print(prompt.text)
    # Who you are
    <BLANKLINE>
    You are a careful programmer.
    <BLANKLINE>
    # This session
    <BLANKLINE>
    Date: Monday, 2026-11-30
    >>> prompt.stable_prefix_chars, prompt.missing[:2]
    (46, ('environment', 'tool_use'))

A line that starts with one `#` opens a section, and nothing else does: such a line inside of a section (in a memory
file that somebody else wrote, say) gets a second `#`.

What this leaves out on purpose: templates. A section is a text; whoever wants to fill one in can use an f-string.
Source: chapter 02; the nine sections are those of an article on a small Python agent (2026).
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course_lib.errors import SettingsError
from course_lib.tokens import TokenCounter

__all__ = [
    "SECTIONS",
    "SECTION_ORDER",
    "Section",
    "SectionKind",
    "SystemPrompt",
    "build_system_prompt",
    "shared_prefix_tokens",
]

_SEPARATOR = "\n\n"


@dataclass(frozen=True)
class SectionKind:
    """One possible section: its name in code, its heading in the prompt, what it is for, and whether it is stable."""

    name: str
    heading: str
    purpose: str
    is_stable: bool = True


SECTIONS: tuple[SectionKind, ...] = (
    SectionKind("identity", "Who you are", "a self-model: it runs in a loop, calls tools, has real effects"),
    SectionKind("environment", "Where you run", "system, shell or none, working folder, which programs there are"),
    SectionKind("tool_use", "How to use tools", "when to call which, what to look at first, how to read results"),
    SectionKind("uncertainty", "When you are not sure", "when to look for evidence, when to choose, when to ask"),
    SectionKind("planning", "How to plan", "how to take a task apart, and how to know that it is done"),
    SectionKind("recovery", "When something fails", "what to do with an error before the next call"),
    SectionKind("communication", "How to report", "what to say while working and at the end, in which form"),
    SectionKind("constraints", "What you must not do", "limits of the task and safety rules, with their reasons"),
    SectionKind("memory", "What to write down", "what goes to CLAUDE.md, to the session's todo, to long-term memory"),
    SectionKind("session_facts", "This session", "platform, working folder, date with weekday", is_stable=False),
    SectionKind("git_info", "Git", "branch, whether anything is changed, the last commits", is_stable=False),
    SectionKind("project_memory", "Project memory", "CLAUDE.md and AGENTS.md, the nearest last", is_stable=False),
    SectionKind("persistent_memory", "Persistent memory", "what earlier sessions wrote down", is_stable=False),
)
SECTION_ORDER: tuple[str, ...] = tuple(kind.name for kind in SECTIONS)
_KINDS = {kind.name: kind for kind in SECTIONS}


@dataclass(frozen=True)
class Section:
    """The text of one section.

    Raises:
        SettingsError: a name that is not in `SECTIONS`, or a text that is no string.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        if self.name not in _KINDS:
            raise SettingsError(f"section {self.name!r} is unknown: expected one of {', '.join(SECTION_ORDER)}")
        if not isinstance(self.text, str):
            raise SettingsError(f"the text of section {self.name!r} is {self.text!r:.80}: expected a string")

    @property
    def is_stable(self) -> bool:
        """Whether it is the same in every session."""
        return _KINDS[self.name].is_stable

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it but blanks."""
        return not self.text.strip()

    @property
    def rendered(self) -> str:
        """The section as it stands in the prompt: its heading, an empty line, its text."""
        return f"# {_KINDS[self.name].heading}{_SEPARATOR}{_as_body(self.text)}"


@dataclass(frozen=True)
class SystemPrompt:
    """A built prompt: its sections in order, and the names of those that were left out because they have no text."""

    sections: tuple[Section, ...]
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole prompt, as it is sent."""
        return _SEPARATOR.join(section.rendered for section in self.sections)

    @property
    def stable_prefix(self) -> str:
        """The text before the first dynamic section: what stays the same from session to session."""
        return self.text[: self.stable_prefix_chars]

    @property
    def stable_prefix_chars(self) -> int:
        """How many characters the stable prefix has; stable sections *behind* a dynamic one do not count."""
        for section, start in zip(self.sections, self._starts(), strict=True):
            if not section.is_stable:
                return start
        return len(self.text)

    def stable_tokens(self, counter: TokenCounter) -> int:
        """Return the tokens of the stable prefix."""
        return counter(self.stable_prefix)

    def tokens_by_section(self, counter: TokenCounter) -> dict[str, int]:
        """Return the tokens of each section, by name; they add up to `counter(prompt.text)` exactly.

        A section's share is what the count of the text grows by when the section is added, heading and gap included.
        """
        text, shares, counted = self.text, {}, 0
        ends = (*self._starts()[1:], len(text))
        for section, end in zip(self.sections, ends, strict=False):  # without sections there is an end of nothing
            tokens = counter(text[:end])
            shares[section.name] = tokens - counted
            counted = tokens
        return shares

    def report(self, counter: TokenCounter) -> str:
        """Return a table: the tokens of each section, where the stable prefix ends, and what is missing."""
        lines, before = [], True
        for section in self.sections:
            if before and not section.is_stable:
                lines.append(f"{'-- stable prefix ends':22}{self.stable_tokens(counter):6,}")
                before = False
            lines.append(f"{section.name:22}{self.tokens_by_section(counter)[section.name]:6,}")
        lines.append(f"{'all':22}{counter(self.text):6,}")
        return "\n".join([*lines, f"without text: {', '.join(self.missing) or 'none'}"])

    def _starts(self) -> list[int]:
        """Where each section starts in the text."""
        starts, position = [], 0
        for section in self.sections:
            starts.append(position)
            position += len(section.rendered) + len(_SEPARATOR)
        return starts


def build_system_prompt(sections: Iterable[Section], *, order: Sequence[str] = SECTION_ORDER) -> SystemPrompt:
    """Put the sections in order and leave out those without text.

    Args:
        sections: in any order, each name at most once.
        order: names of sections; those that it does not name follow in the usual order.

    Raises:
        SettingsError: a section twice, or a name in `order` that is unknown or stands there twice.
    """
    by_name: dict[str, Section] = {}
    for section in sections:
        if section.name in by_name:
            raise SettingsError(f"section {section.name!r} is given twice: join the two texts, or leave one out")
        by_name[section.name] = section
    names = _full_order(order)
    present = tuple(by_name[name] for name in names if name in by_name and not by_name[name].is_empty)
    there = {section.name for section in present}
    return SystemPrompt(present, tuple(name for name in names if name not in there))


def _full_order(order: Sequence[str]) -> tuple[str, ...]:
    wrong = [name for place, name in enumerate(order) if name not in _KINDS or name in order[:place]]
    if wrong:
        raise SettingsError(f"order names {wrong[0]!r}: expected each of {', '.join(SECTION_ORDER)} at most once")
    return (*order, *(name for name in SECTION_ORDER if name not in order))


def shared_prefix_tokens(earlier: str, later: str, counter: TokenCounter) -> int:
    """Return the tokens of the beginning that two texts have in common: what a prompt cache could reuse.

    The token in which they part may be counted although it is not the same in both; providers also round down to
    blocks and have a smallest size (chapter 08).
    """
    return counter(os.path.commonprefix([earlier, later]))  # noqa: RUF071 (characters are what is wanted)


def _as_body(text: str) -> str:
    """The text with plain line ends, and with no line that could be taken for the heading of a section."""
    lines = text.strip().splitlines()
    return "\n".join(
        re.sub(r"^( {0,3})(?=#(?!#))", r"\1#", re.sub(r"^( {0,3})(=+\s*)$", r"\1\\\2", line)) for line in lines
    )
