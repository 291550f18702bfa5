"""Texts of another corpus as a system: their source, and ids that pair with no document."""

import pytest

from macroscope.config.schema import parse_config
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.systems.other_domain import OtherDomainSystem, copy_samples
from tests.unit.plan.plans import find_job

FILES = {"source": "files", "files": ["x"]}


def _config(systems, names):
    return {
        "corpora": {"here": FILES, "there": FILES},
        "systems": systems,
        "comparisons": [{"corpus": "here", "systems": names, "critics": ["tendencies"]}],
    }


class _Names:
    corpus, system = "here", "elsewhere"


def test_samples_are_those_of_the_system_on_the_other_corpus():
    systems = {
        "lm": {"kind": "language_model", "base": "tiny-gpt2", "titles": False},
        "elsewhere": {"kind": "other_domain", "domain": "there", "of": "lm"},
    }
    plan = Plan(parse_config(_config(systems, ["elsewhere"])))
    inputs = find_job(plan, "generate_other_domain").inputs
    assert inputs["other_samples"](_Names) == "results/default/systems/there/lm/samples.parquet"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"domain": "here"}, "another corpus than 'here'"),
        ({"domain": "their"}, "did you mean 'there'"),
        ({"domain": "there", "of": "elsewhere"}, "no system 'elsewhere'"),
    ],
)
def test_invalid_options_are_refused(given, message):
    with pytest.raises(MacroscopeError, match=message):
        Plan(parse_config(_config({"elsewhere": {"kind": "other_domain", **given}}, ["elsewhere"])))


def test_ids_are_prefixed_and_texts_are_the_same(tmp_path):
    originals = [Document(str(n), "test", None, (Section(None, f"text {n}"),)) for n in range(3)]
    write_documents(tmp_path / "there.parquet", originals, Provenance("there", {"system": "control"}))
    options = OtherDomainSystem(kind="other_domain", domain="there")
    copy_samples(tmp_path / "there.parquet", tmp_path / "out.parquet", options, corpus="here", system="elsewhere")
    copied = list(read_documents(tmp_path / "out.parquet"))
    assert [document.id for document in copied] == ["there:0", "there:1", "there:2"]
    assert [document.text for document in copied] == [document.text for document in originals]
    assert read_provenance(tmp_path / "out.parquet").source["of"] == {"system": "control"}
