"""CC-Stories and its substitutes, from plain text or Parquet."""

import gzip
import itertools
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.corpora import stories
from macroscope.corpora.prepare import extract
from macroscope.corpora.retrieval import find_remote_source, retrieve
from macroscope.corpora.stories import StoriesCorpus, read_stories
from macroscope.documents import Provenance, Section, read_documents
from macroscope.errors import MacroscopeError
from macroscope.readers.splits import assign_split

OPTIONS = StoriesCorpus(source="stories", files=["x"])
TEXT = "\nOnce  there was a fox.\nIt ran.\n\n \nThen it rained.\r\n\r\nThe end."


def read(path, **options):
    provenance = Provenance("c")
    documents = list(read_stories(OPTIONS.model_copy(update=options), path, provenance))
    return documents, {count.filter: (count.kept, count.dropped) for count in provenance.counts}


def write_parquet(path, texts, **options):
    pq.write_table(pa.table({"text": texts, "url": [None] * len(texts)}), path, **options)


@pytest.mark.parametrize("name", ["cc-stories.txt", "cc-stories.txt.gz"])
def test_a_blank_line_ends_a_story(tmp_path, name):
    raw = TEXT.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    documents, _ = read(tmp_path / name)
    assert [(document.id, document.sections) for document in documents] == [
        ("cc-stories-2", (Section(None, "Once there was a fox.\nIt ran."),)),
        ("cc-stories-6", (Section(None, "Then it rained."),)),
        ("cc-stories-8", (Section(None, "The end."),)),
    ]
    assert {(document.title, document.sentences, document.label) for document in documents} == {(None, None, None)}
    assert [document.split for document in documents] == [assign_split(document.id, 0.1, 0.1) for document in documents]


def test_a_line_may_be_a_story(tmp_path):
    (tmp_path / "s.txt").write_text(TEXT)
    documents, _ = read(tmp_path / "s.txt", one_per="line")
    assert [document.id for document in documents] == ["s-2", "s-3", "s-6", "s-8"]
    assert documents[1].text == "It ran."


def test_a_row_of_parquet_is_a_story(tmp_path):
    path = tmp_path / "train-00000-of-00069.parquet"
    write_parquet(path, ["Once.\n\nTwice.", None, " ", "The end."] * 200, row_group_size=300)
    documents, counts = read(path)
    assert [document.id for document in documents[:3]] == [f"train-00000-of-00069-{row}" for row in (1, 4, 5)]
    assert len({document.id for document in documents}) == 400
    assert documents[0].text == "Once.\nTwice."
    assert counts == {"fewer words than 1 (fewest_words)": (400, 400)}


def test_short_stories_are_counted(tmp_path):
    (tmp_path / "s.txt").write_text(TEXT)
    provenance = Provenance("c")
    options = OPTIONS.model_copy(update={"fewest_words": 3})
    assert [document.id for document in read_stories(options, tmp_path / "s.txt", provenance)] == ["s-2", "s-6"]
    (count,) = provenance.counts
    assert (count.filter, count.kept, count.dropped) == ("fewer words than 3 (fewest_words)", 2, 1)
    assert count.option == "fewest_words"


def test_a_file_without_blank_lines_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(stories, "LONGEST", 100)
    (tmp_path / "s.txt").write_text("\n" + "A story of its own.\n" * 10)
    with pytest.raises(
        MacroscopeError, match=r"s\.txt, line 2: no blank line ends this story within 100 char.*'one_per"
    ):
        read(tmp_path / "s.txt")
    assert len(read(tmp_path / "s.txt", one_per="line")[0]) == 10


@pytest.mark.slow
@pytest.mark.parametrize("one_per", ["blank_line", "line"])
def test_memory_does_not_grow_with_the_file(tmp_path, one_per):
    peaks = []
    for copies in (200, 4000):
        (tmp_path / "s.txt").write_text(("word " * 200 + "\n\n") * copies)
        tracemalloc.start()
        options = OPTIONS.model_copy(update={"one_per": one_per})
        assert sum(1 for _ in read_stories(options, tmp_path / "s.txt", Provenance("c"))) == copies
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_stories_are_streamed(tmp_path):
    (tmp_path / "s.txt").write_bytes(b"One.\n\nTwo.\n\ncaf\xe9\n")
    stories = read_stories(OPTIONS, tmp_path / "s.txt", Provenance("c"))
    assert [document.text for document in itertools.islice(stories, 2)] == ["One.", "Two."]
    with pytest.raises(MacroscopeError, match=r"s\.txt, line 5 is not valid UTF-8"):
        next(stories)


@pytest.mark.slow
def test_a_row_group_is_not_read_at_once(tmp_path):
    path, pool = tmp_path / "s.parquet", pa.default_memory_pool()
    write_parquet(path, ["word " * 200] * 20_000, compression="NONE", use_dictionary=False)
    before = pool.bytes_allocated()
    allocated = [pool.bytes_allocated() - before for _ in read_stories(OPTIONS, path, Provenance("c"))]
    assert len(allocated) == 20_000
    assert max(allocated) < path.stat().st_size / 4


def test_files_of_other_formats(tmp_path):
    pq.write_table(pa.table({"story": ["a"]}), tmp_path / "story.parquet")
    write_parquet(tmp_path / "number.parquet", [1, 2])
    (tmp_path / "page.parquet").write_text("<html>")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(TEXT.encode())[:-12])
    for name, message in {
        "story.parquet": r"story\.parquet: no column 'text'",
        "number.parquet": r"number\.parquet, row 1: 'text' is a int, not a string",
        "page.parquet": r"page\.parquet: not a readable Parquet file",
        "none.parquet": r"none\.parquet: no such file",
        "cut.txt.gz": r"cut\.txt\.gz: the compressed data are broken",
        "none.txt": r"none\.txt: no such file",
    }.items():
        with pytest.raises(MacroscopeError, match=message):
            read(tmp_path / name)


def test_extracted_as_a_part(tmp_path):
    (tmp_path / "s.txt").write_text(TEXT)
    assert extract("c", OPTIONS, tmp_path / "s.txt", tmp_path / "part.parquet", 1) == 3
    assert [document.sentences for document in read_documents(tmp_path / "part.parquet")] == [None] * 3


def test_the_original_is_gone_and_its_substitutes_are_named(tmp_path):
    file = find_remote_source("stories").files[0].name
    with pytest.raises(MacroscopeError, match=r"no longer public.*'stories-hub'.*'cc-stories'.*lucadiliello/STORIES"):
        retrieve("stories", file, tmp_path / file)
