"""Known defects are detected by the tendency in question and by no other; halves of real text by none."""

import itertools
import lzma

import numpy as np
import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import difference_tests
from macroscope.critics.tendencies.comparison import compare, describe, split_into_halves
from macroscope.critics.tendencies.latents import read_token_counts
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.projection import project
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.natural_language.words import stop_words
from macroscope.options import Resampling
from macroscope.statistics.p_values import benjamini_hochberg

OPTIONS = TendenciesOptions(simulations=20, count_permutations=999)
RESAMPLING = Resampling(resamples=200, permutations=1999)
STOP_WORDS = sorted(word for word in stop_words("en") if word.isalpha() and len(word) > 1)[:40]
CONTENT = [f"noun{'abcdefghij'[n // 100]}{'abcdefghij'[n // 10 % 10]}{'abcdefghij'[n % 10]}" for n in range(300)]
TENDENCIES = {
    "vocabulary": ("zipf", "heaps", "vocabulary", "tvd"),
    "length": ("length",),
    "stop words": ("stop_word",),
    "symbols": ("symbol",),
}
"""Tendency -> prefixes of its statistics' names. Repetition is left out: it depends on all of these."""


def texts(seed, count=150):
    """Simulate texts: two of five tokens are stop words, some are symbols, the rest follows Zipf's law."""
    rng = np.random.default_rng(seed)
    law = 1 / np.arange(1, len(CONTENT) + 1)
    simulated = []
    for length in rng.integers(60, 240, count) // 10 * 10:
        words = rng.choice(CONTENT, length, p=law / law.sum())
        words[0::5] = rng.choice(STOP_WORDS, length // 5)
        words[2::5] = rng.choice(STOP_WORDS, length // 5)
        words[1::5] = np.where(rng.random(length // 5) < 0.3, ",", words[1::5])
        simulated.append(list(words))
    return simulated


def without_every_kth_stop_word(words, k=16):
    kept, seen = [], 0
    for word in words:
        seen += word in STOP_WORDS
        if not (word in STOP_WORDS and seen % k == 0):
            kept.append(word)
    return kept


def without_tail(words, rng, kept=100):
    """Replace every content word beyond the first `kept` by one of these."""
    law = 1 / np.arange(1, kept + 1)
    head = set(CONTENT[:kept])
    return [w if w in head or w not in CONTENT else rng.choice(CONTENT[:kept], p=law / law.sum()) for w in words]


def collection(folder, name, sides):
    documents = [Document(f"{name}{n}", "test", None, (Section("x", " ".join(s)),)) for n, s in enumerate(sides)]
    write_documents(folder / f"{name}.documents", documents, Provenance("test"))
    texts = Collection(folder / f"{name}.documents")
    project(texts, language="en", options=OPTIONS, output=folder / f"{name}.parquet")
    return read_token_counts(folder / f"{name}.parquet")


def detected_by(reference, candidate):
    """Return the tendencies with a significant test."""
    rows = compare(reference, candidate, OPTIONS, RESAMPLING).rows.assign(signature="", n_paired=0)
    tests = difference_tests(critics()["tendencies"], rows)
    tests = tests.assign(p_adjusted=benjamini_hochberg(tests["p_value"]))
    names = tests.loc[tests["p_adjusted"] < 0.05, "statistic"]
    return {tendency for tendency, prefixes in TENDENCIES.items() if names.str.startswith(prefixes).any()}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return collection(tmp_path_factory.mktemp("reference"), "reference", texts(1))


DEFECTS = {
    "nothing": (lambda words, rng: words, set()),
    "stop words removed": (lambda words, rng: without_every_kth_stop_word(words), {"stop words"}),
    "truncated": (lambda words, rng: words[:160], {"length"}),
    "tail cut": (without_tail, {"vocabulary"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
def test_defect_is_detected_by_its_tendency_alone(defect, reference, tmp_path):
    change, expected = DEFECTS[defect]
    rng = np.random.default_rng(3)
    candidate = collection(tmp_path, "candidate", [change(words, rng) for words in texts(2)])
    assert detected_by(reference, candidate) == expected


@pytest.mark.slow
def test_halves_of_real_english_do_not_differ_and_its_exponents_are_those_of_english(real_text, tmp_path):
    archive = real_text("enwiki_extracted_text") / "wikitasks_docs_min60words.txt.xz"
    with lzma.open(archive, "rt", encoding="utf-8") as stream:
        articles = itertools.islice(stream.read().split("</doc>"), 1000)
        sides = [article.partition(">")[2].split() for article in articles]
    real = collection(tmp_path, "real", sides)
    statistics = describe(real, OPTIONS, RESAMPLING).set_index("statistic")["value"]
    # meister2021, Table 4: s = 1.20; Heaps' beta of whole articles lies below that of lines, 0.84.
    assert 1.15 < statistics["zipf_s_ranked"] < 1.25
    assert 1.12 < statistics["zipf_s"] < statistics["zipf_s_ranked"]
    assert 0.13 < statistics["zipf_d_own"] < 0.16
    assert 0.70 < statistics["heaps_beta"] < 0.85
    assert statistics["heaps_beta"] < statistics["heaps_bigram_beta"] < 1
    assert detected_by(*split_into_halves(real)) == set()
