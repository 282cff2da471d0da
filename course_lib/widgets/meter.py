"""The live meter: watch the context grow, fill, and be compacted.

    meter = Meter()
    display(meter)                          # press run, or:
    run = meter.follow(agent.run(task))     # it moves while the agent works
    meter.picture()                         # the same picture, as it stays in a saved notebook

A widget of plain ipywidgets: all that it shows is drawn by `draw_meter` and `draw_request`, from a run's events alone.
Source: chapter 00.
"""

import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import ipywidgets

from course_lib.events import AgentEvent, RequestSent, Run, record_run
from course_lib.simulation.choices import SCENARIOS, STRATEGIES
from course_lib.simulation.scenario import Scenario
from course_lib.simulation.setup import MakeHooks, make_setup
from course_lib.simulation.workspace import make_workspace
from course_lib.tokens import MessageCounter, TiktokenCounter
from course_lib.widgets.controls import NOTHING, Controls
from course_lib.widgets.draw_meter import Picture, draw_meter
from course_lib.widgets.draw_request import RequestTable
from course_lib.widgets.frame_builder import FrameBuilder
from course_lib.widgets.frames import Frame
from course_lib.widgets.interrupts import stop_on_interrupt
from course_lib.widgets.painter import Painter
from course_lib.widgets.prices import Prices
from course_lib.widgets.stage import Stage
from course_lib.widgets.svg import plain
from course_lib.widgets.view import Threshold, View

__all__ = ["Meter"]

_LIVE_ROWS, _RESTING_ROWS = 8, 120  # messages that the request view shows while a run goes on, and afterwards


class Meter(ipywidgets.VBox):
    """A run's context as a live picture, with everything to run, stop, play again and compare.

    Args:
        scenarios: what can be run, by name; the first one gives the window for `follow`.
        strategies: what can be done about a full window, by name (see `simulation.choices`).
        counter: how tokens are counted; exactly by default.
        prices: what tokens cost.
        thresholds: more lines in the picture than the window's own.
    """

    def __init__(
        self,
        scenarios: Mapping[str, Scenario] | None = None,
        strategies: Mapping[str, MakeHooks] | None = None,
        *,
        counter: MessageCounter | None = None,
        prices: Prices | None = None,
        thresholds: Sequence[Threshold] = (),
    ) -> None:
        self.scenarios, self.strategies = dict(scenarios or SCENARIOS), dict(strategies or STRATEGIES)
        self.counter = counter or MessageCounter(TiktokenCounter())
        self.prices, self.thresholds = prices or Prices(), tuple(thresholds)
        self.last_run: Run | None = None  # the latest run of `follow`, or of the run button
        self.controls = Controls(self.scenarios, self.strategies)
        self._picture, self._request = ipywidgets.HTML(), ipywidgets.HTML()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None
        self._is_live = False
        self._stage = self._new_stage("no run yet")
        super().__init__([self.controls, self._picture, self._request])
        self.controls.run.on_click(lambda _: self.start())
        self.controls.stop.on_click(lambda _: self.stop())
        self.controls.slider.observe(lambda _: self._moved(), names="value")
        self._paint()
        stop_on_interrupt(self)

    @property
    def scenario(self) -> Scenario:
        """The chosen scenario with the chosen window."""
        scenario = self.scenarios[self.controls.scenario.value]
        return replace(scenario, window=replace(scenario.window, context_tokens=self.controls.window.value))

    @property
    def frames(self) -> Sequence[Frame]:
        """The requests so far, in order."""
        return tuple(self._stage.main.frames)

    @property
    def is_running(self) -> bool:
        """Whether a run goes on in the background."""
        return self._worker is not None and self._worker.is_alive()

    @property
    def view(self) -> View:
        """What the picture shows now."""
        return self._stage.view(self._number, self.prices, self.thresholds)

    def picture(self) -> Picture:
        """Return the picture as it is now, for readers without a kernel: an image with its text alternative."""
        return Picture(self.view)

    def request_table(self, number: int | None = None, *, most_rows: int = 24) -> RequestTable:
        """Return a request message by message, to stay in a saved notebook.

        Args:
            number: which request, from 1; the one that is shown by default.
            most_rows: messages shown one by one: those that changed, then their neighbours.
        """
        return self._stage.request_table(number or self._number, most_rows)

    def follow(self, events: Iterable[AgentEvent], name: str = "this run") -> Run:
        """Let a run go on to its end, show it while it goes, and return it.

        Interrupting the kernel ends it where it is; the meter then shows what there was.
        """
        self.stop()
        self.wait()
        self._stopping.clear()
        self._stage = self._new_stage(name)
        with self._live(f"running: {name}") as painter:
            self.last_run = self._watch(events, self._stage.main, painter)
        return self.last_run

    def show_run(self, run: Run, name: str = "this run") -> None:
        """Show a recorded run, ready to be played and stepped through."""
        self.follow(run.events, name)
        self.last_run = run

    def lay_over(self, run: Run, name: str) -> None:
        """Lay a second recorded run over the one that is shown; both need the same window."""
        builder = self._stage.lay_over(name)
        for event in run.events:
            self._stage.add(builder, event)
        self._paint()

    def start(self) -> None:
        """Do what the run button does: run the agent with the chosen settings, in the background, in a fresh workspace.

        Nothing happens while a run goes on.
        """
        if self.is_running or self._is_live:
            return
        chosen, other = self.controls.strategy.value, self.controls.compare.value
        names = [chosen] if other in (NOTHING, chosen) else [chosen, other]
        self._stage = self._new_stage(chosen)
        self._stopping.clear()  # here and not in the thread: a stop right after the start counts
        self._worker = threading.Thread(target=self._work, args=(self.scenario, names), name="meter", daemon=True)
        self._worker.start()

    def stop(self) -> None:
        """End the run that goes on at its next event."""
        self._stopping.set()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the run in the background is over; return whether it is."""
        if self._worker is not None:
            self._worker.join(timeout_seconds)
        return not self.is_running

    @property
    def _number(self) -> int | None:
        """The request that the slider is on; None for the latest."""
        slider = self.controls.slider
        return None if self._is_live or slider.value >= slider.max else int(slider.value)

    def _moved(self) -> None:
        if not self._is_live:
            self._paint()

    def _new_stage(self, name: str) -> Stage:
        return Stage(self.scenario.window, self.counter, name)

    def _work(self, scenario: Scenario, names: Sequence[str]) -> None:
        """Run the agent once for each strategy; the second run is laid over the first."""
        stage, pace = self._stage, self.controls.requests_a_second
        problem = ""
        with self._live(f"running: {' and '.join(names)}") as painter:
            for name in names:
                builder = stage.main if name == names[0] else stage.lay_over(name)
                try:
                    with make_workspace() as workspace:
                        agent = make_setup(scenario).agent(workspace, self.strategies[name])
                        self.last_run = self._watch(agent.run(scenario.task), builder, painter, pace)
                except Exception as error:  # nobody would see it in a thread: the learner's own strategy may raise
                    problem = f"{name} broke: {type(error).__name__}: {error}"
                    stage.end(builder, "broken")
                if self._stopping.is_set():
                    break
        if problem:
            self._say(problem)

    def _watch(
        self, events: Iterable[AgentEvent], builder: FrameBuilder, painter: Painter, requests_a_second: int = 0
    ) -> Run:
        return record_run(self._watched(events, builder, painter, requests_a_second))

    def _watched(
        self, events: Iterable[AgentEvent], builder: FrameBuilder, painter: Painter, requests_a_second: int
    ) -> Iterator[AgentEvent]:
        """Pass the events on, let the picture follow, and end early when somebody says so."""
        try:
            for event in events:
                if self._stage.add(builder, event):
                    painter.touch()
                yield event
                if requests_a_second and isinstance(event, RequestSent):
                    self._stopping.wait(1 / requests_a_second)
                if self._stopping.is_set():
                    break
        finally:
            self._stage.end(builder, "stopped")
            if isinstance(events, Generator):
                events.close()  # an agent answers its open calls, and its conversation stays whole

    @contextmanager
    def _live(self, status: str) -> Iterator[Painter]:
        """While a run goes on: the controls say so, and a painter keeps the picture fresh."""
        self._is_live = True
        self.controls.set_running(True)
        self._say(status)
        try:
            with Painter(self._paint) as painter:
                yield painter
        finally:
            self._is_live = False
            self.controls.set_running(False)
            self.controls.show_requests(len(self._stage.main.frames))
            self._paint()
            self._say(self._stage.main.ending)

    def _say(self, status: str) -> None:
        self.controls.status.value = f'<span role="status">{plain(status)}</span>'

    def _paint(self) -> None:
        self._picture.value = draw_meter(self.view)
        rows = _LIVE_ROWS if self._is_live else _RESTING_ROWS
        self._request.value = self._stage.request_table(self._number, rows, is_scrolling=True).html

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = "(The live meter shows when this cell runs; the picture below shows where it ends.)"
        if self._stage.main.frames:
            still = self.picture()
            data |= {"text/plain": repr(still), "text/html": still._repr_html_()}
        return bundle
