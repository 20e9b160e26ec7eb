"""The verdict in words, for arrays made to deserve each of them."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import make_design
from traces import trace_of

from interplay.data.design import Design
from interplay.inference.diagnostics import ENDINGS, Diagnostics, Ending, diagnose, disputed
from interplay.inference.stopping import ConvergenceMonitor
from interplay.inference.trace import SPARSE


@pytest.fixture
def made() -> Design:
    return make_design(3, n=12, numbers=8, factors=[])


def judged(design: Design, draws: dict[str, np.ndarray], ended: Ending = "draws") -> Diagnostics:
    return diagnose(
        trace_of(draws),
        ConvergenceMonitor(design).table(trace_of(draws)),
        tuple(design.labels),
        ended=ended,
        remedies=(),
        gradients=1234,
        seconds=2.5,
    )


def made_up(design: Design, length: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Independent draws of a posterior in which no main effect is sure."""
    random = np.random.default_rng(seed)
    shape = (4, length)
    return {
        "sigma": np.exp(0.1 * random.normal(size=shape)),
        "eta1": np.exp(random.normal(size=shape)),
        "main_mean": 0.1 * random.normal(size=(*shape, design.d)),
        "main_sd": np.ones((4, -(-length // SPARSE), design.d)),
        "divergent": np.zeros(shape, dtype=bool),
        "acceptance": np.full(shape, 0.75),
    }


def test_trust(made: Design) -> None:
    found = judged(made, made_up(made, 500), "converged")
    assert found.verdict == "trust"
    assert found.remedy == ""
    assert f"largest R-hat {found.r_hat:.3f} ({found.worst})" in found.reason
    assert found.reason.endswith("; sampling stopped when everything had converged.")
    assert str(found) == f"Trust: {found.reason}"
    rows = found.quantities.set_index("quantity")
    assert found.r_hat == rows["r_hat"].max() == rows.loc[found.worst, "r_hat"] <= 1.01
    assert (found.ess_bulk, found.ess_tail) == (rows["ess_bulk"].min(), rows["ess_tail"].min())
    assert (found.gradients, found.seconds, found.acceptance) == (1234, 2.5, 0.75)


def test_what_limits_a_run_is_named_with_what_it_is(made: Design) -> None:
    draws = made_up(made, 500)
    random = np.random.default_rng(1)
    draws["sigma"] = np.exp(0.1 * random.normal(size=(4, 20)).repeat(25, axis=1))
    draws["main_mean"][0, :, 3] += 10.0
    found = judged(made, draws)
    rows = found.quantities.set_index("quantity")
    label = f"effect[{made.labels[3]}]"
    assert f"largest R-hat, {rows['r_hat'].max():.3f}, of {label} (an effect)" in found.limit
    draws["main_mean"][0, :, 3] -= 10.0
    found = judged(made, draws)
    least = found.quantities.set_index("quantity").loc["sigma", ["ess_bulk", "ess_tail"]]
    part = "bulk" if least.argmin() == 0 else "tails"
    words = f"fewest effective draws, {least.min():.0f} in the {part}, of sigma (a hyperparameter)"
    assert found.limit.startswith(words)
    assert judged(made, made_up(made, 4)).limit == ""
    kappa = np.exp(random.normal(size=(4, 20, made.p)).repeat(25, axis=1))
    found = judged(made, made_up(made, 500) | {"kappa": kappa})
    assert "(a variable)" in found.limit


def test_run_longer(made: Design) -> None:
    found = judged(made, made_up(made, 60), "max_draws")
    assert found.verdict == "run longer"
    assert "wanted are 1.01 and 400" in found.reason
    assert found.reason.endswith("sampling stopped at max_draws.")
    assert found.remedy == "Raise max_draws (or draws), or max_seconds."


def test_too_few_draws(made: Design) -> None:
    found = judged(made, made_up(made, 5), "max_seconds")
    assert found.verdict == "do not report"
    assert found.reason.startswith("4 chains of 5 draws are too few to say anything (at least 8 each)")
    assert found.remedy.startswith("Raise max_draws")
    assert np.isnan(found.r_hat)
    assert found.worst == ""


def test_divergences(made: Design) -> None:
    draws = made_up(made, 500)
    draws["divergent"][0, :20] = True
    assert judged(made, draws).verdict == "trust"
    draws["divergent"][0, :21] = True
    found = judged(made, draws)
    assert (found.verdict, found.divergences) == ("do not report", 21)
    assert found.reason.startswith("21 of 2000 iterations diverged: parts of the posterior may be missing")
    assert "HMC(acceptance=0.95)" in found.remedy


def test_one_chain_elsewhere(made: Design) -> None:
    draws = made_up(made, 500)
    draws["sigma"][0] *= 2.0
    found = judged(made, draws)
    assert found.verdict == "do not report"
    assert found.worst == "sigma"
    assert "(sigma)" in found.reason
    assert "disagree" not in found.remedy


def test_chains_with_different_sets(made: Design) -> None:
    draws = made_up(made, 500)
    draws["main_mean"][0] += 5.0
    found = judged(made, draws)
    assert found.verdict == "do not report"
    assert found.disagreements == tuple(made.labels)
    assert f"The chains disagree on {', '.join(made.labels[:5])} and 3 more: several sets" in found.remedy


def test_disagreement_that_r_hat_does_not_see(made: Design) -> None:
    # The mean of the effect is the same in every chain, and one of them is far surer of it.
    draws = made_up(made, 500)
    draws["main_mean"][:, :, 2] += 0.5
    draws["main_sd"][0, :, 2] = 0.2
    found = judged(made, draws)
    assert found.r_hat <= 1.01
    assert found.verdict == "run longer"
    assert found.reason.startswith(f"chains disagree on {made.labels[2]}; largest R-hat")
    assert found.remedy.startswith("Raise")


def test_disputed_columns() -> None:
    mean, sd = np.zeros((3, 10, 6)), np.ones((3, 2, 6))
    mean[0, :, 1] = 3.0
    mean[:, :, 2] = -3.0
    mean[0, :, 3], mean[1:, :, 3] = 3.0, 1.0
    mean[0, :, 4], mean[1, :, 4] = 3.0, -3.0
    mean[:2, :, 5], mean[2, :, 5] = 3.0, -3.0
    assert disputed(mean, sd) == [1, 4, 5]
    # Draws without standard deviations do not count.
    mean[:, 1::5] = 100.0
    assert disputed(mean, sd) == [1, 4, 5]
    assert disputed(np.zeros((2, 6, 2)), np.zeros((2, 2, 2))) == []


def test_words_join(made: Design) -> None:
    found = judged(made, made_up(made, 60), "interrupted")
    assert "sampling was interrupted." in found.reason
    told = str(replace(found, remedies=("It was begun anew.",)))
    assert told == f"Run longer: {found.reason} {found.remedy} It was begun anew."
    assert all(words.startswith("sampling ") for words in ENDINGS.values())
