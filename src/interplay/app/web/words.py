"""Messages of the package, in words of the page."""

import re
from pathlib import Path

WORDS = [
    (
        r"(,? or )?[Ll]eave it out with drop=\[[^\]]*\]",
        lambda found: f"{found[1] or ''}{_cased(found)} it out below",
    ),
    (r"Pass drop=\[[^\]]*\]", lambda found: "Leave it out below"),
    (r"`drop`", lambda found: "the columns to leave out"),
    (r"pass impute='mean'", lambda found: "choose to fill in the mean"),
    (r", or pass the (values themselves|numbers as an array)", lambda found: ""),
    (r", or read (the file yourself|it with pandas\S* encoding=\S*) and pass the frame", lambda found: ""),
    (r", or make it a category dtype if labels are meant, as in astype\('category'\)", lambda found: ""),
    (r", or save with `to_csv\(\.\.\., index=False\)`", lambda found: ""),
    (r"use astype\(float\) if numbers are meant", lambda found: "write them as numbers"),
    (r"max_draws \(or draws\), or max_seconds", lambda found: "the time limit, or gather more rows"),
    (r"SKIM\(expected_mains=([^)]*)\)", lambda found: f"{found[1]} variables expected to matter"),
]
"""Advice for people who write Python, and the same for people at the page."""


def in_words(text: str, data: Path | None = None, title: str = "") -> str:
    """A message as the page shows it.

    Parameters
    ----------
    text
        The message.
    data, title
        The file of the data, and what its owner calls it: paths of the server are nobody's business.
    """
    if data is not None:
        text = text.replace(str(data), title).replace(data.name, title)
    for pattern, words in WORDS:
        text = re.sub(pattern, words, text)
    return text[:1].upper() + text[1:]


def _cased(found: re.Match[str]) -> str:
    return "leave" if found[1] or found[0][0] == "l" else "Leave"
