"""Choices of the narrative critic about its jobs: which embeddings, decoders and damage each detector reads."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from zlib import crc32

from macroscope.corpora.raw_files import retrieved_files
from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.narrative.options import JUDGE, DetectorOptions, NarrativeOptions, read_sentences
from macroscope.critics.options import WHOLE_CORPUS
from macroscope.critics.stage_jobs import CriticPlan, Source, StageJob
from macroscope.stages import as_json

_EMBEDDING = ("encoder", "pooling", "max_tokens")


class NarrativePlan(CriticPlan):
    """Detectors, their training data, and the decoders and encoders that variants share."""

    def corpora_read(self) -> list[str]:
        """Return the corpora that detectors or decoders are trained on."""
        corpora = []
        for critic, _ in self._judged:
            options = self._options(critic)
            corpora += [options.pretraining.corpus] if options.pretraining else []
            corpora += [autoencoder.corpus for autoencoder in options.autoencoders.values() if autoencoder.corpus]
        return corpora

    def sources(self, job: StageJob) -> Mapping[str, Source]:
        """Return the sources of a job's inputs."""
        options = self._options(job.critic)
        match job.stage:
            case "overview" | "report":
                generating = [
                    name for name, each in options.detectors().items() if each.autoencoder and each.semantic_matching
                ]
                return {
                    "detectors": _by_task(job, options, "detect", options.detectors()),
                    "infilled": _by_task(job, options, "infill", generating),
                }
            case "train":
                return {
                    "detectors": _by_task(job, options, "detect", [JUDGE]),
                    "embeddings": self._embeddings(job, JUDGE),
                }
            case "project":
                collection = "/".join(job.keys.values())
                is_shared = options.trained_encoder(options.detector) is None  # it reads `sentence_vectors`
                return {"embeddings": [] if is_shared else self._embeddings(job, JUDGE, collection=collection)}
            case "embed_by_autoencoder":
                return {"autoencoder": self._trained_encoders[job.keys["kind"]][1]}
            case "corrupt":
                shards = (
                    0 if options.retrieval_shards == 1 or job.keys["task"] == "missing" else options.retrieval_shards
                )
                retrieved = [job.output("retrieve", shard=str(shard)) for shard in range(shards)]
                return {"retrieved": retrieved, "checked": self._checked(job)}
            case "pretrain":
                assert options.pretraining is not None
                corpus = options.pretraining.corpus
                return {
                    "documents": job.output("documents", corpus=corpus),
                    "embeddings": self._embeddings(job, job.keys["detector"], corpus),
                }
            case "detect" | "infill":
                return self._of_detector(job)
        return {}

    def options(self, job: StageJob) -> NarrativeOptions:
        """Return the options of a job's critic without other jobs' models, whose changes must not re-run this job."""
        if "kind" in job.keys:
            return self._trained_encoders[job.keys["kind"]][0]
        if "autoencoder" in job.keys:
            critic, name = self._autoencoders[job.keys["autoencoder"]]
            options = self._options(critic)
            return options.model_copy(update={"autoencoders": {name: options.autoencoders[name]}})
        options, detector = self._options(job.critic), job.keys.get("detector")
        if detector is None:
            return options
        if detector == JUDGE:
            return options.model_copy(update={"compared": {}})
        compared = {detector: options.compared[detector]}
        return options.model_copy(update={"compared": compared, "detector": DetectorOptions()})

    def values(self, job: StageJob) -> Mapping[str, Any]:
        """Return the number of shards, and the name in the options of the model that a job trains."""
        options, trained = self._options(job.critic), job.keys.get("autoencoder")
        values: dict[str, Any] = {
            "shards": options.retrieval_shards,
            "name": self._autoencoders[trained][1] if trained else job.keys.get("detector"),
        }
        if job.stage == "pretrain" and options.pretraining is not None:
            values["language"] = self.config.corpora[options.pretraining.corpus].language
        return values

    # ---- private --------------------------------------------------------------------------------------------------

    @cached_property
    def _judged(self) -> list[tuple[str, str]]:
        """Return the pairs (critic or variant, corpus) of all comparisons."""
        pairs = ((critic, comparison.corpus) for comparison in self.config.comparisons for critic in comparison.critics)
        return list(dict.fromkeys(pair for pair in pairs if pair[0].partition(VARIANT_SEPARATOR)[0] == self.name))

    @cached_property
    def _trained_encoders(self) -> dict[str, tuple[NarrativeOptions, StageJob]]:
        return {
            self._encoder_name(critic, autoencoder): (self._options(critic), autoencoder)
            for critic, corpus in self._judged
            for detector in self._options(critic).detectors()
            if (autoencoder := self._trained_encoder(StageJob("", critic, corpus, {}), detector)) is not None
        }

    @cached_property
    def _autoencoders(self) -> dict[str, tuple[str, str]]:
        """Map each autoencoder's key to a critic or variant that uses it, and its name in the options."""
        return {
            self._autoencoder(StageJob("", critic, corpus, {}), name).keys["autoencoder"]: (critic, name)
            for critic, corpus in self._judged
            for name in self._options(critic).autoencoders
        }

    def _of_detector(self, job: StageJob) -> dict[str, Source]:
        """Return what a detector is trained on, and what it generates sentences with."""
        options, name = self._options(job.critic), job.keys["detector"]
        detector, synonyms = options.detectors()[name], options.generation.synonyms
        sources: dict[str, Source] = {
            "corrupted": job.output("corrupt"),
            "checked": self._checked(job),
            "embeddings": self._embeddings(job, name),
            "pretrained": job.output("pretrain") if detector.pretrained else [],
            "detector": job.output("detect"),
            "wordnet": retrieved_files(synonyms)[0] if synonyms else [],
        }
        if detector.autoencoder is not None:
            sources["autoencoder"] = self._autoencoder(job, detector.autoencoder)
        return sources

    def _embeddings(self, job: StageJob, detector: str, corpus: str = "", collection: str = WHOLE_CORPUS) -> Source:
        """Return the sentence embeddings that a detector reads, of a collection; none if it reads words."""
        options = self._options(job.critic)
        if not options.detectors()[detector].reads_embeddings:
            return []
        autoencoder = self._trained_encoder(job, detector)
        if autoencoder is None:
            encoding = read_sentences(options).encoding.name
            return job.output("sentence_vectors", corpus=corpus, encoding=encoding, collection=collection)
        kind = self._encoder_name(job.critic, autoencoder)
        return job.output("embed_by_autoencoder", corpus=corpus, kind=kind, collection=collection)

    def _trained_encoder(self, job: StageJob, detector: str) -> StageJob | None:
        """Return the job that trains the encoder of a detector's sentences; None if that of the options embeds them."""
        options = self._options(job.critic)
        name = options.trained_encoder(options.detectors()[detector])
        return None if name is None else self._autoencoder(job, name)

    def _autoencoder(self, job: StageJob, name: str) -> StageJob:
        """Return the job that trains an autoencoder, on the corpus that its options name or else on the judged one."""
        options = self._options(job.critic)
        key = as_json(options, _EMBEDDING) + options.autoencoders[name].model_dump_json()
        corpus = options.autoencoders[name].corpus or job.corpus
        return job.output("autoencode", corpus=corpus, autoencoder=f"{name}-{crc32(key.encode()):08x}")

    def _encoder_name(self, critic: str, autoencoder: StageJob) -> str:
        name = autoencoder.keys["autoencoder"]
        key = f"{as_json(self._options(critic), _EMBEDDING)} {autoencoder.corpus}/{name}"
        return f"{name}-{crc32(key.encode()):08x}"

    def _checked(self, job: StageJob) -> Source:
        """Return the file of the test segments that people have checked, if there is one."""
        files = self._options(job.critic).test_segments.get(job.corpus, {})
        return [file for task, file in files.items() if task == job.keys["task"]]

    def _options(self, critic: str) -> NarrativeOptions:
        options: NarrativeOptions = self.config.critic(critic)
        return options


def _by_task(job: StageJob, options: NarrativeOptions, stage: str, detectors: Iterable[str]) -> list[StageJob]:
    return [job.output(stage, task=task, detector=name) for task in options.tasks for name in detectors]
