"""The fixed rule, the clock that waits for it, and starts at wrong sets."""

import numpy as np
import pytest
from experiments import trust
from experiments.clock import Clock
from experiments.data import make
from experiments.mixing import MIXING, tasks
from experiments.task import Record
from experiments.timed_fit import at_wrong_sets, idle_variables
from traces import trace_of

from interplay._support.parallel import serially
from interplay.data.design import Design, design
from interplay.inference.draws import Draws
from interplay.inference.moves import HMC
from interplay.inference.run import Job
from interplay.inference.trace import SPARSE
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM
from interplay.model.terms import mains


@pytest.fixture
def small() -> Design:
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    return design(X, X[:, 0] + 0.5 * random.normal(size=40))


def made_up(length: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Independent draws in which the first variable alone has a signal."""
    random = np.random.default_rng(seed)
    shape = (4, length)
    scales = {
        name: np.exp(0.1 * random.normal(size=shape)) for name in ("sigma", "eta1", "eta2", "m_squared")
    }
    kappa = np.exp(0.1 * random.normal(size=(*shape, 3))) * np.array([1.0, 0.01, 0.01])
    return scales | {"eta3": np.zeros(shape), "kappa": kappa, "intercept_scale": np.ones(shape)}


def draws(arrays: dict[str, np.ndarray]) -> Draws:
    return Draws(arrays, {"log_density": arrays["sigma"]})


def test_what_the_rule_looks_at(small: Design) -> None:
    found = trust.quantities(small, SKIM(), Gaussian(), draws(made_up(300)))
    names = list(found)
    assert names[:4] == ["sigma", "eta1", "eta2", "m_squared"]
    assert names[4:5] == ["log_kappa[x0]"]
    assert set(names[5:]) == {f"effect[{term}]" for term in ("x0", "x1", "x2", "x0:x1", "x0:x2", "x1:x2")}
    assert {series.shape for series in found.values()} == {(4, 300)}


def test_means_are_those_given_the_draws_of_their_chain(small: Design) -> None:
    arrays = made_up(30)
    found = trust.conditional_means(small, SKIM(), Gaussian(), draws(arrays), mains(small), most=40)
    kept = np.unique(np.linspace(0, 29, 10).astype(int))
    one = {name: values[2:3, kept[3:4]] for name, values in arrays.items()}
    alone = trust.conditional_means(small, SKIM(), Gaussian(), draws(one), mains(small))
    for name in found:
        assert found[name].shape == (4, 10)
        assert found[name][2, 3] == pytest.approx(alone[name][0, 0])


def test_independent_draws_are_trusted_and_a_shifted_chain_is_not(small: Design) -> None:
    arrays = made_up(500)
    good = trust.agreement(trust.quantities(small, SKIM(), Gaussian(), draws(arrays)))
    assert good.trusted
    arrays["kappa"][1, :, 0] *= 1.2
    bad = trust.agreement(trust.quantities(small, SKIM(), Gaussian(), draws(arrays)))
    assert not bad.trusted
    assert "x0" in bad.r_hat_of
    few = {name: values[:3] for name, values in made_up(1000).items()}
    assert not trust.agreement(trust.quantities(small, SKIM(), Gaussian(), draws(few))).trusted
    assert not trust.agreement({"nothing": np.full((4, 500), np.nan)}).trusted


def test_the_clock_notes_each_rule_once_and_ends_with_the_last(small: Design) -> None:
    arrays = made_up(500)
    effects = trust.conditional_means(small, SKIM(), Gaussian(), draws(arrays), mains(small))
    arrays["main_mean"] = np.stack(list(effects.values()), axis=-1)
    arrays["main_sd"] = np.ones((4, -(-500 // SPARSE), 3))
    clock = Clock(SKIM())
    assert clock.monitor(small, serially) is clock
    assert not clock.converged(trace_of({name: values[:, :50] for name, values in arrays.items()}))
    assert (clock.verdict, clock.trust) == (None, None)
    assert clock.latest is not None
    # `ess_of` names what is short of draws.
    assert clock.latest.ess < 400.0
    assert clock.converged(trace_of(arrays))
    assert clock.trust is not None
    assert clock.verdict is not None
    assert clock.together is not None
    assert (clock.trust.draws, clock.verdict.draws) == (500, 500)
    assert clock.trust.seconds == clock.verdict.seconds <= clock.seconds
    assert len(clock.table(trace_of(arrays))) >= 7


def test_chains_start_at_sets_that_do_not_act() -> None:
    problem = make({"kind": "paper60", "seed": 1})
    made = problem.design()
    assert len(idle_variables(problem, made)) == 35
    job = Job.of(made, SKIM(), Gaussian(), HMC(chains=4), 1)
    state = at_wrong_sets(problem)(job, 0, serially)
    kappa = job.posterior.constrain(state.positions)["kappa"]
    largest = np.argsort(-kappa, axis=1)[:, :5]
    assert (largest >= 5).all()
    assert len({tuple(sorted(one)) for one in largest.tolist()}) == 4
    assert np.isfinite([chain.log_density for chain in state.chains]).all()


def test_every_table_has_its_rows() -> None:
    names = [task.name for task in tasks(quick=False)]
    assert len(set(names)) == len(names)
    lost = [Record(task, "not available", "no file", 2, {}, {}, {}) for task in tasks(quick=False)]
    found = MIXING.tables(lost)
    assert [table.title for table in found] == ["Real data", "Linked columns", "Many rows", "Few rows"]
    assert sum(len(table.rows) for table in found[:3]) == 8 + 1 + 2 + 6 + 7
