"""The synthetic critic: exact costs and theory, invalid texts, and evidence."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from macroscope.corpora.simulated import HsmmSizes
from macroscope.corpora.simulated.hsmm import SOURCE_STATE, hsmm_process, simulate_segments
from macroscope.critics.synthetic.explanation import explain
from macroscope.critics.synthetic.latents import UNKNOWN, look_up_states, project
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.critics.synthetic.scoring import StateChain, expected_nll, measure_truth, score
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.files import read_json, write_json
from macroscope.options import Resampling

SMALL = hsmm_process(HsmmSizes(states=4, subsequences=12, segments=5), 1)


@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize("states", [[0, 1, 2], [UNKNOWN, 3], [1, UNKNOWN, UNKNOWN, 2], [2, UNKNOWN], [UNKNOWN], []])
def test_invalid_subsequences_are_marginalised(states, tail):
    """Compare with a sum over all states of invalid sub-sequences."""
    invalid, total = 0.1, 0.0
    given = [*states, *([UNKNOWN] if tail else [])]
    for path in product(range(4), repeat=len(given)):
        if any(state not in (UNKNOWN, there) for state, there in zip(given, path, strict=True)):
            continue
        steps = zip((SOURCE_STATE, *path), path, strict=False)
        total += np.prod([SMALL.transitions[step] for step in steps])
    missing = given.count(UNKNOWN)
    total *= invalid**missing * (1 - invalid) ** (len(given) - missing)
    assert StateChain(SMALL, invalid).nll(states, tail) == pytest.approx(-np.log(total))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["process", "shuffled", "independent"])
@pytest.mark.parametrize("sizes", [{"states": 6, "segments": 7}, {"states": 30, "subsequences": 25, "segments": 2}])
def test_theory_is_the_mean_of_many_texts(order, sizes):
    process = hsmm_process(HsmmSizes(**{"subsequences": 40} | sizes), 5)
    costs = StateChain(process, 1e-300)
    rates = np.array([costs.nll(process.states[s]) for s in simulate_segments(process, order, 6000, 2)])
    rates /= process.segments
    error = rates.std() / np.sqrt(len(rates))
    assert abs(rates.mean() - expected_nll(process, order)) < 4 * error


def test_one_segment_has_no_order():
    process = hsmm_process(HsmmSizes(segments=1), 1)
    assert expected_nll(process, "shuffled") == pytest.approx(expected_nll(process))
    assert expected_nll(process, "independent") == pytest.approx(expected_nll(process))


# ---- texts of all kinds ----------------------------------------------------------------------------------------------

GOOD = list(SMALL.subsequences[:5])
TEXTS = {
    "whole": " ".join(GOOD),
    "short": " ".join(GOOD[:3]),
    "unfinished": " ".join([*GOOD, "x y"]),
    "unknown": " ".join([*GOOD[:4], "x x x x x x x /"]),
    "foreign": " ".join([*GOOD[:4], "ä 7 /"]),
    "empty pieces": " ".join([*GOOD[:3], "/ /"]),
    "no delimiter": "a b c",
    "nothing": "",
}


@pytest.fixture
def scored(tmp_path):
    """Scores of valid and invalid texts."""
    write_json(tmp_path / "process.json", SMALL.to_json())
    documents = [Document(name, "test", None, (Section(None, text),)) for name, text in TEXTS.items()]
    write_documents(tmp_path / "texts.parquet", documents, Provenance("x"))
    project(
        Collection(tmp_path / "texts.parquet", 0, None),
        tmp_path / "process.json",
        output=tmp_path / "latents.parquet",
    )
    score(
        tmp_path / "latents.parquet",
        tmp_path / "process.json",
        options=SyntheticOptions(),
        output=tmp_path / "scores.parquet",
    )
    return pd.read_parquet(tmp_path / "scores.parquet").set_index("id")


def test_invalid_texts_are_counted_and_scored(scored):
    assert list(scored.index[scored["count_valid"] == 1]) == ["whole"]
    assert list(scored.index[scored["count_unfinished"] == 1]) == ["unfinished", "no delimiter"]
    assert list(scored.index[scored["count_other_length"] == 1]) == ["short", "no delimiter", "nothing"]
    assert scored["count_invalid_subsequence"].to_dict() | {"no delimiter": 0, "nothing": 0} == {
        name: {"unknown": 1, "foreign": 1, "empty pieces": 2}.get(name, 0) for name in TEXTS
    }
    assert scored.at["foreign", "count_unknown_symbol"] == 2
    assert scored["nll"].isna().to_dict() == {name: name == "nothing" for name in TEXTS}
    assert scored["nll_valid"].notna().to_dict() == {name: name == "whole" for name in TEXTS}
    assert scored.at["unfinished", "units"] == 6
    unfinished = scored.at["unfinished", "nll"] - scored.at["whole", "nll"]
    assert unfinished == pytest.approx(-np.log(SyntheticOptions().invalid_probability))
    assert scored.at["whole", "nll_valid"] == pytest.approx(scored.at["whole", "nll"] + 5 * np.log1p(-0.001))


def test_invalid_subsequences_are_listed(scored, tmp_path):
    explain(
        Collection(tmp_path / "texts.parquet"),
        tmp_path / "latents.parquet",
        tmp_path / "process.json",
        output=tmp_path / "evidence",
    )
    invalid = pd.read_csv(tmp_path / "evidence" / "invalid.csv").set_index("subsequence")["count"].to_dict()
    assert invalid == {"x y": 1, "x x x x x x x /": 1, "ä 7 /": 1, "/": 2, "a b c": 1}
    passages = read_json(tmp_path / "evidence" / "passages.json")
    first = passages[0]["pieces"]
    assert [piece["text"].strip() for piece in first] == GOOD
    assert float(first[0]["note"].split()[2]) == pytest.approx(-np.log(SMALL.transitions[0, SMALL.states[0]]), abs=0.06)
    assert passages[2]["pieces"][-1]["marked"]


def test_tokens_are_split_after_each_delimiter():
    row = look_up_states("a /".split(), SMALL)
    assert row == {
        "states": [UNKNOWN],
        "tail": False,
        "unknown_symbols": 0 if "a" in SMALL.symbols else 1,
        "tokens": 2,
    }


def test_the_process_is_the_best_model_of_its_texts(tmp_path):
    """Its word PPL covers the exact value per token, and its latent PPL equals the theoretical one."""
    texts = [
        Document(str(n), "test", None, (Section(None, " ".join(SMALL.subsequences[k] for k in lengths)),))
        for n, lengths in enumerate(simulate_segments(SMALL, "process", 300, 8))
    ]
    write_json(tmp_path / "process.json", SMALL.to_json())
    write_documents(tmp_path / "documents.parquet", texts, Provenance("x"))
    measure_truth(
        tmp_path / "documents.parquet",
        tmp_path / "process.json",
        resampling=Resampling(resamples=200),
        output=tmp_path / "prior",
    )
    truth = read_json(tmp_path / "prior" / "truth.json")
    entropies = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in SMALL.transitions]
    emission = [-(p * np.log(p)).sum() for p in (SMALL.emissions[SMALL.states == z] for z in range(4))]
    tokens = [
        (SMALL.emissions[SMALL.states == z] * [len(s.split()) for s in np.array(SMALL.subsequences)[SMALL.states == z]])
        for z in range(4)
    ]
    before = np.vstack([np.eye(4)[0], SMALL.marginals[:-1]])
    nll = (before @ entropies).sum() + (SMALL.marginals @ emission).sum()
    exact = np.exp(nll / (SMALL.marginals @ [lengths.sum() for lengths in tokens]).sum())
    assert truth["word_ppl_low"] < exact < truth["word_ppl_high"]
    assert truth["latent_ppl"] == pytest.approx(np.exp((before @ entropies).mean()))
