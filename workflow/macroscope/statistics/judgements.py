"""Tables of human judgements: scores that people gave to systems, built in or of the user's own.

A table is CSV with the columns `system`, `score` and, where people were asked several things, `question`; lines that
begin with # are comments. A larger score is better. With a column `document` it holds single ratings
(`statistics.ratings`), and so does a folder that `macroscope human collect` wrote. This module imports nothing heavy:
the config checks the names in it before anything runs.
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
from macroscope.files import RESOURCES
from macroscope.options import fit_for_paths

BUILT_IN = ("mauve", "deng2022")
SCORES = RESOURCES / "human_judgements.csv"
REGISTRY = RESOURCES / "human_judgements.yaml"
ONLY_QUESTION = "score"
"""Question of a table that has no column of questions."""
DOCUMENT, AGAINST = "document", "against"
"""Columns of single ratings: of which document, and which system's text it was compared with."""
ANNOTATIONS, MEANS = "annotations.csv", "scores.csv"
"""In a folder that `macroscope human collect` wrote: single ratings, and means of the systems."""
FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class Judgements:
    """A table of human judgements.

    Attributes
    ----------
    name
        As the config has it.
    scores
        Question -> system -> score; larger is better.
    citation, scale
        Where the scores come from, and what a score is; "" for a table of the user's own.
    real_text
        System that is real text; None for a table of the user's own.
    """

    name: str
    scores: dict[str, dict[str, float]]
    citation: str = ""
    scale: str = ""
    real_text: str | None = None

    @property
    def systems(self) -> list[str]:
        """Systems that have a score, in the order of the table."""
        return list(dict.fromkeys(system for scores in self.scores.values() for system in scores))


def table_files(table: str) -> list[str]:
    """Files that a table is read from."""
    return [str(SCORES), str(REGISTRY)] if table in BUILT_IN else [table]


def holds_documents(table: str) -> bool:
    """Whether a table that is there tells what people said of single documents."""
    if table in BUILT_IN:
        return False
    return Path(table).is_dir() or DOCUMENT in next(_rows(Path(table)), (0, {}))[1]


def short_name(table: str) -> str:
    """Name of a table in names of files: its own, or that of its file without suffix."""
    return fit_for_paths(re.sub("[^A-Za-z0-9]+", "-", table if table in BUILT_IN else Path(table).stem))


def is_there(table: str) -> bool:
    """Whether a table can be read now."""
    return table in BUILT_IN or Path(table).exists()


def read_judgements(table: str) -> Judgements:
    """Read a table of human judgements by its name or path.

    Raises
    ------
    MacroscopeError
        Naming file and line: no such file, a missing column, a score that is no number, the same system twice.
    """
    if table not in BUILT_IN:
        return Judgements(table, _scores_of_own(Path(table)))
    about = yaml.safe_load(REGISTRY.read_text(encoding="utf-8"))[table]
    return Judgements(table, _read_scores(SCORES, only=table), about["citation"], about["scale"], about["real_text"])


def same_names(judgements: Judgements, systems: Iterable[str], real_text: str | None) -> dict[str, str]:
    """Mapping of the systems whose names the table has, real text aside."""
    names = set(judgements.systems) - {real_text, judgements.real_text}
    return {system: system for system in systems if system in names}


def check_mapping(
    mapping: Mapping[str, str],
    real_text: str | None,
    judgements: Judgements,
    place: str,
    fewest: int = FEWEST_SYSTEMS,
) -> None:
    """Check that a table knows what systems are mapped to, and that there are enough of them.

    Parameters
    ----------
    mapping
        System -> name in the table.
    real_text
        Name in the table of what the control is compared with; None where real text is left out.
    place
        Of the mapping, for the error.
    fewest
        So many systems are needed; of single documents, those of one are enough.
    """
    known = judgements.systems
    for system, name in mapping.items():
        if name not in known:
            raise MacroscopeError(
                f"{place}, {system}: the table '{judgements.name}' has no system '{name}'{nearest(name, known)}"
            )
    if real_text is not None and real_text not in known:
        raise MacroscopeError(
            f"{place}, real_text: the table '{judgements.name}' has no system '{real_text}'{nearest(real_text, known)}"
        )
    if real_text in mapping.values():
        raise MacroscopeError(f"{place}: '{real_text}' is the table's real text, and a system is mapped to it as well")
    different = len(set(mapping.values())) + (real_text is not None)
    if different < fewest:
        raise MacroscopeError(
            f"{place}: {different} of the systems here are in the table '{judgements.name}', and a correlation needs"
            f" {fewest}; map more of them to its names (it has {', '.join(known)})"
        )


def require_no_seeds(mapping: Mapping[str, str], place: str) -> None:
    """Check that no two systems have one name in a table of rated documents: each text is one system's."""
    names = list(mapping.values())
    if twice := [name for name in names if names.count(name) > 1]:
        raise MacroscopeError(
            f"{place}: several systems are mapped to '{twice[0]}', and each of its rated texts is one system's; leave"
            " one of them"
        )


def seed_groups(mapping: Mapping[str, str], place: str) -> list[dict[str, str]]:
    """Groups of seeds: name in the table -> system, for each group.

    The k-th system that is mapped to a name stands in group k. A name that one system alone is mapped to has no seeds,
    and stands in every group.

    Raises
    ------
    MacroscopeError
        Where two names that repeat do so a different number of times.
    """
    counts = Counter(mapping.values())
    repeated = {name: n for name, n in counts.items() if n > 1}
    groups = max(counts.values(), default=1)
    for name, n in repeated.items():
        if n != groups:
            most = next(other for other in repeated if repeated[other] == groups)
            raise MacroscopeError(
                f"{place}: {n} systems are mapped to '{name}' and {groups} to '{most}'; give each the same number of"
                " seeds, or one"
            )
    members = {name: [system for system, to in mapping.items() if to == name] for name in counts}
    return [{name: some[min(k, len(some) - 1)] for name, some in members.items()} for k in range(groups)]


def read_rows(path: Path) -> list[tuple[dict[str, str], float]]:
    """Cells and score of every row of a table of one's own."""
    return [(row, _number(row["score"], path, line)) for line, row in _rows(path)]


def _scores_of_own(path: Path) -> dict[str, dict[str, float]]:
    """Question -> system -> score; of single ratings, the mean of the documents' means."""
    if path.is_dir():
        return _read_scores(path / MEANS)
    if not holds_documents(str(path)):
        return _read_scores(path)
    given: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row, score in read_rows(path):
        question = row.get("question") or ONLY_QUESTION
        given.setdefault((question, row["system"]), {}).setdefault(row[DOCUMENT], []).append(score)
        if against := row.get(AGAINST):  # whoever prefers one text likes the other as much less
            given.setdefault((question, against), {}).setdefault(row[DOCUMENT], []).append(-score)
    scores: dict[str, dict[str, float]] = {}
    for (question, system), documents in given.items():
        means = [math.fsum(some) / len(some) for some in documents.values()]
        scores.setdefault(question, {})[system] = math.fsum(means) / len(means)
    return scores


def _read_scores(path: Path, only: str | None = None) -> dict[str, dict[str, float]]:
    """Question -> system -> score; `only` the rows of one table where the file has several."""
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
    """Line number and cells of every row, comments and empty lines left out."""
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
        # A cell in quotation marks may go on over lines; strict, so that one without an end does not swallow the rest.
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
                        " and, where there are several, question"
                    )
            continue
        if len(cells) != len(header):
            raise MacroscopeError(f"{path}, line {line}: {len(cells)} cells, not the {len(header)} of the header")
        row = dict(zip(header, cells, strict=True))
        if not row["system"]:
            raise MacroscopeError(f"{path}, line {line}: no system; name the one that the score is for")
        yield line, row


def _number(text: str, path: Path, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MacroscopeError(
            f"{path}, line {line}: the score {reprlib.repr(text)} is not a number; leave the row out where there is"
            " none"
        )
    return number
