"""Declarations of sources: plain data, so that discovery imports none of the code that they run.

Also the stages of the room, which are the same for all sources.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from macroscope.stages import Stage, require_version

ORDERS = ("process", "shuffled", "independent")
"""Orders that every process can generate: texts as they are, parts in random order, and independent parts."""

STAGES = {
    "simulate": Stage("prepare:simulate", inputs="seed truth", options="*", minutes=30),
    "extract": Stage("prepare:extract", inputs="raw corpus threads", options="*", megabytes=3000, minutes=720),
    "prepare": Stage(
        "prepare:prepare",
        inputs="parts corpus",
        options="*",
        beside="filters.csv summary.csv section_types.csv",
        megabytes=4000,
        minutes=240,
    ),
}
"""Stages of the room: raw files of a known process, documents of a raw file, documents of a corpus."""


@dataclass(frozen=True)
class Simulation:
    """Declaration of a kind of corpus that is generated from an exactly known process.

    Attributes
    ----------
    write
        "module:function", relative to the source's package, that writes the raw file and the truth about it. Called as
        `write(options, seed, raw, truth)`.
    raw
        Name of the raw file.
    read_by
        Source whose code reads the raw file.
    options
        Names of the options that shape the raw file, separated by spaces.
    generate
        "module:function", relative to the source's package, that generates documents of the process, or of a variant
        with a known defect, in the form of the corpus's documents. Called as `generate(process, order, n, seed)`;
        `process` is the path of truth/process.json.
    orders
        Variants that can be generated: the process itself, and its known defects.
    version
        Version of the raw file, as that of a stage (`stages.Stage`).
    """

    write: str
    raw: str
    read_by: str
    options: str
    generate: str
    orders: tuple[str, ...] = ORDERS
    version: int = 1

    def __post_init__(self) -> None:
        require_version(self.version)


@dataclass(frozen=True)
class Source:
    """Declaration of a source of raw files and of their reader: `SOURCE` in its module or package.

    Attributes
    ----------
    options
        "module:class", relative to the package: the group of options, a subclass of `corpora.options.Corpus`.
    read
        "module:function" that streams the documents of a raw file and counts what it leaves out, called as
        `read(options, path, provenance, workers)`; empty if another source's code reads the raw files.
    retrieve
        "module:function" that retrieves raw files that are not in the registry, called as `retrieve(place, output)`
        for each folder `output` = data/<source>/<place> that a corpus or a system reads; empty for most sources.
    threads
        Number of worker processes that reading one raw file can use.
    simulations
        Kinds of simulated corpora, by name.
    version
        Version of the documents that `read` gives, as that of a stage (`stages.Stage`).
    """

    options: str
    read: str = ""
    retrieve: str = ""
    threads: int = 1
    simulations: Mapping[str, Simulation] = field(default_factory=dict)
    version: int = 1

    def __post_init__(self) -> None:
        require_version(self.version)
