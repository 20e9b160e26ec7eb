"""What a method found, against what there is to be found."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design


def found(selected: Iterable[str], right: Collection[str]) -> dict[str, Any]:
    """Selected effects, right and wrong: mains, pairs, and their labels."""
    chosen = sorted(selected)
    wrong = [label for label in chosen if label not in right]

    def count(labels: list[str], pairs: bool) -> int:
        return sum((":" in label) == pairs for label in labels)

    return {
        "mains": count(chosen, False) - count(wrong, False),
        "false_mains": count(wrong, False),
        "pairs": count(chosen, True) - count(wrong, True),
        "false_pairs": count(wrong, True),
        "true_terms": [label for label in chosen if label in right],
        "false_terms": wrong,
    }


def errors(estimates: Mapping[str, float], effects: Mapping[str, float]) -> dict[str, float]:
    """Σ (estimate − truth)² over the coefficients of all columns, and of all their products, as they are."""

    def error(pairs: bool) -> float:
        labels = [label for label in {*estimates, *effects} if (":" in label) == pairs]
        return float(sum((estimates.get(label, 0.0) - effects.get(label, 0.0)) ** 2 for label in labels))

    return {"mains": error(False), "pairs": error(True)}


def posterior_errors(
    design: Design,
    main_means: Float[np.ndarray, " p"],
    pair_means: Float[np.ndarray, "p p"],
    effects: Mapping[str, float],
) -> dict[str, float]:
    """The same of posterior means on the scale of the design, all p² of them; numbers only.

    `slopes` is the error of the slope of each variable where all others are at their means,
    θ_i + Σ_j θ_ij x̄_j: what interplay calls the main effect.
    """
    slopes, pairs = _natural(design, main_means, pair_means)
    main_truth, pair_truth = _truth(design, effects)
    centres = design.centres
    # (x_i − x̄_i)(x_j − x̄_j) has −x̄_j for x_i.
    return {
        "mains": float(np.sum((slopes - pairs @ centres - main_truth) ** 2)),
        "pairs": float(np.sum((pairs - pair_truth) ** 2) / 2),
        "slopes": float(np.sum((slopes - main_truth - pair_truth @ centres) ** 2)),
    }


def _natural(design: Design, main_means: np.ndarray, pair_means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    slopes = design.response_scale * main_means / design.scales
    pairs = design.response_scale * pair_means / np.outer(design.scales, design.scales)
    np.fill_diagonal(pairs, 0.0)
    return slopes, pairs


def _truth(design: Design, effects: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    place = {name: k for k, name in enumerate(design.names)}
    mains, pairs = np.zeros(design.p), np.zeros((design.p, design.p))
    for label, effect in effects.items():
        columns = [place[name] for name in label.split(":")]
        if len(columns) == 1:
            mains[columns[0]] = effect
        else:
            pairs[columns[0], columns[1]] = pairs[columns[1], columns[0]] = effect
    return mains, pairs
