"""Hotel reviews from LARA's files and from JSON Lines."""

import bz2
import gzip
import io
import json
import pickle
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from macroscope.corpora.tripadvisor import TripAdvisorCorpus, clean_review, read_tripadvisor
from macroscope.documents import Provenance, Section
from macroscope.errors import MacroscopeError
from macroscope.readers.splits import assign_split

OPTIONS = TripAdvisorCorpus(source="tripadvisor", files=["x"])
SENTENCES = tuple(f"We stayed for {n} nights." for n in range(2, 10))
TEXT = " ".join(SENTENCES)


def hotel(*contents, **more):
    reviews = [{"Title": "“Nice”", "ReviewID": f"UR{n}", "Content": text} | more for n, text in enumerate(contents)]
    return json.dumps({"Reviews": reviews, "HotelInfo": {"HotelID": "1"}}).encode()


def tar_of(path, members, mode):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def zip_of(path, members, mode):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def read(path, **options):
    provenance = Provenance("c")
    documents = list(read_tripadvisor(OPTIONS.model_copy(update=options), path, provenance))
    return documents, {count.filter: (count.kept, count.dropped) for count in provenance.counts}


def read_lines(path, *lines, **options):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read(path, **options)


def test_a_review_is_a_document_with_its_sentences(tmp_path):
    (tmp_path / "72572.json").write_bytes(hotel("  ".join(SENTENCES) + "\n"))
    (document,), _ = read(tmp_path / "72572.json")
    assert (document.id, document.title, document.label) == ("UR0", None, None)
    assert document.split == assign_split("UR0", 0.1, 0.1)
    assert document.sentences == SENTENCES
    assert document.sections == (Section(None, TEXT),)


@pytest.mark.parametrize(
    ("name", "write", "mode"),
    [
        ("TripAdvisorJson.tar.bz2", tar_of, "w:bz2"),
        ("reviews.tar.gz", tar_of, "w:gz"),
        ("reviews.tar", tar_of, "w"),
        ("reviews.zip", zip_of, ""),
    ],
)
def test_archives_of_hotels(tmp_path, name, write, mode):
    members = {
        "json/1.json": hotel(TEXT),
        "json/._1.json": b"\x00",
        "json/readme.txt": b"no hotel",
        "json/2.json": hotel(TEXT, TEXT, ReviewID=""),
        "json/3.json": hotel(),
    }
    write(tmp_path / name, members, mode)
    documents, counts = read(tmp_path / name)
    assert [document.id for document in documents] == ["UR0", "2-1", "2-2"]
    assert counts["review without text"] == (3, 0)


def test_hotels_are_read_one_by_one(tmp_path):
    tar_of(tmp_path / "t.tar", {"1.json": hotel(TEXT), "2.json": b"{"}, "w")
    reading = read_tripadvisor(OPTIONS, tmp_path / "t.tar", Provenance("c"))
    assert next(reading).id == "UR0"
    with pytest.raises(MacroscopeError, match=r"t\.tar, 2\.json is not valid JSON"):
        next(reading)


def test_only_traces_of_the_web_page_are_removed():
    assert clean_review("One.<br/>Two.<BR>Three.<br />") == "One.\nTwo.\nThree.\n"
    assert clean_review("The end.showReview(4219395, 'full'); More").split() == ["The", "end.", "More"]
    assert clean_review("<3 the B&B & bar, AT&amp;T") == "<3 the B&B & bar, AT&amp;T"


def test_a_line_break_of_the_page_ends_a_sentence(tmp_path):
    (tmp_path / "1.json").write_bytes(hotel("<br/>".join(sentence[:-1] for sentence in SENTENCES)))
    (document,), _ = read(tmp_path / "1.json")
    assert document.sentences == tuple(sentence[:-1] for sentence in SENTENCES)


@pytest.mark.parametrize("name", ["reviews.jsonl", "reviews.jsonl.gz"])
def test_lines_with_a_text_or_sentences(tmp_path, name):
    given = [{"text": TEXT}, [*SENTENCES, " "], {"id": 7, "text": TEXT}]
    raw = ("\n" + "\n\n".join(map(json.dumps, given))).encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    documents, _ = read(tmp_path / name)
    assert [document.id for document in documents] == ["reviews-2", "reviews-4", "7"]
    assert {document.sentences for document in documents} == {SENTENCES}


def test_given_sentences_are_not_split_again(tmp_path):
    given = ["it was n't cheap . we paid", *SENTENCES]
    (document,), _ = read_lines(tmp_path / "r.jsonl", given)
    assert document.sentences == tuple(given)


def test_dropped_reviews_are_counted(tmp_path):
    long = " ".join(["long"] * 31) + "."
    given = [{"text": " \n"}, [], SENTENCES[:7], [*SENTENCES, long], [*SENTENCES, long.replace("long ", "", 1)]]
    documents, counts = read_lines(tmp_path / "r.jsonl", *given, {"id": "a", "text": TEXT}, {"id": "a", "text": TEXT})
    assert [document.id for document in documents] == ["r-5", "a"]
    assert counts == {
        "review without text": (5, 2),
        "fewer than 8 sentences (fewest_sentences)": (4, 1),
        "a sentence of more than 30 words (most_words)": (3, 1),
        "review id that occurred before": (2, 1),
    }


def test_other_thresholds(tmp_path):
    given = [SENTENCES[:7], [*SENTENCES, "word " * 500]]
    documents, counts = read_lines(tmp_path / "r.jsonl", *given, fewest_sentences=7, most_words=None)
    assert len(documents) == 2
    assert not any("most_words" in name for name in counts)


def test_a_review_of_lara_without_content_has_no_text(tmp_path):
    (tmp_path / "1.json").write_bytes(hotel(None))
    assert read(tmp_path / "1.json")[1]["review without text"] == (0, 1)


def test_counts_name_their_options(tmp_path):
    provenance = Provenance("c")
    (tmp_path / "1.json").write_bytes(hotel())
    list(read_tripadvisor(OPTIONS, tmp_path / "1.json", provenance))
    assert [count.option for count in provenance.counts] == [None, "fewest_sentences", "most_words", None]


class Trap:
    """A pickle that writes a file when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["tripadvisor_review_processed_uncut.json", "reviews.jsonl", "dataset.tar.gz"])
def test_a_pickle_is_refused_and_never_opened(tmp_path, name):
    data = pickle.dumps([list(SENTENCES), Trap(tmp_path / "sprung")])
    if name.endswith("gz"):
        tar_of(tmp_path / name, {"dataset/tripadvisor_review_processed_uncut.json": data}, "w:gz")
    else:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(MacroscopeError, match=r"a Python pickle, which is not opened.*if you trust the file, conver"):
        read(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_the_advised_conversion_works(tmp_path):
    (tmp_path / "inset.json").write_bytes(pickle.dumps([list(SENTENCES), list(SENTENCES[:3])]))
    with pytest.raises(MacroscopeError) as error:
        read(tmp_path / "inset.json")
    command = str(error.value).partition("a review per line: ")[2].replace("FILE", "inset.json")
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    documents, counts = read(tmp_path / "reviews.jsonl")
    assert [document.sentences for document in documents] == [SENTENCES]
    assert counts["fewer than 8 sentences (fewest_sentences)"] == (1, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"Reviews": [\n{]}', r"1\.json is not valid JSON .*at line 2, column 2\); a .json file is a hotel of LARA"),
        (
            b'["a"]\n["b"]\n',
            r"1\.json is not valid JSON .*at line 2, column 1\).*a file with a review per line is named \.jsonl",
        ),
        (b'[["a"]]', r"1\.json: no list 'Reviews'"),
        (b'{"Reviews": {}}', r"1\.json: no list 'Reviews'"),
        (b'{"Reviews": ["a"]}', r"1\.json, review 1: 'Content' is a str; a review of LARA is an object"),
        (b'{"Reviews": [{"Content": 7}]}', r"1\.json, review 1: 'Content' is a int"),
        (b'{"Reviews": [{"Content": "", "ReviewID": 1.5}]}', r"review 1: 'ReviewID' is a float"),
        (b'{"Reviews": "caf\xe9"}', r"1\.json is not valid UTF-8 \(byte 17\)"),
        (b"[" * 200_000, r"1\.json is not usable JSON \(nested too deep\)"),
    ],
)
def test_malformed_hotels(tmp_path, data, message):
    (tmp_path / "1.json").write_bytes(data)
    with pytest.raises(MacroscopeError, match=message):
        read(tmp_path / "1.json")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "cut', "line 2 is not valid JSON .*; a line is an object with 'text'"),
        ('{"id": 2}', "line 2: neither a text nor a list of sentences"),
        ('{"text": null}', "line 2: neither a text nor a list of sentences"),
        ('["a", 1]', "line 2: neither a text nor a list of sentences"),
        ('{"text": "a", "id": true}', "line 2: 'id' is a bool"),
    ],
)
def test_malformed_lines(tmp_path, line, message):
    (tmp_path / "r.jsonl").write_text(json.dumps({"text": TEXT}) + f"\n{line}\n")
    with pytest.raises(MacroscopeError, match=rf"r\.jsonl, {message}"):
        read(tmp_path / "r.jsonl")


def test_broken_archives(tmp_path):
    tar_of(tmp_path / "whole.tar", {f"{n}.json": hotel(TEXT, TEXT) for n in range(50)}, "w")
    whole = (tmp_path / "whole.tar").read_bytes()
    broken = {"cut.tar.bz2": bz2.compress(whole)[:-40], "page.tar.bz2": b"<html>", "cut.tar": whole[:3000]}
    for name, data in broken.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(MacroscopeError, match=f"{name}: not a readable tar archive, or a truncated one"):
            read(tmp_path / name)


def test_broken_zips(tmp_path):
    (tmp_path / "page.zip").write_text("<html>")
    with pytest.raises(MacroscopeError, match="not a zip file, or a truncated one"):
        read(tmp_path / "page.zip")
    zip_of(tmp_path / "bad.zip", {"1.json": hotel(TEXT)}, "")
    data = bytearray((tmp_path / "bad.zip").read_bytes())
    data[60] ^= 0xFF
    (tmp_path / "bad.zip").write_bytes(data)
    with pytest.raises(MacroscopeError, match=r"bad\.zip, 1\.json: the data are broken"):
        read(tmp_path / "bad.zip")


@pytest.mark.parametrize("write", [tar_of, zip_of])
def test_archives_without_hotels(tmp_path, write):
    path = tmp_path / ("a.zip" if write is zip_of else "a.tar")
    write(path, {"Review_Texts/hotel_1.dat": b"<Author>x"}, "w")
    with pytest.raises(MacroscopeError, match=r"no \.json file in this archive"):
        read(path)


def test_files_of_other_formats(tmp_path):
    with pytest.raises(MacroscopeError, match=r"none\.json: no such file"):
        read(tmp_path / "none.json")
    (tmp_path / "reviews.dat").write_text("<Author>x")
    with pytest.raises(MacroscopeError, match=r"reviews\.dat: unknown format; give hotels of LARA"):
        read(tmp_path / "reviews.dat")


def test_the_files_of_a_corpus():
    retrieved = TripAdvisorCorpus(source="tripadvisor", dataset="tripadvisor")
    assert list(retrieved.raw_parts("corpora.c", "").values()) == ["data/tripadvisor/2010/TripAdvisorJson.tar.bz2"]
    assert list(OPTIONS.raw_parts("corpora.c", "").values()) == ["x"]
    with pytest.raises(MacroscopeError, match=r"corpora\.c: no raw files; give 'dataset'"):
        TripAdvisorCorpus(source="tripadvisor").raw_parts("corpora.c", "")
