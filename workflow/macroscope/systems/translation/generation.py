"""Translations of held-out originals, drawn from a trained model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_model
from tokenizers import Tokenizer

from macroscope.corpora.plain_text import tidy
from macroscope.documents import Count, Document, Provenance, Section, in_batches, keep, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.progress import Progress
from macroscope.systems.translation.network import BEGIN, END, PAD, Size, Translator
from macroscope.systems.translation.options import TranslationSystem
from macroscope.systems.translation.pairs import Tokens, padded, translated

Tensor = torch.Tensor
Uniforms = NDArray[np.float64]


def translate(
    documents: Path, model: Path, output: Path, options: TranslationSystem, *, corpus: str, system: str, seed: int
) -> None:
    """Translate the originals of a held-out split; a translation has the id of the document whose original it is of.

    Counts originals that are too long or not among the samples, translations that were cut at `max_tokens`, and those
    without any text, which are dropped.

    Parameters
    ----------
    model
        Folder of the trained model.
    seed
        Seed of the run; the system's own is added. Each original has random numbers of its own.
    """
    seed += options.seed
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    network = load(model)
    cut = Count(f"translation longer than {options.max_tokens} pieces: cut", 0, 0, "translations")
    long = Count(f"original longer than {options.max_tokens} pieces", 0, 0)
    left = Count("original that is not among the samples", 0, 0)
    empty = Count("translation without text", 0, 0)
    asked = _asked(documents, options, tokenizer, long, left)
    if not asked:
        raise MacroscopeError(f"{documents}: no originals in split '{options.split}' to translate")

    def drawn() -> Iterator[Document]:
        with Progress(f"translate, {system}", len(asked), "originals") as progress:
            for batch in in_batches(asked, options.batch_size):
                rows = [
                    np.random.default_rng([seed, crc32(system.encode()), crc32(document.id.encode())]).random(
                        options.max_tokens + 1
                    )
                    for document, _ in batch
                ]
                found = draw(network, [tokens for _, tokens in batch], np.array(rows), options.temperature)
                for (document, _), (tokens, finished) in zip(batch, found, strict=True):
                    keep(cut, finished)
                    text = tidy(tokenizer.decode(tokens))
                    if keep(empty, bool(text)):
                        sections = (Section(None, text),)
                        yield replace(document, title=None, sections=sections, sentences=None, label=None)
                progress.advance(len(batch))

    source = {"system": system, "seed": seed, "split": options.split}
    provenance = Provenance(corpus, source, options.model_dump(mode="json"), [long, left, cut, empty])
    write_documents(output, drawn(), provenance)


def load(model: Path) -> Translator:
    """Read a trained model, on the GPU where there is one."""
    network = Translator(Size(**read_json(model / "size.json")))
    load_model(network, str(model / "model.safetensors"))
    return network.to("cuda" if torch.cuda.is_available() else "cpu").eval()


@torch.no_grad()
def draw(
    network: Translator, originals: Sequence[Tokens], uniforms: Uniforms, temperature: float
) -> list[tuple[Tokens, bool]]:
    """Tokens of a translation of each original, without the end, and whether it came to its end.

    Parameters
    ----------
    uniforms
        Originals x (most tokens + 1): the random number of each place, after that of the length.
    temperature
        0: the most probable token.
    """
    device = network.words.weight.device
    given = padded(originals).to(device)
    memory = network.encode(given)
    numbers = torch.from_numpy(uniforms).to(device)
    if network.size.autoregressive:
        return _word_by_word(network, given, memory, numbers, temperature)
    lengths = _choose(network.length_logits(given, memory), numbers[:, 0], temperature).clamp(min=1)
    beyond = torch.arange(int(lengths.max()), device=device)[None] >= lengths[:, None]
    logits = network.decode(given, memory, network.stretched(given, lengths), beyond)
    logits[:, :, [PAD, BEGIN, END]] = float("-inf")
    # Row by row: the probabilities of all words at all places of a batch are gigabytes.
    chosen = torch.stack(
        [_choose(*row, temperature) for row in zip(logits, numbers[:, 1 : 1 + logits.shape[1]], strict=True)]
    )
    # The end is a token as well; the length says where it is.
    return [(row[: length - 1], True) for row, length in zip(chosen.tolist(), lengths.tolist(), strict=True)]


def _word_by_word(
    network: Translator, given: Tensor, memory: Tensor, numbers: Tensor, temperature: float
) -> list[tuple[Tokens, bool]]:
    rows = torch.empty((len(given), 0), dtype=torch.long, device=given.device)
    ended = torch.zeros(len(given), dtype=torch.bool, device=given.device)
    for place in range(network.size.longest):
        # The last column stands for the token that is not known yet.
        read = network.shifted(torch.nn.functional.pad(rows, (0, 1)))
        logits = network.decode(given, memory, read)[:, -1]
        logits[:, [PAD, BEGIN]] = float("-inf")
        chosen = _choose(logits, numbers[:, 1 + place], temperature).masked_fill(ended, PAD)
        rows = torch.cat([rows, chosen[:, None]], dim=1)
        ended |= chosen == END
        if bool(ended.all()):
            break
    return [
        ([token for token in row if token not in (PAD, END)], finished)
        for row, finished in zip(rows.tolist(), ended.tolist(), strict=True)
    ]


def _choose(logits: Tensor, numbers: Tensor, temperature: float) -> Tensor:
    """A token at each place, by the inverse of its distribution function."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    cumulative = torch.softmax(logits.double() / temperature, dim=-1).cumsum(dim=-1)
    return (
        torch.searchsorted(cumulative, (numbers * cumulative[..., -1])[..., None])
        .squeeze(-1)
        .clamp(max=logits.shape[-1] - 1)
    )


def _asked(
    documents: Path, options: TranslationSystem, tokenizer: Tokenizer, long: Count, left: Count
) -> list[tuple[Document, Tokens]]:
    """The originals that are translated, with their tokens; of more than are asked for those of the lowest hash."""
    found: list[tuple[Document, Tokens]] = []
    for document, original in translated(documents, options.split):
        tokens = tokenizer.encode(original).ids
        if keep(long, len(tokens) <= options.max_tokens):
            found.append((document, tokens))
    if options.samples is None or len(found) <= options.samples:
        left.kept = len(found)
        return found
    ranks = [sha256(document.id.encode()).digest() for document, _ in found]
    last = sorted(ranks)[options.samples - 1]
    return [pair for pair, rank in zip(found, ranks, strict=True) if keep(left, rank <= last)]
