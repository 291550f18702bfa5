"""Export in the format Every Eval Ever: what its schema requires, and the numbers of the run."""

import json
from pathlib import Path

import jsonschema
import pytest

from macroscope.errors import MacroscopeError
from macroscope.reporting.every_eval_ever import write_records
from macroscope.runs.numbers import Number

from ...runs import make_run

STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}


def required(**properties):
    return {"type": "object", "required": list(properties), "properties": properties}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
INTERVAL = required(lower=NUMBER, upper=NUMBER, confidence_level={"type": "number", "minimum": 0, "maximum": 1})
RESULT = required(
    evaluation_name=TEXT,
    source_data=required(dataset_name=TEXT, source_type={"const": "other"}, additional_details=STRINGS),
    metric_config=required(
        lower_is_better={"type": "boolean"},
        score_type={"const": "continuous"},
        min_score=NUMBER,
        max_score=NUMBER,
        additional_details=STRINGS,
    ),
    score_details=required(
        score=NUMBER,
        uncertainty={
            "type": "object",
            "properties": {"num_samples": {"type": "integer"}, "confidence_interval": INTERVAL},
        },
    ),
)
SCHEMA = required(
    schema_version={"const": "0.2.2"},
    evaluation_id=TEXT,
    retrieved_timestamp={"type": "string", "pattern": "^[0-9]+$"},
    source_metadata=required(
        source_type={"enum": ["documentation", "evaluation_run"]},
        source_organization_name=TEXT,
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
    ),
    model_info=required(name=TEXT, id=TEXT, additional_details=STRINGS),
    eval_library=required(name=TEXT, version=TEXT),
    evaluation_results={"type": "array", "items": RESULT, "minItems": 1},
) | {
    "additionalProperties": False,
}
SCHEMA["properties"]["evaluation_timestamp"] = TEXT
"""What the published schema requires of the fields that we write, in our words."""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "statistics.csv").write_text("")
    nan = float("nan")
    signature = {"critic": "strings", "scale": "5.0"}
    numbers = {
        ("wiki", "mine", "strings", "c2st_auc"): Number((0.7, 0.6, 0.8), (100, 90), signature),
        ("wiki", "mine", "topics", "c2st_auc"): Number((0.55, nan, nan), (100, 90), signature),
        ("wiki", "mine", "coherence", "c2st_auc"): Number((nan, nan, nan), (3, 90), signature, "too few"),
        ("wiki", "mine", "strings", "forward"): Number((0.1, 0.0, 0.2), (100, 90), signature),
        ("wiki", "other", "strings", "forward"): Number((0.1, 0.0, 0.2), (100, 90), signature),
        ("wiki", "control", "strings", "c2st_auc"): Number((0.5, 0.4, 0.6), (50, 50), signature),
        ("wiki", "shuffled", "strings", "c2st_auc"): Number((0.9, 0.8, 1.0), (100, 90), signature),
    }
    systems = {
        "mine": {"kind": "files", "files": ["/home/me/mine.jsonl"], "seed": 0},
        "control": {"kind": "control"},
        "shuffled": {"kind": "perturbation", "perturb": [{"rule": "shuffle_words"}]},
    }
    return make_run(tmp_path, {"run": "r", "systems": systems, "statistics": {"confidence": 0.95}}, numbers)


def test_a_record_has_what_the_schema_requires(run, tmp_path, caplog):
    (path,) = write_records(run, [], tmp_path / "out", "Us", "third_party")
    assert "other is left out: no critic gives its detectability" in caplog.text
    record = json.loads(path.read_text())
    jsonschema.validate(record, SCHEMA)
    assert path.name == "mine.json"
    assert "/home" not in path.read_text()
    strings, topics = record["evaluation_results"]
    assert strings["evaluation_name"] == "strings on wiki"
    assert strings["score_details"]["score"] == 0.7
    interval = strings["score_details"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"], interval["confidence_level"]) == (0.6, 0.8, 0.95)
    assert strings["metric_config"]["additional_details"]["scale"] == "5.0"
    assert topics["score_details"]["uncertainty"] == {"num_samples": 90}


def test_a_check_is_exported_if_it_is_named(run, tmp_path):
    (path,) = write_records(run, ["shuffled"], tmp_path / "out", "Us", "other")
    details = json.loads(path.read_text())["model_info"]["additional_details"]
    assert json.loads(details["perturb"]) == [{"rule": "shuffle_words"}]


def test_nothing_is_replaced_and_a_system_without_numbers_is_named(run, tmp_path):
    write_records(run, ["mine"], tmp_path / "out", "Us", "other")
    with pytest.raises(MacroscopeError, match=r"mine\.json exists; remove it"):
        write_records(run, ["mine"], tmp_path / "out", "Us", "other")
    with pytest.raises(MacroscopeError, match="no critic gives a detectability of 'other'"):
        write_records(run, ["other"], Path(tmp_path / "new"), "Us", "other")
