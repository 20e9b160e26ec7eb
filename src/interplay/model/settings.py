"""Checks of the settings of priors and families."""

from numbers import Real

Number = float | int


def check_positive(owner: str, **settings: object) -> None:
    """Refuse settings that are not positive numbers."""
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < float("inf"):
            raise ValueError(f"{owner}({name}={value!r}): expected a positive, finite number.")


def check_degree(owner: str, degree: object) -> None:
    """Refuse a degree that is not a whole number from 2."""
    if not isinstance(degree, int) or isinstance(degree, bool) or degree < 2:
        raise ValueError(
            f"{owner}(degree={degree!r}): expected a whole number: 2 for pairs, 3 for three-way, …"
        )
