"""The documentation is true of the code: its examples run, its names resolve, its links lead somewhere."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
SOURCE = ROOT / "src" / "interplay"
NAMED = [ROOT / "docs" / name for name in ("paper.md", "architecture.md", "sampler.md")]

EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"interplay(?:\.\w+)+")
FILE = re.compile(r"`([\w./]+/[\w.]+\.(?:py|md|toml))`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
DECIMAL = re.compile(r"-?\d+\.\d*")

RELATIVE, ABSOLUTE = 0.1, 0.03
"""How far decimal numbers may be from those shown: draws repeat on one machine, and are alike on others."""


def of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.user_settings
@pytest.mark.parametrize("page", [page for page in PAGES if EXAMPLE.search(page.read_text())], ids=of)
def test_examples_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # examples write files
    text = page.read_text()
    namespace: dict[str, object] = {"__name__": "example"}
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
