"""Files as people write them, read into a table or refused with a remedy."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from interplay.data.errors import DataError
from interplay.data.table import read


def written(folder: Path, text: str, name: str = "cars.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


PLAIN = "a,s,y\n1,u,1.5\n2.5,v,2\n3,u,4\n4,v,4.5\n"


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("f.csv", PLAIN.encode()),
        ("f.CSV", PLAIN.replace("\n", "\r\n").encode()),
        ("f.csv", PLAIN.encode("utf-8-sig")),
        ("f.csv", PLAIN.encode("utf-16")),
        ("f.csv.gz", gzip.compress(PLAIN.encode(), mtime=0)),
        ("f.csv", PLAIN.replace(",", ";").encode()),
        ("f.csv", PLAIN.replace(",", ";").replace(".", ",").encode()),
        ("f.csv", PLAIN.replace(",", "\t").encode()),
        ("f.tsv", PLAIN.replace(",", "\t").encode()),
        ("f.tsv.gz", gzip.compress(PLAIN.replace(",", "\t").encode(), mtime=0)),
        ("f.csv", PLAIN.replace(",", " , ").encode()),
        ("f.csv", PLAIN.replace("a,s,y", ' "a", s ,"y"').encode()),
        ("f.csv", b"\n\n" + PLAIN.replace("\n3", "\n\n3").encode()),
    ],
)
def test_ways_to_write_a_csv_file(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)
    table = read(tmp_path / name, "y")
    assert {column.name: column.kind for column in table.columns} == {"a": "numeric", "s": "categorical"}
    assert table.columns[0].values.tolist() == [1, 2.5, 3, 4]
    assert table.columns[1].values.tolist() == ["u", "v", "u", "v"]
    assert table.response is not None
    assert table.response.values.tolist() == [1.5, 2, 4, 4.5]


def test_separator_inside_a_header_name(tmp_path):
    path = written(tmp_path, "price, EUR;a;y\n1,5;2;3\n2,5;3;4\n3,1;1;2\n")
    assert read(str(path), "y").names == ("price, EUR", "a")


def test_empty_cells_are_missing(tmp_path):
    number, text, flag = read(written(tmp_path, "a,s,f\n1,u,True\n,NA,\n3,,False\n")).columns
    assert number.missing.tolist() == [False, True, False]
    assert text.missing.tolist() == [False, True, True]
    assert flag.kind == "binary"


def test_parquet_keeps_categories_and_drops_the_index(tmp_path):
    frame = pd.DataFrame(
        {"a": range(4), "c": pd.Categorical(list("abab"), categories=["b", "a"])}, index=[3, 2, 1, 0]
    )
    frame.to_parquet(tmp_path / "f.parquet")
    table = read(tmp_path / "f.parquet")
    assert table.names == ("a", "c")
    assert table.columns[1].levels == ("b", "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty", "header"]),
        (" \n\n", ["empty", "header"]),
        ("a,a,y\n1,2,3\n", ["more than once", "'a'", "Rename"]),
        ("a, a,y\n1,2,3\n", ["more than once", "'a'"]),
        ("1,2\n3,4\n", ["only numbers", "Add a header line"]),
        (",a,y\n0,1,2\n1,3,4\n", ["row index", "drop=['Unnamed: 0']"]),
        ("a,b\n1,2\n3,4,5\n", ["line 3", "Mend that line"]),
        ("a,b\n1,2,3\n3,4,5\n", ["line 2", "3 fields", "Add the missing names"]),
        ('a,b\n1,"2\n3,4\n', ["not a regular table", "quotes"]),
        ("a,y\n\n1,1\n2,2\n?,3\n5,4\n", ["'a'", "row 2 (line 5 of cars.csv): '?'", "Mend"]),
        ('a,s,y\n1,"u\nv",1\n2,u,2\n?,u,3\n5,u,4\n', ["row 2 (line 5 of cars.csv): '?'"]),
        ("d,y\n2020-01-01,1\n2020-01-02,2\n2020-01-03,3\n", ["'d'", "dates", "drop=['d']"]),
        ("d,y\n" + "1.5.20,1\n2.5.20 12:30,2\n" * 9, ["'d'", "dates", "line 2 of", "drop=['d']"]),
    ],
)
def test_csv_files_that_cannot_be_used(tmp_path, text, words):
    with pytest.raises(DataError) as caught:
        read(written(tmp_path, text))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("f.csv", b"PK\x03\x04\x00\x00", ["binary file", "Save the data as CSV"]),
        ("f.csv", b"a,y\n1,2\n\xe4,3\n", ["not UTF-8", "line 3", "encoding"]),
        ("f.csv.gz", b"\x1f\x8b123", ["could not be read", "write it again"]),
        ("f.parquet", b"abc", ["Parquet", "save the data as CSV"]),
        ("f.xlsx", b"", ["format", "Save the data as CSV"]),
        ("f.csv", None, ["no file", "Check the path"]),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, raw, words):
    if raw is not None:
        (tmp_path / name).write_bytes(raw)
    with pytest.raises(DataError) as caught:
        read(tmp_path / name)
    for word in words:
        assert word in str(caught.value)


def test_text_column_of_the_response_names_its_line(tmp_path):
    with pytest.raises(DataError, match=r"'y'.*'\?' in row 2 \(line 4 of cars.csv\)"):
        read(written(tmp_path, "a,y\n1,1\n2,2\n4,?\n5,4\n"), "y")
