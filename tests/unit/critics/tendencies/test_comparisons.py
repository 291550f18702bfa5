"""From documents to rows of statistics: blocks, vocabularies, growth."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.tendencies import comparison, growth, latents, projection, vocabulary
from macroscope.critics.tendencies.comparison import split_into_halves
from macroscope.critics.tendencies.latents import align_types, documents_per_block, read_token_counts
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.projection import project
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling

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
    return read_token_counts(folder / f"{name}.parquet")


def random_texts(rng, count, types=300, exponent=1.1, low=30, high=90):
    words = np.array([f"w{n}" for n in range(types)])
    p = 1 / np.arange(1, types + 1) ** exponent
    return [" ".join(rng.choice(words, rng.integers(low, high), p=p / p.sum())) for _ in range(count)]


def test_texts_and_counts_are_those_of_the_documents(tmp_path):
    token_counts = collection(tmp_path, "a", ["The cat, the dog.||A cat.", "1990 the", ""])
    assert token_counts.texts["id"].tolist() == ["d0", "d1", "d2"]
    assert token_counts.texts["tokens"].tolist() == [9, 2, 0]
    assert token_counts.texts["stop_words"].tolist() == [3, 1, 0]
    assert token_counts.texts["symbols"].tolist() == [3, 1, 0]
    counts = pd.DataFrame(token_counts.counts.toarray(), columns=token_counts.types)
    assert counts.loc[0, ["the", "cat", "."]].tolist() == [2, 2, 2]
    assert counts.loc[1].sum() == 2
    assert token_counts.counts.shape[0] == 3


@pytest.mark.parametrize(("unit", "tokens"), [("document", [7]), ("section", [5, 2]), ("line", [2, 3, 2])])
def test_units(tmp_path, unit, tokens):
    token_counts = collection(
        tmp_path, "a", ["one two\nthree four five||six seven"], options=TendenciesOptions(unit=unit)
    )
    assert token_counts.texts["tokens"].tolist() == tokens


def test_the_language_is_the_corpus_s_unless_the_options_name_another(tmp_path):
    path = write(tmp_path / "documents", ["le chat", "the cat"])
    stop_words = {}
    for language, option in (("en", None), ("fr", None), ("en", "fr")):
        output = tmp_path / "latents.parquet"
        project(Collection(path), language=language, options=TendenciesOptions(language=option), output=output)
        stop_words[language, option] = read_token_counts(output).texts["stop_words"].tolist()
    assert stop_words["en", None] == [0, 1]
    assert stop_words["fr", None] == stop_words["en", "fr"] == [1, 0]


@pytest.mark.slow
def test_worker_processes_change_nothing(tmp_path, monkeypatch):
    texts = random_texts(np.random.default_rng(0), 600)
    results = []
    for cores in (1, 2):
        monkeypatch.setattr(projection, "usable_cores", lambda cores=cores: cores)
        results.append(collection(tmp_path, str(cores), texts))
    serial, parallel = results
    pd.testing.assert_frame_equal(serial.texts, parallel.texts)
    assert (serial.counts != parallel.counts).nnz == 0


def test_blocks_are_bounded_and_merge(tmp_path, monkeypatch):
    assert [documents_per_block(n) for n in (0, 1, 1024, 1025, 10**6)] == [1, 1, 1, 2, 1024]
    texts = random_texts(np.random.default_rng(0), 50)
    fine = collection(tmp_path, "fine", texts)
    monkeypatch.setattr(latents, "MAX_BLOCKS", 13)
    coarse = collection(tmp_path, "coarse", texts)
    assert (fine.documents_per_block, coarse.documents_per_block) == (1, 4)
    a, b = align_types(fine.merged(4), coarse)
    assert (a != b).nnz == 0
    assert fine.merged(4).texts["block"].tolist() == coarse.texts["block"].tolist()


def test_tokens_count_in_the_first_text_of_each_prompt(tmp_path, monkeypatch):
    monkeypatch.setattr(latents, "MAX_BLOCKS", 2)
    monkeypatch.setattr("macroscope.statistics.document_groups.FEWEST_PROMPTS", 1)
    ids = ["a", "a (sample 2)", "a (sample 3)", "b", "b (sample 2)", "b (sample 3)", "c (sample 2)", "c"]
    documents = [Document(name, "test", None, (Section(None, f"{name[0]} x{n}"),)) for n, name in enumerate(ids)]
    path = tmp_path / "documents.parquet"
    write_documents(path, documents, Provenance("c"))
    project(Collection(path), language="en", options=OPTIONS, output=tmp_path / "all.parquet")
    counts = read_token_counts(tmp_path / "all.parquet")
    assert counts.texts["id"].tolist() == ["a", "b", "c (sample 2)"]
    assert counts.texts["block"].tolist() == [0, 0, 1]
    counts_by_type = {
        name: counts.counts[:, number].toarray().ravel().tolist() for number, name in enumerate(counts.types)
    }
    assert counts_by_type == {"a": [1, 0], "x0": [1, 0], "b": [1, 0], "x3": [1, 0], "c": [0, 1], "x6": [0, 1]}


def by_name(estimates):
    return {estimate.statistic: estimate for estimate in estimates}


@pytest.mark.slow
def test_vocabulary_rows_of_known_counts(tmp_path):
    rng = np.random.default_rng(1)
    a = collection(tmp_path, "a", random_texts(rng, 40))
    b = collection(tmp_path, "b", random_texts(rng, 40))
    reference, candidate = align_types(a, b)
    alone = by_name(vocabulary.collection_rows(candidate, OPTIONS, 0.95, 1))
    assert alone["vocabulary_size"].value == len(b.types)
    rows, null = vocabulary.comparison_rows(reference, candidate, OPTIONS, 0.95, 1)
    values = by_name(rows)
    law_tests = {"zipf_d_reference"}
    untested = {"vocabulary_tokens_compared", "vocabulary_size_compared", "tvd_sup_common"}
    assert values["tvd_sup_common"].value == pytest.approx(values["tvd_sup"].value)  # of 300 types each is common
    assert all(estimate.p_value > 0.01 for name, estimate in values.items() if name not in law_tests | untested)
    assert all(np.isnan(values[name].p_value) for name in untested)
    assert len(null["tvd_sup"]) == OPTIONS.count_permutations
    for name, estimate in values.items():
        holds = estimate.ci_low <= estimate.value <= estimate.ci_high
        without = ("vocabulary_tokens_compared", "tvd_sup_common")
        assert holds or name.startswith("zipf_d") or name in without, name


def test_only_the_most_common_words_of_either_side_count(monkeypatch):
    """Distributions are truncated to the union of the first ranks (meister2021, footnote 15)."""
    monkeypatch.setattr(vocabulary, "COMMON", 2)
    p, q = np.array([6.0, 4, 1, 0]), np.array([1.0, 0, 3, 8])  # the first two of p: 0 and 1; of q: 3 and 2
    assert vocabulary.largest_common_difference(p, q) == pytest.approx(8 / 12)
    p, q = np.array([6.0, 4, 1, 9]), np.array([5.0, 5, 4, 0])
    assert vocabulary.largest_common_difference(p, q) == pytest.approx(abs(9 / 19 - 0))


def test_the_published_test_of_means_is_algorithm_1(tmp_path):
    """Its p-value is the share of all exchanges, here of paired texts, whose difference in means is as large."""
    lengths = [2, 3, 3, 9], [4, 8, 8, 9]
    sides = [
        collection(tmp_path, str(n), [" ".join(["w"] * size) for size in sizes]) for n, sizes in enumerate(lengths)
    ]
    options = OPTIONS.model_copy(update={"convention": "published"})
    rows = comparison.compare(*sides, options, Resampling(50, 99)).rows.set_index("statistic")
    differences = np.subtract(lengths[1], lengths[0])
    null = np.array([np.mean(signs * differences) for signs in itertools.product([-1, 1], repeat=4)])
    observed = rows.loc["length_mean_difference"]
    assert observed["value"] == 3.0
    assert observed["p_value"] == pytest.approx(np.mean(abs(null) >= 3.0 - 1e-9))
    assert np.isnan(observed["ci_low"])


@pytest.mark.slow
def test_a_cut_vocabulary_is_found(tmp_path):
    rng = np.random.default_rng(2)
    a = collection(tmp_path, "a", random_texts(rng, 40))
    b = collection(tmp_path, "b", random_texts(rng, 40, types=60))
    rows, _ = vocabulary.comparison_rows(*align_types(a, b), OPTIONS, 0.95, 1)
    p = {estimate.statistic: estimate.p_value for estimate in rows}
    assert p["vocabulary_size_difference"] == p["tvd_half_l1"] == p["zipf_d_empirical"] == 0.005


@pytest.mark.slow
def test_growth_rows(tmp_path):
    rng = np.random.default_rng(3)
    a = collection(tmp_path, "a", random_texts(rng, 120)).texts
    b = collection(tmp_path, "b", random_texts(rng, 120)).texts
    c = collection(tmp_path, "c", random_texts(rng, 120, types=25)).texts
    for prefix in growth.TYPES:
        alone = by_name(growth.collection_rows(a, prefix, OPTIONS, 0.95, 1))
        beta = alone[f"{prefix}_beta"]
        assert beta.ci_low < beta.value < beta.ci_high
        same = by_name(growth.comparison_rows(a, b, prefix, OPTIONS, 0.95, 1))
        different = by_name(growth.comparison_rows(a, c, prefix, OPTIONS, 0.95, 1))
        assert same[f"{prefix}_d_empirical"].p_value > 0.01
        assert different[f"{prefix}_d_empirical"].p_value == 0.005
    table = growth.curve(a, b, "heaps", OPTIONS, 1)
    assert table["texts"].sum() == 118  # two texts have lengths that no other four have
    assert table["d_empirical"].notna().any()
    assert (table["p_adjusted"].dropna() >= table["p_empirical"].dropna()).all()


@pytest.mark.slow
@pytest.mark.parametrize("texts", [[""], ["word"], ["same same same"], ["", "", "a"]])
def test_poor_collections_have_defined_results(tmp_path, texts):
    a = collection(tmp_path, "a", random_texts(np.random.default_rng(4), 12))
    b = collection(tmp_path, "b", texts)
    for first, second in ((a, b), (b, a), (b, b)):
        reference, candidate = align_types(first, second)
        vocabulary.collection_rows(candidate, OPTIONS, 0.95, 1)
        rows, _ = vocabulary.comparison_rows(reference, candidate, OPTIONS, 0.95, 1)
        for prefix in growth.TYPES:
            growth.collection_rows(second.texts, prefix, OPTIONS, 0.95, 1)
            rows += growth.comparison_rows(first.texts, second.texts, prefix, OPTIONS, 0.95, 1)
        for estimate in rows:
            assert np.isnan(estimate.value) or np.isnan(estimate.p_value) or 0 < estimate.p_value <= 1


def test_missing_and_foreign_latents_are_reported(tmp_path):
    with pytest.raises(MacroscopeError, match="no such file of latents"):
        read_token_counts(tmp_path / "none.parquet")
    with pytest.raises(MacroscopeError, match="no column 'opening', so these are not latents of this critic"):
        read_token_counts(write(tmp_path / "documents.parquet", ["words"]))


def test_blocks_are_paired_if_their_documents_are(tmp_path):
    """Three blocks of two documents each; the second collection has the same openings, in another order of blocks."""
    rng = np.random.default_rng(0)
    openings = [f"prompt {n} of eight words and no more" for n in range(6)]

    def written(name, order):
        texts = [f"{openings[n]} {text}" for n, text in zip(order, random_texts(rng, len(order)), strict=True)]
        documents = [Document(f"{name}{n}", "test", None, (Section(None, text),)) for n, text in enumerate(texts)]
        path = tmp_path / f"{name}.documents"
        write_documents(path, documents, Provenance("test"))
        project(Collection(path), language="en", options=OPTIONS, output=tmp_path / name)
        return read_token_counts(tmp_path / name).merged(2)

    first, second = written("a", range(6)), written("b", [4, 5, 2, 3, 0, 1])
    groups = comparison.build_block_permutation(first, second).groups
    assert groups[:3].tolist() == groups[3:][::-1].tolist()
    assert len(set(groups)) == 3
    assert comparison.build_block_permutation(first, written("c", [0, 2])).groups.tolist() == [1, 1, 0, 1]
    assert not comparison.build_block_permutation(*split_into_halves(first)).is_paired


def test_several_texts_of_a_document_count_as_one_document(tmp_path):
    """All lines of a document have equal lengths: forty lines are four documents, too few for a significant test."""
    options = OPTIONS.model_copy(update={"unit": "line"})
    texts = {"a": ["\n".join(["w " * n] * 10) for n in (9, 9, 9, 9)], "b": ["\n".join(["w " * n] * 10) for n in (5, 5)]}
    sides = []
    for name, lines in texts.items():
        documents = [Document(f"{name}{n}", "test", None, (Section(None, t),)) for n, t in enumerate(lines)]
        path = tmp_path / f"{name}.documents"
        write_documents(path, documents, Provenance("test"))
        project(Collection(path), language="en", options=options, output=tmp_path / name)
        sides.append(read_token_counts(tmp_path / name))
    assert len(sides[0].texts) == 40
    rows = comparison.compare(*sides, options, Resampling(200, 199)).rows.set_index("statistic")
    assert rows.loc["length_mean_difference", ["n_reference", "n_candidate"]].tolist() == [4, 2]
    assert rows.loc["length_mean_difference", "value"] == pytest.approx(-4)
    assert rows.loc["length_mean_difference", "p_value"] == pytest.approx(1 / 15)
    assert rows.loc["tvd_sup", "n_reference"] == 4


def test_the_share_of_stop_words_is_undefined_without_a_list(tmp_path):
    rng = np.random.default_rng(1)
    options = OPTIONS.model_copy(update={"language": "ta"})
    sides = [collection(tmp_path, name, random_texts(rng, 30), options) for name in "ab"]
    rows = comparison.compare(*sides, options, Resampling(200, 199)).rows.set_index("statistic")
    of_stop_words = rows[rows.index.str.startswith("stop_word")]
    assert len(of_stop_words)
    assert of_stop_words[["value", "ci_low", "p_value"]].isna().all(axis=None)
    assert rows.loc[["length_mean_difference", "symbol_share_mean_difference"], "value"].notna().all()
    assert latents.read_document_features(tmp_path / "a.parquet", None).numbers.shape == (30, len(latents.PER_TEXT))


def test_without_the_rare_words_of_the_reference_the_distance_that_needs_them_is_missing(tmp_path):
    rng = np.random.default_rng(3)
    real, mine = (collection(tmp_path, name, random_texts(rng, 30)) for name in ("real", "mine"))
    is_rare = (real.counts > 0).sum(axis=0).A1 < 3
    private = replace(real, types=real.types.where(~is_rare, "rare:" + real.types))
    resampling = Resampling(100, 199, 0.95, 1)
    rows = [comparison.compare(each, mine, OPTIONS, resampling).rows.set_index("statistic") for each in (real, private)]
    assert 0 < is_rare.sum() < len(is_rare)
    assert np.isfinite(rows[0].loc["tvd_half_l1", "value"])
    assert np.isnan(rows[1].loc["tvd_half_l1", "value"])
    assert rows[1].loc["tvd_half_l1", "reason"] == "the kept reference is without its rare words"
    others = [name for name in rows[0].index if name.startswith(("length", "tvd_sup", "heaps", "vocabulary_size_d"))]
    values = [table.loc[others, "value"].to_numpy() for table in rows]
    np.testing.assert_array_equal(*values)
