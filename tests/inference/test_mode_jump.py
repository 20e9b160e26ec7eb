"""Jumps between sets of variables: their density, that they leave the posterior as it is, and the remedy."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from invariance import Pairs, exact_pairs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import kstest, multivariate_t
from strategies import make_design

from interplay._support.parallel import serially
from interplay.data.design import Design, design
from interplay.data.simulate import synthetic
from interplay.inference import sample as sampling
from interplay.inference import stopping
from interplay.inference.diagnostics import ConvergenceWarning, Diagnostics
from interplay.inference.draws import Draws
from interplay.inference.moves import HMC, ModeJump
from interplay.inference.moves.informed import signs
from interplay.inference.moves.library import DEGREES, Library, active_variables
from interplay.inference.moves.mode_jump import Mixture, Rest
from interplay.inference.remedy import with_jumps
from interplay.inference.run import Job, before_warm_up, proceed
from interplay.inference.sample import JUMPS_ADDED, RESTARTED, sample
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM, BlockDegree

ROWS = 6


def weighted() -> Design:
    random = np.random.default_rng(3)
    X, weights = random.normal(size=(ROWS, 4)), random.uniform(0.5, 1.5, ROWS)
    return design(X, random.normal(size=ROWS), weights=weights * ROWS / weights.sum())


def near_equal() -> Design:
    random = np.random.default_rng(3)
    X = random.normal(size=(ROWS, 4))
    X[:, 1] = X[:, 0] + 0.05 * random.normal(size=ROWS)
    return design(X, random.normal(size=ROWS))


NUMBERS = make_design(3, n=ROWS, numbers=4, factors=[])
CASES = {
    "pairs": (NUMBERS, SKIM(expected_mains=1, quadratic=False)),
    "squares": (NUMBERS, SKIM(expected_mains=1)),
    "degree 3": (NUMBERS, SKIM(expected_mains=1, degree=3)),
    "factor": (make_design(3, n=ROWS, numbers=2, factors=[3]), SKIM(expected_mains=1)),
    "weights": (weighted(), SKIM(expected_mains=1)),
    "near-equal columns": (near_equal(), SKIM(expected_mains=1, quadratic=False)),
}


def posterior_of(case: str) -> Posterior:
    data, prior = CASES[case]
    return Posterior(data, prior, Gaussian(), KernelSpace(data, precision="float64"))


def library_of(posterior: Posterior) -> Library:
    """Two sets that share a variable, and the empty one, each fitted to draws from the prior."""
    random = np.random.default_rng(0)
    draws = np.stack([posterior.sample_prior(random) for _ in range(3000)])
    active = active_variables(posterior, draws)
    sets = np.array([[True, True, False], [False, True, True], [False, False, False]])
    return Library.fitted(posterior, [draws[(active[:, :3] == members).all(axis=1)] for members in sets])


def jumped(case: str, count: int) -> Pairs:
    posterior = posterior_of(case)
    tunings = {"mode_jump": library_of(posterior).arrays()}
    return exact_pairs(
        posterior.design,
        posterior.prior,
        [ModeJump()],
        count=count,
        iterations=3,
        engine=posterior.engine,
        tunings=tunings,
    )


@pytest.mark.parametrize("case", list(CASES))
def test_leaves_the_posterior_as_it_is(case: str) -> None:
    pairs = jumped(case, count=150)
    assert pairs.statistics["jump_acceptance"] > 0.03
    assert np.abs(pairs.z_scores()).max() < 4.0


def without_other_variables(rest: Rest, local: np.ndarray) -> float:
    """As if the variables outside a set were proposed from their posterior."""
    return 0.0


def test_a_wrong_density_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rest, "log_density", without_other_variables)
    assert np.abs(jumped("pairs", count=300).z_scores()).max() > 5.0


def mixture_of(posterior: Posterior) -> tuple[Mixture, np.ndarray]:
    random = np.random.default_rng(1)
    x = posterior.sample_prior(random)
    probes = signs(posterior.design.n, random)
    return Mixture(posterior, library_of(posterior), posterior.evaluate(x), probes), x


@pytest.mark.parametrize("case", ["pairs", "factor"])
def test_the_laws_of_the_other_variables_integrate_to_one(case: str) -> None:
    mixture, x = mixture_of(posterior_of(case))
    for number in range(3):
        rest = mixture.rest(number, x)
        assert rest is not None
        assert rest.tables is not None
        random = np.random.default_rng(number)
        drawn = np.stack([rest.draw(random) for _ in range(1000)])
        for row in range(rest.variables.size):
            one = Rest(rest.variables[[row]], rest.tables.taken(np.array([row])))
            edge = float(rest.tables.edges[row])
            # Cells are flat between multiples of their width from the edge.
            cells = edge + 0.2 * np.arange(-15, 41)
            masses = [np.exp(one.log_density(np.array([value]))) * 0.2 for value in cells[:-1] + 0.1]

            def density(value: float, one: Rest = one) -> float:
                return np.exp(one.log_density(np.array([value])))

            below = quad(density, -60.0, cells[0] - 1e-9, limit=200)[0]
            above = quad(density, cells[-1] + 1e-9, cells[-1] + 60.0, limit=200)[0]
            assert_allclose(below + np.sum(masses) + above, 1.0, rtol=1e-5)
            points = np.concatenate([[-60.0], cells, [cells[-1] + 60.0]])
            cumulative = np.concatenate([[0.0], np.cumsum([below, *masses, above])])
            inside = drawn[:, row][(drawn[:, row] > cells[0]) & (drawn[:, row] < cells[-1])]
            given = (np.interp(inside, points, cumulative) - cumulative[1]) / (cumulative[-2] - cumulative[1])
            assert kstest(given, "uniform").pvalue > 1e-4
            share = np.mean(drawn[:, row] <= cells[0])
            assert abs(share - below) < 4.0 * np.sqrt(below * (1.0 - below) / 1000) + 1e-3


def test_fits_are_the_multivariate_t() -> None:
    posterior = posterior_of("pairs")
    library, random = library_of(posterior), np.random.default_rng(0)
    number, d = 0, 4 + 2
    shape = library.roots[number] @ library.roots[number].T
    exact = multivariate_t(library.centres[number], shape, df=DEGREES)
    draws = np.stack([library.draw(number, d, random) for _ in range(2000)])
    found = [library.log_density(number, z) for z in draws[:20]]
    assert_allclose(found, exact.logpdf(draws[:20]))
    # |white|² / d of a multivariate t is F-distributed.
    white = np.linalg.solve(library.roots[number], (draws - library.centres[number]).T)
    assert kstest(np.sum(white**2, axis=0) / d, "f", args=(d, DEGREES)).pvalue > 1e-4
    assert library.log_density(number, np.full(d, 61.0)) == -np.inf


def test_a_library_has_the_sets_that_runs_held_and_those_of_an_earlier_one() -> None:
    posterior = posterior_of("pairs")
    library = library_of(posterior)
    sets = [library.set_of(number, 4).tolist() for number in range(len(library))]
    assert sorted(sets) == [[], [0, 1], [1, 2]]
    random = np.random.default_rng(0)
    run = np.stack([posterior.sample_prior(random) for _ in range(50)])
    run[:, posterior.local] = [-6.0, -6.0, -6.0, 20.0]
    both = Library.fitted(posterior, [run], library)
    sets = [both.set_of(number, 4).tolist() for number in range(len(both))]
    assert sets[0] == [3]
    assert sets[-1] == []
    assert sorted(sets[1:-1]) == [[0, 1], [1, 2]]
    old, new = library.distributions(posterior), both.distributions(posterior)
    assert_array_equal(old[0, 1][1], new[0, 1][1])
    # Fewer draws than coordinates are enough for a distribution.
    assert np.isfinite(Library.fitted(posterior, [run[:3]]).roots).all()
    again = Library.from_arrays(both.arrays())
    assert_array_equal(again.members, both.members)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_without_a_library_nothing_is_done() -> None:
    posterior = posterior_of("pairs")
    pairs = exact_pairs(posterior.design, posterior.prior, [ModeJump()], count=2, engine=posterior.engine)
    assert_array_equal(pairs.before, pairs.after)


SAMPLER = HMC(chains=2, warmup=20)


def small() -> Design:
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 8))
    return design(pd.DataFrame(X, columns=list("abcdefgh")), X[:, 0] + X[:, 1] + 0.5 * random.normal(size=20))


def run(data: Design, path: Path | None = None, **settings: Any) -> tuple[Draws, Diagnostics]:
    settings = {"prior": SKIM(), "sampler": SAMPLER, "draws": 75, **settings}
    prior = settings.pop("prior")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sample(data, prior, checkpoint=path, progress=False, **settings)


class KilledError(Exception):
    """The run was killed."""


@pytest.fixture
def always_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains are looked at early, and never agree."""
    monkeypatch.setattr("interplay.inference.remedy.PILOT", 10)
    monkeypatch.setattr("interplay.inference.remedy.LONGER", 1)
    monkeypatch.setattr(sampling, "TRIAL", 25)
    monkeypatch.setattr(sampling, "TRIAL_R_HAT", 0.0)


@pytest.mark.slow
@pytest.mark.usefixtures("always_wrong")
def test_a_run_that_is_killed_after_every_step_goes_on_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, known = run(small())
    assert known.remedies == (JUMPS_ADDED,)
    assert "jump_acceptance" in expected.statistics
    path, write = tmp_path / "run.nc", sampling.files.write

    def killed(*arguments: Any) -> None:
        write(*arguments)
        raise KilledError

    monkeypatch.setattr(sampling.files, "write", killed)
    steps, found = 0, None
    while found is None:
        try:
            found, _ = run(small(), path)
        except KilledError:
            steps += 1
    # Start, warm-up, draws and libraries: 25 and 50 draws were left out.
    assert steps >= 5 + 1 + 3 + 4
    assert list(found.statistics) == list(expected.statistics)
    for mine, theirs in (
        (found.hyperparameters, expected.hyperparameters),
        (found.statistics, expected.statistics),
    ):
        assert all(mine[name].tobytes() == theirs[name].tobytes() for name in theirs)


@pytest.mark.usefixtures("always_wrong")
def test_a_prior_without_sets_begins_again() -> None:
    _, known = run(make_design(3, n=20, numbers=6, factors=[]), prior=BlockDegree(), draws=50)
    assert known.remedies == (RESTARTED,)


@pytest.mark.slow
def test_chains_in_two_modes_agree_with_jumps() -> None:
    drawn = synthetic(60, 40, 2.0, seed=0)
    made = design(drawn.X, drawn.y)
    job = Job.of(made, SKIM(quadratic=False), Gaussian(), HMC(), 0)
    true = np.isin(np.arange(40), [term[0] for term in drawn.effects if len(term) == 1])
    wrong = np.isin(np.arange(40), np.random.default_rng(1).choice(40, 5, replace=False))
    included = np.stack([wrong, true, wrong, true])
    positions = job.posterior.position_of(included, np.ones(4), np.full(4, np.log(0.6)))
    state = before_warm_up(job, 0, positions)
    while state.phase == "warm-up" or len(state.trace) < 200:
        state = proceed(job, state, serially)
    assert stopping.scales(state.trace)["r_hat"].max() > 1.2
    state = with_jumps(job, state, serially)
    assert len(state.trace) == 0
    while len(state.trace) < 400:
        state = proceed(job, state, serially)
    assert stopping.scales(state.trace)["r_hat"].max() < 1.06
    assert state.trace.statistics["jump_acceptance"].mean() > 0.1
