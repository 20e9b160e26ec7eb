"""A walk over small sets of variables, to find those that explain the response.

Effects have one common size, so a step costs O(n³ + n p) and not O(n² p). It is a search and not a sampler:
that newcomers are proposed by their appeal is not corrected for, which favours the better of two rivals.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Bool, Float, Int, Key

from interplay.data.design import Design
from interplay.inference.target import Target
from interplay.inference.threads import SINGLE_THREAD
from interplay.model.trees import Leaf, record
from interplay.model.variances import Variances

SLOTS = 12
"""Most variables in a set; trajectories find others from there."""

FEWEST_ROWS, MOST_ROWS = 200, 400
"""Rows that a walker looks at, drawn at random where there are more: as many as variables, between these."""

ADD, DROP, SWAP, SCALE = range(4)
KINDS = (SWAP, ADD, SWAP, DROP, SCALE)
"""What a walker tries, in turn."""


@record("p")
class Rows:
    """The rows that a walker looks at, each times the root of its weight.

    Parameters
    ----------
    X, y
        Covariates, (m, d), and response, (m,); the intercept is the column `one`, (m,).
    owner, square
        Variable of each column, and whether it has a quadratic effect, (d,).
    columns
        Columns of each variable, padded with d, (p, w).
    probe
        Random signs, (m,), to estimate a trace.
    p
        Number of variables.
    """

    X: Leaf
    y: Leaf
    one: Leaf
    probe: Leaf
    owner: Leaf
    square: Leaf
    columns: Leaf
    p: int


class Sketch(NamedTuple):
    """A set of variables with effects of one size, and what the likelihood says of it.

    The members are padded with p. The residuals are H y with H = (K + σ²I)⁻¹, and the precision is tr H / m.
    """

    members: Int[Array, " k"]
    log_size: Float[Array, ""]
    log_sigma: Float[Array, ""]
    log_evidence: Float[Array, ""]
    residuals: Float[Array, " m"]
    precision: Float[Array, ""]


def some_rows(design: Design, key: Key[Array, ""]) -> Rows:
    """The rows for the walkers, all of them or a random part."""
    chosen = np.arange(design.n)
    most = min(max(design.p, FEWEST_ROWS), MOST_ROWS)
    if design.n > most:
        chosen = np.sort(np.asarray(jax.random.choice(key, design.n, (most,), replace=False)))
    root = np.ones(design.n) if design.weights is None else np.sqrt(design.weights)
    width = max(variable.stop - variable.start for variable in design.variables)
    columns = np.full((design.p, width), design.d)
    for g, variable in enumerate(design.variables):
        columns[g, : variable.stop - variable.start] = np.arange(variable.start, variable.stop)
    square = np.array([design.variables[g].squares for g in design.owner], dtype=np.float64)
    return Rows(
        X=jnp.asarray(design.X[chosen]),
        y=jnp.asarray((root * design.y)[chosen]),
        one=jnp.asarray(root[chosen]),
        probe=jax.random.rademacher(jax.random.fold_in(key, 1), (len(chosen),), dtype=jnp.float64),
        owner=jnp.asarray(design.owner),
        square=jnp.asarray(square),
        columns=jnp.asarray(columns),
        p=design.p,
    )


def least(target: Target) -> int:
    """Variables of the smallest sets: as many as are expected."""
    return min(max(1, int(target.prior.expected(target.p))), slots(target))


def slots(target: Target) -> int:
    """The most variables in a set."""
    return min(SLOTS, target.p)


@partial(jax.jit, static_argnames="steps", compiler_options=SINGLE_THREAD)
def walk(
    target: Target,
    rows: Rows,
    first: Int[Array, " k"],
    sizes: Float[Array, " 2"],
    key: Key[Array, ""],
    steps: int,
) -> Sketch:
    """Walk over sets of variables.

    A step adds, drops or swaps a variable or changes the sizes, and is taken with the ratio of evidences as
    its chance. Newcomers are drawn in proportion to their appeal to the set that they would join.

    Parameters
    ----------
    target, rows
        The posterior, and the rows to look at.
    first, sizes
        Where to begin: a set, padded with p; log size of effects and log σ.
    key, steps
        Random key, and number of steps.
    """
    p, fewest = target.p, least(target)

    def step(state: Sketch, inputs: tuple[Array, Array]) -> tuple[Sketch, None]:
        keys, kind = jax.random.split(inputs[0], 5), inputs[1]
        count = jnp.sum(state.members < p)
        places = jnp.arange(state.members.size)
        leaver = jax.random.categorical(keys[0], jnp.where(state.members < p, 0.0, -jnp.inf))
        leave = (kind == SWAP) | ((kind == DROP) & (count > fewest))
        stay = jnp.where(leave & (places == leaver), p, state.members)
        change = jnp.where(kind == SCALE, jax.random.normal(keys[1], (2,)), 0.0)
        sizes = state.log_size + 0.3 * change[0], state.log_sigma + 0.2 * change[1]
        base = assess(target, rows, stay, *sizes)
        room = jnp.argmax(stay)

        def joined() -> Sketch:
            newcomer = jax.random.categorical(keys[2], appeal(target, rows, base))
            return assess(target, rows, stay.at[room].set(newcomer), *sizes)

        add = ((kind == SWAP) | (kind == ADD)) & (stay[room] == p) & (count < p)
        proposal = jax.lax.cond(add, joined, lambda: base)
        chance = jnp.nan_to_num(proposal.log_evidence - state.log_evidence, nan=-jnp.inf)
        accept = jnp.log(jax.random.uniform(keys[3])) < chance
        return jax.tree.map(lambda new, old: jnp.where(accept, new, old), proposal, state), None

    begin = assess(target, rows, first, *sizes)
    kinds = jnp.array(KINDS)[jnp.arange(steps) % len(KINDS)]
    return jax.lax.scan(step, begin, (jax.random.split(key, steps), kinds))[0]


def assess(
    target: Target,
    rows: Rows,
    members: Int[Array, " k"],
    log_size: Float[Array, ""],
    log_sigma: Float[Array, ""],
) -> Sketch:
    """The evidence for a set.

    It is log p(y | set, sizes), with main, quadratic and pairwise effects, and the log prior odds for each
    member beyond the expected number.
    """
    p, m, sigma = target.p, rows.y.size, jnp.exp(log_sigma)
    variances, main, pair = _variances(target, members, log_size, log_sigma)
    columns, x = _columns(rows, members)
    # Products of the columns of one variable, with themselves too: those of a number are its square.
    own = (x[:, :, :, None] * x[:, :, None, :]).reshape(m, -1)
    is_number = jnp.repeat(jnp.pad(rows.square, (0, 1))[columns[:, 0]], columns.shape[1] ** 2)
    K1, K2 = (part @ part.T for part in (x.reshape(m, -1), own))
    quadratic = variances.squares[0] * jnp.max(variances.weights) ** 2
    K = variances.intercept + main * K1 + 0.5 * pair * (K1**2 - K2) + (quadratic * is_number * own) @ own.T
    lower = jnp.linalg.cholesky(
        rows.one[:, None] * K * rows.one + sigma**2 * jnp.eye(m), symmetrize_input=False
    )
    white, probe = solve_triangular(lower, jnp.column_stack([rows.y, rows.probe]), lower=True).T
    # A row of weight w counts as w copies: w − 1 more factors of the noise.
    copies = jnp.sum(rows.one**2) - m
    value = -0.5 * (white @ white + copies * jnp.log(sigma**2)) - jnp.sum(jnp.log(jnp.diag(lower)))
    expected = target.prior.expected(p)
    beyond = jnp.maximum(jnp.sum(members < p) - least(target), 0)
    return Sketch(
        members,
        log_size,
        log_sigma,
        value + jnp.log(expected / (p - expected)) * beyond,
        solve_triangular(lower, white, trans="T", lower=True),
        probe @ probe / m,
    )


def appeal(target: Target, rows: Rows, sketch: Sketch) -> Float[Array, " p"]:
    """How much each variable would add to a set: nearly the log Bayes factor.

    That is the sum over its main effect and its pairs with the members of

        ½ [S q² / (1 + S r) − log(1 + S r)],    q = φᵀH y,  r = ‖φ‖² tr H / m

    which is the gain of evidence by that feature alone, with φᵀHφ put at its average. No member appeals.
    """
    p = target.p
    _, main, pair = _variances(target, sketch.members, sketch.log_size, sketch.log_sigma)
    flat = _columns(rows, sketch.members)[1].reshape(rows.y.size, -1)
    alpha, squared = rows.one * sketch.residuals, rows.X**2 * rows.one[:, None] ** 2

    def gain(S: Array, q: Array, norm: Array) -> Array:
        information = S * sketch.precision * norm
        return 0.5 * (S * q**2 / (1.0 + information) - jnp.log1p(information))

    alone = gain(main, alpha @ rows.X, squared.sum(axis=0))
    together = gain(pair, (flat * alpha[:, None]).T @ rows.X, (flat**2).T @ squared).sum(axis=0)
    total = jax.ops.segment_sum(alone + together, rows.owner, num_segments=p)
    return jnp.where(_included(target, sketch.members), -jnp.inf, total)


def _variances(
    target: Target, members: Int[Array, " k"], log_size: Float[Array, ""], log_sigma: Float[Array, ""]
) -> tuple[Variances, Float[Array, ""], Float[Array, ""]]:
    """Prior variances with effects of one size, and those of main effects and pairs in a set."""
    prior, n, p = target.prior, target.n, target.p
    included = _included(target, members)
    position = prior.place(included, jnp.exp(log_size), jnp.exp(log_sigma), n, p)
    variances = prior.variances(prior.constrain(position, n, p), p)
    weight = jnp.max(variances.weights)
    return variances, variances.orders[0, 0] * weight, variances.orders[0, 1] * weight**2


def _columns(rows: Rows, members: Int[Array, " k"]) -> tuple[Int[Array, "k w"], Float[Array, "m k w"]]:
    """Indices and values of the columns of the members, zero where padded."""
    columns = jnp.pad(rows.columns, ((0, 1), (0, 0)), constant_values=rows.X.shape[1])[members]
    return columns, jnp.pad(rows.X, ((0, 0), (0, 1)))[:, columns]


def _included(target: Target, members: Int[Array, " k"]) -> Bool[Array, " p"]:
    return jnp.zeros(target.p + 1, dtype=bool).at[members].set(True)[: target.p]
