"""Tables and the plot of a scoreboard: one content in text and HTML, whatever the names and numbers."""

import html
import re
from dataclasses import replace

import pytest

from course_lib.measure.facts import REFACTORING_FACTS, PlantedFact
from course_lib.measure.plots import plot_scores
from course_lib.measure.scoreboard import Score
from course_lib.measure.tables import MOST_COLUMNS, facts_table, score_table, shown_name, verdict
from course_lib.messages import Usage
from course_lib.simulation.scenario import Outcome
from course_lib.widgets.prices import Prices

DONE = Outcome(modules_done=36, modules_total=36, failing_tests=0, vendor_paths_changed=(), texts_with_avoided_word=0)
HALF = replace(DONE, modules_done=19, failing_tests=4)
SCORE = Score(
    name="truncation",
    window_tokens=32_000,
    outcome=DONE,
    ending="finished",
    rounds=96,
    facts_shown={fact.name: 0.5 for fact in REFACTORING_FACTS},
    repeated_reads=2,
    repeated_lessons=1,
    compactions=3,
    compression_ratio=0.256,
    model_calls=98,
    extra_calls=2,
    usage=Usage(input_tokens=200_000, cache_read_tokens=800_000, output_tokens=40_000),
    invalid_requests=0,
)
AWKWARD = ("a name of more than a hundred characters " * 4, "两个\n名字 \t👩🏽‍🚀", "", "<b>x</b> & \x07\u202e", "$a_b$")


def lines(table):
    """Return the lines of a table's text."""
    return repr(table).splitlines()


def cells(table):
    """Return the texts of all cells of a table's HTML, row by row."""
    rows = re.findall("<tr>(.*?)</tr>", table._repr_html_(), re.DOTALL)
    return [[html.unescape(text) for text in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_a_row_says_what_came_of_it_and_what_it_cost():
    """Each column shows the number that its name promises."""
    header, _, row = cells(score_table([SCORE]))
    assert dict(zip(header, row, strict=True)) == {
        "strategy": "truncation",
        "end": "done",
        "modules": "36/36",
        "broken": "0",
        "facts": "50%",
        "again": "3",
        "times": "3",
        "left": "26%",
        "calls": "98",
        "sent": "1,000,000",
        "cache": "80%",
        "cost": "$0.48",
    }


def test_text_and_html_have_the_same_content():
    """Nobody sees more than somebody else, and nothing stands in one of them only."""
    for table in (score_table([SCORE, replace(SCORE, window_tokens=16_000)]), facts_table([SCORE])):
        in_text = [word for line in lines(table) if set(line) != {"-"} for word in line.split()]
        in_html = [word for row in cells(table) for cell in row for word in cell.split()]
        assert sorted(in_text) == sorted(in_html)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, "done"),
        ({"outcome": HALF}, "not done"),
        ({"outcome": replace(DONE, texts_with_avoided_word=1)}, "disobeyed"),
        ({"outcome": replace(DONE, vendor_paths_changed=("vendor/a.py",))}, "disobeyed"),
        ({"outcome": replace(HALF, texts_with_avoided_word=1)}, "not done"),
        ({"outcome": replace(DONE, failing_tests=1, texts_with_avoided_word=1)}, "not done"),
        ({"outcome": HALF, "ending": "ContextOverflowError"}, "too long"),
        ({"ending": "ContextOverflowError"}, "too long"),
        ({"outcome": HALF, "ending": "PairingError"}, "failed"),
        ({"ending": "out of rounds"}, "not done"),
    ],
)
def test_the_verdict(changes, word):
    """Files and ending together decide; a run that was refused is not done, even if all files are."""
    assert verdict(replace(SCORE, **changes)) == word
    assert word in repr(score_table([replace(SCORE, **changes)]))


def test_nothing_made_shorter_is_no_ratio():
    """Without a compaction there is no number under "left"; with one that leaves everything there is."""
    never = replace(SCORE, compactions=0, compression_ratio=1.0)
    assert cells(score_table([never]))[-1][7] == "-"
    assert cells(score_table([replace(never, compactions=1)]))[-1][7] == "100%"


def test_a_run_without_any_call_divides_by_nothing():
    """Not one answered call: zeros, and no error."""
    nothing = replace(SCORE, usage=Usage(), model_calls=0, facts_shown={})
    assert cells(score_table([nothing]))[-1][-4:] == ["0", "0", "0%", "$0.00"]
    assert cells(facts_table([nothing]))[-1][1:] == ["-"] * len(REFACTORING_FACTS)


def test_prices_of_one_s_own():
    """Prices and currency are settings; large amounts go without decimals."""
    assert cells(score_table([SCORE], prices=Prices(output_per_million=2_500)))[-1][-1] == "$100"
    prices = Prices(input_per_million=10, cached_input_per_million=0, output_per_million=0, currency="€")
    assert cells(score_table([SCORE], prices=prices))[-1][-1] == "€2.00"


def test_windows_have_a_heading_each():
    """The rows of a window stand together under its size."""
    scores = [SCORE, replace(SCORE, name="none"), replace(SCORE, window_tokens=16_000)]
    first = [row[0] for row in cells(score_table(scores))]
    assert first[1:] == ["window of 32,000 tokens", "truncation", "none", "window of 16,000 tokens", "truncation"]


@pytest.mark.parametrize("name", AWKWARD)
def test_any_name_fits_on_its_line(name):
    """A long, wide, empty or hostile name stays in one line of at most 100 columns, and is shown, not run."""
    huge = replace(SCORE, name=name, usage=Usage(input_tokens=10**9, output_tokens=10**9), ending="PairingError")
    for table in (score_table([huge]), facts_table([huge])):
        assert max(map(len, lines(table))) <= MOST_COLUMNS
        assert "<b>" not in table._repr_html_()
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", repr(table) + table._repr_html_())
    assert cells(score_table([huge]))[-1][0] == shown_name(name)
    assert len(lines(score_table([huge]))) == 4


def test_columns_stand_below_their_names():
    """Every line of the text has its columns at the same place, also beside a wide name."""
    table = score_table([SCORE, replace(SCORE, name="货物 truncation")])
    header, *_, plain_row, wide_row = lines(table)
    assert header.index("end") + 3 == plain_row.index("done") + 4
    assert len(plain_row) == len(wide_row) + 2


def test_facts_by_name():
    """The columns are the facts; one that a score does not know has no number."""
    fact = PlantedFact(kind="path", name="where it lies")
    table = facts_table([replace(SCORE, facts_shown={"where it lies": 1 / 3})], [fact, replace(fact, name="another")])
    assert cells(table)[0] == ["strategy", "where it lies", "another"]
    assert cells(table)[-1] == ["truncation", "33%", "-"]


def test_no_scores_make_an_empty_table():
    """Before the first run there is a header and nothing below it."""
    assert len(cells(score_table([]))) == len(cells(facts_table([]))) == 1
    assert repr(score_table([])).startswith("strategy")


# --- the plot --------------------------------------------------------------------------------------------------------


def texts(plot):
    """Return the texts that stand in the picture, with their places."""
    return {text.get_text(): text.get_position() for text in plot.figure.axes[0].texts}


def points(plot):
    """Return place and marker of each point."""
    marked = [
        line for line in plot.figure.axes[0].lines if line.get_marker() not in ("None", "") and line.get_xdata()[0] >= 0
    ]
    return [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in marked]


def test_the_plot_has_a_point_a_run():
    """Sent against kept, with a marker that says what came of it."""
    scores = [
        SCORE,
        replace(SCORE, name="broken", outcome=replace(DONE, texts_with_avoided_word=1)),
        replace(SCORE, name="dead", outcome=HALF, usage=Usage(input_tokens=500_000)),
    ]
    plot = plot_scores(scores)
    assert points(plot) == [(1.0, 50.0, "o"), (1.0, 50.0, "^"), (0.5, 50.0, "X")]
    assert set(texts(plot)) == {"truncation", "broken", "dead"}


def test_a_strategy_is_named_once_for_all_windows():
    """Two windows, one name, and the legend says which point is which."""
    plot = plot_scores([SCORE, replace(SCORE, window_tokens=16_000, usage=Usage(input_tokens=400_000))])
    assert list(texts(plot)) == ["truncation"]
    legend = [text.get_text() for text in plot.figure.axes[0].get_legend().get_texts()]
    assert legend[-2:] == ["window 32,000", "window 16,000"]
    sizes = {line.get_markersize() for line in plot.figure.axes[0].lines if line.get_marker() == "o"}
    assert len(sizes) == 2


def test_the_plot_says_in_words_what_it_shows():
    """Every run is in the text alternative."""
    words = repr(plot_scores([SCORE, replace(SCORE, name="dead", outcome=HALF)]))
    assert words == (
        "truncation in 32,000: 1.00 million sent, 50% kept, done, orders kept; "
        "dead in 32,000: 1.00 million sent, 50% kept, not done."
    )
    assert repr(plot_scores([])) == "No runs yet."


@pytest.mark.parametrize("number", [2, 8, 16])
def test_no_name_lies_on_another(number):
    """Names beside points that are close together find different places."""
    scores = [
        replace(SCORE, name=f"strategy {n}", usage=Usage(input_tokens=1_000_000 + 40_000 * n)) for n in range(number)
    ]
    places = list(texts(plot_scores(scores)).values())
    close = [
        (one, other)
        for i, one in enumerate(places)
        for other in places[:i]
        if abs(one[0] - other[0]) < 0.09 and abs(one[1] - other[1]) < 0.04
    ]
    assert len(places) == number
    assert close == []


@pytest.mark.parametrize("name", AWKWARD)
def test_the_plot_can_be_drawn_with_any_name(name):
    """No name is taken for a formula, and the picture is a picture."""
    data, metadata = plot_scores([replace(SCORE, name=name, usage=Usage())])._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert shown_name(name) in metadata["image/png"]["alt"]
