"""What to do next, decided from what is known and from nothing else.

`next_step` is the offline model's whole wit: a list of rules, tried in order, each a function that either proposes a
step or passes. It is a plain programmer's routine: look around, run the tests, go through the modules one by one
(read, then edit), verify what changed behaviour, check everything at the end.

How well it works depends on what it is told in the request. Without advice it has habits that are known from real
agents: it stops to ask whether it may go on, it tries a shell, it edits what it has not read, it chooses without
looking for evidence, it takes a part for the whole, it repeats a call that has just failed, it ends without a report.

What this leaves out on purpose: memory. Two equal requests give two equal steps.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from course_lib.simulation.annotate import Edit, Known, has_rounding_stub, has_todo_stub, improve
from course_lib.simulation.perception import PATIENCE, ROUNDING_SEARCH, Knowledge

__all__ = ["Call", "Step", "next_step"]

TESTS = "python -m tests"
CHECK = "python -m tools.check_standard"
TESTS_EVERY_EDITED_MODULES = 8
GUIDES = ("README.md", "CONTRIBUTING.md")


@dataclass(frozen=True)
class Call:
    """One tool call to make."""

    name: str
    input: dict[str, object]


@dataclass(frozen=True)
class Step:
    """What the model says, and the calls it makes with it; no calls means that it stops."""

    text: str
    calls: tuple[Call, ...] = ()


def next_step(knowledge: Knowledge) -> Step:
    """Return the step of the first rule that has one."""
    step = next(filter(None, (rule(knowledge) for rule in _RULES)), None) or _finish(knowledge)
    return step if "no_shell" in knowledge.advice else replace(step, calls=tuple(map(_in_a_shell, step.calls)))


def _in_a_shell(call: Call) -> Call:
    """A command as most machines want it, for who was not told of another kind of machine."""
    command = str(call.input.get("command", ""))
    is_plain = call.name == "run_command" and not command.startswith("bash ")
    return replace(call, input={"command": f'bash -c "{command}"'}) if is_plain else call


def _repeat_what_failed(knowledge: Knowledge) -> Step | None:
    """Not told to read errors, one hopes that it works the next time."""
    if knowledge.failing is None or "read_errors" in knowledge.advice or knowledge.failed_times > PATIENCE:
        return None
    call = Call(knowledge.failing.name, dict(knowledge.failing.input))
    return Step("That did not work. I try it again.", (call,))


def _ask_for_task(knowledge: Knowledge) -> Step | None:
    if knowledge.has_task or knowledge.is_done:
        return None  # with the task out of sight, its traces still show what is being done here
    return Step("I cannot see a task in our conversation. What would you like me to do?")


def _look_around(knowledge: Knowledge) -> Step | None:
    if knowledge.listed:
        return None
    look = Call("list_files", {"path": "."})
    if knowledge.is_done:
        return Step("I see no list of the files. I look again.", (look,))
    return Step("First I look at what is here.", (look, *map(_read, GUIDES)))


def _ask_whether_to_go_on(knowledge: Knowledge) -> Step | None:
    """Not told that it works by itself, it does what an assistant in a chat does."""
    if "loop" in knowledge.advice or knowledge.is_done:
        return None
    return Step(f"I have looked around: {len(knowledge.listed)} Python files. Shall I start with the changes?")


def _run_tests_first(knowledge: Knowledge) -> Step | None:
    if knowledge.failures is not None or knowledge.is_done:
        return None
    return Step("Before I change anything: how do the tests stand?", (_command(TESTS),))


def _correct_rounding(knowledge: Knowledge) -> Step | None:
    """A test said how prices are rounded: mend what an edit of mine got wrong."""
    wrong = sorted(knowledge.rounded)
    if not (wrong and knowledge.lesson):
        return None
    path = wrong[0]
    if path not in knowledge.contents:
        return Step(f"My rounding in {path} was wrong. I read it again.", (_read(path),))
    edits = _edits(path, knowledge.contents[path], knowledge)
    if not edits:
        return None  # somebody has mended it already
    helper, module = knowledge.lesson.helper, knowledge.lesson.module
    lesson = f"Lesson: prices are rounded with {helper} from {module}; the built-in round() is wrong here."
    return Step(lesson, _edit_calls(path, edits))


def _note_the_lesson(knowledge: Knowledge) -> Step | None:
    if not (knowledge.lesson and knowledge.memory_file) or knowledge.is_lesson_noted:
        return None
    helper, module = knowledge.lesson.helper, knowledge.lesson.module
    note = f"- Prices are rounded with {helper} from {module}; the built-in round() is wrong here.\n"
    call = Call("write_file", {"path": knowledge.memory_file, "content": note})
    return Step(f"That should be known the next time: I write it to {knowledge.memory_file}.", (call,))


def _verify_repairs(knowledge: Knowledge) -> Step | None:
    unverified = [path for path, at in knowledge.repairs.items() if at > knowledge.tests_at]
    if not unverified:
        return None
    areas = sorted({path.split("/")[1] for path in unverified if path.count("/") > 1})
    has_own_tests = all(f"tests/test_{area}.py" in knowledge.listed for area in areas)
    command = f"{TESTS} {' '.join(areas)}" if areas and has_own_tests else TESTS
    return Step(f"That changed what {', '.join(unverified)} does, so I run its tests.", (_command(command),))


def _test_now_and_then(knowledge: Knowledge) -> Step | None:
    if len(knowledge.edits_since_tests) < TESTS_EVERY_EDITED_MODULES:
        return None
    return Step(
        f"{len(knowledge.edits_since_tests)} modules changed since the last test run: all tests again.",
        (_command(TESTS),),
    )


def _work_on_next_module(knowledge: Knowledge) -> Step | None:
    path = next(_open_modules(knowledge), None)
    if path is None:
        return None
    if "whole_task" not in knowledge.advice and _is_in_a_new_folder(path, knowledge):
        return _finish(knowledge)
    text = knowledge.contents.get(path)
    if text is None:
        is_known_to_read = "look_first" in knowledge.advice or path in knowledge.failed_edits
        look = _read(path) if is_known_to_read else _blind_edit(path)
        return Step(f"{_said_before(path, knowledge)}Next: {path}", (look,))
    if _is_to_be_searched(text, knowledge):
        search = Call("grep", {"pattern": ROUNDING_SEARCH, "path": "freight"})
        return Step(f"{path} has to round, and half a cent can go both ways. How does the project round?", (search,))
    stub = has_todo_stub(text)
    if stub and stub not in knowledge.greps:
        return Step(f"{stub} in {path} is only a stub. Who calls it?", (Call("grep", {"pattern": stub}),))
    return Step(f"{path} gets hints and docstrings.", _edit_calls(path, _edits(path, text, knowledge)))


def _check_everything(knowledge: Knowledge) -> Step | None:
    is_checked = min(knowledge.check_at, knowledge.tests_at) > knowledge.last_edit_at
    if is_checked or "whole_task" not in knowledge.advice:
        return None
    return Step(
        "Every module I know of is done. I check the standard and run all tests.", (_command(CHECK), _command(TESTS))
    )


def _find_the_rest(knowledge: Knowledge) -> Step | None:
    """Tests still fail although every module seems done: look for what was overlooked."""
    if not knowledge.failures or "TODO" in knowledge.greps:
        return None
    return Step(
        "Tests still fail. I look for what is left to do.", (Call("grep", {"pattern": "TODO", "path": "freight"}),)
    )


def _finish(knowledge: Knowledge) -> Step:
    if "report" not in knowledge.advice:
        return Step("Done.")
    if "whole_task" not in knowledge.advice and next(_open_modules(knowledge), None):
        folders = ", ".join(sorted(_folders(knowledge.done)))
        return Step(f"The modules in {folders} are up to standard. The others can be done in the same way.")
    count = len(knowledge.failures or ())
    tests = f"{count} tests still fail, and I do not know why." if count else "All tests pass."
    return Step(f"All {len(_in_scope(knowledge))} modules are up to standard. {tests}")


_RULES: tuple[Callable[[Knowledge], Step | None], ...] = (
    _repeat_what_failed,
    _ask_for_task,
    _look_around,
    _ask_whether_to_go_on,
    _run_tests_first,
    _correct_rounding,
    _note_the_lesson,
    _verify_repairs,
    _test_now_and_then,
    _work_on_next_module,
    _check_everything,
    _find_the_rest,
)


def _in_scope(knowledge: Knowledge) -> list[str]:
    """Every module of the project but its tests, its tools, and what a visible order puts off limits."""
    spared = ("tests/", "tools/", *knowledge.forbidden)
    return [path for path in knowledge.listed if not path.startswith(spared) and not path.endswith("__init__.py")]


def _open_modules(knowledge: Knowledge) -> Iterator[str]:
    """Modules not known to be done: those named as open first, then on from the last one that was done, to the end.

    A module that can be seen and needs no edit is done, whatever was said of it.
    """
    modules = _in_scope(knowledge)
    named = [path for path in modules if knowledge.is_done.get(path) is False]
    done = [index for index, path in enumerate(modules) if path in knowledge.done]
    start = done[-1] + 1 if done else 0
    unknown = [path for path in modules[start:] if path not in knowledge.is_done]
    for path in (*named, *unknown):
        if path not in knowledge.contents or _edits(path, knowledge.contents[path], knowledge):
            yield path


def _folders(paths: Iterable[str]) -> set[str]:
    return {path.rpartition("/")[0] for path in paths}


def _is_in_a_new_folder(path: str, knowledge: Knowledge) -> bool:
    """Whether work has been done, and none of it where this module lies."""
    return bool(knowledge.done) and not _folders([path]) & _folders(knowledge.done)


def _is_to_be_searched(text: str, knowledge: Knowledge) -> bool:
    """Whether the module asks for a choice that other modules may have made already."""
    is_open = has_rounding_stub(text) and knowledge.lesson is None and ROUNDING_SEARCH not in knowledge.greps
    return is_open and "evidence" in knowledge.advice


def _edits(path: str, text: str, knowledge: Knowledge) -> tuple[Edit, ...]:
    try:
        return improve(text, path=path, known=_known(knowledge))
    except SyntaxError:
        return ()  # no Python: the check at the end will name it


def _known(knowledge: Knowledge) -> Known:
    return Known(word_rules=knowledge.word_rules, lesson=knowledge.lesson)


def _edit_calls(path: str, edits: Sequence[Edit]) -> tuple[Call, ...]:
    return tuple(Call("edit_file", {"path": path, "old_text": e.old_text, "new_text": e.new_text}) for e in edits)


def _said_before(path: str, knowledge: Knowledge) -> str:
    """A word on the module before this one, if it was just finished: plain talk that a summary may pick up."""
    modules = _in_scope(knowledge)
    before = modules[modules.index(path) - 1] if path in modules and modules.index(path) else ""
    return f"{before} is done. " if before in knowledge.done else ""


def _blind_edit(path: str) -> Call:
    """An edit of a file that was not read: what such files usually look like."""
    return Call("edit_file", {"path": path, "old_text": "def main():", "new_text": "def main() -> None:"})


def _read(path: str) -> Call:
    return Call("read_file", {"path": path})


def _command(command: str) -> Call:
    return Call("run_command", {"command": command})
