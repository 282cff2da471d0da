"""JupyterLab as `course start` starts it, and a headless browser, for the tests that look at notebooks as learners do.

`conftest.py` gives the two fixtures to all tests; what is not a fixture is imported from here.
"""

import importlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

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


def sync_api():
    """Playwright; in CI it must be there, elsewhere a test that needs it is skipped."""
    if not os.environ.get("CI"):
        return pytest.importorskip("playwright.sync_api")
    return importlib.import_module("playwright.sync_api")


def expect(locator):
    """Playwright's `expect`."""
    return sync_api().expect(locator)


@contextmanager
def running_browser():
    """A headless browser that can reach this computer only; in CI it must be there."""
    given = os.environ.get("COURSE_BROWSER")
    path = given or next(filter(None, map(shutil.which, BROWSERS)), None) or next(filter(os.path.exists, PLACES), None)
    if path is None and not os.environ.get("CI"):
        pytest.skip("no Chromium or Chrome here: install one, or set COURSE_BROWSER to its path")
    with sync_api().sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Lab:
    """A running JupyterLab: its `address`, and the `folder` that it serves."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder

    def url(self, notebook: str = "") -> str:
        """The address of a notebook (`chapters/…`), in a workspace of its own; without one: where a learner starts."""
        if not notebook:
            return f"{self.address}/?token={TOKEN}"
        workspace = re.sub(r"\W", "-", notebook)  # JupyterLab opens again what was open in a workspace
        return f"{self.address}/lab/workspaces/{workspace}/tree/{notebook}?reset&token={TOKEN}"


@contextmanager
def running_lab(folder):
    """JupyterLab as `course start` starts it, on a learner's copy of the course below the folder."""
    course = folder / "course"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    names = ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTER_CONFIG_DIR")
    own = {name: str(folder / name) for name in names} | {"COURSE_FOLDER": str(course)}
    command = [
        *(sys.executable, "-m", "course_lib", "start", "--no-browser", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"),
    ]
    log = folder / "lab.log"
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **own})
    try:
        yield Lab(_wait_for(f"http://127.0.0.1:{port}", process, log), course)
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


@pytest.fixture(scope="session")
def browser():
    """A headless browser."""
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab on a learner's copy of the course."""
    with running_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


def open_notebook(browser, url, **viewport):
    """Open a page of JupyterLab and wait until its kernel is ready; give the page and what it asked from elsewhere."""
    page = browser.new_page(viewport={"width": 1280, "height": 900, **viewport})
    outside = []
    page.on("request", lambda request: LOOPBACK.match(request.url) or outside.append(request.url))
    page.goto(url)
    wait_for_kernel(page)
    return page, outside


def wait_for_kernel(page):
    """Wait for both signs of a ready kernel: its name, and that it is idle."""
    page.locator(".jp-NotebookPanel-toolbar .jp-KernelName:has-text('Python 3')").wait_for(timeout=60_000)
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=60_000)


def run_all(page):
    """Run all cells and wait for the last one."""
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    prompt = page.locator(".jp-Notebook .jp-CodeCell").last.locator(".jp-InputPrompt")
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=90_000)
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=90_000)


def write_notebook(path, *cells):
    """Write a notebook of these code cells."""
    content = [nbformat.v4.new_code_cell(cell, id=f"cell-{number}") for number, cell in enumerate(cells)]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nbformat.write(nbformat.v4.new_notebook(cells=content, metadata={"kernelspec": kernel}), path)


def screenshot(page, name, tmp_path):
    """Keep a picture of the page: in $COURSE_SCREENSHOTS, or with the test's own files."""
    page.screenshot(path=Path(os.environ.get("COURSE_SCREENSHOTS", tmp_path)) / f"{name}.png")
