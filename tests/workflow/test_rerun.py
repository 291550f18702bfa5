"""What runs again after a change: exactly what the change affects."""

from collections import Counter
from contextlib import contextmanager

import pytest

REPORT = {"make_tables": 1, "draw_figures": 1, "write_report": 1}
SCORED = ["score_sections", "compare_scores", "explain_sections"]
JUDGED = ["project_sections", *SCORED, "count_tokens", "compare_tendencies"]
"""What happens to the texts of a system."""
CLUSTERED = {"embed_texts": 1, "share_clusters": 1, "compare_clusters": 3, "write_strings": 1, "compare_strings": 1}
"""What happens besides to those of a system that is clustered: all systems share the clustering."""


@contextmanager
def edited(path, change):
    """Edit a file for a while; its old content and time come back."""
    import os

    before, times = path.read_text(), path.stat()
    path.write_text(change(before))
    try:
        yield
    finally:
        path.write_text(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def comment(text):
    return text + "\n# edited\n"


def test_second_run_does_nothing(run):
    assert run.pending() == Counter()


def test_changed_candidate_runs_what_depends_on_it(run):
    with edited(run.candidate, lambda text: text.replace("important", "unimportant", 1)):
        assert run.pending() == Counter({"draw_files": 1, **dict.fromkeys(JUDGED, 1), **CLUSTERED, **REPORT})


def test_changed_human_judgements_run_the_report_alone(run):
    with edited(run.people, lambda text: text.replace("2.5", "3.5")):
        assert run.pending() == Counter(REPORT)


def test_changed_reference_runs_all_but_the_candidates_import(run):
    with edited(run.reference, lambda text: text.replace("important", "unimportant", 1)):
        jobs = run.pending()
    assert "draw_files" not in jobs
    assert jobs["extract_documents"] == jobs["finetune"] == jobs["train_section_classifier"] == 1
    assert jobs["project_sections"] == 4


def test_added_system_runs_for_that_system_alone(run):
    run.config["systems"]["another"] = run.config["systems"]["mine"]
    run.save()
    try:
        assert run.pending() == Counter({"draw_files": 1, **dict.fromkeys(JUDGED, 1), **REPORT})
    finally:
        del run.config["systems"]["another"]
        run.save()


def test_perturbation_runs_on_the_samples_of_the_other_system(run):
    run.config["systems"]["cut"] = {"kind": "perturbation", "of": "mine", "perturb": ["truncate"]}
    run.save()
    try:
        assert run.pending() == Counter({"draw_perturbation": 1, **dict.fromkeys(JUDGED, 1), **REPORT})
        with edited(run.candidate, lambda text: text.replace("important", "unimportant", 1)):
            assert run.pending() == Counter(
                {"draw_files": 1, "draw_perturbation": 1, **dict.fromkeys(JUDGED, 2), **CLUSTERED, **REPORT}
            )
    finally:
        del run.config["systems"]["cut"]
        run.save()


@pytest.mark.parametrize(
    ("module", "jobs"),
    [
        ("critics/coherence/explanation.py", {"explain_sections": 4, **REPORT}),
        ("critics/coherence/transitions.py", {"explain_sections": 4, **REPORT}),
        (
            "critics/coherence/projection.py",
            {"project_sections": 4, **dict.fromkeys(SCORED, 4), **REPORT},
        ),
        (
            "critics/coherence/prior.py",
            {"fit_section_prior": 1, **dict.fromkeys(SCORED, 4), **REPORT},
        ),
        (
            "systems/language_model/sampler.py",
            {
                "sample": 3,
                "gather_samples": 2,
                "measure_log_probabilities": 1,
                **dict.fromkeys(JUDGED, 2),
                **CLUSTERED,
                **REPORT,
            },
        ),
        ("critics/clusters/scores.py", {"compare_clusters": 3, **REPORT}),
        ("critics/clusters/probing.py", {"embed_corpus": 2, "probe_clusters": 1, **REPORT}),
        ("critics/strings/cross_fitting.py", {"compare_strings": 3, **REPORT}),
        (
            "critics/tendencies/features.py",
            {"count_tokens": 4, "compare_tendencies": 4, "embed_corpus": 2, "probe_clusters": 1, **REPORT},
        ),
        ("critics/tendencies/growth.py", {"compare_tendencies": 4, **REPORT}),
        ("critics/tendencies/figures.py", REPORT),
        ("statistics/multiplicity.py", {"explain_sections": 4, "compare_tendencies": 4, **REPORT}),
        ("reporting/latex.py", REPORT),
        ("reporting/human_figure.py", {"draw_figures": 1, "write_report": 1}),
    ],
)
def test_edited_module_runs_its_stage_and_what_follows(run, module, jobs):
    with edited(run.checkout / "workflow" / "macroscope" / module, comment):
        assert run.pending() == Counter(jobs)


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
