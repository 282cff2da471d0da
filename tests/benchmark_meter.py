"""How fast is the meter? Run by hand (`make bench`); takes about half a minute and needs Chromium.

    python3 -m course_lib bench meter

It measures three things: what an update costs when a run is short and when it is long, how many updates a second reach
a page of real JupyterLab, and how long it takes from pressing Run to the first picture.
"""

import tempfile
import time
from pathlib import Path

import browser_fixtures

from course_lib.client import Request, Response
from course_lib.events import RequestSent, ResponseReceived
from course_lib.messages import TextBlock, ToolResultBlock, ToolUseBlock, Usage, assistant, user
from course_lib.tokens import MessageCounter, chars_counter
from course_lib.widgets.draw_meter import draw_meter
from course_lib.widgets.prices import Prices
from course_lib.widgets.stage import Stage
from course_lib.window import Window

WINDOW = Window(context_tokens=400_000)
ROUNDS = 1_010
PAGE_SECONDS = 8


def synthetic_events(rounds=ROUNDS):
    """Yield the events of a run that only grows: a call and its result a round, and nothing ever dropped."""
    messages = (user("Do the work."),)
    for number in range(1, rounds + 1):
        yield RequestSent(number, Request(messages=messages, system="Be careful."))
        said = assistant(
            TextBlock(f"Step {number}."), ToolUseBlock(f"c{number}", "read_file", {"path": f"{number}.py"})
        )
        yield ResponseReceived(number, Response(said, "tool_use", Usage(100 * number, 50, 0, 20)))
        messages = (*messages, said, user(ToolResultBlock(f"c{number}", f"{number} " * 300)))


def update_cost(at, around=10):
    """Return the milliseconds of one update (event taken in, picture and request drawn) near a round."""
    stage = Stage(WINDOW, MessageCounter(chars_counter()), "run")
    spent = []
    for event in synthetic_events(at + around):
        start = time.perf_counter()
        stage.add(stage.main, event)
        if event.round_number > at - around:
            draw_meter(stage.view(None, Prices(), ()))
            stage.request_table(None, 8)
            spent.append(time.perf_counter() - start)
    return 1_000 * sorted(spent)[len(spent) // 2]


COUNT_UPDATES = """() => {
    const output = document.querySelector('.jp-OutputArea');
    window.updates = [];
    const seen = new Set();
    new MutationObserver(() => {
        const svg = output.querySelector('svg[role=img]');
        if (svg && !seen.has(svg)) { seen.add(svg); window.updates.push(performance.now()); }
    }).observe(output, {childList: true, subtree: true});
}"""
FIRST_CELL = (
    "from IPython.display import display\nfrom course_lib.widgets.meter import Meter\nmeter = Meter()\ndisplay(meter)"
)
SECOND_CELL = f"""import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import benchmark_meter
def paced():
    end = time.monotonic() + {PAGE_SECONDS}
    for event in benchmark_meter.synthetic_events(100_000):
        yield event
        time.sleep(0.004)
        if time.monotonic() > end:
            return
run = meter.follow(paced())
print("rounds", run.rounds)"""


def in_the_page(lab, browser):
    """Return seconds to the first picture, updates a second that reach the page, and rounds a second of that run."""
    browser_fixtures.write_notebook(lab.folder / "chapters" / "bench.ipynb", FIRST_CELL, SECOND_CELL)
    page, _ = browser_fixtures.open_notebook(browser, lab.url("chapters/bench.ipynb"))
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    page.keyboard.press("Shift+Enter")
    page.locator(".jp-OutputArea svg[role=img]").first.wait_for()
    start = time.perf_counter()
    page.locator(".jp-OutputArea").get_by_role("button", name="Run", exact=True).click()
    page.locator(".jp-OutputArea svg[aria-label^='Round ']").first.wait_for()
    first_paint = time.perf_counter() - start
    browser_fixtures.expect(page.get_by_role("status").first).to_have_text("refused: too long", timeout=30_000)
    page.evaluate(COUNT_UPDATES)
    page.locator(".jp-Notebook .jp-CodeCell").nth(1).click()
    page.keyboard.press("Shift+Enter")
    output = page.locator(".jp-OutputArea").nth(1).get_by_text("rounds")
    output.wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    updates = page.evaluate("window.updates")
    rounds = int(output.inner_text().split()[1])
    return first_paint, 1_000 * (len(updates) - 1) / (updates[-1] - updates[0]), rounds / PAGE_SECONDS


def main():
    """Measure everything and print a table."""
    short, long = update_cost(50), update_cost(1_000)
    print(f"{'an update at round 50':40}{short:8.2f} ms")
    print(f"{'an update at round 1,000':40}{long:8.2f} ms   {long / short:.2f} times as much")
    with (
        tempfile.TemporaryDirectory() as folder,
        browser_fixtures.running_lab(Path(folder)) as lab,
        browser_fixtures.running_browser() as browser,
    ):
        first_paint, updates, rounds = in_the_page(lab, browser)
    print(f"{'from Run to the first picture':40}{first_paint:8.2f} s    wanted: at most 2")
    print(f"{'updates a second that reach the page':40}{updates:8.0f}      wanted: at least 60")
    print(f"{'rounds a second of that run':40}{rounds:8.0f}")


if __name__ == "__main__":
    main()
