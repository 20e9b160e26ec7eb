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
from jaxtyping import Array, Float, Int, Key

from interplay.data.design import Design
from interplay.inference.target import Target
from interplay.inference.threads import SINGLE_THREAD
from interplay.model.trees import Leaf, record

SLOTS = 12
"""Most variables in a set; trajectories find others from there."""

MOST_ROWS = 400
"""Rows that a walker looks at, drawn at random where there are more."""

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
    p
        Number of variables.
    """

    X: Leaf
    y: Leaf
    one: Leaf
    owner: Leaf
    square: Leaf
    columns: Leaf
    p: int


class Sketch(NamedTuple):
    """A set of variables with effects of one size, and what the likelihood says of it.

    The members are padded with p. The appeal is the log Bayes factor of adding each variable, nearly.
    """

    members: Int[Array, " k"]
    log_size: Float[Array, ""]
    log_sigma: Float[Array, ""]
    log_evidence: Float[Array, ""]
    appeal: Float[Array, " p"]


def some_rows(design: Design, key: Key[Array, ""]) -> Rows:
    """The rows for the walkers, all of them or a random part."""
    chosen = np.arange(design.n)
    if design.n > MOST_ROWS:
        chosen = np.sort(np.asarray(jax.random.choice(key, design.n, (MOST_ROWS,), replace=False)))
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
        owner=jnp.asarray(design.owner),
        square=jnp.asarray(square),
        columns=jnp.asarray(columns),
        p=design.p,
    )


@partial(jax.jit, static_argnames="steps", compiler_options=SINGLE_THREAD)
def walk(target: Target, rows: Rows, rank: Float[Array, " p"], key: Key[Array, ""], steps: int) -> Sketch:
    """Walk over sets of variables, from the first few by rank.

    A step adds, drops or swaps a variable or changes the sizes, and is taken with the ratio of evidences as
    its chance. Newcomers are drawn in proportion to their appeal to the set that they would join.
    """
    p, least = target.p, _least(target)

    def step(state: Sketch, inputs: tuple[Array, Array]) -> tuple[Sketch, None]:
        keys, kind = jax.random.split(inputs[0], 5), inputs[1]
        count = jnp.sum(state.members < p)
        slots = jnp.arange(state.members.size)
        leaver = jax.random.categorical(keys[0], jnp.where(state.members < p, 0.0, -jnp.inf))
        leave = (kind == SWAP) | ((kind == DROP) & (count > least))
        stay = jnp.where(leave & (slots == leaver), p, state.members)
        change = jnp.where(kind == SCALE, jax.random.normal(keys[1], (2,)), 0.0)
        sizes = state.log_size + 0.3 * change[0], state.log_sigma + 0.2 * change[1]
        base = assess(target, rows, stay, *sizes)
        newcomer = jax.random.categorical(keys[2], base.appeal)
        room = jnp.argmax(stay)
        add = ((kind == SWAP) | (kind == ADD)) & (stay[room] == p) & jnp.isfinite(base.appeal[newcomer])
        proposal = assess(target, rows, stay.at[room].set(jnp.where(add, newcomer, stay[room])), *sizes)
        chance = jnp.nan_to_num(proposal.log_evidence - state.log_evidence, nan=-jnp.inf)
        accept = jnp.log(jax.random.uniform(keys[3])) < chance
        return jax.tree.map(lambda new, old: jnp.where(accept, new, old), proposal, state), None

    first = jnp.full(min(SLOTS, p), p).at[: min(least, SLOTS)].set(jnp.argsort(-rank)[: min(least, SLOTS)])
    begin = assess(target, rows, first, jnp.zeros(()), jnp.log(0.6))
    kinds = jnp.array(KINDS)[jnp.arange(steps) % len(KINDS)]
    return jax.lax.scan(step, begin, (jax.random.split(key, steps), kinds))[0]


def assess(
    target: Target,
    rows: Rows,
    members: Int[Array, " k"],
    log_size: Float[Array, ""],
    log_sigma: Float[Array, ""],
) -> Sketch:
    """The evidence for a set, and the appeal of each variable to it.

    The evidence is log p(y | set, sizes), with main, quadratic and pairwise effects, and the log prior odds
    for each member beyond the expected number. The appeal of a variable is the sum over its main effect and
    its pairs with the members of

        ½ [S q² / (1 + S r) − log(1 + S r)],    q = φᵀα,  r = ‖φ‖² tr H / m,  H = (K + σ²I)⁻¹,  α = H y

    which is the gain of evidence by that feature alone, with φᵀHφ put at its average.
    """
    p, prior = target.p, target.prior
    included = jnp.zeros(p + 1, dtype=bool).at[members].set(True)[:p]
    sigma = jnp.exp(log_sigma)
    position = prior.place(included, jnp.exp(log_size), sigma, target.n, p)
    variances = prior.variances(prior.constrain(position, target.n, p), p)
    weight = jnp.max(variances.weights)
    main, pair = variances.orders[0, 0] * weight, variances.orders[0, 1] * weight**2
    quadratic = variances.squares[0] * weight**2

    padded = jnp.pad(rows.X, ((0, 0), (0, 1)))
    columns = jnp.pad(rows.columns, ((0, 1), (0, 0)), constant_values=rows.X.shape[1])[members]
    x = padded[:, columns]
    own = jnp.einsum("agw,bgw->gab", x, x)
    K1, K2 = own.sum(axis=0), (own**2).sum(axis=0)
    squares = jnp.pad(rows.square, (0, 1))[columns[:, 0]]
    K2_numeric = jnp.einsum("g,gab->ab", squares, own**2)
    K = variances.intercept + main * K1 + 0.5 * pair * (K1**2 - K2) + quadratic * K2_numeric
    m = rows.y.size
    lower = jnp.linalg.cholesky(
        rows.one[:, None] * K * rows.one + sigma**2 * jnp.eye(m), symmetrize_input=False
    )
    inverse_root = solve_triangular(lower, jnp.eye(m), lower=True)
    white = inverse_root @ rows.y
    alpha = rows.one * (inverse_root.T @ white)
    # A row of weight w counts as w copies: w − 1 more factors of the noise.
    copies = jnp.sum(rows.one**2) - m
    value = -0.5 * (white @ white + copies * jnp.log(sigma**2)) - jnp.sum(jnp.log(jnp.diag(lower)))

    average = jnp.sum(inverse_root**2) / m
    squared = rows.X**2 * rows.one[:, None] ** 2

    def gain(S: Array, q: Array, norm: Array) -> Array:
        information = S * average * norm
        return 0.5 * (S * q**2 / (1.0 + information) - jnp.log1p(information))

    flat = x.reshape(m, -1)
    alone = gain(main, alpha @ rows.X, squared.sum(axis=0))
    together = gain(pair, (flat * alpha[:, None]).T @ rows.X, (flat**2).T @ squared).sum(axis=0)
    appeal = jax.ops.segment_sum(alone + together, rows.owner, num_segments=p)
    expected = prior.expected(p)
    beyond = jnp.maximum(jnp.sum(members < p) - _least(target), 0)
    log_odds = jnp.log(expected / (p - expected))
    return Sketch(
        members, log_size, log_sigma, value + log_odds * beyond, jnp.where(included, -jnp.inf, appeal)
    )


def _least(target: Target) -> int:
    return max(1, int(target.prior.expected(target.p)))
