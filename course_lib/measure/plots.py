"""One picture of a scoreboard: what each strategy sent against what it kept (chapter 05).

    plot_scores(scores)     as the last line of a cell

Right is dear, high is well remembered. The marker says what came of the run, its size the window, so nothing is told by
colour alone. A strategy that ran in several windows has one name, and a thin line joins its points.
Source: chapter 05.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from course_lib.measure.scoreboard import Score
from course_lib.measure.tables import Verdict, shown_name, verdict
from course_lib.widgets.plots import PLOT_COLORS, Plot, new_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_scores"]

_MARKERS: dict[str, str] = {"done, orders kept": "o", "done, an order broken": "^", "not done": "X"}
_SAID: dict[Verdict, str] = {"done": "done, orders kept", "disobeyed": "done, an order broken"}
_SIZE_INCHES = (7.6, 4.8)
# Sizes as shares of the axes: a letter's width, a line of text, half a point, half a thin line.
_LETTER, _LINE, _POINT, _THIN = 0.0095, 0.042, 0.016, 0.003
_MOST_LINES_AWAY = 6  # that a name stands from its point
_Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top
_Place: TypeAlias = tuple[float, float]  # on the axes, 0 to 1


def plot_scores(scores: Iterable[Score]) -> Plot:
    """Return the plot: tokens sent against the share of facts kept, one point a run."""
    listed = list(scores)
    figure, axes = new_plot(
        "What was sent, and what was kept", x_label="million tokens sent", y_label="% of facts kept"
    )
    figure.set_size_inches(*_SIZE_INCHES)
    axes.set_xlim(0, 1.08 * max((score.tokens_sent / 1_000_000 for score in listed), default=1) or 1)
    axes.set_ylim(0, 108)
    windows = sorted({score.window_tokens for score in listed}, reverse=True)
    for score in listed:
        rank = windows.index(score.window_tokens)
        _draw_point(axes, *_data(score), _what(score), rank)
    _label(axes, listed)
    _add_legend(axes, windows)
    return Plot(figure, _in_words(listed))


def _data(score: Score) -> _Place:
    return score.tokens_sent / 1_000_000, score.facts_kept * 100


def _what(score: Score) -> str:
    return _SAID.get(verdict(score), "not done")


def _draw_point(axes: "Axes", x: float, y: float, what: str, rank: int, label: str = "") -> None:
    axes.plot(
        [x],
        [y],
        marker=_MARKERS[what],
        color=PLOT_COLORS[rank % len(PLOT_COLORS)],
        markersize=max(5, 11 - 3 * rank),
        markeredgecolor="white",
        linestyle="none",
        label=label,
        zorder=3,
    )


def _add_legend(axes: "Axes", windows: Sequence[int]) -> None:
    """What the markers mean, drawn outside of the picture so that they are in the legend only."""
    for what in _MARKERS:
        _draw_point(axes, -1, -1, what, 0, what)
    for rank, window in enumerate(windows if len(windows) > 1 else ()):
        _draw_point(axes, -1, -1, "done, orders kept", rank, f"window {window:,}")
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=5, handletextpad=0.1)


# --- names beside the points -----------------------------------------------------------------------------------------


def _label(axes: "Axes", scores: Sequence[Score]) -> None:
    """Write each name once, beside one of its points, where nothing else is."""
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    places: dict[str, list[_Place]] = {}
    for score in scores:
        x, y = _data(score)
        places.setdefault(score.name, []).append((x / width, y / height))
    taken = [_around(place, _POINT) for own in places.values() for place in own]
    taken += [_around(place, _THIN) for own in places.values() for ends in pairwise(own) for place in _between(*ends)]
    for name, own in places.items():
        axes.plot(*zip(*own, strict=True), transform=axes.transAxes, color="#aaaaaa", linewidth=0.8, zorder=1)
        words = _drawable(shown_name(name))
        boxes = _boxes_beside(own, len(words) * _LETTER)
        box = min(boxes, key=lambda box: sum(_overlap(box, other) for other in taken))
        taken.append(box)
        middle = (box[1] + box[3]) / 2
        axes.text(box[0], middle, words, transform=axes.transAxes, fontsize=8, va="center", parse_math=False)


def _drawable(words: str) -> str:
    """The words, with a box for each character that the plot's font does not have."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties()))
    return "".join(character if font.get_char_index(ord(character)) else "\u25a1" for character in words)


def _boxes_beside(own: Sequence[_Place], width: float) -> Iterator[_Box]:
    """Where a name may stand: right, left, above and below each of its points, the nearest places first."""
    aside = 1.3 * _POINT
    for lines in range(_MOST_LINES_AWAY):
        for x, y in own:
            for left in (x + aside, x - aside - width, x - width / 2):
                gap = aside if left == x - width / 2 else -_LINE / 2  # right above the point, or beside it
                for bottom in (y + gap + lines * _LINE, y - gap - _LINE - lines * _LINE):
                    if min(left, bottom) >= 0 and max(left + width, bottom + _LINE) <= 1:
                        yield left, bottom, left + width, bottom + _LINE
    x, y = own[0]
    yield x, y, x + width, y + _LINE  # a name that has no room anywhere


def _around(place: _Place, half: float) -> _Box:
    x, y = place
    return x - half, y - half, x + half, y + half


def _between(one: _Place, other: _Place) -> Iterator[_Place]:
    """Points on the line from one to the other, close enough that no name slips through."""
    for step in range(1, 40):
        share = step / 40
        yield one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])


def _overlap(one: _Box, other: _Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def _in_words(scores: Sequence[Score]) -> str:
    runs = (
        f"{shown_name(score.name)} in {score.window_tokens:,}: {_data(score)[0]:.2f} million sent, "
        f"{score.facts_kept:.0%} kept, {_what(score)}"
        for score in scores
    )
    return "; ".join(runs) + "." if scores else "No runs yet."
