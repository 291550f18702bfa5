"""Comparison of the tutorials with their runs, and what of these is stored."""

import pytest

from macroscope.files import REPOSITORY

from ..tutorials import PAGES, Step, Tutorial, align, differences


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
    (page,) = (page for page in PAGES if page.stem == "own-critic")
    files = Tutorial(page).files()
    example = REPOSITORY / "examples" / "plugin-critic"
    assert len(files) == 5
    for path, text in files.items():
        assert text == (example / path.removeprefix("questions-critic/")).read_text(), path
