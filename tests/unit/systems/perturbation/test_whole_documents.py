"""Halves of different documents, joined."""

from collections import Counter

import pytest

from macroscope.documents import Document, Section
from macroscope.systems.perturbation.declaration import sample_cycle

from .damaging import damage, rng


def document(identifier, *texts):
    return Document(identifier, "test", identifier, tuple(Section(f"{identifier}{n}", t) for n, t in enumerate(texts)))


def test_a_cycle_leaves_none_in_place_and_all_cycles_occur():
    assert sample_cycle(0, rng()) == []
    assert sample_cycle(1, rng()) == [0]
    counts = Counter(tuple(sample_cycle(4, rng(seed))) for seed in range(600))
    assert len(counts) == 6  # (4 - 1)!
    assert min(counts.values()) > 60
    assert all(sorted(cycle) == [0, 1, 2, 3] and all(i != p for i, p in enumerate(cycle)) for cycle in counts)


def numbered_texts(n, sentences):
    """Return texts of one section, whose sentences name their text and position."""
    return [
        document(f"d{number}", " ".join(f"Text {number} says {k}." for k in range(sentences))) for number in range(n)
    ]


@pytest.mark.parametrize(("sentences", "first"), [(4, 2), (5, 2), (1, 0)])
def test_first_halves_are_permuted(sentences, first):
    before = numbered_texts(7, sentences)
    after = damage("swap_first_halves", before)
    begins, ends = [], []
    for number, text in enumerate(document.sections[0].text for document in after):
        origins = [part.rsplit(" says ", 1) for part in text.rstrip(".").split(". ")]
        assert [int(k) for _, k in origins] == list(range(sentences))
        begins.append({source for source, _ in origins[:first]})
        ends.append({source for source, _ in origins[first:]})
        assert ends[-1] == {f"Text {number}"}  # the second half is its own
    if first:
        assert Counter(map(frozenset, begins)) == Counter(frozenset([f"Text {n}"]) for n in range(7))
        assert all(begin != end for begin, end in zip(begins, ends, strict=True))
    assert [(d.id, d.title, len(d.sections)) for d in after] == [(d.id, d.title, 1) for d in before]


def test_halves_of_documents_with_sections_join_within_the_section_that_was_cut():
    before = [
        document("a", "A1. A2.", "A3. A4. A5.", "A6."),  # cut after A3
        document("b", "B1.", "B2. B3. B4."),  # cut after B2
    ]
    after = damage("swap_first_halves", before)
    assert after[0].sections == (Section("b0", "B1."), Section("b1", "B2. A4. A5."), Section("a2", "A6."))
    assert after[1].sections == (Section("a0", "A1. A2."), Section("a1", "A3. B3. B4."))


def test_a_cut_between_sections_joins_none():
    before = [document("a", "A1.", "A2."), document("b", "B1. B2.", "B3.", "B4. B5. B6.")]
    after = damage("swap_first_halves", before)
    assert after[0].sections == (Section("b0", "B1. B2."), Section("b1", "B3."), Section("a1", "A2."))
    assert after[1].sections == (Section("a0", "A1."), Section("b2", "B4. B5. B6."))


def test_spliced_documents_keep_their_first_half_of_sections():
    before = [document(name, *(f"{name}{n}." for n in range(size))) for name, size in (("a", 4), ("b", 3), ("c", 2))]
    after = damage("splice_documents", before)
    for old, new in zip(before, after, strict=True):
        kept = -(-len(old.sections) // 2)
        assert new.sections[:kept] == old.sections[:kept]
        origin = new.sections[kept].title[0]
        assert origin != old.id
        source = next(document for document in before if document.id == origin)
        assert new.sections[kept:] == source.sections[-(-len(source.sections) // 2) :]
    assert Counter(s for d in after for s in d.sections) == Counter(s for d in before for s in d.sections)


@pytest.mark.parametrize("rule", ["swap_first_halves", "splice_documents", "drift_topic"])
@pytest.mark.parametrize("texts", [("X1.", "X2.", "X3."), ("X1. X2. X3.",), ("X1.", "X2.")])
def test_a_small_dose_replaces_one_place_at_least(rule, texts):
    before = [document(name, *(text.replace("X", name) for text in texts)) for name in "ab"]
    for old, new in zip(before, damage(rule, before, dose=0.1), strict=True):
        partner = "b" if old.id == "a" else "a"
        assert sum(f"{partner}{n}." in new.text for n in (1, 2, 3)) == 1
        assert f"{partner}1." in new.text or rule != "swap_first_halves"


def test_documents_of_one_section_are_spliced_by_sentences():
    before = [document("a", "A1. A2. A3."), document("b", "B1. B2.")]
    after = damage("splice_documents", before)
    assert [[section.text for section in document.sections] for document in after] == [["A1. A2. B2."], ["B1. A3."]]


@pytest.mark.parametrize("rule", ["swap_first_halves", "splice_documents", "drift_topic"])
def test_a_collection_of_one_document_stays(rule):
    before = [document("a", "A1. A2. A3.", "A4.")]
    assert damage(rule, before)[0].id == "a"
    assert sum(len(section.text) for section in damage(rule, before)[0].sections) == len("A1. A2. A3.A4.")


@pytest.mark.parametrize(
    ("tokens", "kept"), [(2, ["One two"]), (4, ["One two three."]), (5, ["One two three.", "Four"]), (9, None)]
)
def test_texts_are_cut_after_tokens(tokens, kept):
    before = document("d", "One two three.", "Four five.")
    after = damage("truncate", before, tokens=tokens)
    assert [section.text for section in after.sections] == (kept or ["One two three.", "Four five."])
