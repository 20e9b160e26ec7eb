"""What the samplers are held against."""

from collections.abc import Iterator

from benchmarks.goals import Goal, at_least, at_most
from benchmarks.row import Row

NUMPYRO, STAN = 5.0, 20.0
"""How many times the effective draws per second of these interplay is to have."""

ADELIE = 2.0
"""How many times the seconds of adelie interplay may take where p = 500."""

GIGABYTES = 1.0
"""The most memory at p = 2,000."""

MINUTES = 40.0
"""The most time until convergence at p = 10,000."""

Setting = tuple[int, int, float]
Rows = dict[tuple[str, Setting], Row]


def setting(row: Row) -> Setting:
    """(N, p, λ) of a row."""
    return row.problem.n, row.problem.p, row.problem.scale


def judge(rows: list[Row]) -> list[Goal]:
    """Hold the rows against the goals, as far as they have been measured."""
    return list(_goals({(row.contender, setting(row)): row for row in rows}))


def _goals(rows: Rows) -> Iterator[Goal]:
    from interplay.inference.diagnostics import BAD_R_HAT

    for (contender, at), theirs in rows.items():
        ours = rows.get(("interplay", at))
        if ours is None or not ours.rate or contender not in ("NumPyro", "Stan") or not theirs.rate:
            continue
        name = f"effective draws per second: interplay / {contender}"
        if theirs.r_hat is not None and theirs.r_hat > BAD_R_HAT:
            name += f" (which did not converge: R-hat {theirs.r_hat:.2f})"
        yield at_least(name, _label(at), ours.rate / theirs.rate, NUMPYRO if contender == "NumPyro" else STAN)
    wide, large, huge = (200, 500, 2.0), (200, 2000, 2.0), (200, 10_000, 2.0)
    yield from _faster(rows, wide, {"LassoCV": 1.0, "adelie": ADELIE})
    yield from _faster(rows, large, {"LassoCV": 1.0, "adelie": 1.0})
    at_large, at_huge = rows.get(("interplay", large)), rows.get(("interplay", huge))
    if at_large and at_large.bytes:
        name = "interplay: peak memory, GB"
        yield at_most(name, _label(large), at_large.bytes / 1e9, GIGABYTES, strictly=True)
    if at_huge and at_huge.seconds:
        name = "interplay: minutes until convergence"
        if at_huge.to_enough:
            yield at_most(name, _label(huge), at_huge.to_enough / 60.0, MINUTES, strictly=True)
        else:
            yield Goal(f"{name} (not reached)", _label(huge), f"< {MINUTES:g}", at_huge.seconds / 60.0, False)


def _faster(rows: Rows, at: Setting, bounds: dict[str, float]) -> Iterator[Goal]:
    """Seconds until convergence, held against the seconds of a peer; one that did not end has lost."""
    ours = rows.get(("interplay", at))
    if ours is None or not ours.seconds:
        return
    for peer, bound in bounds.items():
        theirs = rows.get((peer, at))
        if theirs is None:
            continue
        name = f"seconds: interplay / {peer}"
        if not ours.to_enough:
            measured = ours.seconds / theirs.seconds if theirs.seconds else ours.seconds
            yield Goal(f"{name} (interplay did not converge)", _label(at), f"≤ {bound:g}", measured, False)
        elif theirs.seconds:
            yield at_most(name, _label(at), ours.to_enough / theirs.seconds, bound)
        elif theirs.note.startswith("more than"):
            # The bound on its time or memory was passed: interplay has won if it took less time than that.
            limit = float(theirs.note.split()[2])
            met = not theirs.note.endswith(" s") or ours.to_enough < bound * limit
            yield Goal(f"seconds: interplay ({peer}: {theirs.note})", _label(at), "ends", ours.to_enough, met)


def _label(at: Setting) -> str:
    return f"({at[0]}, {at[1]}, {at[2]:g})"
