"""Chapter 00 in real JupyterLab, in a real browser, as `course start` opens it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

sync_api = (
    pytest.importorskip("playwright.sync_api")
    if not os.environ.get("CI")
    else __import__("playwright.sync_api", fromlist=["sync_api"])
)

ROOT = Path(__file__).parents[1]
TOKEN = "course"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
]
LOOPBACK = re.compile(r"(data|blob|about):|(http|ws)://(127\.0\.0\.1|localhost)[:/]")


@pytest.fixture(scope="module")
def browser():
    """A headless browser that can reach this computer only; in CI it must be there."""
    given = os.environ.get("COURSE_BROWSER")
    path = given or next(filter(None, map(shutil.which, BROWSERS)), None) or next(filter(os.path.exists, PLACES), None)
    if path is None and not os.environ.get("CI"):
        pytest.skip("no Chromium or Chrome here: install one, or set COURSE_BROWSER to its path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab as `course start` starts it, on a copy of the chapters; gives its address."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "chapters", folder / "chapters", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    own = {
        name: str(folder / name)
        for name in ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTER_CONFIG_DIR")
    }
    command = [
        *(sys.executable, "-m", "course_lib", "start", "--no-browser", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"),
        f"--ServerApp.root_dir={folder}",
    ]
    log = folder / "lab.log"
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **own})
    try:
        yield _wait_for(f"http://127.0.0.1:{port}", process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait_for(address, process, log):
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=1)
            return address
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not answer within a minute:\n{log.read_text()}")


def test_chapter_00_opens_runs_and_shows_the_chart(lab, browser, tmp_path):
    """The first address opens chapter 00; all cells run, the chart ends with the refusal, nothing asks the internet."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    outside = []
    page.on("request", lambda request: LOOPBACK.match(request.url) or outside.append(request.url))
    page.goto(f"{lab}/?token={TOKEN}")
    page.locator(".jp-NotebookPanel-toolbar .jp-KernelName:has-text('Python 3')").wait_for(timeout=60_000)
    status = page.locator("#jp-main-statusbar")
    status.get_by_text("| Idle").wait_for(timeout=60_000)
    assert "00_start_here.ipynb" in page.locator(".lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel").all_inner_texts()

    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    chart = page.locator(".jp-OutputArea .widget-html svg[role=img]").first
    sync_api.expect(chart).to_have_attribute("aria-label", re.compile("refused: too long"), timeout=90_000)
    last_cell = page.locator(".jp-Notebook .jp-CodeCell").last
    sync_api.expect(last_cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"), timeout=90_000)
    status.get_by_text("| Idle").wait_for(timeout=90_000)
    chart.scroll_into_view_if_needed()
    page.screenshot(path=Path(os.environ.get("COURSE_SCREENSHOTS", tmp_path)) / "chapter_00.png")

    assert page.locator(".jp-OutputArea [data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.get_by_text("get notified about official Jupyter news").count() == 0
    assert outside == []
    page.close()
