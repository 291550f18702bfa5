"""A trained detector: from a folder to probabilities, whatever its level."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_model, save_model
from scipy.special import expit

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.latents import ABOUT, ENCODER, WEIGHTS
from macroscope.critics.narrative.narratives import Integers, Narratives
from macroscope.critics.narrative.options import DetectorOptions, NarrativeOptions, PretrainingOptions, Task
from macroscope.critics.narrative.segments import drawing_of
from macroscope.critics.narrative.sentence_detector import SentenceBatches, SentenceDetector, Size, size_of
from macroscope.critics.narrative.token_detector import (
    TokenBatches,
    TokenDetector,
    TokenisedSentences,
    load_encoder,
    most_tokens,
    save_encoder,
)
from macroscope.files import read_json, write_json

Floats = npt.NDArray[np.float64]
SEGMENTS_AT_ONCE = {"sentence": 1024, "token": 64}


@dataclass
class Detector:
    """A network with what it needs.

    Attributes
    ----------
    task, level
        "missing" or "discordant"; "sentence" or "token".
    window, spare
        Sentences that it is shown of a narrative at once, and by how many more the narrative is longer; as in training
        (`segments.Drawing`).
    network
        Of `sentence_detector` or `token_detector`.
    tokenizer, most
        Of a token-level detector: its tokenizer, and the tokens of a sentence that it reads.
    slope, intercept
        Of the logistic regression, on validation segments, that makes logits mean what they say (Platt 1999).
    """

    task: Task
    level: str
    window: int
    spare: int
    network: Any
    tokenizer: Any = None
    most: int = 0
    slope: float = 1.0
    intercept: float = 0.0

    def batches(self, narratives: Narratives, examples: Examples) -> SentenceBatches | TokenBatches:
        """What makes batches of examples for the network."""
        if self.level == "sentence":
            return SentenceBatches(narratives, examples)
        return TokenBatches(self._tokenised(narratives, examples.inputs), examples)

    def outputs(self, narratives: Narratives, inputs: Integers, name: str = "logits") -> Floats:
        """One output of the network for segments of sentences, given by numbers (segments x positions [x embedding]).

        Positions without a sentence have anything.
        """
        nothing = np.full(inputs.shape, NONE, dtype=np.int64)
        examples = Examples(np.zeros(len(inputs), dtype=np.int64), inputs, nothing.astype(np.int8), nothing)
        return self.outputs_of(self.batches(narratives, examples), inputs, name)

    @torch.inference_mode()
    def outputs_of(self, collate: SentenceBatches | TokenBatches, inputs: Integers, name: str = "logits") -> Floats:
        """The same from what makes batches of these segments: embeddings, or tokens, are there already."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = self.network.to(device).eval()
        found = []
        # Segments of like lengths together: a short one is not filled up to a long one.
        order = np.argsort((inputs != NONE).sum(axis=1), kind="stable")
        size = SEGMENTS_AT_ONCE[self.level]
        for rows in (order[start : start + size] for start in range(0, len(order), size)):
            batch = collate(rows.tolist())
            given = {key: value.to(device) for key, value in batch.items() if key not in ("labels", "targets")}
            found.append(network(**given)[name].float().cpu().numpy())
        joined = np.concatenate(found) if found else np.empty(inputs.shape)
        return np.asarray(joined[np.argsort(order, kind="stable")], dtype=float)

    def probabilities(self, narratives: Narratives, inputs: Integers) -> Floats:
        """Probability, at each position, that something is wrong there; NaN where there is no such position.

        The slot behind the last sentence is none.
        """
        values = expit(self.slope * self.outputs(narratives, inputs) + self.intercept)
        there = inputs != NONE
        if self.task == "missing":
            there[:, :-1] &= there[:, 1:]
            there[:, -1] = False
        return np.where(there, values, np.nan)

    def cut(self, narratives: Narratives) -> npt.NDArray[np.bool_]:
        """Whether each sentence is longer than a token-level detector reads."""
        return self._tokenised(narratives, np.arange(len(narratives.sentences))).cut

    def _tokenised(self, narratives: Narratives, numbers: Integers) -> TokenisedSentences:
        return TokenisedSentences(narratives.sentences, numbers, self.tokenizer, self.most)

    def save(self, folder: Path) -> None:
        """Write the detector into a folder that exists."""
        about = {
            name: getattr(self, name) for name in ("task", "level", "window", "spare", "most", "slope", "intercept")
        }
        if isinstance(self.network, SentenceDetector):
            about |= {"size": asdict(self.network.size)}
            save_model(self.network.cpu(), str(folder / WEIGHTS))
        else:
            about |= {"hidden": self.network.detect[0].out_features}
            save_encoder(folder / ENCODER, self.network.encoder.cpu(), self.tokenizer)
            save_model(self.network.detect.cpu(), str(folder / WEIGHTS))
        write_json(folder / ABOUT, about)

    @classmethod
    def load(cls, folder: Path) -> "Detector":
        """Read a detector from its folder."""
        about = read_json(folder / ABOUT)
        size, hidden = about.pop("size", None), about.pop("hidden", 0)
        if size is not None:
            network = SentenceDetector(Size(**size))
            load_model(network, str(folder / WEIGHTS))
            return cls(network=network, **about)
        encoder, tokenizer = load_encoder(str(folder / ENCODER))
        token_network = TokenDetector(encoder, hidden)
        load_model(token_network.detect, str(folder / WEIGHTS))
        return cls(network=token_network, tokenizer=tokenizer, **about)


def new_detector(
    options: NarrativeOptions, detector: DetectorOptions, task: Task, embedding: int, seed: int
) -> Detector:
    """Make an untrained detector.

    Parameters
    ----------
    embedding
        Width of the sentence embeddings.
    """
    torch.manual_seed(seed)
    window = segment_after_damage(options, task)
    spare = drawing_of(options, task, "train", seed).spare
    if detector.level == "sentence":
        before = options.pretraining if detector.pretrained else None
        positions = max(window, segment_after_damage(before, task) if before else 0)
        size = size_of(detector, embedding, positions)
        return Detector(task, "sentence", window, spare, SentenceDetector(size, detector.semantic_matching))
    encoder, tokenizer = load_encoder(options.encoder)
    most = most_tokens(encoder, tokenizer, options.max_tokens, window)
    return Detector(task, "token", window, spare, TokenDetector(encoder, detector.hidden), tokenizer, most)


def segment_after_damage(options: NarrativeOptions | PretrainingOptions, task: Task) -> int:
    """Sentences of a segment as a detector sees it."""
    return options.sentences - (options.damaged if task == "missing" else 0)


def windows_of(length: int, window: int, spare: int) -> list[tuple[int, int]]:
    """(first sentence, sentences) of the windows that a narrative is read in: each half over the one before it.

    Parameters
    ----------
    spare
        Sentences that a narrative has more than a window, twice: so that, as in training, none holds both its beginning
        and its end. A window has three sentences at least, where the narrative has.
    """
    size = min(window, max(min(length, 3), length - 2 * spare))
    if length <= size:
        return [(0, length)]
    step = max(1, size // 2)
    return [(first, size) for first in [*range(0, length - size, step), length - size]]
