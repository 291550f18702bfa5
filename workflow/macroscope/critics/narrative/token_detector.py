"""The token-level detector: an encoder that reads the words of all sentences at once (cai2020 §4.1)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.narratives import Integers
from macroscope.critics.narrative.tensors import classification_loss, perceptron
from macroscope.documents import in_batches
from macroscope.errors import MacroscopeError
from macroscope.pretrained import load_pretrained_encoder

SENTENCES_AT_ONCE = 10_000


class TokenDetector(nn.Module):
    """Reads [CLS] s_1 [SEP] s_2 [SEP] ... s_N [SEP]; the k-th [SEP] stands for sentence k, or the slot behind it.

    Parameters
    ----------
    encoder
        A model that gives a vector a token.
    hidden
        Hidden units of the classifier.
    """

    def __init__(self, encoder: Any, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.detect = perceptron(int(encoder.config.hidden_size), hidden, 1)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        ends: torch.Tensor,
        labels: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """Run the network.

        Parameters
        ----------
        input_ids, attention_mask
            Segments x tokens.
        ends
            Place of each sentence's [SEP]; 0 where there is no sentence (segments x positions).
        labels
            1, 0, or `NONE` (segments x positions).

        Returns
        -------
        dict
            logits (segments x positions), and with labels the loss.
        """
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        of_sentences = states.gather(1, ends[..., None].expand(-1, -1, states.shape[-1]))
        found = {"logits": self.detect(of_sentences).squeeze(-1)}
        if labels is not None:
            found["loss"] = classification_loss(found["logits"], labels)
        return found


def load_encoder(name: str) -> tuple[Any, Any]:
    """Encoder and tokenizer by name.

    Raises
    ------
    MacroscopeError
        Where the model has no weights, or its tokenizer none of the marks between sentences.
    """
    encoder, tokenizer = load_pretrained_encoder(name)
    if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise MacroscopeError(
            f"encoder {name!r}: its tokenizer has no [CLS] and [SEP], which token-level detectors set between"
            " sentences; take an encoder such as bert-base-cased, or level: sentence"
        )
    return encoder, tokenizer


def most_tokens(encoder: Any, tokenizer: Any, max_tokens: int, sentences: int) -> int:
    """Tokens of a sentence, so that as many sentences as a segment has fit into what the encoder reads at once."""
    positions = getattr(encoder.config, "max_position_embeddings", None) or tokenizer.model_max_length
    return max(1, min(max_tokens, (min(positions, tokenizer.model_max_length) - 1) // sentences - 1))


class TokenisedSentences:
    """Tokens of those sentences that are read, each made once.

    Parameters
    ----------
    sentences
        Of a collection, by their numbers.
    numbers
        Of those that are read; others have no tokens.
    most
        Tokens of a sentence; longer ones are cut.

    Attributes
    ----------
    cut
        Whether each sentence was cut; False for one that is not read.
    """

    def __init__(self, sentences: Sequence[str], numbers: npt.ArrayLike, tokenizer: Any, most: int) -> None:
        self.begin, self.end, self.pad = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id or 0
        self.cut = np.zeros(len(sentences), dtype=bool)
        self.tokens: dict[int, list[int]] = {}
        read = [int(number) for number in np.unique(numbers) if number != NONE]
        for some in in_batches(read, SENTENCES_AT_ONCE):
            encoded = tokenizer([sentences[number] for number in some], add_special_tokens=False)["input_ids"]
            for number, tokens in zip(some, encoded, strict=True):
                self.cut[number] = len(tokens) > most
                self.tokens[number] = tokens[:most]

    def batch(self, inputs: Integers) -> dict[str, torch.Tensor]:
        """Segments of sentences, given by numbers, as the network reads them."""
        rows, ends = [], []
        for numbers in inputs:
            row, places = [self.begin], []
            for number in numbers[numbers != NONE]:
                row += [*self.tokens[number], self.end]
                places.append(len(row) - 1)
            rows.append(row)
            ends.append(places + [0] * (len(numbers) - len(places)))
        longest = max(map(len, rows))
        tokens = torch.tensor([row + [self.pad] * (longest - len(row)) for row in rows])
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(longest)[None] < lengths[:, None]).long()
        return {"input_ids": tokens, "attention_mask": mask, "ends": torch.tensor(ends)}


class TokenBatches:
    """Makes batches of examples, for training or without labels."""

    def __init__(self, sentences: TokenisedSentences, examples: Examples) -> None:
        self.sentences, self.examples = sentences, examples

    def __call__(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Collate some examples."""
        some = self.examples.some(rows)
        return self.sentences.batch(some.inputs) | {"labels": torch.from_numpy(some.labels).long()}


def save_encoder(folder: Path, encoder: Any, tokenizer: Any) -> None:
    """Write encoder and tokenizer, for `load_encoder` to read."""
    encoder.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
