"""A real browser for tests of pages."""

import shutil
from contextlib import contextmanager

import pytest


@contextmanager
def chromium():
    """Chromium as playwright drives it, and how it is launched; the test is skipped where either is not here."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on the path: apt-get install chromium")
    with playwright.sync_playwright() as started:
        yield started.chromium, {"executable_path": path, "args": ["--no-sandbox"]}


@contextmanager
def watched(browser, folder):
    """A page; at the end nothing may have been asked of anything but the folder, and nothing have failed."""
    opened = browser.new_page(viewport={"width": 1300, "height": 800})
    asked, failed = [], []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: failed.append(str(error)))
    opened.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
    yield opened
    opened.close()
    assert not failed
    assert all(url.startswith((folder.as_uri(), "data:,")) for url in asked), asked
