"""LSTM estimator of distributions over strings (pimentel2022 App. D)."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import Dataset

from macroscope.critics.strings.options import LstmOptions
from macroscope.critics.text_encoder import batch_by_length, tokens_per_batch
from macroscope.files import atomic
from macroscope.models import resolve
from macroscope.pretrained import load_pretrained_tokenizer
from macroscope.statistics.document_features import Array
from macroscope.systems.language_model.architectures.recurrent import LstmConfig, LstmForCausalLM
from macroscope.systems.tokenizer import boundary_id, train_bpe
from macroscope.trainer import train
from macroscope.training import Checkpoints, Examples, Schedule, discard

_NOT_PREDICTED = -100
_EVALUATIONS = 20


class LstmEstimator:
    """Estimator with an LSTM for each distribution, over a shared tokenizer.

    Parameters
    ----------
    texts
        Texts of the reference, on which the tokenizer is trained unless the options name one. It spells every string,
        so both LSTMs score the same strings, and the trainings on the reference do not depend on the candidate.
    folder
        Folder of finished and of half-finished trainings, with which the next call goes on after a kill.
    fits
        Folders with finished trainings.
    """

    def __init__(self, options: LstmOptions, texts: Sequence[str], folder: Path, fits: Sequence[Path] = ()) -> None:
        self.options, self.folder, self.fits = options, folder, fits
        self.name = f"LSTM, {options.layers} x {options.hidden_size}"
        self.tokenizer = (
            train_bpe(iter(texts), options.vocabulary)
            if options.tokenizer is None
            else load_pretrained_tokenizer(resolve(options.tokenizer))
        )

    def fit(
        self, reference: Sequence[str], candidate: Sequence[str], seed: int
    ) -> tuple["LstmDistribution", "LstmDistribution"]:
        """Estimate both distributions; see `estimators.Estimator`."""
        return self.train(reference, seed), self.train(candidate, seed)

    def train(self, texts: Sequence[str], seed: int) -> "LstmDistribution":
        """Train on most of the texts, and select the checkpoint on the rest, unless an earlier call has done so."""
        name = self._name_training(texts, seed)
        saved = next((given / name for given in self.fits if (given / name).is_dir()), self.folder / name)
        if not saved.is_dir():
            model = self._train_anew(texts, seed, Checkpoints(self.folder / f"{name}.checkpoints", {"training": name}))
            with atomic(saved) as folder:
                model.save_pretrained(folder)
            discard(self.folder / f"{name}.checkpoints")
        network: Any = LstmForCausalLM.from_pretrained(saved)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return LstmDistribution(network.to(device).eval(), self.tokenizer)

    def _name_training(self, texts: Sequence[str], seed: int) -> str:
        """Return a hash of all that a training depends on."""
        digest = blake2b(f"{self.options.model_dump_json()} {seed}".encode(), digest_size=16)
        for text in (self.tokenizer.backend_tokenizer.to_str(), *texts):
            digest.update(len(text).to_bytes(8, "little") + text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def _train_anew(self, texts: Sequence[str], seed: int, checkpoints: Checkpoints) -> LstmForCausalLM:
        options = self.options
        boundary = boundary_id(self.tokenizer)
        tokens = [ids[: options.max_tokens + 1] for ids in encode(self.tokenizer, texts)]
        order = np.random.default_rng(seed).permutation(len(tokens))
        held_out = max(1, round(options.valid_share * len(tokens)))
        valid, rest = order[:held_out], order[held_out:] if len(tokens) > 1 else order
        torch.manual_seed(seed)
        config = LstmConfig(
            vocab_size=len(self.tokenizer),
            embedding_size=options.embedding_size,
            hidden_size=options.hidden_size,
            num_hidden_layers=options.layers,
            dropout=options.dropout,
        )
        model = LstmForCausalLM(config)
        schedule = Schedule.of(options, evaluations=_EVALUATIONS)
        examples = Examples(
            EncodedTexts([tokens[i] for i in rest]),
            EncodedTexts([tokens[i] for i in valid]),
            lambda rows: _padded([row["input_ids"] for row in rows], boundary),
            group_by_length=True,
        )
        train(model, examples, schedule, checkpoints, seed)
        return model


class EncodedTexts(Dataset[dict[str, Any]]):
    """Data set of the tokens of each text, with the boundary token at both ends."""

    def __init__(self, tokens: Sequence[list[int]]) -> None:
        self.tokens = tokens

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"input_ids": self.tokens[index]}


@dataclass(frozen=True)
class LstmDistribution:
    """A trained LSTM."""

    model: Any
    tokenizer: Any

    @torch.inference_mode()
    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Return log-probabilities of whole texts of any length; see `estimators.Distribution`."""
        tokens = encode(self.tokenizer, texts)
        boundary = boundary_id(self.tokenizer)
        values = np.empty(len(tokens))
        budget = tokens_per_batch(self.model.device.type)
        for batch in batch_by_length(np.array([len(ids) for ids in tokens]), budget):
            inputs = _padded([tokens[i] for i in batch], boundary)
            logits = self.model(input_ids=inputs["input_ids"].to(self.model.device)).logits[:, :-1].float()
            labels = inputs["labels"][:, 1:].to(self.model.device)
            losses = cross_entropy(logits.transpose(1, 2), labels, ignore_index=_NOT_PREDICTED, reduction="none")
            values[batch] = -losses.sum(dim=1).double().cpu().numpy()
        return values


def encode(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Tokenise each text, with the boundary token at both ends."""
    boundary = boundary_id(tokenizer)
    encoded = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"] if texts else []
    return [[boundary, *ids, boundary] for ids in encoded]


def _padded(rows: Sequence[list[int]], boundary: int) -> dict[str, torch.Tensor]:
    """Return padded inputs and labels; padding and the first token of a row are not predicted."""
    width = max(map(len, rows))
    inputs = torch.full((len(rows), width), boundary)
    labels = torch.full((len(rows), width), _NOT_PREDICTED)
    for row, ids in enumerate(rows):
        inputs[row, : len(ids)] = torch.tensor(ids)
        labels[row, 1 : len(ids)] = torch.tensor(ids[1:])
    return {"input_ids": inputs, "labels": labels}
