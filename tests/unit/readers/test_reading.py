"""User files in common formats; errors name file and line."""

import csv
import gzip
import json
import os
from unicodedata import normalize

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.corpora.files import FilesCorpus, read_files
from macroscope.corpora.prepare import extract
from macroscope.documents import Provenance, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.readers import records
from macroscope.readers.parsing import NOT_COMPOSED
from macroscope.readers.reading import read_user_documents

RECORDS = [
    {"id": "a", "title": "A", "sections": [{"title": "Lead", "text": "One."}, {"title": "End", "text": "Two."}]},
    {"id": "b", "sections": ["One.", "Two."], "section_names": ["Lead", "End"]},
    {"id": "c", "text": "Opening words.\n\n# First\n\nOne.\n\nMore.\n\n# Second\n\nTwo."},
    {"text": "One block.\n\nAnother block."},
]
EXPECTED = [
    ("a", [("Lead", "One."), ("End", "Two.")]),
    ("b", [("Lead", "One."), ("End", "Two.")]),
    ("c", [("abstract", "Opening words."), ("First", "One.\nMore."), ("Second", "Two.")]),
    ("4", [(None, "One block."), (None, "Another block.")]),
]


def read(*paths, provenance=None):
    return list(read_user_documents(paths, provenance or Provenance("test"), 0.1, 0.1))


def shape(documents):
    return [(d.id, [(s.title, s.text) for s in d.sections]) for d in documents]


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.gz", "mine.json"])
def test_json(tmp_path, name):
    path = tmp_path / name
    lines = "\n".join(json.dumps(record) for record in RECORDS) + "\n"
    if name.endswith(".json"):
        path.write_text(json.dumps(RECORDS))
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines)
    assert shape(read(path)) == [*EXPECTED[:3], (f"{name}-4", EXPECTED[3][1])]


def test_parquet(tmp_path):
    rows = [{"id": r["id"], "sections": r["sections"]} for r in RECORDS[:1]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "mine.parquet")
    assert shape(read(tmp_path / "mine.parquet")) == EXPECTED[:1]


def test_csv(tmp_path):
    with (tmp_path / "mine.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "text", "sections"])
        writer.writeheader()
        writer.writerow({"id": "a", "sections": json.dumps(RECORDS[0]["sections"])})
        writer.writerow({"id": "c", "text": RECORDS[2]["text"]})
    assert shape(read(tmp_path / "mine.csv")) == [EXPECTED[0], EXPECTED[2]]


def test_folder_of_texts(tmp_path):
    (tmp_path / "b.txt").write_text("== First ==\nOne.\n=== Deeper ===\nMore.\n== Second ==\nTwo.")
    (tmp_path / "a.md").write_text("# The title\n\n## First\n\nOne.\n\n## Second\n\nTwo.")
    documents = read(tmp_path)
    assert shape(documents) == [
        ("a.md", [("First", "One."), ("Second", "Two.")]),
        ("b.txt", [("First", "One.\nDeeper\nMore."), ("Second", "Two.")]),
    ]
    assert documents[0].title == "The title"


def test_labels(tmp_path):
    labels = ["good", 0, None, ""]
    records = [{"text": "One.", "label": label} for label in labels]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, [*records, {"text": "One."}])))
    assert [d.label for d in read(tmp_path / "mine.jsonl")] == ["good", "0", None, None, None]
    (tmp_path / "mine.csv").write_text("text,label\nOne.,good\nTwo.,\n")
    assert [d.label for d in read(tmp_path / "mine.csv")] == ["good", None]
    pq.write_table(pa.table({"text": ["One.", "Two."], "label": [1, None]}), tmp_path / "mine.parquet")
    assert [d.label for d in read(tmp_path / "mine.parquet")] == ["1", None]


def test_line_17_is_named(tmp_path):
    lines = [json.dumps({"text": f"Document {n}."}) for n in range(1, 21)]
    lines[16] = '{"text": "cut'
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    with pytest.raises(MacroscopeError, match=r"mine\.jsonl, line 17 is not valid JSON"):
        read(tmp_path / "mine.jsonl")


@pytest.mark.parametrize("broken", ['b,"Two" more', 'b,"Two'])
def test_a_csv_s_broken_line_is_named(broken, tmp_path):
    (tmp_path / "mine.csv").write_text(f"id,text\na,One.\n{broken}")
    with pytest.raises(MacroscopeError, match=r"mine\.csv, line 3: not valid CSV"):
        read(tmp_path / "mine.csv")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"id": "x"},
            "the field of the text is not known; give it with ⟨text_field⟩ (fields of the first line: 'id' 100%)",
        ),
        ({"text": 3}, "line 1: 'text' is a int"),
        ({"sections": "one"}, "line 1: 'sections' is a str"),
        ({"sections": ["a"], "section_names": []}, "'section_names' must be a list of 1 names"),
        ({"sections": [{"title": "a"}]}, "section 1 is neither"),
        ({"text": "a", "split": "dev"}, "'split' is 'dev'"),
        ({"text": "a", "label": True}, "line 1: 'label' is a bool"),
        ({"text": "a", "label": 0.5}, "line 1: 'label' is a float"),
        ([1], "item 1 is a JSON int; give objects, or strings"),
    ],
)
def test_malformed_records(tmp_path, record, message):
    (tmp_path / "mine.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(MacroscopeError) as error:
        read(tmp_path / "mine.jsonl")
    assert message in str(error.value)


def test_dropped_units_are_counted(tmp_path):
    records = [{"id": "a", "sections": ["x", " "]}, {"id": "b", "text": "  "}, {"id": "a", "text": "x"}]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, records)))
    provenance = Provenance("test")
    assert [d.id for d in read(tmp_path / "mine.jsonl", provenance=provenance)] == ["a"]
    assert {c.filter: c.dropped for c in provenance.counts} == {
        "section without text": 1,
        "document without text": 1,
        "the same document again (id and text)": 1,
    }


def test_skipped_files_of_a_folder_are_counted(tmp_path):
    for name in ("a.txt", "b.md", "c.jsonl", "x/d.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("One.")
    provenance = Provenance("test")
    assert [d.id for d in read(tmp_path, provenance=provenance)] == ["a.txt", "b.md"]
    (count,) = (count for count in provenance.counts if count.filter.startswith("file of a folder"))
    assert (count.kept, count.dropped) == (2, 2)


def test_links_that_lead_to_no_file_are_counted(tmp_path):
    """Links to folders are not followed, because they may be circular."""
    (tmp_path / "texts").mkdir()
    for name in ("elsewhere.txt", "texts/one.txt"):
        (tmp_path / name).write_text("One.")
    for name, target in (("two.txt", "../elsewhere.txt"), ("loop", "."), ("gone.txt", "nowhere")):
        (tmp_path / "texts" / name).symlink_to(target)
    provenance = Provenance("c")
    documents = read_user_documents([tmp_path / "texts"], provenance, 0.0, 0.0)
    assert [document.id for document in documents] == ["one.txt", "two.txt"]
    (count,) = (count for count in provenance.counts if count.unit == "links")
    assert (count.kept, count.dropped) == (1, 2)


def test_texts_without_ids_have_the_same_splits_in_any_file(tmp_path):
    texts = [f"The text of number {number}." for number in range(60)]
    (tmp_path / "real.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / "other.json").write_text(json.dumps([{"text": text} for text in reversed(texts)]))
    splits = [{d.text: d.split for d in read(tmp_path / name)} for name in ("real.jsonl", "other.json")]
    assert splits[0] == splits[1]
    assert set(splits[0].values()) == {"train", "valid", "test"}


def test_two_texts_with_one_id_are_named(tmp_path):
    (tmp_path / "mine.jsonl").write_text('{"id": 7, "text": "x"}\n{"id": "7", "text": "y"}\n')
    with pytest.raises(MacroscopeError, match=r"mine\.jsonl, line 2: an earlier document with another text has the id"):
        read(tmp_path / "mine.jsonl")


NAMES = ("2024.01.12 essay.txt", "2024.01.13 essay.txt", "Dr. Smith.txt", "Dr. Jones.txt", "Dr. Jones.md", "x/1.txt")


def test_every_file_has_a_unique_id(tmp_path):
    for name in (*NAMES, "y/1.txt", "y/z/1.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(f"This is {name}.")
    assert {d.id for d in read(tmp_path)} == {*NAMES, "y/1.txt", "y/z/1.txt"}
    assert [d.id for d in read(tmp_path / "Dr. Smith.txt")] == ["Dr. Smith.txt"]
    assert [d.id for d in read(tmp_path / "x", tmp_path / "y")] == ["x/1.txt", "y/1.txt", "y/z/1.txt"]


def test_files_of_one_name_in_two_folders(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.jsonl").write_text("".join(f'{{"text": "{folder} {n}"}}\n' for n in range(3)))
    paths = [tmp_path / folder / "data.jsonl" for folder in "ab"]
    ids = [f"{folder}/data.jsonl-{n}" for folder in "ab" for n in (1, 2, 3)]
    assert [d.id for d in read(*paths)] == ids
    # A job reads one of the files, and knows the names of all.
    options = FilesCorpus(source="files", files=[str(path) for path in paths])
    assert [d.id for path in paths for d in read_files(options, path, Provenance("test"))] == ids


def test_a_file_name_that_is_not_utf_8(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "wb") as stream:
        stream.write(b"One.")
    assert [d.id for d in read(tmp_path)] == [r"caf\udce9.txt"]


def test_unknown_format(tmp_path):
    (tmp_path / "mine.docx").write_bytes(b"PK")
    with pytest.raises(MacroscopeError, match=r"mine.docx is a Word document, which is not read"):
        read(tmp_path / "mine.docx")


@pytest.mark.parametrize("beside", ['[{"text": "x"}]', '{"text": "x"}\n{"text": "y"}', '{"name": "another"}', "3"])
def test_json_beside_a_folder_is_not_taken_for_a_note(beside, tmp_path):
    (tmp_path / "stories").mkdir()
    (tmp_path / "stories" / "a.txt").write_text("Once.")
    (tmp_path / "stories.json").write_text(beside)
    options = FilesCorpus(source="files", files=[str(tmp_path / "stories")])
    assert extract("c", options, tmp_path / "stories", tmp_path / "part.parquet", 1) == 1
    assert read_provenance(tmp_path / "part.parquet").source == {
        "name": "files",
        "file": "stories",
        "headings": {"none": 1},
        "named_by_place": 1,
        "read_as": {"text files": 1},
    }


def test_two_parquet_columns_of_one_name_are_an_error(tmp_path):
    table = pa.table([["One."], ["Two."], [1], [2]], names=["text", "text", "other", "other"])
    pq.write_table(table, tmp_path / "mine.parquet")
    with pytest.raises(MacroscopeError, match=r"mine\.parquet: two columns are called 'text'; rename one"):
        read(tmp_path / "mine.parquet")
    pq.write_table(table.select([0, 2, 3]), tmp_path / "mine.parquet")
    assert len(read(tmp_path / "mine.parquet")) == 1


def test_blank_lines_without_end_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MOST_BLANK", 3)
    good, bad = b'{"text": "One."}\n\n\n \n{"text": "Two."}', b"\n" * 5
    for content, count in ((good, 2), (good + bad, None)):
        (tmp_path / "mine.jsonl.gz").write_bytes(gzip.compress(content))
        if count:
            assert len(read(tmp_path / "mine.jsonl.gz")) == count
    with pytest.raises(MacroscopeError, match=r"mine\.jsonl\.gz, line 9: more than 3 blank lines in a row"):
        read(tmp_path / "mine.jsonl.gz")


def test_characters_are_composed_and_counted(tmp_path):
    """Two spellings of one text, which look alike, are one text."""
    text = "Le caf\u00e9 est tr\u00e8s bon."
    for name, form in (("nfc", "NFC"), ("nfd", "NFD")):
        records = [{"id": "\u00e9", "sections": [{"title": "Caf\u00e9", "text": text}]}, {"id": "b", "text": "Oui."}]
        lines = [normalize(form, json.dumps(record, ensure_ascii=False)) for record in records]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    provenances = {name: Provenance("c") for name in ("nfc", "nfd")}
    composed, decomposed = (
        list(read_user_documents([tmp_path / f"{name}.jsonl"], provenance, 0.1, 0.2))
        for name, provenance in provenances.items()
    )
    assert composed == decomposed
    assert composed[0].text == text
    assert [provenance.source.get(NOT_COMPOSED) for provenance in provenances.values()] == [None, 1]


def test_a_note_beside_records_is_no_text(tmp_path):
    (tmp_path / "NOTE.md").write_text("How these were made.")
    (tmp_path / "a.jsonl").write_text('{"text": "Once."}\n')
    provenance = Provenance("c")
    assert [document.id for document in read_user_documents([tmp_path], provenance, 0.1, 0.2)] == ["a.jsonl-1"]
    (tmp_path / "b.md").write_text("Twice.")  # two texts, which may have files of numbers beside them
    assert len(list(read_user_documents([tmp_path], provenance, 0.1, 0.2))) == 2


def test_files_about_a_folder_are_no_texts(tmp_path):
    for name in ("a.txt", "README.md", ".hidden.txt", "__MACOSX/a.txt", ".ipynb_checkpoints/a.txt", "license.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Once.")
    provenance = Provenance("c")
    assert [document.id for document in read_user_documents([tmp_path], provenance, 0.1, 0.2)] == ["a.txt"]
    assert ("hidden file, README, licence or note of a folder", 5) in [(c.filter, c.dropped) for c in provenance.counts]
