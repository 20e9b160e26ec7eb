"""Whether moves leave the posterior as it is, tested by draws that come from it exactly.

If the hyperparameters come from the prior and the response from the model given them, they are a draw from
the posterior given this response (Cook, Gelman and Rubin 2006; Geweke 2004). After any number of moves that
leave the posterior as it is they are one still, so that no expectation over such draws may change. Draws
before and after are compared in pairs, which makes small errors visible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay._support.streams import Streams
from interplay.data.design import Design
from interplay.inference.chain import advance
from interplay.inference.moves import ChainState, Move, Tuning
from interplay.model.engines import Engine
from interplay.model.families import Gaussian
from interplay.model.kernel import gram
from interplay.model.posterior import Posterior
from interplay.model.priors.base import Prior


@dataclass(frozen=True, eq=False)
class Pairs:
    """Positions before and after moves, (m, D) each, and what the moves recorded on average."""

    before: np.ndarray
    after: np.ndarray
    statistics: Mapping[str, float]

    def z_scores(self) -> np.ndarray:
        """Mean change of bounded functions of the position over its standard error, where they changed."""
        functions = _functions(self.before, self.after)
        change = functions[len(self.before) :] - functions[: len(self.before)]
        moved = np.any(change != 0, axis=0)
        change = change[:, moved]
        return change.mean(axis=0) / (change.std(axis=0, ddof=1) / np.sqrt(len(change)))


def exact_pairs(
    design: Design,
    prior: Prior,
    moves: Sequence[Move],
    *,
    count: int,
    iterations: int = 1,
    seed: int = 0,
    engine: Engine | None = None,
    tunings: Mapping[str, Tuning] | None = None,
) -> Pairs:
    """Draws from the joint law of hyperparameters and response, before and after moves.

    Row weights must sum to the number of rows: only then is the likelihood a density of the response.
    """
    assert np.isclose(design.total_weight, design.n)
    random = np.random.default_rng(seed)
    first = Posterior.of(design, prior, Gaussian(), precision="float64")
    engine = engine or first.engine
    before, after, records = [], [], []
    for draw in range(count):
        x = first.sample_prior(random)
        posterior = replace(first, design=replace(design, y=response(first, x, random)), engine=engine)
        tuning = {move.name: move.begin(posterior, x[None]) for move in moves} | dict(tunings or {})
        state = ChainState(x, posterior.log_density(x))
        stretch = advance(
            posterior, moves, tuning, state, Streams(draw), chain=0, phase=0, first=0, iterations=iterations
        )
        before.append(x)
        after.append(stretch.state.position)
        records.append({name: float(values[-1]) for name, values in stretch.statistics.items()})
        assert np.isclose(stretch.state.log_density, posterior.log_density(after[-1]), rtol=1e-6, atol=1e-4)
    average = {}
    for name in records[0]:
        values = np.array([record[name] for record in records])
        average[name] = float(np.mean(values[np.isfinite(values)])) if np.any(np.isfinite(values)) else np.nan
    return Pairs(np.stack(before), np.stack(after), average)


def response(posterior: Posterior, x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A response from the model at a position."""
    variances, working = posterior.model(x)
    layout, X = posterior.engine.layout, posterior.design.X
    values, vectors = np.linalg.eigh(gram(variances, layout, X, X))
    n = posterior.design.n
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * random.standard_normal(n))
    return f + np.sqrt(working.noise) * random.standard_normal(n)


def _functions(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Bounded functions of the position: of each coordinate, of its size, and of two together."""
    both = np.concatenate([before, after])
    middle = np.median(before, axis=0)
    width = np.maximum(np.quantile(before, 0.84, axis=0) - np.quantile(before, 0.16, axis=0), 1e-12) / 2
    u = np.tanh((both - middle) / width)
    pairs = u[:, :-1] * u[:, 1:]
    return np.column_stack([u, u**2, pairs, u[:, :1] * u[:, 1:], np.tanh(3 * (both - middle) / width - 3)])
