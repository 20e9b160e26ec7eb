"""Plots as pieces of SVG that take their colours from the page."""

import io
import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from interplay.results.plots.style import FAINT, INK, MINUS, PLUS, SOFT, off_screen

COLOURS = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    FAINT: "var(--faint)",
    PLUS: "var(--plus)",
    MINUS: "var(--minus)",
    "#ffffff": "var(--paper)",
}
"""Colours of plots, by the name that the page's style sheet gives them, in light and in dark."""

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and any script can be shown
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}


def svg(name: str, plot: Callable[[], Any]) -> Markup:
    """Draw a plot and give it as inline SVG.

    Parameters
    ----------
    name
        Makes the names inside the picture differ from those of others on the page.
    plot
        Draws on new axes, and returns them.
    """
    import matplotlib as mpl

    with off_screen(), mpl.rc_context(SETTINGS | {"svg.hashsalt": name}):
        drawn = plot()
        axes = drawn[0] if hasattr(drawn, "__len__") else drawn
        file = io.StringIO()
        nothing = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        axes.figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    text = file.getvalue()
    return Markup(_themed(_plain(text[text.index("<svg") :])))


def _plain(text: str) -> str:
    """Without the names that nothing refers to, which would be there twice on a page of several pictures."""
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    return _within_tags(text, r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "")


def _themed(text: str) -> str:
    pattern = "|".join(map(re.escape, COLOURS))
    return _within_tags(text, rf"(?:{pattern})\b", lambda found: COLOURS[found[0]])


def _within_tags(text: str, pattern: str, change: Callable[[re.Match[str]], str]) -> str:
    """Replace in tags alone: names from the data stand between them, with every < and > escaped."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(pattern, change, tag[0]), text)
