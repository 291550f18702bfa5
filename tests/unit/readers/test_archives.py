"""Archives that are malicious or unreadable."""

import bz2
import json
import zipfile

import pytest

from macroscope.corpora.cohan import CohanCorpus, read_articles
from macroscope.corpora.wikipedia import dump
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError

ARTICLE = {"article_id": "a", "section_names": ["one"], "sections": [["Some text."]], "abstract_text": ["<S> x </S>"]}


def articles(path, **options):
    return list(read_articles(CohanCorpus(source="cohan", files=[str(path)], **options), path, Provenance("c")))


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("train.txt", json.dumps(ARTICLE))
    assert len(articles(path)) == 1
    return path


@pytest.mark.parametrize(("offset", "value"), [(6, 1), (8, 99)])  # encrypted; compressed in an unknown way
def test_zips_that_cannot_be_read(offset, value, archive):
    content = bytearray(archive.read_bytes())
    content[offset] = value
    content[content.index(b"PK\x01\x02") + offset + 2] = value
    archive.write_bytes(content)
    with pytest.raises(MacroscopeError, match=r"train\.txt: cannot be read .*; zip it again, plainly"):
        articles(archive)


@pytest.mark.parametrize("abstract", [3, {"a": 1}, ["x", 2]])
def test_abstracts_that_are_not_texts(abstract, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ARTICLE | {"abstract_text": abstract}))
    with pytest.raises(MacroscopeError, match="line 1: 'abstract_text' is neither a text"):
        articles(path, abstract=True)


@pytest.mark.slow
def test_a_dump_without_any_page_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(dump, "_LARGEST_PAGE", 1 << 20)
    path = tmp_path / "bomb.xml.bz2"
    path.write_bytes(bz2.compress(b"<mediawiki>" + b"x" * (32 << 20)))
    assert path.stat().st_size < 1000
    with pytest.raises(MacroscopeError, match="what follows page 0 is longer than 1 MB"):
        list(dump.stream_pages(path))
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(MacroscopeError, match="the block at byte 0 is longer than 1 MB"):
        [dump.decode_block(path, block) for block in dump.stream_blocks(path)]
