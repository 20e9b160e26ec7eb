"""Mode jumping: an independence sampler between sets of variables that have been found before."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit

from interplay.inference.moves.base import ChainState, Move, Randomness, Record, Tuning, WarmUp, evaluated
from interplay.inference.moves.informed import joint_evidence, signs, strongest, trace_evidence
from interplay.inference.moves.library import Library
from interplay.inference.moves.local import Locals, Tables, with_background
from interplay.model.posterior import Evaluation, Posterior

MOST_JOINT = 2.0e9
"""Number n² p up to which tables have the correlations among a variable's own features."""


BELOW_EDGE = 1.0
"""Members of a set are at most this far below the edge between inactive and active; f_j is cut off there."""


class Rest(NamedTuple):
    """The variables outside a set, and their laws given the set; no laws where there are none."""

    variables: Int[np.ndarray, " r"]
    tables: Tables | None

    def draw(self, random: np.random.Generator) -> Float[np.ndarray, " r"]:
        """A local coordinate of each."""
        if self.tables is None:
            return np.zeros(0)
        odds = expit(self.tables.log_active - self.tables.log_inactive)
        return self.tables.draw(random.random(odds.size) < odds, random)

    def log_density(self, local: Float[np.ndarray, " r"]) -> float:
        """Σ log q_i of local coordinates, whether or not they are active."""
        if self.tables is None:
            return 0.0
        inactive, active = self.tables.log_inactive, self.tables.log_active
        log_share = np.where(local >= self.tables.edges, active, inactive) - np.logaddexp(active, inactive)
        return float(np.sum(self.tables.log_density(local) + log_share))


@final
@dataclass(frozen=True)
class ModeJump(Move):
    """Propose a whole new position at one of the sets of a library, wherever the chain is.

    An independence sampler (Tierney 1994) whose proposal is a mixture over modes, as in Andricioaei, Straub
    and Voter (2001) and Pompe, Holmes and Łatuszyński (2020). A set S_j is drawn uniformly, its members and
    the global coordinates from their joint fit f_j, and each other local coordinate from the table q_i of its
    conditional law, given these and all others at a background weight. With h the density of all that,

        h(x) = (1/J) Σ_j f_j(g, l_S) Π_{i ∉ S} q_i(l_i | g, l_S),    log a = log π(x') h(x) / π(x) h(x')

    f_j is cut off where a member is far from active, and what is drawn there is refused. So tables are needed
    only for sets whose members are all active, which are few at any one position.
    The tables leave out squares and higher orders, and the acceptance does not. The library is the tuning; it
    is fitted by the remedy for chains that disagree, and nothing else changes it.
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "mode_jump"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rate."""
        return ("jump_acceptance",)

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """No sets: the move does nothing until it has some."""
        return Library.empty().arrays()

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """One proposal."""
        library = Library.from_arrays(tuning)
        if not len(library):
            return state, {"jump_acceptance": math.nan}
        state, evaluation = evaluated(posterior, state)
        # Signs that are drawn before anything else are the same for both directions.
        mixture = Mixture(posterior, library, evaluation, signs(posterior.design.n, random.own))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            number = int(random.own.integers(len(library)))
            proposal, log_proposal = mixture.draw(number, random.own)
            if proposal is None:
                return state, {"jump_acceptance": 0.0}
            after = posterior.evaluate(proposal)
            log_ratio = after.log_density - log_proposal
            log_ratio += mixture.log_density(state.position) - evaluation.log_density
        rate = math.exp(min(log_ratio, 0.0)) if math.isfinite(log_ratio) else 0.0
        if random.own.random() < rate:
            state = replace(state, position=proposal, log_density=after.log_density, evaluation=after)
        return state, {"jump_acceptance": rate}

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """The library stays as it is."""
        return tuning

    def settle(self, tuning: Tuning) -> Tuning:
        """The library stays as it is."""
        return tuning


@dataclass(frozen=True, eq=False)
class Mixture:
    """The distribution h of proposals.

    Parameters
    ----------
    posterior, library
        The model, and its modes.
    near
        A position whose matrices are known.
    probes
        Vectors of signs, by which traces are estimated.
    """

    posterior: Posterior
    library: Library
    near: Evaluation
    probes: Float[np.ndarray, "n s"]

    def draw(self, number: int, random: np.random.Generator) -> tuple[Float[np.ndarray, " D"] | None, float]:
        """A draw of the component of a set, and log h there; None where the component is not defined."""
        coordinates = self._coordinates(number)
        x = np.zeros(self.posterior.dimension)
        x[coordinates] = self.library.draw(number, coordinates.size, random)
        if self._log_fit(number, x) == -math.inf:
            return None, -math.inf
        rest = self.rest(number, x)
        if rest is None:
            return None, -math.inf
        x[self.posterior.local[rest.variables]] = rest.draw(random)
        if not np.all(np.isfinite(x)):
            return None, -math.inf
        return x, self.log_density(x, {number: rest})

    def log_density(self, x: Float[np.ndarray, " D"], known: dict[int, Rest] | None = None) -> float:
        """Log h at a position.

        Parameters
        ----------
        x
            The position.
        known
            The laws of what is outside of some of the sets, given the position.
        """
        parts = np.array([self._component(number, x, known or {}) for number in range(len(self.library))])
        return float(np.logaddexp.reduce(parts)) - math.log(len(self.library))

    def _component(self, number: int, x: Float[np.ndarray, " D"], known: dict[int, Rest]) -> float:
        value = self._log_fit(number, x)
        if value == -math.inf:
            return value
        rest = known[number] if number in known else self.rest(number, x)
        if rest is None:
            return -math.inf
        return value + rest.log_density(x[self.posterior.local[rest.variables]])

    def _log_fit(self, number: int, x: Float[np.ndarray, " D"]) -> float:
        """Log f_j of the global coordinates and the members'; −inf where it is cut off."""
        local = self.posterior.local
        members = self.library.set_of(number, local.size)
        value = self.library.log_density(number, x[self._coordinates(number)])
        if value == -math.inf or np.all(
            x[local[members]] >= Locals.at(self.posterior, x).edges[members] - BELOW_EDGE
        ):
            return value
        return -math.inf

    def _coordinates(self, number: int) -> Int[np.ndarray, " z"]:
        """The global coordinates, and those of a set's members."""
        local = self.posterior.local
        first = np.arange(self.posterior.dimension - local.size)
        return np.append(first, local[self.library.set_of(number, local.size)])

    def rest(self, number: int, x: Float[np.ndarray, " D"]) -> Rest | None:
        """The variables outside a set, by the global coordinates and the members alone."""
        posterior = self.posterior
        members = self.library.set_of(number, posterior.local.size)
        variables = np.setdiff1d(np.arange(posterior.local.size), members)
        if not variables.size:
            return Rest(variables, None)
        background = with_background(posterior, x, variables)
        variances, working = posterior.model(background)
        resolvent = posterior.kernel.resolvent(variances, working, self.near.factored)
        if resolvent is None or not np.all(np.isfinite(resolvent[1])):
            return None
        locals_ = Locals.at(posterior, background)
        partners = strongest(posterior, locals_.weights, members)
        if posterior.design.n**2 * variables.size <= MOST_JOINT:
            evidence = joint_evidence(posterior, variances, resolvent, variables, partners)
        else:
            evidence = trace_evidence(posterior, variances, resolvent, variables, partners, self.probes)
        return Rest(variables, Tables.of(evidence, locals_.scales, locals_.edges[variables]))
