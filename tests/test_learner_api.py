"""What a learner uses: `check`, `hint` and `solution` in a notebook, `course check` and `course hint` in a terminal."""

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from course_lib.checks.catalogue import UnknownExerciseError, find_exercise
from course_lib.learner import check, checking, hint, progress, solution, terminal
from course_lib.learner.result import CheckedTest, CheckResult, Failure
from course_lib.learner.runner import CourseCheckError

ROOT = Path(__file__).parents[1]
EXERCISE = find_exercise("00.1")
PASSED = CheckResult(EXERCISE, (CheckedTest("Good."),), total=1)
NOT_YET = CheckResult(EXERCISE, (CheckedTest("Bad.", Failure(got="3")), CheckedTest("Good.")), total=2)
RIGHT = "def tokens_left(w, r, u):\n    return max(0, w - r - u)"


def tokens_left(window_tokens, reserve_tokens, used_tokens):
    """Return what the exercise asks for."""
    return max(0, window_tokens - reserve_tokens - used_tokens)


@pytest.fixture(autouse=True)
def _fresh_session(monkeypatch, tmp_path):
    """Each test is a learner who has done nothing yet, in a folder of their own."""
    monkeypatch.setattr(checking, "_passed_here", set())
    monkeypatch.setattr("course_lib.learner.helping._shown_here", {})
    (tmp_path / ".course").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def outcome(monkeypatch):
    """Let a check come out without running it; set `outcome.result`, and see `outcome.asked`."""
    seen = argparse.Namespace(result=PASSED, asked=[])

    def run(exercise, **given):
        seen.asked.append((exercise.id, given))
        if isinstance(seen.result, Exception):
            raise seen.result
        return replace(seen.result, exercise=exercise)

    monkeypatch.setattr(checking, "run_check", run)
    monkeypatch.setattr("course_lib.learner.runner.run_check", run)
    return seen


# --- importing -------------------------------------------------------------------------------------------------------


def test_importing_is_light():
    """A notebook that imports the functions loads no pytest, no hypothesis, no pickling, no IPython."""
    code = "import sys; from course_lib.learner import check, hint, solution; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    heavy = {"pytest", "_pytest", "hypothesis", "cloudpickle", "IPython", "rich", "asyncio", "subprocess", "numpy"}
    assert heavy.isdisjoint(loaded.split())
    assert [name for name in loaded.split() if name.startswith("course_lib")] == ["course_lib", "course_lib.learner"]


# --- check -----------------------------------------------------------------------------------------------------------


def test_check_from_end_to_end():
    """A right answer passes, a wrong one does not, and progress knows."""
    assert check(tokens_left).passed
    assert progress.load().of("00.1").passed

    def wrong(w, r, u):
        return w

    assert not check(wrong, "00.1").passed
    assert progress.load().of("00.1").attempts == 2


def test_the_name_says_which_exercise(outcome):
    """A function's name is enough; a number or a name goes before it."""
    check(tokens_left)
    check(3, "01.5")
    check(3, "predicted_tokens")
    assert outcome.asked == [("00.1", {"answer": tokens_left}), ("01.5", {"answer": 3}), ("01.5", {"answer": 3})]


@pytest.mark.parametrize("answer", [5, "x", [1], {"a": 1}])
def test_a_value_where_a_function_is_asked_for(outcome, answer):
    """A call's value instead of the function is noticed before anything runs, and is no attempt."""
    result = check(answer, "00.1")
    assert not result.passed
    assert f"This is a value of type {type(answer).__name__}, and the exercise asks for a function." in str(result)
    assert str(result).endswith("hand over the function itself: check(tokens_left)")
    assert "itself: <code>check(tokens_left)</code>" in result._repr_html_()
    assert outcome.asked == []
    assert progress.load().of("00.1").attempts == 0
    check(answer, "01.4")  # a value is asked for: it stays one
    assert outcome.asked == [("01.4", {"answer": answer})]


@pytest.mark.parametrize("answer", [None, ..., NotImplementedError])
def test_a_value_that_is_not_there_yet(answer):
    """None and three dots read kindly."""
    if answer is NotImplementedError:

        def answer(w, r, u):
            raise NotImplementedError

    assert "Nothing to check yet: replace the three dots" in str(check(answer, "00.1"))


def token_left():
    """Have a name that no exercise asks for."""


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((token_left,), r"no exercise 'token_left'. Did you mean .*\(tokens_left\)\? Give its number"),
        ((3,), "A value of type int does not say which exercise it answers"),
        (("00.1",), "A text does not say which exercise"),
        ((lambda: 0,), "A lambda does not say"),
        ((tokens_left, "77.7"), r"no exercise '77\.7'"),
    ],
)
def test_an_answer_to_nothing(args, says):
    """When it is not clear which exercise is meant, the text says how to make it so."""
    with pytest.raises(UnknownExerciseError, match=says):
        check(*args)


def test_trouble_with_progress_spoils_no_check(outcome, monkeypatch):
    """When progress cannot be written, the result stands, and the text says both."""

    def fail(*_args, **_kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(progress, "record", fail)
    result = check(tokens_left)
    assert result.passed
    assert result.note == "Your progress could not be written down (OSError: disk full)."
    monkeypatch.setattr(progress, "record", lambda *_args, **_kwargs: "The file was broken.")
    assert "The file was broken." in str(check(tokens_left))
    monkeypatch.setitem(sys.modules, "course_lib.learner.progress", None)
    assert "could not be written down (ModuleNotFoundError" in check(tokens_left).note
    assert solution("00.1").text.startswith("The answer to 00.1 is not here")


def test_an_error_of_the_course_is_no_outcome(outcome):
    """When the check itself fails, nothing is written down, and a notebook shows no traceback of ours."""
    outcome.result = CourseCheckError("details")
    with pytest.raises(CourseCheckError, match="not of your answer") as caught:
        check(tokens_left)
    assert progress.load().of("00.1").attempts == 0
    assert caught.value._render_traceback_() == [str(caught.value)]


# --- hint ------------------------------------------------------------------------------------------------------------


def test_hints_come_one_at_a_time():
    """Three calls show three hints, whatever names the exercise; then all of them, and that there are no more."""
    for number, which in enumerate(("00.1", "tokens_left", tokens_left)):
        text = str(hint(which))
        assert text.startswith(f"Hint {number + 1} of 3 for 00.1")
        assert [one in text for one in EXERCISE.hints] == [i == number for i in range(3)]
    assert 'solution("00.1", anyway=True)' in text
    text = str(hint("00.1"))
    assert "There are no more" in text
    assert all(one in text for one in EXERCISE.hints)


def test_hints_go_on_where_they_were(monkeypatch):
    """A new kernel goes on after the last hint; without progress, this kernel still remembers."""
    hint("00.1")
    assert progress.hints_shown("00.1") == 1
    monkeypatch.setattr("course_lib.learner.helping._shown_here", {})
    assert str(hint("00.1")).startswith("Hint 2")
    monkeypatch.setitem(sys.modules, "course_lib.learner.progress", None)
    text = str(hint("00.1"))
    assert text.startswith("Hint 3")
    assert "could not be written down" in text


def test_a_note_is_markdown_in_a_notebook_only():
    """Stars are for notebooks; plain text has none."""
    note = hint("00.1")
    assert note._repr_markdown_().startswith("**Hint 1 of 3 for 00.1**")
    assert "**" not in repr(note) + str(note)


# --- solution --------------------------------------------------------------------------------------------------------


def lay_solutions(folder):
    """Lay a notebook with solutions beside a folder of exercises."""
    mine, other = {"exercise": "00.1"}, {"exercise": "00.2"}
    cells = [
        {"cell_type": "markdown", "metadata": {"tags": ["reason"], **other}, "source": "Another reason."},
        {"cell_type": "code", "metadata": {"tags": ["exercise"], **mine}, "source": "stub"},
        {
            "cell_type": "code",
            "metadata": {"tags": ["solution"], **mine},
            "source": ["def tokens_left(): ...\n", "# x"],
        },
        {"cell_type": "markdown", "metadata": {"tags": ["solution", "reason"], **mine}, "source": "Because."},
    ]
    (folder / "solutions").mkdir()
    (folder / "solutions" / "00_a.ipynb").write_text("broken")
    (folder / "solutions" / "00_b.ipynb").write_text(json.dumps({"cells": cells}))


def test_the_solution_comes_after_a_pass(outcome, tmp_path, monkeypatch):
    """Before a pass only on request; after it, the answer and the reason, found in a folder above."""
    lay_solutions(tmp_path)
    (tmp_path / "exercises").mkdir()
    monkeypatch.chdir(tmp_path / "exercises")
    assert "has not passed yet" in str(solution("00.1"))
    shown = "**Our answer to 00.1**\n\n```python\ndef tokens_left(): ...\n# x\n```\n\nBecause."
    assert solution("00.1", anyway=True).text == shown
    check(tokens_left)
    assert solution(tokens_left).text == shown
    monkeypatch.setattr(checking, "_passed_here", set())
    assert solution("00.1").text == shown  # from progress


def test_a_solution_that_is_not_there():
    """Without solutions nearby the text says where they are."""
    assert "`solutions/00_*.ipynb`" in str(solution("00.1", anyway=True))


# --- in a terminal ---------------------------------------------------------------------------------------------------


def run(what="", folder=None):
    """Run `course check`."""
    return terminal.check_command(argparse.Namespace(what=what, folder=folder))


def lay_notebook(folder, *, cell=RIGHT, name="00_start.ipynb"):
    """Lay a learner's notebook, and return its file."""
    folder.mkdir(exist_ok=True)
    metadata = {"tags": ["exercise"], "exercise": "00.1"}
    cells = [{"cell_type": "code", "metadata": metadata, "source": cell}]
    (folder / name).write_text(json.dumps({"cells": cells}))
    return folder / name


def test_course_check_from_end_to_end(tmp_path, capsys):
    """The learner's notebook is checked, the outcome printed and written down; the exit status says it."""
    lay_notebook(tmp_path / "exercises")
    assert run("00.1") == 0
    assert capsys.readouterr().out == f"✓ Exercise 00.1, {EXERCISE.title}: passed (all 5 checks)\n"
    assert progress.load(tmp_path).of("00.1").passed


def test_what_a_passing_answer_printed(tmp_path, capsys):
    """What the answer and its own cell print is shown below the line that says passed."""
    answer = f"def tokens_left(*args):\n    print('args', args)\n    return right(*args)\n{RIGHT}\nprint('on top')"
    lay_notebook(tmp_path / "exercises", cell=answer.replace(RIGHT, RIGHT.replace("tokens_left", "right")))
    assert run("00.1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        f"✓ Exercise 00.1, {EXERCISE.title}: passed (all 5 checks)",
        "    Your code printed:",
        "        on top",
    ]
    assert lines[3].startswith("        args (")


def test_not_yet_is_explained(outcome, tmp_path, capsys):
    """What is not right yet is shown below its line, and the next command."""
    lay_notebook(tmp_path / "exercises")
    outcome.result = NOT_YET
    assert run("00") == 1
    assert capsys.readouterr().out.splitlines()[:6] == [
        f"✗ Exercise 00.1, {EXERCISE.title}: not yet (1 of 2 checks passed)",
        "",
        "    ✗ not yet: Bad.",
        "        got:          3",
        "",
        "    A nudge: course hint 00.1",
    ]


def test_several_exercises_are_counted(outcome, tmp_path, capsys, monkeypatch):
    """Without a number all exercises are checked, a line each, and counted."""
    more = replace(EXERCISE, id="00.2", answer_name="other")
    monkeypatch.setattr(terminal, "EXERCISES", (EXERCISE, more))
    lay_notebook(tmp_path / "exercises")
    assert run() == 0
    assert [asked for asked, _ in outcome.asked] == ["00.1", "00.2"]
    assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 exercises passed."


def test_an_error_of_the_course_has_its_own_status(outcome, tmp_path, capsys):
    """Status 2 tells an error of the course from an answer that is not right yet."""
    lay_notebook(tmp_path / "exercises")
    outcome.result = CourseCheckError("details")
    assert run("00.1") == 2
    assert "Exercise 00.1: This is an error of the course" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("what", "says"), [("99.1", "no exercise '99.1'"), ("98", "Chapter 98 has no exercises"), ("tokens", "no exercise")]
)
def test_what_cannot_be_checked(tmp_path, capsys, what, says):
    """A wrong number is said so."""
    assert run(what) == 2
    assert says in capsys.readouterr().err


def test_which_folder_is_meant(outcome, tmp_path, capsys, monkeypatch):
    """A folder of notebooks may be given, such as a submission: its outcomes are not the learner's own progress."""
    lay_notebook(tmp_path / "work")
    assert run("00.1", str(tmp_path / "work")) == 0
    assert outcome.asked[0][1] == {"notebook": tmp_path / "work" / "00_start.ipynb"}
    assert progress.load(tmp_path).of("00.1").attempts == 0
    assert not (tmp_path / "work" / ".course").exists()


def test_a_notebook_that_is_gone(outcome, tmp_path, capsys):
    """A missing notebook is "not yet"; the next step is to get it back, not a hint."""
    assert run("00.1") == 1
    shown = capsys.readouterr().out
    assert shown.rstrip().endswith("    To get it back: course start")
    assert "hint" not in shown
    assert outcome.asked == []


def test_a_notebook_that_cannot_be_read(tmp_path, capsys):
    """A broken notebook is "not yet"; the next step is to get a new one, not a hint."""
    lay_notebook(tmp_path / "exercises").write_text("broken")
    assert run("00.1") == 1
    shown = capsys.readouterr().out
    assert "is no notebook in today's format" in shown
    assert shown.rstrip().endswith("    To get a new one, rename it, and then: course start")
    assert "hint" not in shown


def test_copies_of_an_update_are_not_taken(tmp_path):
    """The version that an update lays beside is not the learner's."""
    for name in ("00_a.new.ipynb", "00_a.new-2.ipynb", "00_start.ipynb"):
        lay_notebook(tmp_path / "exercises", name=name)
    assert terminal.find_notebook(EXERCISE, tmp_path).name == "00_start.ipynb"


def run_hint(monkeypatch, exercise="00.1", folder=None):
    """Run `course hint` as a process of its own does: it remembers nothing by itself."""
    monkeypatch.setattr("course_lib.learner.helping._shown_here", {})
    return terminal.hint_command(argparse.Namespace(exercise=exercise, folder=folder))


def test_course_hint(capsys, monkeypatch):
    """The same hints, one at a time, and nothing to type that a terminal does not know; a wrong number has status 2."""
    shown = []
    for _ in range(4):
        assert run_hint(monkeypatch) == 0
        shown.append(capsys.readouterr().out)
    starts = ("Hint 1 of 3 for 00.1", "Hint 2 of 3", "Hint 3 of 3", "All hints for 00.1")
    assert all(text.startswith(start) for text, start in zip(shown, starts, strict=True))
    assert all('in the notebook: `solution("00.1", anyway=True)`' in text for text in shown[2:])
    assert "in the notebook" not in str(hint("00.1"))
    assert run_hint(monkeypatch, "x") == 2
    assert "no exercise" in capsys.readouterr().err


@pytest.mark.parametrize("is_option", [True, False])
def test_course_hint_outside_of_the_learners_folder(tmp_path, capsys, monkeypatch, is_option):
    """Elsewhere the option or the setting says whose hints they are: two calls show the first, then the second."""
    mine, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    (mine / ".course").mkdir(parents=True)
    elsewhere.mkdir()
    (tmp_path / ".course").rmdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("COURSE_FOLDER", str(tmp_path / "none" if is_option else mine))
    for number in (1, 2):
        assert run_hint(monkeypatch, folder=str(mine) if is_option else None) == 0
        assert capsys.readouterr().out.startswith(f"Hint {number} of 3")
    assert progress.hints_shown("00.1", mine) == 2


def test_course_hint_without_a_learners_folder(tmp_path, capsys, monkeypatch):
    """The hint is shown and not remembered; a folder that was named and is none is a mistake."""
    (tmp_path / ".course").rmdir()
    monkeypatch.setenv("COURSE_FOLDER", str(tmp_path / "none"))
    for _ in range(2):
        assert run_hint(monkeypatch) == 0
        assert capsys.readouterr().out.startswith("Hint 1 of 3")
    assert run_hint(monkeypatch, folder="nowhere") == 2
    assert "nowhere is no copy of the course" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_line():
    """The commands' arguments can be declared and read."""
    parser = argparse.ArgumentParser()
    terminal.check_arguments(parser)
    assert vars(parser.parse_args([])) == {"what": "", "folder": None}
    assert vars(parser.parse_args(["01.2", "--folder", "x"])) == {"what": "01.2", "folder": "x"}
    parser = argparse.ArgumentParser()
    terminal.hint_arguments(parser)
    assert vars(parser.parse_args(["01.2"])) == {"exercise": "01.2", "folder": None}
    assert vars(parser.parse_args(["01.2", "--folder", "x"])) == {"exercise": "01.2", "folder": "x"}
