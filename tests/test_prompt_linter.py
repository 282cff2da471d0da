"""The prompt linter: four kinds of sentence that belong in code, measured on sentences it was not written on."""

import json
from collections import Counter

import pytest

from course_lib.errors import SettingsError
from course_lib.prompt_linter import (
    KINDS,
    LabelledSentence,
    Score,
    labelled_sentences,
    lint,
    lint_text,
    measure_linter,
)
from course_lib.system_prompt import Section, build_system_prompt


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("count", "Retry a failed command at most three times."),
        ("count", "You have 20 turns to finish the task."),
        ("count", "Retries: 3"),
        ("hard_limit", "Never read files larger than 1 MB."),
        ("hard_limit", "Set the timeout of each request to 15s."),
        ("strict_order", "First call list_files, then read_file, then edit_file, in exactly this order."),
        ("strict_order", "You must always call get_schema before run_query."),
        ("outside_state", "Today is Monday."),
        ("outside_state", "The staging server is down at the moment."),
    ],
)
def test_each_kind_is_found_and_explained(kind, sentence):
    """The finding names the section and the sentence, and says what to do instead."""
    (finding,) = lint_text(f"Be kind.\n{sentence}\nBe brief.", section="recovery")
    assert (finding.kind, finding.sentence, finding.section) == (kind, sentence, "recovery")
    assert len(finding.reason.split()) > 8
    assert sentence in str(finding)
    assert "[recovery]" in str(finding)


@pytest.mark.parametrize(
    "sentence",
    [
        "Read a file before you edit it.",
        "There are two constraints that hold for the whole task.",
        "Use Python 3.11.",
        "Answer in at most three sentences.",
        "Compare at least two alternatives when a decision is hard to reverse.",
        "Line length is 120 characters.",
        "If a service is down, say so.",
        "",
    ],
)
def test_advice_is_left_alone(sentence):
    """A number, an order of habit, or a state that may or may not be there, is no fault."""
    assert lint_text(sentence) == ()


def test_the_held_out_sentences_hold_the_floor():
    """On sentences that no rule was tuned on: nearly every finding is right, and most of what is there is found."""
    scores = measure_linter(labelled_sentences("held_out"))
    assert scores["all"].precision >= 0.9
    assert scores["all"].recall >= 0.75
    assert min(scores[kind].precision for kind in KINDS) >= 0.8
    assert min(scores[kind].recall for kind in KINDS) >= 0.5


def test_the_labelled_set_is_large_mixed_and_split():
    """Each kind has sentences in both parts, about as many, none in both, and the fine ones are the largest group."""
    tuning, held_out = labelled_sentences("tuning"), labelled_sentences("held_out")
    assert len(tuning) + len(held_out) >= 120
    assert not {row.text for row in tuning} & {row.text for row in held_out}
    for label in (*KINDS, "fine"):
        one, other = (Counter(row.label for row in part)[label] for part in (tuning, held_out))
        assert min(one, other) >= 10
        assert abs(one - other) <= 1
    assert Counter(row.label for row in held_out).most_common(1)[0][0] == "fine"


def test_a_sentence_may_be_of_two_kinds():
    """Both are said, each with its own reason."""
    kinds = [finding.kind for finding in lint_text("Today you may make at most five calls.")]
    assert sorted(kinds) == ["count", "outside_state"]


def test_only_the_stable_sections_are_looked_at():
    """A date in a dynamic section was looked up by code; in a stable one it is a fault."""
    text = "Today is Monday."
    prompt = build_system_prompt([Section("environment", text), Section("session_facts", text)])
    assert [finding.section for finding in lint(prompt)] == ["environment"]


def test_list_items_and_headings_are_sentences():
    """A line end ends a sentence, and the mark of a list item is no part of it."""
    found = lint_text("## Limits\n- Retry at most 3 times\n* no file over 5 MB\n1. Be kind")
    assert [finding.sentence for finding in found] == ["Retry at most 3 times", "no file over 5 MB"]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "a" * 100_000, "always " * 20_000, "at most " * 20_000, "1. " * 5_000, "\0\ud800"]
)
def test_odd_texts_are_survived(text):
    """Nothing, a very long line, a line that is all rule words, and half characters end quickly and quietly."""
    lint_text(text)


@pytest.mark.parametrize(
    ("score", "precision", "recall"),
    [(Score(3, 1, 2), 0.75, 0.6), (Score(0, 0, 0), 1.0, 1.0), (Score(0, 2, 0), 0.0, 1.0), (Score(0, 0, 2), 1.0, 0.0)],
)
def test_precision_and_recall(score, precision, recall):
    """The shares of what was found and of what was there, also where there was nothing."""
    assert (score.precision, score.recall) == (precision, recall)


def test_measuring_counts_right_wrong_and_missed():
    """A hit, a miss and a false alarm, worked out by hand."""
    rows = [
        LabelledSentence("Retry at most 3 times.", "count", "tuning"),
        LabelledSentence("Retry sparingly.", "count", "tuning"),
        LabelledSentence("You have 20 turns.", "fine", "tuning"),
    ]
    scores = measure_linter(rows)
    assert scores["count"] == scores["all"] == Score(1, 1, 1)
    assert scores["hard_limit"] == Score(0, 0, 0)


def test_an_unknown_split_is_refused():
    """There are two parts."""
    with pytest.raises(SettingsError, match="'test': expected"):
        labelled_sentences("test")


@pytest.mark.parametrize(
    "line", ["no json", "[1]", '{"text": "a"}', json.dumps({"text": "a", "label": "x", "split": "tuning"})]
)
def test_a_broken_line_is_named(tmp_path, line):
    """The error says in which line of which file."""
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"text": "a", "label": "fine", "split": "tuning"}) + "\n" + line + "\n")
    with pytest.raises(SettingsError, match=r"rows\.jsonl, line 2: no labelled sentence"):
        labelled_sentences("tuning", path)


def test_a_missing_file_is_named(tmp_path):
    """The error names the file, not the folder it lies in."""
    with pytest.raises(SettingsError, match=r"^gone\.jsonl cannot be read"):
        labelled_sentences("tuning", tmp_path / "gone.jsonl")
