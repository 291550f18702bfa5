"""`macroscope criticize`: choose critics for two collections of texts, write their config, and run it."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from macroscope.config.schema import load_config, parse_config
from macroscope.corpora.titles import RARE_TITLE
from macroscope.criticize.checks import CUT, describe
from macroscope.criticize.choice import Choice
from macroscope.criticize.folder import lock_folder, require_output, require_usable_path, write_config
from macroscope.criticize.inputs import CORPUS, GivenFields, Input, make_candidates, make_reference
from macroscope.criticize.kept_profile import read_profile
from macroscope.criticize.profile import Profile, profile_texts
from macroscope.criticize.progress import EarlyNumbers, RunProgress
from macroscope.criticize.wrappers import find_wrappers
from macroscope.documents import read_documents
from macroscope.engine.kept_references import find_kept, is_kept, outputs_for, write_kept
from macroscope.engine.redaction import Passages
from macroscope.engine.run import run_plan
from macroscope.engine.tasks import Machine, Task, find_tasks, steps_of
from macroscope.errors import MacroscopeError, UsageError
from macroscope.execution.limits import Device
from macroscope.files import atomic
from macroscope.natural_language.languages import ENGLISH
from macroscope.options import CONTROL
from macroscope.plan import Plan
from macroscope.readers.reading import KEPT_SUFFIX
from macroscope.statistics.by_label import FEWEST
from macroscope.tables import write_csv

RUN = "criticism"
PROFILE_TABLE = "profile.csv"
"""Files in the output folder: the config and the profile of the texts."""
VALID_SHARE, TEST_SHARE = 0.1, 0.3

log = logging.getLogger("macroscope")


def implied_config(
    reference: Profile,
    candidates: Sequence[Profile],
    choice: Choice,
    seed: int,
    language: str = ENGLISH,
    matched_length: bool = False,
) -> dict[str, Any]:
    """Return a config that compares a user's candidates with a user's reference, given their profiles.

    The texts are used as they are: no boilerplate is removed and no length is required, since the candidates are not
    filtered either. Rare section titles become the type "other".

    Critics that learn nothing, or are cross-fitted, compare the candidates with all of the reference, the others with
    the held-out share of it. A reference with splits of its own keeps them: its training texts may be those of the
    candidate's model.
    """
    surroundings = {
        "wrapped": {each.name: each.given_away_by for each in candidates if each.given_away_by},
        "cut_texts": describe(CUT, reference, candidates),
    }
    kept = find_kept(reference.files)
    selections = (each.selection for each in (reference, *candidates))
    by = next(filter(None, (selection.fields.label for selection in selections)), None)
    if kept is not None and matched_length:
        raise UsageError(f"{kept.path}: it has no texts to cut; leave ⟨matched_length⟩ out, or give the real texts")
    corpus = kept.header["corpus"] if kept else _corpus_options(choice, language)
    is_whole = choice.learning and not choice.has_splits
    control = kept.header["control"] if kept else {"kind": CONTROL, "whole": True} if is_whole else None
    real = Input(reference.files, reference.selection).options()
    if kept is not None:
        real["kept"] = kept.digest
    systems = {each.name: Input(each.files, each.selection).options() for each in candidates}
    return {
        "run": RUN,
        "seed": seed,
        "profile": PROFILE_TABLE,
        "pdf_figures": False,
        "corpora": {CORPUS: {**corpus, **real}},
        "systems": {
            **({CONTROL: control} if control else {}),
            **{name: {"kind": "files", **options} for name, options in systems.items()},
        },
        # Options for a laptop. With a GPU, use larger encoders, more tokens, all sections.
        "critics": {name: choice.options(name) for name in choice.critics},
        "comparisons": [
            {
                "corpus": CORPUS,
                "systems": names,
                "critics": list(chosen),
                **({"matched_length": True} if matched_length else {}),
                **({"by": by} if by is not None else {}),
            }
            for chosen, names in choice.comparisons(list(systems)).items()
        ],
        **{key: value for key, value in surroundings.items() if value},
        **({"gaps": [gap.model_dump(exclude_defaults=True) for gap in choice.gaps]} if choice.gaps else {}),
    }


def _corpus_options(choice: Choice, language: str) -> dict[str, Any]:
    return {
        "source": "files",
        "language": language,
        **({"valid_share": VALID_SHARE, "test_share": TEST_SHARE} if choice.learning else {"split": "test"}),
        "filters": {
            "drop_sections": [],
            "min_sections": 1,
            "min_section_tokens": 0,
            "max_section_tokens": 1_000_000,
            "rare_titles": {"min_count": 2, "min_share": 0.01, "instead": RARE_TITLE},
        },
    }


def profile_collections(
    reference: Sequence[Path], candidates: Sequence[Path], given: GivenFields | None = None
) -> tuple[Profile, list[Profile]]:
    """Profile the reference and each candidate, in seconds.

    Parameters
    ----------
    reference
        Files of real texts; none if they are in the files of the candidates.
    given
        Names of fields that the user gave.

    Raises
    ------
    MacroscopeError
        If a file does not exist or cannot be read.
    """
    for path in (*reference, *candidates):
        require_usable_path(path)
    given = given or GivenFields()
    is_given_kept = len(reference) == 1 and is_kept(reference[0])
    called = make_candidates(candidates, given, () if is_given_kept else reference)
    if is_given_kept:
        profile = read_profile(reference[0])
    else:
        real = make_reference(reference, candidates, given)
        profile = profile_texts(CORPUS, real.files, (VALID_SHARE, TEST_SHARE), real.selection)
    profiles = [profile_texts(name, each.files, selection=each.selection) for name, each in called.items()]
    if given.label is not None:
        _require_labels(given.label, profile, profiles)
    return profile, [
        replace(each, wrappers=find_wrappers(profile.excerpts, each.excerpts, profile.surroundings))
        for each in profiles
    ]


def _require_labels(field: str, reference: Profile, candidates: Sequence[Profile]) -> None:
    """Check that texts of both sides may have the same labels, by their records or by prompts that both have.

    Raises
    ------
    MacroscopeError
        If they cannot.
    """
    if (kept := find_kept(reference.files)) is not None:
        of_kept = kept.header["corpus"].get("fields", {}).get("label")
        if of_kept != field:
            labels = "no labels" if of_kept is None else f"labels of {of_kept!r}"
            raise UsageError(f"{kept.path}: it has {labels}; leave ⟨by⟩ out, or build it again with ⟨by={field}⟩")
    for each in candidates or [reference]:
        lacking = [profile for profile in (reference, each) if not profile.labels]
        if len(lacking) == 2 or (lacking and set(reference.prompts).isdisjoint(each.prompts)):
            raise MacroscopeError(
                f"{lacking[0].name}: no text has a label in the field {field!r}, or the prompt of one that has; give"
                " ⟨by⟩ a field of both sides (texts in text files have no fields: write them as JSON Lines)"
            )
        counts = [min(number, each.labels[label]) for label, number in reference.labels.items()]
        if not lacking and kept is None and max(counts) < FEWEST:
            sides, others = (" on each side", f", {len(each.labels):,} here") if candidates else ("", "")
            raise MacroscopeError(
                f"{each.name}: no label in the field {field!r} is that of {FEWEST} texts{sides}"
                f" ({len(reference.labels):,} labels of real texts{others}); give ⟨by⟩ a field with fewer values, such"
                " as a genre"
            )


def plan_of(config: Mapping[str, Any]) -> Plan:
    """Return the plan of a config.

    Raises
    ------
    MacroscopeError
        If a critic cannot judge such corpora at all.
    """
    return Plan(parse_config(config, "criticize"))


def criticize(
    config: Mapping[str, Any],
    profiles: Sequence[Profile],
    profile: pd.DataFrame,
    output: Path,
    cores: str,
    device: Device = "auto",
) -> Plan:
    """Write a config and a profile to the folder `output`, make its report there, and return the plan of what it has.

    A config that was edited since it was written is used as it is. If a critic fails, the report is made without it.

    Parameters
    ----------
    profiles
        Profiles of all collections, for the estimated time.
    profile
        The profiles as a table.

    Raises
    ------
    MacroscopeError
        If the folder holds other files, another run works in it, or so much failed that there is no report.
    """
    path = require_output(output)
    folder = path.parent
    with lock_folder(folder):
        plan = plan_of(config)
        if write_config(path, config):
            with atomic(path.with_name(PROFILE_TABLE)) as temporary:
                write_csv(profile, temporary)
        else:
            log.warning("%s was edited and is used as it is; delete it to have it written again", path)
            plan = Plan(load_config(path))
            plan.require_extras()
        number = count_cores(cores)
        return run_plan(plan, folder, number, device, watcher=_watch(plan, profiles, number, output / "logs"))


def _watch(plan: Plan, profiles: Sequence[Profile], cores: int, logs: Path) -> RunProgress:
    words = sum(sum(each.words) for each in profiles) / max(1, len(profiles))
    return RunProgress(words, cores, logs, EarlyNumbers(plan))


def count_cores(cores: str) -> int:
    """Return the number of cores that `--cores` names: that of this process if it is "all"."""
    return len(os.sched_getaffinity(0)) if cores == "all" else int(cores)


_KEPT = f"numbers{KEPT_SUFFIX}"
"""Name of the file, in the folder of the output, with the numbers that the report is made of."""


def criticize_without_texts(
    config: Mapping[str, Any],
    profiles: Sequence[Profile],
    profile: pd.DataFrame,
    output: Path,
    cores: str,
    device: Device = "auto",
) -> Plan:
    """Judge texts as `criticize.run.criticize` does, and leave no sentence, title or id of them in the output.

    Raises
    ------
    MacroscopeError
        As there; or if a file of the output would hold a passage of a text.
    """
    require_output(output)
    with TemporaryDirectory(prefix="macroscope-") as name:
        folder = Path(name).resolve()
        plan, number = plan_of(config), count_cores(cores)
        watcher = _watch(plan, profiles, number, folder / "logs")
        plan = run_plan(plan, folder, number, device, outputs_of, watcher, keeps_logs=False)
        files = [plan.systems.samples(CORPUS, system) for system in plan.systems.all]
        files.append(plan.corpora.documents(CORPUS))
        there = [folder / file for file in files if (folder / file).exists()]
        passages = Passages(each.text for file in there for each in read_documents(file))
        kept = output.resolve() / _KEPT
        with lock_folder(output):
            write_kept(kept, folder, outputs_of(plan), {}, passages)
    made = plan.config.model_dump(mode="json", exclude_defaults=True) if plan.config.failed else config
    corpus = {**made["corpora"][CORPUS], "files": [str(kept)]}
    return criticize({**made, "corpora": {CORPUS: corpus}}, profiles, profile, output, cores, device)


def _reports(task: Task) -> bool:
    return task.words[0] == "reporting"


def outputs_of(plan: Plan, is_later: Callable[[Task], bool] = _reports) -> dict[str, Sequence[str]]:
    """Return the outputs of a run that some tasks read of what others make; by default, the stages of reporting."""
    return outputs_for(find_tasks(steps_of(plan), plan.targets(), Machine(1), lambda path: True), is_later)
