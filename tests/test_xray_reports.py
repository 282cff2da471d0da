"""The reports of an X-ray: they say the same, harm nobody, and with redaction say nothing of the session's words."""

import html.parser
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import fields, is_dataclass, replace
from itertools import count, pairwise
from unicodedata import east_asian_width

import pytest
from xray_events import LETTERS, Events

from course_lib.messages import ImageBlock, ThinkingBlock, Usage, user
from course_lib.session_logs import report_json
from course_lib.session_logs.labels import one_line, short_end, short_label
from course_lib.session_logs.redact import WELL_KNOWN_TOOLS, redacted
from course_lib.session_logs.report_chart import draw_xray
from course_lib.session_logs.report_folder import folder_as_html, folder_as_json, folder_as_text, redacted_folder
from course_lib.session_logs.report_html import report_as_html
from course_lib.session_logs.report_json import SCHEMA, report_as_json, report_record
from course_lib.session_logs.report_text import COLUMNS, bar, cut, report_as_text, wrapped
from course_lib.session_logs.sample import sample_session_path
from course_lib.session_logs.xray import xray
from course_lib.session_logs.xray_folder import xray_folder
from course_lib.session_logs.xray_report import SessionReport
from course_lib.widgets.palette import LIVE, PRINTED

HOSTILE = "</text></td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J\u202e\ud800"
REPORTS = {"text": report_as_text, "json": report_as_json, "html": report_as_html}


def rich_session(word="plain", file="log.jsonl"):
    """Events in which everything happens, with `word` in every text that a session can hold."""
    main = (
        Events(file=file)
        .started(word, word)
        .said(f"{word} prompt")
        .billed(2_000, read=5, write=7, output=9, model=word)
    )
    main.answered(ThinkingBlock(word), word).called("c1", word * 9, word, path=word).called(
        "c2", word * 9, "Read", file_path=word
    )
    main.said(ImageBlock("image/png", word)).billed(90_000, output=2, model=word + "2", reliable=False).answered(word)
    main.called("c3", word * 9, "Read", file_path=word, is_error=False).odd("missing result", word)
    main.called("c5", word, "bash", is_error=True, command=word).odd("orphan result", word)
    main.compacted(replacement=[user(word)], trigger=word, tokens_before=9).billed(30_000, model=word).answered(word)
    main.compacted("micro", cleared_tool_use_ids=frozenset({word}), trigger="auto").billed(10_000).answered(word)
    main.said(word, injected=True).billed(300).answered(word).said(word, in_context=False)
    side = Events(thread=word, file=file).said(word).billed(10, read=3).called("c9", word * 30, word, url=word)
    return [*main, *side]


@pytest.fixture(scope="module")
def sample():
    """The X-ray of the session that ships with the course."""
    return xray(sample_session_path())


CASES = {
    "everything": lambda: xray(rich_session(), counter=LETTERS),
    "hostile": lambda: xray(rich_session(HOSTILE, HOSTILE), counter=LETTERS),
    "wide": lambda: xray(rich_session("漢字かなカナ한국어🙂" * 9), counter=LETTERS),
    "empty": lambda: xray([]),
    "no bill": lambda: Events().said("x").answered("y").report(),
    "only a bill": lambda: Events().billed(10**15, output=10**12).report(),
    "a prompt and nothing else": lambda: Events().started().said("x").report(),
    "long": lambda: xray(e for n in range(900) for e in Events().billed(n).called(f"c{n}", "r" * n)),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def report(request):
    """Reports of very different sessions."""
    return request.param()


# --- text ------------------------------------------------------------------------------------------------------------


def columns(text):
    """Return how many columns of a terminal a text takes, counted in the simplest way."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def test_the_page_is_never_too_wide_and_holds_no_control_characters(report):
    """A hundred columns at most, also with wide characters; nothing in it moves a terminal's cursor."""
    page = report_as_text(report)
    assert max(map(columns, page.splitlines())) <= COLUMNS
    assert page.replace("\n", "").isprintable()
    assert page.endswith("\n")


def test_the_summary_comes_first_with_the_figures_that_matter(sample):
    """Billed, cache, unlogged, compactions and repeated reads stand above everything else."""
    top = report_as_text(sample).partition("What went in")[0]
    billed = sample.billed
    for figure in (billed.context_tokens, billed.output_tokens, sample.threads[0].unlogged_tokens):
        assert f"{figure:,}" in top
    assert f"{sample.cache_share:.0%}" in top
    assert f"{sample.compaction_saved:,} tokens taken out" in top
    assert f"{sample.repeated_reads.tokens:,} tokens" in top


def test_context_over_time_is_drawn_in_letters(sample):
    """As many letters as tokens, a letter a part; each compaction is a line between the calls."""
    page = report_as_text(sample)
    lines = re.findall(r"^ +\d[\d,]* +[\d,]+  ([:STuakrd]+)$", page, re.MULTILINE)
    assert 10 < len(lines) <= 24
    assert max(map(len, lines)) == 56
    assert page.count("---- compaction: full ----") == 1


def test_a_stack_is_as_long_as_its_tokens():
    """56 letters are the 300 tokens of the fullest call; rounding errors of the parts do not add up."""
    events = Events().said("x" * 100).billed(150).answered("y" * 100).said("z").billed(300).answered(".")
    lines = re.findall(r"^ +\d+ +\d+  (\S+)$", report_as_text(events.report()), re.MULTILINE)
    assert [(line.count(":"), line.count("u"), line.count("a")) for line in lines] == [(9, 19, 0), (9, 19, 19)]


def test_tools_over_time_are_a_table(sample):
    """A few calls, the biggest tools, and what each has in the context then; the figures are those of the rows."""
    section = report_as_text(sample).partition("Tool results in the context, by tool")[2].partition("\n\n")[0]
    head, *lines = section.splitlines()[2:]
    assert head.split() == ["call", "read_file", "edit_file", "run_command", "list_files", "grep", "others"]
    assert 4 <= len(lines) <= 8
    row = max(sample.threads[0].rows, key=lambda row: row.context_tokens)
    biggest = max(row.by_tool)
    assert f" {biggest:,} " in section


def test_another_thread_can_be_shown(sample):
    """By its name or its number."""
    assert "Context over time: agent-1" in report_as_text(sample, thread="agent-1")
    assert report_as_text(sample, thread="2") == report_as_text(sample, thread="agent-1")


def test_bars_cuts_and_lines():
    """A bar has at least one character; texts are cut and wrapped by columns, not by characters."""
    assert (bar(0, 10, 5), bar(0.01, 10, 5), bar(10, 10, 5)) == ("", "#", "#####")
    assert (cut("abc", 3), cut("abcd", 3), cut("漢字漢字", 5)) == ("abc", "ab…", "漢字…")
    assert list(wrapped("aa bb cc", 5)) == ["aa bb", "cc"]
    assert list(wrapped("漢字 漢字", 5)) == ["漢字", "漢字"]


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_json_is_json_of_the_documented_shape(report):
    """It can be read back, names its version, and has the fields that its documentation names."""
    record = json.loads(report_as_json(report))
    assert record["schema"] == SCHEMA
    named = re.findall(r"^    ([a-z_]+(?:\[\])?(?:, [a-z_]+(?:\[\])?)*)", report_json.__doc__, re.MULTILINE)
    documented = {name.removesuffix("[]") for line in named for name in line.split(", ")}
    assert documented <= set(record)
    assert set(record) - documented <= {"threads_left_out"}


def test_the_shape_is_the_same_for_every_session():
    """The fields that there are, and the types of the figures, do not depend on what happened."""

    def shape(record):
        return {
            key: shape(value) for key, value in record.items() if isinstance(value, dict) and key != "visible_by_part"
        }

    def keys(record):
        return set(record), {key: set(record[key]) for key in ("totals", "prices", "repeated_reads")}

    records = [report_record(make()) for make in CASES.values()]
    assert all(keys(record) == keys(records[0]) for record in records)
    threads = [thread for record in records for thread in record["threads"]]
    assert all(set(thread) == set(threads[0]) for thread in threads)
    rows = [row for thread in threads for row in thread["rows"]]
    assert all(set(row) == set(rows[0]) for row in rows)


def test_json_figures_are_the_reports(sample):
    """Bills, parts and rows stand in it as they are in the report."""
    record = report_record(sample)
    assert Usage(*record["totals"]["billed"].values()) == sample.billed
    assert record["totals"]["visible_by_part"] == sample.added_tokens
    main = record["threads"][0]
    assert main["first_call"]["billed"] - main["first_call"]["visible"] == main["first_call"]["unlogged"]
    last = sample.threads[0].rows[-1]
    assert sum(main["rows"][-1]["parts"].values()) == last.visible_tokens
    assert sum(main["rows"][-1]["by_tool"].values()) == sum(last.by_tool)


def test_any_json_can_be_written_as_utf_8(report):
    """No half surrogate pair is left in any report."""
    for show in REPORTS.values():
        show(report).encode("utf-8")


# --- HTML ------------------------------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """What a browser makes of a page: its tags, its attributes, its texts."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], set(), [], []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attributes):
        """Note a tag."""
        self.tags.add(tag)
        self.attributes += attributes
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        """Note a tag that is empty."""
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        """Tags close in the order in which they were opened."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Note a text."""
        self.texts.append(data)


def test_a_page_is_whole_and_nothing_in_it_can_run(report):
    """All tags close; there is no script, no handler, no address, whatever the session is called and holds."""
    page = Page(report_as_html(report))
    assert page.open == []
    allowed = "html head meta title style body h1 h2 p table thead tbody tr th td div figure svg path rect text details"
    assert page.tags <= {*allowed.split(), "summary"}
    for name, value in page.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "href")
        assert "url(" not in (value or "")


def test_hostile_texts_are_shown_and_not_obeyed():
    """The words of the session are on the page as text."""
    page = Page(report_as_html(CASES["hostile"]()))
    assert any("<script>alert(1)" in text for text in page.texts)
    assert "script" not in page.tags
    assert "img" not in page.tags


def test_a_page_needs_nothing_from_outside(sample):
    """One file: its policy forbids loading, and there is no address in it but SVG's own name."""
    page = report_as_html(sample)
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[^\"' <]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "prefers-color-scheme:dark" in page


def test_every_picture_has_its_text_alternative(sample):
    """Each SVG is an image with a label that has the figures, and the page has the same words to read."""
    page = report_as_html(sample)
    labels = [dict(a)["aria-label"] for a in [Page(page).attributes] if "aria-label" in dict(a)]
    assert page.count('role="img"') == len(sample.threads) == page.count("aria-label=")
    assert f"{sample.threads[0].peak_context_tokens:,}" in " ".join([*labels, page])
    assert page.count("The picture in words") == len(sample.threads)


@pytest.mark.parametrize("theme", [LIVE, PRINTED], ids=["live", "printed"])
def test_pictures_are_sound_and_stay_inside(report, theme):
    """Any thread gives well-formed SVG with all texts between its edges."""
    for thread in report.threads:
        root = ET.fromstring(draw_xray(report, thread, theme))
        _, top, _, height = map(float, root.get("viewBox").split())
        for element in root.iter("{http://www.w3.org/2000/svg}text"):
            assert -12 <= float(element.get("x")) <= 732
            assert top <= float(element.get("y")) <= top + height


def test_a_picture_has_a_mark_for_every_compaction():
    """With what it took out where there is room."""
    report = CASES["everything"]()
    svg = draw_xray(report, report.threads[0])
    assert svg.count("tokens taken out</title>") == len(report.compactions) == 2
    assert "full −" in svg


def test_a_picture_does_not_grow_with_the_session():
    """Nine hundred calls are drawn in at most ninety-six steps."""
    report = CASES["long"]()
    path = max(re.findall(r' d="([^"]*)"', draw_xray(report, report.threads[0])), key=len)
    assert path.count("H") <= 96


def test_all_reports_say_the_same(sample):
    """The same figures stand in all three."""
    pages = [show(sample) for show in REPORTS.values()]
    for figure in (sample.billed.cache_read_tokens, sample.tools[0].result_tokens, sample.compactions[0].saved_tokens):
        assert all(f"{figure:,}" in page or str(figure) in page for page in pages)


# --- without words ---------------------------------------------------------------------------------------------------


def poisoned(value, numbers, secrets):
    """Return a copy of a report in which every text is another secret."""
    if isinstance(value, str):
        secrets.append(f"secret{next(numbers)}q")
        return secrets[-1]
    if isinstance(value, tuple):
        return tuple(poisoned(item, numbers, secrets) for item in value)
    if is_dataclass(value):
        ours = {"counter", "prices"}  # the reader's own settings
        changed = {
            f.name: poisoned(getattr(value, f.name), numbers, secrets) for f in fields(value) if f.name not in ours
        }
        return replace(value, **changed)
    return value


def test_redaction_leaves_none_of_a_reports_texts():
    """Whatever text field a report has, its content is in none of the three reports: also in fields yet to come."""
    secrets = []
    report = poisoned(CASES["everything"](), count(1), secrets)
    assert len(secrets) > 40
    for show in REPORTS.values():
        page = show(redacted(report))
        assert [secret for secret in secrets if secret in page] == []


def test_redaction_keeps_the_figures_and_well_known_names():
    """Figures are the same; a tool that everybody has keeps its name, others and threads and models get a number."""
    report = CASES["everything"]()
    without = redacted(report)
    assert without.billed == report.billed
    assert [tool.name for tool in without.tools] == ["tool-1", "Read", "bash"]
    assert [tool.result_tokens for tool in without.tools] == [tool.result_tokens for tool in report.tools]
    assert [thread.name for thread in without.threads] == ["main", "thread-1"]
    assert [model.name for model in without.models] == ["model-1", "model-2", "model-3"]
    assert [thread.rows for thread in without.threads] == [thread.rows for thread in report.threads]
    assert {compaction.trigger for compaction in without.compactions} == {"", "auto"}
    assert redacted(without) == replace(without, tools=redacted(without).tools)


def test_well_known_tools_are_plain_names():
    """The list holds tools of programs that everybody can have, and no names with an organisation's mark in them."""
    assert {"Read", "Bash", "shell", "read_file", "apply_patch"} <= WELL_KNOWN_TOOLS
    assert all(re.fullmatch(r"[A-Za-z_]+", name) for name in WELL_KNOWN_TOOLS)


# --- folders ---------------------------------------------------------------------------------------------------------


def folder_report(tmp_path):
    """The report of a folder with the sample twice and a broken file."""
    files = []
    for name in ("a/one.jsonl", "two.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(sample_session_path().read_bytes())
        files.append(tmp_path / name)
    (tmp_path / "broken.jsonl").write_text("no log")
    return xray_folder(tmp_path, [*files, tmp_path / "broken.jsonl"])


def test_a_folder_adds_up_and_names_what_it_could_not_read(tmp_path, sample):
    """Two equal logs are twice one; the broken one is named and the others are read."""
    report = folder_report(tmp_path)
    assert report.file_count == 2
    assert report.billed.context_tokens == 2 * sample.billed.context_tokens
    assert report.repeated_tokens == 2 * sample.repeated_reads.tokens
    assert [name for name, _ in report.unreadable] == ["broken.jsonl"]
    for show in (folder_as_text, folder_as_json, folder_as_html):
        page = show(report)
        assert "a/one.jsonl" in page
        assert "broken.jsonl" in page
    assert max(map(columns, folder_as_text(report).splitlines())) <= COLUMNS
    assert Page(folder_as_html(report)).open == []
    assert json.loads(folder_as_json(report))["totals"]["compactions"] == 2


def test_a_folder_can_be_redacted_too(tmp_path):
    """No name of a file or folder is left, no tool that is not well known, no reason."""
    secrets = []
    report = poisoned(folder_report(tmp_path), count(1), secrets)
    for show in (folder_as_text, folder_as_json, folder_as_html):
        assert [secret for secret in secrets if secret in show(redacted_folder(report))] == []


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "begin", "end"), [("abcd", "abcd", "abcd"), ("abcde", "abc…", "…cde"), ("", "", "")])
def test_labels_are_cut_at_the_end_or_at_the_beginning(text, begin, end):
    """A path keeps its end, everything else its beginning, in four characters here."""
    assert (short_label(text, 4), short_end(text, 4)) == (begin, end)


def test_one_line_is_printable():
    """Line ends become blanks, control characters and half pairs a replacement character."""
    assert one_line("a\n b\x1b\ud800") == "a b��"
    assert all(a != b or a != " " for a, b in pairwise(one_line("a   b\t\tc")))


def test_an_empty_report_is_one_too():
    """Nothing is known, nothing fails."""
    for show in REPORTS.values():
        assert show(SessionReport(file="", format="", counter="x"))
