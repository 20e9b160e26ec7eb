"""The figures as tables, the same on the screen and on the page."""

from benchmarks.goals import Goal, goals_table
from benchmarks.gradient import Gradient
from benchmarks.method import METHODS
from benchmarks.probe import RESOLUTION, ROWS
from benchmarks.problem import POSITION
from benchmarks.scaling import Curve, Point, disagreement
from benchmarks.search import STRONGEST, Search
from benchmarks.table import Table
from benchmarks.timing import Times


def tables(gradients: list[Gradient], curves: list[Curve], found: Search, goals: list[Goal]) -> list[Table]:
    """All tables in the order in which they are shown."""
    return [
        goals_table(goals, "From the medians in the tables below."),
        _gradients(gradients),
        _scaling(curves),
        _slopes(curves),
        _search(found),
    ]


def _search(found: Search) -> Table:
    note = (
        "The strongest pairs by |mean|/sd over all draws, exactly, in a fresh process: seconds, "
        "peak resident memory of the process, and how many of the "
        f"{STRONGEST} strongest are those in the simulated response."
    )
    pairs = found.p * (found.p - 1) // 2
    row = [f"{found.n}", f"{found.p}", f"{found.draws}", f"{pairs}", f"{found.seconds:.0f}"]
    row += [f"{found.bytes / 1e9:.2f}", f"{found.found} of {STRONGEST}"]
    heads = ["N", "p", "draws", "pairs", "seconds", "peak GB", "true"]
    return Table("Search through all pairs", note, heads, [row])


def _gradients(gradients: list[Gradient]) -> Table:
    note = (
        "Milliseconds for the log density of all hyperparameters and its gradient, as the sampler takes it, "
        "in single precision: median, and least in brackets, of runs in turns. The *limit* is the bare "
        "products of the same sizes: one symmetric N × p × N product and one N × N × p product in single "
        "precision, a Cholesky factor in double and an inverse in single precision. *0.1.0* is the compiled "
        "gradient of that version of interplay, in the same turns; with a star, as it was committed on "
        "2026-11-15, from another run. *Shift* is how far single precision and truncation move the log "
        f"density, and at most a part of its gradient. The position is {POSITION}."
    )
    rows = [
        [
            str(g.n),
            str(g.p),
            _both(g.times["interplay"]),
            _both(g.times["limit"]),
            _old(g),
            f"{g.to_limit:.2f}",
            "–" if g.to_old is None else f"{g.to_old:.2f}",
            f"{g.value_shift:.0e}, {g.gradient_shift:.0e}",
            str(g.times["interplay"].runs),
        ]
        for g in gradients
    ]
    ratios = ["interplay / limit", "interplay / 0.1.0"]
    heads = ["N", "p", "interplay", "limit", "0.1.0", *ratios, "shift", "runs"]
    return Table("Log density and gradient: times (ms) and ratios", note, heads, rows)


def _old(gradient: Gradient) -> str:
    if gradient.old_measured:
        return _both(gradient.times["0.1.0"])
    return "–" if gradient.old is None else f"{_number(gradient.old)}*"


def _scaling(curves: list[Curve]) -> Table:
    stops = "; ".join(f"{curve.method} stops where {curve.stopped}" for curve in curves if curve.stopped)
    note = (
        f"One log p(D | τ, σ²), N = {ROWS}, isotropic prior as in the paper (even weights, so that nothing "
        "is truncated). Time: median ms, and least in brackets, with the features of Woodbury and naive "
        "made before. Memory: peak resident MB of a fresh process beyond what it held before it had the "
        "data; X and the features count. "
        f"{stops}{'. ' if stops else ''}"
        f"The log likelihoods of the methods agree to a relative {disagreement(curves):.0e}."
    )
    found = {(curve.method, point.p): point for curve in curves for point in curve.points}
    rows = [
        [str(p), *(cell for curve in curves for cell in _cells(found.get((curve.method, p))))]
        for p in sorted({p for _, p in found})
    ]
    heads = ["p", *(f"{curve.method} {what}" for curve in curves for what in ("ms", "MB"))]
    return Table("Figure 1: time and memory against p", note, heads, rows)


def _slopes(curves: list[Curve]) -> Table:
    note = (
        "Slopes of least squares lines through the logarithms, over the upper part of each range (and, where "
        "that is longer, over its last decade), beside the orders of the paper's Table 1."
    )
    rows = [row for curve in curves for row in _fits(curve)]
    heads = ["method", "range of p", "time", "memory", "paper: time", "paper: memory"]
    return Table("Figure 1: exponents of p", note, heads, rows)


def _fits(curve: Curve) -> list[list[str]]:
    method, slope, last = METHODS[curve.method], curve.slope, curve.points[-1].p
    fits = [(slope.fit_from, slope.time, slope.memory)]
    if slope.decade_from > slope.fit_from:
        fits.append((slope.decade_from, slope.time_last_decade, slope.memory_last_decade))
    orders = [method.time_order, method.memory_order]
    return [
        [curve.method, f"{first} … {last}", f"{time:.2f}", f"{memory:.2f}", *orders]
        for first, time, memory in fits
    ]


def _both(times: Times) -> str:
    return f"{_number(times.median)} ({_number(times.least)})"


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):g}"


def _cells(point: Point | None) -> list[str]:
    if point is None:
        return ["–", "–"]
    return [_both(point.times), _number(point.bytes / 1e6) if point.bytes > RESOLUTION else "< 0.1"]
