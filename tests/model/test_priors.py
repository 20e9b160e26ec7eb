"""Priors: normalised densities, draws that follow them, and settings refused in words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from interplay.model.polynomial import TwoWayKernel
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
from interplay.model.priors import distributions as dist

N, P = 30, 4
KERNEL = TwoWayKernel(np.full((1, P), 0.5), np.full(P, 0.2), np.full(P, 0.1), 0.5, ((0, 2),), (0.3,))
PRIORS: list[Prior] = [
    SKIM(),
    SKIM(quadratic=False, degree=3),
    BlockDegree(),
    BlockDegree(quadratic=False, degree=4),
    TwoWay(KERNEL),
]


@pytest.mark.parametrize(
    ("density", "law"),
    [
        (lambda x: dist.half_cauchy(x, jnp.log(0.3)), stats.halfcauchy(scale=0.3)),
        (lambda x: dist.half_normal(x, 2.0), stats.halfnorm(scale=2.0)),
        (lambda x: dist.inverse_gamma(x, 12.5, 112.5), stats.invgamma(12.5, scale=112.5)),
    ],
)
def test_densities_of_logarithms(density: object, law: object) -> None:
    for x in (0.01, 0.5, 3.0, 40.0):
        expected = law.logpdf(x) + np.log(x)
        assert float(density(jnp.log(x))) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("sample", "law"),
    [
        (lambda key: dist.sample_half_cauchy(key, jnp.log(0.3)), stats.halfcauchy(scale=0.3)),
        (lambda key: dist.sample_half_normal(key, 2.0), stats.halfnorm(scale=2.0)),
        (lambda key: dist.sample_inverse_gamma(key, 12.5, 112.5), stats.invgamma(12.5, scale=112.5)),
    ],
)
def test_draws_of_logarithms(sample: object, law: object) -> None:
    draws = np.exp(jax.vmap(sample)(jax.random.split(jax.random.key(0), 4000)))
    assert stats.kstest(draws, law.cdf).pvalue > 0.01


def skim_by_hand(prior: SKIM, position: dict, n: int, p: int) -> float:
    """Appendix D, line by line, with scipy's densities and the Jacobian of the logarithms."""
    s = min(5, p / 2)
    sigma, eta1 = np.exp(position["log_sigma"]), np.exp(position["log_eta1"])
    lam, m_sq = np.exp(position["log_lam"]), np.exp(position["log_m_sq"])
    xi_sq = np.exp(position["log_xi_sq"])
    phi = s / (p - s) * sigma / np.sqrt(n)
    total = stats.halfnorm(scale=2.0).logpdf(sigma) + stats.invgamma(12.5, scale=112.5).logpdf(m_sq)
    total += stats.invgamma(12.5, scale=12.5).logpdf(xi_sq).sum()
    total += stats.halfcauchy(scale=phi).logpdf(eta1) + stats.halfcauchy.logpdf(lam).sum()
    if prior.quadratic:
        total += stats.invgamma(12.5, scale=12.5).logpdf(np.exp(position["log_psi_sq"]))
    return float(total + sum(np.sum(value) for value in position.values()))


@pytest.mark.parametrize("prior", [SKIM(), SKIM(quadratic=False, degree=3)])
def test_skim_density_by_hand(prior: SKIM) -> None:
    position = prior.sample(jax.random.key(1), N, P)
    assert float(prior.log_density(position, N, P)) == pytest.approx(skim_by_hand(prior, position, N, P))


def test_skim_hyperparameters_by_hand() -> None:
    prior = SKIM(degree=3)
    position = prior.sample(jax.random.key(2), N, P)
    values = prior.constrain(position, N, P)
    eta1, m = np.exp(position["log_eta1"]), np.exp(0.5 * position["log_m_sq"])
    lam, xi = np.exp(position["log_lam"]), np.exp(0.5 * position["log_xi_sq"])
    np.testing.assert_allclose(values["kappa"], m * lam / np.sqrt(m**2 + eta1**2 * lam**2))
    np.testing.assert_allclose(values["eta2"], eta1**2 / m**2 * xi[0])
    np.testing.assert_allclose(values["eta3"], eta1**2 / m**2 * np.exp(0.5 * position["log_psi_sq"]))
    np.testing.assert_allclose(values["eta_higher"], [eta1**3 / m**3 * xi[1]])
    np.testing.assert_allclose(values["sigma"], np.exp(position["log_sigma"]))
    S = prior.variances(values, P)
    np.testing.assert_allclose(
        S.orders[0], [values["eta1"] ** 2, values["eta2"] ** 2, values["eta_higher"][0] ** 2]
    )


def test_skim_stays_finite_for_extreme_positions() -> None:
    prior = SKIM()
    for shift in (-300.0, 300.0):
        position = prior.sample(jax.random.key(3), N, P)
        position["log_lam"] = position["log_lam"] + shift
        values = prior.constrain(position, N, P)
        assert all(np.all(np.isfinite(value)) for value in values.values())
        assert np.isfinite(prior.log_density(position, N, P))


@pytest.mark.parametrize("prior", PRIORS)
def test_every_prior_gives_what_is_asked(prior: Prior) -> None:
    position = prior.sample(jax.random.key(4), N, P)
    prior.check(P)
    assert np.isfinite(prior.log_density(position, N, P))
    values = prior.constrain(position, N, P)
    assert {"sigma", "intercept_scale"} <= set(values)
    S = prior.variances(values, P)
    assert S.degree == prior.degree
    assert S.pairs == prior.pairs
    assert float(S.intercept) == pytest.approx(float(values["intercept_scale"]) ** 2)
    gradient = jax.grad(prior.log_density)(position, N, P)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradient))


@pytest.mark.parametrize("prior", [TwoWay(KERNEL), BlockDegree(quadratic=False)])
def test_density_of_noise_integrates_to_one(prior: Prior) -> None:
    others = prior.sample(jax.random.key(5), N, P)
    del others["log_sigma"]
    at = jnp.zeros(())
    offset = prior.log_density({**others, "log_sigma": at}, N, P) - dist.half_normal(at, 2.0)

    def density(log_sigma: float) -> float:
        position = {**others, "log_sigma": jnp.asarray(log_sigma)}
        return float(jnp.exp(prior.log_density(position, N, P) - offset))

    assert quad(density, -30, 5)[0] == pytest.approx(1.0, abs=1e-6)


def test_two_way_induces_the_variances_of_the_theorem() -> None:
    prior = TwoWay(KERNEL)
    S = prior.variances(prior.constrain({"log_sigma": jnp.zeros(())}, N, P), P)
    from interplay.model.variances import term_variances

    terms = [((), False), ((1,), False), ((1,), True), ((0, 2), False), ((0, 1), False)]
    variables = np.full((len(terms), 2), -1)
    for row, (term, _) in enumerate(terms):
        variables[row, : len(term)] = term
    got = term_variances(S, jnp.asarray(variables), jnp.asarray([square for _, square in terms]))
    by_theorem = [KERNEL.variance(term * 2 if square else term) for term, square in terms]
    np.testing.assert_allclose(got, by_theorem)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SKIM(expected_mains=5).check(5), r"must be below 5. Leave it out for 2.5"),
        (lambda: SKIM(expected_mains=1).check(1), r"must be below 1. Leave it out for 0.5"),
        (lambda: SKIM(expected_mains=-1), "expected_mains=-1"),
        (lambda: SKIM(noise_scale=0.0), "noise_scale=0.0"),
        (lambda: SKIM(degree=1), "degree=1"),
        (lambda: BlockDegree(main_scale=float("inf")), "main_scale=inf"),
        (lambda: BlockDegree(degree=True), "degree=True"),
        (lambda: TwoWay(KERNEL).check(7), "is for 4 variables, the data have 7"),
        (lambda: TwoWay(TwoWayKernel(np.ones((1, 3)), np.ones(2), np.ones(2))), "lam"),
        (lambda: TwoWay(TwoWayKernel(np.ones((1, 2)), np.full(2, -9.0), np.ones(2))), "mains"),
        (lambda: TwoWay(TwoWayKernel(np.ones((1, 2)), np.ones(2), np.ones(2), -2.0)), "intercept"),
        (lambda: TwoWay(TwoWayKernel([[1.0, np.nan]], [1.0, 1.0], [1.0, 1.0])), "mains"),
        (lambda: TwoWay(TwoWayKernel([[1, 1]], [1, 1], [1, 1], 0, ((0, 1), (0, 1)), (1.0, 1.0))), "pairs"),
        (lambda: TwoWay.from_variances(4, mains=np.ones(3), pairs=1.0), "mains have shape"),
    ],
)
def test_wrong_settings_are_refused_in_words(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_one_variable_needs_no_pairs() -> None:
    prior = TwoWay.from_variances(1, mains=2.0, pairs=1.0, squares=1.0)
    assert (prior.kernel.variance((0,)), prior.kernel.variance((0, 0))) == (2.0, 1.0)


def test_expected_mains_defaults_to_half_of_few_variables() -> None:
    for p, s in ((2, 1.0), (4, 2.0), (50, 5.0)):
        SKIM().check(p)
        position = SKIM().sample(jax.random.key(6), N, p)
        explicit = SKIM(expected_mains=s).log_density(position, N, p)
        assert float(SKIM().log_density(position, N, p)) == float(explicit)
