"""The one error of the data border, and the words its messages share."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches


class DataError(ValueError):
    """Data that cannot be used as given; says what was got, what was expected and what to do."""


def nearest(name: str, names: Collection[str]) -> str:
    """Suggest the closest of the known names, ready to be appended to a message.

    Parameters
    ----------
    name
        The name that was not found.
    names
        The names that exist.

    Returns
    -------
    str
        `" Did you mean 'x'?"`, or nothing when no name comes close.
    """
    lowered = {known.lower(): known for known in names}
    close = get_close_matches(name.lower(), list(lowered), n=1)
    return f" Did you mean '{lowered[close[0]]}'?" if close else ""


def listed(items: Sequence[str], limit: int = 10) -> str:
    """Join items by commas, saying how many are left out after the first `limit`."""
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def quoted(names: Sequence[str], limit: int = 10) -> str:
    """Join quoted names by commas, saying how many are left out after the first `limit`."""
    return listed([f"'{name}'" for name in names], limit)
