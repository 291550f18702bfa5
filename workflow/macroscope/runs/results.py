"""A run, read from its folder: its config, its contents, and the files that these name."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config.schema import load_config
from macroscope.documents import Provenance, read_provenance
from macroscope.files import read_json
from macroscope.gaps import Gap
from macroscope.runs.contents import FINISHED, WHOLE, Contents, contents_file, read_contents
from macroscope.systems.options import Description, title_setting
from macroscope.tables import read_csv


class Results:
    """Results of a run.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run (`runs.contents`), which are in one folder by default. All other files
        are found from the config's folder, which may be a local copy of a remote storage.

    Attributes
    ----------
    config
        The config.
    folder
        Folder of the run.
    """

    def __init__(self, config: Path, contents: Path | None = None) -> None:
        self.folder, self._contents = config.parent, contents or Path(contents_file(str(config)))
        self.config = load_config(config)

    @cached_property
    def contents(self) -> Contents:
        """Contents of the run: what it judges, and its files."""
        return read_contents(self._contents)

    def outputs(self, name: str) -> dict[tuple[str, str, str], Path]:
        """Return (critic, corpus, system) -> file of a critic's output: latents, scores, attributions, known_truths."""
        return {key: self.folder / path for key, path in getattr(self.contents, name).items()}

    def tables(self, name: str) -> list[Path]:
        """Return the tables of a name: statistics, pairs_files, two_sample_tests, powers."""
        return [self.folder / path for path in getattr(self.contents, name)]

    def scores_of_documents(self) -> Mapping[tuple[str, str, str], Path]:
        """Return (critic, corpus, system) -> file of scores, for critics with a prior that make attributions."""
        return {key: path for key, path in self.outputs("scores").items() if key in self.contents.attributions}

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


def read_run(folder: Path) -> Results:
    """Return the results in a run's folder, as its report was made: without what failed (`plan.second_pass`)."""
    return Results(folder / (FINISHED if (folder / FINISHED).exists() else WHOLE))


def read_statistics(tables: Path) -> pd.DataFrame:
    """Read all statistics of a run, with p_adjusted, from the folder of its tables."""
    return read_csv(tables / "statistics.csv")


def read_warnings(tables: Path) -> pd.DataFrame:
    """Read the warnings of a run's critics from the folder of its tables."""
    return read_csv(tables / "warnings.csv")
