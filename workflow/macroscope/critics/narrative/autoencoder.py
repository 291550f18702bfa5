"""A decoder that writes the sentence an embedding stands for, and the encoder that it may train along (cai2020 §4.3).

The embedding is the decoder's token zero. With `train_encoder`, noise is put on what the encoder reads, and the two
learn to give the sentence as it was: a denoising autoencoder.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModelForCausalLM, set_seed

from macroscope.critics.narrative.narratives import corpus_narratives
from macroscope.critics.narrative.options import AutoencoderOptions, NarrativeOptions
from macroscope.critics.narrative.tensors import Rows
from macroscope.critics.text_encoder import pool
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.models import resolve
from macroscope.pretrained import load_own, load_pretrained_encoder, load_pretrained_tokenizer
from macroscope.systems.language_model.model import load_base
from macroscope.systems.tokenizer import boundary_id, train_bpe
from macroscope.tables import write_csv
from macroscope.training import Checkpoints, Examples, Schedule, discard, launch, train

VALID_SHARE = 0.02
EVALUATIONS = 10
DEVICE_BATCH = 64
ENCODER, DECODER, BRIDGE = "encoder", "decoder", "bridge.safetensors"


class Autoencoder(nn.Module):
    """An encoder, a map from its embedding onto the decoder's, and the decoder.

    Parameters
    ----------
    encoder
        Gives a vector a token; None where embeddings are given.
    decoder
        A causal language model.
    width
        Of the sentence embeddings.
    pooling
        Which of the encoder's vectors embeds a sentence.
    """

    def __init__(self, encoder: Any, decoder: Any, width: int, pooling: str, train_encoder: bool) -> None:
        super().__init__()
        self.encoder, self.decoder, self.pooling, self.train_encoder = encoder, decoder, pooling, train_encoder
        own = int(decoder.get_input_embeddings().embedding_dim)
        # Embeddings of the decoder's width are read as they are, as published.
        self.bridge: nn.Module = nn.Identity() if own == width else nn.Linear(width, own)
        # By this name the Trainer knows of weights that a checkpoint does not hold.
        self._keys_to_ignore_on_save = sorted(set(super().state_dict()) - set(self.state_dict()))

    def tie_weights(self) -> None:
        """Do nothing: input and output share their tensor, so that loading the one has loaded the other."""

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        """Weights, those once that a language model uses for input and output: a checkpoint cannot hold them twice."""
        found = super().state_dict(*args, **options)
        once = {weight.data_ptr(): name for name, weight in reversed(found.items())}
        return {name: weight for name, weight in found.items() if once[weight.data_ptr()] == name}

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, written: torch.Tensor, labels: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Loss of writing sentences from what the encoder reads.

        Parameters
        ----------
        input_ids, attention_mask
            What the encoder reads (sentences x tokens).
        written
            The sentence in the decoder's tokens, with the boundary token behind it (sentences x tokens).
        labels
            The same, with -100 where there is no token.
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
    """Train a decoder of sentence embeddings, and the encoder where the options say so, on the train split.

    Writes into the folder `output`: encoder/ (as it was, or trained), decoder/ with its tokenizer, bridge.safetensors,
    training_log.csv and training.json (sentences, and how many are longer than `max_tokens` and cut).
    """
    launch(processes)
    asked = options.autoencoders[name]
    narratives = corpus_narratives(documents, language)
    chosen = [s for n in narratives.of_split("train") for s in _sentences(narratives, n)]
    sentences = _some(list(dict.fromkeys(chosen)), asked.most_sentences, seed)
    if len(sentences) < 2:
        raise MacroscopeError(f"{documents}: fewer than two sentences in split 'train' for autoencoder '{name}'")
    encoder, reader = load_pretrained_encoder(options.encoder)
    decoder, writer = _decoder(asked.decoder, sentences, seed)
    set_seed(seed)
    model = Autoencoder(encoder, decoder, int(encoder.config.hidden_size), options.pooling, asked.train_encoder)
    encoder.requires_grad_(asked.train_encoder)
    batches = NoisySentences(sentences, reader, writer, options.max_tokens, asked, seed)
    valid = max(1, int(VALID_SHARE * len(sentences)))
    schedule = Schedule(
        epochs=asked.epochs,
        batch_size=asked.batch_size,
        device_batch_size=min(asked.batch_size, DEVICE_BATCH),
        learning_rate=asked.learning_rate,
        evaluations=EVALUATIONS,
    )
    identity = {
        "options": asked.model_dump(mode="json"),
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
    """Makes batches: sentences with noise for the encoder, as they are for the decoder.

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
        # What the encoder reads is as long as what it embeds later, with the tokens before and after a text.
        most = max_tokens - len(self.before) - len(self.after)
        self.cut = sum(len(r) > most or len(w) > max_tokens for r, w in zip(read, written, strict=True))
        self.read = [np.array(tokens[:most], dtype=np.int64) for tokens in read]
        end = boundary_id(writer)
        self.written = [np.array([*tokens[:max_tokens], end], dtype=np.int64) for tokens in written]

    def __call__(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Collate some sentences."""
        noisy = [[*self.before, *self.with_noise(self.read[row]).tolist(), *self.after] for row in rows]
        tokens = _padded(noisy, self.reader.pad_token_id or 0)
        lengths = torch.tensor([len(some) for some in noisy])
        mask = (torch.arange(tokens.shape[1])[None] < lengths[:, None]).long()
        written = [self.written[row] for row in rows]
        return {
            "input_ids": tokens,
            "attention_mask": mask,
            "written": _padded(written, 0),
            "labels": _padded(written, -100),
        }

    def with_noise(self, tokens: np.ndarray) -> np.ndarray:
        """Shares of the tokens change places, are masked, or become any token (Lewis et al. 2020); the encoder's alone.

        Where the encoder is not trained, there is no noise.
        """
        if not self.noise.train_encoder or not len(tokens):
            return tokens
        found = tokens.copy()
        moved = np.flatnonzero(self.rng.random(len(found)) < self.noise.permuted)
        found[moved] = found[self.rng.permutation(moved)]
        drawn = self.rng.random(len(found))
        masked = drawn < self.noise.masked
        found[masked] = self.reader.mask_token_id if self.reader.mask_token_id is not None else self.reader.unk_token_id
        anything = (drawn >= self.noise.masked) & (drawn < self.noise.masked + self.noise.random)
        found[anything] = self.rng.integers(self.reader.vocab_size, size=int(anything.sum()))
        return found


class Decoder:
    """What writes sentences from embeddings, from the folder of an autoencoder."""

    def __init__(self, folder: Path, width: int) -> None:
        decoder, self.tokenizer = load_own(folder / DECODER, AutoModelForCausalLM)
        model = Autoencoder(None, decoder, width, "mean", train_encoder=False)
        model.bridge.load_state_dict(load_file(folder / BRIDGE))
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device).eval()
        self.end = boundary_id(self.tokenizer)

    @torch.inference_mode()
    def write(self, vectors: np.ndarray, beams: int, max_tokens: int, at_once: int = 64) -> list[str]:
        """Write the most probable sentence that a beam search finds for each embedding (sentences x width)."""
        found: list[str] = []
        for start in range(0, len(vectors), at_once):
            some = torch.from_numpy(np.asarray(vectors[start : start + at_once], dtype=np.float32)).to(self.device)
            zeroth = self.model.bridge(some)[:, None]
            tokens = self.model.decoder.generate(
                inputs_embeds=zeroth,
                attention_mask=torch.ones(zeroth.shape[:2], dtype=torch.long, device=self.device),
                num_beams=beams,
                do_sample=False,
                max_new_tokens=max_tokens,
                eos_token_id=self.end,
                pad_token_id=self.end,
            )
            found += self.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return [" ".join(sentence.split()) for sentence in found]


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Tokens that the encoder is given before and after those of a text."""
    plain, full = tokenizer("a", add_special_tokens=False)["input_ids"], tokenizer("a")["input_ids"]
    first = next(n for n in range(len(full)) if full[n : n + len(plain)] == plain)
    return full[:first], full[first + len(plain) :]


def _sentences(narratives: Any, number: int) -> list[str]:
    first, last = narratives.starts[number], narratives.starts[number + 1]
    return list(narratives.sentences[first:last])


def _some(sentences: list[str], most: int | None, seed: int) -> list[str]:
    """Sentences in random order, at most so many."""
    order = np.random.default_rng(seed).permutation(len(sentences))[:most]
    return [sentences[number] for number in order]


def _decoder(name: str, sentences: Sequence[str], seed: int) -> tuple[Any, Any]:
    """A published language model, or one from scratch with a tokenizer of these sentences."""
    source = resolve(name)
    if source.location is None:
        tokenizer = train_bpe(iter(sentences), source.configuration["vocabulary"])
    else:
        tokenizer = load_pretrained_tokenizer(source)
    return load_base(source, tokenizer, seed), tokenizer


def _padded(rows: Sequence[Any], filling: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *([filling] * (longest - len(row)))] for row in rows])
