"""Options of the strings critic (pimentel2022 §3, §5, App. D)."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from macroscope.critics.stage_jobs import CriticPlan, Source, StageJob
from macroscope.models import ModelName
from macroscope.options import Options, UserPath, reference_of


class LstmOptions(Options):
    """Options of the LSTM that estimates a distribution over strings (pimentel2022 App. D; published code)."""

    vocabulary: int = Field(
        4096,
        ge=300,
        description="Size of the byte-level BPE vocabulary, trained on the control's texts.",
    )
    tokenizer: ModelName | None = Field(
        None,
        description="Pretrained tokenizer in its place, by name or folder (published code: roberta-base, 50,265"
        " entries).",
    )
    embedding_size: int = Field(32, ge=1, description="Width of the token embeddings.")
    hidden_size: int = Field(128, ge=1, description="Width of the hidden state.")
    layers: int = Field(2, ge=1, description="Number of layers.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout probability.")
    max_tokens: int = Field(512, ge=8, description="Length at which training texts are cut; scored texts are not cut.")
    batch_size: int = Field(16, ge=1, description="Number of texts per update.")
    learning_rate: float = Field(1e-3, gt=0, description="Peak learning rate of Adam.")
    epochs: float = Field(10, gt=0, description="Number of passes over the texts; the best of 20 checkpoints is kept.")
    valid_share: float = Field(
        0.2, gt=0, lt=1, description="Share of the texts held out for validation (published code: 0.2)."
    )


class StringsOptions(Options):
    """Options of the strings critic: estimates of distributions over strings, and divergences between them."""

    estimator: Literal["ngram", "lstm", "kenlm"] = Field(
        "ngram",
        description="ngram: Kneser-Ney over words, as KenLM estimates it; lstm: an LSTM over byte-level BPE; kenlm: no"
        " estimate, KenLM itself scores all texts by a given `model`, for a latent NLL without divergences.",
    )
    model: UserPath | None = Field(
        None, description="With estimator: kenlm, an ARPA file or a binary file of KenLM's build_binary."
    )
    shared_vocabulary: bool = Field(
        True,
        description="Give both n-gram models one vocabulary, the words of all texts, so that a word unseen by both has"
        " the same probability under both; false, and always with another convention than the definition: each has the"
        " words of its own texts.",
    )
    order: int = Field(5, ge=1, description="Number of words of an n-gram (paper: 5).")
    folds: int = Field(
        5,
        ge=3,
        description="Number of cross-fitting folds: a text is scored by estimates from the other folds and, for"
        " intervals, from all but one of these. Run time grows with the square of the folds.",
    )
    most_texts: int = Field(
        20_000,
        ge=100,
        description="Largest number of texts of the control, and of a system, to estimate from and to score; larger"
        " collections are subsampled at random by id. Run time grows with the number of words times the square of the"
        " folds.",
    )
    scale: float | None = Field(
        None,
        gt=0,
        description="Scale s of the divergence frontier, eq. 9; default: 5, as for clusters, and with another"
        " convention than the definition the paper's 0.2.",
    )
    weights: int = Field(
        25, ge=2, description="Number of mixture weights of the divergence frontier (published code: 25)."
    )
    permutations: int = Field(1000, ge=99, description="Number of permutations for the p-values.")
    lstm: LstmOptions = Field(LstmOptions(), description="LSTM of estimator: lstm.")
    convention: Literal["definition", "published", "paper"] = Field(
        "definition",
        description="definition: cross-fitted estimates. paper: the formulas as the paper writes them, of texts scored"
        " by estimates that have seen them. published: the same by the published code (log10 in place of nats,"
        " directions swapped, trimmed means). Only the definition has intervals and p-values.",
    )

    @model_validator(mode="after")
    def _model_belongs_to_kenlm(self) -> "StringsOptions":
        if (self.estimator == "kenlm") != (self.model is not None):
            raise ValueError("estimator: kenlm and model: FILE belong together; give both, or neither")
        return self

    @property
    def number_of_fits(self) -> int:
        """Return the number of estimates of a comparison, of each side.

        They are those without each fold, from the folds before it (unless these are none, or all others), and without
        each two.
        """
        return self.folds + (self.folds - 2) + self.folds * (self.folds - 1) // 2 if self.is_cross_fitted else 1

    @property
    def is_cross_fitted(self) -> bool:
        """Return whether texts are scored by estimates that have not seen them."""
        return self.convention == "definition" and self.estimator != "kenlm"


class StringsPlan(CriticPlan):
    """The input `fits` of the stage `compare`."""

    def sources(self, job: StageJob) -> Mapping[str, Source]:
        """Return the fits of the real texts and of the system, or the given model of KenLM; none for n-grams."""
        options = self.config.critic(job.critic)
        if job.stage != "compare" or options.estimator != "lstm":
            return {"fits": [options.model] if options.model is not None else []}
        systems = dict.fromkeys((reference_of(job.keys["system"]), job.keys["system"]))
        fits = range(options.number_of_fits)
        return {"fits": [job.output("fit", system=system, fit=str(fit)) for system in systems for fit in fits]}
