"""The meter's buttons, lists and slider: plain widgets, each with a label, in rows that wrap when there is no room.

Source: chapter 00.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import ipywidgets

from course_lib.simulation.scenario import Scenario
from course_lib.window import Window

__all__ = ["NOTHING", "Controls", "window_sizes"]

NOTHING = "nothing"  # the choice of not comparing
_PLAY, _PAUSE = "Play", "Pause"
_SPEEDS = {"5 a second": 5, "10 a second": 10, "20 a second": 20, "50 a second": 50, "as it comes": 0}


def window_sizes(window: Window) -> list[tuple[str, int]]:
    """Return the sizes to choose from: the scenario's own, half of it, and its double and fourfold.

    >>> window_sizes(Window(context_tokens=1_000, reserve_tokens=600))
    [('1,000 tokens', 1000), ('2,000 tokens', 2000), ('4,000 tokens', 4000)]
    """
    sizes = (window.context_tokens * half // 2 for half in (1, 2, 4, 8))
    return [(f"{size:,} tokens", size) for size in sizes if size > window.reserve_tokens]


class Controls(ipywidgets.VBox):
    """All controls; what they do is the meter's business.

    Args:
        scenarios: scenarios by name.
        strategies: names of strategies.
    """

    def __init__(self, scenarios: Mapping[str, Scenario], strategies: Iterable[str]) -> None:
        names = list(strategies)
        first = next(iter(scenarios.values()))
        self.scenario = _choice("scenario", list(scenarios))
        self.strategy = _choice("strategy", names)
        self.compare = _choice("compare with", [NOTHING, *names])
        self.window = _choice("window", window_sizes(first.window), first.window.context_tokens)
        self.speed = _choice("speed", list(_SPEEDS.items()), 20)
        self.run = _button("Run", "run the agent", button_style="primary")
        self.stop = _button("Stop", "stop the run", disabled=True)
        self.play = _button(_PLAY, "play the run from the chosen request on")
        self.back = _button("Back", "one request back")
        self.next = _button("Next", "one request on")
        self.slider = ipywidgets.IntSlider(
            min=1, max=1, value=1, description="request", layout=ipywidgets.Layout(width="auto", flex="1 1 260px")
        )
        self.status = ipywidgets.HTML(layout=ipywidgets.Layout(margin="0 8px"))
        self._settings = (self.scenario, self.strategy, self.window, self.compare)
        self._steps = (self.play, self.back, self.next, self.slider)
        # The clock ticks in the page. Its own buttons have no names for a screen reader, so `play` works it instead.
        self.clock = ipywidgets.Play(min=1, max=1, value=1, interval=50, layout=ipywidgets.Layout(display="none"))
        self._linked = ipywidgets.jslink((self.clock, "value"), (self.slider, "value"))
        self.play.on_click(lambda _: self._play_or_pause())
        self.clock.observe(lambda change: self._show_playing(change["new"]), names="playing")
        self.scenario.observe(lambda change: self._offer_windows(scenarios[change["new"]].window), names="value")
        self.speed.observe(lambda change: self._set_interval(change["new"]), names="value")
        self.back.on_click(lambda _: self._move(-1))
        self.next.on_click(lambda _: self._move(+1))
        rows = (self._settings, (self.run, self.stop, self.speed, self.status), self._steps)
        super().__init__([*map(_row, rows), self.clock])
        self.show_requests(0)

    @property
    def requests_a_second(self) -> int:
        """The chosen speed; 0 means as fast as it goes."""
        return int(self.speed.value)

    def show_requests(self, requests: int) -> None:
        """Let the slider go over so many requests, and put it on the last one."""
        for control in (self.slider, self.clock):  # in this order: the clock moves the slider
            control.max = max(1, requests)
            control.value = max(1, requests)
        self._enable(self._steps, requests > 1)

    def set_running(self, is_running: bool) -> None:
        """While a run goes on, only stopping makes sense; afterwards everything else."""
        self.stop.disabled = not is_running
        self._enable((self.run, *self._settings), not is_running)
        if is_running:
            self.clock.playing = False
            self._enable(self._steps, False)

    def _enable(self, controls: Iterable[ipywidgets.Widget], is_enabled: bool) -> None:
        for control in controls:
            control.disabled = not is_enabled

    def _play_or_pause(self) -> None:
        if not self.clock.playing and self.slider.value >= self.slider.max:
            self.slider.value = 1
        self.clock.playing = not self.clock.playing

    def _show_playing(self, is_playing: bool) -> None:
        self.play.description = _PAUSE if is_playing else _PLAY

    def _move(self, by: int) -> None:
        self.slider.value = min(max(self.slider.value + by, self.slider.min), self.slider.max)

    def _offer_windows(self, window: Window) -> None:
        self.window.options = window_sizes(window)
        self.window.value = window.context_tokens

    def _set_interval(self, requests_a_second: int) -> None:
        self.clock.interval = 1_000 // (requests_a_second or 100)


def _choice(label: str, options: Iterable[object], value: object = None) -> ipywidgets.Dropdown:
    style = {"description_width": "initial"}
    chosen = {} if value is None else {"value": value}
    layout = ipywidgets.Layout(width="auto", margin="2px 10px 2px 2px")
    return ipywidgets.Dropdown(options=options, description=label, style=style, layout=layout, **chosen)


def _button(label: str, tooltip: str, **how: Any) -> ipywidgets.Button:
    return ipywidgets.Button(description=label, tooltip=tooltip, layout=ipywidgets.Layout(width="84px"), **how)


def _row(controls: Iterable[ipywidgets.Widget]) -> ipywidgets.HBox:
    return ipywidgets.HBox(list(controls), layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"))
