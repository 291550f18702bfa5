"""Options of the strings critic (pimentel2022 §3, §5, App. D)."""

from typing import Literal

from pydantic import Field

from macroscope.options import Options


class LstmOptions(Options):
    """The LSTM that estimates a distribution over strings (pimentel2022 App. D; published code)."""

    vocabulary: int = Field(
        4096, ge=300, description="Byte-level BPE of the texts of both sides (published code: that of roberta-base)."
    )
    embedding_size: int = Field(32, ge=1, description="Width of the token embeddings.")
    hidden_size: int = Field(128, ge=1, description="Width of the hidden state.")
    layers: int = Field(2, ge=1, description="Layers.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout.")
    max_tokens: int = Field(512, ge=8, description="Texts are cut at this length in training; scores are of all.")
    batch_size: int = Field(16, ge=1, description="Texts per update.")
    learning_rate: float = Field(1e-3, gt=0, description="Peak learning rate of Adam.")
    epochs: float = Field(10, gt=0, description="Passes over the texts; the best of 20 validations is kept.")
    valid_share: float = Field(0.2, gt=0, lt=1, description="Share of the texts that validates (published code: 0.2).")


class StringsOptions(Options):
    """Distributions over strings, estimated on both sides, and the divergences between them."""

    estimator: Literal["ngram", "lstm"] = Field(
        "ngram",
        description="ngram: Kneser-Ney over words, KenLM's model; lstm: an LSTM over byte-level BPE.",
    )
    shared_vocabulary: bool = Field(
        True,
        description="Both sides' n-grams are over the words of either side, so that a word costs both the same where"
        " neither has seen it; false, and always with convention: published: each over its own words.",
    )
    order: int = Field(5, ge=1, description="Words of an n-gram (paper: 5).")
    folds: int = Field(
        5,
        ge=3,
        description="Cross-fitting: a text is scored by estimates from the texts of the other folds, and for intervals"
        " by those of all but one of them. Time grows with their square.",
    )
    most_texts: int = Field(
        20_000,
        ge=100,
        description="Texts of a side that are estimated from and scored, drawn at random by their ids where there are"
        " more: time grows with the words of all of them, times the square of the folds.",
    )
    scale: float | None = Field(
        None,
        gt=0,
        description="Scale s of the divergence frontier, eq. 9; default: 5, as for clusters, and with convention:"
        " published the paper's 0.2.",
    )
    weights: int = Field(25, ge=2, description="Mixture weights of the divergence frontier (published code: 25).")
    permutations: int = Field(1000, ge=99, description="Permutations behind the p-values.")
    lstm: LstmOptions = Field(LstmOptions(), description="The LSTM, where it is the estimator.")
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="published: every text is scored by estimates that have seen it, and the divergences are those of"
        " the published code (log10 in place of nats, directions swapped, trimmed means); no intervals.",
    )
