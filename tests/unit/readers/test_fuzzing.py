"""Readers of user files, given any file, return documents that can be stored, or raise a clear error."""

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import read_user_documents
from tests import fuzzing
from tests.fuzzing import ANY_TEXT, FUZZ, VALUES

NAMES = st.sampled_from(["id", "title", "text", "sections", "section_names", "split", "label", "original", "else"])
SECTIONS = st.lists(ANY_TEXT | st.fixed_dictionaries({"text": ANY_TEXT}, optional={"title": ANY_TEXT | st.none()}))
LIKELY = st.fixed_dictionaries(
    {}, optional={"text": ANY_TEXT, "sections": SECTIONS, "id": ANY_TEXT | st.integers(), "title": ANY_TEXT}
)
RECORDS = st.lists(LIKELY | st.dictionaries(NAMES, VALUES, max_size=5), max_size=4)


def ends_well(path):
    fuzzing.ends_well(lambda _, path, provenance, __: read_user_documents([path], provenance, 0.1, 0.1), None, path)


@pytest.mark.slow
@FUZZ
@given(RECORDS)
def test_json_lines(tmp_path, records):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    ends_well(path)
    (tmp_path / "mine.json").write_text(json.dumps(records))
    ends_well(tmp_path / "mine.json")


@pytest.mark.slow
@FUZZ
@given(RECORDS, st.data())
def test_damaged_bytes(tmp_path, records, data):
    content = bytearray("\n".join(json.dumps(record, ensure_ascii=True) for record in records).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    for name, changed in (("mine.jsonl", bytes(content)), ("mine.json", b"[" + content), ("mine.txt", bytes(content))):
        (tmp_path / name).write_bytes(changed)
        ends_well(tmp_path / name)
    packed = bytearray(gzip.compress(bytes(content)))
    packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "mine.jsonl.gz").write_bytes(packed)
    ends_well(tmp_path / "mine.jsonl.gz")


@pytest.mark.slow
@FUZZ
@given(
    st.binary(max_size=200),
    st.sampled_from("jsonl json csv tsv parquet arrow eval txt md jsonl.gz jsonl.zst csv.xz wiki_00".split()),
)
def test_any_bytes(tmp_path, content, suffix):
    (tmp_path / f"mine.{suffix}").write_bytes(content)
    ends_well(tmp_path / f"mine.{suffix}")


@pytest.mark.slow
@FUZZ
@given(st.lists(NAMES, max_size=4), st.text(st.characters(codec="utf-8"), max_size=120))
def test_csv(tmp_path, names, body):
    with (tmp_path / "mine.csv").open("w", newline="", encoding="utf-8") as stream:
        stream.write(",".join(names) + "\n" + body)
    ends_well(tmp_path / "mine.csv")


@pytest.mark.slow
@FUZZ
@given(st.data())
def test_damaged_parquet(tmp_path, data):
    stream = io.BytesIO()
    pq.write_table(pa.table({"text": ["One text.", "Another."], "id": ["a", "b"], "else": [1, 2]}), stream)
    content = bytearray(stream.getvalue())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "mine.parquet").write_bytes(content)
    ends_well(tmp_path / "mine.parquet")


INNER = [
    "role",
    "content",
    "from",
    "value",
    "text",
    "message",
    "turns",
    "body",
    "choices",
    "completions",
    "raw",
    "query",
    "type",
]
DEEP = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER), inner, max_size=3),
    max_leaves=6,
)
FIRST = [
    {"doc_id": 1, "resps": [["x"]], "arguments": [["p", {}]]},
    {"epoch": 1, "input": "p", "output": {"choices": [{"message": {"content": "x"}}]}},
    {"instance": {"id": "a"}, "request": {"prompt": "p"}, "result": {"completions": [{"text": "x"}]}},
    {"doc": {"query": "p"}, "model_response": {"text": ["x"]}},
    {"full_prompt": "p", "predictions": "['x']"},
    {"evaluation_id": 1, "model_id": "m", "sample_id": "s", "interaction_type": "t", "output": {"raw": ["x"]}},
    {"custom_id": "a", "response": {"body": {"choices": [{"message": {"content": "x"}}]}}},
    {"choices": [{"turns": ["x"]}], "question_id": 1},
    {"human_text": "x", "machine_text": "y"},
    {"human_answers": ["x"], "chatgpt_answers": ["y"]},
    {"generation": "x", "model": "m", "source_id": "s"},
    {"outputs": [{"text": "x"}]},
    {"messages": [{"role": "assistant", "content": "x"}]},
    {"choices": [{"text": "x"}]},
    {"generated_text": "x"},
    {"instruction": "p", "output": "x"},
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(FIRST)))
@FUZZ
@given(st.data())
def test_records_of_a_format_with_any_values(tmp_path, number, data):
    """A format is recognised by the first record; others may hold anything in its fields."""
    first = FIRST[number]
    others = data.draw(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(first, DEEP)), min_size=1, max_size=3))
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, [first, *(first | changes for changes in others)])))
    ends_well(path)
    path.write_text(json.dumps({"samples": others, "eval": {}, "request_states": others}))
    ends_well(path)


SENTENCES = {
    "half a character": (b'{"text": "a\\ud800b"}', r"line 1: document 'mine.jsonl-1' has half a character, '\ud800'"),
    "half a character in an id": (b'{"id": "\\udfff", "text": "a"}', "has half a character"),
    "a key twice": (b'{"text": "a", "text": "b"}', "the key 'text' stands twice"),
    "many digits": (b'{"text": "a", "id": ' + b"9" * 5000 + b"}", "not usable JSON"),
    "deep": (b'{"text": ' + b"[" * 100_000 + b"}", "nested too deep"),
    "not UTF-8": (b'{"text": "caf\xe9"}', "not valid UTF-8"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_known_faults_are_named(name, tmp_path):
    content, message = SENTENCES[name]
    for suffix, written in (("jsonl", content), ("json", b"[" + content + b"]")):
        path = tmp_path / f"mine.{suffix}"
        path.write_bytes(written)
        with pytest.raises(MacroscopeError) as error:
            list(read_user_documents([path], Provenance("test"), 0.1, 0.1))
        assert message.replace("mine.jsonl", path.name).replace(
            "line 1", "item 1" if suffix == "json" else "line 1"
        ) in (str(error.value))


def test_a_byte_order_mark_is_accepted(tmp_path):
    for name, content in (("a.jsonl", '{"text": "x"}'), ("a.json", '[{"text": "x"}]'), ("a.csv", "text\nx\n")):
        (tmp_path / name).write_text(content, encoding="utf-8-sig")
        (document,) = read_user_documents([tmp_path / name], Provenance("test"), 0.1, 0.1)
        assert document.text == "x"


def test_other_columns_are_not_read(tmp_path):
    table = pa.table(
        {"text": ["x"], "when": pa.array([2**62]).cast(pa.timestamp("us"))}
    )  # outside the range of Python's dates
    pq.write_table(table, tmp_path / "a.parquet")
    (document,) = read_user_documents([tmp_path / "a.parquet"], Provenance("test"), 0.1, 0.1)
    assert document.text == "x"


def test_json_lines_in_a_text_file(tmp_path):
    (tmp_path / "a.txt").write_text('{"id": 1, "text": "x"}\n{"id": 2, "text": "y"}\n')
    with pytest.raises(MacroscopeError, match=r"a\.txt: JSON Lines in a text file; call it \.jsonl"):
        list(read_user_documents([tmp_path], Provenance("test"), 0.1, 0.1))
    (tmp_path / "a.txt").write_text("{a set} of things\n")
    assert len(list(read_user_documents([tmp_path], Provenance("test"), 0.1, 0.1))) == 1


def test_a_line_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("macroscope.readers.records.LONGEST_LINE", 1 << 20)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "' + b"a" * (1 << 21)))
    with pytest.raises(MacroscopeError, match="line 1 is longer than 1 MB"):
        list(read_user_documents([tmp_path / "a.jsonl.gz"], Provenance("test"), 0.1, 0.1))


def test_columns_of_one_name(tmp_path):
    (tmp_path / "a.csv").write_text("text,text\na,b\n")
    with pytest.raises(MacroscopeError, match="two columns are called 'text'"):
        list(read_user_documents([tmp_path / "a.csv"], Provenance("test"), 0.1, 0.1))
