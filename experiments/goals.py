"""What the study is held against; whether a goal is met is computed from the figures alone."""

from collections.abc import Iterator

import numpy as np
from benchmarks.goals import Goal, at_least, at_most

from experiments.peers import PEERS, Key
from experiments.protocol import Outcome

CLEAN = 19 / 20
"""Share of the fits that are to have no false effect."""


def judge(outcomes: list[Outcome]) -> list[Goal]:
    """Hold the fits against the goals."""
    return [*_clean(outcomes), *_errors(outcomes)]


def by_setting(outcomes: list[Outcome]) -> dict[Key, list[Outcome]]:
    """The fits of each setting, in the order of their seeds."""
    keys: dict[Key, list[Outcome]] = {}
    for one in sorted(outcomes, key=lambda one: (one.n, one.p, one.scale, one.seed)):
        keys.setdefault((one.n, one.p, one.scale), []).append(one)
    return keys


def _clean(outcomes: list[Outcome]) -> Iterator[Goal]:
    for rule in ("paper", "lfsr"):
        clean = sum(not one.found[rule].false_terms for one in outcomes)
        bound = int(np.ceil(CLEAN * len(outcomes)))
        at = f"rule {rule}, all {len(outcomes)} fits"
        yield at_least("fits without a false main effect or pair", at, float(clean), float(bound))


def _errors(outcomes: list[Outcome]) -> Iterator[Goal]:
    for key, fits in by_setting(outcomes).items():
        peers = {name: cells[key] for name, cells in PEERS.items() if key in cells}
        for kind in ("main", "pair"):
            theirs = {
                name: error
                for name, peer in peers.items()
                if (error := (peer.main_error if kind == "main" else peer.pair_error)) is not None
            }
            if not theirs:
                continue
            best = min(theirs, key=lambda name: theirs[name])
            ours = np.mean([one.errors.mains if kind == "main" else one.errors.pairs for one in fits])
            at = f"{label(key)}, mean of {len(fits)}; the best peer is {best}"
            yield at_most(f"squared error of {kind}s", at, float(ours), theirs[best], strictly=True)


def label(key: Key) -> str:
    """(N, p, λ) as text."""
    return f"({key[0]}, {key[1]}, {key[2]:g})"
