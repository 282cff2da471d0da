"""What the offline model understands of plain sentences, and what it does not."""

import pytest

from course_lib.simulation.wording import (
    Lesson,
    advice,
    forbidden_folders,
    memory_file,
    progress,
    rounding_lesson,
    states_task,
    word_rules,
)


@pytest.mark.parametrize(
    "text",
    [
        "Never touch anything under vendor/.",
        "Do not modify files in the vendor folder.",
        "Please don't touch vendor/ at all.",
        "vendor/ must not be changed",
        "The vendor/ directory stays untouched.",
        "Leave vendor/ alone.",
        "Constraint: no edits to vendor/",
        "User rule: keep out of vendor/",
        "Changes under `vendor/` are forbidden.",
        "Nothing under vendor/ may be touched.",
        "- vendor/: off limits (user)",
        "Bring freight/ up to standard without touching vendor/",
    ],
)
def test_a_folder_is_forbidden_in_many_wordings(text):
    """An order to leave a folder alone is understood however it is put, and only for that folder."""
    assert forbidden_folders(text) == {"vendor/"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "vendor/ holds copied code.",
        "I read vendor/minitable.py.",
        "Next: vendor/",
        "Never give up.",
        "Edit freight/ first.",
    ],
)
def test_no_folder_is_forbidden_by_a_sentence_that_forbids_none(text):
    """Naming a folder is no order."""
    assert forbidden_folders(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Use the word 'shipment', not 'parcel', in all new text.",
        "say shipment instead of parcel",
        "New text says 'shipment' rather than 'parcel'.",
        "Avoid 'parcel', write 'shipment'.",
        "Instead of parcel, use shipment.",
        "Wording: 'shipment' not 'parcel'",
        "never write 'parcel' in new text; use 'shipment'",
        "The term 'shipment' must be used in place of 'parcel'.",
        "the word 'parcel' must be replaced by 'shipment'",
        'The user wants "shipment" instead of "parcel".',
    ],
)
def test_a_word_rule_is_understood_in_many_wordings(text):
    """An order to write one word for another is understood however it is put."""
    assert word_rules(text) == {"parcel": "shipment"}


@pytest.mark.parametrize(
    "text", ["", "A shipment is a parcel.", "Use clear sentences, not long ones", "Use half_up_cents, not round()"]
)
def test_no_word_rule_in_a_sentence_that_orders_none(text):
    """Two words in a sentence are no rule."""
    assert word_rules(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "1250 != 1251 : half a cent rounds up here: use half_up_cents from freight.core.money, not round()",
        "Prices round half up with freight.core.money.half_up_cents.",
        "Lesson: rounding goes through half_up_cents (freight/core/money.py)",
        "Errors and fixes: round() was wrong for prices; half_up_cents in freight.core.money is right.",
    ],
)
def test_the_rounding_lesson_is_found(text):
    """A sentence that names the helper, its module and what it is for teaches the lesson."""
    assert rounding_lesson(text) == Lesson("half_up_cents", "freight.core.money")


@pytest.mark.parametrize(
    "text", ["", "half_up_cents exists", "def half_up_cents(amount_exact):", "use freight.core.money"]
)
def test_half_a_lesson_is_none(text):
    """The helper without its module, or the module without the helper, teaches nothing."""
    assert rounding_lesson(text) is None


@pytest.mark.parametrize(
    ("text", "done", "still_open"),
    [
        ("freight/a.py is done. Next: freight/b.py", {"freight/a.py"}, {"freight/b.py"}),
        (
            "Finished: freight/a.py and freight/b.py. Still to do: freight/c.py",
            {"freight/a.py", "freight/b.py"},
            {"freight/c.py"},
        ),
        (
            "## Completed steps\n- freight/a.py\n- freight/b.py\n\n## Open tasks\n- freight/c.py",
            {"freight/a.py", "freight/b.py"},
            {"freight/c.py"},
        ),
        (
            "Modules brought up to standard so far: freight/a.py,\nfreight/b.py\n\nfreight/c.py",
            {"freight/a.py", "freight/b.py"},
            set(),
        ),
        ("freight/a.py is not yet done, but freight/b.py is finished", {"freight/b.py"}, {"freight/a.py"}),
        ("I looked at freight/a.py.", set(), set()),
        ("", set(), set()),
    ],
)
def test_progress_tells_done_from_open(text, done, still_open):
    """Lists, sentences and headings say which modules are done and which are not."""
    assert progress(text) == (done, still_open)


@pytest.mark.parametrize(
    ("text", "expected"), [("Add docstrings to all modules.", True), ("Hello!", False), ("", False)]
)
def test_a_task_is_recognised(text, expected):
    """The model knows a task when it reads one."""
    assert states_task(text) is expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("loop", "You work in a loop: you call tools, read their results, and call the next ones."),
        ("loop", "Keep going until you are sure."),
        ("loop", "Yes, go ahead."),
        ("no_shell", "Commands run without a shell."),
        ("no_shell", "There is no shell here; `python` is the only program."),
        ("no_shell", "program 'bash' is not allowed: start the command with python"),
        ("look_first", "Read a file before you edit it."),
        ("look_first", "look before you edit"),
        ("look_first", "Before you change a file, open it."),
        ("look_first", "Before editing, look at the file."),
        ("evidence", "When in doubt, look for evidence in the project."),
        ("evidence", "Do not guess: search."),
        ("evidence", "Don't guess at what is meant."),
        ("whole_task", "Leave none of the parts out. Check the whole at the end."),
        ("whole_task", "Do the parts one by one and leave no part out."),
        ("whole_task", "Verify everything before you report."),
        ("read_errors", "Read an error before you act on it."),
        ("read_errors", "Do not repeat a failing call."),
        ("report", "Report at the end what was done."),
        ("report", "When you are done, summarise what you changed."),
    ],
)
def test_advice_is_understood_in_several_wordings(name, text):
    """A sentence that advises one thing advises that, and nothing else."""
    assert advice(text) == {name}


def test_one_sentence_may_advise_two_things():
    """To go on until the task is done says both to go on and to do all of it."""
    assert advice("Go on until the task is done.") == {"loop", "whole_task"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You are a careful programmer.",
        "Bring the code up to standard: type hints and docstrings in every module, tests green.",
        "Before I change anything: how do the tests stand?",
        "Tests still fail. I look for what is left to do.",
        "I see no list of the files. I look again.",
        "The shell of the box is made of steel.",
        "My rounding was wrong. I read it again.",
        "An error was reported in the end.",
    ],
)
def test_no_advice_in_talk(text):
    """The user's task and what the model says while it works are no advice."""
    assert advice(text) == set()


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("A lesson that should outlast the session goes to notes/memory.md.", "notes/memory.md"),
        ("Be kind. Write what later sessions should know to MEMORY.md, briefly.", "MEMORY.md"),
        ("Rules belong in CLAUDE.md.", ""),
        ("Lessons should outlast the session.", ""),
        ("Long-term memory: see /etc/x.md", ""),
        ("", ""),
    ],
)
def test_the_memory_file_is_the_one_for_what_lasts(text, file):
    """A sentence has to name a file of the workspace and say that it is for later."""
    assert memory_file(text) == file
