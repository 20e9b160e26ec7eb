"""The scikit-learn front: its contract, its companions, and what it shows."""

import io
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import interplay
from interplay import SKIM, ConvergenceWarning, DataError, InteractionRegressor
from interplay.inference.moves.hmc import HMC
from interplay.model.families import Gaussian

pytestmark = pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")

N = 40
QUICK = {"draws": 20, "sampler": HMC(chains=2, warmup=10), "progress": False, "random_state": 0}

DEVIATIONS = {
    "check_dtype_object": "a cell that is neither number nor text is a DataError, and so a ValueError",
    "check_regressors_no_decision_function": "its response is a copy of a covariate, which is refused",
    "check_sample_weight_equivalence_on_dense_data": "posteriors are equal, as tests/model/test_weights.py"
    " shows; draws of them are not, as rounding differs and chains amplify it",
}
"""Checks of scikit-learn that fail on purpose, and why."""


def deviations(estimator: BaseEstimator) -> dict[str, str]:
    return DEVIATIONS


@parametrize_with_checks(
    [InteractionRegressor(draws=10, sampler=HMC(chains=2, warmup=5), progress=False)],
    expected_failed_checks=deviations,
)
def test_scikit_learn(estimator: InteractionRegressor, check: Any) -> None:
    check(estimator)


def make_frame() -> pd.DataFrame:
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": random.normal(50, 10, N),
            "bmi": random.normal(25, 3, N),
            "site": random.permutation(["London", "Paris"] * (N // 2)),
        }
    )


def respond(frame: pd.DataFrame) -> pd.Series:
    random = np.random.default_rng(2)
    age, bmi = (frame[name] - frame[name].mean() for name in ("age", "bmi"))
    return (age / 5 - bmi + age * bmi / 15 + 0.5 * random.normal(size=len(frame))).rename("pressure")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return make_frame()


@pytest.fixture(scope="module")
def y(frame: pd.DataFrame) -> pd.Series:
    return respond(frame)


@pytest.fixture(scope="module")
def fitted(frame: pd.DataFrame, y: pd.Series) -> InteractionRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return InteractionRegressor(**QUICK).fit(frame, y)


def test_answers_are_those_of_the_fit(
    fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series
) -> None:
    fit = fitted.fit_
    pd.testing.assert_frame_equal(fitted.effects(), fit.effects())
    pd.testing.assert_frame_equal(fitted.effects(["age:bmi"]), fit.effects(["age:bmi"]))
    pd.testing.assert_frame_equal(fitted.top_pairs(2), fit.top_pairs(2))
    assert fitted.selected() == fit.selected()
    assert fitted.selected("paper") == fit.selected("paper")
    assert_array_equal(fitted.joint(["age", "bmi"]).mean, fit.joint(["age", "bmi"]).mean)
    mean, sd = fitted.predict(frame, return_std=True)
    assert_array_equal(mean, fit.predict(frame))
    interval = fitted.predict_interval(frame, 0.5)
    assert np.all((interval[:, 0] < mean) & (mean < interval[:, 1]) & (sd > 0))
    assert fitted.score(frame, y) > 0.5
    assert fitted.diagnostics_ is fit.diagnostics
    assert fit.design.response == "pressure"
    assert fit.settings["seed"] == fit.provenance.seed == 0


def test_attributes(fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series) -> None:
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == ["age", "bmi", "site"]
    again = clone(fitted)
    assert not hasattr(again, "fit_")
    assert again.get_params() == fitted.get_params()
    again.fit(frame, y)
    again.fit(frame[["age", "bmi"]].to_numpy(), y)
    assert again.n_features_in_ == 2
    assert not hasattr(again, "feature_names_in_")
    assert set(again.effects("mains")["term"]) == {"x0", "x1"}


def test_one_warning_says_what_to_do(frame: pd.DataFrame, y: pd.Series) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = InteractionRegressor(**QUICK).fit(frame, y)
    assert estimator.diagnostics_.verdict != "trust"
    assert [type(warning.message) for warning in caught] == [interplay.ConvergenceWarning]
    assert str(caught[0].message).startswith(str(estimator.diagnostics_))
    assert not caught[0].filename.startswith(str(Path(interplay.__file__).parent))


def test_saved_and_loaded(fitted: InteractionRegressor, frame: pd.DataFrame, tmp_path: Any) -> None:
    fitted.fit_.save(tmp_path / "run.nc")
    loaded = interplay.load(tmp_path / "run.nc")
    assert_allclose(loaded.predict(frame), fitted.predict(frame), rtol=1e-9)


def test_polars_and_mappings(fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series) -> None:
    columns = {name: frame[name].tolist() for name in frame}
    other = clone(fitted).fit(pl.DataFrame(columns), pl.Series("pressure", y.to_numpy()))
    assert other.feature_names_in_.tolist() == ["age", "bmi", "site"]
    assert_allclose(other.predict(pl.DataFrame(columns)), fitted.predict(frame), rtol=1e-9)
    assert_allclose(fitted.predict(columns), fitted.predict(frame), rtol=1e-12)


def test_the_response_by_name(fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series) -> None:
    other = clone(fitted).fit(frame.assign(pressure=y), "pressure")
    assert other.n_features_in_ == 3
    assert_allclose(other.predict(frame), fitted.predict(frame), rtol=1e-9)


def test_columns_are_matched_by_name(fitted: InteractionRegressor, frame: pd.DataFrame) -> None:
    expected = fitted.predict(frame)
    assert_array_equal(fitted.predict(frame[["site", "bmi", "age"]]), expected)
    with pytest.raises(DataError, match="lack the column 'bmi'"):
        fitted.predict(frame.drop(columns="bmi"))
    with pytest.raises(DataError, match="columns that the design does not know: 'weight'"):
        fitted.predict(frame.assign(weight=1.0))
    with pytest.raises(DataError, match="column 'age' holds text"):
        fitted.predict(frame.assign(age="old"))
    with pytest.raises(DataError, match="column 'site' holds numbers"):
        fitted.predict(frame.assign(site=1.0))
    with pytest.raises(DataError, match="level 'Rome'"):
        fitted.predict_interval(frame.assign(site="Rome"))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_array_equal(fitted.predict(frame.to_numpy()), expected)
    with pytest.raises(DataError, match="X has 2 features"), pytest.warns(UserWarning, match="valid feature"):
        fitted.predict(frame.to_numpy()[:, :2])


def test_before_fit(frame: pd.DataFrame) -> None:
    estimator = InteractionRegressor(SKIM(expected_mains=2), draws=20)
    assert str(estimator) == repr(estimator)
    assert "SKIM" in repr(estimator)
    for ask in (estimator.effects, estimator.top_pairs, estimator.selected, lambda: estimator.predict(frame)):
        with pytest.raises(NotFittedError):
            ask()


def test_what_is_shown(fitted: InteractionRegressor) -> None:
    with redirect_stdout(io.StringIO()) as printed:
        print(fitted)
    text = printed.getvalue()
    assert text.startswith("InteractionRegressor(")
    for part in ("SKIM()", "40 rows, 3 variables", "convergence", "age:bmi", "lfsr"):
        assert part in text
    assert repr(fitted).startswith("InteractionRegressor(")
    html = fitted._repr_mimebundle_()["text/html"]
    assert "sk-" in html
    assert "40 rows, 3 variables" in html
    assert "40 rows" not in clone(fitted)._repr_mimebundle_()["text/html"]


def test_a_column_vector_is_taken_with_a_warning(
    fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series
) -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        other = clone(fitted).fit(frame, y.to_frame())
    assert other.fit_.design.response == "pressure"
    with pytest.raises(DataError, match="1d array"):
        clone(fitted).fit(frame, np.column_stack([y, y]))


def test_seeds(fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series) -> None:
    def seed(random_state: Any) -> int:
        return clone(fitted).set_params(random_state=random_state).fit(frame, y).fit_.provenance.seed

    assert seed(7) == seed(np.int64(7)) == 7
    assert seed(np.random.RandomState(0)) == seed(np.random.RandomState(0))
    with pytest.raises(ValueError, match="seed"):
        seed("seven")


def test_weights_of_zero_leave_rows_out(
    fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series
) -> None:
    weights = np.r_[np.zeros(5), np.ones(N - 5)]
    weighted = clone(fitted).fit(frame, y, sample_weight=weights)
    assert weighted.fit_.design.n == N - 5
    assert_allclose(weighted.fit_.design.weights, 1.0)


def test_families(frame: pd.DataFrame, y: pd.Series) -> None:
    for family in ("auto", "gaussian", Gaussian(noise_scale=1.0)):
        fit = InteractionRegressor(family=family, **QUICK).fit(frame, y).fit_
        assert fit.family == (family if isinstance(family, Gaussian) else Gaussian())
    for wrong in ("poison", None, Gaussian):
        with pytest.raises(ValueError, match="expected 'auto', 'gaussian', or a family"):
            InteractionRegressor(family=wrong, **QUICK).fit(frame, y)


def test_missing_values(fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series) -> None:
    gaps = frame.assign(age=frame["age"].where(frame.index > 2))
    with pytest.raises(DataError, match="NaN"):
        clone(fitted).fit(gaps, y)
    imputed = clone(fitted).set_params(impute="mean").fit(gaps, y)
    assert np.isfinite(imputed.predict(gaps)).all()


def test_pipelines_hand_names_on(fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series) -> None:
    scaled = make_column_transformer(
        (StandardScaler(), ["age", "bmi"]), remainder="passthrough", verbose_feature_names_out=False
    )
    pipeline = make_pipeline(scaled, clone(fitted)).set_output(transform="pandas")
    pipeline.fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["age", "bmi", "site"]
    # Scaling moves the last digits, and chains make much of them: alike within Monte Carlo error.
    assert_allclose(pipeline.predict(frame), fitted.predict(frame), atol=0.05 * float(y.std()))


def test_cross_validation_and_grid_search(
    fitted: InteractionRegressor, frame: pd.DataFrame, y: pd.Series
) -> None:
    scores = cross_val_score(clone(fitted), frame, y, cv=2)
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()
    search = GridSearchCV(
        clone(fitted), {"prior": [SKIM(quadratic=False), SKIM(degree=3)]}, cv=2, refit=False
    )
    assert set(search.fit(frame, y).cv_results_["rank_test_score"]) <= {1, 2}
