"""Recognition of languages in real sentences, and section types of real articles."""

import tarfile
from collections import Counter

import pytest

from macroscope.corpora.titles import normalise_title
from macroscope.corpora.wikipedia import WikipediaCorpus
from macroscope.corpora.wikipedia.reading import read_dump
from macroscope.documents import Provenance
from macroscope.natural_language.detection import UNKNOWN, detect_languages, main_language

CODES = {"deu": "de", "eng": "en", "fra": "fr", "ita": "it", "nld": "nl", "spa": "es"}


@pytest.fixture(scope="module")
def sentences_of(tmp_path_factory):
    def read(archive):
        sentences = {}
        with tarfile.open(archive) as file:
            for member in file.getmembers():
                if member.isfile():
                    code = CODES[member.name.rpartition(".")[2]]
                    sentences[code] = file.extractfile(member).read().decode().splitlines()
        return sentences

    return read


@pytest.mark.slow
def test_three_real_sentences_suffice(real_text, sentences_of):
    for code, sentences in sentences_of(real_text("tatoeba_laser/tatoeba_v1_deu_fra_spa_ita_nld.tar.xz")).items():
        texts = [" ".join(sentences[n : n + 3]) for n in range(0, 600, 3)]
        recognized = detect_languages(texts)
        assert set(recognized) <= {code, UNKNOWN}
        assert recognized[code] >= 0.99 * len(texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dump", "language", "types"),
    [
        ("enwiki_xml/dbpedia-minidump-de-wiki.xml.bz2", "de", {"weblink", "leben", "philosophie"}),
        ("enwiki_xml/dbpedia-minidump-es-wiki.xml.bz2", "es", {"toponimia", "historia", "demografía"}),
        ("enwiki_xml/dbpedia-minidump-fr-wiki.xml.bz2", "fr", {"voir aussi", "géographie", "économie"}),
        ("itwiki_xml_small/small-dump.xml.gz", "it", {"collegamento esterno", "altro progetto", "bibliografia"}),
    ],
)
def test_real_articles(real_text, dump, language, types):
    options = WikipediaCorpus(source="wikipedia", files=["x"], language=language)
    documents = list(read_dump(options, real_text(dump), Provenance("x"), 1))
    assert main_language(detect_languages(document.text for document in documents[:100])) == language
    counts = Counter(normalise_title(s.title, language) for d in documents for s in d.sections if s.title)
    assert types <= set(counts), counts.most_common(40)
