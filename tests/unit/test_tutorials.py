"""Comparison of the tutorials with their runs, and what of these is stored."""

import re

import pytest

from macroscope.files import REPOSITORY

from ..tutorials import FOLDER, GALLERY, REPORT, Step, Tutorial, align, differences, stale_files

MOST_BYTES = 1_500_000
"""Largest size of the gallery."""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        '# Page\n\n```python title="a/b.py"\nprint(1)\n```\n\n```bash\npython a/b.py\n```\n\n```text\n1\n```\n\n'
        "```bash\ntrue\n```\n\n```toml\nx = 1\n```\n\n![A figure](steps.svg)\n"
    )
    return path


def test_a_page_has_files_steps_and_pictures(page):
    tutorial = Tutorial(page)
    assert tutorial.files() == {"a/b.py": "print(1)\n"}
    (begin, end) = tutorial.parts[1].span
    assert tutorial.text[begin:end] == "1\n"
    assert tutorial.parts[1:] == [Step("bash", "python a/b.py\n", ["1"], (begin, end)), Step("bash", "true\n")]
    assert tutorial.pictures == ["steps.svg"]


@pytest.mark.parametrize(
    ("expected", "printed", "differs"),
    [
        (["a 0.90 [0.84, 0.95]"], ["a  0.91 [0.83, 0.95]"], False),
        (["a 0.90"], ["a 0.96"], True),
        (["≠ 82 %"], ["≠ 84 %"], False),
        (["≠ 82 %"], ["≈ 82 %"], True),
        (["p 0.00016"], ["p 0.00017"], False),
        (["p 1.9e-38"], ["p 0.5"], True),
        (["...", "b 2", "..."], ["a", "b 2", "c", "d"], False),
        (["...", "b"], ["a", "c"], True),
        (["a"], ["a", "b"], True),
        ([], ["a"], True),
    ],
)
def test_other_words_differ_and_near_numbers_do_not(expected, printed, differs):
    assert bool(differences(expected, printed)) is differs


def test_lines_that_the_page_leaves_out_stay_left_out():
    assert align(["...", "b 2", "..."], ["a 1", "b 3", "c 4"]) == ["...", "b 3", "..."]


def test_the_own_critic_is_the_example():
    files = Tutorial(FOLDER / "own-critic.md").files()
    example = REPOSITORY / "examples" / "plugin-critic"
    assert len(files) == 5
    for path, text in files.items():
        assert text == (example / path.removeprefix("questions-critic/")).read_text(), path


def test_the_gallery_is_small_and_whole():
    files = [path for path in GALLERY.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert {path.parent.name for path in GALLERY.glob("*/report.html")} == {page.stem for page in FOLDER.glob("*.md")}
    for page in (path for path in files if path.suffix == ".html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"/(tmp|home|root|work)/", text), f"{page}: a path of a machine"
        for target in re.findall(r'(?:href|src)="([^"#?:]+)', text):
            assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.fixture
def report(tmp_path):
    """A run with a report, and the report as it is stored."""
    work, stored = tmp_path / "work", tmp_path / "stored"
    for folder in (work / REPORT, stored):
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
    (work / REPORT / "report.html").write_text("<td>3</td><td>project</td><p>80 % of a</p>")
    (work / REPORT / "pages" / "critic.html").write_text("<p>p 0.02</p>")
    (work / REPORT / "reader" / "data" / "0.js").write_text("another text")
    assert stale_files(work, stored) == []
    (work / REPORT / "reader" / "reader.js").write_text("let marks = 1;")
    (work / REPORT / "pages" / "new.html").write_text("new")
    (stored / "pages" / "old.html").write_text("old")
    assert stale_files(work, stored) == ["pages/new.html", "pages/old.html", "reader/reader.js"]
