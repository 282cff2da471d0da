"""The X-ray as a panel in a notebook: shows what the report says, looks for nothing unasked, survives bad files."""

import base64
import html
import os
import re
import xml.etree.ElementTree as ET

import pytest
from xray_events import LETTERS

from course_lib.session_logs.sample import sample_session_path
from course_lib.session_logs.xray import xray
from course_lib.widgets import xray_panel as panel_module
from course_lib.widgets.prices import Prices
from course_lib.widgets.xray_panel import LOG_FOLDERS, XrayPanel, XrayPicture, found_logs


@pytest.fixture
def panel():
    """A panel with the sample."""
    return XrayPanel(sample_session_path(), counter=LETTERS)


def stored(panel):
    """What a notebook stores for a cell that ends with the panel."""
    found = panel._repr_mimebundle_()
    return found[0] if isinstance(found, tuple) else found


def status(panel):
    """What the panel says in its status line, and as what."""
    role, text = re.search(r'role="(\w+)">(.*)</span>', panel._status.value).groups()
    return role, html.unescape(text)


def test_a_panel_shows_the_report(panel):
    """Picture, summary, and a folded table for each part of the report."""
    report = xray(sample_session_path(), counter=LETTERS)
    assert panel.report == report
    assert f"{report.billed.context_tokens:,}" in panel._picture.value
    assert panel._picture.value.count("<svg") == 1
    for title in ("By tool", "Threads", "Compactions", "Biggest results", "Read again", "Cache and cost", "Oddities"):
        assert f"<summary>{title}" in panel._tables.value
    assert status(panel) == ("status", "read sample_session.jsonl")


def test_a_panel_without_a_log_waits():
    """Nothing is read, listed or shown; the stored cell says what it is."""
    panel = XrayPanel()
    assert panel.report is None
    assert panel.picture() is None
    assert panel._picture.value == panel._tables.value == ""
    assert panel._found.layout.display == "none"
    assert "panel" in stored(panel)["text/plain"]


def test_every_control_has_a_name(panel):
    """A screen reader can say what each of them is."""
    for control in (panel._path, panel._show, panel._find, panel._found, panel._thread, panel._hide):
        assert control.description


@pytest.mark.parametrize("path", ["/nothing/here.jsonl", "", "   ", "~", "bad\x00name"])
def test_a_bad_path_is_said_and_the_report_stays(panel, path):
    """The error stands in the panel as an alert; what was shown before is still there."""
    before = panel._picture.value
    panel.load(path)
    assert status(panel)[0] == "alert"
    assert panel._picture.value == before
    panel.load(sample_session_path())
    assert status(panel)[0] == "status"


def test_a_bad_first_path_does_not_break_the_cell(tmp_path):
    """The panel comes up with the error in it."""
    file = tmp_path / "<b>odd.jsonl"
    file.write_text("hello")
    panel = XrayPanel(file)
    assert status(panel)[0] == "alert"
    assert "<b>" not in panel._status.value


def test_a_file_that_is_too_large_goes_to_the_command(panel, monkeypatch):
    """The panel names the command that can read it."""
    monkeypatch.setattr(panel_module, "_MOST_BYTES", 1_000)
    panel.load(sample_session_path())
    role, text = status(panel)
    assert role == "alert"
    assert "course xray" in text


def test_typing_a_path_or_choosing_one_loads_it(tmp_path):
    """Enter in the field, and the list, do the same as `load`."""
    log = tmp_path / "one.jsonl"
    log.write_bytes(sample_session_path().read_bytes())
    panel = XrayPanel(counter=LETTERS)
    panel._path.value = str(log)
    assert panel.report.file == "one.jsonl"


def test_another_thread_is_drawn(panel):
    """The choice of a thread changes the picture, also the one that stays."""
    first = panel._picture.value
    panel._thread.value = "2"
    assert panel._picture.value != first
    assert "Context of agent-1" in repr(panel.picture())


def test_names_can_be_hidden(panel):
    """With one click no file, path or tool of the session is on the screen, nor in what is stored."""
    assert "freight/" in panel._tables.value
    panel._hide.value = True
    for shown in (panel._tables.value, panel._picture.value, *stored(panel).values()):
        assert "freight/" not in str(shown)
        assert "sample_session" not in str(shown)
    panel._hide.value = False
    assert "freight/" in panel._tables.value


def test_logs_are_only_looked_for_when_asked(tmp_path, monkeypatch):
    """Until then no folder is listed; then the latest logs of the usual folders come first."""
    for number, folder in enumerate(LOG_FOLDERS):
        log = tmp_path / folder / "p" / f"{number}.jsonl"
        log.parent.mkdir(parents=True)
        log.write_bytes(sample_session_path().read_bytes())
        os.utime(log, (number, number))
    (tmp_path / LOG_FOLDERS[0] / "notes.txt").write_text("x")
    listed = []
    monkeypatch.setattr(panel_module, "found_logs", lambda home: listed.append(home) or found_logs(home))
    panel = XrayPanel(home=tmp_path, counter=LETTERS)
    assert listed == []
    panel._find.click()
    assert listed == [tmp_path]
    values = [value for _, value in panel._found.options]
    assert values == ["", *(str(log) for log in found_logs(tmp_path))]
    assert [os.path.basename(value)[:1] for value in values[1:]] == ["3", "2", "1", "0"]  # noqa: PTH119 strings
    panel._found.value = values[2]
    assert panel.report.file == "2.jsonl"


def test_no_log_is_found(tmp_path):
    """The panel says where it looked."""
    panel = XrayPanel(home=tmp_path)
    panel.find()
    assert LOG_FOLDERS[0] in status(panel)[1]


def test_what_is_stored_is_readable_without_a_kernel_and_always_the_same(panel):
    """The summary and the picture in words, the picture as an image with a text alternative, the tables."""
    first, second = stored(panel), stored(XrayPanel(sample_session_path(), counter=LETTERS))
    for kind in ("text/plain", "text/html"):
        assert first[kind] == second[kind]
        assert "0x" not in first[kind].replace("0x0", "")[:200]
    assert first["text/plain"].splitlines()[-1] == repr(panel.picture())
    alt, source = re.search(r'<img alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)"', first["text/html"]).groups()
    assert html.unescape(alt) == repr(panel.picture())
    assert ET.fromstring(base64.b64decode(source)).get("role") == "img"


def test_prices_reach_the_report():
    """They are the panel's setting as they are the function's."""
    prices = Prices(input_per_million=7)
    assert XrayPanel(sample_session_path(), counter=LETTERS, prices=prices).report.prices == prices


def test_a_picture_of_an_empty_report():
    """Nothing to draw is drawn, and said."""
    assert "no call" in repr(XrayPicture(xray([])))
