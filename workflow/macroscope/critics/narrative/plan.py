"""Plan of the jobs specific to the narrative critic: embeddings, damage, detectors, decoders, generation."""

from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

from macroscope.corpora.raw_files import retrieved_files
from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.declaration import CriticPlan
from macroscope.critics.narrative import CRITIC
from macroscope.critics.narrative.options import JUDGE, DetectorOptions, NarrativeOptions, read_sentences
from macroscope.critics.sentence_encoding import CORPUS, vectors_folder
from macroscope.jobs import OUTPUT, Job, Values, resources_of, value_words
from macroscope.options import ConfigView
from macroscope.stages import ANY_NAME, Function, Wildcards, alternatives, as_json, flags

NAME = "narrative"
_EMBEDDING = ("encoder", "pooling", "max_tokens")


@dataclass(frozen=True)
class TrainedEncoder:
    """An encoder that an autoencoder has trained.

    Attributes
    ----------
    options
        Options of the critic or variant that embeds with it.
    autoencoder
        Folder of the autoencoder.
    """

    options: NarrativeOptions
    autoencoder: str

    @property
    def name(self) -> str:
        """Return the name of the folder with the embeddings."""
        key = f"{as_json(self.options, _EMBEDDING)} {self.autoencoder}"
        return f"{self.autoencoder.rpartition('/')[2]}-{crc32(key.encode()):08x}"


class NarrativePlan(CriticPlan):
    """Jobs specific to the narrative critic.

    Parameters
    ----------
    config
        Config of the run.
    results
        Folder of the run's results.
    """

    def __init__(self, config: ConfigView, results: str) -> None:
        super().__init__(config, results)
        self.size = config.documents_per_shard

    def corpora_read(self) -> list[str]:
        """Return the corpora that detectors or decoders are trained on."""
        corpora = []
        for critic, _ in self._judged:
            options = self._options(critic)
            corpora += [options.pretraining.corpus] if options.pretraining else []
            corpora += [autoencoder.corpus for autoencoder in options.autoencoders.values() if autoencoder.corpus]
        return corpora

    def inputs(self, critic: str, name: str, corpus: str) -> list[str]:
        """Return the files that figures and report read: detectors' folders, and the sentences generated with them."""
        options = self._options(critic)
        return [
            self._place(critic, corpus, name, f"{task}.{detector}")
            for task in options.tasks
            for detector, detector_options in options.detectors().items()
            if name == "detectors" or (detector_options.autoencoder and detector_options.semantic_matching)
        ]

    def stage_input(self, critic: str, stage: str, name: str) -> str | Function | None:
        """Return the path of an input of a standard stage; None if it is not needed.

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
        if not options.detector.reads_embeddings:
            return None
        if stage == "train":
            return lambda wildcards: self._embeddings(critic, JUDGE, wildcards.corpus, CORPUS)
        if options.trained_encoder(options.detector) is None:  # it reads `sentence_vectors`
            return None
        return lambda wildcards: self._embeddings(critic, JUDGE, wildcards.corpus, self._collection(wildcards))

    # ---- inputs of the further jobs --------------------------------------------------------------------------------

    def documents_alone(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the input file of a job that reads only documents."""
        return {"documents": self._documents(wildcards.corpus)}

    def embedded(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the inputs of embedding by a trained encoder: a corpus's documents or a system's texts, and itself."""
        system = wildcards.collection.partition("/")[0]
        files = {"texts": f"{self.results}/systems/{wildcards.corpus}/{system}/samples.parquet"}
        if system == CORPUS:
            files = {"documents": self._documents(wildcards.corpus)}
        return files | {"autoencoder": self._trained_encoders[wildcards.kind].autoencoder}

    def damaged(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """Return the inputs of corruption: the documents, and the retrieved matches if shards retrieve them."""
        files: dict[str, str | list[str]] = {"documents": self._documents(wildcards.corpus)}
        files |= self._checked(wildcards)
        shards = self._options(wildcards.critic).retrieval_shards
        if wildcards.task == "missing" or shards == 1:
            return files
        folder = self._place(wildcards.critic, wildcards.corpus, "retrieved")
        return files | {"retrieved": [f"{folder}/{shard}.parquet" for shard in range(shards)]}

    def pretrained_on(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the documents and embeddings that a detector is pre-trained on."""
        pretraining = self._options(wildcards.critic).pretraining
        assert pretraining is not None
        return {
            "documents": self._documents(pretraining.corpus),
            "embeddings": self._embeddings(
                wildcards.critic, wildcards.detector, wildcards.corpus, CORPUS, pretraining.corpus
            ),
        }

    def learnt_from(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the inputs of a detector's training."""
        critic, corpus = wildcards.critic, wildcards.corpus
        detector_options = self._detector(wildcards)
        files = {
            "documents": self._documents(wildcards.corpus),
            "corrupted": self._place(critic, corpus, "corrupted", f"{wildcards.task}.parquet"),
            **self._checked(wildcards),
        }
        if detector_options.reads_embeddings:
            files["embeddings"] = self._embeddings(critic, wildcards.detector, corpus, CORPUS)
        if detector_options.pretrained:
            files["pretrained"] = self._place(critic, corpus, "pretrained", f"{wildcards.task}.{wildcards.detector}")
        return files

    def infilled_from(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the inputs of sentence infilling."""
        critic, corpus, detector = wildcards.critic, wildcards.corpus, wildcards.detector
        name = self._detector(wildcards).autoencoder
        assert name is not None
        synonyms = self._options(critic).generation.synonyms
        return {
            **({synonyms: retrieved_files(synonyms)[0]} if synonyms else {}),
            "documents": self._documents(wildcards.corpus),
            "detector": self._place(critic, corpus, "detectors", f"{wildcards.task}.{detector}"),
            "embeddings": self._embeddings(critic, detector, corpus, CORPUS),
            "corrupted": self._place(critic, corpus, "corrupted", f"{wildcards.task}.parquet"),
            "autoencoder": self._autoencoder(critic, name, corpus),
        }

    def jobs(self) -> list[Job]:
        """Return the jobs of the stages that only this critic has."""
        of_detector = "{task}.{detector}"
        return [
            self._job("embed_by_autoencoder", self.embedded, self._pattern(NAME, "embeddings/{kind}/{collection}")),
            self._job("retrieve", self.documents_alone, self._pattern("{critic}", "retrieved/{shard}.parquet")),
            self._job("corrupt", self.damaged, self._pattern("{critic}", "corrupted/{task}.parquet")),
            self._job("autoencode", self.documents_alone, self._pattern(NAME, "autoencoders/{autoencoder}")),
            self._job("pretrain", self.pretrained_on, self._pattern("{critic}", f"pretrained/{of_detector}")),
            self._job("detect", self.learnt_from, self._pattern("{critic}", f"detectors/{of_detector}")),
            self._job("infill", self.infilled_from, self._pattern("{critic}", f"infilled/{of_detector}")),
        ]

    def _job(self, stage: str, inputs: Function, output: str) -> Job:
        declared = CRITIC.stages[stage]
        values = value_words(declared.value_names, self._values(stage))

        def words(wildcards: Wildcards) -> list[str]:
            shard = getattr(wildcards, "collection", "").partition("/")[2]
            shards = {"texts_shard": shard, "texts_per_shard": self.size} if shard else {}
            return [*values(wildcards), *flags("--value", shards)]

        return Job(
            name=f"{stage}_{NAME}",
            command=f"critics run --critic {NAME} --stage {stage}",
            stage=declared,
            inputs={name: _input_of(inputs, name) for name in declared.input_names},
            outputs={OUTPUT: output},
            folders=frozenset({OUTPUT} if declared.folder else ()),
            options=lambda wildcards: as_json(self._job_options(wildcards), declared.option_names),
            values=words,
            modules=[declared.module("macroscope.critics.narrative")],
            resources=resources_of(declared, self._critic_options),
            user_inputs=("checked",),
            extras=CRITIC.extras,
            constraints={
                "critic": alternatives(self._names),
                "kind": r"[A-Za-z0-9_-]+",
                "collection": r"[^/]+(/\d+)?",
                "task": "missing|discordant",
                "detector": ANY_NAME,
                "autoencoder": ANY_NAME,
            },
        )

    def _values(self, stage: str) -> Values:
        return {
            "language": lambda w: self.config.corpora[self._documents_corpus(stage, w)].language,
            "seed": lambda w: self.config.seed,
            "resampling": lambda w: self.config.resampling(),
            "task": lambda w: w.task,
            "name": self._trained_name,
            "shard": lambda w: w.shard,
            "shards": lambda w: self._critic_options(w).retrieval_shards,
            "checkpoints": lambda w: self._checkpoints(stage, w),
        }

    # ---- private --------------------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> list[str]:
        """Return the names of the critic and its variants."""
        return [NAME, *(name for name in self.config.variant_names() if name.partition(VARIANT_SEPARATOR)[0] == NAME)]

    @cached_property
    def _judged(self) -> list[tuple[str, str]]:
        """Return the pairs (critic or variant, corpus) of all comparisons."""
        pairs = ((critic, comparison.corpus) for comparison in self.config.comparisons for critic in comparison.critics)
        return list(dict.fromkeys(pair for pair in pairs if pair[0] in self._names))

    @cached_property
    def _trained_encoders(self) -> dict[str, TrainedEncoder]:
        """Return all trained encoders by name."""
        encoders = (
            self._trained_encoder(critic, detector, corpus)
            for critic, corpus in self._judged
            for detector in self._options(critic).detectors()
        )
        return {encoder.name: encoder for encoder in encoders if encoder is not None}

    def _trained_encoder(self, critic: str, detector: str, corpus: str) -> TrainedEncoder | None:
        """Return the trained encoder of a detector's sentences; None if the encoder of the options embeds them."""
        options = self._options(critic)
        name = options.trained_encoder(options.detectors()[detector])
        return None if name is None else TrainedEncoder(options, self._autoencoder(critic, name, corpus))

    def _embeddings(self, critic: str, detector: str, corpus: str, collection: str, embedded: str | None = None) -> str:
        """Return the folder of a collection's sentence embeddings, by the encoder of a detector.

        Parameters
        ----------
        embedded
            Corpus of the collection; default: the judged one.
        """
        encoder = self._trained_encoder(critic, detector, corpus)
        if encoder is None:
            encoding = read_sentences(self._options(critic)).encoding
            return vectors_folder(self.results, embedded or corpus, encoding, collection)
        return self._place(NAME, embedded or corpus, "embeddings", encoder.name, collection)

    def _collection(self, wildcards: Wildcards) -> str:
        return f"{wildcards.system}/{wildcards.shard}" if self.size else wildcards.system

    def _autoencoder(self, critic: str, name: str, corpus: str) -> str:
        """Return the folder of an autoencoder, below that of the corpus that it is trained on."""
        training_corpus = self._options(critic).autoencoders[name].corpus or corpus
        return self._place(NAME, training_corpus, "autoencoders", self._autoencoder_key(critic, name))

    def _autoencoder_key(self, critic: str, name: str) -> str:
        options = self._options(critic)
        key = as_json(options, _EMBEDDING) + options.autoencoders[name].model_dump_json()
        return f"{name}-{crc32(key.encode()):08x}"

    @cached_property
    def _autoencoders(self) -> dict[str, tuple[str, str]]:
        """Map each autoencoder's folder name to a critic or variant that uses it, and its name in the options."""
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

    def _documents_corpus(self, stage: str, wildcards: Wildcards) -> str:
        """Return the corpus whose documents a job reads."""
        pretraining = self._options(wildcards.critic).pretraining if stage == "pretrain" else None
        return pretraining.corpus if pretraining else wildcards.corpus

    def _trained_name(self, wildcards: Wildcards) -> str:
        """Return the name, in the options, of the model that a job trains."""
        key = getattr(wildcards, "autoencoder", None)
        return self._autoencoders[key][1] if key else wildcards.detector

    def _critic_options(self, wildcards: Wildcards) -> NarrativeOptions:
        """Return the options of a job's critic."""
        kind, autoencoder = (getattr(wildcards, name, None) for name in ("kind", "autoencoder"))
        if kind:
            return self._trained_encoders[kind].options
        return self._options(self._autoencoders[autoencoder][0] if autoencoder else wildcards.critic)

    def _job_options(self, wildcards: Wildcards) -> NarrativeOptions:
        """Return the options of a job's critic without other jobs' models, whose changes must not re-run this job."""
        options, name = self._critic_options(wildcards), getattr(wildcards, "detector", None)
        if getattr(wildcards, "autoencoder", None):
            trained = self._trained_name(wildcards)
            return options.model_copy(update={"autoencoders": {trained: options.autoencoders[trained]}})
        if name is None:
            return options
        if name == JUDGE:
            return options.model_copy(update={"compared": {}})
        compared = {name: options.compared[name]}
        return options.model_copy(update={"compared": compared, "detector": DetectorOptions()})

    def _checked(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the file of the test segments that people have checked, if there is one."""
        files = self._options(wildcards.critic).test_segments.get(wildcards.corpus, {})
        return {"checked": files[wildcards.task]} if wildcards.task in files else {}

    def _pattern(self, critic: str, path: str) -> str:
        return f"results/<run>/critics/{critic}/{{corpus}}/{path}"

    def _documents(self, corpus: str) -> str:
        return f"{self.results}/corpora/{corpus}/documents.parquet"

    def _place(self, critic: str, corpus: str, *parts: str) -> str:
        return "/".join([f"{self.results}/critics/{critic}/{corpus}", *parts])

    def _detector(self, wildcards: Wildcards) -> DetectorOptions:
        return self._options(wildcards.critic).detectors()[wildcards.detector]

    def _options(self, critic: str) -> NarrativeOptions:
        options: NarrativeOptions = self.config.critic(critic)
        return options


def _input_of(inputs: Function, name: str) -> Function:
    """Input function: one of the inputs that a function returns by name; nothing if it is not needed."""
    return lambda wildcards: inputs(wildcards).get(name, [])
