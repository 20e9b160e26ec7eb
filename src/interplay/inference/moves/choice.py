"""Which moves sample a posterior."""

from collections.abc import Callable

from interplay.inference.moves.add_delete_swap import AddDeleteSwap, Windows
from interplay.inference.moves.base import Move
from interplay.inference.moves.coefficients import CoefficientDraw
from interplay.inference.moves.collapsed import CollapsedDraw
from interplay.inference.moves.hmc import HMC
from interplay.inference.moves.inactive import Inactive
from interplay.inference.moves.mode_jump import ModeJump
from interplay.inference.moves.rescale import Rescale
from interplay.inference.moves.scales import InterwovenScales
from interplay.model.posterior import Posterior


def choose_moves(
    posterior: Posterior, hmc: HMC, windows: Callable[[], Windows], *, jumps: bool = False
) -> tuple[Move, ...]:
    """The moves of an iteration, in their order.

    Without local scales nothing keeps trajectories from all modes: HMC alone. With them, in feature space the
    coefficients are explicit and moves cost the same for any number of rows; in kernel space they are
    integrated out, and moves cost the same for any number of coefficients.

    Parameters
    ----------
    posterior
        The model.
    hmc
        The trajectories, where they move on the marginal density; their acceptance rate elsewhere.
    windows
        Gives the candidates of moves between sets of variables, in kernel space.
    jumps
        Whether there are jumps between the sets of a library, which are for kernel space alone.
    """
    if not posterior.prior.has_local_scales:
        return (hmc,)
    if posterior.engine.has_coefficients:
        # The draw of the coefficients comes last, so that what it records is given the scales of the draw.
        return CollapsedDraw(), InterwovenScales(hmc.acceptance), CoefficientDraw()
    moves = (hmc, AddDeleteSwap(windows()), Inactive(), Rescale())
    return (*moves, ModeJump()) if jumps else moves
