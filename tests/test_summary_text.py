"""The parser of summaries: no text passes that holds no whole summary, and none that holds one is lost."""

import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.client import Response
from course_lib.errors import CompactionError, SummaryError
from course_lib.messages import TextBlock, ThinkingBlock, ToolUseBlock, Usage, assistant
from course_lib.summary_text import (
    SECTIONS,
    SUMMARY_INSTRUCTIONS,
    SummaryFault,
    fault,
    read_response,
    read_summary,
)

GOOD = "## Goal\nGreen tests in freight/, nothing in vendor/."
SKELETON = "\n".join(f"## {heading}\nnone" for heading, _ in SECTIONS)

BAD = {
    "nothing": ("", "no tags"),
    "blanks": ("  \n\t\n", "no tags"),
    "a plain text": (GOOD, "no tags"),
    "an analysis only": ("<analysis>All is well.</analysis>", "no tags"),
    "a summary inside the analysis": (f"<analysis><summary>{GOOD}</summary></analysis>", "no tags"),
    "not opened": (f"{GOOD}</summary>", "no tags"),
    "not closed": (f"<summary>{GOOD}", "no tags"),
    "closed in half": (f"<summary>{GOOD}</summ", "no tags"),
    "the wrong way round": (f"</summary>{GOOD}<summary>", "no tags"),
    "tags escaped": (f"&lt;summary&gt;{GOOD}&lt;/summary&gt;", "no tags"),
    "another tag": (f"<summarised>{GOOD}</summarised>", "no tags"),
    "two summaries": (f"<summary>{GOOD}</summary>\n<summary>{GOOD}</summary>", "several summaries"),
    "one in the other": (f"<summary><summary>{GOOD}</summary></summary>", "several summaries"),
    "opened twice": (f"<summary><summary>{GOOD}</summary>", "several summaries"),
    "closed twice": (f"<summary>{GOOD}</summary></summary>", "several summaries"),
    "a greeting in front": (f"Sure, here it is:\n<summary>{GOOD}</summary>", "text outside"),
    "an offer behind": (f"<summary>{GOOD}</summary>\nShall I go on?", "text outside"),
    "a code fence around": (f"```xml\n<summary>{GOOD}</summary>\n```", "text outside"),
    "an analysis without an end": (f"<analysis>Hm.<summary>{GOOD}</summary>", "text outside"),
    "an end without an analysis": (f"Hm.</analysis><summary>{GOOD}</summary>", "text outside"),
    "two analyses": (f"<analysis>a</analysis><analysis>b</analysis><summary>{GOOD}</summary>", "text outside"),
    "an analysis begun in the summary": (f"<summary>{GOOD}<analysis>Hm.</summary>", "text outside"),
    "an empty summary": ("<analysis>a</analysis><summary></summary>", "empty"),
    "a blank summary": ("<summary>\n \n</summary>", "empty"),
    "headings only": (
        "<summary>" + "\n".join(f"## {heading}" for heading, _ in SECTIONS) + "</summary>",
        "headings only",
    ),
    "none under each heading": (f"<summary>{SKELETON}</summary>", "headings only"),
    "none as list items": (f"<summary>{SKELETON.replace('none', '- (None so far.)')}</summary>", "headings only"),
    "none on the line": ("<summary>" + "\n".join(f"{h}: none" for h, _ in SECTIONS) + "</summary>", "headings only"),
    "bold headings": ("<summary>" + "\n".join(f"**{h}:**\nN/A" for h, _ in SECTIONS) + "</summary>", "headings only"),
    "numbered headings": (
        "<summary>" + "\n".join(f"{n}. {h}\n   - No errors" for n, (h, _) in enumerate(SECTIONS, 1)) + "</summary>",
        "headings only",
    ),
    "the template itself": (
        "<summary>" + "\n".join(f"## {heading}\n({meaning})" for heading, meaning in SECTIONS) + "</summary>",
        "headings only",
    ),
    "none in Chinese": ("<summary>## Goal\n无\n## Done\n暂无\n## Next\n没有</summary>", "headings only"),
    "rules and dots": ("<summary>---\n...\n* * *\n===</summary>", "headings only"),
    "two words": ("<summary>All done.</summary>", "headings only"),
}


@pytest.mark.parametrize(("text", "kind"), BAD.values(), ids=BAD)
def test_a_bad_summary_has_its_fault(text, kind):
    """What is no summary is an error whose fault says what is wrong, and whose words say that nothing was lost."""
    with pytest.raises(SummaryError, match=r": the history stays as it was$") as caught:
        read_summary(text)
    assert caught.value.fault == kind
    assert isinstance(caught.value, CompactionError)


PASSES = {
    "with an analysis": (f"<analysis>a\nb</analysis>\n\n<summary>\n{GOOD}\n</summary>\n", GOOD),
    "without an analysis": (f"<summary>{GOOD}</summary>", GOOD),
    "the analysis behind": (f"<summary>{GOOD}</summary><analysis>a</analysis>", GOOD),
    "Windows line ends": (
        "<summary>\r\n## Goal\r\nGreen tests everywhere.\r\n</summary>",
        "## Goal\r\nGreen tests everywhere.",
    ),
    "an analysis that speaks of tags": (
        f"<analysis>The <summary> comes next.</analysis><summary>{GOOD}</summary>",
        GOOD,
    ),
    "no heading at all": (
        "<summary>Parser fixed; the tests are green.</summary>",
        "Parser fixed; the tests are green.",
    ),
    "short and to the point": ("<summary>Fixed bug 31 in parse.</summary>", "Fixed bug 31 in parse."),
    "Chinese": ("<summary>修好了登录错误</summary>", "修好了登录错误"),
    "one section filled": (
        f"<summary>{SKELETON.replace('none', 'freight/a.py, freight/b.py', 1)}</summary>",
        SKELETON.replace("none", "freight/a.py, freight/b.py", 1),
    ),
    "on the heading's line": ("<summary>Goal: green tests in freight/</summary>", "Goal: green tests in freight/"),
    "other tags inside": (
        "<summary>Use <b>shipment</b>, see <conversation></summary>",
        "Use <b>shipment</b>, see <conversation>",
    ),
    "none is not all": ("<summary>None of the tests is green yet.</summary>", "None of the tests is green yet."),
}


@pytest.mark.parametrize(("text", "summary"), PASSES.values(), ids=PASSES)
def test_a_good_summary_passes_whole(text, summary):
    """Odd but legal forms are taken, and nothing of the summary is changed."""
    assert read_summary(text) == summary


@pytest.mark.parametrize(
    ("words", "passes"), [("abcdefgh", False), ("abcdefghi", True), ("修好", False), ("修好了", True)]
)
def test_how_little_says_something(words, passes):
    """The edge between a word and a fact, for letters of one byte and of three."""
    if passes:
        assert read_summary(f"<summary>## Done\n- {words}.</summary>") == f"## Done\n- {words}."
    else:
        with pytest.raises(SummaryError):
            read_summary(f"<summary>## Done\n- {words}.</summary>")


@given(st.text())
def test_no_text_without_both_tags_passes(text):
    """Whatever a model writes, without a whole pair of tags it is no summary."""
    if not ("<summary>" in text and "</summary>" in text):
        with pytest.raises(SummaryError):
            read_summary(text)


pieces = st.sampled_from(["<summary>", "</summary>", "<analysis>", "</analysis>", GOOD, "none", "## Goal\n", " ", "x"])


@given(st.lists(pieces, max_size=9).map("".join))
def test_what_passes_is_what_stands_between_the_tags(text):
    """However tags and words are mixed: what passes is one summary that says something, with no tag of ours in it."""
    try:
        summary = read_summary(text)
    except SummaryError:
        return
    assert summary in text.replace("<analysis></analysis>", "") or "<analysis>" in text
    assert GOOD in summary or len(summary) >= 9
    assert not any(tag in summary for tag in ("<summary>", "</summary>", "<analysis>", "</analysis>"))


@given(st.text(alphabet=st.characters(exclude_characters="<>")), st.text(min_size=12, alphabet="abcdefgh"))
def test_a_whole_summary_passes_whatever_is_thought(thought, said):
    """The analysis is thrown away, whatever stands in it."""
    assert read_summary(f"<analysis>{thought}</analysis><summary>{said}</summary>") == said


@pytest.mark.parametrize("cut", range(len(f"<analysis>a</analysis><summary>{GOOD}</summary>")))
def test_no_beginning_of_a_summary_is_one(cut):
    """Wherever an answer breaks off, what is there does not pass."""
    with pytest.raises(SummaryError):
        read_summary(f"<analysis>a</analysis><summary>{GOOD}</summary>"[:cut])


def respond(*blocks, stop="end_turn"):
    """A response with these blocks."""
    return Response(assistant(*blocks), stop, Usage())


def test_a_whole_response_is_read():
    """The text blocks of a response are read as one text; thinking is no part of it."""
    response = respond(
        ThinkingBlock("hm", "c2ln"), TextBlock("<analysis>a</analysis>"), TextBlock(f"<summary>{GOOD}</summary>")
    )
    assert read_response(response) == GOOD


@pytest.mark.parametrize(
    ("response", "kind", "said"),
    [
        (respond(ToolUseBlock("c1", "read_file", {}), stop="tool_use"), "no text", "a call of read_file"),
        (
            respond(f"<summary>{GOOD}</summary>", ToolUseBlock("c1", "ls", {}), stop="tool_use"),
            "no text",
            "a call of ls",
        ),
        (respond(), "no text", "nothing"),
        (respond("  \n"), "no text", "nothing"),
        (respond(ThinkingBlock("hm", "c2ln")), "no text", "nothing"),
        (respond("I cannot help with that.", stop="refusal"), "refused", "refused"),
        (respond(stop="refusal"), "refused", "refused"),
        (respond(f"<summary>{GOOD}</summary>", stop="max_tokens"), "cut off", "after 71 characters"),
        (respond("<analysis>", stop="context_window_exceeded"), "cut off", "after 10 characters"),
        (respond("I cannot help with that."), "no tags", "I cannot help"),
    ],
)
def test_a_response_that_holds_no_summary(response, kind, said):
    """A tool call, nothing, a refusal and a cut-off answer have names of their own, whatever text is there."""
    with pytest.raises(SummaryError, match=said) as caught:
        read_response(response)
    assert caught.value.fault == kind


@pytest.mark.parametrize("kind", typing.get_args(SummaryFault))
def test_every_fault_has_words(kind):
    """Each kind of fault makes a sentence that ends with what became of the history."""
    error = fault(kind, "17 tokens")
    assert error.fault == kind
    assert str(error).endswith(": the history stays as it was")
    assert "{" not in str(error)


def test_the_instructions_ask_for_what_the_parser_takes():
    """Both parts and all nine headings are asked for, with unverified facts to be called so, and no tool."""
    for tag in ("<analysis>", "</analysis>", "<summary>", "</summary>"):
        assert tag in SUMMARY_INSTRUCTIONS
    assert len(SECTIONS) == len({heading for heading, _ in SECTIONS}) == 9
    assert all(f"## {heading}\n" in SUMMARY_INSTRUCTIONS for heading, _ in SECTIONS)
    assert "unverified" in SUMMARY_INSTRUCTIONS
    assert "Call no tool" in SUMMARY_INSTRUCTIONS
