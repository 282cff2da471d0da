"""Ladders and climbs as tables: what stands in them is computed, in text and in HTML."""

import re
from dataclasses import dataclass, replace
from html import unescape

import pytest

from course_lib.client import Request, ScriptedClient
from course_lib.errors import CompactionError
from course_lib.events import HistoryRewritten, RequestSent, Run
from course_lib.ladder import CompactionPass, HalveReserve, Ladder, Step, climb
from course_lib.levels import five_levels, two_layers
from course_lib.measure.ladder_tables import climbs_table, ladder_table, run_climbs
from course_lib.messages import Messages, user
from course_lib.strategies import Truncation
from course_lib.tokens import MessageCounter
from course_lib.window import Window

LETTERS = MessageCounter(len, message_overhead_tokens=0)
HISTORY = tuple(user(f"message number {number:02}") for number in range(30))  # 17 letters each
WINDOW = Window(context_tokens=600, reserve_tokens=0)


@dataclass(frozen=True)
class Breaks:
    """A strategy that always fails."""

    name: str = "breaks <b>"

    def __call__(self, messages: Messages) -> Messages:
        """Fail."""
        raise CompactionError(f"no luck with {len(messages)} messages")


def ladder(*steps: Step, **settings: object) -> Ladder:
    """Return a ladder of these steps."""
    return replace(Ladder(name="test", steps=steps, target_ratio=0.5), **settings)


def climbed(made: Ladder, window: Window = WINDOW) -> CompactionPass:
    """Return what one climb did to HISTORY."""
    return climb(made, HISTORY, window, LETTERS)[2]


def cells(table: object) -> list[list[str]]:
    """The rows of the HTML table as texts, the header first."""
    rows = re.findall(r"<tr>(.*?)</tr>", table._repr_html_())
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


# --- a ladder --------------------------------------------------------------------------------------------------------


def test_each_step_has_a_row_with_its_ratio_and_its_tokens():
    """The tokens are the ratio times what each window has for messages."""
    windows = [Window(context_tokens=10_000, reserve_tokens=1_000), Window(context_tokens=20_000, reserve_tokens=1_000)]
    rows = cells(ladder_table(five_levels(LETTERS), windows, fixed_tokens=1_000))
    assert rows[0] == ["level", "from", "of 10,000", "of 20,000", "step", "settings"]
    assert [row[:5] for row in rows[1:]] == [
        ["1", "80%", "6,400", "14,400", "halve the reserve"],
        ["2", "85%", "6,800", "15,300", "snip long results"],
        ["3", "90%", "7,200", "16,200", "shrink the older half"],
        ["4", "95%", "7,600", "17,100", "context folding"],
    ]


def test_settings_are_read_off_the_strategy():
    """Whole numbers stand there under their names; flags, texts and clients do not."""
    *_, settings = cells(ladder_table(ladder(Step(0.9, Truncation(keep_messages=7, max_recent_tokens=1_234)))))[1]
    assert settings.replace("\N{NO-BREAK SPACE}", " ") == "keep_messages 7, max_recent_tokens 1,234"
    summary = cells(ladder_table(two_layers(ScriptedClient([]), LETTERS)))[2][-1]
    assert "max_summary_tokens" in summary
    assert "prompt" not in summary


def test_a_strategy_that_is_no_dataclass_has_no_settings():
    """Nothing is known of it but its name."""

    class Plain:
        name = "plain"

        def __call__(self, messages: Messages) -> Messages:
            return messages

    assert cells(ladder_table(ladder(Step(0.9, Plain()))))[1] == ["1", "90%", "plain", ""]


@pytest.mark.parametrize(("passes", "said"), [(1, False), (2, True)])
def test_the_title_says_when_a_climb_begins_and_ends(passes, said):
    """Trigger and target, and how often it goes over the steps if that is more than once."""
    title = repr(ladder_table(ladder(Step(0.9, Truncation()), max_passes=passes))).splitlines()[0]
    assert title.startswith("test: a climb begins at 90% and ends below 50%")
    assert ("up to 2 times" in title) is said


def test_text_and_html_have_the_same_content():
    """A reader without a browser misses nothing, and no line has more than 100 columns."""
    table = ladder_table(five_levels(LETTERS), [WINDOW])
    text = " ".join(repr(table).split())
    for row in cells(table)[1:]:
        assert all(word in text for cell in row for word in cell.replace("\N{NO-BREAK SPACE}", " ").split())
    assert max(map(len, repr(table).splitlines())) <= 100


# --- climbs ----------------------------------------------------------------------------------------------------------


def test_a_climb_lists_the_steps_that_did_something():
    """Level, name, tokens freed; a halved reserve with its new size. What had nothing to do is left out."""
    steps = (
        Step(0.6, HalveReserve(floor_tokens=100)),
        Step(0.7, Truncation(keep_messages=40)),
        Step(0.8, Truncation()),
    )
    report = climbed(ladder(*steps), Window(context_tokens=800, reserve_tokens=200))
    row = cells(climbs_table([(7, report)]))[1]
    freed = f"{report.tokens_freed:,}"
    assert row == ["7", "85%", f"{report.ratio_after:.0%}", freed, f"1 halve the reserve to 100, 3 truncation −{freed}"]


def test_a_failed_step_is_marked_and_its_name_does_no_harm():
    """A cross stands before it, and its name is text."""
    table = climbs_table([(1, climbed(ladder(Step(0.6, Breaks()))))])
    assert cells(table)[1][-1] == "✗ 1 breaks <b>"
    assert "<b>" not in table._repr_html_()


def test_a_climb_that_could_do_nothing_says_why():
    """With no room at all nothing is tried, and the reason stands there instead of steps."""
    report = climb(ladder(Step(0.6, Truncation())), HISTORY, WINDOW, LETTERS, fixed_tokens=600)[2]
    assert "no step helps: 600 tokens are system prompt and tools" in cells(climbs_table([(1, report)]))[1][-1]


def test_a_climb_with_nothing_to_do():
    """Every step was skipped, and nothing is wrong."""
    steps = (Step(0.6, Truncation(keep_messages=40)), Step(0.99, Truncation()))
    assert cells(climbs_table([(1, climbed(ladder(*steps)))]))[1][-1] == "nothing to do"


@pytest.mark.parametrize(("count", "title"), [(0, "0 climbs"), (1, "1 climb"), (2, "2 climbs")])
def test_climbs_are_counted(count, title):
    """The title says how many there were, and the numbers are called as one likes."""
    table = climbs_table([(n, climbed(ladder(Step(0.6, Truncation())))) for n in range(count)], numbers="turn")
    assert repr(table).splitlines()[0] == title
    assert cells(table)[0][0] == "turn"


def test_the_climbs_of_a_run():
    """Those that a hook reported, with their rounds; other events and other reports are none."""
    report = climbed(ladder(Step(0.6, Truncation())))
    events = (
        RequestSent(1, Request(messages=HISTORY)),
        HistoryRewritten(2, HISTORY, HISTORY[:3], report),
        HistoryRewritten(3, HISTORY, HISTORY[:3], "something else"),
    )
    assert run_climbs(Run(events)) == ((2, report),)
