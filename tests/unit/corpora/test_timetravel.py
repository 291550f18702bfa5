"""TimeTravel in its exact upstream formats."""

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
    documents = list(read_timetravel(options, path, provenance))
    return documents, {count.filter: (count.kept, count.dropped) for count in provenance.counts}


def test_a_line_is_the_original_and_each_rewriting(tmp_path):
    documents, counts = read(tmp_path / "dev_data.json", [LINE])
    assert [document.id for document in documents] == ["a-original", "a-rewritten-1", "a-rewritten-2"]
    assert documents[0].sentences == (
        "Ryan was called.",
        "He went to the park.",
        "He met May.",
        'She said "hi."',
        "He left.",
    )
    assert documents[1].sentences == ("Ryan was called.", "He went to work.", "One.", "Two.", "Three.")
    assert documents[1].text == "Ryan was called. He went to work. One. Two. Three."
    assert counts["story that is not of five sentences"] == (3, 1)


def test_the_training_files_have_one_rewriting_or_none(tmp_path):
    supervised = {k: v for k, v in LINE.items() if k != "edited_endings"} | {
        "edited_ending": ["One.", "Two.", "Three."]
    }
    unsupervised = {k: v for k, v in LINE.items() if k not in ("edited_endings", "counterfactual")} | {"story_id": "b"}
    documents, _ = read(tmp_path / "train_supervised_small.json", [supervised, unsupervised])
    assert [document.id for document in documents] == ["a-original", "a-rewritten-1", "b-original"]
    assert {document.split for document in documents} == {"train"}


def test_endings_may_be_texts_one_on_a_line(tmp_path):
    """As in `timetravel-hub`: three on three lines (dev, test), one (supervised), an empty text (unsupervised)."""
    line = {k: v for k, v in LINE.items() if k != "edited_endings"}
    texts = ["\n".join(map(" ".join, LINE["edited_endings"])), "One. Two. Three.", ""]
    lines = [line | {"story_id": name, "edited_ending": text} for name, text in zip("abc", texts, strict=True)]
    documents, counts = read(tmp_path / "dev_data.json", lines)
    assert [document.id for document in documents] == [
        *("a-original", "a-rewritten-1", "a-rewritten-2", "b-original", "b-rewritten-1", "c-original")
    ]
    as_lists, _ = read(tmp_path / "dev_data.json", [LINE])
    assert [document.sentences for document in documents[:3]] == [document.sentences for document in as_lists]
    assert counts["story that is not of five sentences"] == (6, 1)


@pytest.mark.parametrize(
    ("name", "split"), [("dev_data.json", "valid"), ("test_data.json", "test"), ("train_unsupervised.json", "train")]
)
def test_splits_are_those_of_the_files(tmp_path, name, split):
    documents, _ = read(tmp_path / name, [LINE])
    assert {document.split for document in documents} == {split}


def test_the_stories_of_a_line_are_of_one_split(tmp_path):
    options = OPTIONS.model_copy(update={"official_splits": False})
    documents, _ = read(tmp_path / "dev_data.json", [LINE | {"story_id": str(n)} for n in range(60)], options)
    splits = {}
    for document in documents:
        splits.setdefault(document.id.partition("-")[0], set()).add(document.split)
    assert all(len(values) == 1 for values in splits.values())
    assert len({split for values in splits.values() for split in values}) > 1


def test_originals_alone(tmp_path):
    documents, _ = read(tmp_path / "dev_data.json", [LINE], OPTIONS.model_copy(update={"rewritten": False}))
    assert [document.id for document in documents] == ["a-original"]


def test_the_same_story_twice_is_counted(tmp_path):
    documents, counts = read(tmp_path / "dev_data.json", [LINE, LINE])
    assert len(documents) == 3
    assert counts["story id that occurred before"] == (3, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"premise": None}, "line 1: 'premise' is not a text"),
        ({"original_ending": 7}, "line 1: 'original_ending' is neither a text nor a list"),
        ({"counterfactual": None}, "line 1: 'counterfactual' is not a text"),
    ],
)
def test_a_broken_line_is_a_clear_error(tmp_path, change, message):
    with pytest.raises(MacroscopeError, match=message):
        read(tmp_path / "dev_data.json", [LINE | change])


def test_the_zip_of_the_release(tmp_path):
    with zipfile.ZipFile(tmp_path / "TimeTravel.zip", "w") as archive:
        archive.writestr("TimeTravel/dev_data.json", json.dumps(LINE))
        archive.writestr("TimeTravel/test_data.json", json.dumps(LINE | {"story_id": "b"}))
        archive.writestr("__MACOSX/TimeTravel/._dev_data.json", b"\x00")
    documents = list(read_timetravel(OPTIONS, tmp_path / "TimeTravel.zip", Provenance("c")))
    assert {(document.id[0], document.split) for document in documents} == {("a", "valid"), ("b", "test")}


def test_a_story_in_two_files_keeps_the_official_test_and_development_set(tmp_path):
    """train_unsupervised has originals of other files; each line is read, and test and dev are read first."""
    unsupervised = {name: LINE[name] for name in ("premise", "initial", "counterfactual", "original_ending")}
    ids = {"train_supervised_large": "a", "train_unsupervised": "abtd", "dev_data": "d", "test_data": "t"}
    with zipfile.ZipFile(tmp_path / "TimeTravel.zip", "w") as archive:
        for name, letters in ids.items():
            lines = [(unsupervised if "un" in name else LINE) | {"story_id": letter} for letter in letters]
            archive.writestr(f"TimeTravel/{name}.json", "\n".join(map(json.dumps, lines)))
    provenance = Provenance("c")
    documents = list(read_timetravel(OPTIONS, tmp_path / "TimeTravel.zip", provenance))
    splits = {document.id: document.split for document in documents}
    originals = {"a-original": "train", "b-original": "train", "d-original": "valid", "t-original": "test"}
    assert {name: split for name, split in splits.items() if "original" in name} == originals
    assert {count.filter: count.dropped for count in provenance.counts}["story id that occurred before"] == 3
    options = TimeTravelCorpus(source="timetravel", files=["b/train_x.json", "x.zip", "dev_a.json", "c/test.json"])
    assert options.files == ["c/test.json", "dev_a.json", "b/train_x.json", "x.zip"]


def test_a_broken_zip_is_a_clear_error(tmp_path):
    (tmp_path / "TimeTravel.zip").write_text("<html>")
    with pytest.raises(MacroscopeError, match="not a zip file, or a truncated one"):
        list(read_timetravel(OPTIONS, tmp_path / "TimeTravel.zip", Provenance("c")))


@pytest.mark.slow
def test_the_development_set_is_that_of_the_paper(real_text):
    """cai2020 Table 2: 7,484 stories, four per line."""
    path = real_text("timetravel/dev_data.json")
    provenance = Provenance("c")
    documents = list(read_timetravel(OPTIONS, path, provenance))
    assert len(documents) + provenance.counts[0].dropped == 7484
    assert provenance.counts[0].dropped <= 1
    assert {len(document.sentences) for document in documents} == {5}
