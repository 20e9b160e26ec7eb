"""A real server and a real browser, one of each for a module."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from live import Live
from patience import PATIENCE


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    server = Live(tmp_path_factory.mktemp("jobs"))
    yield server
    server.end()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        words = (
            "no Chromium with chromedriver: the page is not tested (apt-get install chromium chromium-driver)"
        )
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    downloads = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    opened.set_script_timeout(PATIENCE)
    opened.set_page_load_timeout(PATIENCE)
    opened.downloads = downloads
    yield opened
    opened.quit()
