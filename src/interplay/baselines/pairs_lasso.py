"""PAIRS LASSO: the LASSO on all columns and all their pairs, O(n p²) memory."""

import numpy as np
from jaxtyping import Float
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold

from interplay.baselines.estimate import Estimate, check_folds
from interplay.baselines.pairs import moments, pair_blocks, pair_columns
from interplay.data.design import Design
from interplay.data.errors import DataError
from interplay.model.terms import Term


def pairs_lasso(
    design: Design,
    *,
    folds: int = 5,
    seed: int = 0,
    threads: int = 1,
    standardize: bool = True,
    most_bytes: float | int = 16e9,
) -> Estimate:
    """Fit all main effects and pairs, with the penalty chosen by cross-validation (Section 7 of the paper).

        min ‖y − θ_0 − Σ_E θ_E φ_E‖² / 2n + α Σ_E s_E |θ_E|

    with s_E the standard deviation of feature φ_E, so that pairs are penalised as if standardised; or with
    s_E = 1.

    Parameters
    ----------
    design
        The data. The features are its columns, and the products of columns of different variables.
    folds, seed
        Of cross-validation. Rows are shuffled: sorted data would make folds that differ.
    threads
        Folds that are fitted at the same time, each with its own rows.
    standardize
        Whether all features are standardised. Without it, and with a design that is not standardised either,
        this is the LASSO on raw columns and their products.
    most_bytes
        The most memory that may be taken.

    Raises
    ------
    DataError
        If there are too few rows, or if the features do not fit in `most_bytes`.
    """
    check_folds(design, folds)
    needed = feature_bytes(design, threads)
    if needed > most_bytes:
        raise DataError(
            f"{design.n} rows of {dimension(design)} columns and pairs take {needed / 1e9:.3g} GB: expected "
            f"at most {most_bytes / 1e9:.3g} GB. Raise `most_bytes`, or drop variables."
        )
    features, centres, scales = _features(design, standardize)
    splits = KFold(folds, shuffle=True, random_state=seed)
    model = LassoCV(cv=splits, n_jobs=threads, copy_X=False).fit(features, design.y)
    chosen = np.flatnonzero(model.coef_)
    coefficients = model.coef_[chosen] / scales[chosen]
    intercept = float(model.intercept_) - float(centres[chosen] @ coefficients)
    # The solver may have centred the features in place, and centres them anyway.
    used = features[:, chosen]
    fitted = design.y.mean() + (used - used.mean(axis=0)) @ model.coef_[chosen]
    return Estimate(
        terms=((), *_terms(design, chosen)),
        coefficients=np.array([intercept, *coefficients]),
        fitted=fitted,
        penalty=float(model.alpha_),
    )


def dimension(design: Design) -> int:
    """The number of columns and pairs."""
    return design.d + sum(pairs.stop - pairs.start for _, _, pairs in pair_blocks(design))


def feature_bytes(design: Design, threads: int = 1) -> float:
    """Bytes of the features, and of the rows of a fold twice for each thread, which scikit-learn makes."""
    return (1 + 2 * threads) * 8.0 * design.n * dimension(design)


def _features(
    design: Design, standardize: bool
) -> tuple[Float[np.ndarray, "n D"], Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
    """Columns, then pairs, in one array, standardised there; what was subtracted, and divided by."""
    X, d, D = np.asfortranarray(design.X), design.d, dimension(design)
    features = np.empty((design.n, D), order="F")
    centres, scales = np.zeros(D), np.ones(D)
    features[:, :d] = X
    for i, others, pairs in pair_blocks(design):
        np.multiply(X[:, others], X[:, i : i + 1], out=features[:, d + pairs.start : d + pairs.stop])
    for start in range(0, D if standardize else 0, d):
        block = slice(start, start + d)
        centres[block], scales[block] = moments(features[:, block])
        features[:, block] -= centres[block]
        features[:, block] /= scales[block]
    return features, centres, scales


def _terms(design: Design, chosen: np.ndarray) -> list[Term]:
    i, j = pair_columns(design)
    pairs = chosen[chosen >= design.d] - design.d
    mains: list[Term] = [(int(column),) for column in chosen if column < design.d]
    return mains + list(zip(i[pairs].tolist(), j[pairs].tolist(), strict=True))
