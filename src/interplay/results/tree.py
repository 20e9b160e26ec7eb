"""A fit as an xarray DataTree in ArviZ's layout, and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr

from interplay.data.design import Design
from interplay.effects.mixture import Mixture
from interplay.inference.draws import Draws
from interplay.model.families import Gaussian
from interplay.model.terms import Term, label
from interplay.results.codec import from_text, to_text
from interplay.results.effect_store import EffectStore
from interplay.results.fit import Fit
from interplay.results.provenance import array_digest

FORMAT = "interplay fit"
"""What a tree calls itself."""

VERSION = 2
"""Version of the layout, which every change of it raises. Version 1 had no family, but a Gaussian one whose
`noise_scale` was a setting of the prior; and no effects."""

DIMS: dict[str, tuple[str, ...]] = {
    "X": ("row", "column"),
    "y": ("row",),
    "weights": ("row",),
    "centres": ("column",),
    "scales": ("column",),
    "fills": ("column",),
    "kappa": ("variable",),
    "eta_higher": ("order",),
}
"""Dimensions of known arrays, beside chain and draw."""

STATISTICS = {
    "log_density": "lp",
    "acceptance": "acceptance_rate",
    "divergent": "diverging",
    "steps": "n_steps",
}
"""ArviZ's names for what is recorded of each iteration."""

RECORDS = "interplay"
"""The group with what ArviZ has no place for: each record as JSON text."""

EFFECTS = "effects"
"""The group with the effects that were worked out before the fit was saved."""

MAX_EFFECT_BYTES = 2**26
"""Effects are written if they take no more than this."""


def to_tree(fit: Fit) -> xr.DataTree:
    """A fit as groups of labelled arrays.

    `posterior` and `sample_stats` are as ArviZ has them; `observed_data` is the response on the standardised
    scale; `constant_data` holds the arrays of the design; `interplay` holds everything else as JSON;
    `effects` holds the posteriors of effects that were worked out. The tree alone answers every
    question that the fit does.
    """
    design, draws = fit.design, fit.draws
    held = {field.name: getattr(design, field.name) for field in fields(design)}
    arrays = {name: value for name, value in held.items() if isinstance(value, np.ndarray)}
    variable, column = _written(design.names), _written(design.labels)
    constant = {name: (_dims(name, value, ()), value) for name, value in arrays.items()}
    constant["names"] = (("variable",), variable)
    posterior = {
        name: (_dims(name, value, ("chain", "draw")), value) for name, value in draws.hyperparameters.items()
    }
    statistics = {
        STATISTICS.get(name, name): (_dims(name, value, ("chain", "draw")), value)
        for name, value in draws.statistics.items()
    }
    records = {
        "design": {name: value for name, value in held.items() if name not in arrays},
        "prior": fit.prior,
        "family": fit.family,
        "diagnostics": fit.diagnostics,
        "settings": dict(fit.settings),
        "provenance": fit.provenance,
    }
    iterations = {"chain": np.arange(draws.chains), "draw": np.arange(draws.length)}
    labels = {"inference_library": "interplay", "created_at": fit.provenance.time}
    labels["inference_library_version"] = fit.provenance.versions.get("interplay", "")
    by_variable = any("variable" in dims for dims, _ in posterior.values())
    groups = {
        "posterior": xr.Dataset(
            posterior, iterations | ({"variable": variable} if by_variable else {}), labels
        ),
        "sample_stats": xr.Dataset(statistics, iterations, labels),
        "observed_data": xr.Dataset({"y": (("row",), design.y)}),
        "constant_data": xr.Dataset(constant, {"variable": variable, "column": column}),
        RECORDS: xr.Dataset({name: ((), _text(to_text(value))) for name, value in records.items()}),
    }
    if fit.store.moments and fit.store.nbytes <= MAX_EFFECT_BYTES:
        groups[EFFECTS] = _effects(fit.store, design)
    tree = xr.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})
    tree.attrs = {"format": FORMAT, "format_version": VERSION, "digest": digest(tree)}
    return tree


def from_tree(tree: xr.DataTree) -> Fit:
    """The fit that a tree was made from.

    Raises
    ------
    Exception
        Of many kinds, if the tree is not one of `to_tree`.
    """
    texts = {str(name): text.item() for name, text in tree[RECORDS].dataset.data_vars.items()}
    records = {name: from_text(text) for name, text in _with_family(texts).items()}
    parts: dict[str, Any] = {**_arrays(tree["constant_data"]), **records.pop("design")}
    del parts["names"]
    original = {new: old for old, new in STATISTICS.items()}
    statistics = {original.get(name, name): value for name, value in _arrays(tree["sample_stats"]).items()}
    fit = Fit(
        design=Design(**parts),
        draws=Draws(_arrays(tree["posterior"]), statistics),
        **records,
    )
    if EFFECTS in tree.children:
        _fill(fit, _arrays(tree[EFFECTS]))
    return fit


def digest(tree: xr.DataTree) -> str:
    """SHA-256 of the content: every data variable of every group, whatever the order and the compression."""
    content = {
        f"{node.path}/{name}": _as_bytes(values.values)
        for node in tree.subtree
        for name, values in node.dataset.data_vars.items()
    }
    return array_digest(dict(sorted(content.items()))).hexdigest()


def _effects(store: EffectStore, design: Design) -> xr.Dataset:
    """A store as arrays: the columns of each term, padded with −1, and (draw, term) means and sds."""
    terms = list(store.moments)
    position = {term: k for k, term in enumerate(terms)}
    width = max(1, *(len(term) for term in terms))
    columns = np.full((len(terms), width), -1)
    for row, term in enumerate(terms):
        columns[row, : len(term)] = term
    means, sds = (np.stack([moments[k] for moments in store.moments.values()], axis=1) for k in (0, 1))
    arrays: dict[str, Any] = {
        "columns": (("term", "place"), columns),
        "means": (("used_draw", "term"), means),
        "sds": (("used_draw", "term"), sds),
    }
    for size, pairs in store.searches.items():
        index = np.array([position[pair] for pair in pairs], dtype=np.int64)
        arrays[f"strongest_{size}"] = ((f"rank_{size}",), index)
    return xr.Dataset(arrays, {"term": _written([label(term, design) for term in terms])})


def _fill(fit: Fit, arrays: dict[str, np.ndarray]) -> None:
    """Put effects into the store of a fit, if they are of as many draws as its answers use."""
    means, sds = arrays["means"], arrays["sds"]
    if len(means) != len(fit.observation_variance):
        return
    terms: list[Term] = [tuple(c for c in row if c >= 0) for row in arrays["columns"].tolist()]
    fit.store.add(terms, Mixture(means, sds))
    for name, index in arrays.items():
        if name.startswith("strongest_"):
            fit.store.searches[int(name.removeprefix("strongest_"))] = [terms[k] for k in index.tolist()]


def _with_family(texts: dict[str, str]) -> dict[str, str]:
    """Records of the present layout: in version 1 the scale of the noise was a setting of the prior."""
    if "family" in texts:
        return texts
    prior = json.loads(texts["prior"])
    family = Gaussian(noise_scale=prior["fields"].pop("noise_scale"))
    return texts | {"prior": json.dumps(prior), "family": to_text(family)}


def _arrays(group: Any) -> dict[str, np.ndarray]:
    return {
        str(name): np.ascontiguousarray(values.values) for name, values in group.dataset.data_vars.items()
    }


def _as_bytes(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values
    return np.frombuffer(json.dumps(values.tolist()).encode(), dtype=np.uint8)


def _dims(name: str, values: np.ndarray, first: tuple[str, ...]) -> tuple[str, ...]:
    others = values.ndim - len(first)
    known: Mapping[str, tuple[str, ...]] = DIMS if len(DIMS.get(name, ())) == others else {}
    return (*first, *known.get(name, tuple(f"{name}_dim_{k}" for k in range(others))))


def _written(names: Sequence[str]) -> np.ndarray:
    """Names as labels of a netCDF file, which cannot hold every text; the exact ones are in the records."""
    safe = (name.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode() for name in names)
    return np.array(list(safe), dtype=object)


def _text(text: str) -> np.ndarray:
    return np.array(text, dtype=object)
