"""The picture of a run: drawn from numbers alone, also from strange ones."""

import base64
import html
import re
import xml.etree.ElementTree as ET

import pytest

from course_lib.agent import Agent
from course_lib.client import Request, ScriptedClient
from course_lib.errors import ContextOverflowError
from course_lib.events import RequestSent, RunFailed, record_run
from course_lib.messages import assistant, user
from course_lib.tokens import MessageCounter
from course_lib.widgets.context_chart import PART_LABELS, ChartRow, ContextChart, describe_context, draw_context
from course_lib.widgets.plots import Plot, new_plot
from course_lib.widgets.source import show_source
from course_lib.window import PARTS, Composition, Window

WINDOW = Window(context_tokens=1_000, reserve_tokens=100)


def row(round_number, *, refused=False, window=WINDOW, **tokens):
    """Return one row with the given tokens by part."""
    return ChartRow(round_number, Composition({part: tokens.get(part, 0) for part in PARTS}, window), refused)


def texts(svg):
    """Return all texts of an SVG, which must be well-formed."""
    return [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (row(1),),
        (row(1, user=10),),
        (row(1, user=10), row(2, user=10, tool_results=5_000, refused=True)),
        tuple(row(n, **dict.fromkeys(PARTS, n * 10**9)) for n in range(1, 200)),
        (row(7, user=1), row(7, user=2)),
    ],
    ids=["no round", "empty round", "one round", "over-full", "huge", "a round twice"],
)
def test_any_rows_give_a_well_formed_picture(rows):
    """Nothing, one round, an over-full window and huge numbers are all drawn."""
    ET.fromstring(draw_context(rows, WINDOW))


def test_every_part_that_has_tokens_is_labelled():
    """No band is told by its colour alone."""
    labels = " ".join(texts(draw_context([row(1, **dict.fromkeys(PARTS, 10))], WINDOW)))
    assert all(label in labels for label in PART_LABELS.values())


def test_a_refusal_is_said_in_the_picture_and_in_words():
    """The end of a run is not only a colour."""
    rows = [row(3, user=950, refused=True)]
    assert any("refused" in text for text in texts(draw_context(rows, WINDOW)))
    assert "refused" in describe_context(rows, WINDOW)
    assert "refused" not in describe_context([row(3, user=950)], WINDOW)


def test_the_text_alternative_has_the_numbers():
    """Who cannot see the picture gets its numbers."""
    words = describe_context([row(12, user=100, tool_results=300)], WINDOW)
    assert "Round 12" in words
    assert "400 tokens" in words
    assert "tool results 75%" in words


@pytest.mark.parametrize(("rounds", "axis_end"), [(1, "20"), (19, "20"), (20, "40"), (47, "60")])
def test_the_axis_grows_in_whole_steps(rounds, axis_end):
    """The picture does not jitter: the axis is the same for twenty rounds."""
    assert axis_end in texts(draw_context([row(rounds, user=1)], WINDOW))


def test_the_same_rows_give_the_same_picture():
    """The drawing is a pure function."""
    rows = [row(1, user=3)]
    assert draw_context(rows, WINDOW) == draw_context(list(rows), WINDOW)


def test_the_chart_follows_a_run_and_returns_it():
    """Every request is in the picture, and the run comes back whole."""
    agent = Agent(ScriptedClient(["done"]), system="Be brief.")
    chart = ContextChart(WINDOW, MessageCounter(len))
    empty = chart.value
    run = chart.follow(agent.run("Hello"))
    assert run.error is None
    assert [r.composition.tokens_by_part["system"] for r in chart.rows] == [len("Be brief.")]
    assert chart.value != empty


def test_the_chart_shows_what_was_refused():
    """A run that ends with an error leaves a picture that says so."""
    chart = ContextChart(WINDOW, MessageCounter(len))
    chart.show(RequestSent(1, Request(messages=(user("x" * 2_000),))))
    chart.show(RunFailed(1, ContextOverflowError("too long")))
    assert chart.rows[0].is_refused


def test_the_still_picture_carries_its_words():
    """Without a kernel there is an image with a text alternative, drawn by the same function."""
    chart = ContextChart(WINDOW, MessageCounter(len))
    chart.show(RequestSent(1, Request(messages=(user("hello"),))))
    markup = chart.picture().data
    image = base64.b64decode(re.search(r"base64,([^\"]+)\"", markup)[1]).decode()
    assert image == draw_context(chart.rows, WINDOW)
    assert html.escape(describe_context(chart.rows, WINDOW)) in markup


def test_the_live_chart_stores_only_words_beside_its_widget():
    """A saved notebook holds no stale empty picture for the live cell."""
    data = ContextChart(WINDOW, MessageCounter(len))._repr_mimebundle_()
    bundle = data[0] if isinstance(data, tuple) else data
    assert bundle["text/plain"].startswith("(The live picture")
    assert "text/html" not in bundle


def test_a_plot_is_a_picture_with_words():
    """Plots carry what they show as text, for readers and for comparison."""
    figure, axes = new_plot("Title", x_label="round")
    axes.plot([1, 2, 3])
    data, metadata = Plot(figure, "Three rising points.")._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == repr(Plot(figure, "Three rising points.")) == "Three rising points."
    assert metadata["image/png"]["alt"] == "Three rising points."


def test_source_is_shown_as_it_is_in_the_library():
    """A chapter shows the code itself, with the file it stands in."""
    shown = show_source(user, assistant).data
    assert "course_lib/messages.py" in shown
    assert "def user(" in shown
    assert "def assistant(" in shown


def test_following_an_agent_is_recording_it():
    """The chart adds nothing to a run and takes nothing away."""
    chart = ContextChart(WINDOW, MessageCounter(len))
    watched = chart.follow(Agent(ScriptedClient(["done"])).run("Hello"))
    plain = record_run(Agent(ScriptedClient(["done"])).run("Hello"))
    assert watched == plain
