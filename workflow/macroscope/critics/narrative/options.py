"""Options of the narrative critic (cai2020)."""

from typing import Literal

from pydantic import Field, model_validator

from macroscope.critics.options import SentenceReading, encoding_of
from macroscope.models import ModelName, Precision
from macroscope.natural_language.spacy_pipeline import PipelineOptions
from macroscope.options import CONTROL, ConfigView, Name, Options, UserPath, require_name

Task = Literal["missing", "discordant"]
JUDGE = "judge"
"""Name of the detector that judges systems; reserved, so not allowed in `compared`."""


_OF_SENTENCE_LEVEL = ("semantic_matching", "pretrained", "autoencoder")
"""Options that only detectors of level "sentence" have, of those that train a network."""


class DetectorOptions(Options):
    """Options of a detector: level of its input, size, training."""

    level: Literal["similarity", "sentence", "token"] = Field(
        "similarity",
        description="similarity: a logistic regression on similarities of frozen sentence embeddings, which learns from"
        " some hundred stories; it has no other options. sentence: a transformer over these embeddings, trained from"
        " scratch (cai2020 §4.2). token: the encoder itself, fine-tuned on the words of all sentences (cai2020 §4.1).",
    )
    layers: int = Field(4, ge=1, description="Number of layers of the transformer over sentences (paper: 12).")
    heads: int = Field(6, ge=1, description="Number of attention heads of the transformer (paper: 12).")
    width: int | None = Field(
        None, ge=4, description="Width of the transformer; default: that of the embeddings (paper: 768)."
    )
    hidden: int = Field(768, ge=4, description="Number of hidden units of the classifier on top (paper: 768).")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout probability in training.")
    semantic_matching: float = Field(
        0.0,
        ge=0,
        description="Weight of the semantic matching loss: the cosine distance between the predicted embedding and"
        " that of the original sentence (eq. 2; paper: + SM); 0: no such loss. For level: sentence.",
    )
    pretrained: bool = Field(
        False, description="Start from the weights of `pretraining` (paper: + pre-train). For level: sentence."
    )
    autoencoder: Name | None = Field(
        None,
        description="Name of the autoencoder, out of `autoencoders`, that generates sentences for the gaps; if it"
        " trains its encoder, that encoder also embeds the sentences (paper: + DAE). For level: sentence.",
    )
    epochs: float = Field(10, gt=0, description="Number of passes over the training segments; the best state is kept.")
    batch_size: int = Field(64, ge=1, description="Number of segments per update.")
    learning_rate: float = Field(3e-4, gt=0, description="Peak learning rate of AdamW (token level: 2e-5 is usual).")
    warmup_share: float = Field(0.1, ge=0, lt=1, description="Share of the updates in which the learning rate rises.")
    weight_decay: float = Field(0.01, ge=0, description="Weight decay of AdamW.")

    @model_validator(mode="after")
    def _check_width(self) -> "DetectorOptions":
        if self.width and self.width % self.heads:
            raise ValueError(f"'width' {self.width} is not a multiple of 'heads' {self.heads}; give a multiple")
        return self

    @model_validator(mode="after")
    def _check_level(self) -> "DetectorOptions":
        if self.level == "similarity":
            fields = type(self).model_fields.items()
            refused = [name for name, field in fields if name != "level" and getattr(self, name) != field.default]
        else:
            refused = [name for name in _OF_SENTENCE_LEVEL if self.level == "token" and getattr(self, name)]
        if refused:
            raise ValueError(
                f"a detector of level '{self.level}' has no '{refused[0]}'; leave the option out, or set level:"
                " sentence"
            )
        return self

    @property
    def reads_embeddings(self) -> bool:
        """Return whether the detector reads sentence embeddings, not words."""
        return self.level != "token"


class PretrainingOptions(Options):
    """Options of pre-training on damaged segments of another, larger corpus (cai2020 §4.2, §5.1)."""

    corpus: str = Field(description="Name of the corpus whose train split is used (paper: stories).")
    sentences: int = Field(16, ge=4, description="Number of sentences of a segment before damage (paper: 16).")
    damaged: int = Field(4, ge=1, description="Number of damaged sentences per segment (paper: 25 %).")
    draws: int = Field(4, ge=1, description="Largest number of segments sampled per document.")
    epochs: float = Field(1, gt=0, description="Number of passes over the segments.")
    learning_rate: float = Field(3e-4, gt=0, description="Peak learning rate.")


class AutoencoderOptions(Options):
    """Options of a decoder that reconstructs a sentence from its embedding (cai2020 §4.3)."""

    decoder: ModelName = Field(
        "gpt2",
        description="Causal language model that decodes: a name in resources/models.yaml, a Hugging Face name or a"
        " folder.",
    )
    corpus: str | None = Field(
        None, description="Name of the corpus it is trained on (paper: stories); default: the judged one."
    )
    train_encoder: bool = Field(
        False,
        description="Train the encoder together with the decoder, to reconstruct sentences from noisy input (paper:"
        " DAE); false: the encoder is frozen, and only the decoder is trained.",
    )
    permuted: float = Field(0.2, ge=0, le=1, description="Share of a sentence's tokens that are permuted (paper: .2).")
    masked: float = Field(0.2, ge=0, le=1, description="Share of the tokens that are masked (paper: .2).")
    random: float = Field(0.2, ge=0, le=1, description="Share of the tokens replaced by random ones (paper: .2).")
    most_sentences: int | None = Field(
        None, ge=10, description="Size of the random subset of sentences to train on; null: all sentences."
    )
    epochs: float = Field(1, gt=0, description="Number of passes over the sentences.")
    batch_size: int = Field(64, ge=1, description="Number of sentences per update.")
    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate.")

    @model_validator(mode="after")
    def _check_noise(self) -> "AutoencoderOptions":
        if self.masked + self.random > 1:
            raise ValueError(
                "'masked' and 'random' add up to more than 1; they are shares of the same tokens, give smaller ones"
            )
        return self


class GenerationOptions(Options):
    """Options of generating sentences for the gaps (cai2020 §4.3, Table 4)."""

    beams: int = Field(5, ge=1, description="Width of the beam search (paper: 5).")
    max_tokens: int = Field(48, ge=2, description="Largest number of tokens of a generated sentence.")
    most_sentences: int | None = Field(
        2000, ge=1, description="Number of gaps to fill, the first ones; null: all (paper)."
    )
    synonyms: Literal["wordnet"] | None = Field(
        None,
        description="wordnet: METEOR also matches synonyms (published definition), by WordNet 3.0, which is downloaded."
        " null: equal words and stems only.",
    )


class NarrativeOptions(PipelineOptions):
    """Options of the narrative critic: detectors of missing and of discordant sentences."""

    tasks: list[Task] = Field(
        ["missing", "discordant"],
        min_length=1,
        description="missing: detect between which sentences one is missing; discordant: detect which sentences have"
        " been replaced by others.",
    )
    encoder: ModelName = Field(
        "minilm",
        min_length=1,
        description="Encoder that embeds sentences, and that token-level detectors are fine-tuned from: 'minilm'"
        " (comes with a package, needs no network), a name in resources/models.yaml, a Hugging Face name or a folder"
        " (paper: bert-base-cased).",
    )
    pooling: Literal["mean", "first"] = Field(
        "mean", description="Sentence embedding from the last layer's vectors: their mean, or the first (paper: CLS)."
    )
    max_tokens: int = Field(
        64, ge=4, description="Length at which sentences are cut; the report counts those that are."
    )
    precision: Precision = "float32"
    sentences: int = Field(
        5, ge=3, description="Number of sentences of a segment before damage (paper: 5; TripAdvisor 8)."
    )
    damaged: int = Field(
        1, ge=1, description="Number of sentences of a segment that are removed or replaced (paper: 1; TripAdvisor 2)."
    )
    intact: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="Share of the training segments that stay undamaged, with the same lengths, so that a detector can"
        " learn that nothing is wrong (paper: 0, a fixed number of sentences is damaged in each).",
    )
    draws: int = Field(
        4,
        ge=1,
        description="Number of segments sampled from each document of the train split, or of ways to damage it (paper:"
        " 1).",
    )
    replacements: Literal["exchanged", "corpus"] = Field(
        "exchanged",
        description="Source of the discordant sentences. exchanged: the removed sentences are permuted, each being"
        " replaced by its best match that is still unused, so that no sentence by itself reveals whether it is out of"
        " place; corpus: the best match among all sentences of the corpus, any number of times (paper).",
    )
    candidates: int = Field(100, ge=1, description="Number of BM25 matches to consider per sentence (paper: 100).")
    similarity: float | None = Field(
        0.7,
        gt=-1,
        le=1,
        description="BERTScore F1 below which a match is dissimilar enough (paper: .7); null: no limit.",
    )
    similarity_encoder: ModelName | None = Field(
        None, description="Encoder of the BERTScore; default: `encoder` (bert-score's own for English: roberta-large)."
    )
    similarity_layer: int | None = Field(
        None, ge=1, description="Layer whose vectors are compared; default: the last (bert-score: 17 of roberta-large)."
    )
    rescale: bool = Field(
        True,
        description="Rescale BERTScore so that two random sentences of the corpus score 0 on average; raw scores are"
        " above .7 for almost any two sentences.",
    )
    retrieval_shards: int = Field(1, ge=1, description="Number of jobs that share the search for matches.")
    test_segments: dict[Name, dict[Task, UserPath]] = Field(
        {},
        description="Test segments that people have checked, in place of the test split's own: corpus -> task -> file"
        " segments.jsonl of `macroscope human check` or `baseline` (Tables 2, 3).",
    )
    detector: DetectorOptions = Field(DetectorOptions(), description="Detector that judges the systems.")
    compared: dict[Name, DetectorOptions] = Field(
        {}, description="Further detectors to train and test for comparison, by names of your choice (Table 3)."
    )
    pretraining: PretrainingOptions | None = Field(
        None, description="Pre-training of detectors with `pretrained: true`."
    )
    autoencoders: dict[Name, AutoencoderOptions] = Field(
        {}, description="Decoders of sentence embeddings, by names of your choice."
    )
    generation: GenerationOptions = Field(
        GenerationOptions(),
        description="Sentence generation by detectors with an autoencoder and semantic matching (Table 4).",
    )
    false_positive_rate: float = Field(
        0.05,
        gt=0,
        lt=0.5,
        description="Share of the places in real text at which the judge may raise a false alarm; its threshold is set"
        " to reach this share on validation documents.",
    )

    def detectors(self) -> dict[str, DetectorOptions]:
        return {JUDGE: self.detector, **self.compared}

    def check(self, place: str, config: ConfigView) -> None:
        """Check that damage fits into segments, and that the options and the config have all that detectors name.

        Parameters
        ----------
        place
            Path of these options in the config, for messages.

        Raises
        ------
        ValueError
            If a task is repeated, damage does not fit, a name is missing or reserved, or the control is the split
            'valid'.
        """
        super().check(place, config)
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"{place}.tasks: a task is listed twice; list each once")
        for corpus, files in self.test_segments.items():
            require_name(corpus, config.corpora, f"{place}.test_segments", "corpus")
            for task in files:
                if task not in self.tasks:
                    raise ValueError(
                        f"{place}.test_segments.{corpus}.{task}: 'tasks' lacks this task; add it there, or leave its"
                        " file out"
                    )
        for path, segment in ((place, self), (f"{place}.pretraining", self.pretraining)):
            if segment is not None and 2 * segment.damaged + 1 > segment.sentences:
                raise ValueError(
                    f"{path}: {segment.damaged} damaged sentences do not fit into segments of {segment.sentences},"
                    " since they may not be adjacent, nor first or last; give 'sentences' of at least"
                    f" {2 * segment.damaged + 1}"
                )
        control = config.systems.get(CONTROL)
        critics = {critic.partition("-")[0] for comparison in config.comparisons for critic in comparison.critics}
        if getattr(control, "split", "test") == "valid" and "narrative" in critics:
            raise ValueError(
                f"systems.{CONTROL}.split: 'valid' is the split that sets the narrative detectors' thresholds; give"
                " 'test'"
            )
        if JUDGE in self.compared:
            raise ValueError(
                f"{place}.compared: '{JUDGE}' is reserved for the detector that judges systems; use another name"
            )
        for name, detector in self.detectors().items():
            path = f"{place}.detector" if name == JUDGE else f"{place}.compared.{name}"
            if detector.pretrained and self.pretraining is None:
                raise ValueError(f"{path}.pretrained: no corpus is given to pre-train on; give '{place}.pretraining'")
            if detector.autoencoder is not None:
                require_name(detector.autoencoder, self.autoencoders, f"{path}.autoencoder", "autoencoder")
        if self.pretraining is not None:
            require_name(self.pretraining.corpus, config.corpora, f"{place}.pretraining.corpus", "corpus")
        for name, autoencoder in self.autoencoders.items():
            if autoencoder.corpus is not None:
                require_name(autoencoder.corpus, config.corpora, f"{place}.autoencoders.{name}.corpus", "corpus")

    def trained_encoder(self, detector: DetectorOptions) -> str | None:
        """Return the name of the autoencoder whose encoder embeds a detector's sentences; None if none does."""
        name = detector.autoencoder
        return name if name is not None and self.autoencoders[name].train_encoder else None


def read_sentences(options: NarrativeOptions) -> SentenceReading:
    """Return how sentences are embedded that no trained encoder embeds; the judge may read others, or none."""
    judge = options.detector
    return SentenceReading(encoding_of(options), judge.reads_embeddings and options.trained_encoder(judge) is None)
