"""A clock for one run: when each rule first held, without the time of looking."""

import time
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from benchmarks.probe import memory

from experiments import trust
from experiments.trust import Agreement
from interplay._support.parallel import Workers
from interplay.data.design import Design
from interplay.inference.diagnostics import disputed
from interplay.inference.draws import Draws
from interplay.inference.mixing import LEAST_DRAWS
from interplay.inference.stopping import ConvergenceMonitor
from interplay.inference.trace import Trace
from interplay.model.families import Gaussian
from interplay.model.priors.base import Prior

AGREE = 1.02
"""R-hat at which chains from wrong starts have come together."""

PATIENCE = 1.1
"""By how much the draws grow before pairs, which take long, are looked at again."""


@dataclass(frozen=True)
class Moment:
    """When a rule first held.

    Parameters
    ----------
    seconds
        Since the clock was started.
    draws
        Of each chain.
    agreement
        Of the quantities of the rule.
    """

    seconds: float
    draws: int
    agreement: Agreement

    def plain(self) -> dict[str, Any]:
        """All of it in plain values."""
        return {"seconds": self.seconds, "draws": self.draws} | asdict(self.agreement)


class Clock:
    """Watches a run as its monitor, and lets it end when both rules have held.

    Its own looking is not counted, so that a moment is that of a run without it.

    Parameters
    ----------
    prior
        What is believed.
    """

    def __init__(self, prior: Prior) -> None:
        self._prior = prior
        self._began = time.perf_counter()
        self._looking = 0.0
        self._next_look = 0.0
        self.verdict: Moment | None = None
        self.trust: Moment | None = None
        self.together: Moment | None = None
        self.first_draws: float | None = None
        self.latest: Agreement | None = None
        self.peak_bytes: float | None = None

    def monitor(self, design: Design, workers: Workers) -> "Clock":
        """The clock as the monitor of a run."""
        self._design, self._inner = design, ConvergenceMonitor(design, workers)
        return self

    @property
    def seconds(self) -> float:
        """Since the start, without those of looking."""
        return time.perf_counter() - self._began - self._looking

    def converged(self, trace: Trace) -> bool:
        """Whether the package's rule and the fixed one have both held at some time."""
        if self.first_draws is None:
            self.first_draws = self.seconds
        if len(trace) < LEAST_DRAWS:
            return False
        stops = self.verdict is None and self._stops(trace)
        now, began = self.seconds, time.perf_counter()
        found = trust.agreement(self._cheap(trace))
        # Where pairs alone are missing, what was last seen of them says more.
        if self.trust is None and not (found.trusted and self._next_look):
            self.latest = found
        if stops:
            self.verdict = Moment(now, len(trace), found)
        if self.together is None and found.r_hat <= AGREE:
            self.together = Moment(now, len(trace), found)
        if self.trust is None and found.trusted and len(trace) >= self._next_look:
            self._look_at_pairs(trace, now)
        if self.peak_bytes is None and (self.verdict or self.trust):
            self.peak_bytes = memory("VmHWM")
        self._looking += time.perf_counter() - began
        return self.verdict is not None and self.trust is not None

    def table(self, trace: Trace) -> pd.DataFrame:
        """The package's table."""
        return self._inner.table(trace)

    def _stops(self, trace: Trace) -> bool:
        return self._inner.converged(trace) and not disputed(trace.main_mean, trace.main_sd)

    def _cheap(self, trace: Trace) -> trust.Series:
        """All but the pairs, from what the run has computed."""
        mains = {
            f"effect[{label}]": trace.main_mean[:, :, column]
            for column, label in enumerate(self._design.labels)
        }
        scales = trust.varying(trace.hyperparameters)
        return scales | trust.log_kappa(trace.hyperparameters, self._design) | mains

    def _look_at_pairs(self, trace: Trace, now: float) -> None:
        if self.peak_bytes is None:
            self.peak_bytes = memory("VmHWM")
        draws = Draws(trace.hyperparameters, {"log_density": trace.log_density})
        self.latest = trust.agreement(trust.quantities(self._design, self._prior, Gaussian(), draws))
        self._next_look = PATIENCE * len(trace)
        if self.latest.trusted:
            self.trust = Moment(now, len(trace), self.latest)
