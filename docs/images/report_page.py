"""Draw the picture of the report in README.md: the first rows of the matrix of the default run's encyclopaedia.

    python docs/images/report_page.py results/default

needs a finished default run, the development environment and Chromium.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Locator, sync_playwright

HERE = Path(__file__).parent
WIDTH, HEIGHT, MARGIN = 1160, 1000, 8
"""Pixels."""


def main(run: Path) -> None:
    """Save what stands between the first heading and the first group of rows."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto((run / "report.html").resolve().as_uri())
        top, end = (_top(page.locator(place).first) for place in ("main h2", "table.scorecard tr.group"))
        page.screenshot(
            path=HERE / "report.png",
            full_page=True,
            clip={"x": 0, "y": top - MARGIN, "width": WIDTH, "height": end - top},
        )
        browser.close()


def _top(element: Locator) -> float:
    box = element.bounding_box()
    if box is None:
        raise SystemExit(f"{element}: not shown")
    return box["y"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
