"""Saved fits: everything comes back, and what is not a whole fit of this version is refused."""

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import arviz_base
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from fits import make_fit
from numpy.testing import assert_array_equal

import interplay
from interplay.data.design import Design, design
from interplay.effects.conditional import Conditional
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
from interplay.results.codec import from_text, to_text
from interplay.results.files import SavedFitError, load
from interplay.results.fit import Fit
from interplay.results.provenance import fingerprint
from interplay.results.tree import RECORDS, VERSION, digest

NAMED_PAIR = np.ones((4, 4)) + 0.7 * (np.eye(4)[[1, 0, 3, 2]] * np.outer([1, 1, 0, 0], [1, 1, 0, 0]))
PRIORS: dict[str, Prior] = {
    "skim": SKIM(expected_mains=1.5, quadratic=False, main_scale=1 / 3),
    "three-way": SKIM(degree=3),
    "block degree": BlockDegree(),
    "two-way": TwoWay.from_variances(4, mains=np.array([0.1, 0.2, 0.3, 1 / 3]), pairs=NAMED_PAIR),
}


def make() -> Design:
    """A design with something in every field, and text that files find hard."""
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "größe 'µ'": random.normal(size=15),
            "a\nb:c^2": random.normal(size=15),
            "sité": pd.Series(["Zürich", "東京", None] * 5, dtype=object),
            "flag": [True, False, True] * 5,
            "constant": 1.0,
        }
    )
    frame.loc[3, "a\nb:c^2"] = np.nan
    with pytest.warns(UserWarning, match="constant"):
        return design(frame, pd.Series(random.normal(size=15), name="ответ"), impute="mean")


@pytest.fixture(scope="module")
def fit() -> Fit:
    return make_fit(make(), SKIM())


@pytest.fixture(scope="module")
def saved(fit: Fit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "run.nc"
    fit.save(path)
    return path


def same(first: Any, second: Any) -> None:
    """Equal in type and in every bit, through records, tables, mappings and tuples."""
    assert type(first) is type(second)
    match first:
        case np.ndarray():
            assert first.dtype == second.dtype
            assert first.shape == second.shape
            assert first.tobytes() == second.tobytes()
        case pd.DataFrame():
            pd.testing.assert_frame_equal(first, second, check_exact=True)
        case dict():
            assert list(first) == list(second)
            for key in first:
                same(first[key], second[key])
        case tuple():
            assert len(first) == len(second)
            for one, other in zip(first, second, strict=True):
                same(one, other)
        case float():
            assert_array_equal(first, second)
        case None | bool() | int() | str():
            assert first == second
        case _:
            for field in fields(first):
                same(getattr(first, field.name), getattr(second, field.name))


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_everything_comes_back(prior: Prior, tmp_path: Path) -> None:
    fit = make_fit(make(), prior)
    if isinstance(prior, TwoWay):
        assert prior.kernel.pairs
    fit.save(tmp_path / "run.nc")
    same(interplay.load(tmp_path / "run.nc"), fit)


def test_weights_and_odd_values_come_back(fit: Fit, tmp_path: Path) -> None:
    made = replace(fit.design, weights=np.linspace(0.5, 2.0, fit.design.n), source_names=())
    draws = fit.draws.hyperparameters
    odd = {name: values.astype(np.float32) for name, values in draws.items()}
    odd["sigma"] = np.array([[np.nan, -np.inf, 5e-324, -0.0], [-np.nan, 1.0, 2.0, 3.0]])
    other = replace(fit, design=made, draws=replace(fit.draws, hyperparameters=odd), settings={})
    other.save(tmp_path / "run.nc")
    same(load(tmp_path / "run.nc"), other)


def test_names_that_a_file_cannot_hold_come_back(fit: Fit, tmp_path: Path) -> None:
    variables = tuple(replace(v, name=f"{v.name}\0\ud800{k}") for k, v in enumerate(fit.design.variables))
    other = replace(fit, design=replace(fit.design, variables=variables))
    other.save(tmp_path / "run.nc")
    assert load(tmp_path / "run.nc").design.variables == variables


def test_large_arrays_come_back(fit: Fit, tmp_path: Path) -> None:
    big = np.random.default_rng(0).normal(size=(2, 9000))
    statistics = {name: np.resize(values, big.shape) for name, values in fit.draws.statistics.items()}
    other = replace(fit, draws=replace(fit.draws, hyperparameters={"sigma": big}, statistics=statistics))
    other.save(tmp_path / "run.nc")
    same(load(tmp_path / "run.nc").draws, other.draws)


def test_a_loaded_fit_answers_the_same(fit: Fit, saved: Path) -> None:
    loaded = load(saved)
    pd.testing.assert_frame_equal(loaded.effects("mains"), fit.effects("mains"), rtol=1e-10)
    row = pd.DataFrame({"größe 'µ'": [0.1], "a\nb:c^2": [np.nan], "sité": ["東京"], "flag": [True]})
    np.testing.assert_allclose(loaded.predict(row), fit.predict(row), rtol=1e-10)


def test_a_loaded_fit_does_not_compute_what_was_saved(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replace(fit)
    effects, pairs = whole.effects(), whole.top_pairs(3)
    whole.save(tmp_path / "run.nc")
    with monkeypatch.context() as patch:
        patch.setattr(Conditional, "over_draws", lambda *_: pytest.fail("computed again"))
        loaded = load(tmp_path / "run.nc")
        pd.testing.assert_frame_equal(loaded.effects(), effects, check_exact=True)
        pd.testing.assert_frame_equal(loaded.top_pairs(3), pairs, check_exact=True)
    with monkeypatch.context() as patch:
        patch.setattr("interplay.results.tree.MAX_EFFECT_BYTES", 100)
        assert "effects" not in whole.to_arviz().children
    # Effects of another number of draws than answers use are left aside.
    monkeypatch.setattr("interplay.results.fit.ANSWERS", 5)
    assert not load(tmp_path / "run.nc").store.moments


def test_the_family_comes_back(fit: Fit, tmp_path: Path) -> None:
    replace(fit, family=Gaussian(noise_scale=1 / 3)).save(tmp_path / "run.nc")
    assert load(tmp_path / "run.nc").family == Gaussian(noise_scale=1 / 3)


def test_it_opens_in_xarray_and_arviz(fit: Fit, saved: Path) -> None:
    with xr.open_datatree(saved) as tree:
        assert tree["posterior/kappa"].dims == ("chain", "draw", "variable")
        assert tree["posterior/sigma"].dims == ("chain", "draw")
        assert set(tree["posterior"].data_vars) == {
            "kappa", "eta1", "eta2", "eta3", "sigma", "intercept_scale",
        }  # fmt: skip
        assert set(tree["sample_stats"].data_vars) == {"lp", "diverging", "acceptance_rate", "n_steps"}
        assert tree["sample_stats/diverging"].dtype == bool
        assert tree["posterior"].coords["variable"].values.tolist() == list(fit.design.names)
        constant = tree["constant_data"]
        assert {"X", "y", "centres", "scales", "fills", "names"} <= set(constant.data_vars)
        assert constant["X"].dims == ("row", "column")
        assert constant.coords["column"].values.tolist() == list(fit.design.labels)
        assert_array_equal(tree["observed_data/y"].values, fit.design.y)
    with arviz_base.convert_to_datatree(str(saved)) as tree:
        subset = arviz_base.extract(tree, var_names="sigma")
        assert subset.sizes["sample"] == 8


def test_to_arviz_is_what_is_saved(fit: Fit, saved: Path) -> None:
    fresh = replace(fit)
    with xr.open_datatree(saved) as opened:
        assert digest(opened.load()) == digest(fresh.to_arviz()) == opened.attrs["digest"]


def test_saved_again_by_xarray_it_still_loads(fit: Fit, saved: Path, tmp_path: Path) -> None:
    with xr.open_datatree(saved) as opened:
        opened.load().to_netcdf(tmp_path / "again.nc", engine="h5netcdf")
    same(load(tmp_path / "again.nc").draws, fit.draws)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_cut_short(saved: Path, tmp_path: Path, share: float) -> None:
    content = saved.read_bytes()
    (tmp_path / "cut.nc").write_bytes(content[: int(share * len(content))])
    with pytest.raises(SavedFitError, match=r"cut\.nc is damaged.*expected a file written by.*Take another"):
        load(tmp_path / "cut.nc")


def test_flipped_bits_in_the_data_are_noticed(fit: Fit, saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    for values in (fit.design.X[3], fit.draws.hyperparameters["kappa"][1, 2], fit.design.scales):
        at = bytes(content).find(np.ascontiguousarray(values).tobytes())
        assert at > 0
        broken = content.copy()
        broken[at + 5] ^= 16
        (tmp_path / "flipped.nc").write_bytes(broken)
        with pytest.raises(SavedFitError, match="does not match its digest"):
            load(tmp_path / "flipped.nc")


# Where a file cannot be opened, h5netcdf complains again as it lets go of it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_flipped_bits_anywhere_are_noticed_or_harmless(fit: Fit, saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    random = np.random.default_rng(0)
    refused = 0
    for at in random.integers(len(content), size=25):
        broken = bytearray(content)
        broken[at] ^= 1 << random.integers(8)
        (tmp_path / "flipped.nc").write_bytes(broken)
        try:
            loaded = load(tmp_path / "flipped.nc")
        except SavedFitError:
            refused += 1
        else:
            same(loaded, fit)
    assert refused


def test_edited_records_are_noticed(saved: Path, tmp_path: Path) -> None:
    with xr.open_datatree(saved) as opened:
        tree = opened.load()
    text = tree[RECORDS]["provenance"].item().replace('"seed":0', '"seed":1')
    tree[RECORDS] = tree[RECORDS].dataset.assign(provenance=((), np.array(text, dtype=object)))
    tree.to_netcdf(tmp_path / "edited.nc", engine="h5netcdf")
    with pytest.raises(SavedFitError, match="does not match its digest"):
        load(tmp_path / "edited.nc")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"format_version": VERSION + 1}, rf"version {VERSION + 1} of the format.*Install a newer interplay"),
        ({"format_version": "new"}, "does not say which version"),
        ({"format": "another"}, "not a fit: it has the groups posterior"),
        ({"digest": "0"}, "does not match its digest"),
    ],
)
def test_other_versions_and_marks(fit: Fit, tmp_path: Path, attributes: dict[str, Any], message: str) -> None:
    tree = fit.to_arviz()
    tree.attrs |= attributes
    tree.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(SavedFitError, match=message):
        load(tmp_path / "other.nc")


def test_a_fit_without_one_of_its_parts(fit: Fit, tmp_path: Path) -> None:
    tree = fit.to_arviz().drop_nodes("sample_stats")
    tree.attrs = fit.to_arviz().attrs | {"digest": digest(tree)}
    tree.to_netcdf(tmp_path / "part.nc", engine="h5netcdf")
    with pytest.raises(SavedFitError, match="damaged"):
        load(tmp_path / "part.nc")


def test_foreign_files(tmp_path: Path) -> None:
    xr.Dataset({"a": ("x", np.arange(3.0))}).to_netcdf(tmp_path / "foreign.nc", engine="h5netcdf")
    with pytest.raises(SavedFitError, match="is a netCDF file, but not a fit"):
        load(tmp_path / "foreign.nc")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SavedFitError, match="not a netCDF file"):
        load(tmp_path / "table.csv")
    with pytest.raises(SavedFitError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(SavedFitError, match=r"absent\.nc does not exist.*Check the path"):
        load(tmp_path / "absent.nc")


def test_a_failed_save_leaves_the_earlier_file(
    fit: Fit, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.nc"
    path.write_bytes(saved.read_bytes())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"could not be saved to .*No space left.*unchanged"):
        fit.save(path)
    assert path.read_bytes() == saved.read_bytes()
    assert os.listdir(tmp_path) == ["run.nc"]


def test_saving_where_no_file_can_be(fit: Fit, tmp_path: Path) -> None:
    with pytest.raises(SavedFitError, match="is a folder"):
        fit.save(tmp_path)
    with pytest.raises(SavedFitError, match="Make the folder"):
        fit.save(tmp_path / "absent" / "run.nc")


def test_saving_replaces_and_respects_the_umask(fit: Fit, tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    path.write_text("earlier")
    fit.save(str(path))
    same(load(path), fit)
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_prior_of_your_own_is_not_saved(fit: Fit, tmp_path: Path) -> None:
    class Own(BlockDegree):  # type: ignore[misc]
        pass

    with pytest.raises(SavedFitError, match=r"this fit cannot be saved: got .*Own"):
        replace(fit, prior=Own()).save(tmp_path / "run.nc")
    assert not os.listdir(tmp_path)


def test_only_known_classes_are_made_from_text() -> None:
    assert from_text(to_text({"a": (1, None, float("inf"), "é\0")})) == {"a": (1, None, float("inf"), "é\0")}
    foreign = json.dumps({"is": "record", "class": "Popen", "fields": {"args": ["true"]}})
    with pytest.raises(ValueError, match="none that this version knows"):
        from_text(foreign)


def test_fingerprint_is_that_of_the_data(fit: Fit) -> None:
    assert fit.provenance.fingerprint == fingerprint(make()) == fingerprint(replace(fit.design))
    X = fit.design.X.copy()
    X[0, 0] += 1e-12
    assert fingerprint(replace(fit.design, X=X)) != fingerprint(fit.design)
    assert fingerprint(replace(fit.design, response="y")) != fingerprint(fit.design)
    assert set(fit.provenance.versions) == {"python", "interplay", "numpy", "scipy"}
    assert fit.provenance.time.endswith("+00:00")
