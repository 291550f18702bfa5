"""The result of a comparison: scorecard, statistics and documents as data frames, and the report; saved, and loaded."""

import io
import logging
import shutil
import tarfile
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from macroscope.api.arguments import checked
from macroscope.api.given_texts import LocatedText, locate_as_judged, locate_document, read_given
from macroscope.critics.attributions import read_attributions
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, require_folder
from macroscope.gaps import SKIPPED, Gap, describe_gaps
from macroscope.options import CONTROL
from macroscope.reporting.by_label import read_label_table
from macroscope.reporting.course import course_table
from macroscope.reporting.flags import Flags, flag_texts, read_keys
from macroscope.reporting.formats import to_latex
from macroscope.reporting.reader.index import CriticScores
from macroscope.reporting.reasons import read_reasons
from macroscope.reporting.scorecard import build_scorecards, format_cell, read_scorecard
from macroscope.reporting.scorecard_figure import plot_scorecards
from macroscope.reporting.scorecard_text import (
    AT_MATCHED_LENGTH,
    readable_name,
    render_html,
    render_legend,
    render_scorecards,
)
from macroscope.reporting.summary import list_remarks, summarise_run
from macroscope.runs.results import Results, find_run_folder, read_run, read_statistics, read_warnings
from macroscope.statistics.document_groups import OPENING
from macroscope.statistics.score_tables import list_document_numbers, read_document_numbers

log = logging.getLogger("macroscope")
_REPORT = ("report.html", "pages", "reader", "figures", "tables")
"""Files and folders of a report; the page and the folders refer to each other."""


class Comparison:
    """The result of `macroscope.compare`, or of a finished run (`macroscope.load`).

    Printed, it is the scorecard as text; a notebook shows it as a table.

    Parameters
    ----------
    results
        Results of the run.
    make_report
        Function that makes the run's report in the folder.

    Attributes
    ----------
    folder
        Folder of the run.
    left_out
        Sentences about the critics that are left out, and the texts that a critic cannot judge.
    """

    def __init__(self, results: Results, make_report: Callable[[], None]) -> None:
        self._results, self._make_report = results, make_report
        self.folder = results.folder
        self.left_out = describe_gaps(gap for gap in results.config.gaps if gap.kind == SKIPPED)

    @cached_property
    def scorecard(self) -> pd.DataFrame:
        """The picture: a row per system, the least like real text first, and a column per critic.

        A cell is a sign and the detectability with its interval: "≠ 71 % [65, 76]". A cell without a number has its
        reason: "skipped: needs 20 texts with section titles". Half of real text against the other half is the last
        row. With `matched_length`, a system has a second row with its numbers at matched length. The
        rows of a run of several corpora have the name of the corpus, too.
        """
        tables = {}
        for scorecard in build_scorecards(self.detectability):
            rows: dict[str, dict[str, str]] = {}
            for system in scorecard.rows:
                rows[readable_name(system)] = _format_cells(scorecard.cells(system))
                if matched := scorecard.at_matched_length(system):
                    rows[f"{system}, {AT_MATCHED_LENGTH}"] = _format_cells(matched)
            frame = pd.DataFrame.from_dict(
                rows, orient="index", columns=[*scorecard.critics, *scorecard.critics_without_numbers]
            )
            tables[scorecard.corpus] = frame.rename_axis(index="system", columns="critic")
        joined = next(iter(tables.values())) if len(tables) == 1 else pd.concat(tables, names=["corpus"])
        return joined.fillna("")

    @checked
    def to_latex(self) -> str:
        """Return the scorecard as a LaTeX table (booktabs); text is escaped."""
        return to_latex(self.scorecard.reset_index())

    @checked
    def to_markdown(self) -> str:
        """Return the scorecard as a Markdown table."""
        table = self.scorecard.reset_index().astype(str)
        rows = [list(table.columns), ["---"] * table.shape[1], *table.to_numpy().tolist()]
        escaped = ([cell.replace("\\", r"\\").replace("|", r"\|") for cell in row] for row in rows)
        return "".join(f"| {' | '.join(row)} |\n" for row in escaped)

    @checked
    def plot(self) -> Figure:
        """Plot the scorecard: the detectability of each system by each critic, with its interval."""
        return plot_scorecards(list(build_scorecards(self.detectability)))

    @cached_property
    def detectability(self) -> pd.DataFrame:
        """The numbers of the scorecard: a row per system and critic.

        Among the columns are `system`, `critic`, `verdict`, `c2st_auc` (in [0, 1]; 0.5 is chance), `ci_low`, `ci_high`,
        `p_value`, `n_reference`, `n_candidate` and `signature`. A cell without a number (verdict "skipped" or
        "failed") has its reason in `reason`, a few words, and `explanation`.
        """
        return read_scorecard(self._tables)

    @cached_property
    def reasons(self) -> pd.DataFrame:
        """Features that decided the verdicts *unlike*: a row per system, critic and feature, the largest share first.

        The columns are `corpus`, `system`, `critic`, `feature` (a word in quotation marks, or the name of a number),
        `share` (all features have the sum 1; if the named ones have more, the others speak against the verdict),
        `without`, `without_low` and `without_high`: the detectability, with its interval, of classifiers without these
        features. A critic whose features have no names has no row.
        """
        return read_reasons(self._tables)

    @cached_property
    def statistics(self) -> pd.DataFrame:
        """All statistics: a row per system, critic and statistic.

        Among the columns are `value`, `ci_low`, `ci_high`, `p_value`, `p_adjusted`, `n_reference`, `n_candidate` and
        `signature`; the real texts are the system `control`.
        """
        return read_statistics(self._tables)

    @cached_property
    def course(self) -> pd.DataFrame:
        """The curves along the texts: a row per system, critic, measure and tenth of the text.

        `value` is the mean of the measure in the `tenth` (1 to 10), with a band that holds all tenths at once, and
        `real` that of real texts. `change` is the change since the first two tenths, minus that of real texts;
        `p_adjusted` tests it, adjusted for all tenths, measures and critics. Empty if all texts are too short, which
        the printed result says, too.
        """
        return course_table(self.statistics)

    @cached_property
    def by_label(self) -> pd.DataFrame:
        """The detectability by label (`by` of `macroscope.compare`): a row per label, system and critic.

        The columns are those of `detectability`, and `label`, `p_adjusted` (over all labels and critics of the system)
        and `contrast`: the detectability minus the mean of the other labels, with an interval that holds for all labels
        at once, and `contrast_p_adjusted`; and `mean`, the mean detectability of all labels, with its interval. A label
        with too few texts has a `reason`. Empty without `by`.
        """
        return read_label_table(self._tables)

    @cached_property
    def warnings(self) -> pd.DataFrame:
        """Reasons not to trust, or not to generalise, a critic's numbers: `critic`, `title`, `warning`."""
        return read_warnings(self._tables).drop(columns="corpus")

    @cached_property
    def documents(self) -> pd.DataFrame:
        """A number per text and critic, with the places that it comes from.

        The columns are `system`, `critic`, `id`, `text`, `score` (larger is less like real text; NaN: not judged),
        `percentile` (share of real texts with a smaller score, in percent), `flagged` (whether it is flagged as unlike
        real text each by itself, with few false flags; never a real text. No text may be flagged although the critic
        calls the system *unlike*: a classifier finds small differences of many texts) and `marks`: a list with the
        `start`, `end`, `section`, `weight` (in [0, 1]) and `note` of each place. `text[start:end]` is the marked
        passage, and `text` the string that you gave: of given sections, their texts with a line break between them; of
        texts whose files are gone or changed, which a warning says, the text as it was judged. A critic's further
        numbers of a text have columns of their names, such as `name_mismatch`; NaN for other critics.
        """
        tables = []
        further = self._results.outputs("document_scores")
        flags = self._flags()
        texts = {pair: self._locate_texts(*pair) for pair in flags}
        files = self._results.outputs("attributions")
        for key, path in files.items():
            critic, corpus, system = key
            rows = pd.DataFrame(read_attributions(path), columns=["id", "score", "marks"])
            located = [texts[corpus, system].get(name) for name in rows["id"]]
            rows["text"] = [text and text.text for text in located]
            rows["marks"] = [
                [text.locate(mark) for mark in marks] if text else []
                for text, marks in zip(located, rows["marks"], strict=True)
            ]
            compared = CriticScores.read(path, files[critic, corpus, CONTROL])
            rows["percentile"] = np.where(np.isnan(compared.scores), np.nan, 100 * compared.below / compared.real)
            flagged = flags[corpus, system].get(critic)
            rows["flagged"] = False if flagged is None else flagged.is_flagged
            if key in further and list_document_numbers(further[key]):
                numbers = read_document_numbers(further[key]).drop(columns=OPENING, errors="ignore")
                rows = rows.merge(numbers, how="left", on="id")
            tables.append(rows.assign(system=system, critic=critic))
        table = pd.concat(tables, ignore_index=True).astype({"score": float})
        columns = ["system", "critic", "id", "text", "score", "percentile", "flagged", "marks"]
        return table[[*columns, *table.columns.difference(columns)]]

    def _flags(self) -> dict[tuple[str, str], Mapping[str, Flags]]:
        """Return (corpus, system) -> critic -> flags of the texts."""
        results = self._results
        pairs = dict.fromkeys((corpus, system) for _, corpus, system in results.contents.attributions)
        real = {corpus: read_keys(results, corpus, CONTROL) for corpus, _ in pairs}
        return {(corpus, system): flag_texts(results, corpus, system, real[corpus]) for corpus, system in pairs}

    def _locate_texts(self, corpus: str, system: str) -> dict[str, LocatedText]:
        """Return id -> the string that the user gave, or else the text as it was judged."""
        given = read_given(self._results.config, corpus, system)
        located, changed = {}, 0
        samples = self._results.samples_of(corpus, system)
        all_real = self._results.documents_of(corpus)  # a critic may read more than the control
        for document in read_documents(all_real if system == CONTROL and all_real.exists() else samples):
            read, text = given.get(document.id, (None, ""))
            is_same = read is not None and read.sections == document.sections
            match = locate_document(document, text) if is_same else None
            changed += bool(given) and match is None
            located[document.id] = match or locate_as_judged(document)
        if changed:
            log.warning("%d texts of %s are shown as they were judged; their files have changed", changed, system)
        return located

    @checked
    def report(self, folder: str | Path) -> Path:
        """Write the report into a new or empty folder, and return its first page, `report.html`.

        It is the report of `macroscope criticize`, with pages, figures, tables and readable texts, and opens offline.
        The first call makes it, which takes a few seconds more.

        Raises
        ------
        MacroscopeError
            If the folder holds other things, or a job failed.
        """
        target = require_new(folder, "report(folder)")
        self._make_report()
        target.mkdir(parents=True, exist_ok=True)
        for name in _REPORT:
            made = self.folder / name
            with atomic(target / name) as path:
                (shutil.copytree if made.is_dir() else shutil.copyfile)(made, path)
        return Path(folder) / _REPORT[0]

    @checked
    def save(self, folder: str | Path) -> Path:
        """Save the result with its report into a new or empty folder, and return the folder of the run in it.

        `macroscope.load`, `macroscope timeline` and `macroscope gate` read it.

        Raises
        ------
        MacroscopeError
            If the folder holds other things, or a job failed.
        """
        target = require_new(folder, "save(folder)")
        self._make_report()
        copy = target / "results" / self._results.config.run
        copy.parent.mkdir(parents=True, exist_ok=True)
        with atomic(copy) as path:
            shutil.copytree(self.folder, path)
        return copy

    def summary(self) -> str:
        """Return the result in two plain sentences, a line per corpus: the verdict, and the clearest difference."""
        return summarise_run(self._results, self.detectability, self.statistics)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the files of the run with its report, since a temporary folder ends with the result."""
        with tempfile.TemporaryDirectory(prefix="macroscope-") as folder, io.BytesIO() as stream:
            self.save(folder)
            with tarfile.open(fileobj=stream, mode="w:gz") as archive:
                archive.add(folder, arcname=".")
            return _unpack, (stream.getvalue(),)

    def __copy__(self) -> "Comparison":
        """Return the result itself: it does not change, and a copy would share its files."""
        return self

    def __deepcopy__(self, memo: Any) -> "Comparison":
        """Return the result itself; see `__copy__`."""
        return self

    @property
    def missing(self) -> Sequence[Gap]:
        """Corpora, systems, critics and their stages of reporting that failed, with their reasons."""
        return self._results.missing

    @property
    def _tables(self) -> Path:
        return self.folder / "tables"

    @property
    def _remarks(self) -> list[str]:
        return [*list_remarks(self._results, self._tables), *filter(None, [self.summary()])]

    def __repr__(self) -> str:
        scorecards = list(build_scorecards(self.detectability))
        legend = render_legend(scorecards, self._results.config.statistics.margin)
        return "\n\n".join([render_scorecards(scorecards), legend, *self._remarks])

    def _repr_html_(self) -> str:
        """Return the scorecard, its legend and the warnings as HTML, for notebooks."""
        scorecards = list(build_scorecards(self.detectability))
        return render_html(scorecards, self._results.config.statistics.margin, self._remarks)


@checked
def load(folder: str | Path) -> Comparison:
    """Load a saved result, or that of any finished run.

    Parameters
    ----------
    folder
        What `Comparison.save` was given, the output of `macroscope criticize`, or results/<run> of a workflow.

    Raises
    ------
    MacroscopeError
        If there is no finished run.

    Examples
    --------
    >>> result.save("judged")  # doctest: +SKIP
    >>> macroscope.load("judged").scorecard  # doctest: +SKIP
    """
    run = find_run_folder(Path(folder))

    def require_report() -> None:
        for name in _REPORT:
            if not (run / name).exists():
                raise MacroscopeError(f"{run}: {name} is missing; finish the run")

    return Comparison(read_run(run), require_report)


def _unpack(packed: bytes) -> Comparison:
    """Return a pickled result; its files are in a temporary folder, which lives as long as the result."""
    folder = tempfile.mkdtemp(prefix="macroscope-")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    result = load(folder)
    weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


def require_new(folder: str | Path, argument: str) -> Path:
    """Return the absolute path of a folder that is new or empty.

    Parameters
    ----------
    argument
        Name of the argument, for the message.
    """
    path = Path(folder).resolve()
    require_folder(path)
    if path.is_dir() and any(path.iterdir()):
        raise MacroscopeError(f"{path}: a folder with other things in it; give a new one as {argument}")
    return path


def _format_cells(cells: Mapping[str, pd.Series]) -> dict[str, str]:
    return {critic: format_cell(cell) for critic, cell in cells.items()}
