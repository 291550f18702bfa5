"""Decoder of sentences from their embeddings, optionally trained together with the encoder (cai2020 §4.3).

The embedding is the decoder's token zero. With `train_encoder`, noise is added to the encoder's input, and encoder and
decoder learn to reconstruct the original sentence: a denoising autoencoder.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModelForCausalLM, set_seed

from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.evaluation import mark_text
from macroscope.critics.narrative.examples import read_examples
from macroscope.critics.narrative.generation import GENERATED, GENERATION, compute_generation_metrics, read_wordnet
from macroscope.critics.narrative.options import AutoencoderOptions, NarrativeOptions, Task
from macroscope.critics.narrative.tensors import Rows
from macroscope.critics.narratives import Vectors
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.critics.text_encoder import pool
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.models import resolve
from macroscope.options import Resampling
from macroscope.pretrained import load_pretrained_encoder, load_pretrained_tokenizer, load_saved
from macroscope.systems.language_model.model import load_base
from macroscope.systems.tokenizer import boundary_id, train_bpe
from macroscope.tables import write_csv
from macroscope.trainer import train
from macroscope.training import Checkpoints, Examples, Schedule, discard, launch

VALID_SHARE = 0.02
EVALUATIONS = 10
DEVICE_BATCH = 64
ENCODER, DECODER, BRIDGE = "encoder", "decoder", "bridge.safetensors"


class Autoencoder(nn.Module):
    """An encoder, a map from its embeddings to the decoder's, and the decoder.

    Parameters
    ----------
    encoder
        Model that returns a vector per token; None if embeddings are given.
    decoder
        Causal language model.
    width
        Width of the sentence embeddings.
    pooling
        How a sentence embedding is computed from the encoder's vectors: "mean" or "first".
    train_encoder
        Whether gradients reach the encoder.
    """

    def __init__(self, encoder: Any, decoder: Any, width: int, pooling: str, train_encoder: bool) -> None:
        super().__init__()
        self.encoder, self.decoder, self.pooling, self.train_encoder = encoder, decoder, pooling, train_encoder
        decoder_width = int(decoder.get_input_embeddings().embedding_dim)
        # Embeddings that already have the decoder's width are not mapped, as published.
        self.bridge: nn.Module = nn.Identity() if decoder_width == width else nn.Linear(width, decoder_width)
        # The Trainer reads this attribute: weights that a checkpoint does not hold.
        self._keys_to_ignore_on_save = sorted(set(super().state_dict()) - set(self.state_dict()))

    def tie_weights(self) -> None:
        """Do nothing: input and output embeddings share one tensor, so loading one loads both."""

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        """Return the weights, shared tensors once: a checkpoint cannot hold them twice."""
        weights = super().state_dict(*args, **options)
        kept = {weight.data_ptr(): name for name, weight in reversed(weights.items())}
        return {name: weight for name, weight in weights.items() if kept[weight.data_ptr()] == name}

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, written: torch.Tensor, labels: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the loss of reconstructing sentences from the encoder's input.

        Parameters
        ----------
        input_ids, attention_mask
            Input of the encoder (sentences x tokens).
        written
            Sentences in the decoder's tokens, followed by the boundary token (sentences x tokens).
        labels
            The same tokens, with -100 as padding.
        """
        with torch.set_grad_enabled(self.train_encoder and torch.is_grad_enabled()):
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            vectors = pool(states, attention_mask, self.pooling)
        zeroth = self.bridge(vectors)[:, None]
        tokens = self.decoder.get_input_embeddings()(written[:, :-1])
        logits = self.decoder(inputs_embeds=torch.cat([zeroth, tokens], dim=1)).logits
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        return {"loss": loss}


def train_autoencoder(
    documents: Path,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    checkpoints: Path,
    name: str,
    processes: int = 1,
    output: Path,
) -> None:
    """Train a decoder of sentence embeddings, and the encoder if `train_encoder` is set, on the train split.

    The folder `output` receives encoder/ (unchanged or trained), decoder/ with its tokenizer, bridge.safetensors,
    training_log.csv and training.json (number of sentences, and number of those cut at `max_tokens`).
    """
    launch(processes)
    autoencoder_options = options.autoencoders[name]
    narratives = read_corpus_narratives(documents, options.segmenter(language))
    chosen = [s for n in narratives.of_split("train") for s in _sentences_of(narratives, n)]
    sentences = _sample_sentences(list(dict.fromkeys(chosen)), autoencoder_options.most_sentences, seed)
    if len(sentences) < 2:
        raise MacroscopeError(
            f"{documents}: split 'train' has fewer than two sentences, too few for autoencoder '{name}'; give more"
            " documents"
        )
    encoder, reader = load_pretrained_encoder(options.encoder)
    decoder, writer = _load_decoder(autoencoder_options.decoder, sentences, seed)
    set_seed(seed)
    model = Autoencoder(
        encoder, decoder, int(encoder.config.hidden_size), options.pooling, autoencoder_options.train_encoder
    )
    encoder.requires_grad_(autoencoder_options.train_encoder)
    batches = NoisySentences(sentences, reader, writer, options.max_tokens, autoencoder_options, seed)
    valid = max(1, int(VALID_SHARE * len(sentences)))
    device_batch_size = min(autoencoder_options.batch_size, DEVICE_BATCH)
    schedule = Schedule.of(autoencoder_options, device_batch_size=device_batch_size, evaluations=EVALUATIONS)
    identity = {
        "options": autoencoder_options.model_dump(mode="json"),
        "encoder": [options.encoder, options.pooling, options.max_tokens],
        "seed": seed,
        "sentences": sha256("\n".join(sentences).encode()).hexdigest(),
    }
    rows = len(sentences) - valid
    examples = Examples(Rows(0, rows), Rows(rows, valid), batches)
    history = train(model, examples, schedule, Checkpoints(checkpoints, identity), seed)
    model = model.cpu()
    with atomic(output) as folder:
        folder.mkdir()
        model.encoder.save_pretrained(folder / ENCODER)
        reader.save_pretrained(folder / ENCODER)
        model.decoder.save_pretrained(folder / DECODER)
        writer.save_pretrained(folder / DECODER)
        save_file(model.bridge.state_dict(), folder / BRIDGE)
        write_csv(history, folder / "training_log.csv")
        write_json(folder / "training.json", {"sentences": len(sentences), "sentences_cut": batches.cut})
    discard(checkpoints)


class NoisySentences:
    """Collator of batches: noisy sentences for the encoder, unchanged ones for the decoder.

    Attributes
    ----------
    cut
        Number of sentences that are longer than `max_tokens` of encoder or decoder.
    """

    def __init__(
        self, sentences: Sequence[str], reader: Any, writer: Any, max_tokens: int, noise: AutoencoderOptions, seed: int
    ) -> None:
        self.reader, self.noise, self.rng = reader, noise, np.random.default_rng(seed)
        self.before, self.after = _special_tokens(reader)
        read = reader(list(sentences), add_special_tokens=False)["input_ids"]
        written = writer(list(sentences), add_special_tokens=False)["input_ids"]
        # The encoder's input is as long as in embedding, which counts the tokens before and after a text.
        most = max_tokens - len(self.before) - len(self.after)
        self.cut = sum(len(r) > most or len(w) > max_tokens for r, w in zip(read, written, strict=True))
        self.read = [np.array(tokens[:most], dtype=np.int64) for tokens in read]
        end = boundary_id(writer)
        self.written = [np.array([*tokens[:max_tokens], end], dtype=np.int64) for tokens in written]

    def __call__(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Collate the sentences with these numbers."""
        noisy = [[*self.before, *self.with_noise(self.read[row]).tolist(), *self.after] for row in rows]
        tokens = _padded(noisy, self.reader.pad_token_id or 0)
        lengths = torch.tensor([len(row) for row in noisy])
        mask = (torch.arange(tokens.shape[1])[None] < lengths[:, None]).long()
        written = [self.written[row] for row in rows]
        return {
            "input_ids": tokens,
            "attention_mask": mask,
            "written": _padded(written, 0),
            "labels": _padded(written, -100),
        }

    def with_noise(self, tokens: np.ndarray) -> np.ndarray:
        """Permute, mask and randomise shares of the encoder's tokens (Lewis et al. 2020).

        If the encoder is not trained, the tokens are returned without noise.
        """
        if not self.noise.train_encoder or not len(tokens):
            return tokens
        noisy = tokens.copy()
        moved = np.flatnonzero(self.rng.random(len(noisy)) < self.noise.permuted)
        noisy[moved] = noisy[self.rng.permutation(moved)]
        uniforms = self.rng.random(len(noisy))
        masked = uniforms < self.noise.masked
        noisy[masked] = self.reader.mask_token_id if self.reader.mask_token_id is not None else self.reader.unk_token_id
        randomised = (uniforms >= self.noise.masked) & (uniforms < self.noise.masked + self.noise.random)
        noisy[randomised] = self.rng.integers(self.reader.vocab_size, size=int(randomised.sum()))
        return noisy


class Decoder:
    """A trained decoder of sentence embeddings, loaded from an autoencoder's folder."""

    def __init__(self, folder: Path, width: int) -> None:
        decoder, self.tokenizer = load_saved(folder / DECODER, AutoModelForCausalLM)
        model = Autoencoder(None, decoder, width, "mean", train_encoder=False)
        model.bridge.load_state_dict(load_file(folder / BRIDGE))
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device).eval()
        self.end = boundary_id(self.tokenizer)

    @torch.inference_mode()
    def generate(self, vectors: np.ndarray, beams: int, max_tokens: int, at_once: int = 64) -> list[str]:
        """Generate for each embedding (sentences x width) the most probable sentence that a beam search finds."""
        sentences: list[str] = []
        for start in range(0, len(vectors), at_once):
            batch = torch.from_numpy(np.asarray(vectors[start : start + at_once], dtype=np.float32)).to(self.device)
            zeroth = self.model.bridge(batch)[:, None]
            tokens = self.model.decoder.generate(
                inputs_embeds=zeroth,
                attention_mask=torch.ones(zeroth.shape[:2], dtype=torch.long, device=self.device),
                num_beams=beams,
                do_sample=False,
                max_new_tokens=max_tokens,
                eos_token_id=self.end,
                pad_token_id=self.end,
            )
            sentences += self.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return [" ".join(sentence.split()) for sentence in sentences]


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the tokens that the tokenizer adds before and after those of a text."""
    plain, full = tokenizer("a", add_special_tokens=False)["input_ids"], tokenizer("a")["input_ids"]
    first = next(n for n in range(len(full)) if full[n : n + len(plain)] == plain)
    return full[:first], full[first + len(plain) :]


def _sentences_of(narratives: Any, number: int) -> list[str]:
    first, last = narratives.starts[number], narratives.starts[number + 1]
    return list(narratives.sentences[first:last])


def _sample_sentences(sentences: list[str], most: int | None, seed: int) -> list[str]:
    """Return the sentences in random order, at most `most` of them."""
    order = np.random.default_rng(seed).permutation(len(sentences))[:most]
    return [sentences[number] for number in order]


def _load_decoder(name: str, sentences: Sequence[str], seed: int) -> tuple[Any, Any]:
    """Load a published language model, or make an untrained one with a tokenizer trained on these sentences."""
    source = resolve(name)
    if source.location is None:
        tokenizer = train_bpe(iter(sentences), source.configuration["vocabulary"])
    else:
        tokenizer = load_pretrained_tokenizer(source)
    return load_base(source, tokenizer, seed), tokenizer


def _padded(rows: Sequence[Any], filling: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *([filling] * (longest - len(row)))] for row in rows])


# ---- infilling -------------------------------------------------------------------------------------------------------
# Infilling: generation of sentences for gaps, or in place of discordant sentences (cai2020 §4.3, Table 4).

MOST_LENGTHS = 10_000
"""Largest number of embeddings over which their mean length is computed."""


def infill(
    documents: Path,
    detector: Path,
    embeddings: Path,
    corrupted: Path,
    autoencoder: Path,
    wordnet: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    resampling: Resampling,
    task: Task,
    output: Path,
) -> None:
    """Generate a sentence for each damaged place of the test split, from the embedding that the detector predicts.

    The places are those that were damaged, not those that are detected. The folder `output` receives generation.csv
    (see `generation.compute_generation_metrics`) and generated.csv (id, context, true, generated).

    Parameters
    ----------
    wordnet
        Zip of WordNet, for METEOR's synonyms.
    """
    narratives = read_corpus_narratives(documents, options.segmenter(language), embeddings)
    test = read_examples(corrupted)[0].get("test")
    if test is None or not test.damaged.any():
        raise MacroscopeError(
            f"{corrupted}: split 'test' has no damaged segments to generate sentences for; give longer or more"
            " documents"
        )
    loaded = Detector.load(detector)
    generation = options.generation
    places = np.argwhere(test.labels == 1)[: generation.most_sentences]
    rows, row_numbers = np.unique(places[:, 0], return_inverse=True)
    predicted = loaded.outputs(narratives, test.inputs[rows], "predicted")[row_numbers, places[:, 1]]
    assert narratives.vectors is not None
    predicted = rescale_to_mean_length(narratives.vectors[:MOST_LENGTHS], predicted)
    writer = Decoder(autoencoder, predicted.shape[1])
    written = writer.generate(predicted, generation.beams, generation.max_tokens)
    true = [narratives.sentences[number] for number in test.targets[tuple(places.T)]]
    stories = narratives.families[test.narratives[places[:, 0]]]
    table = pd.DataFrame(
        {
            "id": [narratives.ids[test.narratives[row]] for row, _ in places],
            "context": [mark_text(narratives, test.inputs[row], int(position), task) for row, position in places],
            "true": true,
            "generated": written,
        }
    )
    reader = None if wordnet is None else read_wordnet(wordnet)
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(table, folder / GENERATED)
        write_csv(compute_generation_metrics(written, true, stories, resampling, reader), folder / GENERATION)


def rescale_to_mean_length(vectors: Vectors, predicted: Vectors) -> npt.NDArray[np.float64]:
    """Rescale predicted embeddings to the mean length of real ones, since eq. 2 determines only their direction."""
    length = np.linalg.norm(np.asarray(vectors, dtype=float), axis=1).mean()
    lengths = np.linalg.norm(predicted, axis=1, keepdims=True)
    return np.asarray(predicted * (length / np.maximum(lengths, 1e-12)), dtype=float)
