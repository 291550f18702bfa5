"""Jobs that run again after a change: exactly those that it affects."""

import os
import re
from collections import Counter
from contextlib import ExitStack, contextmanager

import pytest

REPORT = {"make_tables": 1, "plot_figures": 1, "write_report": 1}
READER = {"write_reader": 1}
CONFIG = {"write_config": 1, **REPORT, **READER}
"""Rules that read the effective config, and the one that writes it."""
PAGES = {"write_report": 1, **READER}
"""What shows single documents: those of systems open their worst ones."""
SCORED = ["score_coherence", "compare_scores_coherence", "explain_coherence", "attribute_coherence"]
JUDGED = ["project_coherence", *SCORED, "project_tendencies", "compare_tendencies", "attribute_tendencies"]
"""What happens to the texts of a system."""
TOLD = {"two_sample_test_coherence": 1, "two_sample_test_tendencies": 1}
"""What happens to all systems together when the texts of one change."""
CLUSTERED = {
    "two_sample_test_clusters": 1,
    "two_sample_test_strings": 1,
    "project_clusters": 1,
    "learn_shared_clusters": 1,
    "compare_clusters": 3,
    "project_strings": 1,
    "compare_strings": 1,
    "attribute_clusters": 3,
    "attribute_strings": 1,
}
"""What happens besides to those of a system that is clustered: all systems share the clustering."""


@contextmanager
def edited(path, change):
    """Edit a file for a while; its old content and time come back."""
    before, times = path.read_text(), path.stat()
    path.write_text(change(before))
    try:
        yield
    finally:
        path.write_text(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def package(run):
    return run.checkout / "workflow" / "macroscope"


def compute(text):
    """Edit a module so that it computes something else."""
    return text + "\nEDITED = 1\n"


def comment(text):
    """Edit a module so that it computes the same: its docstring, and comments at both ends."""
    return "# edited\n" + text.replace('"""', '"""Edited. ', 1) + "\n# edited\n"


def test_second_run_does_nothing(run):
    assert run.pending() == Counter()


def test_changed_candidate_runs_what_depends_on_it(run):
    with edited(run.candidate, lambda text: text.replace("important", "unimportant", 1)):
        assert run.pending() == Counter(
            {"generate_files": 1, **dict.fromkeys(JUDGED, 1), **TOLD, **CLUSTERED, **REPORT, **READER}
        )


def test_changed_human_judgements_run_the_report_alone(run):
    with edited(run.people, lambda text: text.replace("2.5", "3.5")):
        assert run.pending() == Counter(REPORT)


def test_changed_reference_runs_all_but_the_candidates_import(run):
    with edited(run.reference, lambda text: text.replace("important", "unimportant", 1)):
        jobs = run.pending()
    assert "generate_files" not in jobs
    assert jobs["extract_documents"] == jobs["finetune"] == jobs["train_coherence"] == 1
    assert jobs["project_coherence"] == 4


def test_added_system_runs_for_that_system_alone(run):
    run.config["systems"]["another"] = run.config["systems"]["mine"]
    run.save()
    try:
        assert run.pending() == Counter({"generate_files": 1, **dict.fromkeys(JUDGED, 1), **TOLD, **CONFIG})
    finally:
        del run.config["systems"]["another"]
        run.save()


def test_a_changed_config_is_written_again_and_what_reads_it_runs(run):
    """A key that concerns no other job: the report shows the config, and the reader and the tables read it."""
    run.config["mirror"] = "https://mirror.example.org"
    run.save()
    try:
        assert run.pending() == Counter(CONFIG)
    finally:
        del run.config["mirror"]
        run.save()


def test_perturbation_runs_on_the_samples_of_the_other_system(run):
    run.config["systems"]["cut"] = {"kind": "perturbation", "of": "mine", "perturb": ["truncate"]}
    run.save()
    try:
        assert run.pending() == Counter({"generate_perturbation": 1, **dict.fromkeys(JUDGED, 1), **TOLD, **CONFIG})
        with edited(run.candidate, lambda text: text.replace("important", "unimportant", 1)):
            assert run.pending() == Counter(
                {
                    "generate_files": 1,
                    "generate_perturbation": 1,
                    **dict.fromkeys(JUDGED, 2),
                    **TOLD,
                    **CLUSTERED,
                    **CONFIG,
                }
            )
    finally:
        del run.config["systems"]["cut"]
        run.save()


@pytest.mark.parametrize(
    ("module", "jobs"),
    [
        ("critics/coherence/explanation.py", {"explain_coherence": 4, **REPORT}),
        ("critics/coherence/transitions.py", {"explain_coherence": 4, **REPORT}),
        (
            "critics/coherence/projection.py",
            {"project_coherence": 4, **dict.fromkeys(SCORED, 4), "two_sample_test_coherence": 1, **REPORT, **READER},
        ),
        (
            "critics/coherence/prior.py",
            {"fit_prior_coherence": 1, **dict.fromkeys(SCORED, 4), "two_sample_test_coherence": 1, **REPORT, **READER},
        ),
        (
            "systems/language_model/sampler.py",
            {
                "sample": 3,
                "gather_samples": 2,
                "measure_log_probabilities": 1,
                **dict.fromkeys(JUDGED, 2),
                **TOLD,
                **CLUSTERED,
                **REPORT,
                **READER,
            },
        ),
        ("critics/clusters/scores.py", {"compare_clusters": 3, "attribute_clusters": 3, **REPORT, **READER}),
        ("critics/strings/attribution.py", {"attribute_strings": 3, **PAGES}),
        ("reporting/reader/index.py", PAGES),
        ("reporting/reader/writing.py", READER),
        ("critics/clusters/probing.py", {"embed_corpus": 2, "probe_clusters": 1, **REPORT}),
        ("critics/strings/cross_fitting.py", {"compare_strings": 3, **REPORT}),
        (
            "critics/tendencies/features.py",
            {
                **dict.fromkeys(["project_tendencies", "compare_tendencies", "attribute_tendencies"], 4),
                "two_sample_test_tendencies": 1,
                **{"embed_corpus": 2, "probe_clusters": 1},
                **REPORT,
                **READER,
            },
        ),
        ("critics/tendencies/growth.py", {"compare_tendencies": 4, **REPORT}),
        ("critics/tendencies/figures.py", REPORT),
        ("statistics/multiple_testing.py", {"explain_coherence": 4, "compare_tendencies": 4, **REPORT}),
        ("reporting/latex.py", REPORT),
        ("reporting/human_figure.py", {"plot_figures": 1, "write_report": 1}),
    ],
)
def test_edited_module_runs_its_stage_and_what_follows(run, module, jobs):
    with edited(package(run) / module, compute):
        assert run.pending() == Counter(jobs)


def test_edited_documents_are_projected_again(run):
    """A stage is given its documents by what calls it: what a document's text is, is code of every projection."""
    with edited(package(run) / "documents.py", lambda text: text.replace('return "\\n".join(', 'return " ".join(')):
        jobs = run.pending()
    for critic, systems in (("coherence", 4), ("tendencies", 4), ("clusters", 3), ("strings", 3)):
        assert jobs[f"project_{critic}"] == systems, critic


def test_edited_writing_of_statistics_compares_again(run):
    """The caller of a comparison writes its result."""
    with edited(package(run) / "statistics" / "tidy.py", compute):
        jobs = run.pending()
    compared = {"compare_scores_coherence": 4, "compare_tendencies": 4, "compare_clusters": 3, "compare_strings": 3}
    two_sample_tests = {f"two_sample_test_{critic}": 1 for critic in ("coherence", "tendencies", "clusters", "strings")}
    # Statistics hold the significance, too, which the transition graphs show.
    assert jobs == Counter(
        {
            **compared,
            **two_sample_tests,
            "summarise_perplexity_language_model": 1,
            "explain_coherence": 4,
            "attribute_clusters": 3,
            **REPORT,
            **READER,
        }
    )


def test_edited_comparison_of_scores_compares_scores_alone(run):
    with edited(package(run) / "statistics" / "comparison.py", compute):
        assert run.pending() == Counter(
            {"compare_scores_coherence": 4, "summarise_perplexity_language_model": 1, **REPORT}
        )


def test_comments_and_docstrings_of_all_modules_run_nothing(run):
    with ExitStack() as stack:
        for path in package(run).rglob("*.py"):
            stack.enter_context(edited(path, comment))
        assert run.pending() == Counter()


@pytest.mark.parametrize("module", ["progress.py", "errors.py"])
def test_what_people_read_while_a_stage_runs_runs_nothing(run, module):
    with edited(package(run) / module, compute):
        assert run.pending() == Counter()


def test_a_moved_checkout_runs_nothing(run):
    before = run.checkout
    run.checkout = before.rename(before.with_name("moved"))
    try:
        assert run.pending() == Counter()
    finally:
        run.checkout = run.checkout.rename(before)


def test_results_of_older_code_stay_where_they_are_accepted(run, tmp_path):
    copied = run.copied(tmp_path / "work")
    latents = copied.work / "results" / "test" / "critics" / "coherence" / "real" / "latents" / "mine.parquet"
    page, before = copied.work / "results" / "test" / "report.html", latents.stat().st_mtime_ns
    assert "made by older code" not in page.read_text()
    with edited(package(run) / "critics" / "coherence" / "projection.py", compute):
        copied.config["accept_older_code"] = ["project_coherence"]
        copied.save()
        assert copied.pending() == Counter(CONFIG)
        done = copied.snakemake()
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        assert latents.stat().st_mtime_ns == before
        assert re.search("made by older code.*:\n4 of project_coherence[.]", page.read_text())
        assert copied.pending() == Counter()
        del copied.config["accept_older_code"]
        copied.save()
        assert copied.pending() == Counter(
            {"project_coherence": 4, **dict.fromkeys(SCORED, 4), "two_sample_test_coherence": 1, **CONFIG}
        )


def test_a_rule_that_is_not_there_cannot_be_accepted(run):
    run.config["accept_older_code"] = ["project_coherense"]
    run.save()
    try:
        done = run.snakemake("--dry-run")
    finally:
        del run.config["accept_older_code"]
        run.save()
    assert done.returncode != 0
    message = "accept_older_code: there is no rule 'project_coherense'; did you mean 'project_coherence'?"
    assert message in done.stdout + done.stderr


def test_changed_option_of_one_stage(run):
    training = run.config["systems"]["lm"]
    training["stride"] = 7
    run.save()
    try:
        jobs = run.pending()
        assert jobs["sample"] == 3  # two shards, and one of the system that samples the same model
        assert "finetune" not in jobs
    finally:
        del training["stride"]
        run.save()
