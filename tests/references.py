"""Posteriors of all effects without code of the sampler: quadrature, FULL and marginal NUTS."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpyro.diagnostics import effective_sample_size
from oracles import directions, features
from scipy.special import ndtri
from scipy.stats import chi2, qmc

from interplay.baselines.full import full
from interplay.baselines.plain import marginal_nuts
from interplay.data.design import Design, design
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM, BlockDegree, Prior
from interplay.model.terms import Term, interactions, mains, quadratics

TAIL = 5.0
"""Degrees of freedom of the importance density, whose tails must be longer than those of the posterior."""

ROUNDS = 8
"""Fits of the importance density, each from points of the one before."""

NOISE_SCALE = float(Gaussian().noise_scale)
"""Scale of the half-normal prior of the noise."""

BATCH = 2**12
"""Points of the quadrature evaluated together."""


@dataclass(frozen=True)
class Reference:
    """Posterior means and standard deviations of effects, with the standard errors of both.

    `terms` are all mains, pairs and (if the prior has them) squares, as tuples of columns.
    """

    terms: list[Term]
    mean: np.ndarray
    sd: np.ndarray
    mean_error: np.ndarray
    sd_error: np.ndarray


def all_effects(data: Design, prior: Prior) -> list[Term]:
    """Mains, pairs and, if the prior has them, squares."""
    squares = quadratics(data) if prior.quadratic else []
    return [*mains(data), *interactions(data, range(data.p)), *squares]


def reference_problems() -> dict[str, Design]:
    """Three small data sets of different kind."""
    random = np.random.default_rng(20190601)
    x = random.normal(size=(40, 2))
    strong = x[:, 0] + 1.5 * x[:, 0] * x[:, 1] + 0.5 * random.normal(size=40)

    common = random.normal(size=(60, 1))
    z = np.sqrt(0.6) * common + np.sqrt(0.4) * random.normal(size=(60, 6))
    weak = 0.4 * z[:, 0] + 0.3 * z[:, 1] * z[:, 2] + random.normal(size=60)

    levels = random.permutation(np.arange(60) % 3)
    treated = random.permutation(np.arange(60) % 2)
    w = random.normal(size=(60, 3))
    mixed = (
        np.array([-0.8, 0.1, 0.7])[levels] + w[:, 0] * (levels == 2) + 0.6 * w[:, 1] * treated
    ) + 0.6 * random.normal(size=60)
    frame = pd.DataFrame({"dose": w[:, 0], "site": np.array(["Bergen", "Lund", "Oulu"])[levels]})
    frame = frame.assign(age=w[:, 1], treated=treated, mass=w[:, 2])
    return {
        "two numbers, strong interaction": design(x, strong),
        "six correlated numbers, weak signal": design(z, weak),
        "a factor, numbers and a binary": design(frame, mixed),
    }


def factor_and_two_numbers() -> Design:
    """A factor of three levels that acts with a number, and a number that does little."""
    random = np.random.default_rng(7)
    levels, x = random.permutation(np.arange(40) % 3), random.normal(size=(40, 2))
    y = np.array([-1.0, 0.0, 1.0])[levels] + 1.5 * x[:, 0] * (levels == 0) + 0.4 * random.normal(size=40)
    return design(pd.DataFrame({"a": x[:, 0], "site": np.array(["N", "S", "W"])[levels], "b": x[:, 1]}), y)


def by_full(
    data: Design,
    prior: SKIM | BlockDegree,
    *,
    seed: int = 0,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
) -> Reference:
    """Effects of the explicit joint model over (θ, τ, σ), by NumPyro's NUTS.

    Pairs of a weak signal are nearly always near zero and rarely large (a kurtosis of 1000 in the second
    problem): some hundred draws see too little of that tail, and the standard error even of many thousand
    says too little about the sd. Compare the sds of such effects with `by_quadrature`.
    """
    sampled = full(data, prior, seed=seed, chains=chains, warmup=warmup, draws=draws)
    terms = all_effects(data, prior)
    chosen = sampled.effects[..., [sampled.terms.index(term) for term in terms]]
    return _summary(terms, chosen, np.zeros_like(chosen))


def by_plain(
    data: Design, prior: SKIM, *, seed: int = 0, chains: int = 4, warmup: int = 1000, draws: int = 1000
) -> Reference:
    """Effects of the marginal model by NumPyro's NUTS, with the weight-space posterior of each draw."""
    sampled = marginal_nuts(data, prior, seed=seed, chains=chains, warmup=warmup, draws=draws).draws
    flat = {name: value.reshape(chains * draws, *value.shape[2:]) for name, value in sampled.items()}
    terms = all_effects(data, prior)
    _, means, variances = _conditional(data, prior, terms, flat)
    shape = chains, draws, len(terms)
    return _summary(terms, means.reshape(shape), variances.reshape(shape))


def by_quadrature(data: Design, prior: SKIM, *, points: int = 2**16, seed: int = 0) -> Reference:
    """Effects by importance sampling of the hyperparameters at scrambled Sobol points.

    The importance density is a Student t in the logarithms of the hyperparameters, with the moments of the
    posterior. Eight independent scramblings give the standard errors. Good for all of `reference_problems`.
    """
    terms = all_effects(data, prior)
    scale = _fitted(data, prior, terms)
    parts = []
    for repeat in range(8):
        log_weight, _, means, variances = _weighted(data, prior, terms, scale, points // 8, 8 * seed + repeat)
        assert _effective(log_weight) > 0.1, "the importance density does not fit the posterior"
        weight = np.exp(log_weight - log_weight.max())
        parts.append([log_weight.max(), weight.sum(), weight @ means, weight @ (variances + means**2)])
    tops = np.array([part[0] for part in parts])
    rescale = np.exp(tops - tops.max())
    total = rescale * np.array([part[1] for part in parts])
    first = rescale[:, None] * np.array([part[2] for part in parts])
    second = rescale[:, None] * np.array([part[3] for part in parts])
    mean = first.sum(axis=0) / total.sum()
    sd = np.sqrt(second.sum(axis=0) / total.sum() - mean**2)
    # Standard errors of ratios of sums over the scramblings.
    share = total.mean()
    mean_error = np.std(first - mean * total[:, None], axis=0, ddof=1) / share / np.sqrt(8)
    spread = second - 2.0 * mean * first + (mean**2 - sd**2) * total[:, None]
    sd_error = np.std(spread, axis=0, ddof=1) / share / np.sqrt(8) / (2.0 * sd)
    return Reference(terms, mean, sd, mean_error, sd_error)


def z_scores(a: Reference, b: Reference) -> tuple[np.ndarray, np.ndarray]:
    """Differences of the means and of the standard deviations, in units of their standard errors."""
    assert a.terms == b.terms
    mean_error = np.hypot(a.mean_error, b.mean_error)
    sd_error = np.hypot(a.sd_error, b.sd_error)
    return (a.mean - b.mean) / mean_error, (a.sd - b.sd) / sd_error


def _summary(terms: list[Term], means: np.ndarray, variances: np.ndarray) -> Reference:
    """Moments over chains and draws of Gaussians with these means and variances, (chains, draws, t)."""
    mean = means.mean(axis=(0, 1))
    spread = variances + (means - mean) ** 2
    sd = np.sqrt(spread.mean(axis=(0, 1)))
    return Reference(terms, mean, sd, standard_error(means), standard_error(spread) / (2.0 * sd))


def standard_error(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean of draws, (chains, draws, t).

    Chains are cut in halves, so that a chain that drifts, or differs from the others, counts as few draws.
    """
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])
    size = np.minimum(effective_sample_size(halves), halves.shape[0] * half)
    return np.std(halves, axis=(0, 1), ddof=1) / np.sqrt(size)


def _conditional(
    data: Design, prior: SKIM, terms: list[Term], draws: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log p(y | τ, σ), and mean and variance of each effect, for each draw, in weight space.

    With B = I + S^½ ΦᵀΦ S^½ / σ² the coefficients have covariance S^½ B⁻¹ S^½.
    """
    assert data.weights is None
    basis = [(), *terms]
    Phi, R = features(data.X, basis), directions(data, terms, basis)
    eta = {1: draws["eta1"], 2: draws["eta2"], "square": draws["eta3"]}
    scale = [np.broadcast_to(float(prior.intercept_scale), draws["sigma"].shape)]
    for term in terms:
        order = "square" if len(set(term)) < len(term) else len(term)
        scale.append(eta[order] * np.prod(draws["kappa"][:, data.owner[list(term)]], axis=1))
    s, noise = np.stack(scale, axis=1), draws["sigma"] ** 2

    B = np.eye(len(basis)) + s[:, :, None] * (Phi.T @ Phi) * s[:, None, :] / noise[:, None, None]
    lower = np.linalg.cholesky(B)
    whitened = np.linalg.solve(lower, (s * (Phi.T @ data.y))[:, :, None])[:, :, 0]
    root = np.linalg.solve(lower, s[:, :, None] * R.T)
    log_det = data.n * np.log(noise) + 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    fit = (data.y @ data.y - (whitened**2).sum(axis=1) / noise) / noise
    log_likelihood = -0.5 * (fit + log_det + data.n * np.log(2.0 * np.pi))
    means = np.einsum("sd,sdt->st", whitened, root) / noise[:, None]
    return log_likelihood, means, (root**2).sum(axis=1)


def _hyperparameters(data: Design, prior: SKIM, u: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Unnormalised log prior of log(σ, η1, m², ξ², ψ², λ), the Jacobian included, and the paper's symbols."""
    sigma, eta1, m_sq, xi_sq, psi_sq = np.exp(u[:, :5]).T
    lam = np.exp(u[:, 5:])
    s = min(5.0, data.p / 2) if prior.expected_mains is None else float(prior.expected_mains)
    phi = s / (data.p - s) * sigma / np.sqrt(data.n)
    log_prior = u.sum(axis=1) - 0.5 * (sigma / NOISE_SCALE) ** 2
    log_prior -= np.log(phi) + np.log1p((eta1 / phi) ** 2) + np.log1p(lam**2).sum(axis=1)
    for x, shape, scale in [
        (m_sq, prior.main_shape, prior.main_scale),
        (xi_sq, prior.interaction_shape, prior.interaction_scale),
        (psi_sq, prior.interaction_shape, prior.interaction_scale),
    ]:
        log_prior -= (shape + 1.0) * np.log(x) + scale / x
    # Without squares ψ² is a dimension that the data do not see.
    eta2, eta3 = eta1**2 * np.sqrt(xi_sq) / m_sq, prior.quadratic * eta1**2 * np.sqrt(psi_sq) / m_sq
    kappa = np.sqrt(m_sq[:, None]) * lam / np.sqrt(m_sq[:, None] + (eta1[:, None] * lam) ** 2)
    return log_prior, {"sigma": sigma, "eta1": eta1, "eta2": eta2, "eta3": eta3, "kappa": kappa}


def _log_posterior(
    data: Design, prior: SKIM, terms: list[Term], u: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    log_prior, draws = _hyperparameters(data, prior, u)
    log_likelihood, means, variances = _conditional(data, prior, terms, draws)
    return log_prior + log_likelihood, means, variances


def _fitted(data: Design, prior: SKIM, terms: list[Term]) -> tuple[np.ndarray, np.ndarray]:
    """Centre and lower factor of the importance density: from about the prior's, to the posterior's moments.

    Weights that a few points dominate are flattened, until at least a twentieth of the points count.
    """
    centre = np.r_[-0.5, -1.0, np.log(9.0), 0.0, 0.0, np.zeros(data.p)]
    lower = np.diag(np.r_[0.5, 1.5, 0.3, 0.3, 0.3, np.full(data.p, 1.5)])
    for seed in range(ROUNDS):
        log_weight, u, _, _ = _weighted(data, prior, terms, (centre, lower), 2**13, 1000 + seed)
        while _effective(log_weight) < 0.05:
            log_weight = 0.7 * log_weight
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        centre = weight @ u
        lower = np.linalg.cholesky(((u - centre).T * weight) @ (u - centre))
    return centre, lower


def _effective(log_weight: np.ndarray) -> float:
    """The fraction of weighted points that count."""
    weight = np.exp(log_weight - log_weight.max())
    return float(weight.mean() ** 2 / np.mean(weight**2))


def _weighted(
    data: Design,
    prior: SKIM,
    terms: list[Term],
    scale: tuple[np.ndarray, np.ndarray],
    points: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    u, log_density = _student(*scale, points, seed)
    parts = [_log_posterior(data, prior, terms, batch) for batch in _batches(u)]
    value, means, variances = (np.concatenate(part) for part in zip(*parts, strict=True))
    return value - log_density, u, means, variances


def _batches(u: np.ndarray) -> Iterator[np.ndarray]:
    return (u[start : start + BATCH] for start in range(0, len(u), BATCH))


def _student(centre: np.ndarray, lower: np.ndarray, points: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sobol points of a Student t, three in ten of them twice as far out, and their log density."""
    d = centre.size
    unit = qmc.Sobol(d + 2, rng=np.random.default_rng(seed)).random(points)
    unit = np.clip(unit, 1e-12, 1.0 - 1e-12)
    radius = np.sqrt(TAIL / chi2.ppf(unit[:, d], TAIL)) * np.where(unit[:, d + 1] < 0.3, 2.0, 1.0)
    t = ndtri(unit[:, :d]) * radius[:, None]
    near, far = (-0.5 * (TAIL + d) * np.log1p((t**2).sum(axis=1) / TAIL / c**2) for c in (1.0, 2.0))
    return centre + t @ lower.T, np.logaddexp(np.log(0.7) + near, np.log(0.3) - d * np.log(2.0) + far)
