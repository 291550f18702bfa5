"""Token-level detector: an encoder that reads the tokens of all sentences at once (cai2020 §4.1)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.tensors import classification_loss, make_perceptron
from macroscope.critics.narratives import Integers
from macroscope.documents import in_batches
from macroscope.errors import MacroscopeError
from macroscope.pretrained import load_pretrained_encoder

SENTENCES_AT_ONCE = 10_000


class TokenDetector(nn.Module):
    """Classifier over [CLS] s_1 [SEP] s_2 [SEP] ... s_N [SEP]; the k-th [SEP] stands for sentence k, or the slot after.

    Parameters
    ----------
    encoder
        Model that returns a vector per token.
    hidden
        Number of hidden units of the classifier.
    """

    def __init__(self, encoder: Any, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.detect = make_perceptron(int(encoder.config.hidden_size), hidden, 1)

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
            Position of each sentence's [SEP]; 0 as padding (segments x positions).
        labels
            1, 0, or `NONE` (segments x positions).

        Returns
        -------
        dict
            logits (segments x positions), and the loss if labels are given.
        """
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        sentence_states = states.gather(1, ends[..., None].expand(-1, -1, states.shape[-1]))
        outputs = {"logits": self.detect(sentence_states).squeeze(-1)}
        if labels is not None:
            outputs["loss"] = classification_loss(outputs["logits"], labels)
        return outputs


def load_encoder(name: str) -> tuple[Any, Any]:
    """Load encoder and tokenizer by name."""
    encoder, tokenizer = load_pretrained_encoder(name)
    if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise MacroscopeError(
            f"encoder {name!r}: the tokenizer lacks [CLS] or [SEP], which token-level detectors put around"
            " sentences; give an encoder such as bert-base-cased, or level: sentence"
        )
    return encoder, tokenizer


def limit_tokens(encoder: Any, tokenizer: Any, max_tokens: int, sentences: int) -> int:
    """Return the limit of tokens per sentence with which a segment of this many sentences fits into the encoder."""
    positions = getattr(encoder.config, "max_position_embeddings", None) or tokenizer.model_max_length
    return max(1, min(max_tokens, (min(positions, tokenizer.model_max_length) - 1) // sentences - 1))


class TokenisedSentences:
    """Tokens of sentences, each tokenised once.

    Parameters
    ----------
    sentences
        Sentences of a collection, by their numbers.
    numbers
        Numbers of the sentences to tokenise.
    most
        Largest number of tokens per sentence; longer sentences are cut.

    Attributes
    ----------
    cut
        Whether each sentence was cut; False for sentences that are not tokenised.
    """

    def __init__(self, sentences: Sequence[str], numbers: npt.ArrayLike, tokenizer: Any, most: int) -> None:
        self.begin, self.end, self.pad = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id or 0
        self.cut = np.zeros(len(sentences), dtype=bool)
        self.tokens: dict[int, list[int]] = {}
        unique = [int(number) for number in np.unique(numbers) if number != NONE]
        for batch in in_batches(unique, SENTENCES_AT_ONCE):
            encoded = tokenizer([sentences[number] for number in batch], add_special_tokens=False)["input_ids"]
            for number, tokens in zip(batch, encoded, strict=True):
                self.cut[number] = len(tokens) > most
                self.tokens[number] = tokens[:most]

    def batch(self, inputs: Integers) -> dict[str, torch.Tensor]:
        """Return segments, given by sentences' numbers, as input of the network."""
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
    """Collator of batches of examples for the token-level detector."""

    def __init__(self, sentences: TokenisedSentences, examples: Examples) -> None:
        self.sentences, self.examples = sentences, examples

    def __call__(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Collate the examples with these indices, to train or to validate."""
        return {**self.read(rows), "labels": torch.from_numpy(self.examples.labels[rows]).long()}

    def read(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Return what the network reads of the examples with these indices."""
        return self.sentences.batch(self.examples.inputs[rows])


def save_encoder(folder: Path, encoder: Any, tokenizer: Any) -> None:
    """Write encoder and tokenizer; `load_encoder` reads them."""
    encoder.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
