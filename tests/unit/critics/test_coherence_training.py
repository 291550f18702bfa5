"""Training of the section classifier on documents of which some sections have no title."""

from dataclasses import replace

import torch

from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.scoring import fit_prior
from macroscope.critics.coherence.training import train
from macroscope.documents import Provenance, write_documents
from macroscope.files import read_json

from ...tiny import simulated_documents, write_encoder


def test_a_type_that_only_a_partly_titled_document_has_is_learnt(tmp_path):
    torch.manual_seed(0)
    documents = [
        replace(document, split="valid" if n % 5 == 0 else "train")
        for n, document in enumerate(simulated_documents("process", 40, 1))
    ]
    first, second, *others = documents[1].sections
    partly = (replace(first, title="9."), replace(second, title=None), *others)
    documents[1] = replace(documents[1], sections=partly)
    path = tmp_path / "documents.parquet"
    write_documents(path, documents, Provenance("c", options={"language": "en"}))
    options = CoherenceOptions(encoder=str(write_encoder(tmp_path / "encoder")), max_tokens=16, epochs=1)
    train(path, output=tmp_path / "inference", options=options, seed=1, checkpoints=tmp_path / "checkpoints")
    assert "9." in read_json(tmp_path / "inference" / "section_types.json")["types"]
    fit_prior(path, tmp_path / "inference", options=options, output=tmp_path / "prior")
    assert read_json(tmp_path / "prior" / "validation.json")["documents"] == 8
