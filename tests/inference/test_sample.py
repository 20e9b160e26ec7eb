"""The sampler against known posteriors: by quadrature, by FULL, by PLAIN, by grids, by calibration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from oracles import features, log_likelihood, monomials, posterior
from oracles import prior as prior_variances
from references import (
    Reference,
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

from interplay.data.design import Design, design
from interplay.data.simulate import synthetic
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.draws import Draws
from interplay.inference.run import watch
from interplay.inference.sample import sample
from interplay.inference.sampler import NUTS, Lockstep, advance
from interplay.inference.target import target
from interplay.inference.walk import walk
from interplay.model.marginal import engine
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
from interplay.model.terms import mains

PROBLEMS = reference_problems()


def conditional(made: Design, prior: Prior, draws: Draws) -> Conditional:
    """The Gaussian posterior given each of all draws."""
    with jax.enable_x64(True):
        stacked = {name: jnp.asarray(values) for name, values in draws.stacked().items()}
        variances = jax.vmap(lambda draw: prior.variances(draw, made.p))(stacked)
        return Conditional(engine(made, prior), variances, stacked["sigma"])


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
    draws, found = sample(made, SKIM(), draws=1500, seed=1, progress=False)
    assert found.verdict == "trust"
    return made, summary(made, SKIM(), draws)


def test_effects_agree_with_quadrature(problem: tuple[Design, Reference]) -> None:
    made, found = problem
    exact = by_quadrature(made, SKIM(), points=2**15)
    means, sds = z_scores(found, exact)
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.5
    # Also in absolute terms: means within a few percent of a posterior sd.
    assert np.abs((found.mean - exact.mean) / exact.sd).max() < 0.15


def test_effects_agree_with_full(problem: tuple[Design, Reference]) -> None:
    # The sds are not compared: those of FULL are too noisy in the heavy tails of weak pairs.
    made, found = problem
    means, _ = z_scores(found, by_full(made, SKIM(), warmup=250, draws=250))
    assert np.abs(means).max() < 4.0


def test_effects_agree_with_plain(problem: tuple[Design, Reference]) -> None:
    made, found = problem
    means, _ = z_scores(found, by_plain(made, SKIM(), chains=4, warmup=250, draws=250))
    assert np.abs(means).max() < 4.0


def test_swaps_of_correlated_columns_agree_with_quadrature() -> None:
    random = np.random.default_rng(3)
    common, own = random.normal(size=(40, 1)), random.normal(size=(40, 2))
    X = np.sqrt(0.9) * common + np.sqrt(0.1) * own
    made = design(X, X[:, 0] + 0.7 * random.normal(size=40))
    # Tails are heavy: of fewer draws the standard deviations look surer than they are.
    draws, found = sample(made, SKIM(), draws=6000, seed=2, progress=False)
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


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_lockstep_and_nuts_agree(larger: Design) -> None:
    values = [
        watched(larger, sample(larger, SKIM(), sampler=sampler, draws=500, seed=5, progress=False)[0])
        for sampler in (Lockstep(), NUTS())
    ]
    difference = values[0].mean(axis=(0, 1)) - values[1].mean(axis=(0, 1))
    z = difference / np.hypot(*map(standard_error, values))
    assert np.abs(z).max() < 4.0


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_rough_trajectories_with_exact_ends_agree_with_nuts(monkeypatch: pytest.MonkeyPatch) -> None:
    # So rough that draws from it would be seen to be wrong.
    monkeypatch.setattr("interplay.model.kernelspace.count", lambda n, d: 6)
    monkeypatch.setattr("interplay.model.kernelspace.LEFT_OUT", 1e6)
    drawn = synthetic(10, 16, 2.0, active=2, noise_variance=1.0, seed=3)
    made = design(drawn.X, drawn.y)
    with jax.enable_x64(True):
        posterior = target(made, SKIM())
        keys = jax.random.split(jax.random.key(0), 20)
        drawn_from = [ravel_pytree(SKIM().sample(key, made.n, made.p))[0] for key in keys]
        error = [posterior.log_density(x, rough=True) - posterior.log_density(x) for x in drawn_from]
    assert np.std(error) > 0.5
    draws, _ = sample(made, SKIM(), draws=2500, seed=5, progress=False)
    exact, _ = sample(made, SKIM(), sampler=NUTS(), draws=1500, seed=5, progress=False)
    values = [watched(made, draws), watched(made, exact)]
    difference = values[0].mean(axis=(0, 1)) - values[1].mean(axis=(0, 1))
    z = difference / np.hypot(*map(standard_error, values))
    assert np.abs(z).max() < 4.0


def snapshot() -> tuple:
    """What a fit must leave as it was."""
    threads = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]
    return dict(jax.config.values), sorted(threads), jnp.zeros(()).dtype


@pytest.mark.user_settings
@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_compiles_once_and_leaves_settings_alone(larger: Design) -> None:
    before = snapshot()
    assert before[2] == np.float32
    first, _ = sample(larger, SKIM(), draws=30, seed=0, progress=False)
    assert first.hyperparameters["kappa"].dtype == np.float64
    assert snapshot() == before
    compiled = [function._cache_size() for function in (advance, walk, watch)]
    assert min(compiled) > 0
    drawn = synthetic(60, 20, 3.0, active=2, noise_variance=9.0, seed=9)
    other, _ = sample(design(drawn.X, drawn.y), SKIM(), draws=55, seed=7, progress=False)
    assert [function._cache_size() for function in (advance, walk, watch)] == compiled
    assert other.length == 55
    assert snapshot() == before


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_the_seed_decides(larger: Design) -> None:
    one, again, other = (sample(larger, SKIM(), draws=30, seed=seed, progress=False)[0] for seed in (3, 3, 4))
    for name, values in one.hyperparameters.items():
        np.testing.assert_array_equal(values, again.hyperparameters[name])
    assert not np.array_equal(one.hyperparameters["sigma"], other.hyperparameters["sigma"])


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


def test_two_way_agrees_with_the_exact_posterior_of_the_noise() -> None:
    made = PROBLEMS["a factor, numbers and a binary"]
    prior = TwoWay.from_variances(made.p, mains=0.5, pairs=0.2, squares=0.1, intercept=4.0, noise_scale=1.5)
    draws, found = sample(made, prior, draws=1500, seed=3, progress=False)
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


def test_block_degree_on_correlated_columns_agrees_with_a_grid() -> None:
    # Columns that are rivals: a prior without sets has nothing to swap.
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


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_ranks_of_the_truth_are_uniform() -> None:
    # Data drawn from the prior: the rank of the true value among independent posterior draws is uniform.
    prior = SKIM(expected_mains=1, main_shape=20, main_scale=20, noise_scale=1.0, intercept_scale=1)
    n, p, thinned, bins = 20, 3, 11, 6
    X = np.random.default_rng(0).normal(size=(n, p))
    random, ranks = np.random.default_rng(1), []
    for seed in range(60):
        truth = prior.constrain(prior.sample(jax.random.key(seed), n, p), n, p)
        template = design(X, random.normal(size=n), standardize=False)
        terms = monomials(template)
        S = prior_variances(template, prior.variances(truth, p), terms)
        theta = np.sqrt(S) * random.normal(size=S.size)
        y = features(X, terms) @ theta + float(truth["sigma"]) * random.normal(size=n)
        made = design(X, y, standardize=False)
        draws, _ = sample(
            made, prior, sampler=Lockstep(warmup=75), draws=120, seed=1000 + seed, progress=False
        )
        keep = np.linspace(0, draws.chains * draws.length - 1, thinned).astype(int)
        stacked = draws.stacked()
        ranks.append([np.sum(stacked[name][keep] < float(truth[name])) for name in ("sigma", "eta1", "eta2")])
    for column in np.array(ranks).T:
        counts = np.bincount(column * bins // (thinned + 1), minlength=bins)
        assert chisquare(counts).pvalue > 0.01
