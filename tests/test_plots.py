"""Plots and shown source."""

from course_lib.messages import assistant, user
from course_lib.widgets.plots import Plot, new_plot
from course_lib.widgets.source import show_source


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
