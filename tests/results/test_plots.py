"""Plots: each table against a slow version, and each drawing on axes that were given or made."""

import sys
import warnings
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import oracles
import pandas as pd
import pytest
from fits import make_fit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from interplay.data.design import Design, design
from interplay.data.errors import DataError
from interplay.effects.mixture import Mixture
from interplay.model.priors import SKIM, BlockDegree
from interplay.results.fit import Fit
from interplay.results.leave_one_out import leave_one_out
from interplay.results.plots import pair, prior_posterior
from interplay.results.plots.accessor import Plots, Tables
from interplay.results.plots.style import short
from interplay.results.replicates import replicates

NASTY = "cost in $ and $, per person and year, without tax"

PLOTS = [name for name in vars(Tables) if not name.startswith("_") and name != "fit"]


@pytest.fixture(autouse=True)
def _no_windows() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")


def make(n: int = 24, *, standardize: bool = True) -> Design:
    """Two numbers, a two-valued number and a factor."""
    random = np.random.default_rng(n)
    frame = pd.DataFrame(
        {
            "x0": random.normal(10, 3, n),
            NASTY: random.normal(size=n),
            "b0": random.permutation(np.arange(n) % 2),
            "f0": random.permutation([f"level {k % 3}" for k in range(n)]),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are not centred
        return design(frame, random.normal(5, 2, n), standardize=standardize)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return make_fit(make(), SKIM(), chains=2, length=16)


def explicit(fit: Fit, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the regression function at rows, by explicit coefficients, for each draw."""
    terms = oracles.monomials(fit.design)
    Phi, new = oracles.features(fit.design.X, terms), oracles.features(X, terms)
    stacked, means, covariances = fit.draws.stacked(), [], []
    for s in range(len(stacked["sigma"])):
        draw = {name: np.asarray(values[s]) for name, values in stacked.items()}
        S = oracles.prior(fit.design, fit.prior.variances(draw, fit.design.p), terms)
        mean, covariance = oracles.posterior(Phi, S, float(draw["sigma"]) ** 2, fit.design.y)
        means.append(new @ mean)
        covariances.append(new @ covariance @ new.T)
    return np.array(means), np.array(covariances)


def coded(made: Design, table: pd.DataFrame, names: tuple[str, str]) -> np.ndarray:
    """Rows with the values of a table for two variables, and zero for all others, one cell at a time."""
    X = np.zeros((len(table), made.d))
    for name, side in zip(names, ("first", "second"), strict=True):
        variable = made.variables[made.names.index(name)]
        for row, value in enumerate(table[side]):
            if variable.levels:
                count = len(variable.levels)
                for k, level in enumerate(variable.levels):
                    X[row, variable.start + k] = np.sqrt(count / (count - 1)) * ((level == value) - 1 / count)
            else:
                start = variable.start
                X[row, start] = (value - made.centres[start]) / made.scales[start]
    return X


@pytest.mark.parametrize("question", ["surface", "slopes"])
@pytest.mark.parametrize("names", [("x0", NASTY), ("b0", "x0"), ("f0", "x0"), ("b0", "f0")], ids=str)
def test_function_over_a_pair_is_that_of_the_explicit_model(
    fit: Fit, question: str, names: tuple[str, str]
) -> None:
    check_pair(fit, question, names)


def test_function_over_a_pair_that_is_not_standardised() -> None:
    check_pair(make_fit(make(14, standardize=False), BlockDegree(), length=2), "slopes", ("x0", NASTY))


def check_pair(fit: Fit, question: str, names: tuple[str, str]) -> None:
    table = getattr(fit.plot.tables, question)(*names, probability=0.8)
    made = fit.design
    means, covariances = explicit(fit, coded(made, table, names))
    sds = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    expected = Mixture(made.response_centre + made.response_scale * means, made.response_scale * sds)
    assert_allclose(table["mean"], expected.mean, atol=1e-7)
    assert_allclose(table["lower"], expected.quantile(0.1), atol=1e-6)
    assert_allclose(table["upper"], expected.quantile(0.9), atol=1e-6)


def test_pair_is_held_at_quantiles_levels_and_both_values(fit: Fit) -> None:
    made = fit.design
    slopes = fit.plot.tables.slopes(NASTY, "x0")
    x0 = made.names.index("x0")
    start = made.variables[x0].start
    values = np.sort(made.X[:, start] * made.scales[start] + made.centres[start])
    assert_allclose(slopes["second"].unique(), np.quantile(values, [0.1, 0.5, 0.9], method="nearest"))
    assert fit.plot.tables.slopes("x0", "f0")["held"].unique().tolist() == ["level 0", "level 1", "level 2"]
    assert_allclose(fit.plot.tables.slopes("x0", "b0")["second"].unique(), [0.0, 1.0])
    seen = pair.observed(fit, pair.find(fit, "f0", "b0"))
    f0 = made.variables[made.names.index("f0")]
    assert (seen["first"] == "level 2").tolist() == (made.X[:, f0.start + 2] > 0).tolist()


def test_unknown_pairs_are_refused_in_words(fit: Fit) -> None:
    with pytest.raises(DataError, match=r"'x00' is not a variable of this fit.*'x0'"):
        fit.plot.tables.surface("x00", "b0")
    with pytest.raises(ValueError, match="Name both"):
        fit.plot.surface("x0")
    with pytest.raises(ValueError, match="named twice"):
        fit.plot.slopes("x0", "x0")
    strongest = fit.top_pairs(1)["term"][0]
    assert all(name in strongest for name in pair.find(fit).names)


def test_leading_variables_have_the_surest_level(fit: Fit) -> None:
    table = fit.plot.tables.interaction_map(size=3)
    names = list(dict.fromkeys(table["first"]))
    assert len(names) == 3
    assert names[0] in fit.effects()["term"][0]
    pairs = table[table["kind"] == "pair"]
    assert len(pairs) == 3
    for row in pairs.itertuples():
        levels = fit.effects([(row.first, row.second)])
        assert row.term == levels["term"][0]
        assert row.lfsr == pytest.approx(levels["lfsr"].min())
    everything = fit.plot.tables.network(size=99)
    assert set(everything["first"]) == set(fit.design.names)


def test_forest_is_the_effect_table(fit: Fit) -> None:
    pd.testing.assert_frame_equal(fit.plot.tables.forest("mains", 0.5), fit.effects("mains", 0.5))


def test_shrinkage_over_draws(fit: Fit) -> None:
    table = fit.plot.tables.shrinkage(probability=0.5)
    draws = fit.draws.stacked()
    assert table["kappa"].is_monotonic_decreasing
    row = table.set_index("variable").loc["x0"]
    kappa = draws["kappa"][:, fit.design.names.index("x0")]
    assert_allclose(row[["lower", "kappa", "upper"]].to_numpy(float), np.quantile(kappa, [0.25, 0.5, 0.75]))
    kept = fit.design.n * draws["eta1"] ** 2 * kappa**2 / draws["sigma"] ** 2
    assert row["shrinkage"] == pytest.approx(np.mean(1 / (1 + kept)))
    with pytest.raises(ValueError, match="BlockDegree has no κ"):
        make_fit(fit.design, BlockDegree()).plot.tables.shrinkage()


def test_trace_and_ranks_hold_every_draw(fit: Fit) -> None:
    asked = ["sigma", "log_kappa[x0]"]
    trace = fit.plot.tables.trace(asked).set_index(["quantity", "chain", "draw"])["value"]
    kappa = fit.draws.hyperparameters["kappa"][1, 5, fit.design.names.index("x0")]
    assert trace["log_kappa[x0]", 1, 5] == pytest.approx(np.log(kappa))
    sigma = fit.draws.hyperparameters["sigma"]
    assert trace["sigma", 0, 3] == sigma[0, 3]
    ranks = fit.plot.tables.ranks(asked)
    assert (ranks.groupby(["quantity", "chain"])["count"].sum() == fit.draws.length).all()
    order = sigma.ravel().argsort().argsort() + 1
    for row in ranks[ranks["quantity"] == "sigma"].itertuples():
        mine = order.reshape(sigma.shape)[row.chain]
        assert row.count == sum(row.left < rank <= row.right for rank in mine)
    with pytest.raises(DataError, match="no draws of 'tau'"):
        fit.plot.trace(["tau"])


def test_prior_and_posterior_densities(fit: Fit) -> None:
    drawn = prior_posterior.prior_draws(fit, ["sigma", "log_kappa[x0]"], 0)
    # σ is half-normal with scale 2.
    shares = [np.mean(drawn["sigma"] < bound) for bound in (1.0, 2.0, 4.0)]
    assert_allclose(shares, 2 * norm.cdf([0.5, 1.0, 2.0]) - 1, atol=4 * np.sqrt(0.25 / prior_posterior.SIZE))
    table = fit.plot.tables.prior_posterior(["sigma", "log_kappa[x0]"])
    assert table["quantity"].unique().tolist() == ["sigma", "kappa[x0]"]
    for _, group in table.groupby("quantity"):
        x = np.log(group["value"])
        assert np.trapezoid(group["prior"], x) == pytest.approx(1.0, abs=0.1)
        assert 0.8 < np.trapezoid(group["posterior"], x) < 1.01


@pytest.mark.parametrize("n", [14, 90], ids=["kernel space", "feature space"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_replicates_have_the_moments_of_the_posterior_predictive(n: int, weighted: bool) -> None:
    made = make(n)
    if weighted:
        object.__setattr__(made, "weights", np.linspace(0.5, 2.0, n))
    one = make_fit(made, BlockDegree(), chains=1, length=1)
    sigma = float(one.draws.stacked()["sigma"][0])
    drawn = replicates(one, 4000, np.random.default_rng(0))
    scaled = (drawn - made.response_centre) / made.response_scale
    mean, covariance = weighted_posterior(one)
    noise = sigma**2 / (np.ones(n) if made.weights is None else made.weights)
    expected = covariance + np.diag(noise)
    error = np.sqrt(np.diag(expected) / 4000)
    assert np.all(np.abs(scaled.mean(axis=0) - mean) < 5 * error)
    # The average over rows shows whether rows are drawn together.
    direction = np.ones(n) / n
    assert np.var(scaled @ direction) == pytest.approx(direction @ expected @ direction, rel=0.12)


def weighted_posterior(fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the regression function at the data, with weights, for the first draw."""
    terms = oracles.monomials(fit.design)
    draw = {name: np.asarray(values[0]) for name, values in fit.draws.stacked().items()}
    S = oracles.prior(fit.design, fit.prior.variances(draw, fit.design.p), terms)
    weights = np.ones(fit.design.n) if fit.design.weights is None else fit.design.weights
    Phi = oracles.features(fit.design.X, terms)
    K = Phi @ np.diag(S) @ Phi.T
    A = np.linalg.inv(K + float(draw["sigma"]) ** 2 * np.diag(1 / weights))
    return K @ A @ fit.design.y, K - K @ A @ K


def test_predictive_check_counts_rows(fit: Fit) -> None:
    table = fit.plot.tables.predictive_check()
    assert table["observed"].sum() == fit.design.n
    assert (table["lower"] <= table["median"]).all()
    assert (table["median"] <= table["upper"]).all()
    assert_allclose(table["right"][:-1], table["left"][1:])
    pd.testing.assert_frame_equal(table, fit.plot.tables.predictive_check())


def test_leaving_one_out_is_conditioning_on_the_others(fit: Fit) -> None:
    made = fit.design
    few = make_fit(made, SKIM(), chains=2, length=4)
    found = leave_one_out(few).table
    row, others = 3, np.arange(made.n) != 3
    terms = oracles.monomials(made)
    Phi = oracles.features(made.X, terms)
    means, sds = [], []
    stacked = few.draws.stacked()
    for s in range(len(stacked["sigma"])):
        draw = {name: np.asarray(values[s]) for name, values in stacked.items()}
        S, noise = oracles.prior(made, few.prior.variances(draw, made.p), terms), float(draw["sigma"]) ** 2
        mean, covariance = oracles.posterior(Phi[others], S, noise, made.y[others])
        means.append(Phi[row] @ mean)
        sds.append(np.sqrt(Phi[row] @ covariance @ Phi[row] + noise))
    weight = 1 / norm.pdf(made.y[row], means, sds)
    weight /= weight.sum()
    scale = made.response_scale
    mean = weight @ means
    assert found["mean"][row] == pytest.approx(made.response_centre + scale * mean, rel=1e-6)
    variance = weight @ (np.square(sds) + np.square(means - mean))
    assert found["sd"][row] == pytest.approx(scale * np.sqrt(variance), rel=1e-6)
    assert found["probability"][row] == pytest.approx(weight @ norm.cdf(made.y[row], means, sds), rel=1e-6)
    assert found["k"].isna().all()


def test_smoothed_weights_of_many_draws_are_close_to_plain_ones(fit: Fit) -> None:
    found = leave_one_out(fit)
    assert found.table["k"].notna().all()
    m, sd = fit.conditional.predict(fit.design.X)
    noise = fit.observation_variance[:, None]
    left = 1 - sd**2 / noise
    means, spread = fit.design.y - (fit.design.y - m) / left, np.sqrt(noise / left)
    weight = 1 / norm.pdf(fit.design.y, means, spread)
    plain = (weight * means).sum(axis=0) / weight.sum(axis=0)
    mean = (found.table["mean"] - fit.design.response_centre) / fit.design.response_scale
    tame = found.table["k"].to_numpy() < 0.5
    assert tame.any()
    assert_allclose(mean[tame], plain[tame], atol=0.1)
    assert 0 <= found.coverage(0.5) <= found.coverage(0.9) <= 1


@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_draws_on_new_axes_and_on_given_ones(fit: Fit, name: str) -> None:
    import matplotlib.pyplot as plt

    drawn = getattr(fit.plot, name)()
    panels = np.atleast_1d(np.asarray(drawn, dtype=object))
    assert all(isinstance(axes, mpl.axes.Axes) for axes in panels)
    panels[0].figure.savefig("/dev/null", format="png")
    _, given = plt.subplots(1, len(panels), squeeze=False)
    again = getattr(fit.plot, name)(axes=given[0, 0] if len(panels) == 1 else given[0])
    assert_array_equal(np.atleast_1d(np.asarray(again, dtype=object)), given[0])


@pytest.mark.parametrize("p", [2, 60])
def test_few_and_many_variables(p: int) -> None:
    random = np.random.default_rng(p)
    frame = pd.DataFrame(random.normal(size=(12, p)), columns=[f"v{k}" for k in range(p)])
    made = make_fit(design(frame, random.normal(size=12)), SKIM(), length=2)
    shown = made.plot.interaction_map()
    assert len(shown.get_xticks()) == min(p, 12)
    texts = {
        name: [text.get_text() for text in getattr(made.plot, name)().texts] for name in ("forest", "network")
    }
    assert any(
        f"of {p + p + min(p * (p - 1) // 2, 1):,}" in text or "the surest" in text for text in texts["forest"]
    )
    assert any(("12 of 60" if p == 60 else "all variables") in text for text in texts["network"])
    rows = [text.get_text() for text in made.plot.shrinkage().get_yticklabels()]
    assert len(rows) == (2 if p == 2 else 21)


def test_names_are_short_and_literal() -> None:
    assert short("a $x$\nb") == r"a \$x\$ b"
    assert len(short("a" * 50 + "b" * 50, 20)) == 20
    assert short("a" * 50 + "b" * 50, 20).startswith("aaaaaaaaaa…b")
    assert set(PLOTS) == {name for name in vars(Plots) if not name.startswith("_")} - {"fit", "tables"}


def test_without_matplotlib(fit: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'interplay\[plots\]'"):
        fit.plot.forest()
    assert len(fit.plot.tables.forest())


def test_wrong_number_of_axes(fit: Fit) -> None:
    import matplotlib.pyplot as plt

    with pytest.raises(ValueError, match="got 1, expected 2"):
        fit.plot.trace(["sigma", "eta1"], axes=[plt.subplots()[1]])
