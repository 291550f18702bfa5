"""Sorting of the report's tables by a click: numbers by value, everything else as text."""

import pandas as pd
import pytest

from macroscope.files import CAPTIONS
from macroscope.reporting.pages import html_table


@pytest.fixture
def page(browser):
    opened = browser.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "rising",
    [
        ["-9.11 × 10⁻⁵", "about 0", "< 0.001", "0.0123 [0.01, 0.02]", "×2.17 [1, 3]", "647", "1,026 of 2,000", "–"],
        ["7.59 × 10²⁷ [7.98 × 10²³, 1.2 × 10³²]", "2.4 × 10⁵⁸", "not usable"],
        ["simwiki-11", "simwiki-133", "simwiki-264"],
        ["Born in 1944", "Found... in 1888", "It was in 1900..."],
        ["gpt2-medium", "gpt2-small", "gpt2-xl"],
    ],
)
def test_a_column_sorts_by_what_it_holds(page, rising):
    table = html_table(pd.DataFrame({"value": rising[1::2] + rising[::2]}))
    page.set_content(f"{table}<script>{(CAPTIONS / 'sorting.js').read_text(encoding='utf-8')}</script>")
    button = page.get_by_role("button")
    for _ in range(2):
        button.click()
    assert page.locator("th").get_attribute("aria-sort") == "ascending"
    assert page.locator("tbody td").all_inner_texts() == rising


def test_heads_are_on_every_page_of_paper(page):
    table = html_table(pd.DataFrame({"name": [f"system {number}" for number in range(60)]}))
    style, script = ((CAPTIONS / name).read_text(encoding="utf-8") for name in ("style.css", "sorting.js"))
    page.set_content(f"<style>{style}</style>{table}<script>{script}</script>")
    page.emulate_media(media="print")
    shown = "head => [getComputedStyle(head).display, getComputedStyle(head.querySelector('button')).display]"
    # Chromium repeats the head, but paints a button once.
    assert page.locator("thead").evaluate(shown) == ["table-header-group", "contents"]
