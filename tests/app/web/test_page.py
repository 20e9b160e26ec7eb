"""The page in a browser, as a person uses it."""

from pathlib import Path
from typing import Any

import pytest
from live import Live, small_csv
from patience import wait_for
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import interplay as ip

SCRIPT = "<script>alert(1)</script>"
LARGEST_FIRST_VIEW = 1_000_000


class Page:
    """A tab of the browser, with the words that people would use."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser, self.url = browser, url
        browser.get("about:blank")
        browser.get(url)
        self.see("h1")

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def see(self, selector: str, words: str = "") -> Any:
        def found() -> Any:
            # In one step: what is found must not be gone before it is read.
            found = (
                "[...document.querySelectorAll(arguments[0])].find(e => e.textContent.includes(arguments[1]))"
            )
            return self.browser.execute_script(f"return {found}", selector, words)

        return wait_for(found, f"{selector} with {words!r}")

    def press(self, selector: str, words: str = "") -> None:
        self.browser.execute_script(
            "arguments[0].scrollIntoView({block: 'center'})", self.see(selector, words)
        )
        self.see(selector, words).click()

    def upload(self, path: Path) -> None:
        self.see("#file").send_keys(str(path))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return self.browser.execute_script(script, selector)

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def page(browser: Any, live: Live) -> Page:
    return Page(browser, live.url)


def resize(browser: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_from_a_file_to_a_pair_and_a_download(page: Page, live: Live, tmp_path: Path) -> None:
    browser = page.browser
    size = "return performance.getEntries().reduce((sum, e) => sum + (e.transferSize ?? 0), 0)"
    assert 0 < browser.execute_script(size) < LARGEST_FIRST_VIEW
    file = tmp_path / "mine.csv"
    file.write_bytes(small_csv().replace(b"x5", SCRIPT.encode()))
    page.upload(file)

    # Columns, in which a name from the data is text, and what a fit will take.
    page.see("h1", "mine.csv")
    assert SCRIPT in page.texts("td.name")
    assert browser.execute_script("return document.querySelectorAll('main script').length") == 0
    assert page.see("#response").get_attribute("value") == "y"
    page.press("summary", "More options")
    page.see("#minutes").send_keys("0.02")
    page.see(".figures", "15 pairs")
    wait_for(lambda: page.see("button.main").is_enabled(), "a plan")
    page.press("button.main")

    # A reload in mid-run, and a second tab, find the same job.
    page.see("button", "Stop")
    address = browser.current_url
    browser.refresh()
    page.see("h1")
    browser.switch_to.new_window("tab")
    browser.get(live.url)
    page.press("a", "mine.csv")
    page.see("h1", "What explains y")
    assert browser.current_url == address
    browser.close()
    browser.switch_to.window(browser.window_handles[0])

    # The table, sorted by hand and by keyboard.
    page.see("h1", "What explains y")
    first = [row.split("✓")[0].strip() for row in page.texts("section[aria-labelledby=effects] td.name")]
    assert {"x0", "x0:x1", SCRIPT} <= set(first)
    page.press("th button", "Effect")
    assert [
        row.split("✓")[0].strip() for row in page.texts("section[aria-labelledby=effects] td.name")
    ] != first
    page.see("th button", "lfsr").send_keys(Keys.ENTER)
    assert page.see("th[aria-sort]", "lfsr").get_attribute("aria-sort") == "ascending"

    # A pair from the table, by hand; another from the map, by keyboard; it survives a reload.
    page.press("button.link", "x0:x1")
    page.see("#detail", "x0 and x1")
    page.see("h3", "Surface")
    page.see("section[aria-labelledby=detail] strong", "x0:x1")
    assert len(page.all("section[aria-labelledby=detail] svg rect")) >= 25 * 25
    page.see(f"g[data-first='{SCRIPT}'], g[data-second='{SCRIPT}']").send_keys(Keys.ENTER)
    heading = page.see("#detail", SCRIPT).text
    page.see("h3", "Surface")
    browser.refresh()
    page.see("h3", "Surface")
    assert page.see("#detail", SCRIPT).text == heading

    # Any term, a mistake in one, and files to take away.
    page.see("#term").send_keys("x3^2", Keys.ENTER)
    page.press("section[aria-labelledby=ask] button.link", "x3^2")
    page.see("#detail", "x3^2")
    page.see("section[aria-labelledby=detail] svg")
    for number, words in enumerate(("Table (CSV)", "Fit (netCDF)", "Report"), start=1):
        page.press("a.button", words)
        wait_for(lambda number=number: len(list(browser.downloads.glob("mine-*.*"))) == number, words)
    wait_for(lambda: not list(browser.downloads.glob("*.crdownload")), "the end of the downloads")
    assert ip.load(browser.downloads / "mine-fit.nc").design.names[:2] == ("x0", "x1")
    report = (browser.downloads / "mine-report.html").read_text()
    assert SCRIPT not in report
    assert page.complaints() == []

    # Nothing sticks out on a phone.
    resize(browser, 380)
    browser.refresh()
    page.see("h3", "Surface")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
    resize(browser, 1300)
    page.see("#term").clear()
    page.see("#term").send_keys("nothing", Keys.ENTER)
    page.see(".notice.bad", "There is no term")
    assert all("422" in complaint for complaint in page.complaints())


def test_bad_files_are_refused_in_words(page: Page, tmp_path: Path) -> None:
    bad = {
        "empty.csv": (b"", "is empty"),
        "binary.csv": (bytes(range(256)) * 40, "binary"),
        "delimiter.csv": (b"a|b\n1|2\n3|4\n5|6\n", "Check the separator"),
        "twice.csv": (b"a,a,y\n1,2,3\n4,5,6\n7,8,8\n", "more than once"),
        "large.csv": (b"a,b\n" + b"1,2\n" * 13_000_000, "larger than 50 MB"),
    }
    for name, (content, words) in bad.items():
        file = tmp_path / name
        file.write_bytes(content)
        page.upload(file)
        page.see(".notice.bad", words)
    assert all("422" in complaint for complaint in page.complaints())

    # A missing value is no mistake yet: the page says what to do, and does it.
    gaps = tmp_path / "gaps.csv"
    gaps.write_bytes(small_csv().replace(b"\n", b"\n", 1).replace(b"low", b"", 1))
    page.upload(gaps)
    page.see(".problem", "1 missing")
    page.see(".notice.bad", "fill in the mean")
    page.press("label.check", "Fill in the mean")
    wait_for(lambda: page.see("button.main").is_enabled(), "a plan")


def test_a_run_is_stopped_from_another_tab(page: Page, live: Live) -> None:
    browser = page.browser
    page.browser.get_log("browser")
    page.press("button", "Diabetes")
    page.see("h1", "Diabetes")
    page.see(".figures", "45 pairs")
    wait_for(lambda: page.see("button.main").is_enabled(), "a plan")
    page.press("button.main")
    page.see("button", "Stop")
    first = browser.current_window_handle
    address = browser.current_url
    browser.switch_to.new_window("tab")
    browser.get(address)
    page.press("button", "Stop")
    wait_for(lambda: not any("Stop" in words for words in page.texts("button")), "an end, in the one tab")
    browser.close()
    browser.switch_to.window(first)
    wait_for(lambda: not any("Stop" in words for words in page.texts("button")), "an end, in the other tab")
    # With draws there is a result to go on from; before the first there is none, and it can be started again.
    state = live.job(address.split("/")[-1])["state"]
    assert state in ("stopped", "done")
    page.see("button", "Start the fit" if state == "stopped" else "Go on sampling")
    assert page.complaints() == []
