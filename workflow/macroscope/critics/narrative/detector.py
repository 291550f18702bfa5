"""Detectors of damage, at all levels: creation, prediction (in overlapping windows), and files."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_model, save_model
from scipy.special import expit

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.latents import DETECTOR_INFO, ENCODER, WEIGHTS
from macroscope.critics.narrative.options import DetectorOptions, NarrativeOptions, PretrainingOptions, Task
from macroscope.critics.narrative.segments import segment_sampling
from macroscope.critics.narrative.similarity_detector import SimilarityDetector, SimilaritySize
from macroscope.critics.narrative.tensors import SentenceBatches
from macroscope.critics.narratives import Integers, Narratives
from macroscope.files import read_json, write_json

if TYPE_CHECKING:
    from macroscope.critics.narrative.token_detector import TokenBatches, TokenisedSentences

Floats = npt.NDArray[np.float64]
SEGMENTS_AT_ONCE = {"similarity": 1024, "sentence": 1024, "token": 64}


@dataclass
class Detector:
    """A detector: a network, its preprocessing and its calibration.

    Attributes
    ----------
    task, level
        "missing" or "discordant"; "similarity", "sentence" or "token".
    window, spare
        Number of sentences of a window, and number of sentences that a narrative must have beyond it; as in training
        (`segments.SegmentSampling`).
    network
        Network of `similarity_detector`, `sentence_detector` or `token_detector`.
    tokenizer, most
        Tokenizer of a token-level detector, and largest number of tokens that it reads per sentence.
    slope, intercept
        Coefficients of the logistic regression, on validation segments, that calibrates logits (Platt 1999).
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

    def batches(self, narratives: Narratives, examples: Examples) -> "SentenceBatches | TokenBatches":
        """Return the collator that makes batches of examples for the network."""
        if self.level == "token":
            from macroscope.critics.narrative.token_detector import TokenBatches

            return TokenBatches(self._tokenised(narratives, examples.inputs), examples)
        return SentenceBatches(narratives, examples)

    def outputs(self, narratives: Narratives, inputs: Integers, name: str = "logits") -> Floats:
        """Compute an output of the network for segments of sentences' numbers: segments x positions [x embedding].

        Values at positions without a sentence are arbitrary.
        """
        unlabelled = np.full(inputs.shape, NONE, dtype=np.int64)
        examples = Examples(np.zeros(len(inputs), dtype=np.int64), inputs, unlabelled.astype(np.int8), unlabelled)
        return self.collated_outputs(self.batches(narratives, examples), inputs, name)

    @torch.inference_mode()
    def collated_outputs(
        self, collator: "SentenceBatches | TokenBatches", inputs: Integers, name: str = "logits"
    ) -> Floats:
        """Compute an output of the network for segments whose embeddings or tokens the collator already has."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = self.network.to(device).eval()
        outputs = np.empty(inputs.shape)
        # Batches have segments of similar lengths, to save padding.
        order = np.argsort((inputs != NONE).sum(axis=1), kind="stable")
        size = SEGMENTS_AT_ONCE[self.level]
        for rows in (order[start : start + size] for start in range(0, len(order), size)):
            arguments = {key: value.to(device) for key, value in collator.read(rows.tolist()).items()}
            values = network(**arguments)[name].float().cpu().numpy()
            if outputs.ndim < values.ndim:
                outputs = np.empty((*inputs.shape, *values.shape[2:]))
            outputs[rows] = values
        return outputs

    def probabilities(self, narratives: Narratives, inputs: Integers) -> Floats:
        """Compute the probability of damage at each position (segments x positions); NaN if there is no such position.

        The slot after the last sentence is not a position.
        """
        values = expit(self.slope * self.outputs(narratives, inputs) + self.intercept)
        is_place = inputs != NONE
        if self.task == "missing":
            is_place[:, :-1] &= is_place[:, 1:]
            is_place[:, -1] = False
        return np.where(is_place, values, np.nan)

    def cut(self, narratives: Narratives) -> npt.NDArray[np.bool_]:
        """Return whether each sentence is longer than a token-level detector reads."""
        return self._tokenised(narratives, np.arange(len(narratives.sentences))).cut

    def _tokenised(self, narratives: Narratives, numbers: Integers) -> "TokenisedSentences":
        from macroscope.critics.narrative.token_detector import TokenisedSentences

        return TokenisedSentences(narratives.sentences, numbers, self.tokenizer, self.most)

    def save(self, folder: Path) -> None:
        """Write the detector into an existing folder."""
        info = {
            name: getattr(self, name) for name in ("task", "level", "window", "spare", "most", "slope", "intercept")
        }
        if self.level != "token":
            info |= {"size": asdict(self.network.size)}
            save_model(self.network.cpu(), str(folder / WEIGHTS))
        else:
            from macroscope.critics.narrative.token_detector import save_encoder

            info |= {"hidden": self.network.detect[0].out_features}
            save_encoder(folder / ENCODER, self.network.encoder.cpu(), self.tokenizer)
            save_model(self.network.detect.cpu(), str(folder / WEIGHTS))
        write_json(folder / DETECTOR_INFO, info)

    @classmethod
    def load(cls, folder: Path) -> "Detector":
        """Read a detector from its folder."""
        info = read_json(folder / DETECTOR_INFO)
        size, hidden = info.pop("size", None), info.pop("hidden", 0)
        if size is not None:
            network = _network_of_size(info["level"], size)
            load_model(network, str(folder / WEIGHTS))
            return cls(network=network, **info)
        from macroscope.critics.narrative.token_detector import TokenDetector, load_encoder

        encoder, tokenizer = load_encoder(str(folder / ENCODER))
        token_network = TokenDetector(encoder, hidden)
        load_model(token_network.detect, str(folder / WEIGHTS))
        return cls(network=token_network, tokenizer=tokenizer, **info)


def _network_of_size(level: str, size: dict[str, Any]) -> Any:
    """Create the network of a detector that reads embeddings."""
    if level == "similarity":
        return SimilarityDetector(SimilaritySize(**size))
    from macroscope.critics.narrative.sentence_detector import SentenceDetector, Size

    return SentenceDetector(Size(**size))


def new_detector(
    options: NarrativeOptions, detector: DetectorOptions, task: Task, embedding: int, seed: int
) -> Detector:
    """Create an untrained detector.

    Parameters
    ----------
    embedding
        Width of the sentence embeddings.
    """
    torch.manual_seed(seed)
    window = segment_after_damage(options, task)
    spare = segment_sampling(options, task, "train", seed).spare
    if detector.level == "similarity":
        network = SimilarityDetector(SimilaritySize.of(task, embedding))
        return Detector(task, "similarity", window, spare, network)
    if detector.level == "sentence":
        from macroscope.critics.narrative.sentence_detector import SentenceDetector, choose_size

        before = options.pretraining if detector.pretrained else None
        positions = max(window, segment_after_damage(before, task) if before else 0)
        size = choose_size(detector, embedding, positions)
        return Detector(task, "sentence", window, spare, SentenceDetector(size, detector.semantic_matching))
    from macroscope.critics.narrative.token_detector import TokenDetector, limit_tokens, load_encoder

    encoder, tokenizer = load_encoder(options.encoder)
    most = limit_tokens(encoder, tokenizer, options.max_tokens, window)
    return Detector(task, "token", window, spare, TokenDetector(encoder, detector.hidden), tokenizer, most)


def segment_after_damage(options: NarrativeOptions | PretrainingOptions, task: Task) -> int:
    """Return the number of sentences of a segment after damage, as a detector reads it."""
    return options.sentences - (options.damaged if task == "missing" else 0)


def split_windows(length: int, window: int, spare: int) -> list[tuple[int, int]]:
    """Return (first sentence, number of sentences) of the windows over a narrative, overlapping by half.

    Parameters
    ----------
    spare
        Half the number of sentences by which a narrative is longer than a window, at least: as in training, no window
        then contains both its beginning and its end. A window has at least three sentences if the narrative has.
    """
    size = min(window, max(min(length, 3), length - 2 * spare))
    if length <= size:
        return [(0, length)]
    step = max(1, size // 2)
    return [(first, size) for first in [*range(0, length - size, step), length - size]]


FEWEST = 2
"""Fewest sentences of a narrative that can be read: a single sentence has no context."""


def read_narratives(detector: Detector, narratives: Narratives) -> list[npt.NDArray[np.float32]]:
    """Return the probability of damage at each slot, or sentence, of every narrative: the mean over its windows.

    Returns
    -------
    list of array
        For a narrative with n sentences, n - 1 slots or n sentences; empty if n is less than `FEWEST`.
    """
    windows = [
        (number, first, size)
        for number, length in enumerate(narratives.lengths.tolist())
        if length >= FEWEST
        for first, size in split_windows(length, detector.window, detector.spare)
    ]
    inputs = np.full((len(windows), detector.window), NONE, dtype=np.int64)
    for row, (number, first, size) in enumerate(windows):
        inputs[row, :size] = narratives.starts[number] + first + np.arange(size)
    probabilities = detector.probabilities(narratives, inputs)
    sums = np.zeros(len(narratives.sentences))
    counts = np.zeros(len(narratives.sentences))
    is_place = ~np.isnan(probabilities)
    np.add.at(sums, inputs[is_place], probabilities[is_place])
    np.add.at(counts, inputs[is_place], 1)
    slices = [slice(start, end) for start, end in zip(narratives.starts[:-1], narratives.starts[1:], strict=True)]
    last = 1 if detector.task == "missing" else 0
    # In the precision of stored latents, so that thresholds mean the same before and after storing.
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0).astype(np.float32)
    return [
        means[part.start : part.stop - last] if part.stop - part.start >= FEWEST else np.empty(0, dtype=np.float32)
        for part in slices
    ]
