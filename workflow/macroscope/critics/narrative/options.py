"""Options of the narrative critic (cai2020)."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from macroscope.models import Precision
from macroscope.options import CONTROL, Name, Options, require_name

if TYPE_CHECKING:
    from macroscope.config.schema import Config

Task = Literal["missing", "discordant"]
JUDGE = "judge"
"""Name of the detector that judges systems; none of `compared` may have it."""


class DetectorOptions(Options):
    """A detector: what it reads, its size, its training."""

    level: Literal["sentence", "token"] = Field(
        "sentence",
        description="sentence: a transformer over sentence embeddings that do not change, trained from scratch; token:"
        " the encoder itself, fine-tuned on the words of all sentences (cai2020 §4.1).",
    )
    layers: int = Field(4, ge=1, description="Layers of the transformer over sentences (paper: 12).")
    heads: int = Field(6, ge=1, description="Its attention heads (paper: 12).")
    width: int | None = Field(None, ge=4, description="Its width; default: that of the embeddings (paper: 768).")
    hidden: int = Field(768, ge=4, description="Hidden units of the classifier on top (paper: 768).")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout in training.")
    semantic_matching: float = Field(
        0.0,
        ge=0,
        description="Weight of the second loss, how far from the sentence that was there its predicted embedding is"
        " (eq. 2; paper: + SM); 0: none. For level: sentence.",
    )
    pretrained: bool = Field(
        False, description="Begin with the weights that `pretraining` gave (paper: + pre-train). For level: sentence."
    )
    autoencoder: Name | None = Field(
        None,
        description="Which of `autoencoders` embeds the sentences, where it trains its encoder (paper: + DAE), and"
        " writes sentences into the gaps. For level: sentence.",
    )
    epochs: float = Field(10, gt=0, description="Passes over the training segments; the best one is kept.")
    batch_size: int = Field(64, ge=1, description="Segments per update.")
    learning_rate: float = Field(3e-4, gt=0, description="Peak learning rate of AdamW (token level: 2e-5 is usual).")
    warmup_share: float = Field(0.1, ge=0, lt=1, description="Share of the updates in which the rate rises.")
    weight_decay: float = Field(0.01, ge=0, description="Of AdamW.")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "DetectorOptions":
        if self.width and self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared by {self.heads} heads; give a multiple")
        return self

    @model_validator(mode="after")
    def _of_its_level(self) -> "DetectorOptions":
        if self.level == "token" and (self.semantic_matching or self.pretrained or self.autoencoder):
            raise ValueError(
                "a detector of level 'token' has no sentence embeddings, which semantic_matching, pretrained and"
                " autoencoder are about; leave them out"
            )
        return self


class PretrainingOptions(Options):
    """Training on damaged segments of another, larger corpus first (cai2020 §4.2, §5.1)."""

    corpus: str = Field(description="Corpus of the config whose train split is used (paper: stories).")
    sentences: int = Field(16, ge=4, description="Sentences of a segment before damage (paper: 16).")
    damaged: int = Field(4, ge=1, description="Sentences that are damaged (paper: 25 %).")
    draws: int = Field(4, ge=1, description="Segments drawn from a document, at most.")
    epochs: float = Field(1, gt=0, description="Passes over the segments.")
    learning_rate: float = Field(3e-4, gt=0, description="Peak learning rate.")


class AutoencoderOptions(Options):
    """A decoder that writes the sentence an embedding stands for (cai2020 §4.3)."""

    decoder: str = Field(
        "gpt2", description="Causal language model that writes: a name in resources/models.yaml, a hub name, a folder."
    )
    corpus: str | None = Field(None, description="Corpus whose sentences it learns (paper: stories); default: the own.")
    train_encoder: bool = Field(
        False,
        description="Train the encoder along, to write the sentence that the noise was put on (paper: DAE); false: the"
        " encoder stays as it is, and only the decoder learns.",
    )
    permuted: float = Field(0.2, ge=0, le=1, description="Share of a sentence's tokens that change places (paper: .2).")
    masked: float = Field(0.2, ge=0, le=1, description="Share that is masked (paper: .2).")
    random: float = Field(0.2, ge=0, le=1, description="Share that becomes any token (paper: .2).")
    most_sentences: int | None = Field(None, ge=10, description="Learn from a random subset of this size.")
    epochs: float = Field(1, gt=0, description="Passes over the sentences.")
    batch_size: int = Field(64, ge=1, description="Sentences per update.")
    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate.")

    @model_validator(mode="after")
    def _noise(self) -> "AutoencoderOptions":
        if self.masked + self.random > 1:
            raise ValueError("'masked' and 'random' are shares of one sentence: they add up to 1 at most")
        return self


class GenerationOptions(Options):
    """How sentences are written into the gaps (cai2020 §4.3, Table 4)."""

    beams: int = Field(5, ge=1, description="Width of the beam search (paper: 5).")
    max_tokens: int = Field(48, ge=2, description="Most tokens of a sentence.")
    most_sentences: int | None = Field(2000, ge=1, description="Gaps that are filled, the first ones; null: all.")


class NarrativeOptions(Options):
    """Detectors of missing and of discordant sentences."""

    tasks: list[Task] = Field(
        ["missing", "discordant"],
        min_length=1,
        description="missing: between which sentences one is missing; discordant: which sentences stand for others.",
    )
    encoder: str = Field(
        "minilm",
        min_length=1,
        description="What embeds a sentence, and what token-level detectors begin with: 'minilm' (comes with a package,"
        " needs no network), a name in resources/models.yaml, a Hugging Face name or a folder (paper:"
        " bert-base-cased).",
    )
    pooling: Literal["mean", "first"] = Field(
        "mean", description="Which of the last layer's vectors embeds a sentence: the mean, or the first (paper: CLS)."
    )
    max_tokens: int = Field(64, ge=4, description="Sentences are cut at this length; how many are is reported.")
    precision: Precision = "float32"
    sentences: int = Field(5, ge=3, description="Sentences of a segment before damage (paper: 5; TripAdvisor 8).")
    damaged: int = Field(
        1, ge=1, description="Sentences of a segment that are removed or replaced (paper: 1; TripAdvisor 2)."
    )
    intact: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="Share of the training segments that are left as they are, of the same lengths, so that a detector"
        " can say that nothing is wrong (paper: 0, a fixed number is damaged in each).",
    )
    draws: int = Field(
        4, ge=1, description="Segments drawn from each document of the train split, or ways to damage it (paper: 1)."
    )
    replacements: Literal["exchanged", "corpus"] = Field(
        "exchanged",
        description="Where a discordant sentence comes from. exchanged: the sentences that are taken out are exchanged,"
        " each against its best match that is left, so that no sentence by itself tells whether it is out of place;"
        " corpus: the best match among all sentences of the corpus, any number of times (paper).",
    )
    candidates: int = Field(100, ge=1, description="BM25 matches that are looked at (paper: 100).")
    similarity: float | None = Field(
        0.7,
        gt=-1,
        le=1,
        description="BERTScore F1 below which a match is unlike enough (paper: .7); null: no such limit.",
    )
    similarity_encoder: str | None = Field(None, description="Encoder of the BERTScore; default: `encoder`.")
    rescale: bool = Field(
        True,
        description="Rescale BERTScore so that two random sentences of the corpus score 0 on average: a raw one is"
        " above .7 for nearly any two sentences.",
    )
    retrieval_shards: int = Field(1, ge=1, description="Jobs that share the search for matches.")
    detector: DetectorOptions = Field(DetectorOptions(), description="The detector that judges the systems.")
    compared: dict[Name, DetectorOptions] = Field(
        {}, description="Further detectors, by names of your own, that are trained and tested beside it (Table 3)."
    )
    pretraining: PretrainingOptions | None = Field(None, description="For detectors with `pretrained: true`.")
    autoencoders: dict[Name, AutoencoderOptions] = Field(
        {}, description="Decoders of sentence embeddings, by names of your own."
    )
    generation: GenerationOptions = Field(
        GenerationOptions(), description="Of detectors with an autoencoder and semantic matching (Table 4)."
    )
    false_positive_rate: float = Field(
        0.05,
        gt=0,
        lt=0.5,
        description="Share of the places in real text at which the judge is allowed to be wrong: this sets its"
        " threshold, on validation documents.",
    )

    def detectors(self) -> dict[str, DetectorOptions]:
        """All detectors by name, the judge first."""
        return {JUDGE: self.detector, **self.compared}

    def check(self, place: str, config: "Config") -> None:
        """Damage fits into segments; what detectors name is there, in the options and in the config."""
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"{place}.tasks: one stands there twice")
        for where, places in ((place, self), (f"{place}.pretraining", self.pretraining)):
            if places is not None and 2 * places.damaged + 1 > places.sentences:
                raise ValueError(
                    f"{where}: of {places.sentences} sentences {places.damaged} cannot be taken out without touching"
                    f" the first, the last or each other; give 'sentences' of at least {2 * places.damaged + 1}"
                )
        control = config.systems.get(CONTROL)
        asked = {critic.partition("-")[0] for some in config.comparisons for critic in some.critics}
        if getattr(control, "split", "test") == "valid" and "narrative" in asked:
            raise ValueError(f"systems.{CONTROL}.split: the detectors' thresholds come from split 'valid'; take 'test'")
        if JUDGE in self.compared:
            raise ValueError(f"{place}.compared: '{JUDGE}' is the name of the detector that judges; take another")
        for name, detector in self.detectors().items():
            where = f"{place}.detector" if name == JUDGE else f"{place}.compared.{name}"
            if detector.pretrained and self.pretraining is None:
                raise ValueError(f"{where}: it is pretrained, but nothing says on what; give '{place}.pretraining'")
            if detector.autoencoder is not None:
                require_name(detector.autoencoder, self.autoencoders, f"{where}.autoencoder", "autoencoder")
        if self.pretraining is not None:
            require_name(self.pretraining.corpus, config.corpora, f"{place}.pretraining.corpus", "corpus")
        for name, autoencoder in self.autoencoders.items():
            if autoencoder.corpus is not None:
                require_name(autoencoder.corpus, config.corpora, f"{place}.autoencoders.{name}.corpus", "corpus")
