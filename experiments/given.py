"""How other methods did on the same protocol, with one data set for each setting: given figures."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from experiments.methods import GLINTERNET, HIERARCHICAL, LASSO, LASSO_RAW, SUBSET


class Peer(NamedTuple):
    """Seconds and peak MB of a fit, effects right and wrong, and squared errors (None where not known)."""

    seconds: float
    megabytes: float
    mains: int
    false_mains: int
    pairs: int
    false_pairs: int
    main_error: float | None = None
    pair_error: float | None = None


Key = tuple[int, int, float]
"""Rows, variables and scale λ."""

_KEYS: tuple[Key, ...] = ((100, 50, 2.0), (100, 200, 2.0), (200, 200, 5.0), (200, 500, 2.0))


def _row(*cells: Peer) -> dict[Key, Peer]:
    return dict(zip(_KEYS, cells, strict=False))


PEERS: dict[str, dict[Key, Peer]] = {
    "LassoCV, raw columns": _row(
        Peer(0.5, 163, 0, 0, 10, 38, 5.0, 3.0),
        Peer(6.5, 216, 0, 0, 2, 2, 5.0, 9.6),
        Peer(13, 248, 0, 0, 10, 147, 5.0, 0.27),
        Peer(136, 730, 0, 0, 9, 110, 5.0, 5.9),
    ),
    "LassoCV, standardised": _row(
        Peer(0.4, 165, 3, 5, 10, 90, 2.7, 2.7),
        Peer(7.0, 220, 0, 0, 0, 0, 5.0, 10.0),
        Peer(9.3, 251, 5, 0, 10, 165, 0.98, 0.08),
        Peer(102, 735, 3, 0, 10, 87, 4.2, 3.6),
    ),
    "adelie": _row(
        Peer(0.6, 218, 5, 40, 10, 54, 2.4, 1.5),
        Peer(4.0, 292, 1, 2, 0, 1, 5.0, 10.0),
        Peer(3, 338, 5, 108, 10, 92, 0.17, 0.05),
        Peer(31, 985, 5, 195, 10, 156, 2.1, 3.9),
    ),
    "R glinternet": _row(
        Peer(6.3, 72, 5, 39, 10, 49, 2.2, 1.5),
        Peer(13.6, 113, 0, 0, 0, 0, 5.0, 10.0),
        Peer(10, 119, 5, 114, 10, 99, 0.17, 0.05),
        Peer(66, 127, 5, 182, 10, 141, 2.1, 3.9),
    ),
    "abess": _row(
        Peer(0.2, 171, 0, 0, 6, 3, 5.0, 7.3),
        Peer(2.6, 407, 0, 0, 0, 0, 5.0, 10.0),
        Peer(2, 567, 5, 0, 10, 0, 0.06, 0.002),
        Peer(27, 2728, 0, 0, 6, 0, 5.0, 4.1),
    ),
    "interpret EBM": _row(Peer(46, 177, 2, 3, 5, 5)),
}
"""By method and setting: scikit-learn's LassoCV and abess on all pairs, the hierarchical group LASSO of
adelie 1.1.52 and of R glinternet 1.0.12, and boosting that was told to have 5 mains and 10 pairs."""

SAME = {
    "LassoCV, raw columns": LASSO_RAW,
    "LassoCV, standardised": LASSO,
    "adelie": HIERARCHICAL,
    "R glinternet": GLINTERNET,
    "abess": SUBSET,
}
"""The method here that a given one is."""


class AsGiven(NamedTuple):
    """A method as it was for the given figures, and the one here that it differs from."""

    method: str
    instead_of: str
    work: str
    options: Mapping[str, Any]


AS_GIVEN = {
    "LassoCV, standardised": AsGiven(
        "pairs LASSO, as given", LASSO, "experiments.peers:lasso_of_raw_products", {}
    ),
    "adelie": AsGiven(
        "hierarchical LASSO, as given", HIERARCHICAL, "experiments.peers:hierarchical", {"ratios": [0.01]}
    ),
}
"""By given method, where it is not quite the one here."""

CARS = {
    "LassoCV": ("6", "15", "4:2", "5:34", "4:0", "5:54"),
    "adelie": ("6", "6", "5:34", "5:29", "5:30", "5:18"),
    "abess": ("5", "15", "2:0", "1:0", "2:0", "1:0"),
}
"""Auto MPG, original:fake: mains and pairs without noise, with 100 and with 200 covariates of it."""

LARGE: dict[str, dict[int, Peer]] = {
    "adelie": {1000: Peer(72, 3259, 4, 0, 3, 0, 4.0, 9.4)},
    "R glinternet": {
        1000: Peer(175, 134, 5, 78, 6, 46, 2.7, 8.4),
        2000: Peer(400, 248, 5, 34, 7, 18, 2.9, 6.3),
    },
    "python-glmnet": {1000: Peer(42, 2875, 0, 0, 1, 0, 5.0, 9.8)},
}
"""By method and number of variables, with 200 rows and λ = 2."""
