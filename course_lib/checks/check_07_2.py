"""07.2 parse_summary: what is a summary comes back, what is none is refused."""

from course_lib.checks.expectations import Mistake, expect, expect_raises

GOOD = "## Goal\nGreen tests in freight/.\n## Next\nfreight/core/units.py"
FORMED = f"<analysis>\nMuch happened.\n</analysis>\n<summary>\n{GOOD}\n</summary>"


def refuse(answer, text, says, most_chars=2_000):
    """Expect a ValueError, and say what the text is if there is none."""
    expect_raises(answer, text, most_chars, raises=ValueError, mistakes=(Mistake(lambda _: True, says),))


def test_a_summary(answer):
    """What stands between the tags comes back, without blanks around it."""
    expect(
        answer,
        FORMED,
        2_000,
        returns=GOOD,
        mistakes=(
            Mistake(lambda got: "<" in got, "The tags are still there, or the analysis is: only the summary stays."),
            Mistake(lambda got: got.strip() == GOOD, "Blanks and line ends around the summary are no part of it."),
        ),
    )
    expect(answer, f"<summary>{GOOD}</summary>", 2_000, returns=GOOD)


def test_the_analysis_may_hold_anything(answer):
    """A scratchpad that speaks of <summary> is thrown away all the same."""
    text = f"<analysis>I will put it in <summary> and </summary>. 10 > 9.</analysis>\n<summary>{GOOD}</summary>\n"
    fooled = Mistake(ValueError, "The word <summary> in the analysis misled it. Throw the analysis away first.")
    taken = Mistake(lambda got: got != GOOD, "It took something from the analysis. Throw the analysis away first.")
    expect(answer, text, 2_000, returns=GOOD, mistakes=(fooled, taken))


def test_tags_that_are_not_whole(answer):
    """Without both tags, in this order, there is no summary."""
    says = "Both tags are needed, in the right order: without the second one the answer may have been cut off."
    for text in (GOOD, f"<summary>{GOOD}", f"{GOOD}</summary>", f"</summary>{GOOD}<summary>", "", "Error 529: busy"):
        refuse(answer, text, says)
    refuse(answer, f"<analysis>{GOOD}</analysis>", "An analysis alone is no summary.")


def test_two_summaries(answer):
    """Which one would it be?"""
    refuse(
        answer,
        f"<summary>{GOOD}</summary>\n<summary>{GOOD}</summary>",
        "There are two summaries in it. Count the tags; a pattern with .* runs over both.",
    )


def test_text_outside(answer):
    """Nothing but blanks may stand outside of the two parts."""
    says = "Something stands outside of the two parts: the model did not keep to the form."
    for text in (f"Sure!\n{FORMED}", f"{FORMED}\nShall I go on?", FORMED.replace("\n<summary>", "\nSo:\n<summary>")):
        refuse(answer, text, says)


def test_empty(answer):
    """A summary of nothing is none."""
    for text in ("<summary></summary>", "<summary>\n \t\n</summary>"):
        refuse(answer, text, "The summary is empty, or blank.")


def test_headings_only(answer):
    """Headings say nothing, and neither do the lines that say 'none'."""
    refuse(answer, "<summary>## Goal\n## Next\n### Later</summary>", "There are headings and nothing under them.")
    says = "Under the headings there is only '-', 'none' or 'n/a' in some spelling: that is nothing."
    for nothing in ("- none", "None.", "N/A", "* n/a", "-", "...", "  - NONE\n-"):
        refuse(answer, f"<summary>## Goal\n{nothing}\n## Next\n{nothing}</summary>", says)


def test_one_good_line_is_enough(answer):
    """Some sections may be empty, as long as one says something; also in other letters than ours."""
    strict = Mistake(ValueError, "One line that says something makes a summary, also among empty sections.")
    for good in ("Never touch vendor/.", "No test fails; none is slow.", "不要碰 vendor 文件夹", "2 of 36"):
        summary = f"## Goal\n{good}\n## Errors\n- none"
        expect(answer, f"<summary>{summary}</summary>", 2_000, returns=summary, mistakes=(strict,))


def test_too_long(answer):
    """A summary of exactly `most_chars` characters is fine, one more is too long; the analysis does not count."""
    says = "The summary is longer than `most_chars`: it would be longer than what it replaces."
    summary = "word " * 20 + "end."
    text = f"<analysis>{'thinking ' * 50}</analysis><summary>{summary}</summary>"
    counted = Mistake(ValueError, "Only the summary counts, not the analysis; and exactly `most_chars` still fits.")
    expect(answer, text, len(summary), returns=summary, mistakes=(counted,))
    refuse(answer, text, says, most_chars=len(summary) - 1)
