"""The second pass: what a failed job takes along, and the plan without it."""

import pytest

from macroscope.execution.failures import FailedJob
from macroscope.gaps import FAILED, Gap
from macroscope.plan import Plan
from macroscope.plan.second_pass import Part, part_of, without_failed
from macroscope.runs.contents import FINISHED, WHOLE
from macroscope.runs.results import read_run

from .plans import PROBING, find_job, plan_of

RUN = "results/default"
REPORT = [f"{RUN}/tables", f"{RUN}/report.html"]
COMPARED = [
    {"corpus": "wiki", "systems": ["mine", "shuffled"], "critics": ["topics", "strings"], "pairs": "all"},
    {"corpus": "web", "systems": ["mine"], "critics": ["strings"]},
]


def failing(*paths, targets=REPORT, log=""):
    return FailedJob(log, frozenset([*(f"{RUN}/{path}" for path in paths), *targets]))


def left_out(config):
    return [(entry.corpus, entry.system, entry.critic) for entry in config.failed]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("corpora/wiki/documents.parquet", Part("wiki")),
        ("systems/wiki/lm/shards/0.parquet", Part("wiki", "lm")),
        ("statistics/perplexity/wiki/lm.csv", Part("wiki", "lm")),
        ("critics/topics-many/wiki/latents/lm.parquet", Part("wiki", critic="topics-many")),
        ("statistics/topics/wiki/lm.csv", Part("wiki", critic="topics")),
        ("statistics/topics/wiki.two_sample_test.csv", Part("wiki", critic="topics")),
        ("report.html", None),
        ("code/train_topics/wiki.txt", None),
    ],
)
def test_files_belong_to_parts_of_the_run(path, part):
    assert part_of(f"{RUN}/{path}", RUN) == part
    assert part_of(f"/scratch/storage/bucket/{RUN}/{path}", RUN) == part


def test_a_critic_that_fails_takes_only_itself_along():
    job = failing("critics/topics/wiki/prior", "statistics/topics/wiki.pairs.csv")
    plan = plan_of(COMPARED)
    config = without_failed(plan, [job, job])
    assert left_out(config) == [("wiki", None, "topics")]
    second = Plan(config)
    assert list(second.critics.chapters) == [("strings", "wiki"), ("strings", "web")]
    assert list(second.critics.compared_pairs) == [("strings", "wiki")]
    whole, rest = (
        {file for name in ("statistics", "shown") for file in find_job(p, "make_tables").inputs[name]}
        for p in (plan, second)
    )
    assert whole - rest == {file for file in whole if "/topics/" in file}
    assert (plan.config_file, second.config_file) == (f"{RUN}/{WHOLE}", f"{RUN}/{FINISHED}")
    assert without_failed(second, [job]) is None


def test_a_system_that_fails_leaves_the_other_systems_to_all_critics():
    """However many of its jobs fail, as those of two shards."""
    paths = ("systems/wiki/mine/samples.parquet", "critics/topics/wiki/latents/mine.parquet")
    jobs = [failing(f"systems/wiki/mine/shards/{shard}.parquet", *paths) for shard in (0, 1)]
    config = without_failed(plan_of(COMPARED), jobs)
    assert left_out(config) == [("wiki", "mine", None)]
    second = Plan(config)
    assert second.critics.chapters["topics", "wiki"] == ["control", "shuffled"]
    assert not second.critics.compared_pairs
    assert second.critics.chapters["strings", "web"] == ["control", "mine"]


@pytest.mark.parametrize("path", ["corpora/web/extracted/a.parquet", "systems/web/control/samples.parquet"])
def test_a_corpus_that_cannot_be_retrieved_or_has_no_control_is_left_out(path):
    jobs = [failing(path, "systems/web/mine/samples.parquet", "critics/strings/web/latents/mine.parquet")]
    config = without_failed(plan_of(COMPARED), jobs)
    assert left_out(config) == [("web", None, None)]
    assert Plan(config).critics.corpora_used == ["wiki"]


def test_what_depends_on_a_missing_corpus_in_another_way_is_found_in_the_next_pass():
    paths = ("corpora/web/documents.parquet", "critics/clusters/wiki/probing/small.csv")
    probing = PROBING | {"corpus": "wiki", "reference": "web"}
    compared = [{"corpus": "wiki", "critics": ["clusters", "strings"]}]
    plan = plan_of(compared, critics={"clusters": {"probing": [probing]}})
    second = Plan(without_failed(plan, [failing(*paths)]))
    third = without_failed(second, [failing(*paths)])
    assert left_out(third) == [("web", None, None), ("wiki", None, "clusters")]
    assert ("clusters", "wiki") not in Plan(third).critics.chapters


def test_without_anything_left_or_blocked_there_is_no_second_pass():
    plan = plan_of([{"corpus": "wiki", "critics": ["strings"]}])
    path = "critics/strings/wiki/latents/mine.parquet"
    assert without_failed(plan, []) is None
    assert without_failed(plan, [failing(path)]) is None  # no critic is left
    assert without_failed(plan_of(COMPARED), [failing(path, targets=[])]) is None  # the report does not need it
    assert without_failed(plan_of(COMPARED), [failing()]) is None  # the report itself fails


def test_the_config_of_a_run_is_that_of_its_report(tmp_path):
    plan = plan_of(COMPARED)
    failed = without_failed(plan, [failing("systems/wiki/mine/samples.parquet")])
    for name, config in ((WHOLE, plan.config), (FINISHED, failed)):
        for path, text in Plan(config).descriptions().items():
            (tmp_path / path.removeprefix(f"{RUN}/")).write_text(text, encoding="utf-8")
        assert read_run(tmp_path).config == config, name
        assert (("wiki", "mine") in read_run(tmp_path).contents.pairs) == (name == WHOLE)


def test_a_config_with_what_is_missing_can_be_read_again():
    config = plan_of(COMPARED).config.model_copy(update={"gaps": [Gap(kind=FAILED, corpus="web", explanation="gone")]})
    assert type(config).model_validate_json(config.model_dump_json()) == config
