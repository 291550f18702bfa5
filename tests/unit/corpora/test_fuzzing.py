"""Readers of all sources, given any raw file, return documents that can be stored, or raise a clear error."""

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
from concurrent.futures import Future

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.corpora.cohan import CohanCorpus, read_articles
from macroscope.corpora.labelled import LabelledCorpus, read_labelled
from macroscope.corpora.parallel import ParallelCorpus, read_parallel
from macroscope.corpora.stories import StoriesCorpus, read_stories
from macroscope.corpora.timetravel import TimeTravelCorpus, read_timetravel
from macroscope.corpora.tripadvisor import TripAdvisorCorpus, read_tripadvisor
from macroscope.corpora.webtext import WebTextCorpus, read_webtext
from macroscope.corpora.wikipedia import WikipediaCorpus
from macroscope.corpora.wikipedia.reading import read_dump
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from tests.fuzzing import ANY_TEXT, FUZZ, ODD_LINES, VALUES, damaged, ends_well, lines_of

ARTICLE = {
    "article_id": "a",
    "abstract_text": ["<S> Short . </S>"],
    "section_names": ["introduction"],
    "sections": [["A first .", "A second ."]],
}
TALE = {
    "story_id": "t",
    "premise": "A fox ran.",
    "initial": "It was cold.",
    "counterfactual": "It was warm.",
    "original_ending": "It slept. It woke. It ate.",
    "edited_endings": [["It swam.", "It dried.", "It ate."]],
}
NEWS = {"headline": "A fox", "short_description": "It ran.", "authors": "A. B, C", "link": "x", "category": "y"}
TEXT = {"id": 1, "ended": True, "length": 2, "text": "A fox ran.", "label": "l", "original": "o"}
REVIEW = " ".join(f"We stayed for {n} nights." for n in range(8))
HOTEL = {"Reviews": [{"ReviewID": "r", "Content": REVIEW}], "HotelInfo": {}}
POST = b"From: a\nSubject: b\n\nIn article <1> x writes:\n> no\nIt runs.\n\n--\nme\n"
DUMP = (
    b"<mediawiki><siteinfo><dbname>testwiki</dbname></siteinfo>\n<page><title>A</title><ns>0</ns><id>1</id><revision>"
    b"<text>Lead [[x|y]].\n== B ==\n{{t|u}} Text of ''it''.</text></revision></page>\n</mediawiki>\n"
)


def tar_of(members, compress=gzip.compress):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return compress(stream.getvalue())


def zip_of(members, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def parquet_of(table):
    stream = io.BytesIO()
    pq.write_table(pa.table(table), stream)
    return stream.getvalue()


def _labelled(name):
    return LabelledCorpus(source="labelled", dataset=name)


COHAN = (read_articles, CohanCorpus(source="cohan", abstract=True))
TIMETRAVEL = (read_timetravel, TimeTravelCorpus(source="timetravel", files=["x"]))
WEBTEXT = (read_webtext, WebTextCorpus(source="webtext", files=["x"]))
HOTELS = (read_tripadvisor, TripAdvisorCorpus(source="tripadvisor", files=["x"]))
STORIES = (read_stories, StoriesCorpus(source="stories", files=["x"]))
STORY_LINES = (read_stories, StoriesCorpus(source="stories", files=["x"], one_per="line"))
PARALLEL = (read_parallel, ParallelCorpus(source="parallel", files=["x"]))
WIKIPEDIA = (read_dump, WikipediaCorpus(source="wikipedia", page_seconds=5))
YELP, NEWS_LINES, POSTS = (
    (read_labelled, _labelled(name)) for name in ("yelp_polarity", "news_category", "newsgroups20")
)

WHOLE = {
    "articles.jsonl": (COHAN, lines_of([ARTICLE])),
    "articles.jsonl.gz": (COHAN, gzip.compress(lines_of([ARTICLE]))),
    "articles.zip": (COHAN, zip_of({"x/train.txt": lines_of([ARTICLE])})),
    "articles-lzma.zip": (COHAN, zip_of({"x/val.txt": lines_of([ARTICLE])}, zipfile.ZIP_LZMA)),
    "articles-bzip2.zip": (COHAN, zip_of({"x/test.txt": lines_of([ARTICLE])}, zipfile.ZIP_BZIP2)),
    "dev_data.json": (TIMETRAVEL, lines_of([TALE])),
    "TimeTravel.zip": (TIMETRAVEL, zip_of({"TimeTravel/dev_data.json": lines_of([TALE])})),
    "webtext.test.jsonl": (WEBTEXT, lines_of([TEXT])),
    "webtext.jsonl.gz": (WEBTEXT, gzip.compress(lines_of([TEXT]))),
    "hotel.json": (HOTELS, json.dumps(HOTEL).encode()),
    "reviews.jsonl": (HOTELS, lines_of([{"id": 1, "text": REVIEW}, REVIEW.split(". ")])),
    "hotels.zip": (HOTELS, zip_of({"json/1.json": json.dumps(HOTEL).encode()})),
    "hotels.tar.bz2": (HOTELS, tar_of({"json/1.json": json.dumps(HOTEL).encode()}, bz2.compress)),
    "hotels.tar.gz": (HOTELS, tar_of({"json/1.json": json.dumps(HOTEL).encode()})),
    "hotels.tar.xz": (HOTELS, tar_of({"json/1.json": json.dumps(HOTEL).encode()}, lzma.compress)),
    "hotels.tar": (HOTELS, tar_of({"json/1.json": json.dumps(HOTEL).encode()}, bytes)),
    "stories.txt": (STORIES, b"A fox.\nIt ran.\n\nIt rained.\n"),
    "story-lines.txt": (STORY_LINES, b"A fox.\nIt ran.\n\nIt rained.\n"),
    "stories.txt.gz": (STORIES, gzip.compress(b"A fox.\n\nIt rained.\n")),
    "stories.parquet": (STORIES, parquet_of({"text": ["A fox.", None, "It rained."], "else": [1, 2, 3]})),
    "en-de.tsv": (PARALLEL, "A fox.\tEin Fuchs.\nRain.\tRegen für alle.\n".encode()),
    "de-en.tgz": (PARALLEL, tar_of({"x.de": b"Ein Fuchs.\nRegen.\n", "x.en": b"A fox.\nRain.\n"})),
    "yelp.tgz": (YELP, tar_of({"y/train.csv": b'"1","Bad, ""so"" bad"\n', "y/test.csv": b'"2","Good"\n'})),
    "news.json": (NEWS_LINES, lines_of([NEWS])),
    "posts.tar.gz": (POSTS, tar_of({"20news-bydate-train/sci.med/7": POST})),
    "dump.xml": (WIKIPEDIA, DUMP),
    "dump.xml.gz": (WIKIPEDIA, gzip.compress(DUMP)),
    "dump.xml.bz2": (WIKIPEDIA, bz2.compress(DUMP)),
    "dump-multistream.xml.bz2": (
        WIKIPEDIA,
        b"".join(bz2.compress(DUMP[a:b]) for a, b in ((0, 64), (64, -14), (-14, None))),
    ),
}
"""Reader with options, and a readable file, by file name."""


class InThisProcess:
    """Replacement for worker processes, which take a second each."""

    def __init__(self, **options):
        pass

    def schedule(self, function, arguments, timeout):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def stop(self):
        pass

    def join(self):
        pass


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    monkeypatch.setattr("macroscope.corpora.wikipedia.parsing.ProcessPool", InThisProcess)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_files_are_read(name, tmp_path):
    (read, options), content = WHOLE[name]
    (tmp_path / name).write_bytes(content)
    assert ends_well(read, options, tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files(name, tmp_path):
    (read, options), content = WHOLE[name]

    @FUZZ
    @given(st.data())
    def check(data):
        (tmp_path / name).write_bytes(damaged(data, content))
        ends_well(read, options, tmp_path / name)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_files_of_other_formats(name, tmp_path):
    read, options = WHOLE[name][0]
    for content in [*ODD_LINES, *(whole for _, whole in WHOLE.values())]:
        (tmp_path / name).write_bytes(content)
        ends_well(read, options, tmp_path / name)
    (tmp_path / name).unlink()
    assert not ends_well(read, options, tmp_path / name)


@pytest.mark.parametrize("name", [name for name in WHOLE if name.endswith((".zip", ".tgz", ".tar.gz"))])
@pytest.mark.parametrize("inner", range(len(ODD_LINES)))
def test_odd_files_in_archives(name, inner, tmp_path):
    (read, options), content = WHOLE[name]
    path = tmp_path / name
    path.write_bytes(content)
    if name.endswith(".zip"):
        members = {member: ODD_LINES[inner] for member in zipfile.ZipFile(path).namelist()}
        path.write_bytes(zip_of(members))
    else:
        with tarfile.open(path) as archive:
            members = dict.fromkeys(archive.getnames(), ODD_LINES[inner])
        path.write_bytes(tar_of(members))
    ends_well(read, options, path)


RECORDS = {
    "articles.jsonl": ARTICLE,
    "dev_data.json": TALE,
    "webtext.test.jsonl": TEXT,
    "reviews.jsonl": {"id": 1, "text": REVIEW},
    "hotel.json": HOTEL,
    "news.json": NEWS,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_any_value_of_any_key(name, tmp_path):
    (read, options), _ = WHOLE[name]
    record = RECORDS[name]

    @FUZZ
    @given(st.sampled_from(list(record)), VALUES, st.booleans())
    def check(key, value, left_out):
        changed = {k: v for k, v in record.items() if k != key} | ({} if left_out else {key: value})
        (tmp_path / name).write_bytes(lines_of([record, changed] if name != "hotel.json" else [changed]))
        ends_well(read, options, tmp_path / name)

    check()


@pytest.mark.slow
@FUZZ
@given(st.lists(st.fixed_dictionaries({}, optional={"ReviewID": VALUES, "Content": VALUES}) | VALUES, max_size=3))
def test_any_reviews_of_a_hotel(tmp_path, reviews):
    (tmp_path / "hotel.json").write_bytes(lines_of([{"Reviews": reviews}]))
    ends_well(*HOTELS, tmp_path / "hotel.json")


@pytest.mark.slow
@FUZZ
@given(ANY_TEXT)
def test_any_wikitext(tmp_path, text):
    page = DUMP.replace(b"{{t|u}}", text.encode(errors="surrogatepass"))
    (tmp_path / "dump.xml").write_bytes(page)
    ends_well(*WIKIPEDIA, tmp_path / "dump.xml")


WIKITEXTS = ["{{" * 5000, "[[" * 5000, "{|" * 3000, "<ref>" * 3000, "'''''" * 3000, "== a " * 3000, "&lt;!--" * 99]


@pytest.mark.slow
@pytest.mark.parametrize("text", WIKITEXTS, ids=[text[:5] for text in WIKITEXTS])
def test_wikitext_that_never_closes(text, tmp_path):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").encode()
    (tmp_path / "dump.xml").write_bytes(DUMP.replace(b"{{t|u}}", escaped))
    ends_well(*WIKIPEDIA, tmp_path / "dump.xml")


def test_entities_of_a_dump_are_not_expanded(tmp_path):
    bomb = b'<!DOCTYPE m [<!ENTITY a "' + b"x" * 1000 + b'">' + b"]>" + DUMP.replace(b"Lead", b"&a;" * 1000)
    (tmp_path / "dump.xml").write_bytes(bomb)
    for document in ends_well(*WIKIPEDIA, tmp_path / "dump.xml"):
        assert "xxx" not in document.text


@pytest.mark.slow
def test_a_bomb_in_an_archive(tmp_path, monkeypatch):
    """Content that unpacks to more than any text is refused before it fills the memory."""
    monkeypatch.setattr("macroscope.readers.archives.LARGEST_MEMBER", 1 << 20)
    monkeypatch.setattr("macroscope.readers.records.LONGEST_LINE", 1 << 20)
    bombs = {
        "articles.zip": zip_of({"x/train.txt": b"a" * (1 << 22)}),
        "TimeTravel.zip": zip_of({"dev_data.json": b"a" * (1 << 22)}),
        "hotels.zip": zip_of({"1.json": b"a" * (1 << 22)}),
        "hotels.tar.gz": tar_of({"1.json": b"a" * (1 << 22)}),
        "posts.tar.gz": tar_of({"20news-bydate-train/a/7": b"a" * (1 << 22)}),
        "yelp.tgz": tar_of({"y/train.csv": b'"1","' + b"a" * (1 << 22)}),
        "de-en.tgz": tar_of({"x.de": b"a" * (1 << 22), "x.en": b"b\n"}),
        "story-lines.txt": b"a" * (1 << 22),
        "en-de.tsv": b"a" * (1 << 22),
    }
    for name, content in bombs.items():
        (read, options), _ = WHOLE[name]
        (tmp_path / name).write_bytes(content)
        with pytest.raises(MacroscopeError, match="longer than"):
            list(read(options, tmp_path / name, Provenance("test"), 1))


@pytest.mark.parametrize("name", RECORDS)
def test_half_characters_anywhere(name, tmp_path):
    """Each text of a record in turn; they must be refused before a segmenter fails on them."""
    (read, options), _ = WHOLE[name]
    whole = json.dumps(RECORDS[name])
    for text in {text for text in re.findall(r'"([^"]+)"', whole) if f'"{text}":' not in whole}:
        (tmp_path / name).write_text(whole.replace(f'"{text}"', f'"{text}\\ud800."'))
        ends_well(read, options, tmp_path / name)


@pytest.mark.slow
def test_long_cells_of_csv(tmp_path):
    """Python's csv refuses cells beyond 131 kB by default; a review may be longer."""
    for words in (20_000, 400_000):
        (tmp_path / "yelp.tgz").write_bytes(tar_of({"y/train.csv": b'"1","' + b"abcd " * words + b'"\n'}))
        (review,) = ends_well(*YELP, tmp_path / "yelp.tgz")
        assert len(review.text.split()) == words


def test_aligned_lines_in_another_encoding_are_refused(tmp_path):
    (tmp_path / "de-en.tgz").write_bytes(tar_of({"x.de": b"Ein Fuchs.\nf\xfcr\n", "x.en": b"A fox.\nfor\n"}))
    with pytest.raises(MacroscopeError, match=r"de-en\.tgz, 'de', line 2 is not valid UTF-8 \(byte 2\)"):
        list(read_parallel(PARALLEL[1], tmp_path / "de-en.tgz", Provenance("test")))


def test_stories_in_damaged_parquet(tmp_path):
    """A text that is not UTF-8, and overwritten pages."""
    path, stories = tmp_path / "stories.parquet", {"text": [f"Fox {n} ran." for n in range(99)]}
    raw = pa.array([b"\xff\xfe" * 9], pa.binary()).view(pa.string())
    for content in (parquet_of({"text": raw}), _overwritten(parquet_of(stories), 10, 40)):
        path.write_bytes(content)
        with pytest.raises(MacroscopeError, match=r"stories\.parquet(: not a readable Parquet file|, after row 0: a)"):
            list(read_stories(STORIES[1], path, Provenance("test")))


def _overwritten(content, first, end):
    return content[:first] + bytes(end - first) + content[end:]


def test_links_of_archives(tmp_path):
    """Links, folders and devices are not read, whatever their names."""
    path = tmp_path / "posts.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo("20news-bydate-train/sci.med/7")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert not ends_well(*POSTS, path)
    for name, inside in (("hotels.tar", "1.json"), ("de-en.tgz", "x.de"), ("yelp.tgz", "train.csv")):
        with tarfile.open(tmp_path / name, "w") as archive:
            for kind in (tarfile.LNKTYPE, tarfile.SYMTYPE):
                info = tarfile.TarInfo(inside)
                info.type, info.linkname = kind, inside if kind == tarfile.SYMTYPE else "missing"
                archive.addfile(info)
        assert not ends_well(*WHOLE[name][0], tmp_path / name)
