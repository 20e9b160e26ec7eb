"""The sampler against known posteriors: by quadrature, by FULL, by PLAIN, by grids, by calibration."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from oracles import features, log_likelihood, monomials, posterior
from oracles import prior as prior_variances
from references import (
    Reference,
    _hyperparameters,
    _log_posterior,
    all_effects,
    by_full,
    by_plain,
    by_quadrature,
    reference_problems,
    standard_error,
    z_scores,
)
from scipy.stats import chisquare
from threadpoolctl import threadpool_info

from interplay._support.parallel import Workers, serially
from interplay.baselines.plain import marginal_nuts
from interplay.data.design import Design, design
from interplay.data.simulate import synthetic
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.draws import Draws
from interplay.inference.moves import HMC
from interplay.inference.sample import sample
from interplay.model.engines import choose_engine
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
from interplay.model.priors.base import Scale
from interplay.model.terms import mains

PROBLEMS = reference_problems()


def conditional(made: Design, prior: Prior, draws: Draws) -> Conditional:
    """The Gaussian posterior given each of all draws."""
    stacked = draws.stacked()
    working = tuple(Gaussian().working({"sigma": sigma}, made) for sigma in stacked["sigma"])
    return Conditional(choose_engine(made, prior), prior.variances(stacked, made.p), working)


def summary(made: Design, prior: Prior, draws: Draws) -> Reference:
    """Posterior means and sds of all effects, with the standard errors of both."""
    terms = all_effects(made, prior)
    means, sds = conditional(made, prior, draws).effects(terms)
    mixture = Mixture(means, sds)
    by_chain = draws.chains, draws.length, len(terms)
    second = (sds**2 + (means - mixture.mean) ** 2).reshape(by_chain)
    sd_error = standard_error(second) / (2.0 * mixture.sd)
    return Reference(terms, mixture.mean, mixture.sd, standard_error(means.reshape(by_chain)), sd_error)


@pytest.fixture(scope="module", params=list(PROBLEMS))
def problem(request: pytest.FixtureRequest) -> tuple[Design, Reference]:
    """One of three problems, and its effects by the package."""
    made = PROBLEMS[request.param]
    draws, found = sample(made, SKIM(), draws=800, seed=1, progress=False)
    assert found.verdict == "trust"
    return made, summary(made, SKIM(), draws)


@pytest.mark.slow
def test_effects_agree_with_quadrature(problem: tuple[Design, Reference]) -> None:
    made, found = problem
    exact = by_quadrature(made, SKIM(), points=2**15)
    means, sds = z_scores(found, exact)
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.5
    # Also in absolute terms: means within a few percent of a posterior sd.
    assert np.abs((found.mean - exact.mean) / exact.sd).max() < 0.15


@pytest.mark.slow
def test_effects_agree_with_full(problem: tuple[Design, Reference]) -> None:
    # The sds are not compared: those of FULL are too noisy in the heavy tails of weak pairs.
    made, found = problem
    means, _ = z_scores(found, by_full(made, SKIM(), warmup=250, draws=250))
    assert np.abs(means).max() < 4.0


@pytest.mark.slow
def test_effects_agree_with_plain(problem: tuple[Design, Reference]) -> None:
    made, found = problem
    means, _ = z_scores(found, by_plain(made, SKIM(), chains=4, warmup=250, draws=250))
    assert np.abs(means).max() < 4.0


@pytest.mark.slow
def test_correlated_columns_agree_with_quadrature() -> None:
    random = np.random.default_rng(3)
    common, own = random.normal(size=(40, 1)), random.normal(size=(40, 2))
    X = np.sqrt(0.9) * common + np.sqrt(0.1) * own
    made = design(X, X[:, 0] + 0.7 * random.normal(size=40))
    # Tails are heavy: of fewer draws the standard deviations look surer than they are.
    draws, found = sample(made, SKIM(), draws=2000, seed=2, progress=False)
    assert found.verdict == "trust"
    means, sds = z_scores(summary(made, SKIM(), draws), by_quadrature(made, SKIM(), points=2**15))
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.0


@pytest.fixture(scope="module")
def larger() -> Design:
    drawn = synthetic(60, 20, 2.0, active=3, noise_variance=4.0, seed=1)
    return design(drawn.X, drawn.y)


def watched(made: Design, draws: Draws) -> np.ndarray:
    """Log σ, log η1, log η2 and the conditional mean of every main effect, (chain, draw, quantity)."""
    means, _ = conditional(made, SKIM(), draws).effects(mains(made))
    logs = [np.log(draws.hyperparameters[name]) for name in ("sigma", "eta1", "eta2")]
    return np.concatenate([np.stack(logs, axis=2), means.reshape(draws.chains, draws.length, -1)], axis=2)


def by_nuts(made: Design, length: int) -> Draws:
    """NumPyro's NUTS on the marginal model."""
    sampled = dict(marginal_nuts(made, SKIM(), seed=5, chains=4, warmup=500, draws=length).draws)
    shape = sampled["sigma"].shape
    return Draws({**sampled, "intercept_scale": np.full(shape, 3.0)}, {"log_density": np.zeros(shape)})


def assert_agree(made: Design, *both: Draws) -> None:
    values = [watched(made, draws) for draws in both]
    difference = values[0].mean(axis=(0, 1)) - values[1].mean(axis=(0, 1))
    z = difference / np.hypot(*map(standard_error, values))
    assert np.abs(z).max() < 4.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_hmc_and_nuts_agree(larger: Design) -> None:
    draws, _ = sample(larger, SKIM(), draws=500, seed=5, progress=False)
    assert_agree(larger, draws, by_nuts(larger, 500))


NEAR_EQUAL = 0.995
"""Correlation of two columns that could stand for each other."""


def near_equal() -> Design:
    random = np.random.default_rng(3)
    common, own = random.normal(size=(40, 1)), random.normal(size=(40, 2))
    X = np.sqrt(NEAR_EQUAL) * common + np.sqrt(1.0 - NEAR_EQUAL) * own
    return design(X, X[:, 0] + 0.7 * random.normal(size=40))


def by_metropolis(made: Design, chains: int = 128, length: int = 3000) -> np.ndarray:
    """Random-walk Metropolis with exchanges of λ on an explicit density: log σ, η1 and κ, (c, i, 4)."""
    random, terms = np.random.default_rng(7), all_effects(made, SKIM())
    prior = Posterior.of(made, SKIM(), Gaussian())
    x = np.stack([prior.sample_prior(random) for _ in range(chains)])
    x = np.clip(x, -3.0, 3.0)
    value, kept = _log_posterior(made, SKIM(), terms, x)[0], []
    for step in range(length):
        scale = (0.3, 1.0)[step % 2]
        proposal = x + scale * random.normal(size=x.shape) * np.r_[0.3, 0.8, 0.3, 0.3, 0.3, 0.8, 0.8]
        if step % 3 == 2:
            proposal = x[:, [0, 1, 2, 3, 4, 6, 5]]
        there = _log_posterior(made, SKIM(), terms, proposal)[0]
        accept = np.log(random.random(chains)) < there - value
        x, value = np.where(accept[:, None], proposal, x), np.where(accept, there, value)
        if step >= length // 4:
            kept.append(x)
    return (
        watched_logs(_hyperparameters(made, SKIM(), np.concatenate(kept))[1])
        .reshape(-1, chains, 4)
        .swapaxes(0, 1)
    )


def watched_logs(values: dict[str, np.ndarray]) -> np.ndarray:
    kappa = np.log(values["kappa"])
    return np.stack([np.log(values["sigma"]), np.log(values["eta1"]), kappa[..., 0], kappa[..., 1]], axis=-1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_moves_together_agree_with_a_random_walk() -> None:
    made = near_equal()
    draws, _ = sample(made, SKIM(), draws=800, seed=2, progress=False)
    ours, theirs = watched_logs(draws.hyperparameters), by_metropolis(made)
    z = (ours.mean(axis=(0, 1)) - theirs.mean(axis=(0, 1))) / np.hypot(
        standard_error(ours), standard_error(theirs)
    )
    assert np.abs(z).max() < 4.0


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_leaves_the_threads_of_linear_algebra_as_they_were() -> None:
    def threads() -> list[tuple[str, int]]:
        return sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())

    before = threads()
    draws, _ = sample(near_equal(), SKIM(), sampler=QUICK, draws=10, seed=0, progress=False)
    assert draws.hyperparameters["kappa"].dtype == np.float64
    assert threads() == before


QUICK = HMC(chains=2, warmup=20)


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
@pytest.mark.parametrize("rows", [40, 25])
def test_threads_change_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    # With fewer rows than coefficients by the kernel, and with two columns to swap.
    X = random.normal(size=(rows, 4 if rows == 40 else 8))
    X[:, 1] = X[:, 0] + 0.1 * random.normal(size=rows)
    made = design(X, X[:, 0] + X[:, 2] + 0.5 * random.normal(size=rows))
    pooled, _ = sample(made, SKIM(), sampler=QUICK, draws=20, seed=0, progress=False)

    @contextmanager
    def one_by_one(blas_threads: int = 1) -> Iterator[Workers]:
        yield serially

    monkeypatch.setattr("interplay.inference.sample.workers", one_by_one)
    serial, _ = sample(made, SKIM(), sampler=QUICK, draws=20, seed=0, progress=False)
    for mine, theirs in (
        (pooled.hyperparameters, serial.hyperparameters),
        (pooled.statistics, serial.statistics),
    ):
        assert list(mine) == list(theirs)
        assert all(mine[name].tobytes() == theirs[name].tobytes() for name in mine)


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_the_seed_decides(larger: Design) -> None:
    one, again, other = (sample(larger, SKIM(), draws=30, seed=seed, progress=False)[0] for seed in (3, 3, 4))
    for name, values in one.hyperparameters.items():
        np.testing.assert_array_equal(values, again.hyperparameters[name])
    assert not np.array_equal(one.hyperparameters["sigma"], other.hyperparameters["sigma"])


@pytest.mark.slow
def test_stops_when_converged() -> None:
    made = PROBLEMS["two numbers, strong interaction"]
    draws, found = sample(made, SKIM(), seed=1, progress=False)
    assert (found.ended, found.verdict) == ("converged", "trust")
    assert found.r_hat <= 1.01
    assert min(found.ess_bulk, found.ess_tail) >= 400
    assert draws.length < 1500


def test_says_where_it_ended_with_one_warning() -> None:
    made = PROBLEMS["two numbers, strong interaction"]
    with pytest.warns(
        ConvergenceWarning, match=r"sampling stopped at max_draws\. .* See diagnostics"
    ) as told:
        draws, found = sample(made, SKIM(), max_draws=40, seed=1, progress=False)
    assert (draws.length, found.ended, len(told)) == (40, "max_draws", 1)
    with pytest.warns(ConvergenceWarning, match="sampling stopped at max_seconds"):
        draws, found = sample(made, SKIM(), max_seconds=1e-6, seed=1, progress=False)
    assert found.ended == "max_seconds"
    assert draws.length >= 1


@pytest.mark.parametrize("name", ["draws", "max_draws", "max_seconds"])
def test_refuses_limits_that_are_not_positive(name: str) -> None:
    made = PROBLEMS["two numbers, strong interaction"]
    with pytest.raises(ValueError, match=f"{name}=-1: expected a positive number"):
        sample(made, SKIM(), **{name: -1})


def weighted(values: np.ndarray, log_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over the points of a grid."""
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ values
    return mean, np.sqrt(weight @ (values - mean) ** 2)


def assert_moments(draws: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> None:
    z = (draws.mean(axis=(0, 1)) - mean) / standard_error(draws)
    spread = standard_error((draws - mean) ** 2) / (2.0 * sd)
    z_sd = (np.sqrt(np.mean((draws - mean) ** 2, axis=(0, 1))) - sd) / spread
    assert np.abs(z).max() < 4.0
    assert np.abs(z_sd).max() < 4.0


@pytest.mark.slow
def test_two_way_agrees_with_the_exact_posterior_of_the_noise() -> None:
    made = PROBLEMS["a factor, numbers and a binary"]
    prior = TwoWay.from_variances(made.p, mains=0.5, pairs=0.2, squares=0.1, intercept=4.0)
    family = Gaussian(noise_scale=1.5)
    draws, found = sample(made, prior, family=family, draws=1500, seed=3, progress=False)
    assert found.verdict == "trust"

    terms = monomials(made)
    Phi, squares = features(made.X, terms), {(v.start, v.start) for v in made.variables}
    by_degree = {0: 4.0, 1: 0.5, 2: 0.2}
    S = np.array([0.1 if term in squares else by_degree[len(term)] for term in terms])
    u = np.linspace(-2.5, 1.5, 400)
    log_weight = [
        log_likelihood(Phi * S @ Phi.T, np.exp(2.0 * v), made.y) - 0.5 * (np.exp(v) / 1.5) ** 2 + v for v in u
    ]
    # The conditional mean of a numeric main effect is a coefficient in weight space.
    column = terms.index((0,))
    effect = [posterior(Phi, S, float(np.exp(2.0 * v)), made.y)[0][column] for v in u]
    mean, sd = weighted(np.column_stack([u, np.exp(u), effect]), np.array(log_weight))
    sigma = draws.hyperparameters["sigma"]
    means, _ = conditional(made, prior, draws).effects([(0,)])
    ours = np.stack([np.log(sigma), sigma, means.reshape(sigma.shape)], axis=2)
    assert_moments(ours, mean, sd)
    # The whole distribution, at its deciles.
    weight = np.exp(np.array(log_weight) - np.max(log_weight))
    # A point of the grid stands for the cell around it, half of which lies below.
    cdf = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    deciles = np.interp(np.linspace(0.1, 0.9, 9), cdf, u)
    below = (np.log(sigma)[:, :, None] <= deciles).astype(float)
    z = (below.mean(axis=(0, 1)) - np.linspace(0.1, 0.9, 9)) / standard_error(below)
    assert np.abs(z).max() < 4.0


@pytest.mark.slow
def test_block_degree_on_correlated_columns_agrees_with_a_grid() -> None:
    # Columns that are neighbours: a prior without sets has nothing to swap.
    random = np.random.default_rng(5)
    common = random.normal(size=(30, 1))
    X = np.sqrt(0.95) * common + np.sqrt(0.05) * random.normal(size=(30, 2))
    made = design(X, X[:, 0] + 0.8 * X[:, 0] * X[:, 1] + 0.8 * random.normal(size=30))
    prior = BlockDegree(quadratic=False, main_scale=0.8)
    draws, found = sample(made, prior, draws=1500, seed=4, progress=False)
    assert found.verdict == "trust"

    Phi = features(made.X, [(), (0,), (1,), (0, 1)])
    # log σ, log η1, log η2; half-normal densities of scales 2, 0.8 and 1, with the Jacobian.
    axes = np.linspace(-1.6, 1.0, 50), np.linspace(-7.0, 1.6, 60), np.linspace(-7.0, 1.8, 60)
    u = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    sigma, eta1, eta2 = np.exp(u).T
    s = np.stack([np.full(len(u), 3.0), eta1, eta1, eta2], axis=1)
    B = np.eye(4) + s[:, :, None] * (Phi.T @ Phi) * s[:, None, :] / sigma[:, None, None] ** 2
    solved = np.linalg.solve(B, (s * (Phi.T @ made.y))[:, :, None])[:, :, 0]
    fit = made.y @ made.y - np.einsum("ij,ij->i", solved, s * (Phi.T @ made.y)) / sigma**2
    log_weight = -0.5 * fit / sigma**2 - made.n * np.log(sigma) - 0.5 * np.linalg.slogdet(B)[1]
    log_weight += u.sum(axis=1) - 0.5 * ((sigma / 2.0) ** 2 + (eta1 / 0.8) ** 2 + eta2**2)
    effects = s * solved / sigma[:, None] ** 2
    mean, sd = weighted(np.column_stack([u, effects[:, [1, 3]]]), log_weight)

    names = ("sigma", "eta1", "eta2")
    means, _ = conditional(made, prior, draws).effects([(0,), (0, 1)])
    shape = draws.chains, draws.length, -1
    ours = [np.log(draws.hyperparameters[name])[:, :, None] for name in names]
    assert_moments(np.concatenate([*ours, means.reshape(shape)], axis=2), mean, sd)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_ranks_of_the_truth_are_uniform() -> None:
    # Data drawn from the prior: the rank of the true value among independent posterior draws is uniform.
    prior = SKIM(expected_mains=1, main_shape=20, main_scale=20, intercept_scale=1)
    family = Gaussian(noise_scale=1.0)
    n, p, thinned, bins = 20, 3, 11, 6
    X = np.random.default_rng(0).normal(size=(n, p))
    random, ranks = np.random.default_rng(1), []
    for seed in range(60):
        u = family.sample(random)
        t = prior.sample(random, Scale(n, p, float(u[0])))
        truth = {**prior.constrain(t, p), **family.constrain(u)}
        template = design(X, random.normal(size=n), standardize=False)
        terms = monomials(template)
        S = prior_variances(template, prior.variances(truth, p), terms)
        theta = np.sqrt(S) * random.normal(size=S.size)
        y = features(X, terms) @ theta + float(truth["sigma"]) * random.normal(size=n)
        made = design(X, y, standardize=False)
        draws, _ = sample(
            made,
            prior,
            family=family,
            sampler=HMC(chains=2, warmup=50),
            draws=75,
            seed=1000 + seed,
            progress=False,
        )
        keep = np.linspace(0, draws.chains * draws.length - 1, thinned).astype(int)
        stacked = draws.stacked()
        ranks.append([np.sum(stacked[name][keep] < float(truth[name])) for name in ("sigma", "eta1", "eta2")])
    for column in np.array(ranks).T:
        counts = np.bincount(column * bins // (thinned + 1), minlength=bins)
        assert chisquare(counts).pvalue > 0.01
