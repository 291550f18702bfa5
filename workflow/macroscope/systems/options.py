"""Options of the systems room: what the config may say about a system."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from macroscope.config.options import Options
from macroscope.corpora.options import ONE_SECTION, Split
from macroscope.systems.perturbations.options import Step

Seed = Annotated[
    int,
    Field(ge=0, description="Added to the run's seed where this system draws: another one gives other samples."),
]


class Ancestral(Options):
    """Draw each token from the model's own distribution: no truncation, no temperature (top_k = 0)."""

    rule: Literal["ancestral"]


class _Changed(Options):
    """A rule that draws from a changed distribution."""

    temperature: float = Field(
        1.0, gt=0, description="Divides the logits before anything else; 1 leaves the distribution as it is."
    )


class Temperature(_Changed):
    """Draw from the distribution with its logits divided by a temperature."""

    rule: Literal["temperature"]
    temperature: float = Field(gt=0, description="Divides the logits: below 1 more of the probable, above 1 less.")


class TopK(_Changed):
    """Draw from the k most probable tokens (Fan et al. 2018)."""

    rule: Literal["top_k"]
    k: int = Field(ge=1, description="Number of tokens; ties with the last one stay.")


class Nucleus(_Changed):
    """Draw from the fewest tokens that hold a share of the probability (Holtzman et al. 2020)."""

    rule: Literal["nucleus"]
    p: float = Field(gt=0, le=1, description="That share.")


class Typical(_Changed):
    """Draw from the tokens whose surprisal is nearest to the entropy (Meister et al. 2023)."""

    rule: Literal["typical"]
    p: float = Field(gt=0, le=1, description="Share of the probability that these tokens hold.")


class MinP(_Changed):
    """Draw from the tokens that are not much less probable than the most probable one (Nguyen et al. 2024)."""

    rule: Literal["min_p"]
    p: float = Field(ge=0, le=1, description="Least probability, as a share of the largest.")


class BeamSampling(Options):
    """Stochastic beam (meister2021 §5): k extensions drawn for each of k beams, the k most probable of all kept."""

    rule: Literal["beam_sampling"]
    beams: int = Field(5, ge=1, description="k; 1 is ancestral sampling (paper: 5).")


TokenRule = Ancestral | Temperature | TopK | Nucleus | Typical | MinP
Decoding = Annotated[TokenRule | BeamSampling, Field(discriminator="rule")]


class Training(Options):
    """How a language model is trained or fine-tuned (deng2022 App. E)."""

    epochs: float = Field(20, gt=0, description="Passes over the training documents.")
    batch_size: int = Field(8, ge=1, description="Windows per update, over all devices and accumulation steps.")
    device_batch_size: int = Field(8, ge=1, description="Windows per device and step; the rest is accumulated.")
    learning_rate: float = Field(5e-5, gt=0, description="Peak learning rate of Adam.")
    warmup_share: float = Field(0.0, ge=0, lt=1, description="Share of the updates with a rising learning rate.")
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    evaluations: int = Field(20, ge=1, description="Validations (and checkpoints) over the whole training.")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="Arithmetic of training.")


class LanguageModelSystem(Options):
    """A causal language model, fine-tuned, trained from scratch or as published, that samples whole documents."""

    kind: Literal["language_model"]
    base: str = Field(
        description="Name in resources/models.yaml (tiny-gpt2: from scratch), a Hugging Face name, or a folder."
    )
    titles: bool = Field(description="Section titles stand before the sections in the training text (W/ Title).")
    context: int | None = Field(None, ge=8, description="Context window in tokens; default: the model's own.")
    training: Training | None = Field(
        Training(), description="Training; null: none, the base with its own weights and tokenizer as it was published."
    )
    decoding: Decoding = Field(Ancestral(rule="ancestral"), description="How the next token is chosen.")
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    samples_per_shard: int = Field(1000, ge=1, description="Samples of one sampling job.")
    batch_size: int = Field(32, ge=1, description="Sequences that are sampled at the same time.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in tokens; a longer one is cut and counted.")
    stride: int | None = Field(
        None,
        ge=1,
        description="Beyond the context window: tokens sampled between two re-encodings of it (1 = the paper's);"
        " default: half the window.",
    )
    prompt_words: int | None = Field(
        None,
        ge=1,
        description="Words of a held-out document that a sample begins with, and that are part of it; default: none.",
    )
    seed: Seed = 0


class ResampledSystem(Options):
    """Samples of another system's language model under another decoding rule or seed; it is trained once for both."""

    kind: Literal["resampled"]
    of: str = Field(description="Name of the system of kind language_model whose model is sampled.")
    decoding: Decoding = Field(description="How the next token is chosen.")
    samples: int | None = Field(None, ge=1, description="Number of valid samples to draw; default: as the other.")
    samples_per_shard: int | None = Field(None, ge=1, description="Samples of one sampling job; default: as the other.")
    batch_size: int | None = Field(None, ge=1, description="Sequences at the same time; default: as the other.")
    max_tokens: int | None = Field(None, ge=1, description="Longest sample, in tokens; default: as the other.")
    stride: int | None = Field(None, ge=1, description="As for language_model; default: as the other.")
    prompt_words: int | None = Field(None, ge=0, description="As for language_model, 0: none; default: as the other.")
    seed: Seed = 0

    def applied_to(self, model: LanguageModelSystem) -> LanguageModelSystem:
        """Return what the two together ask for."""
        names = ("decoding", "samples", "samples_per_shard", "batch_size", "max_tokens", "stride", "seed")
        changes = {name: value for name in names if (value := getattr(self, name)) is not None}
        prompted = model.prompt_words if self.prompt_words is None else self.prompt_words or None
        return model.model_copy(update={**changes, "prompt_words": prompted})


class NgramSystem(Options):
    """An n-gram model over words, counted on the train split, that samples documents; its vocabulary is closed."""

    kind: Literal["ngram"]
    order: int = Field(3, ge=1, description="Words of an n-gram (paper: 3).")
    smoothing: Literal["none", "kneser_ney"] = Field(
        "none",
        description="none: relative frequencies (meister2021 eq. 16); kneser_ney: interpolated, with three discounts an"
        " order.",
    )
    titles: bool = Field(description="Section titles stand before the sections in the training text (W/ Title).")
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in words; a longer one is cut and counted.")
    seed: Seed = 0


class FilesSystem(Options):
    """Texts of the user's own model (JSON Lines, Parquet, CSV, or a folder of text files), or of a published one."""

    kind: Literal["files"]
    files: list[str] = Field([], description="Files or folders.")
    one_section: bool = ONE_SECTION
    dataset: str | None = Field(
        None,
        description="Name of a data set in resources/sources.yaml instead of files, such as gpt2-xl-output; each text"
        " is one section.",
    )
    splits: list[Split] = Field(
        ["test"], min_length=1, description="Which of the data set's files are taken, by the split in their names."
    )

    @model_validator(mode="after")
    def _files_or_dataset(self) -> "FilesSystem":
        if bool(self.files) == (self.dataset is not None):
            raise ValueError("give either 'files' or 'dataset', a data set of resources/sources.yaml")
        return self


class ControlSystem(Options):
    """Held-out real documents: the floor that a perfect model would reach."""

    kind: Literal["control"]
    split: Literal["valid", "test"] = Field("test", description="Which held-out split.")


class SimulatedSystem(Options):
    """Samples of a simulated corpus's own process, or of that process with a known defect."""

    kind: Literal["simulated"]
    order: Literal["process", "shuffled", "independent"] = Field(
        "process",
        description="process: as the corpus; shuffled: each document's sections in random order; independent: section"
        " types drawn without regard to their predecessors, numbers of sections as in the corpus.",
    )
    samples: int = Field(400, ge=1, description="Number of documents.")
    seed: Seed = 0


class PerturbationSystem(Options):
    """Samples of another system with known defects: what a critic does not tell from them, it does not see."""

    kind: Literal["perturbation"]
    of: str = Field("control", description="Name of the system whose samples are perturbed; not itself a perturbation.")
    perturb: list[Step] = Field(
        min_length=1,
        description="Steps, applied one after the other: names of rules, or rules with their options.",
    )
    seed: Seed = 0


AnySystem = Annotated[
    LanguageModelSystem
    | ResampledSystem
    | NgramSystem
    | FilesSystem
    | ControlSystem
    | SimulatedSystem
    | PerturbationSystem,
    Field(discriminator="kind"),
]
