"""The documentation is true of the code: its examples run, its names resolve, its links lead somewhere."""

import functools
import io
import re
import runpy
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from pkgutil import resolve_name

import pytest
from examples import pages as examples

import interplay as ip

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SOURCE = ROOT / "src" / "interplay"
NAMED = [
    ROOT / "docs" / name
    for name in ("paper.md", "architecture.md", "sampler.md", "extend.md", "api.md", "guide/layers.md")
]

CONTINUES = re.compile(r"<!-- continues (\S+) -->")
"""First line of a page whose code goes on from that of another."""

EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"interplay(?:\.\w+)+")
FILE = re.compile(r"`([\w./]+/[\w.]+\.(?:py|md|toml))`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
DECIMAL = re.compile(r"-?\d+\.\d*")

RELATIVE, ABSOLUTE = 0.1, 0.03
"""How far decimal numbers may be from those shown: draws repeat on one machine, and are alike on others."""


def of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def continued(page: Path) -> Path | None:
    """The page that this one goes on from."""
    named = CONTINUES.match(page.read_text())
    return (page.parent / named[1]).resolve() if named else None


def first_pages() -> list[Path]:
    """Pages with code, but for those that go on from another, and for examples, which are scripts."""
    with_code = [page for page in PAGES if page.parent != examples.PAGES and EXAMPLE.search(page.read_text())]
    return [page for page in with_code if continued(page) is None]


@pytest.mark.user_settings
@pytest.mark.parametrize("page", first_pages(), ids=of)
def test_examples_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # examples write files
    namespace: dict[str, object] = {"__name__": "example"}
    run_page(page, namespace)
    for later in PAGES:
        if continued(later) == page:
            run_page(later, dict(namespace))


def run_page(page: Path, namespace: dict[str, object]) -> None:
    """Run all code of a page in one namespace, and compare what it prints."""
    text = page.read_text()
    for example in EXAMPLE.finditer(text):
        line = text.count("\n", 0, example.start()) + 1
        code = compile("\n" * line + example[1], str(page), "exec")
        with redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        if example[2] is not None:
            assert_alike(printed.getvalue(), example[2], f"{of(page)}, example in line {line}")


def assert_alike(printed: str, shown: str, place: str) -> None:
    """Words and whole numbers are the same, but for spaces; decimal numbers are close."""
    words = [DECIMAL.sub("#", text).split() for text in (printed, shown)]
    assert words[0] == words[1], f"{place}: printed\n{printed}"
    numbers = [[float(number) for number in DECIMAL.findall(text)] for text in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=RELATIVE, abs=ABSOLUTE), f"{place}: printed\n{printed}"


@pytest.mark.user_settings
@pytest.mark.parametrize("name", examples.NAMES)
def test_example_scripts_run(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Each runs from its first line to its last, with few draws and fewer covariates."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    few = functools.partial(ip.InteractionRegressor, draws=25, sampler=ip.HMC(chains=2, warmup=25))
    monkeypatch.setattr(ip, "InteractionRegressor", few)
    monkeypatch.setenv("SEARCH_P", "20")
    monkeypatch.chdir(ROOT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ip.ConvergenceWarning)
        try:
            runpy.run_path(str(examples.SCRIPTS / f"{name}.py"))
        except SystemExit as absent:
            pytest.skip(str(absent))
    pyplot.close("all")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", examples.NAMES)
def test_pages_of_examples_show_the_scripts(name: str) -> None:
    page = (examples.PAGES / f"{name}.md").read_text()
    at = 0
    for cell in examples.cells(name):
        assert examples.shown(cell) in page[at:], f"python -m examples {name} makes the page anew"
        at = page.index(examples.shown(cell), at)


@pytest.mark.parametrize("page", NAMED, ids=of)
def test_names_and_files_exist(page: Path) -> None:
    text = page.read_text()
    for name in sorted(set(NAME.findall(text))):
        resolve_name(name)
    files = set(FILE.findall(text))
    missing = {file for file in files if not any((root / file).exists() for root in (ROOT, SOURCE))}
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_links_lead_somewhere(page: Path) -> None:
    for target, heading in LINK.findall(page.read_text()):
        linked = (page.parent / target) if target else page
        assert linked.exists(), target
        if heading:
            assert heading in headings(linked), f"{target}#{heading}"


def headings(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and MkDocs make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}
