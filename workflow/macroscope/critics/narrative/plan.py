"""What a config implies for the narrative critic's own jobs: embeddings, damage, detectors, decoders, generation."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from zlib import crc32

from macroscope.critics import VARIANT
from macroscope.critics.narrative import CRITIC
from macroscope.critics.narrative.options import JUDGE, DetectorOptions, NarrativeOptions
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.stages import Function, Wildcards, alternatives, as_json, flags

if TYPE_CHECKING:
    from macroscope.config.schema import Config

NAME = "narrative"
OWN = "split.all"
"""What stands for a system where the corpus's own documents are meant; no system can be called so."""
_EMBEDDING = ("encoder", "pooling", "max_tokens")


@dataclass(frozen=True)
class Kind:
    """A way to embed sentences.

    Attributes
    ----------
    options
        Of the critic or variant that embeds so.
    autoencoder
        Folder of the autoencoder whose encoder does it; None: the encoder as it is.
    name
        Of the folder that the embeddings are in.
    """

    options: NarrativeOptions
    autoencoder: str | None
    name: str


@dataclass(frozen=True)
class Job:
    """A stage of the critic's own.

    Attributes
    ----------
    stage
        Its name.
    inputs
        Input function.
    output
        Pattern of what it makes: a folder, or a Parquet file.
    """

    stage: str
    inputs: Function
    output: str

    @property
    def name(self) -> str:
        """Of its rule."""
        return self.stage if self.stage == "embed_sentences" else f"{self.stage}_narrative"

    @property
    def is_folder(self) -> bool:
        """Whether it makes a folder."""
        return not self.output.endswith(".parquet")

    def log(self, suffix: str) -> str:
        """Pattern of its log file: the wildcards of the output."""
        wildcards = re.findall(r"{\w+}", self.output)
        return f"logs/<run>/{self.name}/{'/'.join(wildcards)}.{suffix}"


class NarrativePlan:
    """The critic's own jobs.

    Parameters
    ----------
    config
        The config of the run.
    results
        Folder of its results.
    """

    def __init__(self, config: "Config", results: str) -> None:
        self.config, self.results, self.size = config, results, config.documents_per_shard

    def corpora(self) -> list[str]:
        """Corpora that the critic looks at besides those of comparisons: none."""
        return []

    def corpora_read(self) -> list[str]:
        """Corpora that detectors or decoders learn from."""
        found = []
        for critic, _ in self._judged:
            options = self._options(critic)
            found += [options.pretraining.corpus] if options.pretraining else []
            found += [some.corpus for some in options.autoencoders.values() if some.corpus]
        return found

    def inputs(self, critic: str, name: str, corpus: str) -> list[str]:
        """Files that figures and report read: of each detector its folder, and what was written with it."""
        options = self._options(critic)
        return [
            self._place(critic, corpus, name, f"{task}.{detector}")
            for task in options.tasks
            for detector, asked in options.detectors().items()
            if name == "detectors" or (asked.autoencoder and asked.semantic_matching)
        ]

    def stage_input(self, critic: str, stage: str, name: str) -> str | Function | None:
        """Where an input of a standard stage is; None where it is not needed.

        Parameters
        ----------
        critic
            Name of the critic or of a variant.
        """
        options = self._options(critic)
        if name == "detectors":
            return lambda wildcards: [
                self._place(critic, wildcards.corpus, "detectors", f"{task}.{JUDGE}") for task in options.tasks
            ]
        if options.detector.level == "token" or not self._shares(critic):
            return None
        return lambda wildcards: "/".join(
            [
                self._embeddings(critic, JUDGE, wildcards.corpus),
                wildcards.system,
                *([wildcards.shard] if self.size else []),
            ]
        )

    # ---- the rules of rules/critics/narrative.smk ------------------------------------------------------------------

    @property
    def names(self) -> str:
        """Wildcard constraint: the critic and its variants."""
        return alternatives(self._names)

    def documents_alone(self, wildcards: Wildcards) -> dict[str, str]:
        """Documents of a corpus."""
        return {"documents": self._documents(wildcards.corpus)}

    def embedded(self, wildcards: Wildcards) -> dict[str, str]:
        """What is embedded, a corpus's documents or a system's texts, and the autoencoder that does it, if one does."""
        system = wildcards.collection.partition("/")[0]
        found = {"texts": f"{self.results}/systems/{wildcards.corpus}/{system}/samples.parquet"}
        if system == OWN:
            found = {"documents": self._documents(wildcards.corpus)}
        autoencoder = self._kinds[wildcards.kind].autoencoder
        return found | ({"autoencoder": autoencoder} if autoencoder else {})

    def shard_flags(self, wildcards: Wildcards) -> str:
        """Which shard of a system is embedded, as flags; nothing for other jobs."""
        shard = getattr(wildcards, "collection", "").partition("/")[2]
        return f"--shard {shard} --documents-per-shard {self.size}" if shard else ""

    def damaged(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """What damage is made from: the documents, and for replacements the matches, where jobs share the search."""
        found: dict[str, str | list[str]] = {"documents": self._documents(wildcards.corpus)}
        shards = self._options(wildcards.critic).retrieval_shards
        if wildcards.task == "missing" or shards == 1:
            return found
        place = self._place(wildcards.critic, wildcards.corpus, "retrieved")
        return found | {"retrieved": [f"{place}/{shard}.parquet" for shard in range(shards)]}

    def pretrained_on(self, wildcards: Wildcards) -> dict[str, str]:
        """Documents and embeddings that a detector is trained on first."""
        pretraining = self._options(wildcards.critic).pretraining
        assert pretraining is not None
        kind = self._kind(wildcards.critic, wildcards.detector, wildcards.corpus)
        return {
            "documents": self._documents(pretraining.corpus),
            "embeddings": self._embeddings_of(kind, pretraining.corpus),
        }

    def learnt_from(self, wildcards: Wildcards) -> dict[str, str]:
        """What a detector is trained on."""
        critic, corpus = wildcards.critic, wildcards.corpus
        asked = self._detector(wildcards)
        found = {
            "documents": self._documents(wildcards.corpus),
            "corrupted": self._place(critic, corpus, "corrupted", f"{wildcards.task}.parquet"),
        }
        if asked.level == "sentence":
            found["embeddings"] = f"{self._embeddings(critic, wildcards.detector, corpus)}/{OWN}"
        if asked.pretrained:
            found["pretrained"] = self._place(critic, corpus, "pretrained", f"{wildcards.task}.{wildcards.detector}")
        return found

    def infilled_from(self, wildcards: Wildcards) -> dict[str, str]:
        """What sentences are written from."""
        critic, corpus, detector = wildcards.critic, wildcards.corpus, wildcards.detector
        name = self._detector(wildcards).autoencoder
        assert name is not None
        return {
            "documents": self._documents(wildcards.corpus),
            "detector": self._place(critic, corpus, "detectors", f"{wildcards.task}.{detector}"),
            "embeddings": f"{self._embeddings(critic, detector, corpus)}/{OWN}",
            "corrupted": self._place(critic, corpus, "corrupted", f"{wildcards.task}.parquet"),
            "autoencoder": self._autoencoder(critic, name, corpus),
        }

    def jobs(self) -> list[Job]:
        """The critic's own stages as jobs of the workflow."""
        of_detector = "{task}.{detector}"
        return [
            Job("embed_sentences", self.embedded, self._pattern(NAME, "embeddings/{kind}/{collection}")),
            Job("retrieve", self.documents_alone, self._pattern("{critic}", "retrieved/{shard}.parquet")),
            Job("corrupt", self.damaged, self._pattern("{critic}", "corrupted/{task}.parquet")),
            Job("autoencode", self.documents_alone, self._pattern(NAME, "autoencoders/{autoencoder}")),
            Job("pretrain", self.pretrained_on, self._pattern("{critic}", f"pretrained/{of_detector}")),
            Job("detect", self.learnt_from, self._pattern("{critic}", f"detectors/{of_detector}")),
            Job("infill", self.infilled_from, self._pattern("{critic}", f"infilled/{of_detector}")),
        ]

    def options(self, stage: str) -> Function:
        """Parameter function: those options that a stage looks at, of the job's critic."""
        return lambda wildcards: as_json(self._of_job(wildcards), CRITIC.stages[stage].option_names)

    def values(self, stage: str) -> Function:
        """Parameter function: the values that a stage reads, as words of its command line."""

        def words(wildcards: Wildcards) -> list[str]:
            known = {
                "language": lambda: self.config.corpora[self._read(stage, wildcards)].language,
                "seed": lambda: self.config.seed,
                "resampling": self.config.resampling,
                "task": lambda: wildcards.task,
                "name": lambda: self._called(wildcards),
                "shard": lambda: wildcards.shard,
                "shards": lambda: self._asked(wildcards).retrieval_shards,
                "checkpoints": lambda: self._checkpoints(stage, wildcards),
            }
            return flags("--value", {name: known[name]() for name in CRITIC.stages[stage].value_names if name in known})

        return words

    def threads(self, stage: str) -> Function:
        """Parameter function: cores of a job."""
        declared = CRITIC.stages[stage]
        return lambda wildcards: (
            threads_of(self._asked(wildcards).encoder) if declared.model_option else declared.threads
        )

    def megabytes(self, stage: str) -> Function:
        """Parameter function: memory of a job."""
        declared = CRITIC.stages[stage]
        return lambda wildcards: (
            megabytes_of(self._asked(wildcards).encoder) if declared.model_option else declared.megabytes
        )

    def gpus(self, stage: str) -> Function:
        """Parameter function: GPUs of a job."""
        declared = CRITIC.stages[stage]
        return lambda wildcards: gpus_of(self._asked(wildcards).encoder) if declared.model_option else 0

    # ---- inside --------------------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> list[str]:
        """Names of the critic and its variants."""
        return [NAME, *(name for name in self.config.variant_names() if name.partition(VARIANT)[0] == NAME)]

    @cached_property
    def _judged(self) -> list[tuple[str, str]]:
        """(critic or variant, corpus) of all comparisons."""
        pairs = ((critic, some.corpus) for some in self.config.comparisons for critic in some.critics)
        return list(dict.fromkeys(pair for pair in pairs if pair[0] in self._names))

    def _shares(self, critic: str) -> bool:
        """Whether a judge reads embeddings of systems' texts from a job of their own.

        Where no other judge reads them, such jobs would cost more than they save.
        """
        corpora = [corpus for name, corpus in self._judged if name == critic]
        judges = [(self._kind(name, JUDGE, corpus).name, corpus) for name, corpus in self._judged if self._embeds(name)]
        own = {(self._kind(critic, JUDGE, corpus).name, corpus) for corpus in corpora}
        trained = any(self._kind(critic, JUDGE, corpus).autoencoder for corpus in corpora)
        return trained or any(judges.count(pair) > 1 for pair in own)

    def _embeds(self, critic: str) -> bool:
        """Whether a critic's judge reads embeddings."""
        return self._options(critic).detector.level == "sentence"

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        """Every way in which sentences are embedded, by its name."""
        kinds = (
            self._kind(critic, detector, corpus)
            for critic, corpus in self._judged
            for detector, asked in self._options(critic).detectors().items()
            if asked.level == "sentence"
        )
        return {kind.name: kind for kind in kinds}

    def _kind(self, critic: str, detector: str, corpus: str) -> Kind:
        """How a detector's sentences are embedded: two that do it alike share the folder."""
        options = self._options(critic)
        name = options.detectors()[detector].autoencoder
        autoencoder = None
        if name is not None and options.autoencoders[name].train_encoder:
            autoencoder = self._autoencoder(critic, name, corpus)
        what = f"{as_json(options, _EMBEDDING)} {autoencoder}"
        return Kind(options, autoencoder, f"{name if autoencoder else 'plain'}-{crc32(what.encode()):08x}")

    def _embeddings(self, critic: str, detector: str, corpus: str) -> str:
        return self._embeddings_of(self._kind(critic, detector, corpus), corpus).rpartition("/")[0]

    def _embeddings_of(self, kind: Kind, corpus: str) -> str:
        return f"{self._place(NAME, corpus, 'embeddings')}/{kind.name}/{OWN}"

    def _autoencoder(self, critic: str, name: str, corpus: str) -> str:
        """Folder of an autoencoder, which stands with the corpus that it learns from."""
        learnt = self._options(critic).autoencoders[name].corpus or corpus
        return self._place(NAME, learnt, "autoencoders", self._autoencoder_key(critic, name))

    def _autoencoder_key(self, critic: str, name: str) -> str:
        options = self._options(critic)
        what = as_json(options, _EMBEDDING) + options.autoencoders[name].model_dump_json()
        return f"{name}-{crc32(what.encode()):08x}"

    @cached_property
    def _autoencoders(self) -> dict[str, tuple[str, str]]:
        """Folder of each autoencoder -> a critic or variant that asks for it, and its name there."""
        return {
            self._autoencoder_key(critic, name): (critic, name)
            for critic, _ in self._judged
            for name in self._options(critic).autoencoders
        }

    def _checkpoints(self, stage: str, wildcards: Wildcards) -> str:
        if stage == "autoencode":
            return self._place(NAME, wildcards.corpus, "checkpoints", wildcards.autoencoder)
        name = f"{stage}.{wildcards.task}.{wildcards.detector}"
        return self._place(wildcards.critic, wildcards.corpus, "checkpoints", name)

    def _read(self, stage: str, wildcards: Wildcards) -> str:
        """Corpus whose documents a job reads."""
        pretraining = self._options(wildcards.critic).pretraining if stage == "pretrain" else None
        return pretraining.corpus if pretraining else wildcards.corpus

    def _called(self, wildcards: Wildcards) -> str:
        """Name, in the options, of what a job trains."""
        key = getattr(wildcards, "autoencoder", None)
        return self._autoencoders[key][1] if key else wildcards.detector

    def _asked(self, wildcards: Wildcards) -> NarrativeOptions:
        """Options of a job's critic."""
        kind, autoencoder = (getattr(wildcards, name, None) for name in ("kind", "autoencoder"))
        if kind:
            return self._kinds[kind].options
        return self._options(self._autoencoders[autoencoder][0] if autoencoder else wildcards.critic)

    def _of_job(self, wildcards: Wildcards) -> NarrativeOptions:
        """The same without the detectors of other jobs: what is said of these re-runs nothing here."""
        options, name = self._asked(wildcards), getattr(wildcards, "detector", None)
        if getattr(wildcards, "autoencoder", None):
            own_name = self._called(wildcards)
            return options.model_copy(update={"autoencoders": {own_name: options.autoencoders[own_name]}})
        if name is None:
            return options
        if name == JUDGE:
            return options.model_copy(update={"compared": {}})
        own = {name: options.compared[name]}
        return options.model_copy(update={"compared": own, "detector": DetectorOptions()})

    def _pattern(self, critic: str, made: str) -> str:
        return f"results/<run>/critics/{critic}/{{corpus}}/{made}"

    def _documents(self, corpus: str) -> str:
        return f"{self.results}/corpora/{corpus}/documents.parquet"

    def _place(self, critic: str, corpus: str, *parts: str) -> str:
        return "/".join([f"{self.results}/critics/{critic}/{corpus}", *parts])

    def _detector(self, wildcards: Wildcards) -> DetectorOptions:
        return self._options(wildcards.critic).detectors()[wildcards.detector]

    def _options(self, critic: str) -> NarrativeOptions:
        options: NarrativeOptions = self.config.critic(critic)
        return options
