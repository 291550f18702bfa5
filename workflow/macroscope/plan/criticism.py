"""`macroscope criticize`: the config that two collections of texts imply, and the workflow run on it."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from macroscope.config.options import KEPT_NAMES
from macroscope.config.schema import parse_config
from macroscope.critics import critics
from macroscope.critics.declaration import COUNTED
from macroscope.errors import MacroscopeError
from macroscope.files import write_text
from macroscope.paths import PROFILE, SNAKEFILE
from macroscope.plan import Plan

_MOST_COUNTED = 5000
_SENTENCES = 5
_PERSON = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)
RUN = "criticism"
CORPUS = "reference"

_HEAD = """\
# Written by `macroscope criticize`; edit what you like and run again:
#   {command}
# Every key, with its meaning and default: docs/config.md
"""


def default_critics() -> dict[str, Mapping[str, Any]]:
    """Critics that are asked without being told to, with their options."""
    return {name: found.data.criticize for name, found in critics().items() if found.data.criticize is not None}


def asked_by_default(reference: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Critics that the reference texts allow, and a sentence about each of the others.

    Raises
    ------
    MacroscopeError
        Where the texts cannot be read.
    """
    _require(reference)
    found = {name: critics()[name].data.fewest for name in default_critics()}
    counts = _counted(reference, {kind: max(f.get(kind, 0) for f in found.values()) for kind in COUNTED})
    asked, reasons = [], []
    for name, fewest in found.items():
        lacking = next((kind for kind, least in fewest.items() if counts[kind] < least), None)
        if lacking is None:
            asked.append(name)
            continue
        reasons.append(
            f"The critic '{name}' is not asked: it needs {fewest[lacking]} {COUNTED[lacking]}, and the reference has"
            f" {counts[lacking]} (--critic {name} asks it all the same)."
        )
    return asked, reasons


def _counted(reference: Sequence[Path], enough: Mapping[str, int]) -> dict[str, int]:
    """Count what the critics need of the first documents, until there is enough of all."""
    from macroscope.corpora.files.reading import read_user_documents
    from macroscope.corpora.sentences import split_sentences
    from macroscope.documents import Provenance

    counts = dict.fromkeys(COUNTED, 0)
    for document in read_user_documents(reference, Provenance(CORPUS), 0.1, 0.2):
        counts["documents"] += 1
        counts["titled"] += any(section.title for section in document.sections)
        counts["with_persons"] += len(_PERSON.findall(document.text)) > 1
        counts["narratives"] += len(split_sentences(document.text)) >= _SENTENCES
        if all(counts[kind] >= least for kind, least in enough.items()) or counts["documents"] >= _MOST_COUNTED:
            break
    return counts


def implied_config(
    reference: Sequence[Path], candidates: Sequence[Path], asked: Sequence[str], seed: int
) -> dict[str, Any]:
    """Config that judges texts of the user's own against the user's own.

    The texts are taken as they are: no boilerplate is removed and no length is asked for, since the candidates' are not
    filtered either. Rare section titles become the type "other". A fifth of the reference is held out as the control.
    """
    systems = _names(candidates)
    return {
        "run": RUN,
        "seed": seed,
        "corpora": {
            CORPUS: {
                "source": "files",
                "files": [str(path.resolve()) for path in reference],
                "valid_share": 0.1,
                "test_share": 0.2,
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
        "critics": {name: dict(default_critics().get(name) or {}) for name in asked},
        "comparisons": [{"corpus": CORPUS, "systems": list(systems), "critics": list(asked)}],
    }


def criticize(
    reference: Sequence[Path], candidates: Sequence[Path], asked: Sequence[str], output: Path, seed: int, cores: str
) -> Plan:
    """Write the config into the folder `output` and run the workflow there; returns its plan.

    Raises
    ------
    MacroscopeError
        Where a file is missing, a critic unknown, or the workflow failed.
    """
    _require((*reference, *candidates))
    config = implied_config(reference, candidates, asked, seed)
    plan = Plan(parse_config(config, "criticize"))
    path = output.resolve() / "config.yaml"
    command = _command(path, cores)
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    write_text(path, _HEAD.format(command=shlex.join(["snakemake", *command[3:]])) + text)
    if subprocess.run(command, check=False).returncode:
        raise MacroscopeError(
            f"the workflow failed (its messages stand above, its logs in {output / 'logs'}); what was finished stays,"
            " and the same command goes on from there"
        )
    return plan


def _require(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise MacroscopeError(f"{path}: no such file or folder")


def _command(config: Path, cores: str) -> list[str]:
    return [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(SNAKEFILE), "--configfile", str(config), "--directory", str(config.parent)),
        # By its path: Snakemake would prefer a folder of that name where the command is given.
        *("--workflow-profile", str(PROFILE), "--cores", cores, "--quiet", "rules", "host"),
    ]


def _names(files: Sequence[Path]) -> dict[str, Path]:
    """Names for the candidates, from their files: unique, and fit for a path."""
    names: dict[str, Path] = {}
    for file in files:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", file.name.split(".")[0]).strip("-_") or "candidate"
        name, number = stem, 1
        while name in names or name in KEPT_NAMES:
            number += 1
            name = f"{stem}-{number}"
        names[name] = file
    return names
