"""`macroscope criticize`: what two collections of texts allow, the config that they imply, and the run."""

import logging
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config.schema import load_config, parse_config
from macroscope.criticize.folder import require_ours, unlock, write_config
from macroscope.criticize.profile import Profile, profile_texts
from macroscope.critics import critics
from macroscope.critics.declaration import COUNTED, Critic
from macroscope.errors import MacroscopeError
from macroscope.execution.failures import reasons_of_failure
from macroscope.execution.job_environment import caches
from macroscope.files import SNAKEFILE, SNAKEMAKE_PROFILE, atomic
from macroscope.options import KEPT_NAMES, fit_for_paths, require_usable
from macroscope.plan import Plan
from macroscope.registry import require
from macroscope.tables import write_csv

RUN = "criticism"
CORPUS = "reference"
CONFIG, PROFILE_TABLE = "config.yaml", "profile.csv"
"""Of the output: the config, and what a first look at the texts showed."""
VALID_SHARE, TEST_SHARE = 0.1, 0.2
_FEWEST_TEXTS = 2

log = logging.getLogger("macroscope")


def default_critics() -> dict[str, Mapping[str, Any]]:
    """Critics that are asked without being told to, with their options."""
    return {name: found.data.criticize for name, found in critics().items() if found.data.criticize is not None}


@dataclass(frozen=True)
class Choice:
    """Which critics are asked, and how the reference is used.

    Attributes
    ----------
    asked
        Names of critics.
    reasons
        A sentence about each one that is not.
    whole
        Whether all of the reference is the control, since no critic that is asked learns from it.
    """

    asked: list[str]
    reasons: list[str]
    whole: bool


def choose(reference: Profile, candidates: Sequence[Profile], told: Sequence[str]) -> Choice:
    """Choose the critics that texts allow.

    Parameters
    ----------
    told
        Critics that are asked whatever the texts are like, as long as there is anything for them to read; none: those
        that declare it.

    Raises
    ------
    MacroscopeError
        Where no critic can judge the texts, or one that is told cannot.
    """
    for side in (reference, *candidates):
        if side.documents < _FEWEST_TEXTS:
            raise MacroscopeError(
                f"{side.name}: {side.documents} text{'s' if side.documents != 1 else ''}; give {_FEWEST_TEXTS} at"
                " least, on either side: what a single text shows has no interval, and nothing can be tested"
            )
    asked, reasons = [], []
    for name in dict.fromkeys(told or default_critics()):
        lacking = _lacking(require(name, critics(), "critic").data, reference, bool(told))
        if lacking is None:
            asked.append(name)
        elif told:
            raise MacroscopeError(f"--critic {name}: {lacking}; give it such texts, or ask another critic")
        else:
            reasons.append(f"The critic '{name}' is not asked: {lacking}.")
    return Choice(asked, reasons, not any(learns(critics()[name].data) for name in asked))


def learns(critic: Critic) -> bool:
    """Whether a critic learns from training texts of the reference."""
    return bool({"train", "fit_prior"} & set(critic.stages))


def _lacking(critic: Critic, reference: Profile, is_told: bool) -> str | None:
    """What the reference lacks for a critic; None where it lacks nothing."""
    for kind, fewest in critic.fewest.items():
        found, needed = reference.counted()[kind], 1 if is_told else fewest
        if found < needed:
            return f"it needs {fewest} {COUNTED[kind]}, and the reference has {found}"
    if not learns(critic):
        return None
    for split, use in (("train", "it learns from"), ("valid", "it is tuned on"), ("test", "the control is")):
        if not reference.splits[split]:
            return f"no reference text is in the split '{split}', which {use}; give more texts, or each its 'split'"
    return None


def implied_config(reference: Sequence[Path], candidates: Sequence[Path], choice: Choice, seed: int) -> dict[str, Any]:
    """Config that judges texts of the user's own against the user's own.

    The texts are taken as they are: no boilerplate is removed and no length is asked for, since the candidates' are not
    filtered either. Rare section titles become the type "other". A fifth of the reference is held out as the control,
    or all of it is, where no critic learns from it.
    """
    systems = names_of_candidates(candidates)
    return {
        "run": RUN,
        "seed": seed,
        "profile": PROFILE_TABLE,
        "corpora": {
            CORPUS: {
                "source": "files",
                "files": [str(path.resolve()) for path in reference],
                **({"split": "test"} if choice.whole else {"valid_share": VALID_SHARE, "test_share": TEST_SHARE}),
                "filters": {
                    "drop_sections": [],
                    "min_sections": 1,
                    "min_section_tokens": 0,
                    "max_section_tokens": 1_000_000,
                    "rare_titles": {"min_count": 2, "min_share": 0.01, "instead": "other"},
                },
            }
        },
        "systems": {name: {"kind": "files", "files": [str(path.resolve())]} for name, path in systems.items()},
        # What is right for a laptop. With a GPU, take larger encoders, more tokens, all sections.
        "critics": {name: dict(default_critics().get(name) or {}) for name in choice.asked},
        "comparisons": [{"corpus": CORPUS, "systems": list(systems), "critics": list(choice.asked)}],
    }


def profile_sides(reference: Sequence[Path], candidates: Sequence[Path]) -> tuple[Profile, list[Profile]]:
    """Read the beginning of both sides, in seconds.

    Raises
    ------
    MacroscopeError
        Where something is not there, or cannot be read.
    """
    for path in (*reference, *candidates):
        _require_usable(path)
    named = names_of_candidates(candidates)
    shares = (VALID_SHARE, TEST_SHARE)
    return profile_texts(CORPUS, reference, shares), [profile_texts(name, [path]) for name, path in named.items()]


def require_checkout() -> None:
    """Check that the workflow is there, which is no part of the package.

    Raises
    ------
    MacroscopeError
        Where the package was installed without its checkout.
    """
    if not SNAKEFILE.exists():
        raise MacroscopeError(
            f"{SNAKEFILE}: no such file, since the package was installed apart from its checkout, which has the"
            " workflow; in the checkout, run pip install -e ."
        )


def require_output(output: Path) -> Path:
    """Path of the config in the folder `output`, if it can be used; nothing is written.

    Raises
    ------
    MacroscopeError
        Where the workflow cannot use its name, or it holds other things.
    """
    _require_usable(output, exists=False)
    path = output.resolve() / CONFIG
    require_ours(path)
    return path


def plan_of(config: Mapping[str, Any]) -> Plan:
    """Plan of a config that texts imply.

    Raises
    ------
    MacroscopeError
        Where a critic cannot judge such texts, whatever they are like.
    """
    return Plan(parse_config(config, "criticize"))


def criticize(config: Mapping[str, Any], profile: pd.DataFrame, output: Path, cores: str) -> Plan:
    """Write a config and a look into the folder `output` and run the workflow there; returns its plan.

    A config that was edited since it was written is used as it is.

    Raises
    ------
    MacroscopeError
        Where the folder holds something else, or the workflow failed.
    """
    path = require_output(output)
    command = _command(path, cores)
    plan = plan_of(config)
    if write_config(path, config, shlex.join(["snakemake", *command[3:]])):
        with atomic(path.with_name(PROFILE_TABLE)) as temporary:
            write_csv(profile, temporary)
    else:
        log.warning("%s was edited: it is used as it is. Delete it to have it written anew.", path)
        plan = Plan(load_config(path))
    unlock(path.parent)
    os.environ.update(caches(path.parent))  # for what is imported after the run, too
    began = time.time()
    if subprocess.run(command, check=False).returncode:
        reasons = reasons_of_failure(output / "logs", began) or [f"the logs are in {output / 'logs'}"]
        raise MacroscopeError(
            f"the workflow failed: {'; '.join(reasons)}. What was finished stays; the same command goes on from there"
        )
    return plan


def _require_usable(path: Path, exists: bool = True) -> None:
    if exists and not path.exists():
        raise MacroscopeError(f"{path}: no such file or folder")
    try:
        require_usable(str(path.resolve()))
    except ValueError as error:
        raise MacroscopeError(str(error)) from None


def _command(config: Path, cores: str) -> list[str]:
    return [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(SNAKEFILE), "--configfile", str(config), "--directory", str(config.parent)),
        # By its path: Snakemake would prefer a folder of that name where the command is given.
        *("--workflow-profile", str(SNAKEMAKE_PROFILE), "--cores", cores, "--quiet", "rules", "host"),
    ]


def names_of_candidates(files: Sequence[Path]) -> dict[str, Path]:
    """Names for the candidates, from their files: unique on any disk, fit for a path, none that of the reference."""
    taken = {name.casefold() for name in (*KEPT_NAMES, CORPUS)}
    names: dict[str, Path] = {}
    for file in files:
        stem = fit_for_paths(file.name.split(".")[0]) or "candidate"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names[name] = file
    return names
