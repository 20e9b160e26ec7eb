"""A chain in feature space while scales and coefficients change, with what is kept of it."""

from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.moves.base import ChainState
from interplay.inference.moves.elimination import Elimination
from interplay.inference.moves.explicit import COEFFICIENTS, Explicit, log_share, score_of, with_coefficients
from interplay.inference.moves.law import ShareLaw
from interplay.model.engines.coefficients import Coefficients
from interplay.model.posterior import Posterior

CUT = 2.5
"""Signal-to-noise ratio from which a feature competes with others, and its coefficient is integrated out."""

LARGER_CUT = 0.5
"""Ratio from which a feature's Gram matrix and score are kept through a sweep, as it may come to compete."""

FAINT = 0.01
"""Ratio at the largest weight below which a feature of a variable keeps its standardised coefficient."""


class Block(NamedTuple):
    """The features of some variables, as columns that take part in an elimination.

    Parameters
    ----------
    features
        All features of the variables, (b,).
    others
        Features that compete with them, (o,), and their places among the kept ones.
    mixture
        Coefficients of the features as combinations of the columns' own, (b, k).
    elimination
        The competing coefficients, integrated out.
    whitened
        The response, then each column, in the metric of the elimination, (1 + k, o).
    products
        aᵀHb of the response and the columns; that of the response with itself is left out, (1 + k, 1 + k).
    """

    features: Int[np.ndarray, " b"]
    others: Int[np.ndarray, " o"]
    places: Int[np.ndarray, " o"]
    rows: Float[np.ndarray, "b a"]
    mixture: Float[np.ndarray, "b k"]
    elimination: Elimination
    whitened: Float[np.ndarray, "c o"]
    products: Float[np.ndarray, "c c"]


@final
@dataclass(eq=False)
class Sweep:
    """The state of a chain while its scales and coefficients change, with what is kept of it.

    Parameters
    ----------
    explicit
        The scales at its beginning.
    half_odds, theta, log_variances
        The current w of each variable, coefficients, and log prior variances.
    members, place
        Features whose Gram matrix is kept, and the place of every feature among them, or −1.
    gram, score
        ΦᵀWΦ and ΦᵀW(z − Φθ) of the members.
    """

    explicit: Explicit
    half_odds: Float[np.ndarray, " p"]
    theta: Float[np.ndarray, " D"]
    log_variances: Float[np.ndarray, " D"]
    signals: Float[np.ndarray, " D"]
    members: Int[np.ndarray, " a"]
    place: Int[np.ndarray, " D"]
    gram: Float[np.ndarray, "a a"]
    score: Float[np.ndarray, " a"]

    @classmethod
    def of(cls, posterior: Posterior, state: ChainState) -> "Sweep":
        """At a state."""
        explicit = Explicit.at(posterior, state.position)
        log_variances = explicit.log_variances.copy()
        signals = explicit.signals(log_variances)
        kept = signals > LARGER_CUT
        kept[0] = True
        members = np.flatnonzero(kept)
        place = np.full(kept.size, -1)
        place[members] = np.arange(members.size)
        return cls(
            explicit,
            explicit.half_odds.copy(),
            state.auxiliary[COEFFICIENTS].copy(),
            log_variances,
            signals,
            members,
            place,
            explicit.coefficients.gram(members),
            score_of(explicit, state)[members],
        )

    @property
    def coefficients(self) -> Coefficients:
        """What the rows say of the coefficients."""
        return self.explicit.coefficients

    def state(self, posterior: Posterior, state: ChainState) -> ChainState:
        """The state of the chain now."""
        x = state.position.copy()
        x[posterior.local] = self.half_odds - self.explicit.scales.log_ratio
        moved = replace(state, position=x)
        score = self.coefficients.score(self.theta)
        return with_coefficients(posterior, Explicit.at(posterior, x), moved, self.theta, score)

    def draw(self, variable: int, random: np.random.Generator) -> float:
        """Draw the scale of a variable and its coefficients; the acceptance rate."""
        incidence = self.explicit.incidence
        features, has_square = incidence.blocks[variable], bool(incidence.has_square[variable])
        log_s = float(log_share(self.half_odds[variable]))
        root = self._roots(features, log_s, has_square)
        linear = features.size - has_square
        explicit = (
            root[:linear] ** 2 * self.coefficients.norms[features[:linear]] > FAINT * self.explicit.noise
        )
        drawn, held = np.flatnonzero(explicit), np.flatnonzero(~explicit)
        k = drawn.size
        # Columns: the features that are drawn, the sum of those that keep their coefficients, and the square.
        mixture = np.zeros((features.size, k + 2))
        mixture[drawn, np.arange(k)] = root[drawn]
        mixture[held, k] = self.theta[features[held]] * np.exp(-0.5 * log_s)
        if has_square:
            mixture[-1, k + 1] = root[-1]
        block = self.block(variable, features, mixture)
        if block is None:
            return 0.0
        products = block.products
        eigenvalues, rotation = np.linalg.eigh(products[1 : k + 1, 1 : k + 1])
        # Of a positive semi-definite matrix, but for the rounding of the difference that it is.
        eigenvalues = np.maximum(eigenvalues, 0.0)
        ends = [0, k + 1, k + 2]
        law = ShareLaw(
            np.maximum(eigenvalues, 0.0),
            products[ends, 1 : k + 1] @ rotation,
            products[np.ix_(ends, ends)],
            self.explicit.scales.log_ratio,
            has_square,
        )
        new, rate = law.draw(float(self.half_odds[variable]), random)
        held_by, of_square, rotated = law.coefficients(new, random)
        self.accept(block, np.concatenate([rotation @ rotated, [held_by, of_square]]), random)
        self.rescale(variable, new)
        return rate

    def block(
        self, variable: int, features: Int[np.ndarray, " b"], mixture: Float[np.ndarray, "b k"]
    ) -> Block | None:
        """The features of a variable in the metric of all that compete with them."""
        competing = self.signals > CUT
        competing[features] = False
        competing[0] = True
        others = np.flatnonzero(competing)
        places = self._places(others)
        noise = self.explicit.noise
        root = np.exp(0.5 * self.log_variances[others])
        gram = self.gram[places[:, None], places]
        elimination = Elimination.of(gram, root, noise)
        if elimination is None:
            return None
        all_rows = self.coefficients.rows_of(variable)
        rows = all_rows[:, self.members]
        rows_of_others, rows_of_block = rows[:, places], all_rows[:, features]
        without = self.theta.copy()
        without[others] = without[features] = 0.0
        of_block = self.coefficients.statistics.projection[features] - all_rows @ without
        of_others = self.score[places] + gram @ self.theta[others] + self.theta[features] @ rows_of_others
        columns = np.empty((1 + mixture.shape[1], others.size))
        columns[0] = of_others
        columns[1:] = mixture.T @ rows_of_others
        columns *= root / noise
        whitened = elimination.whitened(columns)
        products = whitened @ -whitened.T
        products[1:, 1:] += mixture.T @ rows_of_block @ mixture / noise
        with_response = mixture.T @ of_block / noise
        products[0, 1:] += with_response
        products[1:, 0] += with_response
        products[0, 0] = 0.0
        return Block(features, others, places, rows, mixture, elimination, whitened, products)

    def accept(
        self, block: Block, coefficients: Float[np.ndarray, " k"], random: np.random.Generator
    ) -> None:
        """Set the coefficients of the columns, and draw those of the competing features given them."""
        of_block = block.mixture @ coefficients
        remaining = block.whitened[0] - coefficients @ block.whitened[1:]
        of_others = block.elimination.draw(remaining, random)
        change = np.zeros(self.members.size)
        change[block.places] = of_others - self.theta[block.others]
        self.score -= self.gram @ change + (of_block - self.theta[block.features]) @ block.rows
        self.theta[block.others], self.theta[block.features] = of_others, of_block

    def rescale(self, variable: int, half_odds: float) -> None:
        """Set the scale of a variable."""
        features = self.explicit.incidence.blocks[variable]
        change = float(log_share(np.array(half_odds)) - log_share(self.half_odds[variable : variable + 1])[0])
        self.half_odds[variable] = half_odds
        self.log_variances[features] += change
        if self.explicit.incidence.has_square[variable]:
            self.log_variances[features[-1]] += change
        signals = self.coefficients.norms[features] / self.explicit.noise
        self.signals[features] = np.exp(self.log_variances[features]) * signals

    def _roots(
        self, features: Int[np.ndarray, " b"], log_s: float, has_square: bool
    ) -> Float[np.ndarray, " b"]:
        """Prior standard deviations at a share of one."""
        log_variances = self.log_variances[features] - log_s
        if has_square:
            log_variances[-1] -= log_s
        return np.exp(0.5 * log_variances)

    def _places(self, features: Int[np.ndarray, " o"]) -> Int[np.ndarray, " o"]:
        """The places of features among the kept ones, to which they are added where they are not there."""
        new = features[self.place[features] < 0]
        if new.size:
            self.score = np.concatenate([self.score, self.coefficients.scores(new, self.theta)])
            self.place[new] = self.members.size + np.arange(new.size)
            self.members = np.concatenate([self.members, new])
            self.gram = self.coefficients.gram(self.members)
        return self.place[features]
