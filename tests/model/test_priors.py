"""Priors and families: normalised densities, draws that follow them, and settings refused in words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from strategies import make_design

from interplay.model import distributions as dist
from interplay.model.families import Gaussian
from interplay.model.paper_kernels import TwoWayKernel
from interplay.model.priors import SKIM, BlockDegree, Prior, Scale, TwoWay
from interplay.model.term_variances import term_variances

N, P = 30, 4
SCALE = Scale(N, P, np.log(0.7))
KERNEL = TwoWayKernel(np.full((1, P), 0.5), np.full(P, 0.2), np.full(P, 0.1), 0.5, ((0, 2),), (0.3,))
PRIORS: list[Prior] = [
    SKIM(),
    SKIM(quadratic=False),
    SKIM(quadratic=False, degree=3),
    BlockDegree(),
    BlockDegree(quadratic=False, degree=4),
    TwoWay(KERNEL),
]
LAWS = [
    (lambda x: dist.half_cauchy(x, np.log(0.3)), stats.halfcauchy(scale=0.3)),
    (lambda x: dist.half_normal(x, 2.0), stats.halfnorm(scale=2.0)),
    (lambda x: dist.inverse_gamma(x, 12.5, 112.5), stats.invgamma(12.5, scale=112.5)),
]


def draw(prior: Prior, seed: int, scale: Scale = SCALE) -> np.ndarray:
    return prior.sample(np.random.default_rng(seed), scale)


def named(prior: Prior, t: np.ndarray) -> dict[str, np.ndarray]:
    """The coordinates by their names, those of the variables as one array."""
    values = dict(zip(prior.coordinates(P), t, strict=False))
    at = len(values)
    for name, variables in prior.local_coordinates(P).items():
        values[name] = t[at : at + variables.size]
        at += variables.size
    assert at == t.size
    return values


@pytest.mark.parametrize(("density", "law"), LAWS)
def test_densities_of_logarithms(density: object, law: object) -> None:
    for x in (0.01, 0.5, 3.0, 40.0):
        expected = law.logpdf(x) + np.log(x)
        value, slope = density(np.log(x))
        assert float(value) == pytest.approx(expected, rel=1e-10)
        step = 1e-6
        difference = (density(np.log(x) + step)[0] - density(np.log(x) - step)[0]) / (2 * step)
        assert float(slope) == pytest.approx(float(difference), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("density", "law"), LAWS)
def test_densities_integrate_to_one(density: object, law: object) -> None:
    centre = np.log(law.median())
    total = quad(lambda x: float(np.exp(density(x)[0])), centre - 40, centre + 40, points=[centre], limit=200)
    assert total[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("sample", "law"),
    [
        (lambda random: dist.sample_half_cauchy(random, np.log(0.3), 4000), stats.halfcauchy(scale=0.3)),
        (lambda random: dist.sample_half_normal(random, 2.0, 4000), stats.halfnorm(scale=2.0)),
        (
            lambda random: dist.sample_inverse_gamma(random, 12.5, 112.5, 4000),
            stats.invgamma(12.5, scale=112.5),
        ),
    ],
)
def test_draws_of_logarithms(sample: object, law: object) -> None:
    draws = np.exp(sample(np.random.default_rng(0)))
    assert stats.kstest(draws, law.cdf).pvalue > 0.01


def laws_by_hand(prior: Prior, sigma: float, n: int, p: int) -> dict[str, object]:
    """Appendix D and C.1, line by line: the law of each coordinate's exponential."""
    if isinstance(prior, BlockDegree):
        return dict.fromkeys(prior.coordinates(p), stats.halfnorm(scale=1.0))
    s = min(5, p / 2)
    laws = {
        "log_eta1": stats.halfcauchy(scale=s / (p - s) * sigma / np.sqrt(n)),
        "log_m_sq": stats.invgamma(12.5, scale=112.5),
        "log_lam": stats.halfcauchy(),
    }
    interactions = [name for name in prior.coordinates(p) if name not in laws]
    assert len(interactions) == prior.degree - 1 + prior.quadratic
    return laws | dict.fromkeys(interactions, stats.invgamma(12.5, scale=12.5))


@pytest.mark.parametrize("prior", PRIORS[:-1])
def test_density_by_hand(prior: Prior) -> None:
    t = draw(prior, 1)
    laws = laws_by_hand(prior, 0.7, N, P)
    total = sum(np.sum(laws[name].logpdf(np.exp(x)) + x) for name, x in named(prior, t).items())
    assert prior.log_density(t, SCALE).value == pytest.approx(float(total))


@pytest.mark.parametrize("prior", PRIORS[:-1])
def test_draws_follow_the_density(prior: Prior) -> None:
    random = np.random.default_rng(3)
    draws = [named(prior, prior.sample(random, SCALE)) for _ in range(1500)]
    for name, law in laws_by_hand(prior, 0.7, N, P).items():
        values = np.exp(np.concatenate([np.atleast_1d(one[name]) for one in draws]))
        assert stats.kstest(values, law.cdf).pvalue > 1e-3, name
        # The median's standard error, on the scale of probabilities.
        assert abs(law.cdf(np.median(values)) - 0.5) < 4.5 * 0.5 / np.sqrt(values.size), name


@pytest.mark.parametrize("prior", PRIORS)
def test_gradient_is_differences(prior: Prior) -> None:
    t = draw(prior, 4)
    density, step = prior.log_density(t, SCALE), 1e-6
    differences = [
        (prior.log_density(t + e, SCALE).value - prior.log_density(t - e, SCALE).value) / (2 * step)
        for e in step * np.eye(t.size)
    ]
    np.testing.assert_allclose(density.gradient, np.array(differences), rtol=1e-6, atol=1e-7)
    above, below = (
        prior.log_density(t, Scale(N, P, SCALE.log_noise + sign * step)).value for sign in (1, -1)
    )
    assert density.by_log_noise == pytest.approx((above - below) / (2 * step), rel=1e-6, abs=1e-7)


def test_skim_hyperparameters_by_hand() -> None:
    prior = SKIM(degree=3)
    t = draw(prior, 2)
    position, values = named(prior, t), prior.constrain(t, P)
    eta1, m = np.exp(position["log_eta1"]), np.exp(0.5 * position["log_m_sq"])
    lam, xi = np.exp(position["log_lam"]), [np.exp(0.5 * position[f"log_xi_sq{q}"]) for q in (2, 3)]
    np.testing.assert_allclose(values["kappa"], m * lam / np.sqrt(m**2 + eta1**2 * lam**2))
    np.testing.assert_allclose(values["eta2"], eta1**2 / m**2 * xi[0])
    np.testing.assert_allclose(values["eta3"], eta1**2 / m**2 * np.exp(0.5 * position["log_psi_sq"]))
    np.testing.assert_allclose(values["eta_higher"], [eta1**3 / m**3 * xi[1]])
    S = prior.variances(values, P)
    np.testing.assert_allclose(
        S.symmetric[0].orders, [values["eta1"] ** 2, values["eta2"] ** 2, values["eta_higher"][0] ** 2]
    )


def test_skim_stays_finite_for_extreme_positions() -> None:
    prior = SKIM()
    for shift in (-300.0, 300.0):
        t = draw(prior, 3)
        t[-P:] += shift
        values = prior.constrain(t, P)
        assert all(np.all(np.isfinite(value)) for value in values.values())
        assert np.isfinite(prior.log_density(t, SCALE).value)


@pytest.mark.parametrize("prior", PRIORS)
def test_every_prior_gives_what_is_asked(prior: Prior) -> None:
    t = draw(prior, 4)
    prior.check(P)
    assert t.size == len(prior.coordinates(P)) + sum(v.size for v in prior.local_coordinates(P).values())
    density = prior.log_density(t, SCALE)
    assert np.isfinite(density.value)
    values = prior.constrain(t, P)
    assert "intercept_scale" in values
    S = prior.variances(values, P)
    assert S.degree == prior.degree
    assert S.p == P
    assert S.pairs == (KERNEL.pairs if isinstance(prior, TwoWay) else ())
    assert float(S.intercept) == pytest.approx(float(values["intercept_scale"]) ** 2)
    assert np.all(np.isfinite(density.gradient))
    assert prior.has_local_scales == bool(prior.local_coordinates(P))


def test_density_of_noise_integrates_to_one() -> None:
    def density(log_sigma: float) -> float:
        return float(np.exp(Gaussian().log_prior(np.array([log_sigma]))[0]))

    assert quad(density, -30, 5)[0] == pytest.approx(1.0, abs=1e-6)


class TestGaussian:
    """The family with normal noise."""

    def test_prior_is_half_normal_with_its_gradient(self) -> None:
        family, law = Gaussian(noise_scale=1.5), stats.halfnorm(scale=1.5)
        for u in (-2.0, 0.3, 1.1):
            value, gradient = family.log_prior(np.array([u]))
            assert value == pytest.approx(law.logpdf(np.exp(u)) + u, rel=1e-10)
            above, below = (family.log_prior(np.array([u + e]))[0] for e in (1e-6, -1e-6))
            assert gradient[0] == pytest.approx((above - below) / 2e-6, rel=1e-6)
        random = np.random.default_rng(1)
        draws = np.exp([family.sample(random)[0] for _ in range(3000)])
        assert stats.kstest(draws, law.cdf).pvalue > 0.01

    def test_scale_is_the_noise(self) -> None:
        u = np.array([0.4])
        value, gradient = Gaussian().log_scale(u)
        assert (float(value), gradient.tolist()) == (0.4, [1.0])
        np.testing.assert_array_equal(Gaussian().position_of(np.array([0.1, 0.2])), [[0.1], [0.2]])
        parameters = Gaussian().constrain(np.array([[0.1], [0.2]]))
        np.testing.assert_allclose(Gaussian().observation_variance(parameters), np.exp([0.2, 0.4]))
        np.testing.assert_allclose(Gaussian().by_log_variance(3.0), [6.0])

    def test_a_weight_counts_as_copies(self) -> None:
        design = make_design(1, n=9, numbers=2, factors=[])
        assert Gaussian().log_factor(np.zeros(1), design) == (0.0, 0.0)
        w, f, sigma = np.array([1.0, 2.0, 3.0] * 3), np.linspace(-1, 1, 9), 0.6
        from dataclasses import replace

        weighted = replace(design, weights=w)
        working = Gaussian().working({"sigma": np.asarray(sigma)}, weighted)
        np.testing.assert_allclose(working.noise, sigma**2 / w)
        mine = stats.norm(f, np.sqrt(working.noise)).logpdf(working.response).sum()
        factor, slope = Gaussian().log_factor(np.log([sigma]), weighted)
        copied = (w * stats.norm(f, sigma).logpdf(design.y)).sum()
        assert mine + factor == pytest.approx(float(copied), rel=1e-12)
        above, below = (Gaussian().log_factor(np.log([sigma]) + e, weighted)[0] for e in (1e-6, -1e-6))
        assert 2.0 * slope == pytest.approx((above - below) / 2e-6, rel=1e-6)

    def test_response_has_its_weighted_moments(self) -> None:
        y, w = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])
        copies = np.repeat(y, w.astype(int))
        assert Gaussian().scale_response(y, w) == pytest.approx((copies.mean(), copies.std()))
        assert Gaussian().scale_response(y, None) == pytest.approx((y.mean(), y.std()))


def test_two_way_induces_the_variances_of_the_theorem() -> None:
    prior = TwoWay(KERNEL)
    S = prior.variances(prior.constrain(np.zeros(0), P), P)
    terms = [((), False), ((1,), False), ((1,), True), ((0, 2), False), ((0, 1), False)]
    variables = np.full((len(terms), 2), -1)
    for row, (term, _) in enumerate(terms):
        variables[row, : len(term)] = term
    got = term_variances(S, variables, np.array([square for _, square in terms]))
    by_theorem = [KERNEL.variance(term * 2 if square else term) for term, square in terms]
    np.testing.assert_allclose(got, by_theorem)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SKIM(expected_mains=5).check(5), r"must be below 5. Leave it out for 2.5"),
        (lambda: SKIM(expected_mains=1).check(1), r"must be below 1. Leave it out for 0.5"),
        (lambda: SKIM(expected_mains=-1), "expected_mains=-1"),
        (lambda: Gaussian(noise_scale=0.0), "noise_scale=0.0"),
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
        scale = Scale(N, p)
        t = draw(SKIM(), 6, scale)
        explicit = SKIM(expected_mains=s).log_density(t, scale).value
        assert SKIM().log_density(t, scale).value == explicit


@pytest.mark.parametrize("seed", range(5))
def test_local_scales_are_the_variances_of_main_effects(seed: int) -> None:
    random = np.random.default_rng(seed)
    prior, p = SKIM(degree=2 + seed % 2, quadratic=seed % 3 > 0), 6
    t = prior.sample(random, Scale(50, p))
    scales = prior.local_scales(t)
    local = t[-p:]
    variances = prior.variances(prior.constrain(t, p), p)
    mains = term_variances(variances, np.arange(p)[:, None], np.zeros(p, dtype=bool))
    assert_allclose(np.exp(scales.log_weight(local)), mains, rtol=1e-10)
    inside = local < 10 - scales.log_ratio
    assert_allclose(scales.local(scales.log_weight(local))[inside], local[inside], rtol=1e-6)
