"""Edits of modules: the rules whose code contains each module, by the closure of imports that their fingerprint hashes.

`tests/workflow/test_rerun.py` shows that a changed fingerprint runs a rule, and what reads its outputs.
"""

from types import SimpleNamespace

import pytest

from macroscope.files import REPOSITORY
from macroscope.fingerprint import closure
from macroscope.plan import load_plan
from macroscope.strict_yaml import read_yaml

PAGES = {"write_report", "write_reader"}
TABLES = {"make_tables", "plot_figures", "write_report"}
CRITICS_WITH_PRIOR = ("coherence", "coreference", "languages", "narrative", "synthetic", "topics")
RULES = {
    "critics.coherence.explanation": {"explain_coherence"},
    "critics.coherence.transitions": {"explain_coherence"},
    "critics.coherence.projection": {"project_coherence"},
    "critics.coherence.prior": {
        "fit_prior_coherence",
        "score_coherence",
        "explain_coherence",
        "attribute_coherence",
        "known_truth_coherence",
        *TABLES,
    },
    "critics.clusters.embeddings": {"project_clusters", "embed_corpus", "probe_clusters"},
    "critics.clusters.scores": {"compare_clusters"},
    "critics.clusters.probing": {"embed_corpus", "probe_clusters"},
    "critics.strings.attribution": {"attribute_strings"},
    "critics.strings.cross_fitting": {"compare_strings"},
    "critics.tendencies.features": {"project_tendencies", "embed_corpus", "probe_clusters"},
    "critics.tendencies.growth": {"compare_tendencies", *TABLES},
    "critics.tendencies.figures": TABLES,
    "systems.language_model.sampler": {"sample", "gather_samples", "measure_log_probabilities"},
    "statistics.p_values": {
        "explain_coherence",
        *(f"compare_{critic}" for critic in ("languages", "narrative", "tendencies", "topics")),
        *(f"compare_scores_{critic}" for critic in CRITICS_WITH_PRIOR),  # further numbers of documents
        *TABLES,
        "write_reader",  # flags
    },
    "reporting.latex": {"make_tables", "write_report"},
    "reporting.human_figure": {"plot_figures"},
    "reporting.reader.index": PAGES,
    "reporting.reader.writing": {"write_reader"},
    "errors": set(),
    "progress": set(),
}
"""Module -> the rules that run again after it was edited."""


@pytest.fixture(scope="module")
def modules():
    """Return rule -> all modules that it computes with."""
    plan = load_plan(read_yaml(REPOSITORY / "config.yaml"))
    wildcards = SimpleNamespace(corpus="wiki", system="lm-titles")
    run = {job.name: job.modules(wildcards) if callable(job.modules) else job.modules for job in plan.jobs()}
    outputs = {"make_tables": "tables", "plot_figures": "figures", "write_report": "report"}
    run |= {rule: plan.reporting.modules(output) for rule, output in outputs.items()}
    run["write_reader"] = ["macroscope.reporting.reader.writing"]
    return {rule: closure(tuple(sorted(set(names)))) for rule, names in run.items()}


@pytest.mark.parametrize("module", RULES)
def test_an_edit_runs_the_rules_that_compute_with_the_module(modules, module):
    assert {rule for rule, names in modules.items() if f"macroscope.{module}" in names} == RULES[module]


def test_every_comparison_writes_its_statistics(modules):
    writers = {rule for rule, names in modules.items() if "macroscope.statistics.tidy" in names}
    assert {rule for rule in modules if rule.startswith(("compare_", "two_sample_test_"))} <= writers
    assert not {rule for rule in writers if rule.startswith(("project_", "score_"))}


def test_every_projection_reads_documents(modules):
    readers = {rule for rule, names in modules.items() if "macroscope.documents" in names}
    assert {rule for rule in modules if rule.startswith("project_")} <= readers
