"""The colours and names of the course's pictures.

Okabe and Ito's hues, so that colour-blind readers can tell them apart, with the lightness spread so that neighbours in
a stack differ in grey too (a test measures it). Colour is never alone: every part is named in the picture as well.
Source: chapter 00.
"""

from dataclasses import dataclass

from course_lib.window import Part

__all__ = ["BILLED_COLORS", "LIVE", "PART_COLORS", "PART_INKS", "PART_LABELS", "PRINTED", "REFUSED_COLOR", "Theme"]

PART_LABELS: dict[Part, str] = {
    "system": "system prompt",
    "tools": "tool definitions",
    "user": "user",
    "assistant": "assistant",
    "thinking": "thinking",
    "tool_results": "tool results",
    "documents": "documents",
}
PART_COLORS: dict[Part, str] = {
    "system": "#9a9a9a",
    "tools": "#0072b2",
    "user": "#f0e442",
    "assistant": "#7cc8f2",
    "thinking": "#a85a94",
    "tool_results": "#e09200",
    "documents": "#00795a",
}
# What is readable when written onto the part's colour.
PART_INKS: dict[Part, str] = dict.fromkeys(PART_COLORS, "#111") | {
    "tools": "#fff",
    "thinking": "#fff",
    "documents": "#fff",
}
# Billed tokens, bottom to top: read from the cache, written to it, read at the full price, written by the model.
BILLED_COLORS = {"cached input": "#c6dbef", "cache write": "#7fa8d1", "input": "#31689b", "output": "#cc5f9a"}
REFUSED_COLOR = "#d55e00"


@dataclass(frozen=True)
class Theme:
    """Colours of everything that is not data: text, lines, what lies behind."""

    text: str
    muted: str
    grid: str
    background: str
    alarm: str


# In JupyterLab the picture takes the page's own colours, so it follows a change from light to dark at once.
LIVE = Theme(
    text="var(--jp-ui-font-color1,#222)",
    muted="var(--jp-ui-font-color2,#555)",
    grid="var(--jp-border-color2,#ddd)",
    background="var(--jp-layout-color0,#fff)",
    alarm="var(--jp-error-color1,#b00020)",
)
# A still picture cannot know where it will be shown, so it brings its own light ground.
PRINTED = Theme(text="#222", muted="#555", grid="#ddd", background="#fff", alarm="#b00020")
