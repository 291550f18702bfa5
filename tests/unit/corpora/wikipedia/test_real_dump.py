"""Real dumps: every dropped page is counted, and no markup is left in the text."""

import re

import pytest

from macroscope.corpora.wikipedia import WikipediaCorpus
from macroscope.corpora.wikipedia.reading import read_dump
from macroscope.documents import Provenance

OPTIONS = WikipediaCorpus(source="wikipedia", page_seconds=20)
MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|<ref|'''|\{\||__[A-Z]{3,}__|&nbsp;")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("enwiki_xml/enwiki-merged-pages-articles.xml.bz2", 239),
        ("enwiki_xml/dbpedia-minidump-de-wiki.xml.bz2", None),
        ("itwiki_xml_small/small-dump.xml.gz", 747),
    ],
)
def test_every_page_of_a_real_dump_is_accounted_for(real_text, name, pages):
    provenance = Provenance("test")
    documents = list(read_dump(OPTIONS, real_text(name), provenance, 2))
    counts = [c for c in provenance.counts if c.unit == "pages"]
    if pages is not None:
        assert len(documents) + sum(c.dropped for c in counts) == pages
    assert len(documents) == counts[-1].kept > 0
    texts = [section.text for document in documents for section in document.sections]
    assert all(texts)
    assert not any("\n\n" in text for text in texts)
    with_markup = [text for text in texts if MARKUP.search(text)]
    assert len(with_markup) / len(texts) < 0.005, [MARKUP.search(t).group() for t in with_markup[:5]]
