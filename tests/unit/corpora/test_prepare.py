"""The filters of Appendix E, one by one, with their counts."""

import csv
from collections import Counter
from dataclasses import replace

import pytest

from macroscope.corpora.files import FilesCorpus
from macroscope.corpora.options import Filters, RareTitles
from macroscope.corpora.prepare import prepare
from macroscope.documents import Document, Provenance, Section, read_documents, write_documents
from macroscope.errors import MacroscopeError
from macroscope.readers.splits import assign_split

LONG = "word " * 12


def document(name, titles, split="train", text=LONG):
    return Document(name, split, None, tuple(Section(title, text) for title in titles))


DOCUMENTS = [
    *(document(f"plain-{n}", ["Introduction", "Methods", "Results"]) for n in range(6)),
    document("plain-valid", ["Introduction", "Methods", "Results"], "valid"),
    document("plain-test", ["Introduction", "Methods", "Results"], "test"),
    document("boilerplate", ["Introduction", "Methods", "Results", "References", "See also"]),
    document("few", ["Introduction", "Methods", "References"]),
    document("short", ["Introduction", "Methods", "Results"], text="two words"),
    document("long", ["Introduction", "Methods", "Results"], text="word " * 60),
    document("rare", ["Introduction", "Methods", "Soliloquies"]),
    document("rare-in-test", ["Introduction", "Methods", "Curtain calls"], "test"),
]


def run(tmp_path, documents=DOCUMENTS, **filters):
    defaults = {"min_section_tokens": 5, "max_section_tokens": 50, "rare_titles": RareTitles(min_count=2)}
    options = FilesCorpus(source="files", files=["x"], filters=Filters(**(defaults | filters)))
    write_documents(tmp_path / "part.parquet", documents, Provenance("test"))
    documents = tmp_path / "documents.parquet"
    prepare("test", options, [tmp_path / "part.parquet"], documents)
    with (tmp_path / "filters.csv").open() as stream:
        rows = {row["filter"]: (int(row["kept"]), int(row["dropped"])) for row in csv.DictReader(stream)}
    return list(read_documents(documents)), rows, tmp_path


@pytest.mark.slow
def test_each_filter_drops_its_document(tmp_path):
    kept, rows, _ = run(tmp_path)
    assert [d.id for d in kept] == [d.id for d in DOCUMENTS[:9]]
    assert rows == {
        "section of boilerplate": (41, 3),
        "fewer than 3 sections": (13, 1),
        "a section shorter than 5 tokens": (12, 1),
        "a section longer than 50 tokens": (11, 1),
        "document id that occurred before": (11, 0),
        "a section title that is rare: in fewer than 2 training documents": (9, 2),
    }
    assert [s.title for s in kept[8].sections] == ["introduction", "method", "result"]


@pytest.mark.slow
def test_random_subset_is_exact_and_independent_of_order_and_split(tmp_path):
    documents = [
        document(f"id-{n}", ["Introduction", "Methods", "Results"], assign_split(f"id-{n}", 0.2, 0.3))
        for n in range(1000)
    ]
    kept, rows, _ = run(tmp_path, documents, max_documents=400)
    again, _, _ = run(tmp_path, documents[::-1], max_documents=400)
    assert len(kept) == 400
    assert {d.id for d in kept} == {d.id for d in again}
    assert rows["document not in the random subset"] == (400, 600)
    for split, share in (("test", 0.3), ("valid", 0.2)):
        assert abs(sum(d.split == split for d in kept) / 400 - share) < 4 * (share * (1 - share) / 400) ** 0.5
    everything, _, _ = run(tmp_path, documents, max_documents=5000)
    assert len(everything) == 1000


@pytest.mark.slow
def test_random_subset_of_each_split(tmp_path):
    documents = [
        document(f"id-{n}", ["Introduction", "Methods", "Results"], assign_split(f"id-{n}", 0.2, 0.3))
        for n in range(600)
    ]
    kept, rows, _ = run(tmp_path, documents, max_per_split={"train": 50, "test": 20})
    again, _, _ = run(tmp_path, documents[::-1], max_per_split={"train": 50, "test": 20})
    everything = Counter(d.split for d in documents)
    assert Counter(d.split for d in kept) == {"train": 50, "test": 20, "valid": everything["valid"]}
    assert {d.id for d in kept} == {d.id for d in again}
    assert rows["document not in the random subset"] == (len(kept), 600 - len(kept))


def test_one_kind_of_subset():
    with pytest.raises(ValueError, match="give one of them"):
        Filters(max_documents=3, max_per_split={"train": 2})


@pytest.mark.slow
def test_rare_labels_are_counted_in_training_documents_that_passed_the_earlier_filters(tmp_path):
    def labelled(label, split, n, text=LONG):
        titles = ["Introduction", "Methods", "Results"]
        return [
            replace(document(f"{label}-{split}-{i}-{len(text)}", titles, split, text), label=label) for i in range(n)
        ]

    documents = [
        *labelled("often", "train", 3),
        *labelled("often", "test", 1),
        *labelled("seldom", "train", 2),
        *labelled("seldom", "train", 5, "two words"),  # too short
        *labelled("seldom", "test", 9),
        *labelled(None, "train", 1),
    ]
    kept, rows, _ = run(tmp_path, documents, min_per_label=3)
    assert Counter(d.label for d in kept) == {"often": 4, None: 1}
    assert rows["a label that is rare: of fewer than 3 training documents"] == (5, 11)
    _, rows, _ = run(tmp_path, documents, min_per_label=3, max_documents=2, rare_titles=RareTitles())
    assert rows["document not in the random subset"] == (2, 3)
    with pytest.raises(MacroscopeError, match=r"a label that is rare.*loosen filters\.min_per_label"):
        run(tmp_path, labelled("seldom", "train", 2), min_per_label=3)


def test_no_upper_limit_of_length(tmp_path):
    kept, rows, _ = run(tmp_path, max_section_tokens=None)
    assert "long" in {d.id for d in kept}
    assert not any(name.startswith("a section longer") for name in rows)


def test_rare_titles_may_be_replaced(tmp_path):
    kept, rows, _ = run(tmp_path, rare_titles=RareTitles(min_count=2, instead="other"))
    by_id = {d.id: [s.title for s in d.sections] for d in kept}
    assert by_id["rare"] == by_id["rare-in-test"] == ["introduction", "method", "other"]
    assert rows["a section title that is rare: in fewer than 2 training documents; now 'other'"] == (31, 2)


def test_the_larger_of_share_and_count_applies(tmp_path):
    _, rows, _ = run(tmp_path, rare_titles=RareTitles(min_count=1, min_share=0.5))
    assert rows["a section title that is rare: in fewer than 4 training documents"] == (9, 2)


def test_summary_has_the_columns_of_table_11(tmp_path):
    _, _, folder = run(tmp_path)
    with (folder / "summary.csv").open() as stream:
        rows = {row["split"]: row for row in csv.DictReader(stream)}
    assert rows["train"]["documents"] == "7"
    assert rows["train"]["section_types"] == "3"
    assert float(rows["train"]["median_sections"]) == 3
    assert float(rows["train"]["median_section_tokens"]) == 13  # 12 words and the space at the end


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"min_sections": 9}, r"'fewer than 9 sections' dropped 14 of 14.*loosen filters.min_sections"),
        ({"min_section_tokens": 40, "max_section_tokens": 41}, r"'a section shorter than 40 tokens' dropped 12 of 13"),
        ({"rare_titles": RareTitles(min_count=99)}, r"title that is rare.*loosen filters.rare_titles"),
    ],
)
def test_empty_corpus_names_the_filter_and_the_option(tmp_path, filters, message):
    with pytest.raises(MacroscopeError, match=message):
        run(tmp_path, **filters)


def test_untitled_sections_are_never_rare(tmp_path):
    kept, _, _ = run(tmp_path, [document(f"d{n}", [None, None, None]) for n in range(3)])
    assert len(kept) == 3


def test_labels_pass_every_filter(tmp_path):
    labelled = [replace(d, label=f"label of {d.id}") for d in DOCUMENTS]
    for titles in (RareTitles(min_count=2), RareTitles(min_count=2, instead="other")):
        kept, _, _ = run(tmp_path, labelled, rare_titles=titles, max_documents=9)
        assert kept
        assert all(d.label == f"label of {d.id}" for d in kept)


def test_splits_depend_on_the_id_alone_and_have_the_right_shares():
    splits = [assign_split(f"document-{n}", 0.1, 0.2) for n in range(20000)]
    assert splits.count("valid") / 20000 == pytest.approx(0.1, abs=0.01)
    assert splits.count("test") / 20000 == pytest.approx(0.2, abs=0.01)
    assert assign_split("document-7", 0.1, 0.2) == splits[7]


@pytest.mark.slow
def test_documents_in_another_language_than_the_corpus_declares_are_said(tmp_path, caplog):
    german = [
        document(f"d{n}", ["Leben", "Werk", "Ehrungen"], "train", f"Er wohnte {n} Jahre lang in einem alten Haus.")
        for n in range(9)
    ]
    run(tmp_path, german)
    warning = "most documents are in German, and are read by the rules of English; set 'language: de'"
    assert warning in caplog.text
    caplog.clear()
    run(tmp_path, DOCUMENTS)
    assert "most documents" not in caplog.text
