"""The beam search: the best sets of all, and those that do not promise much."""

from itertools import combinations

import numpy as np
import pytest
from strategies import make_design

from interplay._support.parallel import serially, workers
from interplay.data.design import design
from interplay.data.simulate import synthetic
from interplay.inference.search.beam import LOG_NOISE, LOG_SIZE, beam_search, beam_width
from interplay.inference.search.screen import screen
from interplay.inference.search.sets import rows_to_search, score
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.variable_sets import SetEvidence, VariableSets


def assessor_of(posterior: Posterior) -> SetEvidence:
    random = np.random.default_rng(0)
    return posterior.set_evidence(rows_to_search(posterior, random), random)


def searched(posterior: Posterior, most: int) -> np.ndarray:
    with workers() as pool:
        return beam_search(assessor_of(posterior), screen(posterior.design, most).pairs, pool)


def test_all_pairs_grow_into_the_best_of_all_sets() -> None:
    # As many sets as there may be: of each, the evidence decides.
    made = make_design(3, n=20, numbers=6, factors=[3])
    posterior = Posterior.of(made, SKIM(expected_mains=3), Gaussian())
    assessor = assessor_of(posterior)

    def evidence(members: tuple[int, ...]) -> float:
        one = VariableSets(np.array([members]), np.array([LOG_SIZE]), np.array([LOG_NOISE[1]]))
        return float(score(assessor, one).log_evidence[0])

    found = [tuple(sorted(one)) for one in searched(posterior, 100)[:, :3].tolist()]
    every = sorted(combinations(range(made.p), 3), key=evidence, reverse=True)
    # Of 35 sets of three 21 go on, as many as there are pairs.
    assert found == every[:21]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_sets_that_do_not_promise_much_are_found_by_their_evidence(seed: int) -> None:
    # As the Bayes factors tell it, more than 2,000 sets of three or four are better than any right one.
    drawn = synthetic(50, 500, 5.0, seed=seed)
    made = design(drawn.X, drawn.y)
    posterior = Posterior.of(made, SKIM(quadratic=False), Gaussian())
    active = {term[0] for term in drawn.effects if len(term) == 1}
    best = searched(posterior, beam_width(made.n))[0]
    assert {int(variable) for variable in best if variable < made.p} == active


def test_threads_change_nothing() -> None:
    posterior = Posterior.of(make_design(3, n=20, numbers=12, factors=[]), SKIM(), Gaussian())
    pairs = screen(posterior.design, 66).pairs
    np.testing.assert_array_equal(
        beam_search(assessor_of(posterior), pairs, serially), searched(posterior, 66)
    )


def test_sets_are_fewer_where_rows_are_many() -> None:
    def width(n: int) -> int:
        posterior = Posterior.of(make_design(0, n, 3, []), SKIM(), Gaussian())
        return beam_width(rows_to_search(posterior, np.random.default_rng(0)).size)

    assert {n: width(n) for n in (20, 64, 128, 1000)} == {20: 2048, 64: 2048, 128: 256, 1000: 128}
