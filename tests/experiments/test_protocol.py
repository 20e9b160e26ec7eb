"""The study on one small data set: what it counts, keeps and writes."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from experiments import run as study
from experiments.goals import judge
from experiments.page import write
from experiments.pairs import all_pairs
from experiments.protocol import Errors, Found, Outcome, Setting

from interplay.data.design import design
from interplay.data.simulate import synthetic
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.model.marginal import engine
from interplay.model.priors import SKIM
from interplay.model.variances import Variances


def outcome(**changes: object) -> Outcome:
    clean = Found(mains=5, false_mains=0, pairs=10, false_pairs=0, false_terms=())
    made = Outcome(
        n=100,
        p=50,
        scale=2.0,
        seed=0,
        found=dict.fromkeys(("paper", "lfsr", "fdr"), clean),
        errors=Errors(mains=1.0, pairs=0.5, slopes=1.5),
        verdict="trust",
        ended="converged",
        r_hat=1.005,
        worst="sigma",
        ess_bulk=500.0,
        ess_tail=450.0,
        divergences=0,
        remedies=(),
        chains=4,
        draws=500,
        gradients=10_000,
        seconds=20.0,
        answer_seconds=2.0,
        source="0" * 12,
    )
    return replace(made, **changes)


def test_all_pairs_has_every_mean_and_every_pair_that_a_rule_could_select() -> None:
    simulation = synthetic(40, 12, scale=5.0, seed=1)
    data = design(simulation.X, simulation.y)
    random = np.random.default_rng(0)
    weights = np.exp(random.normal(size=(6, 1, 12)) - 6.0)
    weights[:, 0, [term[0] for term in simulation.effects if len(term) == 1]] = 1.0
    variances = Variances(
        intercept=jnp.ones(6),
        weights=jnp.asarray(weights),
        orders=jnp.full((6, 1, 2), 0.3),
        squares=jnp.zeros((6, 1)),
    )
    sigma = jnp.asarray(random.uniform(0.05, 0.1, 6))
    conditional = Conditional(engine(data, SKIM(quadratic=False)), variances, sigma)
    every = list(combinations(range(12), 2))
    exact = Mixture(*conditional.effects(every))

    pairs = all_pairs(data, conditional)

    assert pairs.means[np.triu_indices(12, k=1)] == pytest.approx(exact.mean, abs=1e-6)
    sure = {pair for pair, lfsr in zip(every, exact.lfsr, strict=True) if lfsr <= 0.1}
    assert sure
    assert sure <= set(pairs.terms)
    assert len(pairs.terms) < len(every)
    assert pairs.mixture.lfsr == pytest.approx([exact.lfsr[every.index(pair)] for pair in pairs.terms])


def test_a_small_study_is_written_and_goes_on_from_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(40, 10, 5.0)
    (first,) = study.run(tmp_path, settings=[setting], seeds=1, draws=25)
    path = tmp_path / "experiments" / "results" / "protocol.json"
    assert study.read(path) == [first]
    assert {"python", "interplay", "jax", "blackjax"} <= set(json.loads(path.read_text())["versions"])
    assert set(first.found) == {"paper", "lfsr", "fdr"}
    assert (first.chains, first.draws, first.ended) == (4, 25, "draws")
    # Strong signals: the pairs are found, and estimated far better than by a model without effects.
    assert first.found["lfsr"].pairs == 10
    assert first.errors.pairs < 1.0
    assert first.errors.mains < 5.0
    assert first.gradients > 4 * 25
    page = (tmp_path / "docs" / "protocol.md").read_text()
    assert "| (40, 10, 5) | 0 |" in page
    assert (tmp_path / "docs" / "protocol.png").read_bytes().startswith(b"\x89PNG")

    def fake(setting: Setting, seed: int, source: str) -> Outcome:
        return outcome(seed=seed, n=setting.n, p=setting.p, scale=setting.scale)

    monkeypatch.setattr(study, "evaluate", fake)
    both = study.run(tmp_path, settings=[setting], seeds=2)
    assert both[0] == first
    assert [one.seed for one in study.read(path)] == [0, 1]


def test_goals_are_judged_from_the_figures_alone(tmp_path: Path) -> None:
    false = Found(mains=5, false_mains=1, pairs=10, false_pairs=0, false_terms=("x7",))
    fits = [outcome(seed=seed) for seed in range(18)]
    wrong = {"paper": false, "lfsr": fits[0].found["lfsr"], "fdr": false}
    fits += [outcome(seed=18, found=wrong), outcome(seed=19, found=wrong)]
    paper, lfsr, mains, pairs = judge(fits)
    assert (paper.measured, paper.met) == (18.0, False)
    assert (lfsr.measured, lfsr.met) == (20.0, True)
    assert mains.met
    assert pairs.met
    worse = [replace(one, errors=Errors(mains=3.0, pairs=0.5, slopes=3.0)) for one in fits]
    assert [goal.met for goal in judge(worse)[2:]] == [False, True]
    write(tmp_path, fits)
    assert "| 18 | unmet |" in (tmp_path / "docs" / "protocol.md").read_text()
