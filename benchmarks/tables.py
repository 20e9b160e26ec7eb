"""The figures as tables, the same on the screen and on the page."""

from benchmarks.goals import Goal, goals_table
from benchmarks.gradient import ENGINES, RATIOS, Gradient
from benchmarks.method import METHODS
from benchmarks.probe import RESOLUTION, ROWS
from benchmarks.problem import WEIGHTS
from benchmarks.scaling import Curve, Point, disagreement
from benchmarks.search import STRONGEST, Search
from benchmarks.table import Table
from benchmarks.timing import Times


def tables(gradients: list[Gradient], curves: list[Curve], found: Search, goals: list[Goal]) -> list[Table]:
    """All tables in the order in which they are shown."""
    return [
        goals_table(
            goals, "From the medians in the tables below. With even weights there is no goal: see the ratios."
        ),
        _times(gradients),
        _ratios(gradients),
        _shifts(gradients),
        _scaling(curves),
        _slopes(curves),
        _search(found),
    ]


def _search(found: Search) -> Table:
    note = (
        "The strongest pairs by |mean|/sd over all draws, exactly, in a fresh process: seconds with "
        "compilation, peak resident memory of the process, and how many of the "
        f"{STRONGEST} strongest are those in the simulated response."
    )
    pairs = found.p * (found.p - 1) // 2
    row = [f"{found.n}", f"{found.p}", f"{found.draws}", f"{pairs}", f"{found.seconds:.0f}"]
    row += [f"{found.bytes / 1e9:.2f}", f"{found.found} of {STRONGEST}"]
    heads = ["N", "p", "draws", "pairs", "seconds", "peak GB", "true"]
    return Table("Search through all pairs", note, heads, [row])


def _times(gradients: list[Gradient]) -> Table:
    kinds = "; ".join(f"*{kind}*: {meaning}" for kind, meaning in WEIGHTS.items())
    note = (
        "Milliseconds for log p(y | τ, σ) and its gradient in all weights, scales and σ: median, and least "
        "in brackets, of runs in turns. *Automatic* differentiates the plain formula in float64, F = X∘X "
        "made before; *closed* is the closed form as it is by default; *exact* is the same without "
        "truncation; *float32* has products in single precision. The *limit* is 4N²p flops at the rate of "
        f"the N × p × N matrix product that was timed in the same turns. Weights: {kinds}."
    )
    names = ["automatic", *ENGINES, "limit", "limit32"]
    rows = [
        [*_size(g), *(_both(g.times[name]) for name in names), str(g.times["closed"].runs)] for g in gradients
    ]
    heads = [
        "weights",
        "N",
        "p",
        "automatic",
        "closed",
        "exact",
        "float32",
        "limit",
        "limit, float32",
        "runs",
    ]
    return Table("Log density and gradient: times (ms)", note, heads, rows)


def _ratios(gradients: list[Gradient]) -> Table:
    note = (
        "Ratios of medians, and of least times in brackets. The closed form computes half of what is "
        "symmetric, so that it can come close to the limit, which does not, or pass it. *Exact*, and "
        "*closed* with even weights, have the product of squares in full: twice the products of the limit."
    )
    rows = [[*_size(g), *(f"{r.median:.2f} ({r.least:.2f})" for r in g.ratios.values())] for g in gradients]
    return Table("Log density and gradient: ratios", note, ["weights", "N", "p", *RATIOS], rows)


def _shifts(gradients: list[Gradient]) -> Table:
    note = (
        "How far the closed forms are from automatic differentiation: the log density, and the largest "
        "difference in its gradient with respect to the logarithm of any weight, scale or σ."
    )
    heads = ["weights", "N", "p", "truncated"]
    heads += [f"{name}: {what}" for name in ENGINES for what in ("density", "gradient")]
    rows = [
        [
            *_size(g),
            "yes" if g.truncated else "no",
            *(f"{shift[name]:.0e}" for name in ENGINES for shift in (g.value_shift, g.gradient_shift)),
        ]
        for g in gradients
    ]
    return Table("Log density and gradient: differences", note, heads, rows)


def _scaling(curves: list[Curve]) -> Table:
    least = curves[0].points[0].bytes / 1e6
    stops = "; ".join(f"{curve.method} stops where {curve.stopped}" for curve in curves if curve.stopped)
    note = (
        f"One log p(D | τ, σ²), N = {ROWS}, isotropic prior as in the paper (even weights, so that nothing "
        "is truncated). Time: median ms, and least in brackets, with the features of Woodbury and naive "
        "made before. Memory: peak resident MB of a fresh process beyond what it held before it had the "
        f"data; X, the features and, for interplay, some {least:.0f} MB of compiling to this size count. "
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


def _size(gradient: Gradient) -> list[str]:
    return [gradient.weights, str(gradient.n), str(gradient.p)]


def _both(times: Times) -> str:
    return f"{_number(times.median)} ({_number(times.least)})"


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):g}"


def _cells(point: Point | None) -> list[str]:
    if point is None:
        return ["–", "–"]
    return [_both(point.times), _number(point.bytes / 1e6) if point.bytes > RESOLUTION else "< 0.1"]
