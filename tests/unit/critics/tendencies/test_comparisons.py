"""From documents to rows of statistics: blocks, vocabularies, growth."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.tendencies import comparison, growth, latents, projection, vocabulary
from macroscope.critics.tendencies.comparison import halves
from macroscope.critics.tendencies.latents import documents_per_block, on_common_types, read_counted
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.projection import project
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.statistics.latent import Resampling

OPTIONS = TendenciesOptions(simulations=39, count_permutations=199, min_texts_per_length=5)


def write(path, texts):
    documents = [
        Document(f"d{n}", "test", None, tuple(Section("x", part) for part in text.split("||")))
        for n, text in enumerate(texts)
    ]
    write_documents(path, documents, Provenance("test"))
    return path


def collection(folder, name, texts, options=OPTIONS):
    documents = Collection(write(folder / f"{name}.documents", texts))
    project(documents, language="en", options=options, output=folder / f"{name}.parquet")
    return read_counted(folder / f"{name}.parquet")


def random_texts(rng, count, types=300, exponent=1.1, low=30, high=90):
    words = np.array([f"w{n}" for n in range(types)])
    p = 1 / np.arange(1, types + 1) ** exponent
    return [" ".join(rng.choice(words, rng.integers(low, high), p=p / p.sum())) for _ in range(count)]


def test_texts_and_counts_are_those_of_the_documents(tmp_path):
    found = collection(tmp_path, "a", ["The cat, the dog.||A cat.", "1990 the", ""])
    assert found.texts["id"].tolist() == ["d0", "d1", "d2"]
    assert found.texts["tokens"].tolist() == [9, 2, 0]
    assert found.texts["stop_words"].tolist() == [3, 1, 0]
    assert found.texts["symbols"].tolist() == [3, 1, 0]
    counts = pd.DataFrame(found.counts.toarray(), columns=found.types)
    assert counts.loc[0, ["the", "cat", "."]].tolist() == [2, 2, 2]
    assert counts.loc[1].sum() == 2
    assert found.counts.shape[0] == 3


@pytest.mark.parametrize(("unit", "tokens"), [("document", [7]), ("section", [5, 2]), ("line", [2, 3, 2])])
def test_units(tmp_path, unit, tokens):
    found = collection(tmp_path, "a", ["one two\nthree four five||six seven"], options=TendenciesOptions(unit=unit))
    assert found.texts["tokens"].tolist() == tokens


def test_the_language_is_the_corpus_s_unless_the_options_name_another(tmp_path):
    path = write(tmp_path / "documents", ["le chat", "the cat"])
    found = {}
    for language, told in (("en", None), ("fr", None), ("en", "fr")):
        output = tmp_path / "latents.parquet"
        project(Collection(path), language=language, options=TendenciesOptions(language=told), output=output)
        found[language, told] = read_counted(output).texts["stop_words"].tolist()
    assert found["en", None] == [0, 1]
    assert found["fr", None] == found["en", "fr"] == [0, 0]  # there is no list of French ones


def test_worker_processes_change_nothing(tmp_path, monkeypatch):
    texts = random_texts(np.random.default_rng(0), 600)
    found = []
    for cores in (1, 2):
        monkeypatch.setattr(projection, "usable_cores", lambda cores=cores: cores)
        found.append(collection(tmp_path, str(cores), texts))
    one, two = found
    pd.testing.assert_frame_equal(one.texts, two.texts)
    assert (one.counts != two.counts).nnz == 0


def test_blocks_are_bounded_and_merge(tmp_path, monkeypatch):
    assert [documents_per_block(n) for n in (0, 1, 1024, 1025, 10**6)] == [1, 1, 1, 2, 1024]
    texts = random_texts(np.random.default_rng(0), 50)
    fine = collection(tmp_path, "fine", texts)
    monkeypatch.setattr(latents, "MOST_BLOCKS", 13)
    coarse = collection(tmp_path, "coarse", texts)
    assert (fine.documents_per_block, coarse.documents_per_block) == (1, 4)
    a, b = on_common_types(fine.merged(4), coarse)
    assert (a != b).nnz == 0
    assert fine.merged(4).texts["block"].tolist() == coarse.texts["block"].tolist()


def test_vocabulary_rows_of_known_counts(tmp_path):
    rng = np.random.default_rng(1)
    a = collection(tmp_path, "a", random_texts(rng, 40))
    b = collection(tmp_path, "b", random_texts(rng, 40))
    reference, candidate = on_common_types(a, b)
    own = {name: row for name, *row in vocabulary.own_rows(candidate, OPTIONS, 0.95, 1)}
    assert own["vocabulary_size"][0] == len(b.types)
    rows, null = vocabulary.comparison_rows(reference, candidate, OPTIONS, 0.95, 1)
    values = {name: row for name, *row in rows}
    unlike_a_law, of_one_side = {"zipf_d_reference"}, {"vocabulary_tokens_compared", "vocabulary_size_compared"}
    assert all(row[3] > 0.01 for name, row in values.items() if name not in unlike_a_law | of_one_side)
    assert all(np.isnan(values[name][3]) for name in of_one_side)
    assert len(null["tvd_sup"]) == OPTIONS.count_permutations
    for name, (value, low, high, _) in values.items():
        assert low <= value <= high or name.startswith("zipf_d") or name == "vocabulary_tokens_compared", name


def test_a_cut_vocabulary_is_found(tmp_path):
    rng = np.random.default_rng(2)
    a = collection(tmp_path, "a", random_texts(rng, 40))
    b = collection(tmp_path, "b", random_texts(rng, 40, types=60))
    rows, _ = vocabulary.comparison_rows(*on_common_types(a, b), OPTIONS, 0.95, 1)
    p = {name: row[3] for name, *row in rows}
    assert p["vocabulary_size_difference"] == p["tvd_half_l1"] == p["zipf_d_empirical"] == 0.005


def test_growth_rows(tmp_path):
    rng = np.random.default_rng(3)
    a = collection(tmp_path, "a", random_texts(rng, 120)).texts
    b = collection(tmp_path, "b", random_texts(rng, 120)).texts
    c = collection(tmp_path, "c", random_texts(rng, 120, types=25)).texts
    for prefix in growth.TYPES:
        own = {name: row for name, *row in growth.own_rows(a, prefix, OPTIONS, 0.95, 1)}
        assert own[f"{prefix}_beta"][1] < own[f"{prefix}_beta"][0] < own[f"{prefix}_beta"][2]
        same = {name: row for name, *row in growth.comparison_rows(a, b, prefix, OPTIONS, 0.95, 1)}
        other = {name: row for name, *row in growth.comparison_rows(a, c, prefix, OPTIONS, 0.95, 1)}
        assert same[f"{prefix}_d_empirical"][3] > 0.01
        assert other[f"{prefix}_d_empirical"][3] == 0.005
    table = growth.curve(a, b, "heaps", OPTIONS, 1)
    assert table["texts"].sum() == 118  # two texts have lengths that no other four have
    assert table["d_empirical"].notna().any()
    assert (table["p_adjusted"].dropna() >= table["p_empirical"].dropna()).all()


@pytest.mark.parametrize("texts", [[""], ["word"], ["same same same"], ["", "", "a"]])
def test_poor_collections_have_defined_results(tmp_path, texts):
    a = collection(tmp_path, "a", random_texts(np.random.default_rng(4), 12))
    b = collection(tmp_path, "b", texts)
    for first, second in ((a, b), (b, a), (b, b)):
        reference, candidate = on_common_types(first, second)
        vocabulary.own_rows(candidate, OPTIONS, 0.95, 1)
        rows, _ = vocabulary.comparison_rows(reference, candidate, OPTIONS, 0.95, 1)
        for prefix in growth.TYPES:
            growth.own_rows(second.texts, prefix, OPTIONS, 0.95, 1)
            rows += growth.comparison_rows(first.texts, second.texts, prefix, OPTIONS, 0.95, 1)
        for _, value, *_, p in rows:
            assert np.isnan(value) or np.isnan(p) or 0 < p <= 1


def test_missing_and_foreign_latents_are_one_sentence(tmp_path):
    with pytest.raises(MacroscopeError, match="no such file of latents"):
        read_counted(tmp_path / "none.parquet")
    with pytest.raises(MacroscopeError, match="not latents of the tendencies critic"):
        read_counted(write(tmp_path / "documents.parquet", ["words"]))


def test_blocks_are_partners_where_their_documents_are(tmp_path):
    """Of three blocks of two documents, those of the second side begin as the first's do, in another order."""
    rng = np.random.default_rng(0)
    openings = [f"prompt {n} of eight words and no more" for n in range(6)]

    def written(name, order):
        texts = [f"{openings[n]} {text}" for n, text in zip(order, random_texts(rng, len(order)), strict=True)]
        documents = [Document(f"{name}{n}", "test", None, (Section(None, text),)) for n, text in enumerate(texts)]
        path = tmp_path / f"{name}.documents"
        write_documents(path, documents, Provenance("test"))
        project(Collection(path), language="en", options=OPTIONS, output=tmp_path / name)
        return read_counted(tmp_path / name).merged(2)

    first, second = written("a", range(6)), written("b", [4, 5, 2, 3, 0, 1])
    groups = comparison.permutation_of_blocks(first, second).groups
    assert groups[:3].tolist() == groups[3:][::-1].tolist()
    assert len(set(groups)) == 3
    assert comparison.permutation_of_blocks(first, written("c", [0, 2])).groups.tolist() == [1, 1, 0, 1]
    assert not comparison.permutation_of_blocks(*halves(first)).paired


def test_several_texts_of_a_document_are_one_number_of_it(tmp_path):
    """Lines of a document are as long as each other: forty lines are four documents, and no test finds anything."""
    options = OPTIONS.model_copy(update={"unit": "line"})
    texts = {"a": ["\n".join(["w " * n] * 10) for n in (9, 9, 9, 9)], "b": ["\n".join(["w " * n] * 10) for n in (5, 5)]}
    sides = []
    for name, some in texts.items():
        documents = [Document(f"{name}{n}", "test", None, (Section(None, t),)) for n, t in enumerate(some)]
        path = tmp_path / f"{name}.documents"
        write_documents(path, documents, Provenance("test"))
        project(Collection(path), language="en", options=options, output=tmp_path / name)
        sides.append(read_counted(tmp_path / name))
    assert len(sides[0].texts) == 40
    rows = comparison.compare(*sides, options, Resampling(200, 199)).rows.set_index("statistic")
    assert rows.loc["length_mean_difference", ["n_reference", "n_candidate"]].tolist() == [4, 2]
    assert rows.loc["length_mean_difference", "value"] == pytest.approx(-4)
    assert rows.loc["length_mean_difference", "p_value"] == pytest.approx(1 / 15)
    assert rows.loc["tvd_sup", "n_reference"] == 4
