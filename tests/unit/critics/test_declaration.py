"""What a critic declares, and what follows from it: which options change what a stage writes."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from pydantic import Field

from macroscope.critics.declaration import Critic, difference_tests, signature
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
    "own": Stage("a:own", inputs="documents", options="unused"),
}
CRITIC = Critic("options:Toy", STAGES, statistics=("macroscope.statistics.categorical:STATISTICS",))


def signed(stage, **options):
    return signature(Plugin("toy", "toys", CRITIC), Toy(**options), stage)


def test_a_stage_uses_the_options_of_what_it_reads():
    assert CRITIC.options_of("train") == {"encoder"}
    assert CRITIC.options_of("project") == {"encoder", "size"}
    # Latents of the control and of all systems are latents; whether there is a clustering is an option as well.
    assert CRITIC.options_of("learn_shared") == {"encoder", "size", "steps", "mode"}
    assert CRITIC.options_of("compare") == {"encoder", "size", "steps", "mode", "threshold", "layers"}
    assert CRITIC.options_of("own") == {"unused"}


def test_stages_that_read_each_other_end():
    stages = {
        "project": Stage("a:b", inputs="texts prior", options="size"),
        "fit_prior": Stage("a:c", inputs="all_latents", options="mode"),
        "score": Stage("a:d", inputs="latents prior"),
    }
    assert Critic("options:Toy", stages).options_of("project") == {"size", "mode"}


def test_signature_names_every_option_that_is_used_in_the_order_of_the_options():
    assert signed("project") == "critic:toy|size:2|encoder:small"
    assert signed("compare") == (
        "critic:toy|size:2|encoder:small|mode:plain|threshold:0.01|steps:0.1,2|layers:width=3,shape=0.5,1"
    )


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
def test_signature_changes_with_what_a_stage_uses_alone(options, changes):
    assert {name for name in STAGES if signed(name, **options) != signed(name)} - {"report"} == changes


def test_the_same_options_have_the_same_signature_wherever_they_come_from():
    again = json.loads(Toy(size=5).model_dump_json())
    assert signed("compare", **again) == signed("compare", size=5)


def test_what_a_critic_does_follows_from_its_stages():
    assert (CRITIC.scores, CRITIC.compares, CRITIC.last()) == (False, True, "compare")
    scoring = Critic("options:Toy", {"project": STAGES["project"], "score": Stage("a:score", inputs="latents prior")})
    assert (scoring.scores, scoring.compares, scoring.last()) == (True, False, "score")


def test_tests_of_a_difference_are_those_with_a_p_value_that_are_declared_so():
    rows = [("mauve", 0.2), ("forward_kl", 0.3), ("forward_kl_corrected", None), ("jensen_shannon", 0.4)]
    table = pd.DataFrame(rows, columns=["statistic", "p_value"]).assign(n_reference=20, n_candidate=9, signature="")
    toy = Plugin("toy", "toys", CRITIC)
    assert list(difference_tests(toy, table)["statistic"]) == ["forward_kl", "jensen_shannon"]
    assert difference_tests(toy, table.head(0)).empty
    assert difference_tests(toy, table.assign(n_candidate=1, n_reference=10)).empty  # none could reach 5 %
    with pytest.raises(MacroscopeError, match="statistic 'mine': nothing declares what it is"):
        difference_tests(toy, table.head(1).assign(statistic="mine"))


def test_a_critic_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="it needs the stage 'project'"):
        Critic("options:Toy", {"score": Stage("a:b")})
    with pytest.raises(ValueError, match="it needs the stage 'score' or 'compare'"):
        Critic("options:Toy", {"project": STAGES["project"]})
    with pytest.raises(ValueError, match="by 'explain' or by 'compare', not by both"):
        Critic("options:Toy", STAGES | {"explain": Stage("a:b", inputs="latents")})


def test_pairs_that_could_not_show_anything_are_no_tests():
    table = pd.DataFrame({"statistic": ["forward_kl"], "p_value": [0.2], "n_reference": [4], "n_candidate": [4]})
    toy = Plugin("toy", "toys", CRITIC)
    assert len(difference_tests(toy, table.assign(signature="macroscope:0|k:2"))) == 1
    assert difference_tests(toy, table.assign(signature="macroscope:0|k:2|partners:4|smallest_p:0.125")).empty


def test_what_is_declared_of_statistics_is_imported_at_once():
    code = (
        "import sys\nfrom macroscope.critics import critics\nfrom macroscope.critics.declaration import statistics_of\n"
        "for critic in critics().values(): statistics_of(critic)\n"
        "print('transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"  # every comparison would wait for it
