"""Draw the pictures of the annotation page in docs/human-study.md (deng2022, Figures 14 to 17, in kind).

    python docs/images/annotation_page.py results/default

needs a finished default run, the development environment and Chromium.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from macroscope.human.annotation_form import PAGES, write_annotation_form
from macroscope.human.assignment import Design
from macroscope.human.pool import pool_of_run
from macroscope.human.questionnaire import read_questionnaire

HERE = Path(__file__).parent
WIDTH, HEIGHT = 900, 640


def main(run: Path) -> None:
    """Walk through the page of one annotator."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pool = pool_of_run(run, "wiki", ["control", "shuffled"])
        key = write_annotation_form(pool, Design(2, 1, 1, 0.0, 1, 1), read_questionnaire(), Path(folder) / "study")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto((Path(folder) / "study" / PAGES / "annotator-1.html").as_uri())
        _save(page, "14-instructions")
        gold = key["training"][0]["gold"]
        for number, kind in enumerate(gold):
            page.select_option(f"#type-{number}", gold[0] if number == len(gold) - 1 else kind)
        page.click("#verify")
        page.locator(f"#type-{len(gold) - 1}").scroll_into_view_if_needed()
        page.evaluate("scrollBy(0, 120)")
        _save(page, "15-training")
        page.select_option(f"#type-{len(gold) - 1}", gold[-1])
        page.click("#verify")
        page.click("#next")
        page.click("#to-test")
        page.select_option("#type-0", "history")
        page.evaluate("document.querySelector('#heading').scrollIntoView()")
        _save(page, "16-section-types")
        page.get_by_label("incoherent", exact=True).check()
        page.fill("#reason-coherent", "It begins with the history of an animal that nobody has introduced.")
        page.locator("#reason-coherent").scroll_into_view_if_needed()
        page.evaluate("scrollBy(0, 300)")
        _save(page, "17-coherence")
        browser.close()


def _save(page: Page, name: str) -> None:
    page.screenshot(path=HERE / f"human-{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
