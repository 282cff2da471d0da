"""The pictures of the meter: drawn from values alone, also from strange ones; nothing in them can do harm."""

import html.parser
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from meter_runs import HOSTILE, WINDOW, build, compacted, every_part, growing, histories, refused, view_of

from course_lib.events import RequestSent, RunFinished
from course_lib.messages import Usage, user
from course_lib.widgets.describe import describe
from course_lib.widgets.draw_meter import Picture, draw_meter
from course_lib.widgets.draw_request import draw_request
from course_lib.widgets.frame_builder import Track
from course_lib.widgets.palette import PART_COLORS, PART_LABELS, PRINTED
from course_lib.widgets.prices import Prices
from course_lib.widgets.svg import nice_ceiling, plain
from course_lib.widgets.view import Threshold, View, rounds_axis, tokens_axis
from course_lib.window import PARTS, Window

HUGE = Usage(10**15, 10**15, 10**15, 10**15)
VIEWS = {
    "no round": View(window=WINDOW, track=Track(name="none")),
    "one round": view_of(growing(1)),
    "no free token": view_of(growing(1), Window(context_tokens=1_000, reserve_tokens=999)),
    "the smallest window": view_of(growing(1), Window(context_tokens=1, reserve_tokens=0)),
    "over-full": view_of([*growing(2), *refused(3, size=50_000)]),
    "huge": view_of(growing(5, usage=HUGE), Window(context_tokens=10**12)),
    "every part": view_of(every_part()),
    "twenty compactions": view_of(compacted(20)),
    "a round far on": view_of(growing(2, start=5_000)),
    "a round twice": view_of([*growing(1), *growing(1)]),
    "thresholds": view_of(growing(3), thresholds=(Threshold("compact", 700), Threshold(HOSTILE, 10**9))),
    "hostile names": view_of(growing(3, text=HOSTILE), other=build(refused()).track(HOSTILE)),
    "nothing compared": view_of(growing(3), other=Track(name="waiting")),
}


class Tags(html.parser.HTMLParser):
    """Collects what a browser would make of markup: the tags and attributes that it finds."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), set(), []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attributes):
        """Note a tag."""
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)

    def handle_data(self, data):
        """Note a text."""
        self.texts.append(data)


def texts(svg):
    """Return all texts of an SVG, which must be well-formed."""
    return [element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def request_of(messages, before=(), **how):
    """Return the drawn request of a run whose last two requests have these messages."""
    builder = build([RequestSent(1, _request(before)), RequestSent(2, _request(messages))])
    return draw_request(builder.frames[1], builder.frames[0], builder.tokens, **how)


def _request(messages):
    from course_lib.client import Request

    return Request(messages=tuple(messages))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_any_run_gives_a_well_formed_picture_and_words(view):
    """Nothing, one round, an over-full window, huge numbers and hostile names are all drawn and described."""
    for theme in (PRINTED, None):
        svg = draw_meter(view, theme) if theme else draw_meter(view)
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert not re.search(r"\b(nan|inf)\b", svg)
    assert "<img" in Picture(view)._repr_html_()


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_no_picture_holds_anything_that_runs(view):
    """A picture consists of shapes and texts: no script, no link, no handler of events."""
    found = Tags(draw_meter(view))
    assert found.tags <= {"svg", "path", "rect", "circle", "text", "title"}
    assert not any(name.startswith("on") or name == "href" for name in found.attributes)


@given(histories())
def test_no_request_holds_anything_that_runs(requests):
    """Whatever tools and models said, the request view is a table of texts."""
    before, after = (*requests, requests[0])[:2]
    found = Tags(request_of(after, before))
    assert found.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert found.attributes <= {"style", "scope", "width", "role", "aria-label", "tabindex"}


def test_hostile_text_is_shown_as_it_is():
    """A tool's markup can be read in the request view, letter by letter."""
    shown = "".join(Tags(request_of([user(HOSTILE[:60])])).texts)
    assert HOSTILE[:60] in shown


@pytest.mark.parametrize("name", ["a\x00b", "\ud800", "\u202e", "\ufffe", "\x1b[0m"])
def test_what_cannot_be_shown_is_replaced(name):
    """Control characters, half a surrogate pair and marks that turn the text around become a question mark."""
    assert "�" in plain(name)
    ET.fromstring(f'<a b="{plain(name)}">{plain(name)}</a>'.encode())


def test_the_same_view_gives_the_same_picture():
    """Drawing is pure: the same events, built twice, give the same letters."""
    assert draw_meter(view_of(compacted(5))) == draw_meter(view_of(compacted(5)))


def test_a_long_run_gives_no_larger_picture():
    """Ten times as many rounds take no more room than a few hundred."""
    lengths = [len(draw_meter(view_of(growing(rounds, size=1)))) for rounds in (300, 3_000)]
    assert lengths[1] < 1.5 * lengths[0]


def test_every_part_is_named_with_its_number():
    """No band is told by its colour alone."""
    view = VIEWS["every part"]
    shown = texts(draw_meter(view))
    for part in PARTS:
        assert PART_LABELS[part] in shown
        assert f"{view.frame.composition.tokens_by_part[part]:,}" in shown


def lightness(color):
    """Return how light a colour is, 0 to 100 (CIE L*)."""
    linear = [(int(color[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
    y = sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 116 * y ** (1 / 3) - 16


def test_neighbours_differ_in_grey():
    """Parts that lie on each other in most runs differ in lightness, so that a grey print can be read."""
    stacked = [part for part in PARTS if part != "documents"]
    pairs = {
        *pairwise(PARTS),
        ("assistant", "tool_results"),
        *pairwise(stacked),
    }
    for left, right in pairs:
        assert abs(lightness(PART_COLORS[left]) - lightness(PART_COLORS[right])) >= 10, (left, right)


def test_no_two_parts_have_one_colour():
    """Each part has a colour of its own."""
    assert all(a != b for a, b in combinations(PART_COLORS.values(), 2))


def test_a_refusal_is_said_in_the_picture_and_in_words():
    """The end of a run is not only a colour."""
    view = VIEWS["over-full"]
    assert any("✗ refused" in text for text in texts(draw_meter(view)))
    assert "The request was refused: too long." in describe(view)
    assert "refused" not in describe(VIEWS["one round"])


def test_estimates_and_measurements_are_told_apart():
    """The heading and the words say which it is."""
    sent, answered = growing(1)
    for events, word in (([sent], "estimated"), ([sent, answered], "measured")):
        assert any(word in text for text in texts(draw_meter(view_of(events))))
        assert word in describe(view_of(events))


def test_compactions_are_named_with_what_they_freed():
    """Every name is in the picture with its tokens, and in the words as well."""
    view = VIEWS["twenty compactions"]
    summed = next(text for text in texts(draw_meter(view)) if text.startswith("compactions"))
    for name in ("step 0", "step 1", "step 2"):
        assert name in summed
        assert name in describe(view)
    assert ET.fromstring(draw_meter(view)).findall(".//{*}title")[0].text == "round 2: step 1 −108"


def test_a_breaker_is_drawn_with_its_states():
    """Closed and open are words in the picture."""
    shown = " ".join(texts(draw_meter(VIEWS["twenty compactions"])))
    assert "closed" in shown
    assert "open" in shown


def test_money_stands_beside_its_prices():
    """What a run cost is never shown without the prices it was computed with."""
    prices = Prices(input_per_million=3.0, currency="€")
    shown = " ".join(texts(draw_meter(view_of(growing(2), prices=prices))))
    assert "input €3.00" in shown
    assert prices.said(prices.cost(Usage(20, 10, 6, 4))) in shown


def test_a_comparison_shows_both_runs_with_their_numbers():
    """The two runs are named, the first as areas, the second as a line."""
    view = view_of([*growing(3), RunFinished(3, "done")], other=build(refused()).track("none"))
    shown = texts(draw_meter(view))
    assert any(text.startswith("areas: this run · round 3") for text in shown)
    assert any(text.startswith("line: none · round 1") and "refused" in text for text in shown)


def test_an_earlier_request_can_be_shown():
    """The numbers are those of the chosen request; the time line stays that of the whole run."""
    builder = build(growing(9))
    view = replace(VIEWS["one round"], track=builder.track("run"), chosen=builder.frames[3])
    assert describe(view).startswith("Round 4:")
    assert any(text.startswith("Round 4:") for text in texts(draw_meter(view)))
    assert rounds_axis(view) == 20


@pytest.mark.parametrize(("rounds", "axis"), [(1, 20), (19, 20), (20, 40), (47, 60), (199, 200), (1_000, 1_100)])
def test_the_axis_of_rounds_grows_in_whole_steps(rounds, axis):
    """The picture does not jitter: the axis stays the same for many rounds."""
    assert rounds_axis(view_of(growing(1, start=rounds))) == axis


def test_the_axis_of_tokens_grows_only_when_it_must():
    """The window fits with a little room; a request that is much too long gets quarters of the window more."""
    assert tokens_axis(view_of(growing(1))) == 1_080
    assert tokens_axis(view_of(refused(size=2_100))) == 2_250


@pytest.mark.parametrize(("value", "above"), [(0, 1), (1, 1), (1.1, 2), (5, 5), (5.1, 10), (10**9 + 1, 2 * 10**9)])
def test_nice_ceilings(value, above):
    """The least of 1, 2, 5, 10, … that is not below the value."""
    assert nice_ceiling(value) == above


def test_a_long_request_is_added_up():
    """With many messages only the changed ones and their neighbours are shown; the table says how many are not."""
    messages = [user(f"message {number}") for number in range(2_000)]
    table = request_of([*messages, user("new one")], messages, most_rows=10)
    shown = "".join(Tags(table).texts)
    assert table.count("<tr") <= 10 + 4
    assert "1,991 messages" in shown
    assert "2,000 kept · 1 new" in shown
    assert "new one" in shown


def test_the_rows_of_a_request_add_up():
    """Shown or summed up, the tokens of the rows are the tokens of the request."""
    messages = [user("x" * number) for number in range(1, 60)]
    after = [*messages[:20], user("edited"), *messages[21:], user("new")]
    for most_rows in (4, 7, 200):
        table = request_of(after, messages, most_rows=most_rows)
        rows = re.findall(r"<tr style.*?</tr>", table)
        numbers = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in rows]
        tokens = sum(int(row[3].replace(",", "")) for row in numbers if "dropped" not in row[1])
        assert tokens == sum(len(message.content[0].text) + 4 for message in after)
