"""Tests of the evidence: doubtful places and marked passages."""

import json

import numpy as np
import pandas as pd

from macroscope.critics.narrative.explanation import GAP, PASSAGES, explain, make_passage
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.documents import Collection, Document, Provenance, Section, write_documents

from .test_scoring import POINTS, write


def document(name, sentences, title=None):
    return Document(name, "test", title, (Section(None, " ".join(f"Number {n} is here." for n in range(sentences))),))


def write_evidence(folder, latents):
    texts = Collection(folder / "texts.parquet")
    explain(texts, latents, folder, options=NarrativeOptions(), language="en", output=folder / "evidence")


def pieces_of(places, sentences):
    passage = make_passage(document("t0", sentences), [f"S{n}" for n in range(sentences)], places, POINTS)
    return passage["pieces"]


def test_doubtful_gaps_and_sentences_are_marked():
    places = {"missing": np.array([0.1, 0.8, 0.5]), "discordant": np.array([0.0, 0.3, 0.1, 0.1])}
    pieces = pieces_of(places, 4)
    assert "".join(piece["text"] for piece in pieces) == f"S0 S1 {GAP} S2 {GAP} S3 "
    marked = [(piece["text"], piece["group"], piece["note"]) for piece in pieces if piece["marked"]]
    assert marked == [
        ("S1", 1, "may be out of place: 30%"),
        (GAP, 0, "a sentence may be missing here: 80%"),
        (GAP, 0, "a sentence may be missing here: 50%"),
    ]


def test_a_long_narrative_is_shown_around_its_most_doubtful_place():
    places = {"missing": np.zeros(39), "discordant": np.zeros(40)}
    places["missing"][3], places["discordant"][30] = 0.6, 0.9
    pieces = pieces_of(places, 40)
    text = "".join(piece["text"] for piece in pieces)
    assert text.startswith("… S24 ")
    assert text.endswith("S37 …")
    assert [piece["text"] for piece in pieces if piece["marked"]] == ["S30"]


def test_evidence_of_a_system(tmp_path):
    documents = [document(f"t{n}", 4, f"Title {n}") for n in range(10)]
    rows = [(4, 0, [0.1 * (n / 10), 0.5 + 0.04 * n, 0.1], [0.1, 0.1, 0.1, 0.1]) for n in range(9)]
    rows.append((4, 0, [0.0, 0.0, 0.0], [0.99, 0.26, 0.0, 0.0]))
    write_documents(tmp_path / "texts.parquet", documents, Provenance("x"))
    latents = write(tmp_path, rows)
    write_evidence(tmp_path, latents)
    table = pd.read_csv(tmp_path / "evidence" / "doubtful.csv", keep_default_na=False)
    assert table["id"].tolist() == ["t9", *(f"t{n}" for n in range(8, -1, -1))]
    assert table["task"].tolist() == ["discordant"] + ["missing"] * 9
    assert table.loc[0, ["before", "after"]].tolist() == ["", "Number 0 is here."]
    assert table.loc[1, ["before", "after"]].tolist() == ["Number 1 is here.", "Number 2 is here."]
    passages = json.loads((tmp_path / "evidence" / "passages.json").read_text())
    assert len(passages) == PASSAGES
    assert passages[0]["title"] == "Title 9"  # it has two doubtful places, the others have one
    assert sum(piece["marked"] for piece in passages[0]["pieces"]) == 2


def test_a_system_without_doubtful_places_has_no_evidence(tmp_path):
    write_documents(tmp_path / "texts.parquet", [document("t0", 3), document("t1", 1)], Provenance("x"))
    latents = write(tmp_path, [(3, 0, [0.1, 0.1], [0.1] * 3), (1, 0, [], [])])
    write_evidence(tmp_path, latents)
    assert len(pd.read_csv(tmp_path / "evidence" / "doubtful.csv")) == 0
    assert json.loads((tmp_path / "evidence" / "passages.json").read_text()) == []
