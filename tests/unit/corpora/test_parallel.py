"""Aligned lines: both layouts, counts, and unreadable files."""

import errno
import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from macroscope.config.schema import parse_config
from macroscope.corpora.parallel import ParallelCorpus, parse_language, read_parallel
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.readers.archives import open_archive


def _archive(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def _read(path, **options):
    provenance = Provenance("c")
    documents = list(read_parallel(ParallelCorpus(source="parallel", **options), path, provenance))
    return documents, {count.filter: (count.kept, count.dropped) for count in provenance.counts}


def _tabs(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_archive_and_tabs_give_the_same(tmp_path):
    files = {
        "europarl-v7.de-en.de": "Der Hund .\n\nDie Katze\n",
        "europarl-v7.de-en.en": "The dog .\nnothing\nThe cat\n",
    }
    archived, counts = _read(_archive(tmp_path / "de-en.tgz", files))
    tabbed, _ = _read(_tabs(tmp_path / "en-de.tsv", "The dog .\tDer Hund .", "nothing\t", "The cat\tDie Katze"))
    assert archived == tabbed
    assert counts == {"line that is empty in one language": (2, 1)}
    assert [(d.id, d.label, d.original, d.text) for d in archived] == [
        ("de-1", "de", "The dog .", "Der Hund ."),
        ("de-3", "de", "The cat", "Die Katze"),
    ]


def test_zips_of_opus_are_read_as_other_archives(tmp_path):
    """A zip of OPUS has a licence and an alignment beside the two files of lines."""
    files = {"LICENSE": "free", "Europarl.en-fr.en": "The dog .\n", "Europarl.en-fr.fr": "Le chien .\n"}
    with zipfile.ZipFile(tmp_path / "en-fr.txt.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    zipped, _ = _read(tmp_path / "en-fr.txt.zip")
    assert zipped == _read(_archive(tmp_path / "en-fr.tgz", files))[0]
    assert [(d.label, d.original, d.text) for d in zipped] == [("fr", "The dog .", "Le chien .")]


def test_gzipped_tabs(tmp_path):
    with gzip.open(tmp_path / "x.en-fr.tsv.gz", "wt", encoding="utf-8") as stream:
        stream.write("The house\tLa maison\n")
    (document,), _ = _read(tmp_path / "x.en-fr.tsv.gz")
    assert (document.label, document.text) == ("fr", "La maison")


def test_an_original_is_in_one_split_whatever_the_language(tmp_path):
    lines = [f"sentence {n}" for n in range(300)]
    german, _ = _read(_tabs(tmp_path / "en-de.tsv", *(f"{line}\tSatz {line}" for line in lines)))
    french, _ = _read(_tabs(tmp_path / "en-fr.tsv", *(f"{line}\tphrase {line}" for line in lines)))
    assert [d.split for d in german] == [d.split for d in french]
    assert {d.split for d in german} == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("name", "language"),
    [("de-en.tgz", "de"), ("europarl-v7.en-es.tgz", "es"), ("a_en-fr.tsv.gz", "fr"), ("fr-de.tsv", ""), ("x.tsv", "")],
)
def test_file_names_tell_the_language(name, language):
    assert parse_language(Path(name), "en") == language


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("de-en.tgz", {"a.de": "x\n", "a.en": "y\nz\n"}, "those of 'de' end before line 2"),
        ("de-en.tgz", {"a.en": "y\n"}, r"no file of the archive ends in \.de"),
        ("german.tgz", {}, "does not say its languages"),
    ],
)
def test_broken_archives_are_clear_errors(tmp_path, name, files, message):
    with pytest.raises(MacroscopeError, match=message):
        _read(_archive(tmp_path / name, files))


def test_broken_lines_are_clear_errors(tmp_path):
    with pytest.raises(MacroscopeError, match="line 2: 1 columns"):
        _read(_tabs(tmp_path / "en-de.tsv", "a\tb", "c"))
    (tmp_path / "de-en.tgz").write_bytes(b"no archive")
    with pytest.raises(MacroscopeError, match="not a readable tar archive"):
        _read(tmp_path / "de-en.tgz")


@pytest.mark.parametrize("name", ["de-en.tgz", "de-en.zip"])
def test_an_archive_that_is_cut_anywhere_is_a_clear_error(name, tmp_path):
    """A file of the archive may break off while it is unpacked, after its name was read."""
    files = {"x.de": "Der Hund .\n", "x.en": "The dog .\n"}
    path = _archive(tmp_path / "de-en.tgz", files)
    if name.endswith(".zip"):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in files.items():
                archive.writestr(member, content)
    whole, documents = path.read_bytes(), _read(path)
    errors = 0
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        try:
            assert _read(path) == documents  # what is missing is the end mark of the archive
        except MacroscopeError as error:
            errors += path.name in str(error)
    assert errors > 0.8 * len(whole)


def test_damaged_bzip2_is_a_clear_error_and_a_full_disk_is_not_blamed_on_the_archive(tmp_path):
    with tarfile.open(tmp_path / "de-en.tar.bz2", "w:bz2") as archive:
        member = tarfile.TarInfo("x.de")
        member.size = 400_000
        archive.addfile(member, io.BytesIO(os.urandom(400_000)))
    data = bytearray((tmp_path / "de-en.tar.bz2").read_bytes())
    data[200_000:200_100] = bytes(100)
    (tmp_path / "de-en.tar.bz2").write_bytes(data)
    with pytest.raises(MacroscopeError, match="not a readable tar archive"):
        _read(tmp_path / "de-en.tar.bz2")
    whole = _archive(tmp_path / "whole.tgz", {"x": "y"})
    with pytest.raises(OSError, match="No space left"), open_archive(whole):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_languages_choose_the_files_of_a_data_set():
    corpus = {"source": "parallel", "dataset": "europarl", "languages": ["de", "fr"]}
    comparisons = [{"corpus": "c", "critics": ["languages"]}]
    plan = Plan(parse_config({"corpora": {"c": corpus}, "systems": {}, "comparisons": comparisons}))
    assert sorted(plan.corpora.raw_parts("c").values()) == ["data/europarl/v7/de-en.tgz", "data/europarl/v7/fr-en.tgz"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dataset": "europarl", "languages": ["de", "it"]}, "no file has it"),
        ({"files": ["x.tsv"], "languages": ["de"]}, "x.tsv: the name does not say"),
    ],
)
def test_missing_languages_are_named(given, message):
    with pytest.raises(MacroscopeError, match=message):
        ParallelCorpus(source="parallel", **given).raw_parts("corpora.c", "folder")


@pytest.mark.slow
def test_real_lines(tmp_path, real_text):
    folder = real_text("opennmt_en_de_10k")
    texts = [gzip.decompress((folder / f"{name}-train.txt.gz").read_bytes()).decode() for name in ("src", "tgt")]
    documents, counts = _read(_archive(tmp_path / "de-en.tgz", dict(zip(("x.en", "x.de"), texts, strict=True))))
    assert len(documents) > 9_000
    assert sum(counts["line that is empty in one language"]) == texts[0].count("\n")
