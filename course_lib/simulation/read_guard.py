"""Tools that refuse to edit what was not read: the guard that many coding agents have (chapter 10).

    >>> from course_lib.agent import Tool
    >>> from course_lib.messages import ToolSpec
    >>> texts = {"a.py": "a = 1"}
    >>> tools = [Tool(ToolSpec(name, "", {}), lambda given: "ok") for name in ("read_file", "edit_file")]
    >>> read, edit = guard_edits(tools, texts.__getitem__, ReadState)
    >>> edit.run({"path": "a.py"})
    Traceback (most recent call last):
        ...
    course_lib.errors.ToolError: a.py was not read yet: read it before you edit it

What this leaves out on purpose: times of change on disk. Comparing the text itself is exact, and these files are small.
Source: chapter 10; bug report CTX-065 of the field guide.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.agent import Tool
from course_lib.errors import ToolError
from course_lib.restore import ReadState

__all__ = ["guard_edits"]


def guard_edits(
    tools: Sequence[Tool], read_text: Callable[[str], str], state: Callable[[], ReadState]
) -> tuple[Tool, ...]:
    """Return the tools, of which `read_file` notes what was read and `edit_file` refuses what was not.

    Args:
        tools: those of a workspace.
        read_text: returns a file's present text.
        state: returns the read-state of now: whoever forgets it at a compaction returns another one.
    """

    def guarded(tool: Tool) -> Tool:
        def run(given: Mapping[str, Any]) -> Any:
            path = str(given.get("path", ""))
            if tool.spec.name == "edit_file":
                refusal = state().refusal(path, read_text(path))
                if refusal:
                    raise ToolError(refusal)
            result = tool.run(given)
            state().was_read(path, read_text(path))  # who has edited a file knows its new text as well
            return result

        return replace(tool, run=run) if tool.spec.name in ("read_file", "write_file", "edit_file") else tool

    return tuple(map(guarded, tools))
