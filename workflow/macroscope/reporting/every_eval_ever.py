"""Export of a finished run in the format Every Eval Ever (schema 0.2.2), in which others collect results.

A record is about one system. Its scores are the detectabilities: numbers with a known range and a known direction,
which the format requires. Other statistics have no side that is better.
"""

import json
import logging
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from macroscope import __version__
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.options import fit_for_paths
from macroscope.runs.numbers import Key, Number
from macroscope.runs.results import STATISTICS, Results
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC

log = logging.getLogger("macroscope")

SCHEMA_VERSION = "0.2.2"
Relationship = Literal["first_party", "third_party", "collaborative", "other"]
"""Relationship of those who evaluate to those who made the model."""
_PUBLISHED = ("kind", "base", "decoding", "training", "max_tokens", "prompt_words", "prompt_tokens", "perturb", "seed")
"""Options of a system that are exported. Others may hold paths of the user."""
_METHOD = "influence curves (DeLong), in Wilson's form"
_DESCRIPTION = (
    "How often a classifier tells a document of the system from a held-out real one, by what the critic '{critic}' sees"
    " (area under the ROC curve); 0.5 is chance."
)


def write_records(
    run: Results, systems: Sequence[str], folder: Path, organization: str, relationship: Relationship
) -> list[Path]:
    """Write a record for each system into a folder, and return the paths.

    Parameters
    ----------
    systems
        Systems to export; empty: all that are judged and have a detectability.
    folder
        Folder that is new, or has only files of other names.
    organization
        Name of those who evaluate.

    Raises
    ------
    MacroscopeError
        If a named system, or every system, has no detectability, or a file exists.
    """
    chosen = list(systems) or sorted(filter(run.is_judged, run.named_systems))
    made = {system: scores for system in chosen if (scores := _scores(run, system))}
    for system in chosen:
        if system in systems and system not in made:
            raise MacroscopeError(f"{run.folder}: no critic gives a detectability of {system!r}; choose another system")
        if system not in made:
            log.warning("%s is left out: no critic gives its detectability", system)
    if not made:
        raise MacroscopeError(f"{run.folder}: no system has a detectability; give a run with one")
    created = str(int(time.time()))
    paths = {system: folder / f"{fit_for_paths(system)}.json" for system in made}
    if existing := next((path for path in paths.values() if path.exists()), None):
        raise MacroscopeError(f"{existing} exists; remove it, or give another folder")
    folder.mkdir(parents=True, exist_ok=True)
    source = {
        "source_name": "macroscope",
        "source_type": "evaluation_run",
        "source_organization_name": organization,
        "evaluator_relationship": relationship,
    }
    for system, path in paths.items():
        record = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": f"macroscope/{run.written_config['run']}/{system}/{created}",
            "evaluation_timestamp": str(int((run.folder / STATISTICS).stat().st_mtime)),
            "retrieved_timestamp": created,
            "source_metadata": source,
            "eval_library": {"name": "macroscope", "version": __version__},
            "model_info": _model_info(run, system),
            "evaluation_results": made[system],
        }
        write_json(path, record)
    return list(paths.values())


def _model_info(run: Results, system: str) -> dict[str, Any]:
    options = run.written_config["systems"].get(system, {})
    values = {name: options[name] for name in _PUBLISHED if options.get(name) is not None}
    details = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return {"name": system, "id": str(options.get("base") or system), "additional_details": details}


def _scores(run: Results, system: str) -> list[dict[str, Any]]:
    """Return the entries of a system's detectabilities that are defined."""
    scored = {key: number for key, number in run.numbers.items() if key[1] == system and key[3] == C2ST_AUC}
    return [_score(run, *item) for item in sorted(scored.items()) if math.isfinite(item[1].interval[0])]


def _score(run: Results, key: Key, number: Number) -> dict[str, Any]:
    corpus, _, critic, _ = key
    value, low, high = number.interval
    metric = {
        "evaluation_description": _DESCRIPTION.format(critic=critic),
        "metric_id": f"macroscope.{critic}.{C2ST_AUC}",
        "metric_name": "detectability",
        "metric_kind": "auroc",
        "metric_unit": "proportion",
        "lower_is_better": True,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
        "additional_details": dict(number.signature),
    }
    interval = {"lower": low, "upper": high, "confidence_level": run.confidence, "method": _METHOD}
    uncertainty = {"num_samples": number.sizes[1]} | ({"confidence_interval": interval} if math.isfinite(low) else {})
    return {
        "evaluation_result_id": f"{corpus}/{critic}/{C2ST_AUC}",
        "evaluation_name": f"{critic} on {corpus}",
        "source_data": {
            "dataset_name": corpus,
            "source_type": "other",
            "additional_details": {"real_texts": str(number.sizes[0])},
        },
        "metric_config": metric,
        "score_details": {"score": value, "uncertainty": uncertainty},
    }
