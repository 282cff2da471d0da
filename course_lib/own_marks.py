r"""The marks that compactions leave behind must not come back as a file's text (chapter 08).

A model that sees `[… 900 of 1,000 tokens left out …]` in an old result may copy it into the file it writes next. So a
tool that writes refuses a text with such a mark in it, and says what to do instead.

    >>> find_mark("def f():\n    [… 900 of 1,000 tokens left out …]\n")
    '[… 900 of 1,000 tokens left out …]'
    >>> find_mark("the text left out of the report")
    ''

`refusing_marks` wraps a tool so; the offline model and real ones get to read the refusal as an error result.

What this leaves out on purpose: marks of other programs, and a text that speaks *about* these marks: who must write one
into a file takes the tool without the wrapper.
Source: chapter 08; bug report CTX-103 of the field guide.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from course_lib.agent import Tool
from course_lib.errors import ToolError
from course_lib.messages import Block

__all__ = ["WRITTEN_ARGUMENTS", "find_mark", "refusing_marks"]

# Arguments whose text ends up in a file; what is looked for, such as `old_text`, may hold anything.
WRITTEN_ARGUMENTS = frozenset({"content", "new_text", "new_string"})
_NUMBER = r"\d[\d,]*"
_MARKS = re.compile(
    rf"\[… {_NUMBER} of {_NUMBER} tokens left out …\]"  # text_cuts
    rf"|\[… {_NUMBER} characters snipped …\]"
    rf"|\[(?:result of \S+|text) left out: {_NUMBER} tokens\]"  # strategies, levels
    r"|\[result of \S+ cleared: [^\]\n]*\]"  # microcompact
    rf"|\[{_NUMBER} older messages were (?:left out|snipped) here\.\]"  # strategies, snip
    rf"|\[{_NUMBER} characters, kept in [^\]\n]*\]"  # tool_budget
)


def find_mark(text: str) -> str:
    """Return the first mark of a compaction in the text, or ""."""
    mark = _MARKS.search(text)
    return mark[0] if mark else ""


def refusing_marks(tool: Tool, arguments: Collection[str] = WRITTEN_ARGUMENTS) -> Tool:
    """Return the tool, refusing to write a text that holds a mark of a compaction.

    Args:
        tool: a tool that writes; any other is as good as unchanged.
        arguments: those whose text is written.
    """
    run = tool.run

    def checked(given: Mapping[str, Any]) -> str | Iterable[Block]:
        for name in sorted(arguments):
            mark = find_mark(given[name]) if isinstance(given.get(name), str) else ""
            if mark:
                raise ToolError(
                    f"{name} holds {mark[:100]!r}, which stands for text that you no longer see: read the file again, "
                    "and write the whole text"
                )
        return run(given)

    return replace(tool, run=checked)
