"""Plan of the corpora: their files and options. Methods that take `wildcards` are input and parameter functions."""

import shlex
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from macroscope.corpora import sources
from macroscope.corpora.declaration import STAGES, Simulation, Source
from macroscope.corpora.options import Corpus
from macroscope.jobs import OUTPUT, Job, Resources, Values, value_words
from macroscope.registry import Plugin, require
from macroscope.stages import Function, Wildcards, alternatives, as_json, module_of

if TYPE_CHECKING:
    from macroscope.config.schema import Config

_FOLDER = "results/<run>/corpora/{corpus}"


class CorporaPlan:
    """The corpora of a config, judged or not, by their names.

    Parameters
    ----------
    results
        Folder of the run's results.
    """

    def __init__(self, config: "Config", results: str) -> None:
        self.config, self.results = config, results

    def options(self, corpus: str) -> Corpus:
        """Return all options of a corpus."""
        return self.config.corpora[corpus]

    def language(self, wildcards: Wildcards) -> str:
        """Return the language of a corpus."""
        return self.options(wildcards.corpus).language

    def values(self) -> Values:
        """Return the values that stages of several rooms read, as functions of the wildcards."""
        return {
            "corpus": lambda w: w.corpus,
            "system": lambda w: w.system,
            "language": self.language,
            "seed": lambda w: self.config.seed,
            "confidence": lambda w: self.config.statistics.confidence,
            "resampling": lambda w: self.config.resampling(),
        }

    # ---- jobs ----------------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Return the jobs that simulate raw files, read them, and prepare the documents of a corpus."""
        raw, parts = {"raw": self.raw_part}, {"parts": self.parts}
        extracted = {OUTPUT: f"{_FOLDER}/extracted/{{part}}.parquet"}
        prepare = STAGES["prepare"]
        tables = {name.removesuffix(".csv"): f"{_FOLDER}/{name}" for name in prepare.beside.split()}
        reading = {
            "modules": lambda w: [module_of(self.reader(w).data.read, self.reader(w).package)],
            "version": lambda w: self.reader(w).data.version,
            "user_inputs": ("raw",),
        }
        prepared = {OUTPUT: f"{_FOLDER}/documents.parquet", **tables}
        return [
            *map(self._simulation, self.simulations),
            self._job("extract_documents", "extract", raw, extracted, self.extraction_options, **reading),
            self._job(
                "prepare_documents", "prepare", parts, prepared, lambda w: self.options(w.corpus).model_dump_json()
            ),
        ]

    def _simulation(self, kind: str) -> Job:
        simulation = self.simulations[kind]
        names = simulation.options.split()
        return self._job(
            *(f"simulate_{kind}", "simulate", {}),
            {OUTPUT: f"{_FOLDER}/raw/{simulation.raw}", "truth": f"{_FOLDER}/truth/process.json"},
            lambda wildcards: as_json(self.options(wildcards.corpus), names),
            modules=[module_of(simulation.write, self._simulating_package(kind))],
            version=simulation.version,
            constraints={"corpus": self.simulated(kind)},
        )

    def _job(self, name: str, stage: str, inputs: Any, outputs: Any, options: Function, **others: Any) -> Job:
        declared = STAGES[stage]
        is_parallel = "threads" in declared.value_names
        threads = (lambda w: self.reader(w).data.threads) if is_parallel else declared.threads
        return Job(
            name=name,
            command=f"corpora run --stage {stage}",
            stage=declared,
            inputs=inputs,
            outputs=outputs,
            values=value_words((value for value in declared.value_names if value not in outputs), self.values()),
            options=options,
            resources=Resources(threads, declared.megabytes, 0),
            **{"modules": [declared.module("macroscope.corpora")], **others},
        )

    # ---- files ---------------------------------------------------------------------------------------------------

    def folder(self, corpus: str) -> str:
        """Return the folder of a corpus in the run."""
        return f"{self.results}/corpora/{corpus}"

    def documents(self, corpus: str) -> str:
        """Return the path of the documents of a corpus."""
        return f"{self.folder(corpus)}/documents.parquet"

    def process(self, corpus: str) -> str:
        """Return the path of the known process of a simulated corpus."""
        return f"{self.folder(corpus)}/truth/process.json"

    def raw_parts(self, corpus: str) -> dict[str, str]:
        """Return part name -> raw file."""
        return self.options(corpus).raw_parts(f"corpora.{corpus}", self.folder(corpus))

    def raw_part(self, wildcards: Wildcards) -> str:
        return self.raw_parts(wildcards.corpus)[wildcards.part]

    def parts(self, wildcards: Wildcards) -> list[str]:
        """Input function: the extracted parts of a corpus; parts that several corpora share are extracted once."""
        return [
            f"{self.folder(self._extracted_for(wildcards.corpus, name))}/extracted/{name}.parquet"
            for name in self.raw_parts(wildcards.corpus)
        ]

    def _extracted_for(self, corpus: str, part: str) -> str:
        """Return the first corpus of the config that reads the same raw file as the same part in the same way."""
        way, raw = self._way_of_reading(corpus), self.raw_parts(corpus)[part]
        same = (candidate for candidate in self.config.corpora if self._way_of_reading(candidate) == way)
        return next(candidate for candidate in same if self.raw_parts(candidate).get(part) == raw)

    def _way_of_reading(self, corpus: str) -> tuple[str, str]:
        options = self.options(corpus)
        return options.read_by, as_json(options, options.extraction_options)

    # ---- corpora that are made from a known process --------------------------------------------------------------

    @cached_property
    def simulations(self) -> Mapping[str, Simulation]:
        """Return kind -> simulation, for every kind of corpus that a source simulates."""
        return {
            kind: simulation for source in sources().values() for kind, simulation in source.data.simulations.items()
        }

    def simulated(self, kind: str) -> str:
        """Return a wildcard constraint: names of the simulated corpora of a kind."""
        return alternatives(name for name, corpus in self.config.corpora.items() if corpus.kind_of_process == kind)

    def generating_module(self, wildcards: Wildcards) -> str:
        """Return the module that generates more documents from the process of a simulated corpus."""
        kind = self.options(wildcards.corpus).kind_of_process
        assert kind is not None  # systems that sample a process accept only simulated corpora
        return module_of(self.simulations[kind].generate, self._simulating_package(kind))

    def _simulating_package(self, kind: str) -> str:
        return next(source.package for source in sources().values() if kind in source.data.simulations)

    # ---- corpora that are retrieved --------------------------------------------------------------------------------

    def registered(self) -> str:
        """Return a wildcard constraint: names of the registry's sources."""
        return alternatives(self._list_registered())

    def retrieved_folders(self) -> list[str]:
        return [f"data/{name}" for name in (*self._list_registered(), *self.retrieving)]

    @staticmethod
    def _list_registered() -> list[str]:
        from macroscope.corpora.retrieval import list_remote_sources

        return list_remote_sources()

    @cached_property
    def retrieving(self) -> list[str]:
        """Return the sources with their own retrieval, for data that the registry does not have."""
        return [name for name, source in sources().items() if source.data.retrieve]

    # ---- retrieval, extraction, preparation ----------------------------------------------------------------------

    def mirror_flag(self, wildcards: Wildcards) -> str:
        """Return `--mirror ...` if the config names a mirror of a source, or of all."""
        mirror = self.config.mirror
        place = mirror.get(wildcards.source) if isinstance(mirror, dict) else mirror
        return f"--mirror {shlex.quote(place)}" if place else ""

    def require_mirrored(self) -> None:
        """Check that the sources with a mirror of their own are in the registry."""
        from macroscope.corpora.retrieval import find_remote_source

        for name in self.config.mirror if isinstance(self.config.mirror, dict) else ():
            find_remote_source(name)

    def reader(self, wildcards: Wildcards) -> Plugin[Source]:
        return require(self.options(wildcards.corpus).read_by, sources(), "source")

    def extraction_options(self, wildcards: Wildcards) -> str:
        """Return the options of extraction: a corpus's options but for its filters, retrieval and simulation."""
        corpus = self.options(wildcards.corpus)
        return as_json(corpus, corpus.extraction_options)
