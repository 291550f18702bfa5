"""Plan of the corpora: their files and options. Methods that take `wildcards` are input and parameter functions."""

import shlex
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from macroscope.corpora import sources
from macroscope.corpora.declaration import Simulation, Source
from macroscope.corpora.options import Corpus
from macroscope.registry import Plugin, require
from macroscope.stages import Wildcards, alternatives, as_json, module_of

if TYPE_CHECKING:
    from macroscope.config.schema import Config


PREPARATION_VERSION = 1
"""Version of the documents that `corpora.prepare` writes, as that of a stage (`stages.Stage`)."""


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
        """Input function: the raw file of a part of a corpus."""
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

    def simulating_module(self, kind: str) -> str:
        """Return the module that makes the raw file of a kind of simulated corpora."""
        return module_of(self.simulations[kind].write, self._simulating_package(kind))

    def generating_module(self, wildcards: Wildcards) -> str:
        """Return the module that generates more documents from the process of a simulated corpus."""
        kind = self.options(wildcards.corpus).kind_of_process
        assert kind is not None  # systems that sample a process accept only simulated corpora
        return module_of(self.simulations[kind].generate, self._simulating_package(kind))

    def simulation_options(self, kind: str) -> Callable[[Wildcards], str]:
        """Return a parameter function: options that shape the raw file of a simulated corpus."""
        names = self.simulations[kind].options.split()
        return lambda wildcards: as_json(self.options(wildcards.corpus), names)

    def _simulating_package(self, kind: str) -> str:
        return next(source.package for source in sources().values() if kind in source.data.simulations)

    # ---- corpora that are retrieved --------------------------------------------------------------------------------

    def registered(self) -> str:
        """Return a wildcard constraint: names of the registry's sources."""
        return alternatives(self._list_registered())

    def retrieved_folders(self) -> list[str]:
        """Return the folders that files are retrieved to."""
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

    def reading_module(self, wildcards: Wildcards) -> str:
        """Return the module that reads the raw files of a corpus."""
        source = self._reader(wildcards)
        return module_of(source.data.read, source.package)

    def reading_version(self, wildcards: Wildcards) -> int:
        """Return the version of the source that reads the raw files of a corpus."""
        return self._reader(wildcards).data.version

    def reading_threads(self, wildcards: Wildcards) -> int:
        """Return the number of cores that reading a raw file of a corpus can use."""
        return self._reader(wildcards).data.threads

    def _reader(self, wildcards: Wildcards) -> Plugin[Source]:
        """Return the source whose code reads a corpus."""
        return require(self.options(wildcards.corpus).read_by, sources(), "source")

    def extraction_options(self, wildcards: Wildcards) -> str:
        """Return the options of extraction: a corpus's options but for its filters, retrieval and simulation."""
        corpus = self.options(wildcards.corpus)
        return as_json(corpus, corpus.extraction_options)

    def preparation_options(self, wildcards: Wildcards) -> str:
        """Return the options of preparation."""
        return self.options(wildcards.corpus).model_dump_json()
