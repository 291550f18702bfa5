"""Edge cases of collections: a defined number, or NaN with its reason; never a crash."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import difference_tests
from macroscope.critics.findings import Findings
from macroscope.critics.tendencies.comparison import compare_latents
from macroscope.critics.tendencies.figures import _plot_distances, plot, plot_panels
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.projection import project
from macroscope.critics.tendencies.report import _format_cell_with_test, _words, items
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.options import CONTROL, Resampling
from macroscope.plotting import save
from macroscope.reporting.tables import with_adjusted_p_values
from macroscope.statistics.tidy import write_statistics

OPTIONS = TendenciesOptions(simulations=20, count_permutations=99, min_texts_per_length=2)
RESAMPLING = Resampling(resamples=100, permutations=100)
REAL = [f"The cat number {n} saw " + "a dog and " * (n % 7) + "the end of it ." for n in range(40)]
ODD = {
    "empty documents": [""] * 5,
    "some empty documents": ["", "", *REAL[:10]],
    "one token each": ["word"] * 6,
    "one type": ["word word word", "word word", "word"] * 3,
    "all equal": [REAL[0]] * 8,
    "lengths never seen": ["so " * 500, "it was " * 400] * 3,
    "one document": [REAL[3]],
}


def latents(folder, name, texts):
    documents = [Document(f"d{n}", "test", None, (Section("x", text),)) for n, text in enumerate(texts)]
    write_documents(folder / f"{name}.documents", documents, Provenance("test"))
    output = folder / f"latents/{name}.parquet"
    project(Collection(folder / f"{name}.documents"), language="en", options=OPTIONS, output=output)
    return output


def compared(folder, system, control, candidate):
    """Write the evidence, and return the tidy statistics of a system as the report reads them."""
    evidence = folder / "evidence" / system
    texts = Collection(candidate.parent.parent / f"{candidate.stem}.documents")
    table = compare_latents(texts, control, candidate, options=OPTIONS, resampling=RESAMPLING, evidence=evidence)
    about = {"corpus": "corpus", "system": system, "critic": "tendencies"}
    output = folder / f"{system}.csv"
    write_statistics(table, output, **about, resampling=RESAMPLING, signature="")
    return pd.read_csv(output, keep_default_na=False, na_values=[""])


@pytest.fixture(scope="module")
def beside_real(tmp_path_factory):
    """Return a folder with evidence of real text and of all odd collections, and their statistics by system."""
    folder = tmp_path_factory.mktemp("candidates")
    reference = latents(folder, CONTROL, REAL)
    candidates = {odd: latents(folder, odd, texts) for odd, texts in ODD.items()}
    return folder, {
        name: compared(folder, name, reference, path) for name, path in ({CONTROL: reference} | candidates).items()
    }


def check(folder, tables):
    """Check that every number or its reason is in the statistics, and that all figures and tables are made of them."""
    table = with_adjusted_p_values(pd.concat(tables.values(), ignore_index=True))
    is_undefined = table["value"].isna()
    assert table.loc[is_undefined, "reason"].notna().all()
    assert table.loc[~is_undefined, "reason"].isna().all()
    assert table.loc[is_undefined, "p_value"].isna().all()
    findings = Findings("tendencies", "corpus", folder, list(tables), table, OPTIONS, 0.95, folder / "figures")
    plot(findings)
    for item in items(findings):
        assert item.table is not None or item.figure.exists()


@pytest.mark.slow
def test_every_number_of_odd_candidates_is_there_or_its_reason(beside_real):
    check(*beside_real)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
def test_every_number_beside_an_odd_reference_is_there_or_its_reason(tmp_path, odd):
    control, mine = latents(tmp_path, CONTROL, ODD[odd]), latents(tmp_path, "mine", REAL[5:25])
    check(
        tmp_path, {name: compared(tmp_path, name, control, path) for name, path in ((CONTROL, control), ("mine", mine))}
    )


@pytest.mark.slow
def test_expected_numbers_of_odd_collections(beside_real):
    rows = {odd: table.set_index("statistic") for odd, table in beside_real[1].items()}
    assert rows["empty documents"].at["length_mean", "value"] == 0
    assert rows["empty documents"].at["zipf_s", "reason"] == "no text has a token"
    assert rows["some empty documents"].at["length_mean", "n_candidate"] == 12
    assert rows["some empty documents"].at["stop_word_share_mean", "n_candidate"] == 10
    assert rows["one type"].at["zipf_s", "reason"].startswith("fewer than two types")
    assert rows["one type"].at["vocabulary_size", "value"] == 1
    assert rows["all equal"].at["heaps_beta", "reason"] == "fewer than two different lengths"
    assert rows["lengths never seen"].at["heaps_d_empirical", "reason"] == "no length with 2 texts in both collections"
    assert rows["lengths never seen"].at["length_ks", "value"] == 1
    assert rows["one document"].at["length_mean_difference", "n_candidate"] == 1


@pytest.mark.slow
def test_too_few_documents_for_any_significant_test_have_no_verdict(tmp_path):
    control = latents(tmp_path, "control", REAL[:10])
    few = {count: latents(tmp_path, f"few{count}", REAL[20 : 20 + count]) for count in (1, 3)}
    tables = {count: compared(tmp_path, f"few{count}", control, path) for count, path in few.items()}
    tests = [difference_tests(critics()["tendencies"], tables[count]) for count in (1, 3)]
    assert list(map(len, tests)) == [0, 19]


@pytest.mark.slow
def test_figures_note_that_no_length_occurs_twice(tmp_path):
    texts = ["word " * length for length in (10, 100, 1000)]
    control, mine = latents(tmp_path, "control", texts), latents(tmp_path, "mine", [text * 3 for text in texts])
    tables = [compared(tmp_path, name, control, path) for name, path in (("control", control), ("mine", mine))]
    statistics = with_adjusted_p_values(pd.concat(tables, ignore_index=True))
    plot(Findings("tendencies", "corpus", tmp_path, ["control", "mine"], statistics, OPTIONS, 0.95, tmp_path))
    assert "no length has" in (tmp_path / "tendencies_heaps_distances_corpus.svg").read_text()


def test_only_differences_to_real_text_have_stars():
    row = {"value": 1.0, "ci_low": 0.5, "ci_high": 1.5, "p_value": 0.01}
    for p, stars in ((0.2, 0), (0.04, 1), (0.004, 2)):
        shown = _format_cell_with_test(pd.Series({**row, "p_adjusted": p}), "length_mean_difference", 1)
        assert shown == "1.0 [0.5, 1.5]" + (" " + "*" * stars if stars else "")
    for law in ("zipf_d_own", "heaps_bigram_d_reference"):
        assert _format_cell_with_test(pd.Series({**row, "p_adjusted": np.nan}), law, 1) == "1.0 [0.5, 1.5], p = 0.01"


def test_the_word_of_the_largest_difference_comes_first(tmp_path):
    words = pd.DataFrame(
        [("the", 0.1, 0.37, -0.27), ("was", 0.2, 0.01, 0.19), ("a", 0.1, 0.05, 0.05)],
        columns=["word", "candidate_share", "reference_share", "difference"],
    )
    (tmp_path / "evidence/mine").mkdir(parents=True)
    words.to_csv(tmp_path / "evidence/mine/words.csv", index=False)
    findings = Findings("tendencies", "corpus", tmp_path, ["control", "mine"], words, OPTIONS, 0.95, tmp_path)
    table = _words(findings)
    assert table["words"].str.split(" ").str[0].tolist() == ["the", "was"]
    assert table["how often"].tolist() == ["less often", "more often than in real text"]


@pytest.mark.slow
def test_a_system_without_lengths_beside_one_without_distances(tmp_path):
    """One system has too few texts of any length, the other only texts of a length without real texts."""
    numbers = ["d_own", "d_reference", "d_empirical", "p_empirical", "p_adjusted"]
    none = pd.DataFrame(columns=["mean_tokens", *numbers], dtype=float)
    far = pd.DataFrame([[52.0, *[np.nan] * 5]], columns=none.columns)
    real = pd.DataFrame([[2.0, np.nan, np.nan, 0.0, 1.0, 1.0]], columns=none.columns)
    figure = plot_panels({"control": real, "few": none, "long": far}, _plot_distances, "tokens", "distance")
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert notes == ["no length has enough\ntexts of the system", "no distance is defined\nat any length"]
    save(figure, tmp_path / "distances")
