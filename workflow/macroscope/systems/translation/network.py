"""Encoder-decoder transformers: autoregressive (Vaswani et al. 2017), and with independent words (Gu et al. 2018).

The non-autoregressive one predicts the length of the translation from the original, and then each word at once: its
decoder reads the original's words, stretched to that length, and no word of the translation.
"""

from dataclasses import asdict, dataclass

import torch
from torch import nn
from torch.nn import functional

Tensor = torch.Tensor
PAD, BEGIN, END = 0, 1, 2
"""Tokens that are no pieces of words."""
IGNORED = -100
_LENGTH_WEIGHT = 0.1
"""Weight of the length's cross-entropy beside that of a word."""


@dataclass(frozen=True)
class Size:
    """Sizes of a network.

    Attributes
    ----------
    vocabulary
        Tokens, the special ones among them.
    longest
        Most tokens of either side.
    """

    vocabulary: int
    longest: int
    layers: int
    heads: int
    width: int
    hidden: int
    dropout: float
    autoregressive: bool

    def as_dict(self) -> dict[str, int | float | bool]:
        """As JSON has it."""
        return asdict(self)


class Translator(nn.Module):
    """P(translation | original)."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.words = nn.Embedding(size.vocabulary, size.width, padding_idx=PAD)
        self.places = nn.Embedding(size.longest + 2, size.width)
        nn.init.normal_(self.words.weight, std=size.width**-0.5)
        nn.init.normal_(self.places.weight, std=size.width**-0.5)
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
        self.lengths = None if size.autoregressive else nn.Linear(size.width, size.longest + 1)

    def forward(self, originals: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Loss in nats a token, of pairs.

        Parameters
        ----------
        originals
            Pairs x tokens, padded.
        labels
            Translations: pairs x tokens, padded; without begin, with end.
        """
        memory = self.encode(originals)
        absent = labels == PAD
        logits = self.decode(originals, memory, self._decoder_input(originals, labels), absent)
        targets = labels.masked_fill(absent, IGNORED)
        loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        if self.lengths is not None:
            of_length = functional.cross_entropy(self.length_logits(originals, memory), (~absent).sum(dim=1))
            loss = loss + _LENGTH_WEIGHT * of_length
        return {"loss": loss}

    def encode(self, originals: Tensor) -> Tensor:
        """Originals x tokens -> originals x tokens x width."""
        return self.encoder(self._embedded(originals), src_key_padding_mask=originals == PAD)

    def decode(self, originals: Tensor, memory: Tensor, given: Tensor, padding: Tensor | None = None) -> Tensor:
        """Logits of the tokens at each place: pairs x places x vocabulary.

        Parameters
        ----------
        given
            What the decoder reads, embedded: pairs x places x width.
        padding
            Places without a token.
        """
        mask = nn.Transformer.generate_square_subsequent_mask(given.shape[1], device=given.device)
        out = self.decoder(
            given,
            memory,
            tgt_mask=mask if self.size.autoregressive else None,
            tgt_key_padding_mask=None if padding is None else _as_mask(padding),
            memory_key_padding_mask=_as_mask(originals == PAD),
            tgt_is_causal=self.size.autoregressive,
        )
        return out @ self.words.weight.T

    def length_logits(self, originals: Tensor, memory: Tensor) -> Tensor:
        """Logits of the number of tokens, the end among them: originals x (longest + 1)."""
        assert self.lengths is not None
        there = (originals != PAD)[:, :, None]
        return self.lengths((memory * there).sum(dim=1) / there.sum(dim=1))

    def shifted(self, translations: Tensor) -> Tensor:
        """What an autoregressive decoder reads: the tokens before each place, embedded."""
        begin = translations.new_full((len(translations), 1), BEGIN)
        return self._embedded(torch.cat([begin, translations[:, :-1]], dim=1))

    def stretched(self, originals: Tensor, lengths: Tensor) -> Tensor:
        """What a non-autoregressive decoder reads: the original's tokens, copied evenly over so many places."""
        places = torch.arange(int(lengths.max()), device=originals.device)[None]
        sizes = (originals != PAD).sum(dim=1, keepdim=True)
        copied = (places * sizes // lengths[:, None]).clamp(max=originals.shape[1] - 1).minimum(sizes - 1)
        return self._embedded(originals.gather(1, copied))

    def _decoder_input(self, originals: Tensor, translations: Tensor) -> Tensor:
        if self.size.autoregressive:
            return self.shifted(translations)
        wide = self.stretched(originals, (translations != PAD).sum(dim=1))
        return functional.pad(wide, (0, 0, 0, translations.shape[1] - wide.shape[1]))

    def _embedded(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.words(tokens) * self.size.width**0.5 + self.places(places)


def _as_mask(absent: Tensor) -> Tensor:
    """Additive mask: of the same type as the causal one."""
    return torch.zeros(absent.shape, device=absent.device).masked_fill(absent, float("-inf"))
