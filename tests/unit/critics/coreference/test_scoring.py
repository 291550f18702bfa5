"""From chains to scores and evidence: what is scored, what is counted, and what explains a difference."""

import json
import math
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope.corpora.simulated.people import people_process, simulate_stories
from macroscope.critics.coreference import projection, scoring, training
from macroscope.critics.coreference.explanation import explain, sample_unlikely
from macroscope.critics.coreference.name_use import measure_name_mismatch
from macroscope.critics.coreference.options import CoreferenceOptions, Domain
from macroscope.critics.coreference.prior import ChainPrior, fit_prior
from macroscope.critics.coreference.projection import project
from macroscope.critics.coreference.scoring import get_true_mentions, score, write_known_truth
from macroscope.critics.coreference.windows import STOP, Chains
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.files import read_json, write_json
from macroscope.options import Resampling
from macroscope.statistics.latent import category_table

from .mention_files import write_resolved

pytestmark = pytest.mark.slow

RULES = CoreferenceOptions()
FILES = CoreferenceOptions(resolver="files", mentions="{system}.parquet")


def write(path, documents):
    write_documents(path, documents, Provenance("c"))
    return path


def make_documents(*texts, split="test"):
    return [Document(str(n), split, None, (Section(None, text),)) for n, text in enumerate(texts)]


def project_documents(tmp_path, documents, options=RULES, mentions=None):
    texts = write(tmp_path / "texts.parquet", documents)
    project(Collection(texts), mentions, signature="s", options=options, output=tmp_path / "latents.parquet")
    return pd.read_parquet(tmp_path / "latents.parquet")


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Folder with a prior of true chains, and true chains of new stories of the process and of each defect."""
    folder = tmp_path_factory.mktemp("judged")
    process = people_process()
    write_json(folder / "process.json", process.to_json())

    def write_true_chains(name, order, n, seed):
        stories = list(simulate_stories(process, order, n, seed))
        documents = [Document(str(k), "train", None, (Section(None, s.text),)) for k, s in enumerate(stories)]
        write(folder / f"{name}.parquet", documents)
        write_resolved(folder / f"{name}.mentions", [get_true_mentions(s, str(k)) for k, s in enumerate(stories)])
        texts = Collection(folder / f"{name}.parquet")
        project(texts, folder / f"{name}.mentions", signature="", options=FILES, output=folder / f"{name}.latents")

    write_true_chains("documents", "process", 400, 1)
    training.train(
        folder / "documents.parquet",
        folder / "documents.mentions",
        options=FILES,
        threads=1,
        checkpoints=folder / "checkpoints",
        output=folder / "inference",
    )
    fit_prior(folder / "inference", options=FILES, output=folder / "prior")
    for order in ("process", "wrong_gender", "no_antecedent", "merged", "split", "shuffled", "independent"):
        write_true_chains(order, order, 200, 2)
        score(folder / f"{order}.latents", folder / "prior", options=FILES, output=folder / f"{order}.scores")
    return folder


def compute_perplexity(folder, order, suffix=""):
    scores = pd.read_parquet(folder / f"{order}.scores")
    units = "units_mentions" if suffix == "_mentions" else "units"
    return math.exp(scores[f"nll{suffix}"].sum() / scores[units].sum())


def test_true_chains_have_the_expected_cost_and_defects_a_higher_one(scored, monkeypatch):
    monkeypatch.setattr(scoring, "STORIES", 1000)  # five times as many as are scored
    for order in ("process", "wrong_gender", "no_antecedent", "merged", "split", "shuffled", "independent"):
        write_known_truth(
            scored / "process.json",
            scored / "prior",
            order=order,
            seed=3,
            options=FILES,
            output=scored / "known_truth.json",
        )
        scores = pd.read_parquet(scored / f"{order}.scores")
        rate = scores["nll"].sum() / scores["units"].sum()
        spread = np.std(scores["nll"] - rate * scores["units"]) / scores["units"].mean() / math.sqrt(len(scores))
        assert math.log(read_json(scored / "known_truth.json")["latent_ppl"]) == pytest.approx(rate, abs=4 * spread), (
            order
        )
        if order != "process":
            assert compute_perplexity(scored, order) > 1.5 * compute_perplexity(scored, "process"), order


def test_scores_are_those_of_the_model(scored):
    scores = pd.read_parquet(scored / "process.scores")
    latents = pd.read_parquet(scored / "process.latents")
    assert (scores["units"] == latents["surfaces"].map(len)).all()
    assert (scores["units_mentions"] == latents["surfaces"].map(lambda surfaces: sum(s != "." for s in surfaces))).all()
    assert (scores["nll_mentions"] < scores["nll"]).all()
    assert scores["count_male_mention"].sum() + scores["count_female_mention"].sum() == scores["units_mentions"].sum()
    assert scores["categories"].map(len).equals(scores["units"].astype(int) - 1)
    assert scores["categories"].iloc[0][0] in (". Male:0", ". Female:0")
    assert (scores["count_pronoun"] < scores["of_pronoun"]).all()


def test_documents_that_are_not_scored_are_counted(scored, tmp_path):
    latents = pd.read_parquet(scored / "process.latents").head(3)
    empty = latents.iloc[0].copy()
    for name in ("surfaces", "entities", "starts", "ends"):
        empty[name] = empty[name][:0]
    rows = [
        pd.Series({**empty, "in_domain": False}),
        pd.Series({**empty, "error": "RuntimeError: no"}),
        latents.iloc[1],
        pd.Series({**empty, "surfaces": ["."], "entities": [-1], "starts": [0], "ends": [0]}),
        empty,
    ]
    table = pd.DataFrame(rows).assign(id=list("abcde"), error=[None, "RuntimeError: no", None, None, None])
    table["error"] = table["error"].astype(object).where(table["error"].notna(), None)
    pq.write_table(
        projection.pa.Table.from_pylist(table.to_dict("records"), projection.LATENTS), tmp_path / "l.parquet"
    )
    score(tmp_path / "l.parquet", scored / "prior", options=FILES, output=tmp_path / "s.parquet")
    scores = pd.read_parquet(tmp_path / "s.parquet").set_index("id")
    assert scores["nll"].isna().tolist() == [True, True, False, False, True]
    assert scores["nll_mentions"].isna().tolist() == [True, True, False, True, True]
    assert scores["categories"].isna().tolist() == [True, True, False, False, True]
    assert (scores["count_in_domain"].sum(), scores["of_in_domain"].sum()) == (4, 5)
    assert (scores["count_resolver_failed"].sum(), scores["of_resolver_failed"].sum()) == (1, 4)
    assert (scores["count_without_mentions"].sum(), scores["of_without_mentions"].sum()) == (1, 2)


def test_scores_have_the_use_of_names_and_count_texts_with_too_few(scored, tmp_path):
    names = "We saw Anna in Vienna with Tom. Then Anna told Tom of Vienna, and Tom told Anna. She left Vienna."
    project_documents(tmp_path, make_documents(names, "She saw him."))
    score(tmp_path / "latents.parquet", scored / "prior", options=RULES, output=tmp_path / "scores.parquet")
    scores = pd.read_parquet(tmp_path / "scores.parquet")
    assert scores["number_name_mismatch"].tolist() == [measure_name_mismatch(names), pytest.approx(np.nan, nan_ok=True)]
    assert scores["count_few_names"].tolist() == [0, 1]
    assert scores["of_few_names"].tolist() == [1, 1]


def test_first_and_second_persons_are_pronouns_too(scored, tmp_path):
    text = "I woke up. I took my coat. You saw your dog and my cat."
    project_documents(tmp_path, make_documents(text))
    score(tmp_path / "latents.parquet", scored / "prior", options=RULES, output=tmp_path / "scores.parquet")
    (row,) = pd.read_parquet(tmp_path / "scores.parquet").to_dict("records")
    assert row["count_pronoun"] == row["of_pronoun"] == 6


def test_a_system_without_chains_still_has_evidence(scored, tmp_path):
    options = FILES.model_copy(update={"domain": Domain(pattern="nothing of the kind")})
    texts = Collection(scored / "merged.parquet")
    project(texts, scored / "merged.mentions", signature="", options=options, output=tmp_path / "latents.parquet")
    output = tmp_path / "evidence"
    explain(
        Collection(scored / "merged.parquet"),
        tmp_path / "latents.parquet",
        scored / "process.latents",
        scored / "prior",
        options=options,
        seed=1,
        output=output,
    )
    for name in ("contributions", "differences", "unlikely", "unlikely_random"):
        assert "z_1" in pd.read_csv(output / f"{name}.csv").columns
    score(tmp_path / "latents.parquet", scored / "prior", options=options, output=tmp_path / "scores.parquet")
    scores = pd.read_parquet(tmp_path / "scores.parquet")
    assert scores["nll"].isna().all()
    assert scores["count_in_domain"].sum() == 0


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_texts_outside_of_the_domain_make_no_difference(scored, share, tmp_path):
    """Divergences compare the texts in the domain, whatever the number of other texts."""
    scores = pd.read_parquet(scored / "process.scores")
    halves = [scores.iloc[::2].copy(), scores.iloc[1::2].copy()]
    rng = np.random.default_rng(1)
    halves[1]["categories"] = halves[1]["categories"].where(rng.random(len(halves[1])) < share, None)
    paths = [tmp_path / f"{number}.parquet" for number in range(2)]
    for half, path in zip(halves, paths, strict=True):
        half.to_parquet(path)
    table = category_table(*paths, Resampling(resamples=100, permutations=199)).set_index("statistic")
    assert table.loc["jensen_shannon", "p_value"] > 0.05
    assert table.loc["jensen_shannon", "n_candidate"] == halves[1]["categories"].notna().sum()


def test_a_random_subset_of_the_unlikely_mentions():
    """Each mention beyond the threshold is as likely to be chosen (deng2022 Table 15), and no sentence start is."""
    surfaces = np.array([STOP, 2, 3, STOP, 4, 5, 6])
    chains = Chains(surfaces, np.zeros(7, np.int64), np.array([3, 4]))
    costs = np.array([9.0, 8, 1, 9, 8, 7, 7.5])
    chosen = [sample_unlikely(chains, costs, 7.0, 2, seed).tolist() for seed in range(300)]
    counts = np.bincount(np.concatenate(chosen), minlength=7)
    assert np.flatnonzero(counts).tolist() == [1, 4, 6]
    assert (abs(counts[[1, 4, 6]] - 200) < 40).all()
    assert sorted(sample_unlikely(chains, costs, 7.0, 10, 0).tolist()) == [1, 4, 6]


def test_contributions_sum_to_the_difference(scored, tmp_path):
    """The contributions of all n-grams sum to the difference in NLL per symbol (deng2022 Table 6)."""
    explain(
        Collection(scored / "merged.parquet"),
        scored / "merged.latents",
        scored / "process.latents",
        scored / "prior",
        options=FILES,
        seed=1,
        output=tmp_path / "evidence",
    )
    contributions = pd.read_csv(tmp_path / "evidence" / "contributions.csv", keep_default_na=False)
    positive = contributions["contribution"].sum()
    assert positive > 0
    difference = math.log(compute_perplexity(scored, "merged") / compute_perplexity(scored, "process"))
    assert 0.3 * difference < positive < 3 * difference
    first = contributions.iloc[0]
    share = (first["candidate_share"] - first["reference_share"]) * first["cost"]
    assert first["contribution"] == pytest.approx(share)

    unlikely = pd.read_csv(tmp_path / "evidence" / "unlikely.csv", keep_default_na=False)
    assert unlikely["id"].is_unique
    assert unlikely["cost"].is_monotonic_decreasing
    assert (unlikely["likely_cost"] <= unlikely["cost"]).all()
    assert not (unlikely["likely"] == ".").any()
    assert unlikely["text"].str.contains(r"\[.+\]").all()

    differences = pd.read_csv(tmp_path / "evidence" / "differences.csv", keep_default_na=False)
    assert (differences[["reference_count", "candidate_count"]].min(axis=1) >= FILES.least_count).all()
    assert differences["log_ratio"].iloc[0] == differences["log_ratio"].max() > 0
    assert differences["log_ratio"].min() < 0

    passages = json.loads((tmp_path / "evidence" / "passages.json").read_text())
    texts = {d.id: d.text for d in Collection(scored / "merged.parquet")}
    for passage in passages:
        joined = "".join(piece["text"] for piece in passage["pieces"])
        assert joined.strip("… ") in texts[passage["title"].partition(":")[0]]
        assert any(piece["marked"] for piece in passage["pieces"])
        title = r".+: .+ \((\d+)\), ([\d.]+) nats; most likely: .+ \((\d+|a new person)\), ([\d.]+) nats"
        entity, cost, likely, likely_cost = re.fullmatch(title, passage["title"]).groups()
        entities = {str(piece["group"]) for piece in passage["pieces"]}
        assert entity in entities
        assert likely in entities | {"a new person"}
        assert float(likely_cost) <= float(cost)


def test_the_prior_describes_its_training_data(scored):
    prior = ChainPrior.load(scored / "prior")
    assert prior.surfaces[:3] == [".", "<pad>", "<unknown>"]
    assert {"Male", "Female", "Plural", "None", "He", "his", "She", "her"} <= set(prior.surfaces)
    about = read_json(scored / "prior" / "prior.json")
    assert about["unknown_surfaces"] == 0
    assert about["symbols"] > 10_000
