"""`macroscope criticize`: choose critics for two collections of texts, write their config, and run it."""

import logging
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config.schema import load_config, parse_config
from macroscope.corpora.files.containers import KNOWN_SUFFIXES
from macroscope.criticize.folder import require_ours, unlock, write_config
from macroscope.criticize.inputs import GivenFields, Input, make_candidates, make_reference
from macroscope.criticize.profile import Profile, profile_texts
from macroscope.criticize.workflow_run import run_workflow
from macroscope.critics import critics
from macroscope.critics.declaration import COUNTED, Critic
from macroscope.critics.fold_options import FOLDS
from macroscope.critics.language_fit import LanguageFit, language_fit
from macroscope.errors import IN_PART, MacroscopeError
from macroscope.execution.failures import reasons_of_failure
from macroscope.execution.job_client import SERVER
from macroscope.execution.job_environment import caches
from macroscope.execution.job_pool import job_server
from macroscope.execution.snakemake_command import shown_command, snakemake_command
from macroscope.extras import missing_extras, name_command
from macroscope.files import atomic, require_folder
from macroscope.natural_language.languages import ENGLISH
from macroscope.options import CONTROL, KEPT_NAMES, fit_for_paths, require_usable
from macroscope.plan import Plan
from macroscope.plan.steps import modules_of
from macroscope.registry import require
from macroscope.tables import write_csv

RUN = "criticism"
CORPUS = "reference"
CONFIG, PROFILE_TABLE = "config.yaml", "profile.csv"
"""Files in the output folder: the config and the profile of the texts."""
RUN_LOG = "criticize.log"
"""File among the logs with all that Snakemake and its jobs print."""
_ERROR = re.compile(r"\w*(?:Error|Exception)\b.*:$")
VALID_SHARE, TEST_SHARE = 0.1, 0.3
_FEWEST_TEXTS = 2
_MANY_TEXTS = 1000
"""Number of real texts from which on no critic is cross-fitted: a split leaves enough to compare."""
_ENOUGH_FOR_FOLDS = 1.5
"""Multiple of a critic's `fewest` from which on it is cross-fitted: a third of the texts is then half of these."""

log = logging.getLogger("macroscope")


def default_critics() -> dict[str, Mapping[str, Any]]:
    """Return the critics that run by default, with their options."""
    return {name: plugin.data.criticize for name, plugin in critics().items() if plugin.data.criticize is not None}


@dataclass(frozen=True)
class Choice:
    """The critics to run, and the use of the reference.

    Attributes
    ----------
    critics
        Names of the critics to run.
    reasons
        A sentence about each default critic that is left out, or that fits the language in part.
    has_splits
        Whether the reference has splits of its own.
    cross_fitted
        Names of the critics that compare all of the reference by cross-fitting (`critics.cross_fitting`).
    """

    critics: list[str]
    reasons: list[str]
    has_splits: bool
    cross_fitted: list[str] = field(default_factory=list)

    @property
    def learning(self) -> list[str]:
        """Return the critics that learn from the reference."""
        return [name for name in self.critics if critics()[name].data.learns]

    @property
    def splitting(self) -> list[str]:
        """Return the critics that learn from a part of the reference, and compare the other part."""
        return [name for name in self.learning if name not in self.cross_fitted]

    def options(self, critic: str) -> dict[str, Any]:
        """Return the options of a critic."""
        declared = critics()[critic].data
        folds = {FOLDS: declared.criticize_folds} if critic in self.cross_fitted else {}
        return {**(declared.criticize or {}), **folds}

    def compared(self, reference: Profile) -> dict[str, int]:
        """Return critic -> number of texts of the reference that it compares candidates with."""
        held_out = reference.splits["test"]
        limited = self.critics if self.learning and self.has_splits else self.splitting
        return {name: held_out if name in limited else reference.documents for name in self.critics}


def choose(
    reference: Profile, candidates: Sequence[Profile], requested: Sequence[str], language: str = ENGLISH
) -> Choice:
    """Choose the critics that can judge the texts.

    Parameters
    ----------
    requested
        Critics to run even if the texts are fewer than they declare, as long as there is a text that they can read;
        empty: the default critics.
    language
        Language of the texts; critics that do not fit it are left out, unless they are requested.

    Raises
    ------
    MacroscopeError
        If a collection has too few texts, or a requested critic cannot judge them.
    """
    for profile in (reference, *candidates):
        if profile.documents < _FEWEST_TEXTS:
            raise MacroscopeError(
                f"{profile.name}: {profile.documents} text{'s' if profile.documents != 1 else ''}; give at least"
                f" {_FEWEST_TEXTS} in each collection: a single text allows no confidence interval and no test"
            )
    chosen, reasons, lacking_extra = [], [], dict[str, list[str]]()
    for name in dict.fromkeys(requested or default_critics()):
        critic = require(name, critics(), "critic")
        fit = language_fit(critic.data, critic.options(**(critic.data.criticize or {})), language)
        lacking = (None if requested else _refusal(fit)) or _lacking(
            critic.data, reference, candidates, bool(requested)
        )
        if lacking is None and (extra := _missing_extra(name)) is not None:
            lacking_extra.setdefault(extra, []).append(name)
        elif lacking is None:
            chosen.append(name)
            reasons += [f"The critic '{name}': {limit}." for limit in (*fit.refusals, *fit.limits)]
        elif requested:
            raise MacroscopeError(f"--critic {name}: {lacking}; give it such texts, or choose another critic")
        else:
            reasons.append(f"The critic '{name}' is left out: {lacking}.")
    for extra, names in lacking_extra.items():
        if requested:
            raise MacroscopeError(
                f"--critic {names[0]}: it needs the extra '{extra}', which is not installed; {name_command(extra)}, or"
                " choose another critic"
            )
        reasons.append(
            f"Left out, since the extra '{extra}' is not installed: {', '.join(names)}; {name_command(extra)} adds it."
        )
    cross_fitted = [name for name in chosen if _is_cross_fitted(critics()[name].data, reference)]
    return Choice(chosen, reasons, reference.has_splits, cross_fitted)


def _is_cross_fitted(critic: Critic, reference: Profile) -> bool:
    """Return whether a critic is cross-fitted: texts are few, and a third of them is enough to learn from."""
    if critic.criticize_folds == 1 or reference.has_splits or reference.documents >= _MANY_TEXTS:
        return False
    counted = reference.counted()
    return all(counted[kind] >= _ENOUGH_FOR_FOLDS * fewest for kind, fewest in critic.fewest.items())


def _refusal(fit: LanguageFit) -> str | None:
    """Return why a critic cannot judge texts in a language; None if it can."""
    return "; ".join(fit.refusals) or None


def _missing_extra(name: str) -> str | None:
    """Return an extra that a critic needs under its default options and that is not installed; None if it has all."""
    critic = critics()[name]
    return next(iter(missing_extras(critic.data.extras, critic.options(**critic.data.criticize or {}))), None)


def _lacking(critic: Critic, reference: Profile, candidates: Sequence[Profile], is_requested: bool) -> str | None:
    """Return a sentence about what the texts lack for a critic; None if they lack nothing."""
    sides = [(reference, "the reference", critic.fewest)]
    sides += [(candidate, f"'{candidate.name}'", critic.fewest_candidates) for candidate in candidates]
    for profile, name, required in sides:
        for kind, fewest in required.items():
            count, needed = profile.counted()[kind], 1 if is_requested else fewest
            if count < needed:
                return f"it needs {fewest} {COUNTED[kind]}, and {name} has {count}"
    if not critic.learns:
        return None
    for split, use in (("train", "it learns from"), ("valid", "it is tuned on"), ("test", "the control is")):
        if not reference.splits[split]:
            return f"no reference text is in the split '{split}', which {use}; give more texts, or each its 'split'"
    return None


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
    real = Input(reference.files, reference.selection).options()
    systems = {each.name: Input(each.files, each.selection).options() for each in candidates}
    return {
        "run": RUN,
        "seed": seed,
        "profile": PROFILE_TABLE,
        "corpora": {
            CORPUS: {
                "source": "files",
                "language": language,
                **real,
                **({"valid_share": VALID_SHARE, "test_share": TEST_SHARE} if choice.learning else {"split": "test"}),
                "filters": {
                    "drop_sections": [],
                    "min_sections": 1,
                    "min_section_tokens": 0,
                    "max_section_tokens": 1_000_000,
                    "rare_titles": {"min_count": 2, "min_share": 0.01, "instead": "other"},
                },
            }
        },
        "systems": {
            **({CONTROL: {"kind": CONTROL, "whole": True}} if choice.learning and not choice.has_splits else {}),
            **{name: {"kind": "files", **options} for name, options in systems.items()},
        },
        # Options for a laptop. With a GPU, use larger encoders, more tokens, all sections.
        "critics": {name: choice.options(name) for name in choice.critics},
        "comparisons": [
            {
                "corpus": CORPUS,
                "systems": list(systems),
                "critics": list(choice.critics),
                **({"matched_length": True} if matched_length else {}),
            }
        ],
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
        _require_usable(path)
    given = given or GivenFields()
    real, called = make_reference(reference, candidates, given), make_candidates(candidates, given)
    names = names_of_candidates([path for path, _ in called])
    return (
        profile_texts(CORPUS, real.files, (VALID_SHARE, TEST_SHARE), real.selection),
        [
            profile_texts(name, each.files, selection=each.selection)
            for name, (_, each) in zip(names, called, strict=True)
        ],
    )


def require_output(output: Path) -> Path:
    """Return the path of the config in the folder `output`, if it can be used; nothing is written.

    Raises
    ------
    MacroscopeError
        If the workflow cannot use its name, or it holds other files.
    """
    _require_usable(output, exists=False)
    path = output.resolve() / CONFIG
    require_ours(path)
    for name in ("results", "logs", ".snakemake"):
        require_folder(path.parent / name)
    return path


def plan_of(config: Mapping[str, Any]) -> Plan:
    """Return the plan of a config.

    Raises
    ------
    MacroscopeError
        If a critic cannot judge such corpora at all.
    """
    return Plan(parse_config(config, "criticize"))


def criticize(
    config: Mapping[str, Any], profiles: Sequence[Profile], profile: pd.DataFrame, output: Path, cores: str
) -> Plan:
    """Write a config and a profile to the folder `output`, run the workflow there, and return its plan.

    A config that was edited since it was written is used as it is. If a critic fails, the report is made without it
    (`plan.second_pass`).

    Parameters
    ----------
    profiles
        Profiles of all collections, for the estimated time.
    profile
        The profiles as a table.

    Raises
    ------
    MacroscopeError
        If the folder holds other files, or the workflow failed and made no report.
    """
    path = require_output(output)
    command = snakemake_command(path, ["--directory", str(path.parent), "--cores", cores])
    plan = plan_of(config)
    if write_config(path, config, shown_command(command)):
        with atomic(path.with_name(PROFILE_TABLE)) as temporary:
            write_csv(profile, temporary)
    else:
        log.warning("%s was edited and is used as it is; delete it to have it written again", path)
        plan = Plan(load_config(path))
    unlock(path.parent)
    os.environ.update(caches(path.parent))  # for libraries that are imported after the run, too
    began, log_file = time.time(), output / "logs" / RUN_LOG
    words = sum(sum(each.words) for each in profiles) / max(1, len(profiles))
    with job_server(path.parent, modules_of(plan, path.parent)) as server:
        status = run_workflow(command, log_file, words, cores, {SERVER: server})
    if status not in (0, IN_PART):
        reasons = reasons_of_failure(output / "logs", began) or [f"{_last_error(log_file)} ({log_file})"]
        raise MacroscopeError(
            f"the workflow failed: {'; '.join(reasons)}. Finished results stay; run the same command to go on"
        )
    return plan


def _last_error(log_file: Path) -> str:
    """Return the line of Snakemake's last error, or the last line."""
    lines = [line.strip() for line in log_file.read_text(encoding="utf-8", errors="replace").splitlines()]
    lines = [line for line in lines if line] or ["it printed nothing"]
    errors = [number for number, line in enumerate(lines[:-1]) if _ERROR.match(line)]
    return lines[errors[-1] + 1] if errors else lines[-1]


def _require_usable(path: Path, exists: bool = True) -> None:
    if exists and not path.exists():
        raise MacroscopeError(f"{path}: no such file or folder")
    try:
        require_usable(str(path.resolve()))
    except ValueError as error:
        raise MacroscopeError(str(error)) from None


def names_of_candidates(files: Sequence[Path]) -> dict[str, Path]:
    """Return names for the candidates from their files: unique on any disk, usable in paths, not reserved.

    Files of one name are called after their folders, too: a/samples.jsonl and b/samples.jsonl are a-samples and
    b-samples.
    """
    stems = Counter(_stem(file).casefold() for file in files)
    taken = {name.casefold() for name in (*KEPT_NAMES, CORPUS)}
    names: dict[str, Path] = {}
    for file in files:
        stem = _stem(file)
        if stems[stem.casefold()] > 1 and (folder := fit_for_paths(file.resolve().parent.name)):
            stem = fit_for_paths(f"{folder}-{stem}")
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-no{number}"  # not "-2", which may be a version
        taken.add(name.casefold())
        names[name] = file
    return names


def _stem(file: Path) -> str:
    """Return a file's name without the suffixes of its format, fit for paths; as in gpt-3.5-turbo, others stay."""
    while file.suffix.lower() in KNOWN_SUFFIXES:
        file = file.with_suffix("")
    return fit_for_paths(file.name) or "candidate"
