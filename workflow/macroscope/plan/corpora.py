"""What a config implies for the corpora: their files and options; methods that take `wildcards` are a rule's."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from macroscope.corpora import sources
from macroscope.corpora.declaration import Simulation, Source
from macroscope.corpora.options import Corpus
from macroscope.files import RESOURCES, digest_of_folders
from macroscope.registry import Plugin, require
from macroscope.stages import Wildcards, alternatives, as_json, module_of

if TYPE_CHECKING:
    from macroscope.config.schema import Config


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
        """All options of a corpus."""
        return self.config.corpora[corpus]

    def language(self, wildcards: Wildcards) -> str:
        """Language of a corpus."""
        return self.options(wildcards.corpus).language

    # ---- files ---------------------------------------------------------------------------------------------------

    def folder(self, corpus: str) -> str:
        """Where the run keeps a corpus."""
        return f"{self.results}/corpora/{corpus}"

    def documents(self, corpus: str) -> str:
        """Documents of a corpus."""
        return f"{self.folder(corpus)}/documents.parquet"

    def process(self, corpus: str) -> str:
        """The known process of a simulated corpus."""
        return f"{self.folder(corpus)}/truth/process.json"

    def raw_parts(self, corpus: str) -> dict[str, str]:
        """Part name -> raw file."""
        return self.options(corpus).raw_parts(f"corpora.{corpus}", self.folder(corpus))

    def raw_part(self, wildcards: Wildcards) -> str:
        """Raw file of a part of a corpus."""
        return self.raw_parts(wildcards.corpus)[wildcards.part]

    def files_below(self, wildcards: Wildcards) -> str:
        """Parameter function: which files a raw file has below it, where it is a folder; another one reads it anew."""
        return self.digest_below([self.raw_part(wildcards)])

    def digest_below(self, paths: Iterable[str]) -> str:
        """Digest of what is below those paths that are the user's folders; what was retrieved does not change."""
        retrieved = tuple(f"data/{name}/" for name in self.retrieving)
        return digest_of_folders(path for path in paths if not path.startswith(retrieved))

    def parts(self, wildcards: Wildcards) -> list[str]:
        """Extracted parts of a corpus; those that another corpus has as well are extracted once."""
        return [
            f"{self.folder(self._extracted_for(wildcards.corpus, name))}/extracted/{name}.parquet"
            for name in self.raw_parts(wildcards.corpus)
        ]

    def _extracted_for(self, corpus: str, part: str) -> str:
        """First corpus of the config that reads the same raw file, as the same part, in the same way."""
        asked, raw = self._way_of_reading(corpus), self.raw_parts(corpus)[part]
        same = (other for other in self.config.corpora if self._way_of_reading(other) == asked)
        return next(other for other in same if self.raw_parts(other).get(part) == raw)

    def _way_of_reading(self, corpus: str) -> tuple[str, str]:
        options = self.options(corpus)
        return options.read_by, as_json(options, options.extraction_options)

    # ---- corpora that are made from a known process --------------------------------------------------------------

    @cached_property
    def simulations(self) -> Mapping[str, Simulation]:
        """Every kind of corpus that a source makes itself."""
        return {kind: found for source in sources().values() for kind, found in source.data.simulations.items()}

    def simulated(self, kind: str) -> str:
        """Wildcard constraint: names of the simulated corpora of a kind."""
        return alternatives(name for name, corpus in self.config.corpora.items() if corpus.kind_of_process == kind)

    def simulating_module(self, kind: str) -> str:
        """Module that makes the raw file of a kind of simulated corpora."""
        return module_of(self.simulations[kind].write, self._simulating_package(kind))

    def generating_module(self, wildcards: Wildcards) -> str:
        """Module that draws more documents from the process of a simulated corpus."""
        kind = self.options(wildcards.corpus).kind_of_process
        assert kind is not None  # a system that samples a process says that others have none
        return module_of(self.simulations[kind].generate, self._simulating_package(kind))

    def simulation_resources(self, kind: str) -> list[str]:
        """Files of the project's resources that a kind of simulation reads."""
        return [str(RESOURCES / name) for name in self.simulations[kind].resources]

    def simulation_options(self, kind: str) -> Callable[[Wildcards], str]:
        """Parameter function: options that shape the raw file of a simulated corpus."""
        names = self.simulations[kind].options.split()
        return lambda wildcards: as_json(self.options(wildcards.corpus), names)

    def _simulating_package(self, kind: str) -> str:
        return next(source.package for source in sources().values() if kind in source.data.simulations)

    # ---- corpora that are retrieved --------------------------------------------------------------------------------

    def registered(self) -> str:
        """Wildcard constraint: names of the registry's sources."""
        from macroscope.corpora.retrieval import remote_sources

        return alternatives(remote_sources())

    @cached_property
    def retrieving(self) -> list[str]:
        """Sources that retrieve by themselves what the registry does not have."""
        return [name for name, source in sources().items() if source.data.retrieve]

    # ---- what is done to them ------------------------------------------------------------------------------------

    def mirror_flag(self) -> str:
        """`--mirror ...` where the config names one."""
        return f"--mirror {shlex.quote(self.config.mirror)}" if self.config.mirror else ""

    def reading_module(self, wildcards: Wildcards) -> str:
        """Module that reads the raw files of a corpus."""
        source = self._reader(wildcards)
        return module_of(source.data.read, source.package)

    def reading_threads(self, wildcards: Wildcards) -> int:
        """Cores that reading a raw file of a corpus can use."""
        return self._reader(wildcards).data.threads

    def _reader(self, wildcards: Wildcards) -> Plugin[Source]:
        """The source whose code reads a corpus."""
        return require(self.options(wildcards.corpus).read_by, sources(), "source")

    def extraction_options(self, wildcards: Wildcards) -> str:
        """Options of extraction: all of a corpus but its filters, and what only retrieval or simulation looks at."""
        corpus = self.options(wildcards.corpus)
        return as_json(corpus, corpus.extraction_options)

    def preparation_options(self, wildcards: Wildcards) -> str:
        """Options of the filters."""
        return self.options(wildcards.corpus).model_dump_json()
