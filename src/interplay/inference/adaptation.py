"""Learning the step size and the metric from all chains together, between calls of the sampler."""

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.metric import Metric, learned_metric

EVERY = 5
"""Iterations of warm-up between two corrections of the step size."""

RELEARN = 10
"""Iterations of warm-up between two estimates of the metric."""

SETTLE = 25
"""Last iterations of warm-up, in which the step size settles; the metric is not learned in the last 15."""

FIRST_STEP = 0.1
LARGEST_STEP = 1.0


def corrected(log_step: float, acceptance: float, wanted: float, remaining: int) -> float:
    """The log step size after some iterations with a given acceptance rate.

    The gain falls to a third in the iterations after the metric was fixed, so that the step size settles.
    """
    gain = 1.0 if remaining > SETTLE else 1.0 / 3.0 + 2.0 / 3.0 * remaining / SETTLE
    return min(log_step + gain * (acceptance - wanted), np.log(LARGEST_STEP))


def relearned(
    metric: Metric, history: Float[np.ndarray, "i c D"], local: Int[np.ndarray, " k"], warmup: int
) -> Metric:
    """The metric after some iterations of warm-up, from their second half, or the one that there was."""
    done = len(history)
    if done < 2 * RELEARN or done % RELEARN or warmup - done < SETTLE - RELEARN:
        return metric
    late = history[done // 2 :]
    return learned_metric(late.reshape(-1, late.shape[2]), local)
