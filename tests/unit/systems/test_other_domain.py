"""Texts of another corpus as a system: whose they are, and that nobody belongs to anybody."""

import pytest

from macroscope.config.schema import parse_config
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.systems.other_domain import OtherDomainSystem, take_over

FILES = {"source": "files", "files": ["x"]}


def _config(systems, asked):
    return {
        "corpora": {"here": FILES, "there": FILES},
        "systems": systems,
        "comparisons": [{"corpus": "here", "systems": asked, "critics": ["tendencies"]}],
    }


class _Names:
    corpus, system = "here", "elsewhere"


def test_samples_are_those_of_the_system_on_the_other_corpus():
    systems = {
        "lm": {"kind": "language_model", "base": "tiny-gpt2", "titles": False},
        "elsewhere": {"kind": "other_domain", "domain": "there", "of": "lm"},
    }
    plan = Plan(parse_config(_config(systems, ["elsewhere"])))
    assert plan.systems.inputs("other_domain", "draw")(_Names) == {
        "other_samples": "results/default/systems/there/lm/samples.parquet"
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"domain": "here"}, "another corpus than 'here'"),
        ({"domain": "their"}, "did you mean 'there'"),
        ({"domain": "there", "of": "elsewhere"}, "no system 'elsewhere'"),
    ],
)
def test_what_cannot_be_is_said(given, message):
    with pytest.raises(MacroscopeError, match=message):
        Plan(parse_config(_config({"elsewhere": {"kind": "other_domain", **given}}, ["elsewhere"])))


def test_ids_are_set_apart_and_texts_are_the_same(tmp_path):
    there = [Document(str(n), "test", None, (Section(None, f"text {n}"),)) for n in range(3)]
    write_documents(tmp_path / "there.parquet", there, Provenance("there", {"system": "control"}))
    options = OtherDomainSystem(kind="other_domain", domain="there")
    take_over(tmp_path / "there.parquet", tmp_path / "out.parquet", options, corpus="here", system="elsewhere")
    found = list(read_documents(tmp_path / "out.parquet"))
    assert [document.id for document in found] == ["there:0", "there:1", "there:2"]
    assert [document.text for document in found] == [document.text for document in there]
    assert read_provenance(tmp_path / "out.parquet").source["of"] == {"system": "control"}
