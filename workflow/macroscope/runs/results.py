"""A run, read from its folder: its config, its contents, the files that these name, and the numbers in its tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config.schema import Config, load_config
from macroscope.documents import Provenance, read_provenance
from macroscope.errors import MacroscopeError, nearest
from macroscope.files import read_json
from macroscope.gaps import UNFINISHED, Gap, find_gap, read_missing
from macroscope.options import KEPT_NAMES, is_matched
from macroscope.runs.contents import FINISHED, WHOLE, Contents, contents_file, read_contents
from macroscope.runs.numbers import Key, Number, read_corpora, read_numbers, read_pairs
from macroscope.systems import kinds
from macroscope.systems.options import Description, title_setting
from macroscope.tables import read_csv

STATISTICS = "tables/statistics.csv"
"""Table of all statistics of a run, in its folder."""


class Results:
    """Results of a run.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run (`runs.contents`), which are in one folder by default. All other files
        are found from the config's folder, which may be a local copy of a remote storage.

    Attributes
    ----------
    folder
        Folder of the run, `results/<run>`.
    """

    def __init__(self, config: Path, contents: Path | None = None) -> None:
        self.folder, self._config = config.parent, config
        self._contents = contents or Path(contents_file(str(config)))

    @cached_property
    def config(self) -> Config:
        """The effective config, of this version."""
        return load_config(self._config)

    @cached_property
    def contents(self) -> Contents:
        """Contents of the run: what it judges, and its files."""
        return read_contents(self._contents)

    def outputs(self, name: str) -> dict[tuple[str, str, str], Path]:
        """Return (critic, corpus, system) -> file of an output, such as latents or document_scores (`Contents`)."""
        return {key: self.folder / path for key, path in getattr(self.contents, name).items()}

    def tables(self, name: str) -> list[Path]:
        """Return the tables of a name: statistics, pairs_files, two_sample_tests, powers."""
        return [self.folder / path for path in getattr(self.contents, name)]

    def samples_of(self, corpus: str, system: str) -> Path:
        """Return the samples of a system."""
        return self.folder / "systems" / corpus / system / "samples.parquet"

    def documents_of(self, corpus: str) -> Path:
        """Return the documents of a corpus."""
        return self.folder / "corpora" / corpus / "documents.parquet"

    @cached_property
    def empty_cells(self) -> dict[tuple[str, str, str], Gap]:
        """Return (critic, corpus, system) -> why the scorecard has no number there."""
        return {key: Gap(**gap) for key, gap in self.contents.empty_cells.items()}

    @cached_property
    def unmatched(self) -> list[Gap]:
        """Return why critics compare no texts at matched length, if the config wants that."""
        return [Gap(**gap) for gap in self.contents.unmatched]

    def statistics(self) -> pd.DataFrame:
        """Read all tidy statistics: critics in the order of the config, then perplexities."""
        return pd.concat(map(read_csv, self.tables("statistics")), ignore_index=True)

    def systems(self, corpus: str) -> list[str]:
        """Return the systems evaluated against a corpus, the control first."""
        return [system for c, system in self.contents.pairs if c == corpus]

    def corpus_table(self, name: str) -> pd.DataFrame:
        """Read a table ("filters" or "summary") of all corpora, concatenated, with a column `corpus`."""
        frames = [
            read_csv(self.folder / "corpora" / corpus / f"{name}.csv").assign(corpus=corpus)
            for corpus in self.contents.corpora
        ]
        table = pd.concat(frames, ignore_index=True)
        return table[["corpus", *(column for column in table if column != "corpus")]]

    def description(self, corpus: str, system: str) -> Description:
        """Describe a system on a corpus; whether it writes titles is a setting only if the corpus has titles."""
        description = self.config.system(system).description(self.config)
        if description.setting == title_setting(False) and corpus not in self._titled_corpora:
            return replace(description, setting="")
        return description

    @cached_property
    def _titled_corpora(self) -> set[str]:
        """The corpora with section titles."""
        summary = self.corpus_table("summary")
        return set(summary.loc[summary["section_types"] > 0, "corpus"])

    def corpus_provenance(self, corpus: str) -> Provenance:
        """Read the provenance of a corpus's documents."""
        return read_provenance(self.documents_of(corpus))

    def samples(self) -> Iterator[tuple[str, str, Provenance]]:
        """Yield (corpus, system, provenance of its samples)."""
        for corpus, system in self.contents.sampled:
            yield corpus, system, read_provenance(self.samples_of(corpus, system))

    def known_truth(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Yield (critic, corpus, system, theoretical values) for all systems with known truth."""
        for (critic, corpus, system), path in self.outputs("known_truths").items():
            yield critic, corpus, system, read_json(path)

    def model_size(self, corpus: str, system: str) -> dict[str, int]:
        """Read the number of parameters, vocabulary size and context window (tokens) of a language model."""
        return read_json(self.folder / "systems" / corpus / system / "model" / "size.json")

    def training_log(self, corpus: str, system: str) -> pd.DataFrame:
        """Read the losses of a language model's training (nats per token) by step."""
        return read_csv(self.folder / "systems" / corpus / system / "model" / "training_log.csv")

    # ---- the tables of a finished run --------------------------------------------------------------------------------

    @cached_property
    def written_config(self) -> Mapping[str, Any]:
        """The effective config of the whole run as it was written, perhaps by another version."""
        path = self.folder / WHOLE
        config = read_json(path)
        if not isinstance(config, dict) or not {"corpora", "systems", "statistics"} <= set(config):
            raise MacroscopeError(f"{path}: not the effective config of a run; give the folder of a run")
        return config

    @property
    def confidence(self) -> float:
        """Level of the run's intervals."""
        return float(self.written_config["statistics"]["confidence"])

    @cached_property
    def numbers(self) -> Mapping[Key, Number]:
        """All rows of `tables/statistics.csv`."""
        return read_numbers(self.folder / STATISTICS)

    @cached_property
    def pairs(self) -> Mapping[tuple[str, str, str, str, str], tuple[str, Number]]:
        """Numbers of systems compared with each other (`read_pairs`); empty without a table of pairs."""
        path = self.folder / "tables" / "pairs.csv"
        return read_pairs(path) if path.exists() else {}

    @cached_property
    def corpora(self) -> Mapping[str, Mapping[str, str]]:
        """Corpus -> its rows of `tables/corpora.csv`."""
        return read_corpora(self.folder / "tables" / "corpora.csv")

    @property
    def missing(self) -> Sequence[Gap]:
        """Corpora, systems, critics and their stages of reporting that failed."""
        return read_missing(self.folder / "tables", self.folder / "figures")

    @cached_property
    def named_systems(self) -> set[str]:
        """Names of all systems with statistics, and of those that failed."""
        failed = {entry.system for entry in self.missing if entry.system and entry.stage is None}
        return {system for _, system, _, _ in self.numbers} | failed

    def is_judged(self, system: str) -> bool:
        """Return whether a system is judged: it is no check, no real text, and no copy at matched length."""
        if system in KEPT_NAMES or is_matched(system):
            return False
        options = self.written_config["systems"].get(system)
        return options is None or not kinds()[options["kind"]].data.check

    def explain_absence(self, key: Key) -> str:
        """Return " (failed: REASON)" for a statistic of a part of the run that failed; "" for others."""
        corpus, system, critic, _ = key
        gap = find_gap(self.missing, corpus, system, critic)
        return "" if gap is None else f" ({gap.note})"


def read_run(folder: Path) -> Results:
    """Return the results in a run's folder, as its report was made: without what failed (`plan.second_pass`)."""
    return Results(folder / (FINISHED if (folder / FINISHED).exists() else WHOLE))


def find_run(argument: str) -> tuple[Results, str | None]:
    """Read a run given as FOLDER or FOLDER:SYSTEM, and return it with the system or None.

    FOLDER is `results/<run>`, the config.json in it, or a parent folder with a single run.

    Raises
    ------
    MacroscopeError
        If there is no finished run, or the run has no such system.
    """
    if Path(argument).exists():
        return _read_finished(find_run_folder(Path(argument))), None
    path, colon, system = argument.rpartition(":")
    if not colon or not Path(path).exists():
        raise MacroscopeError(f"{argument}: no such folder; give a finished run, results/RUN or results/RUN:SYSTEM")
    run = _read_finished(find_run_folder(Path(path)))
    if system not in run.named_systems:
        hint = nearest(system, run.named_systems)
        raise MacroscopeError(f"{path}: the run has no statistics of a system '{system}'{hint}")
    return run, system


def find_run_folder(path: Path) -> Path:
    """Return the folder `results/<run>` of a finished run: the path itself, or the only run in it.

    Raises
    ------
    MacroscopeError
        If there is no finished run, or there are several.
    """
    if path.is_file():
        path = path.parent
    if (path / STATISTICS).exists():
        return path
    inside = sorted(table.parent.parent for table in path.glob(f"results/*/{STATISTICS}"))
    if len(inside) > 1:
        names = ", ".join(map(str, inside))
        raise MacroscopeError(f"{path}: several runs ({names}); give one of them")
    if not inside:
        raise MacroscopeError(f"{path}: no finished run (there is no {STATISTICS}); give the folder results/RUN of one")
    return inside[0]


def _read_finished(folder: Path) -> Results:
    """Return the results in the folder of a finished run, after its numbers could be read."""
    if (folder / UNFINISHED).exists():
        raise MacroscopeError(
            f"{folder}: the last call of this run did not end, so that its tables may be older than its texts; run the"
            " same command again (with --forcerun make_tables if Snakemake has nothing to do)"
        )
    run = read_run(folder)
    _ = run.written_config, run.numbers, run.corpora, run.missing
    return run


def read_statistics(tables: Path) -> pd.DataFrame:
    """Read all statistics of a run, with p_adjusted, from the folder of its tables."""
    return read_csv(tables / "statistics.csv")


def read_warnings(tables: Path) -> pd.DataFrame:
    """Read the warnings of a run's critics from the folder of its tables."""
    return read_csv(tables / "warnings.csv")
