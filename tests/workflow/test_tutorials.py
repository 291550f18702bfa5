"""The tutorials: every command of their pages runs, and prints what the page shows."""

import pytest

from ..gallery import GALLERY, stale_files
from ..tutorials import PAGES, REPORT, Tutorial, differences

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_its_page_shows(page, tmp_path):
    tutorial = Tutorial(page)
    for step, printed in tutorial.run(tmp_path):
        shown = [] if step.expected is None else differences(step.expected, printed)
        assert not shown, "\n".join([step.code, *shown, "run make tutorials"])
    for name, figure in tutorial.figures(tmp_path).items():
        assert figure.stat().st_size > 1000, name
        assert (page.parent / name).exists(), f"{name}: run make tutorials"
    stale = stale_files(tmp_path / "work", REPORT, GALLERY / page.stem)
    assert not stale, f"the gallery is older than the code that writes reports: {', '.join(stale)}; run make tutorials"
