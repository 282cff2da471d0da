"""The meter as a widget: follows, replays, compares, stops, and leaves a sound state whatever happens."""

import base64
import html
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from meter_runs import growing, refused

from course_lib.agent import Agent
from course_lib.client import ScriptedClient
from course_lib.events import Run, record_run
from course_lib.messages import user
from course_lib.simulation.choices import STRATEGIES, forget_the_oldest_naive
from course_lib.simulation.scenario import REFACTORING, Scenario
from course_lib.tokens import MessageCounter
from course_lib.widgets import meter as meter_module
from course_lib.widgets.meter import Meter
from course_lib.widgets.painter import Painter
from course_lib.window import Window

SMALL = Scenario(task="Go.", system="Be brief.", window=Window(context_tokens=1_000, reserve_tokens=100))


@pytest.fixture
def meter():
    """A meter that counts characters, for a small window."""
    return Meter({"small": SMALL}, counter=MessageCounter(len))


def stored(meter):
    """What a notebook stores for a cell that ends with the meter."""
    found = meter._repr_mimebundle_()
    return found[0] if isinstance(found, tuple) else found


def label(meter):
    """What the live picture says in words."""
    return html.unescape(re.search(r'aria-label="([^"]*)"', meter._picture.value)[1])


def events_that_wait(ready, go_on):
    """Yield some rounds, then wait for the test, then yield more."""
    yield from growing(3)
    ready.set()
    go_on.wait(10)
    yield from growing(500, start=4)


def test_following_is_recording(meter):
    """The meter adds nothing to a run and takes nothing away."""
    watched = meter.follow(Agent(ScriptedClient(["done"])).run("Hello"))
    assert watched == record_run(Agent(ScriptedClient(["done"])).run("Hello"))
    assert watched == meter.last_run
    assert len(meter.frames) == 1


def test_a_replay_shows_what_was_followed(meter):
    """A recorded run gives the same picture as the live one."""
    events = [*growing(5), *refused(6)]
    run = meter.follow(iter(events))
    live = (meter._picture.value, meter._request.value)
    other = Meter({"small": SMALL}, counter=MessageCounter(len))
    other.show_run(Run(tuple(events), run.error))
    assert (other._picture.value, other._request.value) == live
    assert "refused" in label(meter)


def test_the_last_state_always_arrives(meter):
    """However quickly events come, the picture ends with the last one, and the slider on it."""
    meter.follow(growing(400, size=1))
    assert label(meter).startswith("Round 400:")
    assert meter.controls.slider.value == meter.controls.slider.max == 400


def test_the_slider_chooses_a_request(meter):
    """Moving the slider shows an earlier request, in picture, words and table; the buttons move it by one."""
    meter.follow(growing(9))
    meter.controls.slider.value = 4
    assert label(meter).startswith("Round 4:")
    assert "The request of round 4," in meter._request.value
    meter.controls.next.click()
    assert label(meter).startswith("Round 5:")
    meter.controls.back.click()
    assert label(meter).startswith("Round 4:")


def test_playing_starts_again_at_the_end(meter):
    """Play goes on from the chosen request; on the last one it starts with the first."""
    meter.follow(growing(9))
    meter.controls.play.click()
    assert (meter.controls.slider.value, meter.controls.clock.playing) == (1, True)
    assert meter.controls.play.description == "Pause"
    meter.controls.play.click()
    assert not meter.controls.clock.playing


def test_a_new_run_forgets_the_old_one(meter):
    """After a long run, a short one has its own slider and picture."""
    meter.follow(growing(50))
    meter.follow(growing(2))
    assert (len(meter.frames), meter.controls.slider.max) == (2, 2)
    assert label(meter).startswith("Round 2:")


def test_an_interrupted_run_leaves_a_sound_state(meter):
    """KeyboardInterrupt goes on to the cell; the agent is closed, and the controls work."""
    closed = []

    def events():
        try:
            yield from growing(2)
            raise KeyboardInterrupt
        finally:
            closed.append(True)

    with pytest.raises(KeyboardInterrupt):
        meter.follow(events())
    assert closed == [True]
    assert label(meter).startswith("Round 2:")
    assert meter.view.track.ending == "stopped"
    assert not meter.controls.run.disabled
    assert meter.controls.stop.disabled
    meter.follow(growing(1))
    assert label(meter).startswith("Round 1:")


def test_a_run_can_be_stopped_in_the_middle(meter):
    """Stop ends a followed run at its next event; its events so far are returned, and it is closed."""
    ready, go_on = threading.Event(), threading.Event()
    runs = []
    follower = threading.Thread(target=lambda: runs.append(meter.follow(events_that_wait(ready, go_on))))
    follower.start()
    ready.wait(10)
    meter.controls.stop.click()
    go_on.set()
    follower.join(10)
    assert 3 <= len(meter.frames) <= 4
    assert runs[0].rounds == 4
    assert meter.view.track.ending == "stopped"


@pytest.fixture
def workspaces(monkeypatch):
    """Every workspace that the meter makes."""
    made = []

    def make():
        made.append(meter_module_make())
        return made[-1]

    meter_module_make = meter_module.make_workspace
    monkeypatch.setattr(meter_module, "make_workspace", make)
    return made


def test_run_runs_the_agent_in_a_fresh_workspace(workspaces):
    """The run button lets the real agent work on a copy of the project, which is gone afterwards."""
    meter = Meter()
    meter.controls.window.value = 16_000
    meter.controls.speed.value = 0
    meter.controls.run.click()
    assert meter.wait(60)
    assert meter.last_run.rounds == len(meter.frames) == 22
    assert "refused: too long" in label(meter)
    assert "refused" in meter.controls.status.value
    assert [workspace.root.exists() for workspace in workspaces] == [False]


def test_a_run_in_the_background_can_be_stopped(workspaces):
    """Stop ends the agent at its next event, removes the workspace and frees the controls."""
    meter = Meter()
    meter.controls.speed.value = 5
    meter.start()
    worker = meter._worker
    meter.start()
    assert meter._worker is worker
    while len(meter.frames) < 2:
        time.sleep(0.01)
    assert meter.controls.run.disabled
    meter.stop()
    meter.stop()
    assert meter.wait(10)
    assert meter.view.track.ending == "stopped"
    assert not meter.controls.run.disabled
    assert [workspace.root.exists() for workspace in workspaces] == [False]


def test_compare_lays_a_second_run_over_the_first(workspaces):
    """Two strategies run one after the other, each in its own workspace; both numbers are shown."""
    small = replace(REFACTORING, window=Window(context_tokens=8_000, reserve_tokens=2_000))
    meter = Meter({"small": small}, STRATEGIES)
    meter.controls.compare.value = "keep the last 20"
    meter.controls.speed.value = 0
    meter.start()
    assert meter.wait(60)
    first, second = meter.view.tracks
    assert (first.name, second.name) == ("none", "keep the last 20")
    assert first.last.round_number > 0 < second.last.round_number
    assert "keep the last 20: round" in label(meter)
    assert len({workspace.root for workspace in workspaces}) == 2


def test_recorded_runs_can_be_compared(meter):
    """A second recorded run is laid over the first, without running anything."""
    meter.show_run(record_run(growing(5)), "first")
    meter.lay_over(Run(tuple(refused())), "second")
    assert "first: round 5" in label(meter)
    assert "second: round 1" in label(meter)


def test_a_broken_strategy_is_reported(workspaces):
    """An error in a learner's own strategy is said beside the buttons; the next run works."""

    def broken(messages):
        raise ZeroDivisionError("<b>division</b>")

    meter = Meter(strategies={"mine": lambda _: {"project": broken}, "none": STRATEGIES["none"]})
    meter.start()
    assert meter.wait(20)
    assert "mine broke: ZeroDivisionError: &lt;b&gt;division" in meter.controls.status.value
    assert not meter.controls.run.disabled
    assert not workspaces[0].root.exists()


def test_the_windows_on_offer_are_those_of_the_scenario():
    """Another scenario brings its own window sizes."""
    meter = Meter({"small": SMALL, "large": REFACTORING}, counter=MessageCounter(len))
    meter.controls.scenario.value = "large"
    assert meter.scenario.window == REFACTORING.window
    meter.controls.window.value = 64_000
    assert meter.scenario.window.context_tokens == 64_000


def test_the_naive_strategy_keeps_the_last_messages():
    """At twenty messages nothing happens; after that the oldest go, and a note stands for them."""
    twenty = tuple(user(str(number)) for number in range(20))
    assert forget_the_oldest_naive(twenty) is twenty
    kept = forget_the_oldest_naive((*twenty, user("20")))
    assert [message.content[0].text for message in kept[1:]] == [str(number) for number in range(1, 21)]


def test_a_saved_meter_holds_a_picture_and_no_state(meter):
    """Without a kernel there is the picture, with its words; before a run there are only words."""
    assert "text/html" not in stored(meter)
    meter.follow(growing(3))
    data = stored(meter)
    assert set(data) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    image = base64.b64decode(re.search(r"base64,([^\"]+)\"", data["text/html"])[1]).decode()
    assert image == meter.picture().svg
    assert (
        data["text/plain"] == repr(meter.picture()) == html.unescape(re.search(r'alt="([^"]*)"', data["text/html"])[1])
    )


def test_a_request_can_be_kept_in_a_notebook(meter):
    """The table of any request is an output of its own, with words for who sees no table."""
    assert repr(meter.request_table()) == "No request yet."
    meter.follow(growing(5))
    assert repr(meter.request_table(3)) == "The request of round 3, as the model sees it: 3 kept · 2 new"
    assert meter.request_table()._repr_html_().count("+ new") == 2


def test_two_runs_store_the_same(meter):
    """Nothing that is stored differs from run to run, so strict comparison of notebooks passes."""
    outputs = []
    for _ in range(2):
        meter.follow(growing(30))
        data = stored(meter)
        outputs.append((data["text/plain"], data["text/html"]))
    assert outputs[0] == outputs[1]


def test_a_painter_paints_the_last_state_and_not_too_often():
    """A thousand changes in a moment are painted a few times, and once more at the end."""
    state, painted = [0], []
    with Painter(lambda: painted.append(state[0]), most_per_second=50) as painter:
        for number in range(1_000):
            state[0] = number
            painter.touch()
    assert painted[-1] == 999
    assert len(painted) < 100


INTERRUPTED_KERNEL = """
import threading, time
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3")

def run(code):
    reply = client.execute_interactive(code, output_hook=lambda _: None, timeout=30)["content"]
    assert reply["status"] == "ok", reply

try:
    run("from course_lib.widgets.meter import Meter\\nmeter = Meter()\\nmeter.controls.speed.value = 5\\nmeter.start()")
    run("import time\\nwhile len(meter.frames) < 2: time.sleep(0.01)")
    time.sleep(0.2)
    manager.interrupt_kernel()
    run("assert meter.wait(10), 'still running'\\nassert meter.view.track.ending == 'stopped'")
    threading.Timer(0.5, manager.interrupt_kernel).start()
    run("try: time.sleep(10)\\nexcept KeyboardInterrupt: pass\\nelse: raise AssertionError('not interrupted')")
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def test_interrupting_an_idle_kernel_stops_the_run():
    """The notebook's interrupt button ends a run in the background, too; a cell can still be interrupted as ever."""
    environment = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1"}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_KERNEL], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
