"""What the offline model understands of plain sentences, and what it does not."""

import pytest

from course_lib.simulation.wording import Lesson, forbidden_folders, progress, rounding_lesson, states_task, word_rules


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
