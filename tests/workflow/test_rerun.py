"""Jobs that run again after a change: exactly those that it affects."""

import os
import re
from collections import Counter
from contextlib import ExitStack, contextmanager

REPORT = {"make_tables": 1, "plot_figures": 1, "write_report": 1}
READER = {"write_reader": 1}
CONFIG = {"write_config": 1, **REPORT, **READER}
"""Rules that read the effective config, and the one that writes it."""
SCORED = ["score_coherence", "compare_scores_coherence", "explain_coherence", "attribute_coherence"]
JUDGED = [
    *("project_coherence", *SCORED, "follow_coherence"),
    *("project_tendencies", "compare_tendencies", "attribute_tendencies", "follow_tendencies"),
]
"""What happens to the texts of a system."""
TESTED = {
    "two_sample_test_coherence": 1,
    "two_sample_test_tendencies": 1,
    "course_coherence": 1,
    "course_tendencies": 1,
}
"""What happens to all systems together when the texts of one change."""
CLUSTERED = {
    "two_sample_test_clusters": 1,
    "two_sample_test_strings": 1,
    "project_clusters": 1,
    "learn_shared_clusters": 1,
    "compare_clusters": 3,
    "project_strings": 1,
    "follow_strings": 1,
    "compare_strings": 1,
    "attribute_clusters": 3,
    "attribute_strings": 1,
    "course_strings": 1,
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


def raise_version(text):
    """Raise the version of the critic's stage `project` in its declaration."""
    return re.sub(r'("projection:project",)(\s+version=\d+,)?', r"\1 version=99,", text)


def compute(text):
    """Edit a module so that it computes something else."""
    return text + "\nEDITED = 1\n"


def test_changed_human_judgements_run_the_report_alone(run):
    with edited(run.people, lambda text: text.replace("2.5", "3.5")):
        assert run.pending() == Counter(REPORT)


def test_changed_reference_runs_all(run):
    """The import of candidates, too, which looks for copies of real texts."""
    with edited(run.reference, lambda text: text.replace("important", "unimportant", 1)):
        jobs = run.pending()
    assert jobs["extract_documents"] == jobs["finetune"] == jobs["train_coherence"] == 1
    assert jobs["project_coherence"] == 4


def test_added_system_runs_for_that_system_alone(run):
    """The config, which has another key that concerns no job, is written again, and what reads it runs, too."""
    run.config["systems"]["another"] = run.config["systems"]["mine"]
    run.config["mirror"] = "https://mirror.example.org"
    run.save()
    try:
        assert run.pending() == Counter({"generate_files": 1, **dict.fromkeys(JUDGED, 1), **TESTED, **CONFIG})
    finally:
        del run.config["systems"]["another"], run.config["mirror"]
        run.save()


def test_changed_candidate_runs_what_depends_on_it_and_a_perturbation_of_it(run):
    run.config["systems"]["cut"] = {"kind": "perturbation", "of": "mine", "perturb": ["truncate"]}
    run.save()
    changed = {"generate_files": 1, "generate_perturbation": 1, **dict.fromkeys(JUDGED, 2), **TESTED, **CLUSTERED}
    try:
        with edited(run.candidate, lambda text: text.replace("important", "unimportant", 1)):
            assert run.pending() == Counter({**changed, **CONFIG})
    finally:
        del run.config["systems"]["cut"]
        run.save()


def test_a_raised_version_runs_its_stage_and_what_follows(run):
    with edited(package(run) / "critics" / "coherence" / "__init__.py", raise_version):
        coherence = {
            "project_coherence": 4,
            "follow_coherence": 4,
            **dict.fromkeys(SCORED, 4),
            "two_sample_test_coherence": 1,
            "course_coherence": 1,
        }
        assert run.pending() == Counter({**coherence, **CONFIG})


def test_edits_of_all_modules_and_a_moved_checkout_run_nothing(run):
    before = run.checkout
    with ExitStack() as stack:
        for path in package(run).rglob("*.py"):
            stack.enter_context(edited(path, compute))
        run.checkout = before.rename(before.with_name("moved"))
        try:
            assert run.pending() == Counter()
        finally:
            run.checkout = run.checkout.rename(before)


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
