"""The table of data sources, from the metadata of documents and samples."""

from types import SimpleNamespace

import pytest

from macroscope.documents import Provenance
from macroscope.reporting.tables import data_sources_table

RETRIEVED = {"name": "wikipedia", "retrieved_as": "enwiki", "version": "1", "licence": "CC BY-SA", "citation": "W"}


class Results:
    """The part of a run's results that the table needs."""

    def __init__(self, corpora, samples, simulated=()):
        self._corpora, self._samples = corpora, samples
        kinds = {name: "wiki" if name in simulated else None for name in corpora}
        options = {name: SimpleNamespace(kind_of_process=kind) for name, kind in kinds.items()}
        self.config, self.contents = SimpleNamespace(corpora=options), SimpleNamespace(corpora=list(corpora))

    def corpus_provenance(self, corpus):
        return Provenance(corpus, {"parts": self._corpora[corpus]})

    def samples(self):
        for (corpus, system), source in self._samples.items():
            yield corpus, system, Provenance(corpus, {"system": system} | source)


def rows(*arguments, **more):
    table = data_sources_table(Results(*arguments, **more))
    return list(table[["corpus", "system", "origin", "version", "licence"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("parts", [1, 3])
def test_parts_of_one_data_set_are_one_row(parts):
    assert rows({"wiki": [RETRIEVED] * parts}, {}) == [("wiki", "", "enwiki", "1", "CC BY-SA")]


def test_a_users_file_has_no_licence_and_a_simulated_corpus_no_row():
    corpora = {"mine": [{"name": "files", "file": "a.jsonl"}], "made": [{"name": "simulated", "file": "x.xml"}]}
    assert rows(corpora, {}, simulated=["made"]) == [("mine", "", "a.jsonl", "", "")]


def test_systems_of_files_and_data_sets():
    samples = {
        ("mine", "uploaded"): {"files": ["b.jsonl", "c.jsonl"]},
        ("mine", "hub"): {"folder": "train", "retrieved_as": "o/n", "version": "f" * 40, "licence": ["mit", "cc0"]},
        ("mine", "published"): {"files": ["d"], "parts": [RETRIEVED]},
        ("mine", "lm"): {"decoding": {}},
    }
    assert rows({}, samples) == [
        ("mine", "uploaded", "b.jsonl", "", ""),
        ("mine", "uploaded", "c.jsonl", "", ""),
        ("mine", "hub", "o/n", "f" * 40, "mit, cc0"),
        ("mine", "published", "enwiki", "1", "CC BY-SA"),
    ]
