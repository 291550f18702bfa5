"""Labelled texts, each data set in its exact upstream format."""

import io
import json
import tarfile
from collections import Counter
from dataclasses import replace

import pytest

from macroscope.corpora import labelled, retrieval
from macroscope.corpora.labelled import LabelledCorpus, read_labelled
from macroscope.corpora.prepare import extract, prepare
from macroscope.corpora.retrieval import find_remote_file, retrieve
from macroscope.documents import Provenance, read_documents
from macroscope.errors import MacroscopeError
from macroscope.readers.archives import open_archive
from macroscope.readers.splits import assign_split

YELP = LabelledCorpus(source="labelled", dataset="yelp_polarity")
NEWS = LabelledCorpus(source="labelled", dataset="news_category")
POSTS = LabelledCorpus(source="labelled", dataset="newsgroups20")

REVIEWS = {
    "yelp_review_polarity_csv/readme.txt": "Yelp Review Polarity Dataset",
    "yelp_review_polarity_csv/test.csv": '"2","Going since 1990.\\n\\nNever ""bad"", said \\""Joe\\""."\n"1"," \\n "\n',
    "yelp_review_polarity_csv/train.csv": '"1","Terrible, staff"\n"2","Good"\n',
}
POST = """From: someone@example.org
Subject: Re: engines

In article <1> other@example.org writes:
> What is it?
It is an engine.

It runs.

--
Someone, somewhere
"""
NEWS_LINE = {
    "category": "CRIME",
    "headline": "Something Happened",
    "authors": "Ann Author, Second Author",
    "link": "https://example.org/1",
    "short_description": "It was  long ago.",
    "date": "2018-05-26",
}


def write_tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, text in members.items():
            raw = text.encode("latin-1")
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
    return path


def write_lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(options, path, provenance=None):
    return list(read_labelled(options, path, provenance or Provenance("test")))


def dropped(provenance):
    return {c.filter: c.dropped for c in provenance.counts if c.dropped}


def test_yelp_polarity(tmp_path):
    provenance = Provenance("test")
    documents = read(YELP, write_tar(tmp_path / "yelp.tgz", REVIEWS), provenance)
    assert [(d.id, d.split, d.label, d.sections[0].text) for d in documents] == [
        ("test-1", "test", "positive", 'Going since 1990. Never "bad", said "Joe".'),
        ("train-1", "train", "negative", "Terrible, staff"),
        ("train-2", "train", "positive", "Good"),
    ]
    assert all(d.title is None and d.sections[0].title is None and len(d.sections) == 1 for d in documents)
    assert dropped(provenance) == {"text without words": 1}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a/train.csv": '"1","Good"\n"3","Bad"\n'}, "a/train.csv, line 2: not a review"),
        ({"a/train.csv": '"1","Good","more"\n'}, "a/train.csv, line 1: not a review"),
        ({"a/train.csv": '"1","Good'}, "a/train.csv, line 1: not valid CSV"),
        ({"a/train.csv": '"1","caf\xe9"\n'}, "a/train.csv, after line 0: not valid UTF-8"),
        ({"a/other.csv": "x"}, "no train.csv or test.csv in this archive"),
    ],
)
def test_malformed_reviews(tmp_path, members, message):
    with pytest.raises(MacroscopeError) as error:
        read(YELP, write_tar(tmp_path / "yelp.tgz", members))
    assert message in str(error.value)


def test_news_category(tmp_path):
    records = [
        NEWS_LINE,
        NEWS_LINE | {"link": "https://example.org/2", "authors": ""},
        NEWS_LINE | {"headline": "The same link"},
        NEWS_LINE | {"link": "https://example.org/3", "headline": "", "short_description": " "},
        {name: NEWS_LINE[name] for name in ("headline", "authors", "short_description")},
    ]
    provenance = Provenance("test")
    documents = read(NEWS, write_lines(tmp_path / "News_Category_Dataset_v2.json", *records), provenance)
    assert [(d.id, d.label, d.sections[0].text) for d in documents] == [
        ("https://example.org/1", "Ann Author", "Something Happened\nIt was long ago."),
        ("line-5", "Ann Author", "Something Happened\nIt was long ago."),
    ]
    assert [d.split for d in documents] == [assign_split(d.id, 0.0, 0.1) for d in documents]
    assert dropped(provenance) == {
        "text without words": 1,
        "text without a label": 1,
        "text id that occurred before": 1,
    }


def test_malformed_news(tmp_path):
    path = write_lines(tmp_path / "news.json", NEWS_LINE, {"headline": "x", "short_description": None})
    with pytest.raises(MacroscopeError, match=r"news\.json, line 2: 'short_description' is NoneType, not a string"):
        read(NEWS, path)


@pytest.mark.slow
def test_news_of_rare_authors_are_dropped(tmp_path):
    assert NEWS.filters.min_per_label == 400
    assert YELP.filters.min_per_label == 0
    options = LabelledCorpus.model_validate(NEWS.model_dump() | {"filters": {"min_per_label": 5, "max_documents": 90}})
    assert options.filters.max_section_tokens is None
    often, seldom = (
        [NEWS_LINE | {"link": f"{a}/{n}", "authors": a} for n in range(k)] for a, k in (("A", 80), ("B", 4))
    )
    part = tmp_path / "part.parquet"
    extract("news", options, write_lines(tmp_path / "news.json", *often, *seldom), part, 1)
    documents = tmp_path / "documents.parquet"
    prepare("news", options, [part], documents)
    assert Counter(d.label for d in read_documents(documents)) == {"A": 80}


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w"])
def test_newsgroups20(tmp_path, mode):
    members = {
        "20news-bydate-test/sci.med/7": POST.replace("engine", "na\xefve"),
        "20news-bydate-test/sci.med/8": "From: a\n\n> Only a quotation.\n",
        "20news-bydate-train/rec.autos/7": POST,
        "20news-bydate-train/rec.autos/9": "Subject: no body",
        "20news-bydate-train/rec.autos/._7": "From: a\n\nAn artefact of an archiver.",
    }
    provenance = Provenance("test")
    documents = read(POSTS, write_tar(tmp_path / "20news-bydate.tar", members, mode), provenance)
    assert [(d.id, d.split, d.label, d.sections[0].text) for d in documents] == [
        ("sci.med/7", "test", "sci.med", "It is an na\xefve.\nIt runs."),
        ("rec.autos/7", "train", "rec.autos", "It is an engine.\nIt runs."),
    ]
    assert dropped(provenance) == {"text without words": 2}


@pytest.mark.slow
def test_archives_of_other_formats(tmp_path):
    with pytest.raises(MacroscopeError, match="no 20news-bydate-train/"):
        read(POSTS, write_tar(tmp_path / "other.tar.gz", {"a/b/c": "x"}))
    (tmp_path / "text.tar.gz").write_text("words")
    with pytest.raises(MacroscopeError, match=r"text\.tar\.gz: not a readable tar archive"):
        read(POSTS, tmp_path / "text.tar.gz")
    whole = write_tar(tmp_path / "whole.tgz", {"a/train.csv": "".join(f'"1","word {n * n}"\n' for n in range(40_000))})
    (tmp_path / "half.tgz").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(MacroscopeError, match=r"half\.tgz: not a readable tar archive, or a truncated one"):
        read(YELP, tmp_path / "half.tgz")
    with pytest.raises(MacroscopeError, match="no such file"):
        read(YELP, tmp_path / "none.tgz")


def test_splits(tmp_path):
    lines = "".join(f'"1","Review {n}"\n' for n in range(400))
    path = write_tar(tmp_path / "yelp.tgz", {"a/train.csv": lines, "a/test.csv": lines})
    assert Counter(d.split for d in read(YELP, path)) == {"train": 400, "test": 400}
    documents = read(YELP.model_copy(update={"valid_share": 0.2}), path)
    assert {d.split for d in documents if d.id.startswith("test")} == {"test"}
    assert Counter(d.split for d in documents)["valid"] == pytest.approx(80, abs=30)
    by_hash = read(YELP.model_copy(update={"official_splits": False}), path)
    assert [d.split for d in by_hash] == [assign_split(d.id, 0.0, 0.1) for d in by_hash]


def test_local_files_need_a_format():
    with pytest.raises(ValueError, match="give 'format' with 'files'"):
        LabelledCorpus(source="labelled", files=["x.tgz"])
    assert LabelledCorpus(source="labelled", files=["x.tgz"], format="newsgroups20").layout == "newsgroups20"


@pytest.mark.slow
def test_labels_from_a_mirror_to_the_documents(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    lines = "".join(f'"{1 + n % 2}","Review number {n}"\n' for n in range(60))
    write_tar(mirror / "yelp_review_polarity_csv.tgz", {"a/train.csv": lines, "a/test.csv": lines})
    raw = tmp_path / "yelp_review_polarity_csv.tgz"
    with pytest.raises(MacroscopeError, match="its size is"):
        retrieve("yelp_polarity", raw.name, raw, str(mirror))
    unverified = replace(find_remote_file("yelp_polarity", raw.name), size=None, sha256=None)
    monkeypatch.setattr(retrieval, "find_remote_file", lambda name, file: unverified)
    retrieve("yelp_polarity", raw.name, raw, mirror.as_uri())
    options = LabelledCorpus.model_validate(
        YELP.model_dump() | {"filters": {"max_per_split": {"train": 20, "test": 10}}}
    )
    extract("yelp", options, raw, tmp_path / "part.parquet", 1)
    documents = tmp_path / "documents.parquet"
    prepare("yelp", options, [tmp_path / "part.parquet"], documents)
    documents = list(read_documents(documents))
    assert Counter(d.split for d in documents) == {"train": 20, "test": 10}
    for document in documents:
        number = int(document.sections[0].text.split()[-1])
        assert document.label == ("positive" if number % 2 else "negative")


PUBLISHED = {
    "alt.atheism": 799, "comp.graphics": 973, "comp.os.ms-windows.misc": 985, "comp.sys.ibm.pc.hardware": 982,
    "comp.sys.mac.hardware": 963, "comp.windows.x": 988, "misc.forsale": 975, "rec.autos": 990, "rec.motorcycles": 996,
    "rec.sport.baseball": 994, "rec.sport.hockey": 999, "sci.crypt": 991, "sci.electronics": 984, "sci.med": 990,
    "sci.space": 987, "soc.religion.christian": 997, "talk.politics.guns": 910, "talk.politics.mideast": 940,
    "talk.politics.misc": 775, "talk.religion.misc": 628,
}  # fmt: skip
"""Messages per group of the version bydate, in both splits together."""


@pytest.mark.slow
def test_every_real_message_is_accounted_for(real_text):
    messages = real_text("newsgroups20/20news-bydate.tar.xz")
    texts = list(labelled.read_newsgroups20(messages))
    assert Counter(text.label for text in texts) == PUBLISHED
    assert Counter(text.split for text in texts) == {"train": 11314, "test": 7532}
    provenance = Provenance("test")
    documents = read(POSTS, messages, provenance)
    assert dropped(provenance) == {"text without words": 18846 - len(documents)}
    kept = Counter(text.label for text in texts if text.text.strip())
    assert Counter(d.label for d in documents) == kept
    assert len(documents) > 18_000


@pytest.mark.slow
def test_bodies_are_those_of_scikit_learn(real_text):
    messages = real_text("newsgroups20/20news-bydate.tar.xz")
    peer = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    different = []
    with open_archive(messages) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if stream is not None:
                message = stream.read().decode("latin-1")
                stripped = peer.strip_newsgroup_footer(peer.strip_newsgroup_header(message))
                if labelled.extract_body(message) != peer.strip_newsgroup_quoting(stripped):
                    different.append(member.name)
    assert different == []
