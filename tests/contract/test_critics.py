"""What every critic with a prior promises, tested on documents whose structure is known."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics import CRITICS
from macroscope.critics.critic import SCORES, Evidence, is_empirical, load, options_model
from macroscope.documents import Document, Provenance, write_documents
from macroscope.files import read_json, write_json
from macroscope.reporting.tables import with_adjusted_p_values
from macroscope.statistics.comparison import compare_files
from macroscope.statistics.latent import Resampling

from ..tiny import CRITIC_OPTIONS, simulated_documents, write_encoder

RESAMPLING = Resampling(resamples=200, permutations=199)


class Workbench:
    """One critic, trained on simulated documents, with the scores of three systems."""

    def __init__(self, name, folder):
        self.name, self.folder, self.critic = name, folder, load(name)
        options = CRITIC_OPTIONS[name] | {"encoder": str(write_encoder(folder / "encoder"))}
        self.options = options_model(name)(**options)
        documents = [
            Document(d.id, "valid" if n % 10 == 0 else "train", d.title, d.sections)
            for n, d in enumerate(simulated_documents("process", 220, 1))
        ]
        write_documents(folder / "documents.parquet", documents, Provenance("wiki", options={"language": "en"}))
        for system, order in (("control", "process"), ("process", "process"), ("shuffled", "shuffled")):
            drawn = simulated_documents(order, 80, {"control": 11, "process": 12, "shuffled": 13}[system])
            write_documents(folder / f"{system}.samples.parquet", drawn, Provenance("wiki"))
        self.critic.train(folder / "documents.parquet", folder / "inference", self.options, 1, folder / "checkpoints")
        self.critic.fit_prior(folder / "documents.parquet", folder / "inference", folder / "prior", self.options)
        for system in ("control", "process", "shuffled"):
            self.judge(system)

    def judge(self, system, tag=""):
        latents = self.folder / f"latents/{system}{tag}.parquet"
        scores = self.folder / f"scores/{system}{tag}.parquet"
        samples = self.folder / f"{system}.samples.parquet"
        self.critic.project(samples, self.folder / "inference", latents, self.options)
        self.critic.score(latents, self.folder / "prior", scores, self.options)
        return scores

    def statistics(self):
        tables = []
        for system in ("control", "process", "shuffled"):
            paths = [self.folder / f"scores/{name}.parquet" for name in ("control", system)]
            output = self.folder / f"statistics/{system}.csv"
            compare_files(
                *paths, output, corpus="wiki", system=system, critic=self.name, signature="", resampling=RESAMPLING
            )
            tables.append(pd.read_csv(output, keep_default_na=False, na_values=[""]))
        return with_adjusted_p_values(pd.concat(tables, ignore_index=True))

    def scores(self, system):
        return pd.read_parquet(self.folder / f"scores/{system}.parquet")


@pytest.fixture(scope="module", params=[name for name in CRITICS if not is_empirical(name)])
def bench(request, tmp_path_factory):
    return Workbench(request.param, tmp_path_factory.mktemp(request.param))


def test_scores_have_their_columns_and_a_row_a_document(bench):
    table = bench.scores("control")
    assert list(table["id"]) == [f"simulated-{n:06d}" for n in range(80)]
    assert set(SCORES) <= set(table.columns)
    assert np.isfinite(table["nll"]).all()
    assert (table["units"] > 0).all()
    assert ((table["entropy"] >= 0) | table["entropy"].isna()).all()


def test_same_input_same_bytes(bench):
    again = bench.judge("control", "-again")
    assert again.read_bytes() == (bench.folder / "scores/control.parquet").read_bytes()


def test_real_structure_scores_like_the_control_and_destroyed_structure_worse(bench):
    from macroscope.statistics.latent import Resampling, compare

    resampling = Resampling(resamples=400, permutations=999)
    p = {
        system: compare(bench.scores("control"), bench.scores(system), resampling)
        .set_index("statistic")
        .loc["latent_ppl"]
        for system in ("process", "shuffled")
    }
    assert p["process"]["p_value"] > 0.01
    assert p["shuffled"]["p_value"] == pytest.approx(0.001)
    assert p["shuffled"]["ci_low"] > p["process"]["ci_high"]


def test_divergences_between_categories_tell_shuffled_sections_from_real_ones(bench):
    if "categories" not in bench.scores("control"):
        pytest.skip(f"the latents of {bench.name} are no categories")
    rows = bench.statistics().set_index(["system", "statistic"])
    assert rows.at[("shuffled", "jensen_shannon"), "p_value"] == 0.005  # the least of 199 permutations
    assert rows.at[("process", "jensen_shannon"), "p_value"] > 0.05
    assert rows.at[("shuffled", "jensen_shannon_corrected"), "ci_low"] > 0
    assert ("control", "jensen_shannon") not in rows.index


def test_every_option_is_in_the_signature(bench):
    plain = bench.critic.signature(bench.options)
    for name in type(bench.options).model_fields:
        assert f"{name}:" in plain


def test_evidence_and_report_items(bench):
    for system in ("control", "shuffled"):
        evidence = Evidence(
            system,
            bench.folder / f"{system}.samples.parquet",
            bench.folder / f"latents/{system}.parquet",
            bench.folder / f"scores/{system}.parquet",
            bench.folder / "latents/control.parquet",
            bench.folder / "prior",
        )
        bench.critic.explain(evidence, bench.folder / f"evidence/{system}", bench.options)
    for _ in range(2):  # one corpus after another
        items = bench.critic.report_items(bench.folder, ["control", "shuffled"], bench.statistics(), bench.folder)
    assert len({item.name for item in items}) == len(items)
    for item in items:
        assert (item.table is None) + (item.figure is None) + (item.documents is None) == 2
        if item.figure is not None:
            assert item.figure.read_text().startswith("<?xml")


def test_theory_is_there_for_simulated_systems(bench):
    from macroscope.corpora.simulated.genres import wiki_process

    write_json(bench.folder / "process.json", wiki_process().to_json())
    for order in ("process", "shuffled", "independent"):
        output = bench.folder / f"theory/{order}.json"
        bench.critic.calibrate(bench.folder / "process.json", bench.folder / "prior", order, output, 1)
        assert set(read_json(output)) >= {"latent_ppl", "basis"}
