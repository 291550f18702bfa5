"""Contents of a run: read as they were written, and refused if they are none."""

import json

import pytest

from macroscope.errors import MacroscopeError
from macroscope.gaps import Gap
from macroscope.options import CONTROL
from macroscope.runs.contents import FINISHED, WHOLE, contents_file, read_contents, remove_finished

from ...runs import describe_run

CONFIG = {
    "corpora": {"wiki": {"source": "simulated"}, "web": {"source": "files", "files": ["x"]}},
    "systems": {"mine": {"kind": "files", "files": ["y"]}, "shuffled": {"kind": "simulated", "order": "shuffled"}},
    "comparisons": [
        {"corpus": "wiki", "critics": ["coherence", "strings"], "pairs": "all", "matched_length": True},
        {"corpus": "web", "systems": ["mine"], "critics": ["strings"]},
    ],
    "gaps": [{"corpus": "web", "critic": "coherence", "reason": "needs titles", "explanation": "it needs 20 titles"}],
}


@pytest.fixture
def run(tmp_path):
    return describe_run(CONFIG, tmp_path)


def test_contents_are_read_as_they_were_written(run):
    path = run.folder / contents_file(WHOLE)
    assert run.contents == read_contents(path)
    assert read_contents(path).to_json() + "\n" == path.read_text(encoding="utf-8")
    assert run.contents.chapters["strings", "web"] == [CONTROL, "mine"]
    assert run.empty_cells["coherence", "web", "mine"] == Gap(**CONFIG["gaps"][0])


def test_files_are_below_the_folder_of_the_run(run):
    for name in ("statistics", "pairs_files", "two_sample_tests"):
        assert run.tables(name)
        assert all(path.is_relative_to(run.folder / "statistics") for path in run.tables(name))
    assert set(run.outputs("latents")) == set(run.contents.comparisons)
    assert set(run.outputs("document_scores")) == {key for key in run.contents.comparisons if key[0] == "coherence"}
    assert {key[2] for key in run.outputs("known_truths")} == {CONTROL, "shuffled"}


def test_contents_of_another_version_are_refused(run):
    path = run.folder / contents_file(WHOLE)
    for changed in ([], json.loads(path.read_text()) | {"new": []}, {"pairs": []}):
        path.write_text(json.dumps(changed))
        with pytest.raises(MacroscopeError, match=r"config\.contents\.json: not the contents .* version; run the same"):
            read_contents(path)


def test_a_run_without_contents_says_what_to_do(run):
    (run.folder / contents_file(WHOLE)).unlink()
    with pytest.raises(MacroscopeError, match=r"no such file, which says what the run has made; run the same command"):
        _ = run.contents


def test_what_finished_is_removed_when_all_has(run):
    for name in (FINISHED, contents_file(FINISHED)):
        (run.folder / name).touch()
    remove_finished(run.folder)
    remove_finished(run.folder)
    assert sorted(path.name for path in run.folder.iterdir()) == [contents_file(WHOLE), WHOLE]
