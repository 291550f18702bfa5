"""TimeTravel in the exact forms in which it comes."""

import json
import zipfile

import pytest

from macroscope.corpora.timetravel import TimeTravelCorpus, read_timetravel
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError

OPTIONS = TimeTravelCorpus(source="timetravel", files=["x"])
LINE = {
    "story_id": "a",
    "premise": "Ryan was called.",
    "initial": "He went  to the park.",
    "counterfactual": "He went to work.",
    "original_ending": 'He met May. She said "hi." He left.',
    "edited_endings": [["One.", "Two.", "Three."], ["Four.", "Five.", "Six."], ["Seven.", "Eight."]],
}


def read(path, lines, options=OPTIONS):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    provenance = Provenance("c")
    found = list(read_timetravel(options, path, provenance))
    return found, {count.filter: (count.kept, count.dropped) for count in provenance.counts}


def test_a_line_is_the_original_and_each_rewriting(tmp_path):
    found, counts = read(tmp_path / "dev_data.json", [LINE])
    assert [document.id for document in found] == ["a-original", "a-rewritten-1", "a-rewritten-2"]
    assert found[0].sentences == (
        "Ryan was called.",
        "He went to the park.",
        "He met May.",
        'She said "hi."',
        "He left.",
    )
    assert found[1].sentences == ("Ryan was called.", "He went to work.", "One.", "Two.", "Three.")
    assert found[1].text == "Ryan was called. He went to work. One. Two. Three."
    assert counts["story that is not of five sentences"] == (3, 1)


def test_the_training_files_have_one_rewriting_or_none(tmp_path):
    one = {k: v for k, v in LINE.items() if k != "edited_endings"} | {"edited_ending": ["One.", "Two.", "Three."]}
    without = {k: v for k, v in LINE.items() if k not in ("edited_endings", "counterfactual")} | {"story_id": "b"}
    found, _ = read(tmp_path / "train_supervised_small.json", [one, without])
    assert [document.id for document in found] == ["a-original", "a-rewritten-1", "b-original"]
    assert {document.split for document in found} == {"train"}


@pytest.mark.parametrize(
    ("name", "split"), [("dev_data.json", "valid"), ("test_data.json", "test"), ("train_unsupervised.json", "train")]
)
def test_splits_are_those_of_the_files(tmp_path, name, split):
    found, _ = read(tmp_path / name, [LINE])
    assert {document.split for document in found} == {split}


def test_the_stories_of_a_line_are_of_one_split(tmp_path):
    options = OPTIONS.model_copy(update={"official_splits": False})
    found, _ = read(tmp_path / "dev_data.json", [LINE | {"story_id": str(n)} for n in range(60)], options)
    splits = {}
    for document in found:
        splits.setdefault(document.id.partition("-")[0], set()).add(document.split)
    assert all(len(some) == 1 for some in splits.values())
    assert len({split for some in splits.values() for split in some}) > 1


def test_originals_alone(tmp_path):
    found, _ = read(tmp_path / "dev_data.json", [LINE], OPTIONS.model_copy(update={"rewritten": False}))
    assert [document.id for document in found] == ["a-original"]


def test_the_same_story_twice_is_counted(tmp_path):
    found, counts = read(tmp_path / "dev_data.json", [LINE, LINE])
    assert len(found) == 3
    assert counts["story id that occurred before"] == (3, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"premise": None}, "line 1: 'premise' is no text"),
        ({"original_ending": 7}, "line 1: 'original_ending' is neither a text nor a list"),
        ({"counterfactual": None}, "line 1: 'counterfactual' is no text"),
    ],
)
def test_a_broken_line_is_one_sentence(tmp_path, change, message):
    with pytest.raises(MacroscopeError, match=message):
        read(tmp_path / "dev_data.json", [LINE | change])


def test_the_zip_of_the_release(tmp_path):
    with zipfile.ZipFile(tmp_path / "TimeTravel.zip", "w") as archive:
        archive.writestr("TimeTravel/dev_data.json", json.dumps(LINE))
        archive.writestr("TimeTravel/test_data.json", json.dumps(LINE | {"story_id": "b"}))
        archive.writestr("__MACOSX/TimeTravel/._dev_data.json", b"\x00")
    found = list(read_timetravel(OPTIONS, tmp_path / "TimeTravel.zip", Provenance("c")))
    assert {(document.id[0], document.split) for document in found} == {("a", "valid"), ("b", "test")}


def test_what_is_no_zip_is_one_sentence(tmp_path):
    (tmp_path / "TimeTravel.zip").write_text("<html>")
    with pytest.raises(MacroscopeError, match="not a zip file, or a truncated one"):
        list(read_timetravel(OPTIONS, tmp_path / "TimeTravel.zip", Provenance("c")))


def test_the_development_set_is_the_papers(real_text):
    """cai2020 Table 2: 7,484 stories, four a line."""
    path = real_text("timetravel/dev_data.json")
    provenance = Provenance("c")
    found = list(read_timetravel(OPTIONS, path, provenance))
    assert len(found) + provenance.counts[0].dropped == 7484
    assert provenance.counts[0].dropped <= 1
    assert {len(document.sentences) for document in found} == {5}
