"""The gallery: when a stored report is stale, and the part of the default run that it shows."""

import re

import pytest
import yaml

from macroscope.config.schema import load_config

from ..gallery import CONFIG, CORPUS, GALLERY, RUN, cut_config, stale_files
from ..tutorials import PAGES

MOST_BYTES, MOST_BYTES_OF_REAL_TEXT = 1_500_000, 2_500_000
"""Largest size of all reports of tutorials, and of the one on real text."""


@pytest.fixture
def report(tmp_path):
    """A run with a report, and the report as it is stored."""
    work, stored = tmp_path / "work", tmp_path / "stored"
    for folder in (work / RUN, stored):
        for name, text in REPORT_FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return work, stored


REPORT_FILES = {
    "report.html": "<p>81 % of a</p><td>project</td><td>2</td>",
    "pages/critic.html": "<p>p 0.01</p>",
    "reader/reader.js": "let places = 1;",
    "reader/data/0.js": "a text",
    "tables/statistics.csv": "a,1",
}


def test_a_stored_report_is_stale_if_its_words_are_others(report):
    work, stored = report
    (work / RUN / "report.html").write_text("<td>3</td><td>project</td><p>80 % of a</p>")
    (work / RUN / "pages" / "critic.html").write_text("<p>p 0.02</p>")
    (work / RUN / "reader" / "data" / "0.js").write_text("another text")
    assert stale_files(work, RUN, stored) == []
    (work / RUN / "reader" / "reader.js").write_text("let marks = 1;")
    (work / RUN / "pages" / "new.html").write_text("new")
    (stored / "pages" / "old.html").write_text("old")
    assert stale_files(work, RUN, stored) == ["pages/new.html", "pages/old.html", "reader/reader.js"]


def test_the_part_of_the_default_config_is_a_config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(cut_config(yaml.safe_load(CONFIG.read_text()), CORPUS)))
    config = load_config(path)
    assert config.run == RUN.name
    assert list(config.corpora) == [CORPUS]
    assert len(config.comparisons[0].systems) == len(config.systems) > 1


def test_the_gallery_is_small_and_whole():
    files = [path for path in GALLERY.rglob("*") if path.is_file()]
    sizes = {True: 0, False: 0}
    for path in files:
        sizes[GALLERY / CORPUS in path.parents] += path.stat().st_size
    assert sizes[False] < MOST_BYTES
    assert sizes[True] < MOST_BYTES_OF_REAL_TEXT
    assert {path.parent.name for path in GALLERY.glob("*/report.html")} == {
        CORPUS,
        *(page.stem for page in PAGES),
    }
    for page in (path for path in files if path.suffix == ".html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"/(tmp|home|root|work)/", text), f"{page}: a path of a machine"
        for target in re.findall(r'(?:href|src)="(?!data:)([^"#?:]+)', text):
            assert (page.parent / target).exists(), f"{page}: {target}"
