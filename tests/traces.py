"""Traces of arrays made by hand."""

from collections.abc import Mapping

import numpy as np

from interplay.inference.trace import SPARSE, Draw, Trace

STATISTICS = ("acceptance", "divergent", "steps")


def trace_of(arrays: Mapping[str, np.ndarray]) -> Trace:
    """A trace of arrays by name: what is neither of a main effect nor of a move is a hyperparameter."""
    mean = arrays["main_mean"]
    other = ("main_mean", "main_sd", "log_density", *STATISTICS)
    draw = Draw(
        hyperparameters={name: values for name, values in arrays.items() if name not in other},
        main_mean=mean,
        main_sd=arrays.get("main_sd", np.ones_like(mean[:, ::SPARSE])),
        log_density=arrays.get("log_density", np.zeros(mean.shape[:2])),
        statistics={name: arrays[name].astype(np.float64) for name in STATISTICS if name in arrays},
    )
    return Trace().extended(draw)
