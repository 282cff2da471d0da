"""Chapter 00 in real JupyterLab, in a real browser, as `course start` opens it."""

import re

from browser_fixtures import expect, open_notebook, run_all, screenshot


def test_chapter_00_opens_runs_and_shows_the_chart(lab, browser, tmp_path):
    """The first address opens chapter 00; all cells run, the chart ends with the refusal, nothing asks the internet."""
    page, outside = open_notebook(browser, lab.url())
    assert "00_start_here.ipynb" in page.locator(".lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel").all_inner_texts()
    run_all(page)
    chart = page.locator(".jp-OutputArea .widget-html svg[role=img]").first
    expect(chart).to_have_attribute("aria-label", re.compile("refused: too long"), timeout=90_000)
    chart.scroll_into_view_if_needed()
    screenshot(page, "chapter_00", tmp_path)

    assert page.locator(".jp-OutputArea [data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.get_by_text("get notified about official Jupyter news").count() == 0
    assert outside == []
    page.close()
