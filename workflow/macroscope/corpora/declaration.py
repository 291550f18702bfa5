"""What a source declares: data, so that it is found without importing what it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ORDERS = ("process", "shuffled", "independent")
"""What every process can draw: texts as they are, their parts in random order, parts that go together by chance."""


@dataclass(frozen=True)
class Simulation:
    """A kind of corpus that a source makes itself, from a process that is known exactly.

    Attributes
    ----------
    write
        "module:function", relative to the source's package: writes the raw file, and the truth about it. Called as
        `write(options, seed, raw, truth)`.
    raw
        Name of the raw file.
    read_by
        Source whose code reads it.
    options
        Names of the options that shape it.
    generate
        "module:function", relative to the source's package: draws documents of the process, or of one with a known
        defect, in the form that the corpus's documents have. Called as `generate(process, order, n, seed)`, where `process`
        is the path of truth/process.json.
    resources
        Names of the files of the project's resources that it reads.
    orders
        What can be drawn: the process, and known defects of it.
    """

    write: str
    raw: str
    read_by: str
    options: str
    generate: str
    resources: tuple[str, ...] = ()
    orders: tuple[str, ...] = ORDERS


@dataclass(frozen=True)
class Source:
    """Where a corpus's raw files come from, and how they are read; `SOURCE` in the `__init__` of a package.

    Attributes
    ----------
    options
        "module:class", relative to the package: its group of options, a `corpora.options.Corpus`.
    read
        "module:function" that streams the documents of a raw file and counts what it leaves out, called as
        `read(options, path, provenance, workers)`; empty for a source whose raw files another one's code reads.
    retrieve
        "module:function" that retrieves raw files which the registry does not have, called as `retrieve(place, output)`
        for any folder `output` = data/<source>/<place> that a corpus or a system reads; empty for most.
    threads
        Cores that reading one raw file can use: its worker processes.
    simulations
        Kinds of corpora that it makes itself, by name.
    """

    options: str
    read: str = ""
    retrieve: str = ""
    threads: int = 1
    simulations: Mapping[str, Simulation] = field(default_factory=dict)
