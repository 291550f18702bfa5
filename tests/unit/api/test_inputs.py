"""Texts from Python as files that the command line reads."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from macroscope.api.inputs import write_candidates, write_collection
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import read_user_documents

TEXTS = ["One text.", "Another\n\ntext, “quoted”."]


def read(files):
    return [document.text for document in read_user_documents(files, Provenance("c"), 0.1, 0.3)]


class TwoColumns:
    """A data set: all that is used of one is `to_parquet`."""

    def to_parquet(self, path):
        pd.DataFrame({"text": TEXTS, "id": ["a", "b"]}).to_parquet(path)


@pytest.mark.parametrize(
    "given",
    [TEXTS, tuple(TEXTS), (text for text in TEXTS), [{"text": text} for text in TEXTS], pd.Series(TEXTS)],
    ids=["list", "tuple", "generator", "records", "series"],
)
def test_strings_and_records_are_read_as_given(tmp_path, given):
    (file,) = write_collection(given, tmp_path / "new", "reference")
    assert (file.name, len(read([file]))) == ("reference.jsonl", 2)
    assert [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()] == TEXTS


class StreamOfArrow:
    """A table of Polars or DuckDB: its names, and Arrow's stream."""

    columns = ("text",)

    def __init__(self, kind):
        self.table = pa.table({"text": pa.array(TEXTS, kind)})

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"text": TEXTS}, index=[7, 3]),
        TwoColumns(),
        pa.table({"text": TEXTS}),
        *(StreamOfArrow(kind) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    ],
)
def test_data_frames_and_data_sets_are_read_as_given(tmp_path, given):
    (file,) = write_collection(given, tmp_path, "reference")
    assert file.name == "reference.parquet"
    assert len(read([file])) == 2


def test_paths_are_used_where_they_are(tmp_path):
    path = tmp_path / "mine.jsonl"
    assert write_collection(str(path), tmp_path / "new", "reference") == [path]
    assert write_collection([path, path], tmp_path, "reference") == [path, path]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("given", [3, None, {"text": "a"}])
def test_anything_else_is_refused_in_one_sentence(tmp_path, given):
    with pytest.raises(MacroscopeError, match="is not a collection of texts; give a path"):
        write_collection(given, tmp_path, "reference")


@pytest.mark.parametrize("item", [3, None, TEXTS])
def test_an_item_that_is_no_text_is_named(tmp_path, item):
    with pytest.raises(MacroscopeError, match=rf"^reference\[1\]: {type(item).__name__} is not a text; "):
        write_collection(["A text.", item], tmp_path, "reference")


@pytest.mark.parametrize("text", ["A text.\nOf two lines.", "A long text. " * 30])
def test_a_text_is_not_taken_for_a_path(tmp_path, text):
    with pytest.raises(MacroscopeError, match=r"^candidate: a string is the path of a file .*; give \[text\]$"):
        write_candidates(text, tmp_path)


def test_the_advice_fits_lists_of_texts_and_dicts_in_dicts(tmp_path):
    with pytest.raises(MacroscopeError, match="give a record with 'prompt' and 'text' for each"):
        write_candidates([TEXTS, TEXTS], tmp_path)
    with pytest.raises(
        MacroscopeError, match=r"^gpt2: .*of one level: name of a system, such as 'gpt2-greedy' -> texts"
    ):
        write_candidates({"gpt2": {"greedy": TEXTS, "nucleus": TEXTS}}, tmp_path)


def test_systems_have_the_names_of_a_dict(tmp_path):
    mine, folder = tmp_path / "mine.jsonl", tmp_path / "folder"
    folder.mkdir()
    mine.write_text('{"text": "A text."}\n')
    files = write_candidates({"gpt-2": TEXTS, "llama 3.1": mine, "human": folder}, tmp_path / "texts")
    assert [file.name for file in files] == ["gpt-2.jsonl", "llama-3.1.jsonl", "human"]
    assert [file.resolve() for file in files[1:]] == [mine, folder]


def test_one_system_needs_no_name(tmp_path):
    assert write_candidates(TEXTS, tmp_path) == [tmp_path / "candidate.jsonl"]
    assert write_candidates(tmp_path / "mine.jsonl", tmp_path) == [tmp_path / "mine.jsonl"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "empty dict"),
        ({"a b": TEXTS, "a-b": TEXTS}, "no name for a system, or another one's"),
        ({"…": TEXTS}, "no name for a system"),
        ([Path("a"), Path("b")], "2 files for one system"),
    ],
)
def test_candidates_without_a_name_or_a_file_each_are_refused(tmp_path, given, message):
    with pytest.raises(MacroscopeError, match=message):
        write_candidates(given, tmp_path)
