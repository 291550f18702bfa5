"""Files without texts: what is gone, what stays, and the search that shows it."""

import json
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.documents import Document, Provenance, Section, read_documents, write_documents
from macroscope.engine.redaction import Passages, Rules, redact, redact_document
from macroscope.statistics.document_groups import group_labels

TEXT = "The miller's daughter walked slowly down to the frozen river and looked for her brother."
PASSAGES = Passages([TEXT])


def redacted(tmp_path, name, *rules):
    redact(tmp_path / name, tmp_path / "shared" / name, *rules)
    return tmp_path / "shared" / name


def document(identifier, text, prompt=None):
    return Document(identifier, "test", "The Mill", (Section("Winter", text),), prompt=prompt, label="tale")


def keys(path):
    return pd.DataFrame([(each.id, each.opening) for each in read_documents(path)], columns=["id", "opening"])


@pytest.mark.parametrize("prompt", [None, "The miller's daughter", "Tell a tale of a river."])
def test_documents_without_texts_are_paired_as_those_with_them(tmp_path, prompt):
    """By id, by prompt and by first words."""
    real, mine = tmp_path / "real.parquet", tmp_path / "mine.parquet"
    write_documents(real, [document("a", TEXT, prompt), document("b (sample 2)", "Rain. " * 20)], Provenance("real"))
    write_documents(mine, [document("c", TEXT, prompt), document("b", "Snow. " * 20)], Provenance("mine"))
    hidden = redacted(tmp_path, "real.parquet")
    assert [[*labels] for labels in group_labels(keys(hidden), keys(mine))] == [
        [*labels] for labels in group_labels(keys(real), keys(mine))
    ]
    assert PASSAGES.find(real) is not None
    assert PASSAGES.find(hidden) is None
    said = str(list(read_documents(hidden)))
    assert "Mill" not in said
    assert "tale" not in said


def test_numbers_stay_and_words_lose_the_order_of_the_text(tmp_path):
    words = TEXT.split()
    counts = pa.array([[{"type": word, "count": 1} for word in words]])
    table = pa.table({"id": ["a"], "opening": ["The miller's daughter"], "nll": [1.25], "block_counts": counts})
    table = table.append_column("marks", pa.array([[{"section": 0, "start": 3}]]))
    table = table.replace_schema_metadata({"documents_per_block": "1"})
    with pq.ParquetWriter(tmp_path / "x.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"macroscope": '{"types": 3}', "real_scores": '{"a": 0.5}'})
    assert PASSAGES.find(tmp_path / "x.parquet") is not None
    path = redacted(tmp_path, "x.parquet")
    (row,) = pq.read_table(path).to_pylist()
    assert row["nll"] == 1.25
    assert row["marks"] == []
    assert [entry["type"] for entry in row["block_counts"]] == sorted(words)
    assert "a" not in (row["id"], row["opening"])
    assert pq.read_schema(path).metadata == {b"documents_per_block": b"1"}
    metadata = pq.read_metadata(path).metadata
    assert metadata[b"macroscope"] == b'{"types": 3}'
    assert json.loads(metadata[b"real_scores"]) == {row["id"]: 0.5}
    assert PASSAGES.find(path) is None


def test_tables_and_json_lose_their_texts(tmp_path):
    (tmp_path / "t.csv").write_text(f'id,nll,text\na,0.10,"{TEXT}"\n')
    (tmp_path / "words.csv").write_text("word,share\n" + "".join(f"{word},0.5\n" for word in TEXT.split()))
    (tmp_path / "e.json").write_text(json.dumps({"failed_documents": ["a"], "words": ["river"]}))
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "p.json").write_text(json.dumps([{"title": "a", "pieces": [{"text": TEXT, "nll": 1.5}]}]))
    assert redacted(tmp_path, "t.csv").read_text().splitlines()[1].endswith(",0.10,")
    assert PASSAGES.find(redacted(tmp_path, "words.csv")) is None
    said = json.loads(redacted(tmp_path, "e.json").read_text())
    assert said["words"] == ["river"]
    (shown,) = json.loads(redacted(tmp_path, "evidence/p.json").read_text())
    assert shown == {"title": "", "pieces": [{"text": "", "nll": 1.5}]}
    assert said["failed_documents"] != ["a"]


def test_words_in_the_order_of_the_alphabet_say_nothing_of_a_text(tmp_path):
    """A text may count: u2, u3, u4, u5, u6."""
    counts = [[{"type": word, "count": 1} for word in words] for words in (("u2", "u3", "u4", "u5", "u6"), ("a", "u2"))]
    pq.write_table(pa.table({"block_counts": pa.array(counts)}), tmp_path / "x.parquet")
    (tmp_path / "words.csv").write_text("word\nu2\nu3\nu4\nu5\nu6\n")
    for name in ("x.parquet", "words.csv"):
        assert Passages(["They wrote U2, U3, U4, U5, U6."]).find(tmp_path / name) is None
        assert Passages(["u2 u3 u4 u5 u6"]).find(tmp_path / name) is None


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.txt"])
def test_the_search_finds_five_words_whatever_their_marks_and_case(tmp_path, name):
    said = '["looked, FOR her\\nbrother; looked for her brother and looked"]'
    (tmp_path / name).write_text(said.replace("\\n", " ") if name != "x.json" else said)
    assert Passages(["He looked for her brother and sighed."]).find(tmp_path / name) == "looked for her brother and"
    assert Passages(["He looked for his sister and sighed."]).find(tmp_path / name) is None


PRIVATE = Rules(frozenset(("label",)), frozenset(("word", "words", "type")), frozenset(("river", "label:tale")), b"s")


def test_words_that_few_texts_have_become_pseudonyms_with_a_salt(tmp_path):
    (tmp_path / "words.csv").write_text("word,share\nmiller,1\nriver,2\nmiller river (41%);,3\n")
    (tmp_path / "e.json").write_text(json.dumps({"words": ["river", "miller"], "size": 2}))
    counts = pa.array([[{"type": "miller", "count": 1}, {"type": "river", "count": 2}]])
    pq.write_table(pa.table({"block_counts": counts}), tmp_path / "x.parquet")
    _, first, second, third = redacted(tmp_path, "words.csv", PRIVATE).read_text().splitlines()
    said = json.loads(redacted(tmp_path, "e.json", PRIVATE).read_text())
    pseudonym = said["words"][1]
    assert pseudonym.startswith("rare:")
    assert {first, second, third} == {f"{pseudonym},1", "river,2", f"{pseudonym} river (41%);,3"}
    assert said == {"words": ["river", pseudonym], "size": 2}
    (row,) = pq.read_table(redacted(tmp_path, "x.parquet", PRIVATE)).to_pylist()
    assert {entry["type"]: entry["count"] for entry in row["block_counts"]} == {pseudonym: 1, "river": 2}
    again = redacted(tmp_path, "e.json", replace(PRIVATE, salt=b"t"))
    assert json.loads(again.read_text())["words"][1] not in ("miller", pseudonym)


@pytest.mark.parametrize(("label", "kept"), [("tale", "tale"), ("letter", None)])
def test_with_a_salt_documents_pair_with_no_others_and_lose_rare_labels(label, kept):
    real = replace(document("a", TEXT, "Tell a tale of a river."), label=label)
    hidden, salted = redact_document(real), redact_document(real, PRIVATE)
    assert salted.label == kept
    assert salted.id != hidden.id
    assert salted.opening != hidden.opening
    assert redact_document(real, PRIVATE) == salted
