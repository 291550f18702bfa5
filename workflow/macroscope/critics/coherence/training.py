"""Training and validation of the section classifier (deng2022 App. E)."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch.utils.data import Dataset
from transformers import DataCollatorWithPadding

from macroscope.critics.coherence.classifier import SectionClassifier, encode, load_untrained_classifier
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.sections import (
    rank_section_types,
    read_gold_sequences,
    read_labelled_sections,
    sample_subset,
)
from macroscope.critics.coherence.validation import (
    add_interval,
    calibrate,
    check_classifier,
    compute_reliability,
    cross_calibrate,
    estimate_confusion,
    expected_calibration_error,
    fit_temperature,
    write_confusion,
)
from macroscope.documents import read_provenance
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.options import Resampling
from macroscope.pretrained import require_known_words
from macroscope.tables import write_csv
from macroscope.trainer import train as train_model
from macroscope.training import Checkpoints, Examples, Schedule, discard

log = logging.getLogger("macroscope")


def train(documents: Path, *, output: Path, options: CoherenceOptions, seed: int, checkpoints: Path) -> None:
    """Fine-tune the encoder on (section text, section type) pairs of the train split.

    Writes into the folder `output`: classifier/ (model and tokenizer); section_types.json (the types, most frequent
    first, and the language of their titles); validation.json (sections, accuracy, temperature, expected calibration
    error); validation_documents.csv (sections, correct: one row per document); reliability.csv; confusion.json (see
    the module `validation`).

    Raises
    ------
    MacroscopeError
        If the train split has only one section type, or the validation split has no titled sections.
    """
    read_gold_sequences(documents, "train")  # for the prior: stop now if no document has all its titles
    texts, labels, _ = read_labelled_sections(documents, "train")
    types = rank_section_types([labels])
    if len(types) < 2:
        raise MacroscopeError(
            f"{documents}: only one section type, {types[0]!r}; give documents with two or more section types"
        )
    chosen = sample_subset(labels, options.max_train_sections, seed)
    index = {name: i for i, name in enumerate(types)}
    model, tokenizer = load_untrained_classifier(options.encoder, types, seed)
    tokens = encode(tokenizer, [texts[i] for i in chosen], options.max_tokens)
    require_known_words(tokenizer, tokens, options.encoder)
    sections = LabelledSections(tokens, [index[labels[i]] for i in chosen])
    log.info("section classifier: %d training sections of %d types", len(sections), len(types))
    schedule = Schedule.of(options)
    identity = {"options": options.model_dump(mode="json"), "seed": seed, "sections": sections.digest()}
    examples = Examples(sections, None, DataCollatorWithPadding(tokenizer), group_by_length=True)
    train_model(model, examples, schedule, Checkpoints(checkpoints, identity), seed)
    with atomic(output) as folder:
        model.save_pretrained(folder / "classifier")
        tokenizer.save_pretrained(folder / "classifier")
        language = read_provenance(documents).options.get("language", "en")
        write_json(folder / "section_types.json", {"language": language, "types": types})
        _validate(documents, folder, options, index)
    discard(checkpoints)


class LabelledSections(Dataset[dict[str, Any]]):
    """Tokens and type of each training section."""

    def __init__(self, tokens: Sequence[Sequence[int]], labels: Sequence[int]) -> None:
        self.tokens, self.labels = tokens, labels

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"input_ids": self.tokens[index], "labels": self.labels[index]}

    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.tokens, self.labels]).encode()).hexdigest()


def _validate(documents: Path, folder: Path, options: CoherenceOptions, index: dict[str, int]) -> None:
    """Measure accuracy and calibration on the validation split; sections of unseen types count as wrong."""
    texts, labels, document = read_labelled_sections(documents, "valid")
    if not texts:
        raise MacroscopeError(
            f"{documents}: no titled sections in split 'valid' to validate the section classifier on; give more"
            " documents"
        )
    logits, _ = SectionClassifier(folder / "classifier", options.max_tokens, options.precision).logits(texts)
    gold = np.array([index.get(name, -1) for name in labels])
    temperature = fit_temperature(logits, gold) if options.calibrate else 1.0
    posterior = cross_calibrate(logits, gold) if options.calibrate else calibrate(logits, temperature)
    correct = posterior.argmax(axis=1) == gold
    table = compute_reliability(posterior, gold, document)
    majority = np.bincount(gold[gold >= 0], minlength=len(index)).max() / len(gold)
    result = {
        "sections": len(gold),
        "types": len(index),
        "accuracy": float(correct.mean()),
        "majority_share": float(majority),
        "temperature": temperature,
        "expected_calibration_error": expected_calibration_error(table),
        "uncalibrated_error": expected_calibration_error(compute_reliability(calibrate(logits, 1.0), gold, document)),
        "sections_of_unseen_types": int((gold < 0).sum()),
    }
    log.info("section classifier: validation accuracy %.4f (%d sections)", result["accuracy"], len(gold))
    write_json(folder / "validation.json", result)
    write_csv(table, folder / "reliability.csv")
    write_confusion(folder / "confusion.json", estimate_confusion(posterior, gold))
    by_document = pd.DataFrame({"sections": 1, "correct": correct.astype(int)}).groupby(document).sum()
    write_csv(by_document, folder / "validation_documents.csv")
    if warning := check_classifier(add_interval(result, by_document, Resampling().confidence)):
        log.warning("%s The critic will be 'not usable' on this corpus.", warning)
