"""Texts cut to matched length, from files to files."""

import numpy as np
import pytest

from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.natural_language.words import count_words
from macroscope.systems.length_matching import (
    TEXTS,
    WORDS,
    compare_lengths,
    cut_control,
    cut_document,
    cut_system,
    match_lengths,
)
from macroscope.tables import read_csv

FIVE = "One two three. Four five six. Seven eight nine.\nTen eleven twelve. Last words here."


def document(name, text, title=None):
    return Document(name, "test", None, (Section(title, text),), sentences=("kept",))


def sentences(n):
    return " ".join(["Some words here."] * n)


def write(path, lengths):
    documents = [document(f"{path.stem}{number}", sentences(n)) for number, n in enumerate(lengths)]
    write_documents(path, documents, Provenance("wiki"))
    return path


@pytest.mark.parametrize(("words", "kept"), [(1, 3), (4, 3), (5, 6), (6, 6), (7, 6), (8, 9), (100, 15), (0, 3)])
def test_a_cut_is_at_the_sentence_end_nearest_to_the_length(words, kept):
    assert count_words(cut_document(document("a", FIVE), words, "en").text) == kept


def test_the_rest_of_a_cut_text_is_as_it_was():
    assert cut_document(document("a", FIVE), 9, "en").text == "One two three. Four five six. Seven eight nine."
    assert cut_document(document("a", FIVE), 9, "en").sentences is None


def test_an_uncut_document_is_the_same_one():
    for text, words in ((FIVE, 15), ("no sentence end, and words", 2), ("...", 0)):
        original = document("a", text)
        assert cut_document(original, words, "en") is original


def test_sections_after_the_cut_are_left_out_with_their_titles():
    original = Document("a", "test", "Title", (Section("first", FIVE), Section("second", FIVE), Section("third", FIVE)))
    shortened = cut_document(original, 18, "en")
    assert [(section.title, count_words(section.text)) for section in shortened.sections] == [
        ("first", 15),
        ("second", 3),
    ]
    assert shortened.title == "Title"


def test_scripts_without_spaces_are_cut_by_their_words():
    text = "这是第一个句子。这是第二个句子。这是第三个句子。"
    assert cut_document(document("a", text), count_words(text) // 3, "zh").text == "这是第一个句子。"


def lengths_of(path):
    return {each.id: count_words(each.text) // 3 for each in read_documents(path)}


def test_both_sides_have_the_same_lengths_and_nothing_is_dropped_silently(tmp_path):
    real, system = write(tmp_path / "real", range(100, 180)), write(tmp_path / "mine", range(10, 90))
    about = {"language": "en", "seed": 1}
    cut_control(real, system, tmp_path / "cut_real", **about)
    cut_system(real, system, tmp_path / "cut_mine", **about)
    lengths = [lengths_of(tmp_path / name) for name in ("cut_real", "cut_mine")]
    assert list(lengths[0]) == list(lengths_of(real))
    assert lengths[1] == lengths_of(system)
    means = [sum(each.values()) / 80 for each in lengths]
    assert means[0] == pytest.approx(means[1], rel=0.15)
    counts = {count.filter: (count.kept, count.dropped) for count in read_provenance(tmp_path / "cut_real").counts}
    kept = 3 * sum(lengths[0].values())
    assert counts == {TEXTS: (0, 80), WORDS: (kept, 3 * sum(range(100, 180)) - kept)}


def test_a_paired_system_of_equal_lengths_is_not_cut(tmp_path):
    real = write(tmp_path / "same", range(10, 60))
    (tmp_path / "system").mkdir()
    system = write(tmp_path / "system" / "same", range(10, 60))
    cut_control(real, system, tmp_path / "cut", language="en", seed=1)
    assert lengths_of(tmp_path / "cut") == lengths_of(real)


def test_held_out_documents_are_written_beside_all_of_them(tmp_path):
    real, system = write(tmp_path / "real", [30, 40, 50, 60]), write(tmp_path / "mine", [5, 5, 5, 5])
    held_out = [each for each in read_documents(real) if each.id in ("real1", "real3")]
    write_documents(tmp_path / "held_out", held_out, Provenance("wiki"))
    output = tmp_path / "matched" / "documents.parquet"
    output.parent.mkdir()
    cut_control(real, system, output, language="en", seed=1, held_out=tmp_path / "held_out")
    assert lengths_of(output) == dict.fromkeys(("real0", "real1", "real2", "real3"), 5)
    assert lengths_of(output.with_name("samples.parquet")) == dict.fromkeys(("real1", "real3"), 5)


def test_length_alone_is_detected_as_the_texts_are_and_not_at_matched_length(tmp_path):
    paths = [
        write(tmp_path / name, range(first, first + 60))
        for name, first in (("real", 60), ("mine", 10), ("x", 10), ("y", 10))
    ]
    about = {"corpus": "wiki", "system": "mine", "signature": "unit:words", "seed": 1, "confidence": 0.95}
    compare_lengths(*paths, tmp_path / "lengths.csv", **about)
    rows = read_csv(tmp_path / "lengths.csv").set_index(["system", "statistic"])
    assert set(rows["critic"]) == {"length"}
    assert rows.loc[("mine", "c2st_auc"), "ci_low"] > 0.8
    assert rows.loc[("mine@matched", "c2st_auc"), "value"] < 0.6


def matched(first, second, paired=False, seed=1):
    """Match two samples of single texts, or of pairs."""
    numbers = np.arange(len(first)), np.arange(len(second)) + (0 if paired else len(first))
    return match_lengths(np.asarray(first), np.asarray(second), numbers, seed)


@pytest.mark.parametrize(("n", "m"), [(7, 100), (100, 7), (1, 5), (400, 399)])
def test_no_text_is_extended_and_the_distributions_agree(n, m):
    rng = np.random.default_rng(n)
    first, second = rng.integers(1, 300, n), rng.integers(50, 200, m)
    targets = matched(first, second)
    assert (targets[0] <= first).all()
    assert (targets[1] <= second).all()
    shares = np.linspace(0.2, 0.8, 5)
    expected = np.minimum(300 * shares, 50 + 150 * shares)
    if min(n, m) > 100:
        assert np.allclose([np.quantile(each, shares) for each in targets], expected, atol=25)


def test_the_longer_sample_alone_is_cut():
    rng = np.random.default_rng(3)
    short, long = rng.integers(50, 100, 200), rng.integers(200, 400, 200)
    cut_short, cut_long = matched(short, long)
    assert (cut_short == short).all()
    assert cut_long.mean() == pytest.approx(short.mean(), rel=0.05)


def test_lengths_agree_no_better_than_by_chance():
    """Exact agreement would make classifiers wrong about the texts that they did not learn from."""
    rng, differences = np.random.default_rng(4), []
    for seed in range(300):
        long, short = rng.gamma(4, 100, 50).astype(int), rng.gamma(4, 50, 50).astype(int)
        targets = matched(long, short, seed=seed)
        differences.append(targets[0].mean() - targets[1].mean())
    by_chance = 100 * np.sqrt(2 / 50)  # the standard deviation of the short sample is 100
    assert np.mean(differences) == pytest.approx(0, abs=4)
    assert 0.8 * by_chance < np.std(differences) < 1.3 * by_chance


def test_pairs_of_equal_lengths_are_not_cut():
    lengths = np.random.default_rng(5).integers(3, 60, 80)
    assert all((targets == lengths).all() for targets in matched(lengths, lengths, paired=True))


def test_texts_of_one_length_are_cut_to_different_ones():
    targets, _ = matched(np.full(200, 100), np.linspace(10, 90, 200).astype(int))
    assert np.quantile(targets, [0.25, 0.75]) == pytest.approx([30, 70], abs=12)


def test_ranks_of_lengths_stay():
    rng = np.random.default_rng(1)
    long, short = rng.permutation(700)[:80] + 200, rng.integers(50, 400, 90)
    targets, _ = matched(long, short)
    assert (np.diff(targets[np.argsort(long)]) >= 0).all()


def test_an_empty_sample_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        matched([], [4])
