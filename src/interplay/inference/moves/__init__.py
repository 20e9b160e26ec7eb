"""Moves: Markov kernels that leave the posterior invariant."""

from interplay.inference.moves.add_delete_swap import AddDeleteSwap
from interplay.inference.moves.base import ChainState, Lesson, Move, Randomness, Tuning, WarmUp
from interplay.inference.moves.hmc import HMC
from interplay.inference.moves.inactive import Inactive
from interplay.inference.moves.mode_jump import ModeJump
from interplay.inference.moves.rescale import Rescale

__all__ = [
    "HMC",
    "AddDeleteSwap",
    "ChainState",
    "Inactive",
    "Lesson",
    "ModeJump",
    "Move",
    "Randomness",
    "Rescale",
    "Tuning",
    "WarmUp",
]
