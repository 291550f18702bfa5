"""Encoder-decoder transformers: autoregressive (Vaswani et al. 2017), and non-autoregressive (Gu et al. 2018).

The non-autoregressive one predicts the length of the translation from the original, and then all words at once: its
decoder reads the original's words, stretched to that length, and no word of the translation.
"""

from dataclasses import asdict, dataclass
from math import log

import torch
from torch import nn
from torch.nn import functional

FIRST_POSITION = 2
"""Position of the first token: fairseq counts from the entry after that of padding, which is 1."""


class Sinusoids(nn.Module):
    """Positions as sines, then cosines, of geometrically falling frequencies.

    Parameters
    ----------
    width
        Number of sines and cosines.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, position_ids: torch.Tensor) -> torch.Tensor:
        """Embed positions, counted from 0: ... -> ... x width."""
        half = self.width // 2
        frequencies = torch.exp(torch.arange(half, device=position_ids.device) * (-log(10000) / (half - 1)))
        angles = (position_ids + FIRST_POSITION)[..., None] * frequencies
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


Tensor = torch.Tensor
PAD, BEGIN, END = 0, 1, 2
"""Special tokens."""
ENCODER, DECODER = 0, 1
"""The sides of a network."""
IGNORED = -100
"""Label of padding, which the loss ignores."""
_LENGTH_WEIGHT = 0.1
"""Weight of the length's cross-entropy relative to that of a token."""


@dataclass(frozen=True)
class Size:
    """Sizes of a network.

    Attributes
    ----------
    vocabulary
        Number of tokens, including the special ones.
    longest
        Largest number of tokens of an original or a translation.
    layers, heads, width, hidden, dropout
        Sizes of encoder and decoder, as in `TranslationSystem`.
    autoregressive
        Whether each token is predicted given those before it.
    positions
        Learnt positions of each side; 0: sinusoids; None: one table of longest + 2 for both sides.
    lengths
        Number of lengths that can be predicted; None: longest + 1.
    """

    vocabulary: int
    longest: int
    layers: int
    heads: int
    width: int
    hidden: int
    dropout: float
    autoregressive: bool
    positions: int | None = None
    lengths: int | None = None

    def as_dict(self) -> dict[str, int | float | bool | None]:
        """Return the sizes as a JSON object."""
        return asdict(self)


class Translator(nn.Module):
    """Model of P(translation | original)."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.words = nn.Embedding(size.vocabulary, size.width, padding_idx=PAD)
        self.places = _make_positions(size)
        nn.init.normal_(self.words.weight, std=size.width**-0.5)
        for weight in self.places.parameters():
            nn.init.normal_(weight, std=size.width**-0.5)
        nn.init.zeros_(self.words.weight[PAD])
        shape = (size.width, size.heads, size.hidden, size.dropout)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*shape, batch_first=True, norm_first=True),
            size.layers,
            nn.LayerNorm(size.width),
            enable_nested_tensor=False,
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*shape, batch_first=True, norm_first=True), size.layers, nn.LayerNorm(size.width)
        )
        self.lengths = None if size.autoregressive else nn.Linear(size.width, size.lengths or size.longest + 1)

    def forward(self, originals: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Compute the loss of pairs in nats per token.

        Parameters
        ----------
        originals
            Originals: pairs x tokens, padded.
        labels
            Translations: pairs x tokens, padded; without `BEGIN`, with `END`.
        """
        memory = self.encode(originals)
        absent = labels == PAD
        logits = self.decode(originals, memory, self._decoder_input(originals, labels), absent)
        targets = labels.masked_fill(absent, IGNORED)
        loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        if self.lengths is not None:
            length_loss = functional.cross_entropy(self.length_logits(originals, memory), (~absent).sum(dim=1))
            loss = loss + _LENGTH_WEIGHT * length_loss
        return {"loss": loss}

    def encode(self, originals: Tensor) -> Tensor:
        """Encode originals: originals x tokens -> originals x tokens x width."""
        return self.encoder(self._embed(originals, ENCODER), src_key_padding_mask=originals == PAD)

    def decode(self, originals: Tensor, memory: Tensor, inputs: Tensor, padding: Tensor | None = None) -> Tensor:
        """Compute the logits of the tokens at each position: pairs x positions x vocabulary.

        Parameters
        ----------
        originals, memory
            Originals, and their encodings by `encode`.
        inputs
            Embedded inputs of the decoder: pairs x positions x width.
        padding
            Positions without a token: pairs x positions.
        """
        mask = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1], device=inputs.device)
        out = self.decoder(
            inputs,
            memory,
            tgt_mask=mask if self.size.autoregressive else None,
            tgt_key_padding_mask=None if padding is None else _as_mask(padding),
            memory_key_padding_mask=_as_mask(originals == PAD),
            tgt_is_causal=self.size.autoregressive,
        )
        return out @ self.words.weight.T

    def length_logits(self, originals: Tensor, memory: Tensor) -> Tensor:
        """Compute the logits of the number of tokens, the end included: originals x lengths."""
        assert self.lengths is not None
        is_token = (originals != PAD)[:, :, None]
        return self.lengths((memory * is_token).sum(dim=1) / is_token.sum(dim=1))

    def embed_shifted(self, translations: Tensor) -> Tensor:
        """Embed the inputs of an autoregressive decoder: the token before each position."""
        begin = translations.new_full((len(translations), 1), BEGIN)
        return self._embed(torch.cat([begin, translations[:, :-1]], dim=1), DECODER)

    def embed_stretched(self, originals: Tensor, lengths: Tensor) -> Tensor:
        """Embed the inputs of a non-autoregressive decoder: the original's tokens, copied evenly over the length."""
        positions = torch.arange(int(lengths.max()), device=originals.device)[None]
        sizes = (originals != PAD).sum(dim=1, keepdim=True)
        copied = (positions * sizes // lengths[:, None]).clamp(max=originals.shape[1] - 1).minimum(sizes - 1)
        return self._embed(originals.gather(1, copied), DECODER)

    def _decoder_input(self, originals: Tensor, translations: Tensor) -> Tensor:
        if self.size.autoregressive:
            return self.embed_shifted(translations)
        wide = self.embed_stretched(originals, (translations != PAD).sum(dim=1))
        return functional.pad(wide, (0, 0, 0, translations.shape[1] - wide.shape[1]))

    def _embed(self, tokens: Tensor, table: int) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.words(tokens) * self.size.width**0.5 + self.places[table % len(self.places)](positions)


def _make_positions(size: Size) -> nn.ModuleList:
    """Return the embeddings of positions: one for each side, or one for both."""
    if size.positions == 0:
        return nn.ModuleList([Sinusoids(size.width)])
    if size.positions is None:
        return nn.ModuleList([nn.Embedding(size.longest + 2, size.width)])
    return nn.ModuleList(nn.Embedding(size.positions, size.width) for _ in (ENCODER, DECODER))


def _as_mask(absent: Tensor) -> Tensor:
    """Return an additive mask, of the same type as the causal one."""
    return torch.zeros(absent.shape, device=absent.device).masked_fill(absent, float("-inf"))
