"""`macroscope.compare`: a comparison of texts with real ones, in one call and without the workflow."""

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tqdm import tqdm

from macroscope.api.arguments import ChosenCritics, checked
from macroscope.api.inputs import named_texts, write_sides
from macroscope.api.result import Comparison, require_new
from macroscope.api.texts import warn_of_comparison
from macroscope.criticize import run
from macroscope.criticize.choice import choose, given_options
from macroscope.criticize.folder import CONFIG, render_config, require_output
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.profile import Profile, choose_language
from macroscope.criticize.profile_table import table_of
from macroscope.critics import GivenOptions
from macroscope.engine.pool import Watcher
from macroscope.engine.run import run_plan
from macroscope.engine.tasks import Task
from macroscope.errors import MacroscopeError
from macroscope.execution.limits import Device, require_device
from macroscope.files import write_text
from macroscope.gaps import Gap
from macroscope.phrases import format_count
from macroscope.plan import Plan
from macroscope.progress import without_progress
from macroscope.runs.results import read_run
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS
from macroscope.tables import write_output

log = logging.getLogger("macroscope")

_TEXTS = "texts"
"""Folder for texts that are given as objects."""


@checked
def compare(
    reference: Any,
    candidates: Any,
    *,
    critics: ChosenCritics = (),
    text_field: str | None = None,
    prompt_field: str | None = None,
    id_field: str | None = None,
    reference_field: str | None = None,
    model_field: str | None = None,
    separator: str | None = None,
    dialogue: str | None = None,
    join: bool = False,
    straighten_typography: bool = False,
    keep_wrappers: bool = False,
    detokenize: bool = False,
    encoder: str | Path | None = None,
    device: Device = "auto",
    language: str | None = None,
    matched_length: bool = False,
    by: str | None = None,
    seed: int = 1,
    n_jobs: int | None = None,
    progress: bool = True,
    keep: str | Path | None = None,
) -> Comparison:
    """Judge whether texts have the structure of real ones.

    The numbers are those of `macroscope criticize` and of the workflow: the same commands run, without Snakemake.

    Parameters
    ----------
    reference
        Real texts: a list of strings, records, a data frame, a data set of Hugging Face, or a path (or paths) of a
        file or folder. Records and tables have `text` or `sections`, and optionally `id`, `title`, `split`, `label`.
        None: the texts of people in the candidates' files.
    candidates
        The texts to judge, in the same forms; or system -> texts, for several systems.
    critics
        Name of a critic, names, or name -> options. Default: the critics that can judge the texts.
    text_field, prompt_field, id_field, reference_field, model_field
        Names of fields, as the options of `macroscope criticize`; default: what the format of the file says. Each model
        is a candidate of its own.
    separator
        Separator of the texts of a text file: "line", "blank-line", or a line such as "---"; default: it is one text.
    dialogue
        Conversations as texts, a turn a section: "whole", or what one side says ("user", "assistant", a speaker's
        name). Default: the last answer of a chat is the text.
    join
        Whether the texts that `text_field` names in a record are parts of one.
    straighten_typography
        Whether to replace the quotation marks, apostrophes, dashes, ellipses and spaces of all texts by those of a
        keyboard.
    keep_wrappers
        Whether to keep control tokens, chat templates, front matter and what else surrounds texts.
    detokenize
        Whether to remove the blanks before the punctuation of tokenised texts.
    encoder
        Encoder of the critics that have one: a folder, a name in resources/models.yaml or on Hugging Face; default:
        minilm, for English.
    device
        "cpu", "cuda" (a GPU), or "auto" (a GPU if there is one).
    language
        Code of the language of the texts (ISO 639-1). Default: it is recognized.
    matched_length
        Whether to compare at matched length, too: texts of the longer side are cut after a sentence.
    by
        Field of a label, such as a genre: texts are compared within each label, too (`Comparison.by_label`).
    seed
        Seed of everything that is random.
    n_jobs
        Number of cores; default: all.
    progress
        Whether to show a progress bar.
    keep
        New or empty folder for the files; default: a temporary one, which lives as long as the result.

    Returns
    -------
    Comparison
        Its `scorecard`, `statistics` and `documents` are data frames; `report(folder)` writes the report.

    Raises
    ------
    MacroscopeError
        If the texts or the options are bad, or all critics failed. If some failed, the result is without them, and
        `missing` has the reasons.

    Examples
    --------
    >>> result = macroscope.compare("real.jsonl", {"gpt": gpt_texts, "llama": llama_texts})  # doctest: +SKIP
    >>> result.scorecard  # doctest: +SKIP
    """
    cores = _cores(n_jobs)
    require_device(device)
    folder = Path(tempfile.mkdtemp(prefix="macroscope-")).resolve() if keep is None else require_new(keep, "`keep`")
    try:
        require_output(folder)
        named = [critics] if isinstance(critics, str) else list(critics)
        options = given_options(named, encoder, critics if isinstance(critics, Mapping) else None)
        fields = (text_field, prompt_field, id_field, reference_field, model_field, separator)
        flags = (straighten_typography, join, keep_wrappers, detokenize, not isinstance(candidates, Mapping))
        given = GivenFields(*fields, *flags, dialogue, by)
        with nullcontext() if progress else without_progress():
            plan = prepare(reference, candidates, given, named, options, seed, folder, language, matched_length)
        plan = run_plan(plan, folder, cores, device, _tables, _Bar("compare", progress), keeps_logs=keep is not None)
    except BaseException:
        if keep is None or not (folder / CONFIG).exists():  # refused before anything ran: the folder was empty
            shutil.rmtree(folder, ignore_errors=True)
        raise

    def make_report() -> None:
        run_plan(plan, folder, cores, device, watcher=_Bar("report", progress))

    result = Comparison(read_run(folder / plan.results), make_report)
    if keep is None:
        weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


class _Bar(Watcher):
    """A progress bar of a run.

    Parameters
    ----------
    description
        Words beside the bar.
    is_shown
        Whether there is one.
    """

    def __init__(self, description: str, is_shown: bool) -> None:
        self._description, self._is_shown = description, is_shown

    def begin(self, tasks: Sequence[Task]) -> None:
        """Show the bar."""
        self._bar = tqdm(total=len(tasks), desc=self._description, unit="job", leave=False, disable=not self._is_shown)

    def finish(self, task: Task, folder: Path) -> None:
        """Count a job."""
        self._bar.update(1)

    def leave_out(self, missing: Sequence[Gap]) -> None:
        """Warn of what failed."""
        for entry in missing:
            log.warning("%s is missing from the result; it failed: %s", entry.name, entry.explanation)

    def end(self) -> None:
        """Remove the bar."""
        self._bar.close()


def _tables(plan: Plan) -> list[str]:
    return [f"{plan.results}/{path}" for path in ("tables", *plan.reporting.contents.attributions.values())]


def prepare(
    reference: Any,
    candidates: Any,
    given: GivenFields,
    critics: list[str],
    options: GivenOptions,
    seed: int,
    folder: Path,
    requested: str | None = None,
    matched_length: bool = False,
) -> Plan:
    """Write texts and config into a folder, with the reasons for critics left out; warn of what cannot work."""
    with named_texts(folder / _TEXTS) as word:
        real, judged = write_sides(reference, candidates, folder / _TEXTS)
        profile, profiles = run.profile_collections(real, judged, given)
        warn_of_comparison(profile, profiles, word, requested)
        language = choose_language(profile.languages, requested)
        choice = choose(profile, profiles, critics, language, options)
    config = run.implied_config(profile, profiles, choice, seed, language, matched_length)
    plan = run.plan_of(config)
    _require_enough(profile, profiles)
    write_text(folder / CONFIG, render_config(config))
    table = table_of(profile, profiles).map(word)
    write_output(table.rename_axis("property").reset_index(), folder / run.PROFILE_TABLE)
    return plan


def _require_enough(reference: Profile, candidates: Sequence[Profile]) -> None:
    """Check that some critic can have a verdict."""
    real, mine = reference.documents, max(candidate.documents for candidate in candidates)
    if min(real, mine) < FEWEST_DOCUMENTS:
        raise MacroscopeError(
            f"{format_count(real, 'real text')} and {mine} to judge: nothing can be told from so few; give at least"
            f" {FEWEST_DOCUMENTS} on each side, and some 50 for a verdict on most differences"
        )


def _cores(n_jobs: int | None) -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is not None and n_jobs < 1 and n_jobs != -1:
        raise MacroscopeError(f"n_jobs={n_jobs}: give a whole number above 0, or None for all cores")
    return available if n_jobs is None or n_jobs == -1 else n_jobs
