"""HIERARCHICAL LASSO: a pair comes only with its main effects, by overlapping groups, solved by adelie."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from interplay.baselines.estimate import Estimate, check_folds
from interplay.baselines.pairs import moments, pair_blocks, pair_columns
from interplay.data.design import Design
from interplay.data.errors import DataError
from interplay.model.terms import Term

try:
    import adelie
except ImportError as error:
    raise ImportError(
        "The hierarchical LASSO is solved by adelie, which is not installed. Install it with"
        " `pip install interplay[bench]` and then `pip install --no-deps adelie==1.1.52`: it asks for NumPy"
        " below 2, where JAX needs 2 or later, so pip cannot choose both; but it works with either."
    ) from error

RATIOS = (1e-3, 1e-4, 1e-5)
"""Least penalty of the path, as a part of the largest.

The first is that of scikit-learn. A shorter path of as many penalties takes as long.
"""

STEPS = 100
"""Penalties on the path."""


def hierarchical_lasso(
    design: Design,
    *,
    folds: int = 5,
    seed: int = 0,
    threads: int = 1,
    ratios: Sequence[float] = RATIOS,
) -> Estimate:
    """Fit main effects and pairs with strong hierarchy, with the penalty chosen by cross-validation.

        min ‖y − θ_0 − Σ_g x_g b_g − Σ_ij [x_i, x_j, x_i x_j] c_ij‖² / 2n
            + α (Σ_g √d_g ‖b_g‖ + √3 Σ_ij ‖c_ij‖)

    over standardised columns and products: the group LASSO of Lim and Hastie (2015), the paper's hierarchical
    LASSO (Section 7). The effect of x_i is the sum of its copies in b and in all c_ij.

    Parameters
    ----------
    design
        The data. A factor has one group of main effects; pairs are of columns of different variables.
    folds, seed
        Of cross-validation, on shuffled rows.
    threads
        Of adelie.
    ratios
        Least penalty of the path as a part of the largest: the next is tried where the best is the last.

    Raises
    ------
    DataError
        If there are too few rows, or fewer than two variables.
    """
    check_folds(design, folds)
    if design.p < 2:
        raise DataError(
            f"got {design.p} variable: expected two or more, as a pair needs two. Bring more covariates."
        )
    centres, scales = _moments(design)
    features = _features(design, centres, scales, threads)
    starts = _groups(design)
    common = {
        "X": features,
        "glm": adelie.glm.gaussian(np.ascontiguousarray(design.y)),
        "groups": starts,
        "penalty": np.sqrt(np.diff(starts, append=centres.size)),
        "n_threads": threads,
        "progress_bar": False,
    }
    best = _cross_validate(common, folds, seed, ratios)
    solution = best.fit(lmda_path_size=STEPS, **common)
    beta, solver_intercept = solution.betas[-1], float(solution.intercepts[-1])
    fitted = adelie.diagnostic.predict(features, beta, solution.intercepts[-1:], n_threads=threads)[0]
    natural = beta.data / scales[beta.indices]
    effects = _summed(design, beta.indices, natural)
    intercept = solver_intercept - float(centres[beta.indices] @ natural)
    return Estimate(
        terms=((), *effects),
        coefficients=np.array([intercept, *effects.values()]),
        fitted=fitted,
        penalty=float(solution.lmdas[-1]),
    )


def _cross_validate(common: dict[str, Any], folds: int, seed: int, ratios: Sequence[float]) -> Any:
    """Search a longer path while the best penalty is the last one."""
    for ratio in ratios:
        with _global_state():
            found = adelie.cv_grpnet(
                n_folds=folds, seed=seed, min_ratio=ratio, lmda_path_size=STEPS, **common
            )
        if found.best_idx < found.lmdas.size - 1:
            return found
    warnings.warn(
        f"the smallest penalty, {ratios[-1]:g} of the largest, has the least error in cross-validation: "
        "less would be better still.",
        UserWarning,
        stacklevel=3,
    )
    return found


@contextmanager
def _global_state() -> Iterator[None]:
    """Leave NumPy's global generator as it was: adelie seeds it."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _features(
    design: Design, centres: Float[np.ndarray, " D"], scales: Float[np.ndarray, " D"], threads: int
) -> Any:
    """Columns, then [x_i, x_j, x_i x_j] for each pair, standardised; products are made when needed."""
    X = np.asfortranarray(design.X)
    partners = {i: range(others.start, others.stop) for i, others, _ in pair_blocks(design)}
    pairs = {i: list(others) for i, others in partners.items() if others}
    parts = [
        adelie.matrix.dense(X, n_threads=threads),
        adelie.matrix.interaction(X, pairs, n_threads=threads),
    ]
    together = adelie.matrix.concatenate(parts, axis=1, n_threads=threads)
    return adelie.matrix.standardize(together, centres, scales, n_threads=threads)


def _moments(design: Design) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
    """Means and standard deviations of the features, which adelie cannot find for products."""
    X = design.X
    i, j = pair_columns(design)
    own, product = moments(X), (np.empty(i.size), np.empty(i.size))
    for column, others, pairs in pair_blocks(design):
        product[0][pairs], product[1][pairs] = moments(X[:, others] * X[:, column : column + 1])
    centres, scales = (
        np.concatenate([main, np.column_stack([main[i], main[j], pair]).ravel()])
        for main, pair in zip(own, product, strict=True)
    )
    return centres, scales


def _groups(design: Design) -> Int[np.ndarray, " g"]:
    """Where each group begins: one for each variable, one of three columns for each pair."""
    pairs = pair_columns(design)[0].size
    mains = [variable.start for variable in design.variables]
    return np.concatenate([mains, design.d + 3 * np.arange(pairs)])


def _summed(
    design: Design, places: Int[np.ndarray, " k"], values: Float[np.ndarray, " k"]
) -> dict[Term, float]:
    """Coefficients by term, from those of the features: main effects are sums of their copies."""
    i, j = pair_columns(design)
    pair, member = np.divmod(places - design.d, 3)
    mains = np.zeros(design.d)
    main = places < design.d
    np.add.at(mains, places[main], values[main])
    for which, column in enumerate((i, j)):
        copies = ~main & (member == which)
        np.add.at(mains, column[pair[copies]], values[copies])
    products = ~main & (member == 2)
    terms: dict[Term, float] = {(int(k),): float(mains[k]) for k in np.flatnonzero(mains)}
    found = zip(i[pair[products]].tolist(), j[pair[products]].tolist(), strict=True)
    return terms | dict(zip(found, values[products].tolist(), strict=True))
