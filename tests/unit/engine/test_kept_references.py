"""Kept references as files: what is refused, and when a run takes what they hold."""

import zipfile

import pytest

from macroscope.documents import Provenance
from macroscope.engine.kept_references import find_kept, outputs_for, read_kept, write_kept
from macroscope.engine.redaction import Passages
from macroscope.engine.tasks import Task
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import read_user_documents


def task(name, inputs, outputs, recipe=("1", "--seed", "1")):
    return Task(name, [], inputs, outputs, "", [], [*recipe])


@pytest.fixture
def kept(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "latents.csv").write_text("id,nll\na,1.0\n")
    path = tmp_path / "stories.reference"
    write_kept(path, tmp_path / "run", {"latents.csv": ["project", "1", "--seed", "1"]}, {"seed": 1}, Passages([]))
    return path


def test_what_is_kept_is_what_jobs_on_a_candidate_read_of_jobs_on_real_texts():
    tasks = [
        task("extract", ["real.jsonl"], ["real"]),
        task("project", ["real"], ["latents/control"]),
        task("explain", ["latents/control"], ["evidence/control"]),
        task("generate", ["mine.jsonl"], ["samples"]),
        task("project", ["samples"], ["latents/mine"]),
        task("compare", ["latents/control", "latents/mine"], ["statistics"]),
    ]
    assert outputs_for(tasks, lambda each: "samples" in each.outputs) == {
        "latents/control": ["project", "1", "--seed", "1"]
    }


def test_a_run_takes_an_output_only_if_it_would_make_the_same(kept):
    reference = read_kept(kept)
    assert reference.gives_output(task("project", [], []), "latents.csv")
    assert not reference.gives_output(task("project", [], []), "scores.csv")
    with pytest.raises(MacroscopeError, match=r"'project' would run with 2 instead of 1; give the options"):
        reference.gives_output(task("project", [], [], ("1", "--seed", "2")), "latents.csv")
    with pytest.raises(MacroscopeError, match=r"version 1 of 'project' made it, and this macroscope has version 2"):
        reference.gives_output(task("project", [], [], ("2", "--seed", "1")), "latents.csv")


def test_the_outputs_are_laid_in_the_place_of_others(kept, tmp_path):
    (tmp_path / "new").mkdir()
    read_kept(kept).lay(tmp_path / "new", ["latents.csv"])
    assert (tmp_path / "new" / "latents.csv").read_text().splitlines()[1].endswith(",1.0")


def test_the_same_outputs_give_the_same_file(kept, tmp_path):
    again = tmp_path / "again.reference"
    write_kept(again, tmp_path / "run", read_kept(kept).recipes, {"seed": 1}, Passages([]))
    assert again.read_bytes() == kept.read_bytes()
    assert read_kept(again).digest == read_kept(kept).digest


def test_a_passage_of_the_texts_is_refused(tmp_path):
    (tmp_path / "names.csv").write_text("chain\nthe old miller of the valley\n")
    with pytest.raises(MacroscopeError, match=r"names\.csv: it would hold words of the texts"):
        write_kept(
            tmp_path / "x.reference", tmp_path, {"names.csv": []}, {}, Passages(["The old miller of the valley."])
        )
    assert not (tmp_path / "x.reference").exists()


def test_damaged_and_older_files_are_refused_in_a_sentence(kept, tmp_path):
    damaged = tmp_path / "damaged.reference"
    damaged.write_bytes(kept.read_bytes()[:-40])
    with pytest.raises(MacroscopeError, match=r"a damaged file, or not a kept reference .*; build it again with"):
        find_kept([damaged])
    older = tmp_path / "older.reference"
    with zipfile.ZipFile(older, "w") as archive:
        archive.writestr("reference.json", '{"format": 0}')
    with pytest.raises(MacroscopeError, match="written in format 0, and this version of macroscope reads 2; build"):
        find_kept([older])
    for number, content in enumerate(("{", "[1]")):
        odd = tmp_path / f"{number}.reference"
        with zipfile.ZipFile(odd, "w") as archive:
            archive.writestr("reference.json", content)
        with pytest.raises(MacroscopeError, match=r"a damaged file, or not a kept reference .*; build it again with"):
            read_kept(odd)
    with pytest.raises(MacroscopeError, match=r"absent\.reference: no such file"):
        find_kept([tmp_path / "absent.reference"])


def test_readers_of_texts_say_that_there_are_none(kept):
    with pytest.raises(MacroscopeError, match="whose texts are not there; give the texts"):
        list(read_user_documents([kept], Provenance("reference"), 0.1, 0.3))
