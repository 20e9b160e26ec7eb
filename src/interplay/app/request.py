"""What is asked of a fit, in plain values: the same from a command line and from a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.data.design import Design, design
from interplay.inference.progress import Report
from interplay.inference.sample import MAX_DRAWS
from interplay.model.priors import SKIM
from interplay.results.fit import Fit
from interplay.results.learn import learn


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which column is to be explained, by which others, and how.

    Parameters
    ----------
    response
        Name of the column to be explained.
    drop
        Columns to leave out.
    impute
        `"mean"` puts the mean in place of missing covariates; None refuses them.
    expected_mains
        Number of variables expected to matter; None for the prior's own.
    quadratic
        Whether there are quadratic effects.
    seed
        Of the sampler.
    max_draws, max_seconds
        When to end without convergence: draws of each chain, and wall time; None for no limit of time.
    """

    response: str
    drop: tuple[str, ...] = ()
    impute: str | None = None
    expected_mains: float | int | None = None
    quadratic: bool = True
    seed: int = 0
    max_draws: int = MAX_DRAWS
    max_seconds: float | int | None = None

    def design(self, source: Any) -> Design:
        """The data as the model takes them: `source` is anything that `interplay.read` takes."""
        return design(source, self.response, drop=self.drop, impute=self.impute)

    @property
    def prior(self) -> SKIM:
        """What is believed."""
        return SKIM(expected_mains=self.expected_mains, quadratic=self.quadratic)

    def fit(self, made: Design, *, checkpoint: Path | None, progress: bool | Report) -> Fit:
        """Learn from a design that this request made."""
        return learn(
            made,
            self.prior,
            seed=self.seed,
            max_draws=self.max_draws,
            max_seconds=self.max_seconds,
            checkpoint=checkpoint,
            progress=progress,
        )
