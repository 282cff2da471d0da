"""The meter in real JupyterLab: pressed, moved, compared, reloaded, and looked at in both themes."""

import re

import pytest
from browser_fixtures import expect, open_notebook, run_all, screenshot, wait_for_kernel, write_notebook

SHOW = """from IPython.display import display
from course_lib.widgets.meter import Meter

meter = Meter()
display(meter)"""
HOSTILE = """from course_lib.client import Request
from course_lib.events import RequestSent
from course_lib.messages import user

bad = "</td></text></svg><script>document.title='hacked'</script><img src=x onerror=\\"document.title='hacked'\\">"
other = Meter()
other.follow([RequestSent(1, Request(messages=(user(bad),), system=bad))], name=bad)
other"""


@pytest.fixture(scope="module")
def page(lab, browser):
    """A notebook with a meter, all cells run; nothing that happens in it asks the internet."""
    write_notebook(lab.folder / "chapters" / "meter.ipynb", SHOW, "meter.picture()", HOSTILE)
    page, outside = open_notebook(browser, lab.url("chapters/meter.ipynb"), height=1_150)
    page.keyboard.press("Control+B")  # hides the list of files: more room
    run_all(page)
    yield page
    assert outside == []
    page.close()


def meter(page):
    """The output area that the meter is in."""
    return page.locator(".jp-OutputArea").first


def drawing(page):
    """The live picture."""
    return meter(page).locator(".widget-html svg[role=img]")


def expect_words(page, words, timeout=20_000):
    """Wait until the live picture says this, as a pattern."""
    expect(drawing(page)).to_have_attribute("aria-label", re.compile(words), timeout=timeout)


def press(page, name):
    """Press one of the meter's buttons."""
    meter(page).get_by_role("button", name=name, exact=True).click()


def choose(page, what, value):
    """Choose from one of the meter's lists."""
    meter(page).get_by_label(what).select_option(value)


def test_run_shows_the_run_until_its_refusal(page, tmp_path):
    """Pressing Run really runs the agent: the picture grows, and ends with the refusal and what was in the window."""
    press(page, "Run")
    expect_words(page, r"^Round \d: ")
    expect_words(page, "refused: too long")
    expect(meter(page).get_by_role("status")).to_have_text("refused: too long")
    table = meter(page).get_by_role("region", name="the request, message by message")
    expect(table.locator("tr").last).to_contain_text("+ new")
    assert table.locator("tr").count() > 90
    assert table.evaluate("e => e.clientHeight < e.scrollHeight")  # the picture stays in sight
    screenshot(page, "meter_refused", tmp_path)


def test_the_slider_is_moved_by_keyboard(page):
    """Arrow keys go back and forth; the buttons do the same; play goes on to the end."""
    meter(page).get_by_role("slider").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect_words(page, "^Round 44:")
    press(page, "Back")
    expect_words(page, "^Round 43:")
    press(page, "Play")
    expect(meter(page).get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect_words(page, "^Round 47:")
    expect(meter(page).get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_stop_ends_a_run(page):
    """Stop is there while a run goes on, and ends it."""
    choose(page, "speed", "5 a second")
    press(page, "Run")
    expect_words(page, "^Round 2:")
    press(page, "Stop")
    expect(meter(page).get_by_role("status")).to_have_text("stopped")
    expect(meter(page).get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_another_strategy_is_compared(page, tmp_path):
    """With another strategy the run ends otherwise; the run without one is laid over it, with both numbers."""
    choose(page, "strategy", "keep the last 20")
    choose(page, "compare with", "none")
    choose(page, "speed", "as it comes")
    press(page, "Run")
    expect(meter(page).get_by_role("status")).to_have_text("finished", timeout=30_000)
    expect_words(page, r"^Round 113:.*keep the last 20: round 113 .* none: round 47 .*refused")
    screenshot(page, "meter_compared", tmp_path)


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_both_themes_and_all_widths(page, theme, tmp_path):
    """The picture takes the page's colours, and fits from 700 to 1,600 pixels."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).hover()
    page.get_by_text(f"JupyterLab {theme}", exact=True).click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", str(theme == "Light").lower())
    dark_ink = drawing(page).locator("text").first.evaluate("e => getComputedStyle(e).fill").startswith("rgba(0, 0, 0")
    assert dark_ink == (theme == "Light")
    for width in (700, 1_100, 1_600):
        page.set_viewport_size({"width": width, "height": 1_150})
        box, place = drawing(page).bounding_box(), meter(page).bounding_box()
        assert box["x"] >= place["x"]
        assert box["x"] + box["width"] <= place["x"] + place["width"] + 1
        page.wait_for_timeout(200)  # the notebook lays itself out anew
        screenshot(page, f"meter_{theme.lower()}_{width}", tmp_path)


def test_a_tools_text_is_never_run(page):
    """Scripts and handlers in messages and names are shown as text."""
    shown = page.locator(".jp-OutputArea").last
    expect(shown.get_by_role("region")).to_contain_text("<script>document.title='hacked'</script>")
    assert "hacked" not in page.title()
    assert shown.locator("script, img[onerror]").count() == 0


def test_a_reload_keeps_the_still_picture(page, tmp_path):
    """After saving and reloading, the picture and its words are there, without a run and without a widget's state."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    cell.click()
    page.keyboard.press("Shift+Enter")
    picture = page.locator(".jp-OutputArea img[alt^='Round 113:']")
    picture.first.wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+S")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    page.reload()
    wait_for_kernel(page)
    picture.first.wait_for()
    picture.first.scroll_into_view_if_needed()
    assert picture.first.evaluate("image => image.complete && image.naturalWidth > 0")
    screenshot(page, "meter_reloaded", tmp_path)
