"""The report: one file, nothing from elsewhere, every name as text, and what it says is what the fit says."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fits import make_fit

from interplay.data.design import design
from interplay.model.priors import SKIM, BlockDegree, Prior
from interplay.results.fit import Fit
from interplay.results.leave_one_out import leave_one_out
from interplay.results.report import write_report
from interplay.results.report.figures import svg
from interplay.results.report.words import interval, number

SCRIPT = "<script>alert(1)</script>"

LOADING = {"src", "srcset", "href", "xlink:href", "data", "action", "poster", "background", "style"}


class Page(HTMLParser):
    """Tags, attributes that may load something, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in LOADING]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.text += data


def make(p: int, prior: Prior, n: int = 20) -> Fit:
    random = np.random.default_rng(p)
    frame = pd.DataFrame(random.normal(50, 10, size=(n, p)), columns=[f"v{k}" for k in range(p)])
    frame = frame.rename(columns={"v0": SCRIPT})
    frame["<b>f</b>"] = random.permutation([f"<i>{k % 3}" for k in range(n)])
    return make_fit(design(frame.assign(y=random.normal(size=n)), "y"), prior, chains=2, length=8)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return make(4, SKIM())


@pytest.fixture(scope="module")
def page(fit: Fit, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    fit.report(path)
    return path.read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    found = Page(page)
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(found.tags)
    for value in found.loaded:
        assert value.startswith(("#", "data:")) or "//" not in value, value
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert len(found.ids) == len(set(found.ids))


def test_names_from_the_data_are_text(page: str) -> None:
    found = Page(page)
    assert "<script" not in page
    assert SCRIPT in found.text
    assert "<b>f</b>" in found.text
    assert "i" not in found.tags or "<i>0" in found.text
    assert "<i>0" not in page


def test_it_says_what_the_fit_says(fit: Fit, page: str) -> None:
    text = " ".join(Page(page).text.split())
    assert fit.diagnostics.reason in text
    effects = fit.effects()
    for row in effects[effects["kind"] == "main"].itertuples():
        assert row.term in text
        assert interval(row.lower_natural, row.upper_natural) in text
    pair = fit.top_pairs(1).iloc[0]
    assert pair["term"] in text
    assert number(pair["mean_natural"]) in text
    assert f"{leave_one_out(fit).r2:.2f}" in text
    assert fit.provenance.fingerprint in text
    assert "arXiv:1905.06501" in text
    for heading in ("How to read an interaction", "Prediction quality", "within the sample", "How to cite"):
        assert heading in text
    assert page.count("<svg") == 8 + 2 * 3


def test_size_and_other_priors(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(make(500, SKIM()), path)
    assert path.stat().st_size < 3e6
    write_report(make(1, BlockDegree(quadratic=False)), path)
    assert "has no κ" not in path.read_text()


def test_a_file_is_whole_or_as_it_was(fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    monkeypatch.setattr("interplay.results.report.write.as_page", lambda fit: "a\ud800")
    with pytest.raises(UnicodeEncodeError):
        write_report(fit, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_report(fit, tmp_path / "absent" / "report.html")
    with pytest.raises(IsADirectoryError, match="expected the name of a file"):
        write_report(fit, tmp_path)


def test_pictures_take_colours_from_the_page_but_names_do_not(fit: Fit) -> None:
    import matplotlib.figure

    def plot() -> object:
        axes = matplotlib.figure.Figure().subplots()
        axes.set_title('#222222 id="x"', color="#222222")
        return axes

    text = str(svg("title", plot))
    assert '#222222 id="x"' in text or "#222222 id=&quot;x&quot;" in text
    assert "fill: var(--ink)" in text
