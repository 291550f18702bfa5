"""The report in a real browser, from a folder: sorting, links, printing, and no external content."""

import re

import pytest

from ..browser import watched


@pytest.fixture
def results(run):
    return run.work / "results" / "test"


@pytest.fixture
def page(browser, results):
    with watched(browser, results) as opened:
        yield opened


def names(page):
    return [row.inner_text().split("\n")[0] for row in page.query_selector_all("table.scorecard tbody th")]


def test_the_scorecard_sorts_by_a_critic_and_back(page, results):
    page.goto((results / "report.html").as_uri())
    before = names(page)
    assert set(before) == {"mine", "lm", "lm-nucleus", "real text against itself"}
    head = page.locator("table.scorecard th", has_text="tendencies").first
    column = [cell.inner_text() for cell in page.query_selector_all("table.scorecard thead th")]
    at = next(i for i, text in enumerate(column) if text.startswith("tendencies"))

    def values():
        cells = page.query_selector_all(f"table.scorecard tbody:first-of-type tr > :nth-child({at + 1})")
        return [float(cell.get_attribute("data-value")) for cell in cells]

    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(values())
    assert sorted(names(page)) == sorted(before)
    assert names(page)[-1] == "real text against itself"


def test_rows_link_to_systems_cells_to_findings_and_columns_to_critics(page, results):
    page.goto((results / "report.html").as_uri())
    page.locator("table.scorecard tbody th a", has_text="mine").click()
    assert page.locator("h1").inner_text().startswith("mine")
    page.locator("a", has_text="Read its texts").first.click()
    page.wait_for_url(re.compile(r"reader/index\.html#real/mine"))
    page.goto((results / "report.html").as_uri())
    cell = page.locator("table.scorecard td[data-value] a").first
    critic = cell.get_attribute("href").partition("#")[2]
    cell.click()
    assert ", compared with real" in page.locator("h1").inner_text()
    assert page.locator(f"h2#{critic}").count() == 1
    page.goto((results / "report.html").as_uri())
    page.locator("table.scorecard thead small a").first.click()
    assert " on real" in page.locator("h1").inner_text()
    page.goto((results / "report.html").as_uri())
    page.locator("table.scorecard tr.floor td a").first.click()
    assert " on real" in page.locator("h1").inner_text()


@pytest.mark.parametrize(("scheme", "rules"), [("light", None), ("dark", ["color-contrast"])])
def test_every_page_is_accessible(browser, results, scheme, rules):
    """The scheme changes colours alone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe checks accessibility").Axe()
    opened = browser.new_page(viewport={"width": 1300, "height": 800}, color_scheme=scheme)
    for path in [results / "report.html", *sorted((results / "pages").glob("*.html"))]:
        opened.goto(path.as_uri())
        checked = axe.run(opened, options={"runOnly": rules} if rules else None).response
        violations = [(item["id"], item["nodes"][0]["html"][:200]) for item in checked["violations"]]
        assert not violations, f"{path.name}: {violations}"
    opened.close()


def test_no_page_is_wider_than_a_phone(browser, results):
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    for path in [results / "report.html", *sorted((results / "pages").glob("*.html"))]:
        opened.goto(path.as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390, path.name
    opened.close()


def test_a_phone_shows_every_critic_of_every_system(browser, results):
    """Rows, cells and their critics' names are visible without scrolling sideways, and still a table for readers."""
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    opened.goto((results / "report.html").as_uri())
    cells = opened.locator("table.scorecard td[data-label]")
    boxes = [cell.bounding_box() for cell in cells.all()]
    assert boxes
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    critic = cells.first.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert critic.strip('"').split()[0] in opened.locator("table.scorecard thead th").all_text_contents()[2]
    assert opened.get_by_role("table").first.get_by_role("row").count() > 3
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe checks accessibility").Axe()
    assert not axe.run(opened).response["violations"]
    opened.close()


A4_WITHIN_MARGINS = 688
"""Width between margins of 14 mm, in CSS pixels of 96 an inch."""


def test_no_printed_page_loses_a_column(browser, results):
    opened = browser.new_page(viewport={"width": A4_WITHIN_MARGINS, "height": 1000})
    opened.emulate_media(media="print")
    for path in [results / "report.html", *sorted((results / "pages").glob("*.html"))]:
        opened.goto(path.as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= A4_WITHIN_MARGINS, path.name
    opened.close()
