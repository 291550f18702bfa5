"""Declarations of critics, and what follows from them: the options that change a stage's output."""

import json
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
from pydantic import Field

from macroscope.critics.declaration import SHARED_STAGES, Critic, difference_tests, signature
from macroscope.errors import MacroscopeError
from macroscope.options import Options
from macroscope.registry import Plugin
from macroscope.stages import Stage


class Layers(Options):
    """A group inside of a group."""

    width: int = 3
    shape: list[float] = Field([0.5, 1.0])


class Toy(Options):
    """Options for a test."""

    size: int = 2
    encoder: str = "small"
    mode: str = "plain"
    threshold: float = 0.01
    steps: list[float] = Field([0.1, 2.0])
    layers: Layers = Layers()
    unused: int = 0


STAGES = {
    "train": Stage("a:train", inputs="documents", options="encoder"),
    "project": Stage("a:project", inputs="texts inference", options="size"),
    "learn_shared": Stage("a:learn", inputs="all_latents", options="steps", when="mode=shared"),
    "compare": Stage(
        "a:compare", inputs="control_latents latents shared? resampling evidence", options="threshold layers"
    ),
    "report": Stage("a:items", inputs="all_evidence"),
    "own": Stage("a:own", inputs="documents", options="unused", output="own.json"),
}
PLAN = "plan:ToyPlan"
CRITIC = Critic("options:Toy", STAGES, statistics=("macroscope.statistics.categorical:STATISTICS",), plan=PLAN)


def signed(stage, **options):
    return signature(Plugin("toy", "toys", CRITIC), Toy(**options), stage, 1)


def test_a_stage_depends_on_the_options_of_upstream_stages():
    assert CRITIC.options_of("train") == {"encoder"}
    assert CRITIC.options_of("project") == {"encoder", "size"}
    # Latents of the control and of all systems are latents; the condition of a stage is an option, too.
    assert CRITIC.options_of("learn_shared") == {"encoder", "size", "steps", "mode"}
    assert CRITIC.options_of("compare") == {"encoder", "size", "steps", "mode", "threshold", "layers"}
    assert CRITIC.options_of("own") == {"unused"}


def test_cycles_of_stages_terminate():
    stages = {
        "project": Stage("a:b", inputs="texts prior", options="size"),
        "fit_prior": Stage("a:c", inputs="all_latents", options="mode"),
        "score": Stage("a:d", inputs="latents prior"),
    }
    assert Critic("options:Toy", stages).options_of("project") == {"size", "mode"}


def test_shared_stages_belong_to_every_critic():
    scoring = Critic("options:Toy", {"project": STAGES["project"], "score": Stage("a:score", inputs="latents prior")})
    assert set(CRITIC.all_stages) == {*STAGES, *SHARED_STAGES} - {"compare_scores"}
    assert set(scoring.all_stages) == {"project", "score", *SHARED_STAGES}
    plugin = Plugin("toy", "toys", CRITIC)
    assert plugin.stage("gather") is SHARED_STAGES["gather"]
    with pytest.raises(MacroscopeError, match="toy has no stage 'compare_scores'"):
        plugin.stage("compare_scores")


def test_shared_stages_sign_with_the_options_of_the_numbers_that_they_read():
    both = Critic("options:Toy", STAGES | {"score": Stage("a:score", inputs="latents", options="mode")}, plan=PLAN)
    of_comparison = dict.fromkeys(("two_sample_test", "compare_labels", "compare_pairs", "measure_power"), "compare")
    expected = {"compare_scores": "score", **of_comparison, "gather": "gather"}
    assert {name: both.signed_stage(name) for name in SHARED_STAGES} == expected
    assert both.signed_stage("project") == "project"
    scoring = Critic("options:Toy", {"project": STAGES["project"], "score": Stage("a:score", inputs="latents")})
    assert scoring.signed_stage("two_sample_test") == "score"


def test_a_job_is_given_the_options_that_its_stage_reads_or_signs():
    signing = STAGES | {
        "project": Stage("a:project", inputs="texts inference signature", options="size"),
        "score": Stage("a:score", inputs="latents", options="mode"),
    }
    critic = Critic("options:Toy", signing, plan=PLAN)
    assert critic.options_given("train") == {"encoder"}
    assert critic.options_given("project") == {"encoder", "size"}
    assert CRITIC.options_given("project") == {"size"}  # it does not sign
    assert critic.options_given("score") == {"mode"}
    # The numbers of `compare` are always signed, and the condition of a stage is an option that signs.
    assert critic.options_given("compare") == critic.options_of("compare") >= {"mode", "encoder", "size"}
    assert critic.options_given("compare_scores") == {"mode", "encoder", "size"}
    assert critic.options_given("two_sample_test") == critic.options_of("compare")
    assert critic.options_given("compare_pairs") == critic.options_of("compare")
    assert critic.options_given("gather") == set()


def test_signature_has_every_used_option_in_the_order_of_the_options():
    assert signed("project") == "critic:toy|size:2|encoder:small|run_seed:1|versions:own=1,train=1,project=1"
    assert signed("compare").startswith(
        "critic:toy|size:2|encoder:small|mode:plain|threshold:0.01|steps:0.1,2|layers:width=3,shape=0.5,1|run_seed:1|"
    )


def test_signature_has_the_versions_of_the_stage_and_of_all_stages_upstream():
    stages = {
        **STAGES,
        "project": replace(STAGES["project"], version=2),
        "report": replace(STAGES["report"], version=3),
    }
    critic = replace(CRITIC, stages=stages)
    assert critic.versions_of("train") == {"own": 1, "train": 1}
    assert critic.versions_of("compare") == {"own": 1, "train": 1, "project": 2, "learn_shared": 1, "compare": 1}
    # Shared stages sign what they read with.
    assert critic.versions_of("two_sample_test") == critic.versions_of("compare") | {"two_sample_test": 2}


@pytest.mark.parametrize("version", [0, -1, True, 1.5, "2"])
def test_versions_are_whole_numbers_from_one(version):
    with pytest.raises(ValueError, match="is not a whole number from 1"):
        Stage("a:b", version=version)


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"size": 3}, {"project", "learn_shared", "compare"}),
        ({"encoder": "large"}, {"train", "project", "learn_shared", "compare"}),
        ({"mode": "shared"}, {"learn_shared", "compare"}),
        ({"layers": {"shape": [0.5]}}, {"compare"}),
        ({"layers": {"width": 4}}, {"compare"}),
        ({"unused": 1}, {"own"}),
    ],
)
def test_signature_changes_only_with_the_options_that_a_stage_uses(options, changes):
    assert {name for name in STAGES if signed(name, **options) != signed(name)} - {"report"} == changes


def test_the_same_options_have_the_same_signature_whatever_their_source():
    again = json.loads(Toy(size=5).model_dump_json())
    assert signed("compare", **again) == signed("compare", size=5)


def test_capabilities_follow_from_the_stages():
    assert (CRITIC.scores, CRITIC.compares, CRITIC.last()) == (False, True, "compare")
    scoring = Critic("options:Toy", {"project": STAGES["project"], "score": Stage("a:score", inputs="latents prior")})
    assert (scoring.scores, scoring.compares, scoring.last()) == (True, False, "score")


def test_difference_tests_are_declared_as_such_and_have_a_p_value():
    rows = [("mauve", 0.2), ("forward_kl", 0.3), ("forward_kl_corrected", None), ("jensen_shannon", 0.4)]
    sizes = {"n_reference": 20, "n_candidate": 9, "n_paired": 0, "smallest_p": float("nan")}
    table = pd.DataFrame(rows, columns=["statistic", "p_value"]).assign(**sizes)
    toy = Plugin("toy", "toys", CRITIC)
    assert list(difference_tests(toy, table)["statistic"]) == ["forward_kl", "jensen_shannon"]
    assert difference_tests(toy, table.head(0)).empty
    assert difference_tests(toy, table.assign(n_candidate=1, n_reference=10)).empty  # none could reach 5 %
    with pytest.raises(MacroscopeError, match="statistic 'mine': no declaration"):
        difference_tests(toy, table.head(1).assign(statistic="mine"))


def test_invalid_declarations_are_rejected():
    with pytest.raises(ValueError, match="needs the stage 'project'"):
        Critic("options:Toy", {"score": Stage("a:b")})
    with pytest.raises(ValueError, match="needs the stage 'score' or 'compare'"):
        Critic("options:Toy", {"project": STAGES["project"]})
    with pytest.raises(ValueError, match="'explain' and 'compare' both write evidence"):
        Critic("options:Toy", STAGES | {"explain": Stage("a:b", inputs="latents")}, plan=PLAN)
    with pytest.raises(ValueError, match=r"the stage 'attribut' is not a standard one.*did you mean 'attribute'"):
        Critic("options:Toy", {"project": Stage("a:b"), "score": Stage("a:b"), "attribut": Stage("a:b")})


def test_too_few_pairs_for_significance_are_not_tests():
    table = pd.DataFrame({"statistic": ["forward_kl"], "p_value": [0.2], "n_reference": [4], "n_candidate": [4]})
    toy = Plugin("toy", "toys", CRITIC)
    assert len(difference_tests(toy, table.assign(n_paired=0, smallest_p=float("nan")))) == 1
    assert difference_tests(toy, table.assign(n_paired=4, smallest_p=0.125)).empty


def test_declarations_of_statistics_are_imported_fast():
    code = (
        "import sys\nfrom macroscope.critics import critics\nfrom macroscope.critics.declaration import statistics_of\n"
        "for critic in critics().values(): statistics_of(critic)\n"
        "print('transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"  # every comparison would wait for it
