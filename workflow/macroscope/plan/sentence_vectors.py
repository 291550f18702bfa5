"""Plan of sentence vectors: the jobs that embed the sentences of collections, for all critics that read them.

The vectors belong to no critic. Critics that embed sentences alike read the same files, and a sentence that the real
texts have as well is not embedded again.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from macroscope.critics.options import (
    EMBED_SENTENCES,
    EMBEDDING_STAGE,
    WHOLE_CORPUS,
    SentenceEncoding,
    SentenceReading,
    is_split,
    vectors_folder,
)
from macroscope.jobs import OUTPUT, Job, resources_of, value_words
from macroscope.options import CONTROL, is_matched, original_system
from macroscope.stages import Wildcards, alternatives, as_json, flags, load

if TYPE_CHECKING:
    from macroscope.plan.comparisons import Comparisons


class SentenceVectorsPlan:
    """The sentences that critics embed.

    Parameters
    ----------
    comparisons
        The comparisons of the config, whose critics read the vectors.
    """

    def __init__(self, comparisons: "Comparisons") -> None:
        self.comparisons, self.config = comparisons, comparisons.config
        self.results = comparisons.corpora.results

    def folder(self, critic: str, corpus: str, system: str, shard: str | None = None) -> str | None:
        """Return the folder with vectors of sentences that a critic's stage `project` reads; None if there is none.

        If several critics read them, it has all sentences of the system, else those that real texts have as well.

        Parameters
        ----------
        shard
            Number of the shard of the system's texts; None if they are projected as a whole.
        """
        reading = self._readings.get(critic)
        if reading is None or not reading.by_project:
            return None
        real = self._real_texts(corpus, reading.encoding)
        if not self._is_shared(corpus, reading.encoding) or self._is_real(system):
            collection = real
        else:  # a text at matched length has sentences of the whole one
            collection = original_system(system) if shard is None else f"{system}/{shard}"
        return collection and vectors_folder(self.results, corpus, reading.encoding.name, collection)

    def jobs(self) -> list[Job]:
        """Return the job that embeds the sentences of a collection."""
        return [
            Job(
                name=EMBED_SENTENCES,
                command="critics embed",
                stage=EMBEDDING_STAGE,
                inputs={
                    "documents": lambda w: self.collection(w.corpus, w.collection, "documents"),
                    "texts": lambda w: self.collection(w.corpus, w.collection, "texts"),
                    "known_sentences": self._known,
                },
                outputs={OUTPUT: "results/<run>/sentences/{corpus}/{encoding}/{collection}"},
                folders=frozenset({OUTPUT}),
                options=lambda wildcards: as_json(self._encodings[wildcards.encoding], EMBEDDING_STAGE.option_names),
                values=self._values,
                modules=[EMBEDDING_STAGE.module("")],
                resources=resources_of(EMBEDDING_STAGE, lambda wildcards: self._encodings[wildcards.encoding]),
                constraints={"encoding": alternatives(self._encodings), "collection": r"[^/]+(/\d+)?"},
            )
        ]

    # ---- what critics read ---------------------------------------------------------------------------------------

    @cached_property
    def _readings(self) -> dict[str, SentenceReading]:
        """Return critic -> how it embeds sentences, of all critics and variants that do."""
        readings = {}
        for critic in dict.fromkeys(critic for critic, _ in self.comparisons.chapters):
            plugin = self.comparisons.plugins[critic]
            read = load(plugin.data.sentences, plugin.package) if plugin.data.sentences else lambda options: None
            if (reading := read(self.config.critic(critic))) is not None:
                readings[critic] = reading
        return readings

    @cached_property
    def _encodings(self) -> dict[str, SentenceEncoding]:
        return {reading.encoding.name: reading.encoding for reading in self._readings.values()}

    @cached_property
    def _readers(self) -> dict[tuple[str, SentenceEncoding], list[str]]:
        """Return (corpus, encoding) -> critics whose projections read the vectors."""
        readers: dict[tuple[str, SentenceEncoding], list[str]] = {}
        for critic, corpus in self.comparisons.chapters:
            reading = self._readings.get(critic)
            if reading is not None and reading.by_project:
                readers.setdefault((corpus, reading.encoding), []).append(critic)
        return readers

    def _is_shared(self, corpus: str, encoding: SentenceEncoding) -> bool:
        """Return whether several projections read the vectors: for one, a separate job costs more than it saves."""
        return len(self._readers[corpus, encoding]) > 1

    def _real_texts(self, corpus: str, encoding: SentenceEncoding) -> str | None:
        """Return the collection whose sentences are known to all others; None if none is.

        It is the corpus if a critic reads all of it, to learn or to compare with it, else the control.
        """
        for critic in self._readers.get((corpus, encoding), []):
            if self.comparisons.declared(critic).learns or self.config.system(CONTROL).is_whole_corpus():
                return WHOLE_CORPUS
        return None if self.config.documents_per_shard else CONTROL

    def _is_real(self, system: str) -> bool:
        """Return whether a system's texts are real ones, perhaps at matched length."""
        is_reference = system != original_system(system) and not is_matched(system)
        return system == CONTROL or is_reference

    # ---- the job -------------------------------------------------------------------------------------------------

    def collection(self, corpus: str, collection: str, name: str = "") -> str | list[str]:
        """Return the file of a collection, if it is an input of this name.

        Parameters
        ----------
        name
            "documents" for those of a corpus alone, "texts" for those of a system alone; "" for both.
        """
        kind = "documents" if is_split(collection) else "texts"
        if name not in ("", kind):
            return []
        if kind == "documents":
            return self.comparisons.corpora.documents(corpus)
        return self.comparisons.systems.samples(corpus, collection.partition("/")[0])

    def shard_words(self, wildcards: Wildcards) -> list[str]:
        """Return the words of a command line that select a shard, if the collection is one."""
        shard = getattr(wildcards, "collection", "").partition("/")[2]
        size = self.config.documents_per_shard
        return flags("--value", {"texts_shard": shard, "texts_per_shard": size} if shard else {})

    def _known(self, wildcards: Wildcards) -> str | list[str]:
        """Return the folder of the sentences of real texts."""
        encoding = self._encodings[wildcards.encoding]
        real = self._real_texts(wildcards.corpus, encoding)
        if wildcards.collection in (WHOLE_CORPUS, real) or real is None:
            return []
        return vectors_folder(self.results, wildcards.corpus, encoding.name, real)

    def _values(self, wildcards: Wildcards) -> list[str]:
        values = value_words(EMBEDDING_STAGE.value_names, {"language": self.comparisons.corpora.language})
        return [*values(wildcards), *self.shard_words(wildcards)]
