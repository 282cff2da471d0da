"""Plots of experiments: matplotlib with the course's one style, each with a text alternative.

    figure, axes = new_plot("Tokens sent")
    axes.plot([1, 2, 3])
    Plot(figure, "Three rising points.")     # as the last line of a cell

Source: chapter 01.
"""

import io
from typing import TYPE_CHECKING, Any

from course_lib.widgets.palette import PART_COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PLOT_COLORS", "Plot", "new_plot"]

PLOT_COLORS = (PART_COLORS["tools"], PART_COLORS["tool_results"], PART_COLORS["documents"], PART_COLORS["thinking"])


def new_plot(title: str, *, x_label: str = "", y_label: str = "") -> "tuple[Figure, Axes]":
    """Return an empty figure and its axes in the style of the course."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import StrMethodFormatter

    figure = Figure(figsize=(7.6, 3.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_prop_cycle(color=PLOT_COLORS)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd")
    axes.set_axisbelow(True)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return figure, axes


class Plot:
    """A finished figure with what it shows in words, as the last value of a cell."""

    def __init__(self, figure: "Figure", alternative_text: str) -> None:
        self.figure = figure
        self.alternative_text = alternative_text

    def __repr__(self) -> str:
        return self.alternative_text

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png")
        metadata = {"image/png": {"alt": self.alternative_text}}
        return {"image/png": buffer.getvalue(), "text/plain": self.alternative_text}, metadata
