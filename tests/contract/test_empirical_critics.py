"""What every critic without a prior promises, tested on documents whose structure is known."""

import pandas as pd
import pytest

from macroscope.critics import EMPIRICAL
from macroscope.critics.critic import SPLIT_HALF, Pair, load, options_model
from macroscope.documents import Provenance, write_documents
from macroscope.reporting.tables import with_adjusted_p_values
from macroscope.statistics.latent import COLUMNS, Resampling

from ..tiny import CRITIC_OPTIONS, simulated_documents

RESAMPLING = Resampling(resamples=200, permutations=199)
SYSTEMS = {"control": ("process", 11), "process": ("process", 12)}


class Workbench:
    """One critic, with the statistics of the control and of a system that is just like it."""

    def __init__(self, name, folder):
        self.name, self.folder, self.critic = name, folder, load(name)
        self.options = options_model(name)(**CRITIC_OPTIONS[name])
        for system, (order, seed) in SYSTEMS.items():
            documents = simulated_documents(order, 100, seed)
            write_documents(folder / f"{system}.samples.parquet", documents, Provenance("wiki"))
            self.critic.project(folder / f"{system}.samples.parquet", None, self.latents(system), self.options)
        for system in SYSTEMS:
            self.judge(system)

    def latents(self, system):
        return self.folder / f"latents/{system}.parquet"

    def judge(self, system, tag=""):
        pair = Pair("wiki", system, self.latents("control"), self.latents(system), "signature")
        statistics = self.folder / f"statistics/{system}{tag}.csv"
        self.critic.compare(pair, statistics, self.folder / f"evidence/{system}{tag}", self.options, RESAMPLING)
        return statistics

    def statistics(self):
        return pd.concat([pd.read_csv(self.folder / f"statistics/{system}.csv") for system in SYSTEMS])


@pytest.fixture(scope="module", params=sorted(EMPIRICAL))
def bench(request, tmp_path_factory):
    return Workbench(request.param, tmp_path_factory.mktemp(request.param))


def test_statistics_are_tidy_and_explain_what_is_undefined(bench):
    table = bench.statistics()
    assert list(table.columns) == list(COLUMNS)
    assert (table["value"].notna() | table["reason"].notna()).all()
    bounded = table[table["ci_low"].notna()]
    assert (bounded["ci_low"] <= bounded["value"] + 1e-12).all()
    assert (bounded["value"] <= bounded["ci_high"] + 1e-12).all()
    assert table["p_value"].dropna().between(0, 1).all()


def test_control_stands_with_its_halves(bench):
    systems = set(bench.statistics()["system"])
    assert systems == {"control", "process", SPLIT_HALF}


def test_same_input_same_bytes(bench):
    again = bench.judge("process", "-again")
    assert again.read_bytes() == (bench.folder / "statistics/process.csv").read_bytes()


def test_a_system_like_the_control_does_not_differ(bench):
    table = with_adjusted_p_values(bench.statistics().reset_index(drop=True))
    tests = bench.critic.difference_tests(table)
    assert set(tests["system"]) == {"process", SPLIT_HALF}
    assert (tests["p_adjusted"] > 0.05).all()


def test_every_option_is_in_the_signature(bench):
    plain = bench.critic.signature(bench.options)
    for name in type(bench.options).model_fields:
        assert f"{name}:" in plain


def test_report_items(bench):
    table = with_adjusted_p_values(bench.statistics().reset_index(drop=True))
    figures = bench.folder / "figures"
    bench.critic.overview(bench.folder, ["control", "process"], table, figures)
    for _ in range(2):  # one corpus after another
        items = bench.critic.report_items(bench.folder, ["control", "process"], table, figures)
    assert len({item.name for item in items}) == len(items)
    for item in items:
        assert (item.table is None) + (item.figure is None) + (item.documents is None) == 2
        if item.figure is not None:
            assert item.figure.read_text().startswith("<?xml")
