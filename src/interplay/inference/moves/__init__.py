"""Moves: each takes a chain from state to state and leaves the posterior as it is."""

from interplay.inference.moves.base import ChainState, Move, Randomness, Tuning, WarmUp
from interplay.inference.moves.hmc import HMC
from interplay.inference.moves.swap import Swap

__all__ = ["HMC", "ChainState", "Move", "Randomness", "Swap", "Tuning", "WarmUp"]
