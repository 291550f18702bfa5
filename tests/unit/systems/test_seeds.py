"""A system's own seed is added to the run's and changes nothing else; training does not depend on it."""

import pytest
from pydantic import TypeAdapter

from macroscope.config.schema import AnySystem
from macroscope.corpora.simulated.process import wiki_process
from macroscope.documents import Document, Provenance, read_documents, read_provenance, write_documents
from macroscope.files import write_json
from macroscope.systems.language_model.sampler import Request
from macroscope.systems.language_model.sampling import make_sampler, sample_shard
from macroscope.systems.ngram.generation import sample_ngram
from macroscope.systems.ngram.training import count_train_split
from macroscope.systems.perturbation.generation import perturb_samples
from macroscope.systems.simulated import simulate
from tests.unit.plan.plans import find_job, plan_systems, wildcards_of

from ...tiny import simulated_documents
from .conftest import CONTEXT, tiny_model

OPTIONS = {
    "language_model": {"base": "x", "titles": False, "samples": 5, "max_tokens": 30, "stride": 4},
    "ngram": {"titles": False, "samples": 5, "max_tokens": 200},
    "simulated": {"samples": 5},
    "perturbation": {"perturb": ["shuffle_words"]},
}


def options(kind, **changes):
    return TypeAdapter(AnySystem).validate_python({"kind": kind, **OPTIONS[kind], **changes})


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, letters):
    folder = tmp_path_factory.mktemp("inputs")
    documents = [Document(d.id, "train", d.title, d.sections) for d in simulated_documents("process", 20, 1)]
    write_documents(folder / "documents.parquet", documents, Provenance("c"))
    count_train_split(
        folder / "documents.parquet", folder / "counts", options("ngram"), checkpoints=folder / "checkpoints"
    )
    write_json(folder / "process.json", wiki_process().to_json())
    tiny_model("gpt2", scale=1.0).save_pretrained(folder / "model")
    letters.save_pretrained(folder / "model")
    return folder


def generate(inputs, output, kind, seed, own_seed):
    """Generate samples under a run's seed and the system's own; return them and the seed in their metadata."""
    parsed, names = options(kind, seed=own_seed), {"corpus": "c", "system": "name", "seed": seed}
    if kind == "language_model":
        sample_shard(inputs / "model", output, parsed, system="name", seed=seed, shard=0, shards=1)
    elif kind == "ngram":
        sample_ngram(inputs / "counts", output, parsed, **names)
    elif kind == "simulated":
        simulate(inputs / "process.json", output, parsed, kind_of_process="wiki", **names)
    else:
        perturb_samples(inputs / "documents.parquet", output, parsed, language="en", **names)
    return [d.sections for d in read_documents(output)], read_provenance(output).source["seed"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(OPTIONS))
def test_a_systems_seed_is_added_to_the_runs(inputs, tmp_path, kind):
    default, run_two, own_one = (generate(inputs, tmp_path / "x", kind, *seeds) for seeds in ((1, 0), (2, 0), (1, 1)))
    assert own_one == run_two
    assert own_one[0] != default[0]
    assert (default[1], own_one[1]) == (1, 2)


def test_seed_zero_gives_the_random_stream_of_versions_without_own_seeds(gpt2):
    # The first random number of sample 3 of a system "lm" under the run's seed 1, before systems had their own seeds.
    sampler = make_sampler(gpt2, 0, CONTEXT, options("language_model"), 1, "lm")
    assert sampler.generator(Request(3)).random() == 0.4989733167036998


LM = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}
AGAIN = {"kind": "resampled", "of": "lm", "decoding": {"rule": "ancestral"}}


def test_the_same_model_is_sampled_under_several_seeds():
    plan = plan_systems(lm=LM, again={**AGAIN, "seed": 3})
    sample = find_job(plan, "sample")
    assert sample.inputs["model"](wildcards_of("again")) == sample.inputs["model"](wildcards_of("lm"))
    assert '"seed": 3' in sample.options(wildcards_of("again"))
    assert '"seed": 0' in sample.options(wildcards_of("lm"))


def test_another_seed_does_not_repeat_the_training():
    plans = [plan_systems(lm={**LM, "seed": seed}) for seed in (0, 4)]
    for stage, is_same in (("finetune", True), ("sample", False)):
        first, second = (find_job(plan, stage).options(wildcards_of("lm")) for plan in plans)
        assert (first == second) is is_same


def test_a_resampled_system_has_a_seed_of_its_own():
    plan = plan_systems(lm={**LM, "seed": 4}, again=AGAIN)
    assert '"seed": 0' in find_job(plan, "sample").options(wildcards_of("again"))
