"""Chapter 00 in real JupyterLab, in a real browser, as `course start` opens it."""

import json
import re

from browser_fixtures import expect, open_notebook, run_all, screenshot

ANSWER = """def tokens_left(window_tokens, reserve_tokens, used_tokens):
    return max(0, window_tokens - reserve_tokens - used_tokens)"""


def test_chapter_00_opens_runs_and_shows_the_crash(lab, browser, tmp_path):
    """The first address opens chapter 00; all cells run; Run in the meter ends with the refusal; nothing leaves."""
    page, outside = open_notebook(browser, lab.url())
    assert "00_start_here.ipynb" in page.locator(".lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel").all_inner_texts()
    run_all(page)
    meter = page.locator(".jp-OutputArea:has(button:text-is('Run'))").first
    drawing = meter.locator(".widget-html svg[role=img]")
    expect(drawing).to_have_attribute("aria-label", re.compile("oldest dropped"), timeout=90_000)
    meter.get_by_role("button", name="Run", exact=True).click()
    expect(drawing).to_have_attribute("aria-label", re.compile("^Round 47: .*refused: too long"), timeout=90_000)
    drawing.scroll_into_view_if_needed()
    screenshot(page, "chapter_00", tmp_path)

    assert page.locator(".jp-OutputArea img[alt*='refused: too long']").count() == 2
    assert page.locator(".jp-OutputArea [data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.get_by_text("get notified about official Jupyter news").count() == 0
    assert outside == []
    page.close()


def test_an_exercise_is_solved(lab, browser, tmp_path):
    """A learner writes an answer, the check says "passed", and progress is kept in the learner's own folder."""
    page, outside = open_notebook(browser, lab.url("exercises/00_start_here.ipynb"))
    run_all(page)
    result = page.locator(".jp-OutputArea-output:has-text('Exercise 00.1')").first
    expect(result).to_contain_text("not yet", timeout=30_000)
    answer = page.locator(".jp-CodeCell:has-text('def tokens_left') .cm-content")
    answer.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(ANSWER)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(result).to_contain_text("passed (all 5 checks)", timeout=30_000)
    page.get_by_text("The next request carries everything").click()
    expect(page.locator(".jp-OutputArea [role=status]:has-text('Right.')").first).to_be_visible()
    screenshot(page, "exercise_00", tmp_path)
    records = (lab.folder / ".course" / "progress.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["passed"] for line in records if '"00.1"' in line] == [False, True]
    assert outside == []
    page.close()
