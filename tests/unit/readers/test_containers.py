"""Containers of records: tables, compressed files, JSON in several shapes, Arrow, folders of parts, WikiExtractor."""

import bz2
import gzip
import json
import lzma

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers import columnar, compression, parsing
from macroscope.readers.reading import REMARKS, read_user_documents
from macroscope.readers.selection import FieldNames, Selection

RECORDS = [{"id": "a", "text": "A fox ran."}, {"id": "b", "text": "It rained."}]
EXPECTED = [("a", "A fox ran."), ("b", "It rained.")]


def read(path):
    provenance = Provenance("test")
    documents = read_user_documents([path], provenance, 0.1, 0.1)
    return [(document.id, document.text) for document in documents], provenance


def zstandard(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSIONS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard}
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)
PLAIN = {".jsonl": LINES, ".json": json.dumps(RECORDS), ".csv": "id,text\na,A fox ran.\nb,It rained.\n"}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("kind", PLAIN)
def test_compressed_files(suffix, kind, tmp_path):
    content = COMPRESSIONS[suffix](PLAIN[kind].encode())
    path = tmp_path / f"mine{kind}{suffix}"
    path.write_bytes(content)
    assert read(path)[0] == EXPECTED
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(MacroscopeError, match=r"the compressed data are broken|not valid"):
        read(path)


def test_a_compressed_text(tmp_path):
    (tmp_path / "mine.txt.xz").write_bytes(lzma.compress(b"A fox ran."))
    assert read(tmp_path / "mine.txt.xz")[0] == [("mine.txt.xz", "A fox ran.")]


def test_a_small_file_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "LARGEST", 1 << 16)
    (tmp_path / "a.json.zst").write_bytes(zstandard(b"[" + b" " * (1 << 20) + b"]"))
    with pytest.raises(MacroscopeError, match="unpacks to more than"):
        read(tmp_path / "a.json.zst")


def test_texts_longer_than_any_document(tmp_path, monkeypatch):
    """A file of 3 kB that holds a text of 20 MB is refused at once, whatever its container."""
    table = pa.table({"text": ["A fox ran.", "word " * 4_000_000]})
    pq.write_table(table, tmp_path / "mine.parquet", compression="zstd")
    feather.write_feather(table, tmp_path / "mine.feather", compression="zstd")
    for name in ("mine.parquet", "mine.feather"):
        assert (tmp_path / name).stat().st_size < 20_000
        with pytest.raises(MacroscopeError, match=r"row 2: a text of 20,000,000 characters, and no document has more"):
            read(tmp_path / name)
    monkeypatch.setattr(parsing, "LONGEST_TEXT", 5)
    (tmp_path / "mine.txt").write_text("A fox ran.")
    with pytest.raises(MacroscopeError, match=r"mine\.txt: a text of 10 characters, .*⟨separator⟩"):
        read(tmp_path / "mine.txt")


@pytest.mark.parametrize("kind", [*PLAIN, ".txt"])
def test_texts_full_of_nuls(kind, tmp_path):
    """They are no texts: programs, images, or texts in another encoding."""
    nul = "\\u0000" if kind.startswith(".json") else "\0"
    (tmp_path / f"mine{kind}").write_text(PLAIN.get(kind, "A fox ran.").replace("fox", f"f{2 * nul}x"))
    with pytest.raises(MacroscopeError, match=r"18% of a text are NULs, .*; save it as UTF-8"):
        read(tmp_path / f"mine{kind}")


def test_an_endless_id(tmp_path):
    (tmp_path / "mine.jsonl").write_text(json.dumps({"id": "x" * 100_000, "text": "A fox ran."}))
    with pytest.raises(MacroscopeError, match=r"line 1: 'id' has 100,000 characters; give at most 10,000"):
        read(tmp_path / "mine.jsonl")


JSON = {
    "pretty-printed list": json.dumps(RECORDS, indent=2),
    "pretty-printed objects": "\n".join(json.dumps(record, indent=4) for record in RECORDS),
    "lists in a list": json.dumps([[record] for record in RECORDS]),
    "columns as lists": json.dumps({"id": ["a", "b"], "text": [record["text"] for record in RECORDS]}),
    "columns of a data frame": json.dumps(
        {"id": {"0": "a", "1": "b"}, "text": {"0": "A fox ran.", "1": "It rained."}}, indent=1
    ),
}


@pytest.mark.parametrize("shape", JSON)
def test_shapes_of_json(shape, tmp_path):
    for name in ("mine.json", "mine.jsonl", "without_suffix"):
        (tmp_path / name).write_text(JSON[shape])
        assert read(tmp_path / name)[0] == EXPECTED


TABLES = {
    "semicolons": ("mine.csv", "id;text\na;A fox ran.\nb;It rained.\n", "separated by semicolons"),
    "tabs in CSV": ("mine.csv", "id\ttext\na\tA fox ran.\nb\tIt rained.\n", "separated by tabs"),
    "TSV": ("mine.tsv", "id\ttext\na\tA fox ran.\nb\tIt rained.\n", None),
    "names in another case, with blanks": ("mine.csv", "ID, Text \na,A fox ran.\nb,It rained.\n", None),
    "blank lines": ("mine.csv", "id,text\n\na,A fox ran.\nb,It rained.\n\n", None),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(case, tmp_path):
    name, content, remark = TABLES[case]
    (tmp_path / name).write_text(content)
    documents_read, provenance = read(tmp_path / name)
    assert documents_read == EXPECTED
    assert provenance.source.get(REMARKS) == (None if remark is None else [remark])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_without_a_suffix(separator, end, tmp_path):
    """As it comes from the standard input."""
    rows = [["ID", "text"], ["a", "A fox ran."], ["b", "It rained."]]
    (tmp_path / "mine").write_bytes("".join(separator.join(row) + end for row in rows).encode())
    assert read(tmp_path / "mine")[0] == EXPECTED
    (tmp_path / "mine").write_text("Some text, and more.\n")
    with pytest.raises(MacroscopeError, match="unknown format"):
        read(tmp_path / "mine")


def test_a_table_without_names(tmp_path):
    texts = ["It rained, and the fox ran home. " * 3, "The fox slept all day in the sun. " * 3]
    (tmp_path / "mine.csv").write_text("".join(f'{n},"{text}"\n' for n, text in enumerate(texts)))
    documents_read, provenance = read(tmp_path / "mine.csv")
    assert documents_read == [(f"mine.csv-{n}", text.strip()) for n, text in enumerate(texts, 1)]
    assert provenance.source[REMARKS] == ["no line of names, so that column 2 of 2 is taken for the text"]


def test_a_table_whose_names_are_unknown_names_them(tmp_path):
    (tmp_path / "mine.csv").write_text("number,tale\n1,A fox ran.\n")
    with pytest.raises(MacroscopeError, match=r"give it with ⟨text_field⟩ \(fields of the first line: 'number' 100%"):
        read(tmp_path / "mine.csv")


@pytest.mark.parametrize("kind", ["feather", "file", "stream"])
def test_arrow(kind, tmp_path):
    table, path = pa.Table.from_pylist(RECORDS), tmp_path / f"mine-{kind}"
    if kind == "feather":
        feather.write_feather(table, path, compression="zstd")
    else:
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table)
    assert read(path)[0] == EXPECTED
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(MacroscopeError, match="not a readable Arrow file"):
        read(path)


def test_a_folder_of_parts(tmp_path):
    for number, record in enumerate(RECORDS):
        pq.write_table(pa.Table.from_pylist([record]), tmp_path / f"part-{number}.parquet")
    (tmp_path / "config.json").write_text('{"seed": 1}')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    documents_read, provenance = read(tmp_path)
    assert documents_read == EXPECTED
    assert ("file of a folder without texts that are known", 2) in [(c.filter, c.dropped) for c in provenance.counts]


def test_a_folder_without_texts(tmp_path):
    (tmp_path / "config.json").write_text('{"seed": 1}')
    with pytest.raises(MacroscopeError, match=r"config.json: the field of the text is not known; .* line: 'seed' 100%"):
        read(tmp_path)


ARTICLE = '<doc id="{id}" url="https://x.org/?curid={id}" title="{title}">\n{title}\n\n{text}\n\n</doc>\n'


def test_articles_of_wikiextractor(tmp_path):
    (tmp_path / "AA").mkdir()
    content = ARTICLE.format(id="a", title="Fox &amp; co", text="A fox ran.") + ARTICLE.format(
        id="b", title="Rain", text="It rained."
    )
    (tmp_path / "AA" / "wiki_00").write_text(content.replace("\nFox &amp; co\n", "\nFox & co\n"))
    assert read(tmp_path)[0] == EXPECTED
    (tmp_path / "AA" / "wiki_00").write_text(content.removesuffix("</doc>\n"))
    with pytest.raises(MacroscopeError, match="an article without an end"):
        read(tmp_path)


TEXTS = [text for _, text in EXPECTED]
TABLE = {"columns": ["id", "text"], "data": [["a", "A fox ran."], ["b", "It rained."]]}


def test_a_table_in_json(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(TABLE | {"index": [0, 1]}))
    assert read(tmp_path / "mine.json")[0] == EXPECTED


@pytest.mark.parametrize("lines", [json.dumps(TEXTS), "".join(json.dumps(text) + "\n" for text in TEXTS)])
def test_strings_are_texts(lines, tmp_path):
    (tmp_path / "mine.json").write_text(lines)
    assert read(tmp_path / "mine.json")[0] == [(f"mine.json-{n}", text) for n, text in enumerate(TEXTS, 1)]


@pytest.mark.parametrize("lines", ["[1, 2]", "1\n2\n"])
def test_numbers_are_none(lines, tmp_path):
    (tmp_path / "mine.json").write_text(lines)
    with pytest.raises(MacroscopeError, match=r"(item|line) 1 is a JSON int; give objects, or strings"):
        read(tmp_path / "mine.json")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("kind", [*PLAIN, ".txt"])
def test_files_in_utf_16(kind, encoding, tmp_path):
    (tmp_path / f"mine{kind}").write_bytes(("\ufeff" + PLAIN.get(kind, "A fox ran.")).encode(encoding))
    assert read(tmp_path / f"mine{kind}")[0] == (EXPECTED if kind in PLAIN else [("mine.txt", "A fox ran.")])
    (tmp_path / f"mine{kind}").write_bytes(PLAIN.get(kind, "A fox ran.").encode(encoding))  # without its mark
    assert read(tmp_path / f"mine{kind}")[0] == (EXPECTED if kind in PLAIN else [("mine.txt", "A fox ran.")])
    (tmp_path / f"mine{kind}").write_bytes("\ufeffA".encode(encoding) + b"\xd8")
    with pytest.raises(MacroscopeError, match="not valid UTF-16"):
        read(tmp_path / f"mine{kind}")


@pytest.mark.parametrize("separator", ";|\t,")
def test_the_separator_of_columns_with_unknown_names(separator, tmp_path):
    quoted = [f'"{text[:-1]}, again; and | so."' for text in TEXTS]
    rows = [["Nr", "Tale"], *([str(number), text] for number, text in enumerate(quoted * 20))]
    (tmp_path / "mine.csv").write_text("".join(separator.join(row) + "\n" for row in rows))
    with pytest.raises(MacroscopeError, match=r"'Nr' 100%, 'Tale' 100%.*, for example ⟨text_field=Tale⟩"):
        read(tmp_path / "mine.csv")
    provenance = Provenance("test")
    named = Selection(FieldNames(text="Tale"))
    assert len(list(read_user_documents([tmp_path / "mine.csv"], provenance, 0.1, 0.1, named))) == 40


def test_quotation_marks_in_cells_between_tabs_are_characters(tmp_path):
    path = tmp_path / "mine.tsv"
    texts = ['"Run," said the fox, "or it rains."' * 3, 'It "rained", and he "ran".' * 3]
    path.write_text("".join(f"{number}\tSay it.\t{text}\n" for number, text in enumerate(texts)))
    assert [text for _, text in read(path)[0]] == texts
    path.write_text('id\ttext\na\t"A fox ""Bo"" ran.\n\nIt slept."\n')
    assert read(path)[0] == [("a", 'A fox "Bo" ran.\nIt slept.')]


def test_an_object_of_ids_and_records(tmp_path):
    path = tmp_path / "mine.json"
    records = {"a": {"prompt": "Say it.", "response": "A fox ran."}, "b": {"prompt": "Go.", "response": "It rained."}}
    for indent in (None, 1):
        path.write_text(json.dumps(records, indent=indent))
        assert read(path)[0] == EXPECTED
    path.write_text(json.dumps({"text": "A fox ran.", "id": "a"}))
    assert read(path)[0] == EXPECTED[:1]


@pytest.mark.parametrize("kind", ["feather", "jsonl"])
def test_names_of_fields_in_any_case(kind, tmp_path):
    rows = [{"Id": name, "Prompt": "Say it.", " Response ": text} for name, text in EXPECTED]
    path = tmp_path / f"mine.{kind}"
    if kind == "feather":
        feather.write_feather(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    documents, provenance = read(path)
    assert documents == EXPECTED
    assert provenance.source["read_as"] == {"responses (text: response, prompt: prompt, id: id)": 1}


@pytest.mark.parametrize("kind", ["text", "dialogue"])
def test_one_text_repeated_by_a_dictionary_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(columnar, "_MOST_TEXT", 1 << 20)
    text, path = "word " * 20_000, tmp_path / "mine.parquet"
    values = [text] * 40 if kind == "text" else [[{"content": text}]] * 40
    pq.write_table(pa.table({"text": values}), path, compression="zstd")
    assert path.stat().st_size < 4_000
    with pytest.raises(
        MacroscopeError, match=r"mine\.parquet, row 1: the texts are over 200 times as large as the file"
    ):
        sum(1 for _ in columnar.read_numbered_rows(path, None))


def test_long_texts_of_a_small_parquet_file_are_refused_by_their_declared_size(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "_MOST_TEXT", 1 << 20)
    path = tmp_path / "mine.parquet"
    table = pa.table({"text": ["word " * 400_000], "number": [1]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    with pytest.raises(MacroscopeError, match=r"mine\.parquet: the texts are over 200 times as large as the file"):
        next(columnar.read_numbered_rows(path, None))
    assert list(columnar.read_numbered_rows(path, ("number",))) == [(1, {"number": 1})]


def test_large_texts_that_repeat_themselves_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "_MOST_TEXT", 1 << 20)
    texts = [" ".join(f"fox {number % top} ran." for number in range(5_000)) for top in range(1, 41)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "mine.parquet", compression="zstd")
    assert 50 < sum(map(len, texts)) / (tmp_path / "mine.parquet").stat().st_size < 200
    assert sum(1 for _ in columnar.read_numbered_rows(tmp_path / "mine.parquet", ("text",))) == 40
