"""The log density that a sampler sees: of every prior, in both engines, with factors and row weights."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from scipy.stats import multivariate_normal
from strategies import make_design

from interplay.data.design import Design
from interplay.model.engines import Engine, FeatureSpace, KernelSpace
from interplay.model.families import Gaussian
from interplay.model.paper_kernels import TwoWayKernel
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM, BlockDegree, Prior, Scale, TwoWay

P = 4
NAMED = TwoWayKernel(
    np.array([[0.5, 0.3, 0.7, 0.2], [0.1, 0.4, 0.0, 0.6]]),
    np.full(P, 0.2),
    np.full(P, 0.1),
    0.5,
    ((0, 2), (1, 3)),
    (0.3, 0.8),
)
PRIORS: dict[str, Prior] = {
    "skim": SKIM(),
    "skim without squares": SKIM(quadratic=False),
    "skim degree 3": SKIM(degree=3),
    "skim degree 4 without squares": SKIM(degree=4, quadratic=False),
    "block degree": BlockDegree(),
    "block degree 3": BlockDegree(degree=3),
    "block degree without squares": BlockDegree(quadratic=False),
    "two-way with named pairs": TwoWay(NAMED),
}
each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
each_design = pytest.mark.parametrize("factors", [[], [3]], ids=["numbers", "factors"])
weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def some_design(factors: list[int], weighted: bool) -> Design:
    design = make_design(31, n=11, numbers=P - len(factors), factors=factors)
    return replace(design, weights=1.0 + np.arange(11.0) % 3) if weighted else design


def engines(design: Design, prior: Prior) -> list[Engine]:
    return [
        KernelSpace(design, tolerance=0.0),
        FeatureSpace(design, degree=prior.degree, quadratic=prior.quadratic),
    ]


def position(posterior: Posterior, seed: int = 0) -> np.ndarray:
    """A draw from the prior, without its heavy tails."""
    return np.clip(posterior.sample_prior(np.random.default_rng(seed)), -2.0, 2.0)


def by_hand(posterior: Posterior, x: np.ndarray) -> float:
    """The priors' densities, and scipy's normal of all rows, each repeated as often as its weight says."""
    design, prior, family = posterior.design, posterior.prior, posterior.family
    u, t = x[:1], x[1:]
    sigma = float(np.exp(u[0]))
    variances = prior.variances(prior.constrain(t, design.p), design.p)
    copies = np.repeat(np.arange(design.n), design.row_weights.astype(int))
    basis = oracles.monomials(design, prior.degree)
    Phi = oracles.features(design.X, basis)[copies]
    S = oracles.prior(design, variances, basis)
    covariance = (Phi * S) @ Phi.T + sigma**2 * np.eye(len(copies))
    likelihood = multivariate_normal(np.zeros(len(copies)), covariance).logpdf(design.y[copies])
    scale = Scale(len(copies), design.p, float(u[0]))
    return float(likelihood + family.log_prior(u)[0] + prior.log_density(t, scale).value)


@each_prior
@each_design
@weighted_or_not
def test_is_prior_plus_likelihood_with_its_gradient(prior: Prior, factors: list, weighted: bool) -> None:
    design = some_design(factors, weighted)
    values, gradients = [], []
    for engine in engines(design, prior):
        posterior = Posterior(design, prior, Gaussian(), engine)
        x = position(posterior)
        density = posterior.gradient(x)
        assert density.value == pytest.approx(posterior.log_density(x), rel=1e-12)
        steps = 1e-5 * np.eye(x.size)
        differences = [(posterior.log_density(x + e) - posterior.log_density(x - e)) / 2e-5 for e in steps]
        np.testing.assert_allclose(density.gradient, differences, rtol=1e-5, atol=1e-5)
        assert density.value == pytest.approx(by_hand(posterior, x), rel=1e-8)
        values.append(density.value)
        gradients.append(density.gradient)
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    np.testing.assert_allclose(*gradients, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("prior", [SKIM(), SKIM(quadratic=False), SKIM(degree=3), SKIM(expected_mains=1)])
@weighted_or_not
def test_gradient_is_automatic_differentiation_of_the_explicit_density(prior: SKIM, weighted: bool) -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    design = some_design([3], weighted)
    n, p, w = design.total_weight, design.p, design.row_weights
    basis = [t for t in oracles.monomials(design, prior.degree) if prior.quadratic or len(set(t)) == len(t)]
    Phi = oracles.features(design.X, basis)
    counts = np.array([[np.sum(design.owner[list(t)] == g) for g in range(p)] for t in basis])
    # Which size a term has: 0, 1, … by its order, and -1 for squares.
    kinds = np.array([-1 if len(set(t)) < len(t) else len(t) for t in basis])
    s = min(5, p / 2) if prior.expected_mains is None else prior.expected_mains

    def half_cauchy(x: object, scale: object) -> object:
        return jnp.log(2 / jnp.pi) - jnp.log(scale) - jnp.log1p((x / scale) ** 2)

    def inverse_gamma(x: object, a: float, b: float) -> object:
        return a * jnp.log(b) - jax.scipy.special.gammaln(a) - (a + 1) * jnp.log(x) - b / x

    def log_density(x: object) -> object:
        # Appendix D, line by line; the sum of x is the Jacobian of the exponential.
        count = prior.degree - 1
        sigma, eta1, m_sq, xi_sq = jnp.exp(x[0]), jnp.exp(x[1]), jnp.exp(x[2]), jnp.exp(x[3 : 3 + count])
        psi_sq, lam = jnp.exp(x[3 + count]) if prior.quadratic else 0.0, jnp.exp(x[-p:])
        total = jnp.sum(x) + 0.5 * jnp.log(2 / jnp.pi) - jnp.log(2.0) - 0.5 * (sigma / 2.0) ** 2
        total += half_cauchy(eta1, s / (p - s) * sigma / jnp.sqrt(n)) + jnp.sum(half_cauchy(lam, 1.0))
        total += inverse_gamma(m_sq, 12.5, 112.5) + jnp.sum(inverse_gamma(xi_sq, 12.5, 12.5))
        total += inverse_gamma(psi_sq, 12.5, 12.5) if prior.quadratic else 0.0
        m = jnp.sqrt(m_sq)
        kappa = m * lam / jnp.sqrt(m_sq + eta1**2 * lam**2)
        eta = [1.0, eta1, *((eta1 / m) ** q * jnp.sqrt(xi_sq[q - 2]) for q in range(2, prior.degree + 1))]
        sizes = jnp.stack([3.0, *eta[1:], eta1**2 / m_sq * jnp.sqrt(psi_sq)])
        S = sizes[kinds] ** 2 * jnp.exp(counts @ jnp.log(kappa**2))
        covariance = (Phi * S) @ Phi.T + jnp.diag(sigma**2 / w)
        total += jax.scipy.stats.multivariate_normal.logpdf(design.y, jnp.zeros(design.n), covariance)
        return total - 0.5 * jnp.sum(jnp.log(w)) - 0.5 * jnp.sum(w - 1) * jnp.log(2 * jnp.pi * sigma**2)

    x = position(Posterior(design, prior, Gaussian(), KernelSpace(design)), seed=1)
    with jax.enable_x64(True):
        value, automatic = jax.jit(jax.value_and_grad(log_density))(jnp.asarray(x))
    for engine in engines(design, prior):
        posterior = Posterior(design, prior, Gaussian(), engine)
        density = posterior.gradient(x)
        assert density.value == pytest.approx(float(value), rel=1e-9)
        np.testing.assert_allclose(density.gradient, automatic, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("place", [0, 1, 2, -1])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e4, 400.0, -400.0])
def test_nowhere_an_exception(bad: float, place: int) -> None:
    design = make_design(32, n=10, numbers=3, factors=[])
    for engine in [*engines(design, SKIM()), KernelSpace(design, precision="float32")]:
        posterior = Posterior(design, SKIM(), Gaussian(), engine)
        x = posterior.sample_prior(np.random.default_rng(1))
        x[place] = bad
        density = posterior.gradient(x)
        assert not np.isnan(density.value)
        assert np.isfinite(density.value) or density.value == -np.inf
        assert np.all(np.isfinite(density.gradient))
        assert not np.isnan(posterior.log_density(x))
        if (place == 0 and abs(bad) != 400.0) or np.isnan(bad):
            assert posterior.log_density(x) == density.value == -np.inf
            assert not np.any(density.gradient)


def test_a_prior_that_does_not_fit_is_refused() -> None:
    design = make_design(34, n=10, numbers=3, factors=[])
    with pytest.raises(ValueError, match="must be below 3"):
        Posterior.of(design, SKIM(expected_mains=9), Gaussian())


def test_coordinates_have_names_and_variables() -> None:
    design = make_design(35, n=10, numbers=2, factors=[3])
    posterior = Posterior.of(design, SKIM(degree=3), Gaussian())
    names = ("log_sigma", "log_eta1", "log_m_sq", "log_xi_sq2", "log_xi_sq3", "log_psi_sq")
    assert posterior.coordinates == (*names, *(f"log_lam[{name}]" for name in design.names))
    assert posterior.dimension == posterior.sample_prior(np.random.default_rng(0)).size == 9
    assert posterior.local.tolist() == [6, 7, 8]
    assert posterior.local_variable.tolist() == [0, 1, 2]
    block = Posterior.of(design, BlockDegree(degree=3), Gaussian())
    assert block.coordinates == ("log_sigma", "log_eta1", "log_eta_order2", "log_eta_order3", "log_eta3")
    assert block.local.size == block.local_variable.size == 0


@each_prior
def test_several_positions_at_once_are_each_position(prior: Prior) -> None:
    design = some_design([3], weighted=True)
    posterior = Posterior(design, prior, Gaussian(), KernelSpace(design))
    X = np.stack([position(posterior, seed) for seed in range(3)])
    together = posterior.constrain(X)
    stack = posterior.variances(together)
    for k, x in enumerate(X):
        alone = posterior.constrain(x)
        assert set(alone) == set(together)
        for name, value in alone.items():
            np.testing.assert_allclose(together[name][k], value, rtol=1e-14)
        variances = posterior.variances(alone)
        one, other = (
            posterior.engine.log_likelihood(v, posterior.working(alone)) for v in (stack[k], variances)
        )
        assert one.value == pytest.approx(other.value, rel=1e-12)


def test_position_of_some_variables_is_where_they_matter() -> None:
    design = some_design([3], weighted=True)
    posterior = Posterior.of(design, SKIM(), Gaussian())
    included = np.array([[True, False, False, True], [False, True, False, False]])
    x = posterior.position_of(included, np.array([0.5, 0.2]), np.log([0.7, 0.9]))
    values = posterior.constrain(x)
    np.testing.assert_allclose(values["sigma"], [0.7, 0.9])
    sizes = values["eta1"][:, None] * values["kappa"]
    np.testing.assert_allclose(sizes[included], [0.5, 0.5, 0.2], rtol=1e-6)
    assert all(np.isfinite(posterior.log_density(one)) for one in x)
    with pytest.raises(TypeError, match="no local scales"):
        Posterior.of(design, BlockDegree(), Gaussian()).position_of(included, np.ones(2), np.zeros(2))
