"""BEST SUBSET: the few columns and pairs that fit best together, by splicing, solved by abess."""

import numpy as np

from interplay.baselines.estimate import Estimate, check_folds
from interplay.baselines.pairs import pair_blocks, pair_columns
from interplay.baselines.pairs_lasso import dimension
from interplay.data.design import Design
from interplay.model.terms import Term

try:
    from abess import LinearRegression
except ImportError as error:
    raise ImportError(
        "The best subset is found by abess, which is not installed. Install it with"
        " `pip install interplay[bench]`."
    ) from error

MOST = 30
"""Most terms of a subset, where there are rows for it: twice what the paper's simulations have."""


def best_subset(
    design: Design, *, folds: int = 5, seed: int = 0, threads: int = 1, most: int = MOST
) -> Estimate:
    """Fit main effects and pairs by least squares on a subset, its size chosen by cross-validation.

        min ‖y − θ_0 − Σ_E θ_E φ_E‖²    subject to    #{θ_E ≠ 0} ≤ k

    for k = 0, …, `most` (Zhu et al. 2020): a peer that the paper did not have.

    Parameters
    ----------
    design
        The data. The features are its columns, and the products of columns of different variables.
    folds, seed
        Of cross-validation, on shuffled rows.
    threads
        Of abess.
    most
        Most terms of a subset; never more than half the rows of a training set.

    Raises
    ------
    DataError
        If there are too few rows.
    """
    check_folds(design, folds)
    D = dimension(design)
    features = np.empty((design.n, D))
    features[:, : design.d] = design.X
    for i, others, pairs in pair_blocks(design):
        block = slice(design.d + pairs.start, design.d + pairs.stop)
        np.multiply(design.X[:, others], design.X[:, i : i + 1], out=features[:, block])
    largest = min(most, D, design.n * (folds - 1) // folds // 2)
    model = LinearRegression(support_size=range(largest + 1), cv=folds, thread=threads)
    model.fit(features, design.y, cv_fold_id=_fold_of_rows(design.n, folds, seed))
    chosen = np.flatnonzero(model.coef_)
    left, right = pair_columns(design)
    terms: list[Term] = [
        (int(k),) if k < design.d else (int(left[k - design.d]), int(right[k - design.d])) for k in chosen
    ]
    intercept = float(np.squeeze(model.intercept_))
    return Estimate(
        terms=((), *terms),
        coefficients=np.array([intercept, *model.coef_[chosen]]),
        fitted=np.asarray(model.predict(features), dtype=np.float64),
        penalty=float(len(terms)),
    )


def _fold_of_rows(n: int, folds: int, seed: int) -> np.ndarray:
    """The fold of each row, shuffled, as even in size as can be."""
    return np.random.default_rng(seed).permutation(np.arange(n) % folds)
