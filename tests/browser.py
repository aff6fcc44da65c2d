"""A real Chromium for the tests of pages; where there is none they are skipped, and say so.

`CHROMIUM` may name the program. Nothing is downloaded: on Debian `apt-get install chromium` puts it there.
"""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDE, PHONE = (1280, 900), (390, 844)


def program():
    """Path of a Chromium, or None."""
    named = os.environ.get("CHROMIUM")
    return next(filter(None, map(shutil.which, [named] if named else NAMES)), None)


def require():
    """Path of a Chromium; skips the test, with what to do, where there is none."""
    found = program()
    if found is None:
        pytest.skip("no Chromium: apt-get install chromium, or name one in CHROMIUM")
    return found


@contextmanager
def chromium():
    """A browser without a window."""
    sync = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install -e '.[test]'")
    with sync.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=require(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, path, size=WIDE, scheme="light"):
    """A file in a tab of its own, without a network; every error of the page, and every request, fails the test."""
    width, height = size
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    faults, requests = [], []
    tab.on("console", lambda message: faults.append(message.text) if message.type in {"error", "warning"} else None)
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.context.set_offline(True)
    tab.goto(path.as_uri())
    try:
        yield tab
        assert faults == []
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    finally:
        tab.close()
