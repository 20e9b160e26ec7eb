"""Anything a user may hold, read into a table or refused with a remedy."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from interplay.data.errors import DataError, listed, nearest, quoted
from interplay.data.table import Table, read

Y = [1.0, 2.0, 3.5, 4.0, 5.0, 7.0, 8.0, 9.0]


def kinds(table: Table) -> dict[str, str]:
    return {column.name: column.kind for column in table.columns}


def only(values: object) -> pd.DataFrame:
    return pd.DataFrame({"a": values})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False] * 4, "binary"),
        ([True] * 8, "binary"),
        (pd.array([True, None] * 4, dtype="boolean"), "binary"),
        (pd.Series([True, None] * 4, dtype=object), "binary"),
        ([1, 2] * 4, "binary"),
        ([3.5, np.nan, -2.0, 3.5] * 2, "binary"),
        (range(8), "numeric"),
        ([7.0] * 8, "numeric"),
        ([-0.0, 0.0] * 4, "numeric"),
        (np.arange(8, dtype="u1"), "numeric"),
        (np.arange(8, dtype="f2"), "numeric"),
        (np.arange(8, dtype="f4"), "numeric"),
        ([Decimal(i) for i in range(8)], "numeric"),
        ([2**70 * i for i in range(8)], "numeric"),
        (pd.Series([1, 2.5, None, 4] * 2, dtype=object), "numeric"),
        (pd.Series([pd.NA, 1, 2, 3] * 2, dtype=object), "numeric"),
        (pd.array([1, None, 2, 3] * 2, dtype="Int64"), "numeric"),
        (pd.array([1, None, 2, 3] * 2, dtype="int64[pyarrow]"), "numeric"),
        (pd.array([1, None, 2, 3] * 2, dtype=pd.ArrowDtype(pa.decimal128(5, 2))), "numeric"),
        ([None] * 8, "numeric"),
        (["u", "v"] * 4, "categorical"),
        (pd.array(["u", None] * 4, dtype="string[pyarrow]"), "categorical"),
        (pd.Categorical([1, 2] * 4), "categorical"),
    ],
)
def test_kind_of_a_pandas_column(values, kind):
    column = read(only(values)).columns[0]
    assert column.kind == kind
    assert column.values.dtype == (object if kind == "categorical" else np.float64)


def test_missing_cells_are_nan_or_none():
    table = read(pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "s": ["u", None, " ", "v"]}))
    number, text = table.columns
    assert np.isnan(number.values[1])
    assert text.values.tolist() == ["u", None, None, "v"]
    assert text.missing.tolist() == [False, True, True, False]


def test_levels_are_sorted_as_a_reader_would():
    assert read(only(["dose 10", "dose 2", "dose 1", "dose 2"] * 2)).columns[0].levels == (
        "dose 1",
        "dose 2",
        "dose 10",
    )


def test_categories_keep_their_order_and_only_what_occurs():
    assert read(only(pd.Categorical(["b", "a"] * 4, categories=["z", "b", "a"]))).columns[0].levels == (
        "b",
        "a",
    )
    assert read(only(pd.cut(range(8), 2))).columns[0].levels == ("(-0.007, 3.5]", "(3.5, 7.0]")


def test_polars_frame():
    table = read(
        pl.DataFrame(
            {
                "s": ["u", "v", "u", "v"],
                "c": pl.Series(["b", "a", "b", None], dtype=pl.Categorical),
                "e": pl.Series(["b", "a", "b", None], dtype=pl.Enum(["z", "b", "a"])),
                "i": [1, None, 2, 3],
                "f": [True, None, False, True],
                "d": pl.Series([1, 2, None, 4], dtype=pl.Decimal(5, 2)),
                "n": [None] * 4,
                "y": [1.0, 2.0, 3.0, 4.0],
            }
        ),
        "y",
    )
    assert list(kinds(table).values()) == ["categorical"] * 3 + ["numeric", "binary", "numeric", "numeric"]
    assert [column.levels for column in table.columns[:3]] == [("u", "v"), ("a", "b"), ("b", "a")]
    np.testing.assert_array_equal(table.columns[3].values, [1, np.nan, 2, 3])


def test_arrow_table():
    table = read(pa.table({"c": pa.array(["y", "x", None, "x"]).dictionary_encode(), "i": [1, None, 2, 4]}))
    assert table.columns[0].levels == ("x", "y")
    np.testing.assert_array_equal(table.columns[1].values, [1, np.nan, 2, 4])


def test_arrays_lists_and_mappings():
    assert read(np.arange(6).reshape(3, 2)).names == ("x0", "x1")
    assert read([[1, 2], [3, 4.5], [5, 6]], names=["a", "b"]).names == ("a", "b")
    assert kinds(read(np.array([[1, "u"], [2, "v"], [3, "u"], [4, "v"]], dtype=object))) == {
        "x0": "numeric",
        "x1": "categorical",
    }
    assert read({"a": [1, 2, 3], "s": ["u", "v", "u"]}).n == 3
    masked = read(np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[True, False], [False, False]]))
    np.testing.assert_array_equal(masked.columns[0].values, [np.nan, 3])


def test_whole_number_names_become_text_and_the_index_is_ignored():
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 2, index=[9, 9, 1, 0])
    table = read(frame, 2)
    assert table.names == ("0", "1")
    assert table.response is not None
    assert table.response.name == "2"


def test_response_is_taken_out_by_name():
    table = read(pd.DataFrame({"a": range(8), "mpg": Y}), "mpg")
    assert table.names == table.source_names == ("a",)
    assert table.response is not None
    np.testing.assert_array_equal(table.response.values, Y)


@pytest.mark.parametrize(
    ("response", "name"),
    [
        (Y, "y"),
        (np.array(Y), "y"),
        (pd.Series(Y), "y"),
        (pd.Series(Y, name="mpg", index=range(5, 13)), "mpg"),
        (pl.Series("mpg", Y), "mpg"),
        (pd.Series(Y, name=0), "0"),
        (np.array(Y) > 4, "y"),
    ],
)
def test_response_given_as_values(response, name):
    table = read(only(range(8)), response)
    assert table.response is not None
    assert table.response.name == name
    assert table.response.values.dtype == np.float64


def test_values_without_a_name_beside_a_covariate_y():
    table = read(pd.DataFrame({"y": range(8)}), Y)
    assert table.response is not None
    assert table.response.name == "response"


def test_dropped_columns_are_never_looked_at():
    frame = pd.DataFrame({"day": pd.date_range("2020", periods=8), "a": range(8), "id": list("abcdefgh")})
    table = read(frame, Y, drop=["day", "id"])
    assert table.names == ("a",)
    assert table.source_names == ("day", "a", "id")
    assert read(frame[["a", "id"]], drop="id").names == ("a",)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (list("12345678"), ["all of its 8 values read as numbers", "astype(float)", "astype('category')"]),
        (list("123456?8"), ["1 of 8 values", "row 6: '?'", "Mend"]),
        (["1,234", "2,345,678"] * 4, ["row 0: '1,234'", "thousands separators"]),
        (list("abcdefgh"), ["8 levels in 8 rows", "identifier", "drop=['a']"]),
        (pd.Categorical(list("abcdefgh")), ["identifier", "drop=['a']"]),
        ([1, "u"] * 4, ["mixes int and str", "astype", "drop=['a']"]),
        ([True, 2] * 4, ["mixes bool and int", "astype"]),
        (pd.Series([1j, 2] * 4, dtype=object), ["mixes complex and int", "drop=['a']"]),
        (pd.date_range("2020", periods=8), ["dates", "number of days", "drop=['a']"]),
        ([datetime.date(2020, 1, 1)] * 8, ["dates", "number of days", "drop=['a']"]),
        (pd.to_timedelta(range(8), unit="D"), ["dates or times", "number of days"]),
        (pd.period_range("2020", periods=8), ["period", "Convert", "drop=['a']"]),
        ([[1]] * 8, ["list objects", "drop=['a']"]),
        ([[1, 2]] * 8, ["list objects", "drop=['a']"]),
        ([{}] * 8, ["dict objects", "drop=['a']"]),
        ([1j] * 8, ["complex", "real numbers", "drop=['a']"]),
        (pd.arrays.SparseArray([0, 1] * 4), ["sparse", ".sparse.to_dense()"]),
        ([10**400] * 8, ["too large", "Rescale"]),
        (pd.Categorical([1, "1"] * 4), ["written alike", "Rename"]),
    ],
)
def test_columns_that_cannot_be_used(values, words):
    with pytest.raises(DataError) as caught:
        read(only(values))
    for word in ["'a'", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("values", [[datetime.date(2020, 1, 1)], [[1]], [b"u"]])
def test_polars_columns_that_cannot_be_used(values):
    with pytest.raises(DataError, match=r"'a'.*Convert.*drop=\['a'\]"):
        read(pl.DataFrame({"a": values}))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.arange(3.0), ["1-D", "reshape(-1, 1)"]),
        (pd.Series([1.0, 2.0]), ["1-D", "reshape(-1, 1)"]),
        (np.zeros((2, 2, 2)), ["3-D", "(2, 2, 2)", "Reshape"]),
        (np.zeros((5, 0)), ["0 feature(s)", "Add a covariate"]),
        (pd.DataFrame(index=range(5)), ["0 feature(s)", "Add a covariate"]),
        (np.zeros((3, 2)) * 1j, ["Complex data not supported", "real and imaginary parts"]),
        (np.zeros((3, 2), dtype="M8[D]"), ["'x0'", "number of days"]),
        (np.zeros(3, dtype=[("a", "f8")]), ["structured", "pandas.DataFrame(X)"]),
        (np.array([["1", "u"], ["2", "v"], ["3", "u"]]), ["'x0'", "astype(float)"]),
        (np.array([[b"1"], [b"2"], [b"3"]]), ["'x0'", "astype(float)"]),
        (scipy.sparse.csr_matrix(np.eye(3)), ["sparse", "toarray()"]),
        ([[1, 2], [3]], ["differ in length", "same number of values"]),
        ({"a": [1, 2], "b": [1]}, ["same length", "one value per row"]),
        (None, ["NoneType", "Convert"]),
        (3, ["0-D", "path"]),
        (pl.LazyFrame({"a": [1]}), ["lazy", ".collect()"]),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), ["more than once", "'a'", "Rename"]),
        (pd.DataFrame(np.eye(2), columns=[1, "1"]), ["more than once", "'1'", "Rename"]),
        (pd.DataFrame(np.eye(2), columns=["a", " "]), ["column 1 has no name", "Rename"]),
        (
            pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
            ["MultiIndex", "Join"],
        ),
        (pd.DataFrame({"Unnamed: 0": range(3)}), ["row index", "drop=['Unnamed: 0']", "index=False"]),
    ],
)
def test_sources_that_cannot_be_used(source, words):
    with pytest.raises(DataError) as caught:
        read(source)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ("wieght", ["'wieght'", "Did you mean 'weight'?"]),
        (True, ["no column 'True'"]),
        (Y[:3], ["3 values for 8 rows", "Select the same rows"]),
        (np.array(Y)[:, None], ["(8, 1)", "y.ravel()"]),
        (pd.DataFrame({"q": Y}), ["data frame", "Select one column"]),
        (list("abcdefgh"), ["'y'", "'a' in row 0", "0 and 1"]),
        (list("1234567?"), ["'y'", "'?' in row 7", "Mend"]),
        (pd.Series(["u", "v"] * 4, dtype="category"), ["'y'", "expected numbers"]),
        (pd.Series(range(8), name="weight"), ["'weight' is also a covariate", "drop=['weight']"]),
        (list(range(8)), ["'weight' equals the response", "drop=['weight']"]),
        (pd.date_range("2020", periods=8), ["'y'", "number of days"]),
        ([[1], [1, 2]], ["differ in length"]),
        ({1, 2}, ["set", "Convert"]),
    ],
)
def test_responses_that_cannot_be_used(response, words):
    with pytest.raises(DataError) as caught:
        read(pd.DataFrame({"weight": range(8)}), response)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drop": ["wieght"]}, ["'wieght'", "Did you mean 'weight'?"]),
        ({"drop": "y", "response": "y"}, ["both the response and in `drop`", "Take it out"]),
        ({"drop": ["weight", "y"]}, ["drop fewer"]),
        ({"names": ["a", "b"]}, ["names of its own", "Leave `names` out"]),
    ],
)
def test_options_that_cannot_be_used(options, words):
    with pytest.raises(DataError) as caught:
        read(pd.DataFrame({"weight": range(8), "y": Y}), **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("names", [["a"], ["a", "a", "b"]])
def test_names_must_fit_the_array(names):
    with pytest.raises(DataError, match="name"):
        read(np.eye(3), names=names)


def test_words_of_messages():
    assert nearest("BMI", ["bmi", "bp"]) == " Did you mean 'bmi'?"
    assert nearest("zzz", ["bmi", "bp"]) == ""
    assert quoted(["a", "b"]) == "'a', 'b'"
    assert listed(["1", "2", "3"], 2) == "1, 2 and 1 more"
