"""The design against what is computed by hand, and everything it refuses."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay.data.design import Design, Variable, design, encode
from interplay.data.errors import DataError
from interplay.data.table import read


@pytest.fixture
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": generator.normal(50, 10, 12),
            "site": ["London", "Paris", "Rome"] * 4,
            "smoker": [True, False, False] * 4,
            "bmi": generator.normal(25, 3, 12),
            "y": generator.normal(0, 5, 12),
        }
    )


@pytest.fixture
def fitted(frame) -> Design:
    return design(frame, "y")


def test_layout(fitted):
    assert (fitted.n, fitted.p, fitted.d) == (12, 4, 6)
    assert fitted.variables == (
        Variable("age", "numeric", 0, 1),
        Variable("site", "categorical", 1, 4, ("London", "Paris", "Rome")),
        Variable("smoker", "binary", 4, 5),
        Variable("bmi", "numeric", 5, 6),
    )
    assert [variable.squares for variable in fitted.variables] == [True, False, False, True]
    assert fitted.names == ("age", "site", "smoker", "bmi")
    assert_array_equal(fitted.owner, [0, 1, 1, 1, 2, 3])
    assert fitted.labels == ("age", "site[London]", "site[Paris]", "site[Rome]", "smoker", "bmi")
    assert fitted.response == "y"
    assert fitted.left_out == ()


def test_numbers_and_response_are_standardised(frame, fitted):
    numbers = frame[["age", "smoker", "bmi"]].to_numpy(dtype=float)
    assert_allclose(fitted.centres[[0, 4, 5]], numbers.mean(axis=0))
    assert_allclose(fitted.scales[[0, 4, 5]], numbers.std(axis=0))
    assert_allclose(fitted.X[:, [0, 4, 5]], (numbers - numbers.mean(axis=0)) / numbers.std(axis=0))
    assert_allclose([fitted.y.mean(), fitted.y.std()], [0, 1], atol=1e-12)
    assert_allclose(fitted.y * fitted.response_scale + fitted.response_centre, frame["y"])


def test_without_standardising(frame):
    raw = design(frame, "y", standardize=False)
    assert_array_equal(raw.X[:, 5], frame["bmi"])
    assert_array_equal(raw.y, frame["y"])
    assert_array_equal(raw.centres, np.zeros(6))
    assert_array_equal(raw.scales, np.ones(6))
    assert (raw.response_centre, raw.response_scale) == (0.0, 1.0)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_factor_rows_have_unit_norm_and_levels_sum_to_zero(count, standardize):
    levels = [f"l{i}" for i in range(count)]
    table = pd.DataFrame({"f": levels * 4, "y": np.arange(4.0 * count)})
    X = design(table, "y", standardize=standardize).X[:count]
    gram = np.full((count, count), -1 / (count - 1))
    np.fill_diagonal(gram, 1.0)
    assert_allclose(X @ X.T, gram, atol=1e-12)
    assert_allclose(X.sum(axis=1), 0, atol=1e-12)
    assert X.argmax(axis=1).tolist() == list(range(count))


def test_table_instead_of_its_source(frame, fitted):
    assert_array_equal(design(read(frame, "y")).X, fitted.X)
    with pytest.raises(DataError, match=r"Give these to `read`"):
        design(read(frame), "y")


def test_same_data_same_design_whatever_holds_it(frame, fitted, tmp_path):
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_parquet(tmp_path / "f.parquet")
    for source in [pl.DataFrame(frame.to_dict("list")), tmp_path / "f.csv", tmp_path / "f.parquet"]:
        assert_allclose(design(source, "y").X, fitted.X, rtol=1e-12)


@pytest.fixture
def holed(frame) -> pd.DataFrame:
    frame.loc[[3, 5], "bmi"] = np.nan
    frame.loc[1, "site"] = None
    return frame


def test_missing_values_are_refused_by_default(holed):
    with pytest.raises(DataError) as caught:
        design(holed, "y")
    for words in ["'bmi' 2 (first in row 3)", "'site' 1 (first in row 1)", "impute='mean'", "rows out"]:
        assert words in str(caught.value)


def test_mean_imputation(holed):
    fitted = design(holed, "y", impute="mean")
    assert_array_equal(fitted.X[[3, 5], 5], [0, 0])
    assert_array_equal(fitted.X[1, 1:4], [0, 0, 0])
    assert_allclose(fitted.centres[5], holed["bmi"].mean())
    assert_allclose(fitted.scales[5], holed["bmi"].std(ddof=0))
    raw = design(holed, "y", impute="mean", standardize=False)
    assert_allclose(raw.X[3, 5], holed["bmi"].mean())
    assert_array_equal(encode(raw, holed), raw.X)
    assert_array_equal(encode(fitted, holed), fitted.X)


def test_constant_columns_are_left_out_with_one_warning(frame):
    frame["one"] = 1.0
    frame["nearly"] = 1e6 + 1e-9 * np.arange(12)
    frame["word"] = "u"
    frame["hole"] = [2.0, np.nan] * 6
    frame["never"] = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = design(frame, "y", impute="mean")
    assert len(caught) == 1
    assert fitted.left_out == ("one", "nearly", "word", "hole", "never")
    assert all(f"'{name}'" in str(caught[0].message) for name in fitted.left_out)
    assert fitted.names == ("age", "site", "smoker", "bmi")
    assert_array_equal(encode(fitted, frame), fitted.X)
    assert_array_equal(encode(fitted, frame.drop(columns=["one", "word"])), fitted.X)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bmi": [np.inf] + [1.0, 2, 3] * 3 + [4, 5]}, ["'bmi'", "row 0", "finite"]),
        ({"bmi": [np.nan] * 12}, ["'bmi'", "no values at all", "drop=['bmi']"]),
        ({"y": [1.0, np.nan] * 6}, ["'y'", "rows 1, 3, 5", "never imputed"]),
        ({"y": [1.0] * 12}, ["'y'", "constant (1", "Choose another"]),
        ({"y": [1.0, -np.inf] * 6}, ["'y'", "row 1", "finite"]),
        ({"y": ["u", "v"] * 6}, ["'y'", "expected numbers", "0 and 1"]),
    ],
)
@pytest.mark.parametrize("impute", [None, "mean"])
def test_values_that_cannot_be_used(frame, change, words, impute):
    with pytest.raises(DataError) as caught:
        design(frame.assign(**change), "y", impute=impute)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_rows(n):
    with pytest.raises(DataError, match=f"got {n} sample.*at least 3 rows.*Add rows"):
        design(np.arange(2.0 * n).reshape(n, 2), np.arange(1.0 * n))


def test_other_refusals(frame):
    with pytest.raises(DataError, match=r"requires y to be passed.*Give the name"):
        design(frame)
    with pytest.raises(DataError, match=r"every covariate is constant \('x0', 'x1'\).*add covariates"):
        design(np.ones((5, 2)), np.arange(5.0))
    with pytest.raises(DataError, match=r"got impute='median': expected None or 'mean'"):
        design(frame, "y", impute="median")
    with pytest.raises(DataError, match=r"4 values for 5 rows"):
        design(np.eye(5), np.arange(4.0))


@pytest.mark.parametrize("size", [1e-200, 1e200, 1e308])
def test_extreme_sizes_are_standardised_or_refused(size):
    X = np.array([[0.1], [0.5], [0.7], [0.9]])
    y = np.array([0.0, 0.1, 0.2, 0.4])
    expected = design(X, y)
    assert_allclose(design(X * size, y * size).X, expected.X)
    assert_allclose(design(X * size, y * size).y, expected.y)
    if size > 1:
        with pytest.raises(DataError, match=r"'x0' is too large.*Rescale.*standardize=True"):
            design(X * size, y, standardize=False)
        with pytest.raises(DataError, match=r"'y' is too large.*Rescale"):
            design(X, y * size, standardize=False)


def test_encoding_the_rows_of_the_design_gives_its_columns(frame, fitted):
    assert_array_equal(encode(fitted, frame), fitted.X)
    assert_array_equal(encode(fitted, frame[["bmi", "smoker", "site", "age"]]), fitted.X)
    assert_array_equal(encode(fitted, pl.DataFrame(frame.to_dict("list"))), fitted.X)
    assert_array_equal(encode(fitted, frame.iloc[[7]]), fitted.X[[7]])
    assert_array_equal(encode(fitted, read(frame, "y")), fitted.X)


def test_encoding_arrays_by_position():
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(9, 4)), generator.normal(size=9)
    X[:, 1] = 3.0
    with pytest.warns(UserWarning, match=r"'x1'"):
        fitted = design(X, y)
    assert_array_equal(encode(fitted, X), fitted.X)
    assert_array_equal(encode(fitted, X.tolist()), fitted.X)
    with pytest.raises(DataError, match=r"X has 3 features, but Design is expecting 4 features.*'x0', 'x1'"):
        encode(fitted, X[:, [0, 2, 3]])


def test_encoding_arrays_for_a_design_from_a_frame_that_dropped_columns(frame):
    numbers = frame.drop(columns="site").astype(float)
    fitted = design(numbers, "y", drop=["smoker"])
    assert_array_equal(encode(fitted, numbers), fitted.X)
    assert_array_equal(encode(fitted, numbers[["age", "smoker", "bmi"]].to_numpy()), fitted.X)


def test_encoding_accepts_few_rows_and_other_numbers(frame, fitted):
    new = frame.iloc[:3].copy()
    new["smoker"] = [0.5, 0.5, 0.5]
    new["age"] = [50, 60, 50]
    X = encode(fitted, new)
    assert_allclose(X[:, 0], (np.array([50, 60, 50]) - fitted.centres[0]) / fitted.scales[0])
    assert_allclose(X[:, 4], (0.5 - fitted.centres[4]) / fitted.scales[4])


def test_encoding_a_file_keeps_levels_that_read_as_numbers(tmp_path):
    fitted = design(pd.DataFrame({"f": pd.Categorical([1, 2, 3] * 3), "y": np.arange(9.0)}), "y")
    (tmp_path / "new.csv").write_text("f\n3\n1\n")
    assert_array_equal(encode(fitted, tmp_path / "new.csv"), fitted.X[[2, 0]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda f: f.rename(columns={"bmi": "bmi2"}),
            ["lack the column 'bmi'", "Did you mean 'bmi2'?", "rename"],
        ),
        (lambda f: f.drop(columns="age"), ["lack the column 'age'", "Add the column"]),
        (lambda f: f.assign(extra=1, other=2), ["'extra', 'other'", "Drop them"]),
        (lambda f: f.assign(age=["young", "old"] * 6), ["'age'", "'young' in row 0", "expected numbers"]),
        (lambda f: f.assign(age=["1"] * 11 + ["?"]), ["'age'", "'?' in row 11", "astype(float)"]),
        (
            lambda f: f.assign(site=range(12)),
            ["'site'", "holds numbers", "'London', 'Paris', 'Rome'", "astype(str)"],
        ),
        (
            lambda f: f.assign(site=["Rome"] * 11 + ["Oslo"]),
            ["'site'", "'Oslo' in row 11", "'Paris'", "fit again"],
        ),
        (lambda f: f.assign(bmi=[np.nan] * 12), ["'bmi' 12 (first in row 0)", "impute='mean'"]),
        (lambda f: f.assign(site=[None] * 12), ["'site' 12 (first in row 0)", "impute='mean'"]),
        (lambda f: f.assign(bmi=[np.inf] * 12), ["'bmi'", "row 0", "finite"]),
        (lambda f: f.assign(bmi=[1e200] * 12), ["'bmi'", "too large", "units"]),
        (lambda f: f.assign(bmi=pd.date_range("2020", periods=12)), ["'bmi'", "number of days"]),
        (lambda f: f.iloc[:0], ["0 rows", "at least one"]),
    ],
)
def test_new_rows_that_cannot_be_used(frame, fitted, change, words):
    with pytest.raises(DataError) as caught:
        encode(fitted, change(frame))
    for word in words:
        assert word in str(caught.value)
    assert "drop=[" not in str(caught.value)


def test_new_rows_without_any_value_are_imputed(frame):
    fitted = design(frame, "y", impute="mean")
    new = pd.DataFrame({"age": [None], "site": pd.Categorical([None]), "smoker": [None], "bmi": [None]})
    assert_array_equal(encode(fitted, new), np.zeros((1, 6)))
    new["age"] = pd.Categorical([None])
    assert_array_equal(encode(fitted, new), np.zeros((1, 6)))


def test_a_covariate_with_the_name_y_beside_values():
    generator = np.random.default_rng(2)
    X = pd.DataFrame(generator.normal(size=(6, 2)), columns=["y", "z"])
    fitted = design(X, generator.normal(size=6))
    assert fitted.response == "response"
    assert_array_equal(encode(fitted, X), fitted.X)


def test_ten_thousand_columns():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(20, 10_000))
    fitted = design(pd.DataFrame(X).add_prefix("g"), generator.normal(size=20))
    assert fitted.p == fitted.d == 10_000
    assert_allclose(fitted.X, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-12)


def test_copy_of_a_named_response_is_refused() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0, 3.0], "y": [0.5, 1.0, 3.0, 2.0]})
    with pytest.raises(DataError, match="'y2' equals the response"):
        design(frame.assign(y2=frame["y"]), "y")


def test_column_named_like_a_level_is_refused() -> None:
    frame = pd.DataFrame({"g": ["u", "v", "u", "v"], "g[u]": [1.0, 5.0, 2.0, 4.0], "y": [0.5, 1.0, 3.0, 2.0]})
    with pytest.raises(DataError, match="both a column and a level"):
        design(frame, "y")


def test_numbers_far_from_zero_are_warned_of_where_not_centred() -> None:
    frame = pd.DataFrame({"a": [10001.0, 10002.0, 10004.0, 10003.0], "y": [0.5, 1.0, 3.0, 2.0]})
    design(frame, "y")
    with pytest.warns(UserWarning, match="not centred"):
        design(frame, "y", standardize=False)


COPIES = np.array([2, 1, 3, 0, 1, 1, 5, 1, 0, 2, 1, 2])


@pytest.mark.parametrize("standardize", [True, False])
def test_whole_weights_are_copies(holed, standardize):
    holed["constant"] = np.where(COPIES > 0, 1.5, 2.5)
    copied = holed.loc[np.repeat(holed.index, COPIES)]
    with pytest.warns(UserWarning, match="'constant'"):
        weighted = design(holed, "y", impute="mean", standardize=standardize, weights=COPIES)
    with pytest.warns(UserWarning, match="'constant'"):
        expected = design(copied, "y", impute="mean", standardize=standardize)
    assert (weighted.n, weighted.total_weight, expected.total_weight) == (10, 19.0, 19)
    assert_array_equal(weighted.weights, COPIES[COPIES > 0])
    assert weighted.variables == expected.variables
    assert weighted.left_out == expected.left_out == ("constant",)
    for name in ["centres", "scales", "fills", "response_centre", "response_scale"]:
        assert_allclose(getattr(weighted, name), getattr(expected, name), rtol=1e-13, err_msg=name)
    each = weighted.weights.astype(int)
    assert_allclose(np.repeat(weighted.X, each, axis=0), expected.X, rtol=1e-12, atol=1e-12)
    assert_allclose(np.repeat(weighted.y, each), expected.y, rtol=1e-12, atol=1e-12)
    assert_array_equal(encode(weighted, holed[COPIES > 0]), weighted.X)
    assert encode(weighted, holed).shape == (12, 6)


def test_a_row_of_weight_zero_may_hold_anything(frame):
    odd = frame.astype({"smoker": float})
    odd.loc[[2, 9], "y"] = np.nan
    odd.loc[2, "age"] = np.inf
    odd.loc[2, "smoker"] = 0.5
    odd.loc[9, "bmi"] = np.nan
    odd.loc[9, "site"] = "Oslo"
    weights = np.where(np.isin(np.arange(12), [2, 9]), 0.0, 1.5)
    weighted = design(odd, "y", weights=weights)
    expected = design(odd.drop([2, 9]), "y")
    assert weighted.variables == expected.variables
    assert_allclose(weighted.X, expected.X, rtol=1e-12, atol=1e-12)
    assert_allclose(weighted.y, expected.y, rtol=1e-12, atol=1e-12)
    assert weighted.total_weight == 15.0
    odd.loc[5, "y"] = np.nan
    with pytest.raises(DataError, match=r"missing \(NaN\) in rows 5, the first in row 5"):
        design(odd, "y", weights=weights)


def test_only_factors_with_weights():
    table = pd.DataFrame({"f": ["u", "v"] * 4, "y": np.arange(8.0)})
    weighted = design(table, "y", weights=np.arange(8) + 0.5)
    assert_allclose(weighted.response_centre, np.average(table["y"], weights=weighted.weights))


@pytest.mark.parametrize("kind", [list, tuple, pd.Series, pl.Series, np.asarray, lambda w: np.asarray(w) > 0])
def test_weights_of_any_form(frame, kind):
    given = kind([1, 0] * 6)
    assert_array_equal(design(frame, "y", weights=given).weights, np.ones(6))
    assert_array_equal(design(read(frame, "y"), weights=given).X, design(frame.iloc[::2], "y").X)
    assert design(frame, "y").weights is None


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0] * 11, ["shape (11,) for 12 rows", "one number for each row", "same rows"]),
        (np.ones((12, 1)), ["shape (12, 1)", "1-D"]),
        (2.0, ["shape ()", "1-D"]),
        ([1.0] * 10 + [np.nan] * 2, ["2 of the 12 weights are missing", "row 10", "the weight 0"]),
        ([1.0] * 11 + [np.inf], ["1 of the 12 weights are infinite", "row 11", "finite"]),
        ([1.0, -2.0] * 6, ["6 of the 12 weights are negative", "row 1 (-2)", "0 or more"]),
        ([0.0] * 12, ["all 12 weights are zero", "positive"]),
        ([1 / 12] * 12, ["add up to 1", "at least 3", "average of 1"]),
        ([1e308] * 12, ["add up to inf", "Rescale"]),
        (["1"] * 12, ["not numbers", "astype(float)"]),
        ([None] * 12, ["12 of the 12 weights are missing"]),
        ([pd.NA, 1] * 6, ["not numbers", "the weight 0"]),
        (pd.date_range("2020", periods=12), ["not numbers"]),
        ("age", ["text 'age'", "frame['age']", "covariates"]),
    ],
)
def test_weights_that_cannot_be_used(frame, weights, words):
    with pytest.raises(DataError) as caught:
        design(frame, "y", weights=weights)
    for word in words:
        assert word in str(caught.value)


def test_weights_that_leave_no_variation(frame):
    frame = frame.drop(columns="smoker")
    weights = np.zeros(12)
    weights[4] = 10.0
    with pytest.raises(DataError, match=r"'y' is constant"):
        design(frame, "y", weights=weights)
    weights[5] = 0.5
    assert design(frame, "y", weights=weights).n == 2
    assert design(frame, "y", weights=[0.3] * 10 + [0, 0]).total_weight == 3.0
