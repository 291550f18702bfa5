"""Odd collections: a defined number, or NaN with its reason; never a crash."""

import pandas as pd
import pytest

from macroscope.critics.findings import Findings
from macroscope.critics.tendencies.comparison import compare_latents
from macroscope.critics.tendencies.figures import draw
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.projection import project
from macroscope.critics.tendencies.report import items
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.reporting.adjustment import with_adjusted_p_values
from macroscope.statistics.latent import Resampling
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
    """Tidy statistics of a system, as the report reads them; the evidence lies beside."""
    evidence = folder / "evidence" / system
    table = compare_latents(control, candidate, options=OPTIONS, resampling=RESAMPLING, evidence=evidence)
    about = {"corpus": "corpus", "system": system, "critic": "tendencies"}
    output = folder / f"{system}.csv"
    write_statistics(table, output, **about, resampling=RESAMPLING, signature="")
    return pd.read_csv(output, keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("odd_side", ["candidate", "reference"])
@pytest.mark.parametrize("odd", ODD)
def test_every_number_is_there_or_its_reason(tmp_path, odd, odd_side):
    sides = {"reference": REAL, "candidate": REAL[5:25], odd_side: ODD[odd]}
    paths = {side: latents(tmp_path, side, texts) for side, texts in sides.items()}
    tables = [
        compared(tmp_path, system, paths["reference"], candidate)
        for system, candidate in (("control", paths["reference"]), ("mine", paths["candidate"]))
    ]
    table = with_adjusted_p_values(pd.concat(tables, ignore_index=True))
    unknown = table["value"].isna()
    assert table.loc[unknown, "reason"].notna().all()
    assert table.loc[~unknown, "reason"].isna().all()
    assert table.loc[unknown, "p_value"].isna().all()
    figures = tmp_path / "figures"
    findings = Findings("tendencies", "corpus", tmp_path, ["control", "mine"], table, OPTIONS, 0.95, figures)
    draw(findings)
    for item in items(findings):
        assert item.table is not None or item.figure.exists()


def test_what_is_known_of_odd_collections(tmp_path):
    reference = latents(tmp_path, "reference", REAL)
    rows = {
        odd: compared(tmp_path, odd, reference, latents(tmp_path, odd, texts)).set_index("statistic")
        for odd, texts in ODD.items()
    }
    assert rows["empty documents"].at["length_mean", "value"] == 0
    assert rows["empty documents"].at["zipf_s", "reason"] == "no text has a token"
    assert rows["some empty documents"].at["length_mean", "n_candidate"] == 12
    assert rows["some empty documents"].at["stop_word_share_mean", "n_candidate"] == 10
    assert rows["one type"].at["zipf_s", "reason"] == "fewer than two types"
    assert rows["one type"].at["vocabulary_size", "value"] == 1
    assert rows["all equal"].at["heaps_beta", "reason"] == "fewer than two different lengths"
    assert rows["lengths never seen"].at["heaps_d_empirical", "reason"] == "no length with 2 texts on both sides"
    assert rows["lengths never seen"].at["length_ks", "value"] == 1
    assert rows["one document"].at["length_mean_difference", "n_candidate"] == 1
