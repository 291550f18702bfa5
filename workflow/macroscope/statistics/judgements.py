"""Tables of human judgements: human scores of systems, built in or from the user's files.

A table is CSV with the columns `system`, `score` and, if there are several questions, `question`; lines that begin with
# are comments. A larger score is better. A table with a column `document` holds single ratings
(`statistics.document_ratings`), and so does a folder written by `macroscope human collect`. This module has no heavy
imports, because the config checks names in tables before anything runs.
"""

import csv
import io
import itertools
import math
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from macroscope.errors import MacroscopeError, nearest
from macroscope.files import RESOURCES, require_regular
from macroscope.options import fit_for_paths

BUILT_IN = ("mauve", "deng2022")
SCORES = RESOURCES / "human_judgements.csv"
REGISTRY = RESOURCES / "human_judgements.yaml"
ONLY_QUESTION = "score"
"""Question of a table without a column of questions."""
DOCUMENT, AGAINST = "document", "against"
"""Columns of single ratings: the rated document, and the system whose text it was compared with."""
ANNOTATIONS, MEANS = "annotations.csv", "scores.csv"
"""Files of a folder written by `macroscope human collect`: single ratings, and mean scores of systems."""
FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class Judgements:
    """Table of human judgements.

    Attributes
    ----------
    name
        Name or path of the table in the config.
    scores
        Question -> system -> score; larger is better.
    citation, scale
        Source and meaning of the scores; "" for a user's table.
    real_text
        Name of the system that is real text; None for a user's table.
    """

    name: str
    scores: dict[str, dict[str, float]]
    citation: str = ""
    scale: str = ""
    real_text: str | None = None

    @property
    def systems(self) -> list[str]:
        """Return the systems that have a score, in the order of the table."""
        return list(dict.fromkeys(system for scores in self.scores.values() for system in scores))


def list_table_files(table: str) -> list[str]:
    """List the files from which a table is read."""
    return [str(SCORES), str(REGISTRY)] if table in BUILT_IN else [table]


def has_document_ratings(table: str) -> bool:
    """Return whether an existing table holds ratings of single documents."""
    if table in BUILT_IN:
        return False
    return Path(table).is_dir() or DOCUMENT in next(_rows(Path(table)), (0, {}))[1]


def short_name(table: str) -> str:
    """Return the name of a table for file names: that of a built-in table, or that of the file without suffix."""
    return fit_for_paths(re.sub("[^A-Za-z0-9]+", "-", table if table in BUILT_IN else Path(table).stem))


def table_exists(table: str) -> bool:
    """Return whether a table is built in, or its file exists."""
    return table in BUILT_IN or Path(table).exists()


def read_judgements(table: str) -> Judgements:
    """Read a table of human judgements by its name or path.

    Raises
    ------
    MacroscopeError
        If the file or a column is missing, a score is not a number, or a system occurs twice; with file and line.
    """
    if table not in BUILT_IN:
        return Judgements(table, _read_user_scores(Path(table)))
    entry = yaml.safe_load(REGISTRY.read_text(encoding="utf-8"))[table]
    return Judgements(table, _read_scores(SCORES, only=table), entry["citation"], entry["scale"], entry["real_text"])


def match_system_names(judgements: Judgements, systems: Iterable[str], real_text: str | None) -> dict[str, str]:
    """Map the systems, real text aside, whose names occur in the table to themselves."""
    names = set(judgements.systems) - {real_text, judgements.real_text}
    return {system: system for system in systems if system in names}


def check_mapping(
    mapping: Mapping[str, str],
    real_text: str | None,
    judgements: Judgements,
    place: str,
    fewest: int = FEWEST_SYSTEMS,
) -> None:
    """Check that a table has the names that systems are mapped to, and that there are enough of them.

    Parameters
    ----------
    mapping
        System -> name in the table.
    real_text
        Name in the table to compare the control with; None if real text is left out.
    judgements
        The table.
    place
        Place of the mapping, for the error.
    fewest
        Smallest number of systems; 1 for ratings of single documents.

    Raises
    ------
    MacroscopeError
        If a name is not in the table, a system is mapped to real text, or there are too few systems.
    """
    names = judgements.systems
    for system, name in mapping.items():
        if name not in names:
            raise MacroscopeError(
                f"{place}, {system}: the table '{judgements.name}' has no system '{name}'{nearest(name, names)}"
            )
    if real_text is not None and real_text not in names:
        raise MacroscopeError(
            f"{place}, real_text: the table '{judgements.name}' has no system '{real_text}'{nearest(real_text, names)}"
        )
    if real_text in mapping.values():
        raise MacroscopeError(
            f"{place}: a system is mapped to '{real_text}', which is the table's real text; map it to another name"
        )
    n_systems = len(set(mapping.values())) + (real_text is not None)
    if n_systems < fewest:
        raise MacroscopeError(
            f"{place}: {n_systems} of the systems are in the table '{judgements.name}', and a correlation needs"
            f" {fewest}; map more of them to its names ({', '.join(names)})"
        )


def check_no_seeds(mapping: Mapping[str, str], place: str) -> None:
    """Check that no two systems are mapped to one name in a table of rated documents.

    A rated text is of one system.

    Raises
    ------
    MacroscopeError
        If two systems are mapped to the same name.
    """
    names = list(mapping.values())
    if repeated := [name for name in names if names.count(name) > 1]:
        raise MacroscopeError(
            f"{place}: several systems are mapped to '{repeated[0]}', whose rated texts are of one system; keep one of"
            " them"
        )


def group_seeds(mapping: Mapping[str, str], place: str) -> list[dict[str, str]]:
    """Group systems by seed: one mapping of names in the table to systems per group.

    The k-th system that is mapped to a name is in group k. A name with a single system has no seeds, and is in every
    group.

    Raises
    ------
    MacroscopeError
        If the numbers of seeds of two names differ.
    """
    counts = Counter(mapping.values())
    repeated = {name: n for name, n in counts.items() if n > 1}
    n_groups = max(counts.values(), default=1)
    for name, n in repeated.items():
        if n != n_groups:
            longest = next(candidate for candidate in repeated if repeated[candidate] == n_groups)
            raise MacroscopeError(
                f"{place}: {n} systems are mapped to '{name}' and {n_groups} to '{longest}'; give each the same number"
                " of seeds, or one"
            )
    members = {name: [system for system, target in mapping.items() if target == name] for name in counts}
    return [{name: seeds[min(k, len(seeds) - 1)] for name, seeds in members.items()} for k in range(n_groups)]


def read_rows(path: Path) -> list[tuple[dict[str, str], float]]:
    return [(row, _number(row["score"], path, line)) for line, row in _rows(path)]


def _read_user_scores(path: Path) -> dict[str, dict[str, float]]:
    """Return question -> system -> score; scores of single ratings are the mean over documents of their means."""
    if path.is_dir():
        return _read_scores(path / MEANS)
    if not has_document_ratings(str(path)):
        return _read_scores(path)
    ratings: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row, score in read_rows(path):
        question = row.get("question") or ONLY_QUESTION
        ratings.setdefault((question, row["system"]), {}).setdefault(row[DOCUMENT], []).append(score)
        if against := row.get(AGAINST):  # a comparison rates both texts, with opposite signs
            ratings.setdefault((question, against), {}).setdefault(row[DOCUMENT], []).append(-score)
    scores: dict[str, dict[str, float]] = {}
    for (question, system), documents in ratings.items():
        means = [math.fsum(scores_of_document) / len(scores_of_document) for scores_of_document in documents.values()]
        scores.setdefault(question, {})[system] = math.fsum(means) / len(means)
    return scores


def _read_scores(path: Path, only: str | None = None) -> dict[str, dict[str, float]]:
    """Return question -> system -> score; with `only`, from the rows of one table of a file of several."""
    scores: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    for line, row in _rows(path):
        if only is not None and row["table"] != only:
            continue
        question, system = row.get("question") or ONLY_QUESTION, row["system"]
        if (question, system) in lines:
            raise MacroscopeError(
                f"{path}, line {line}: system {reprlib.repr(system)} has a score for {reprlib.repr(question)} in line"
                f" {lines[question, system]} already; keep one"
            )
        lines[question, system] = line
        scores.setdefault(question, {})[system] = _number(row["score"], path, line)
    if not scores:
        raise MacroscopeError(f"{path}: no scores; a table of human judgements has a row for every system")
    return scores


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells of every row, without comments and empty lines."""
    require_regular(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, IsADirectoryError):
        hint = nearest(str(path), BUILT_IN)
        raise MacroscopeError(f"{path}: no such file of human judgements, and no table of that name{hint}") from None
    except UnicodeDecodeError:
        raise MacroscopeError(f"{path}: not UTF-8 text; save the table as CSV in UTF-8") from None
    header: list[str] | None = None
    lines = enumerate(io.StringIO(text, newline=None), start=1)
    for line, content in lines:
        if not content.strip() or content.startswith("#"):
            continue
        # A quoted cell may span lines; strict, so that an unclosed quotation mark is an error.
        record = itertools.chain([content], (more for _, more in lines))
        try:
            cells = [cell.strip() for cell in next(csv.reader(record, strict=True))]
        except csv.Error as error:
            raise MacroscopeError(f"{path}, line {line}: not valid CSV ({error})") from None
        if header is None:
            header = cells
            for column in header:
                if header.count(column) > 1:
                    raise MacroscopeError(f"{path}, line {line}: two columns are called {column!r}; keep one")
            for column in ("system", "score"):
                if column not in header:
                    raise MacroscopeError(
                        f"{path}, line {line}: no column '{column}'; human judgements have the columns system, score"
                        " and, if there are several, question"
                    )
            continue
        if len(cells) != len(header):
            raise MacroscopeError(f"{path}, line {line}: {len(cells)} cells, not the {len(header)} of the header")
        row = dict(zip(header, cells, strict=True))
        if not row["system"]:
            raise MacroscopeError(f"{path}, line {line}: no system; name the system that has this score")
        yield line, row


def _number(text: str, path: Path, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MacroscopeError(
            f"{path}, line {line}: the score {reprlib.repr(text)} is not a number; leave out rows without a score"
        )
    return number
