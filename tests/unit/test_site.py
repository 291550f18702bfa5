"""The pages of the site: each is in the nav, and links lead somewhere.

Nothing is built here; `make site` builds strictly.
"""

import re
from functools import cache

import pytest
import yaml

from macroscope.files import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
ENTRANCES = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
CODE = re.compile(r"^```.*?^```|^ {4}.*?$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


class Loader(yaml.SafeLoader):
    """Reads tags of Python objects as None."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


@cache
def site():
    return yaml.load((REPOSITORY / "mkdocs.yml").read_text(), Loader)


def nav_pages(entries):
    for entry in entries:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else nav_pages(value)


@cache
def anchors(page):
    """The anchors of a page's headings, as GitHub and the site derive them."""
    text = FENCED.sub("", page.read_text())
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in HEADING.findall(text)]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def test_every_page_has_a_place():
    places = list(nav_pages(site()["nav"]))
    assert len(set(places)) == len(places)
    assert not [place for place in places if not (DOCS / place).is_file()]
    later = [name.removeprefix("/") for name in site()["not_in_nav"].split()]
    without = {str(page.relative_to(DOCS)) for page in PAGES} - {*places, *later}
    folders = tuple(name for name in later if name.endswith("/"))
    assert not [page for page in without if not page.startswith(folders)], "put it into nav or not_in_nav of mkdocs.yml"


@pytest.mark.parametrize("page", [*ENTRANCES, *PAGES], ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        assert page in ENTRANCES or place.is_relative_to(DOCS), f"{target}: the site holds docs/ alone"
        assert not anchor or anchor in anchors(place), target


def test_the_site_loads_nothing_from_other_hosts():
    config = site()
    assert config["theme"]["font"] is False
    scripts = [*config["extra"]["polyfills"], *config["extra_css"]]
    assert all((DOCS / script).is_file() for script in scripts)
    assert any("iframe-worker" in script for script in scripts), "the offline plugin would load it from a host"


@pytest.mark.parametrize("page", [*ENTRANCES, *PAGES], ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_rows_of_a_table_have_the_cells_of_its_head(page):
    text = FENCED.sub("", page.read_text())
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    numbers = [[len(CELL.findall(row)) for row in table.splitlines()] for table in tables]
    assert all(len(set(cells)) == 1 for cells in numbers), "GitHub ends cells at bars, in code as well: escape them"
