"""The metric: alone, and under the library `evaluate`, if it is installed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from macroscope import MacroscopeError, MacroscopeMetric


@pytest.fixture
def compared(monkeypatch):
    """Replace the comparison; return what it was given."""
    given = {}

    def compare(real, mine, **arguments):
        given.update(arguments, real=real, mine=mine)
        row = {"system": "candidate", "critic": "tendencies", "verdict": "unlike", "c2st_auc": 0.8}
        row |= {"ci_low": 0.7, "ci_high": 0.9}
        return SimpleNamespace(detectability=pd.DataFrame([row, row | {"system": "split_half"}]))

    monkeypatch.setattr("macroscope.api.metric.compare", compare)
    return given


SCORES = {"tendencies": 0.8, "tendencies_low": 0.7, "tendencies_high": 0.9}


def test_it_computes_what_it_is_given(compared):
    metric = MacroscopeMetric("tendencies", seed=3)
    assert metric.compute(predictions=["a", "b"], references=["x", ["y"]]) == SCORES
    assert compared["real"] == [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}]
    assert compared["mine"] == [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]
    assert (compared["critics"], compared["seed"]) == ("tendencies", 3)
    assert metric.result is not None


def test_unpaired_texts_may_differ_in_number(compared):
    MacroscopeMetric(paired=False).compute(predictions=["a", "b"], references=["x"])
    assert (compared["real"], compared["mine"]) == (["x"], ["a", "b"])


@pytest.mark.parametrize(
    ("references", "message"),
    [(["x"], "2 predictions and 1 references"), ([["x", "y"], "z"], "2 references for one prediction")],
)
def test_references_that_do_not_fit_are_one_sentence(references, message):
    with pytest.raises(MacroscopeError, match=message):
        MacroscopeMetric().compute(predictions=["a", "b"], references=references)


def test_added_texts_are_computed_once(compared):
    metric = MacroscopeMetric()
    metric.add(predictions="a", references="x")
    metric.add_batch(predictions=["b"], references=["y"])
    assert metric.compute() == SCORES
    assert [record["text"] for record in compared["mine"]] == ["a", "b"]
    metric.compute(predictions=["c"], references=["z"])
    assert [record["text"] for record in compared["mine"]] == ["c"]


def test_a_failed_call_leaves_no_text_behind(compared):
    metric = MacroscopeMetric()
    metric.add(predictions="a", references="x")
    for given in (
        {"predictions": ["b"]},
        {"predictions": ["b"], "references": [["y", "z"]]},
        {"predictions": ["b"], "references": []},
    ):
        with pytest.raises(MacroscopeError):
            metric.compute(**given)
        metric.compute(predictions=["c"], references=["z"])
        assert [record["text"] for record in compared["mine"]] == ["c"]


def test_a_batch_with_something_else_than_a_text_is_not_added(compared):
    metric = MacroscopeMetric()
    for predictions, references in (("abc", ["x"]), (["a"], "x"), ([None], ["x"]), (["a"], [None]), (["a"], [[None]])):
        with pytest.raises(MacroscopeError, match=r"(predictions|references)(\[0\])*: .* does not fit; give a"):
            metric.add_batch(predictions=predictions, references=references)
    metric.compute(predictions=["c"], references=["z"])
    assert [record["text"] for record in compared["mine"]] == ["c"]


def test_texts_are_added_to_those_of_earlier_batches(compared):
    metric = MacroscopeMetric()
    metric.add(predictions="a", references="x")
    metric.compute(predictions=["b"], references=["y"])
    assert [record["text"] for record in compared["mine"]] == ["a", "b"]
    metric.add(predictions="a", references="x")
    with pytest.raises(MacroscopeError, match="give both, or none after `add_batch`"):
        metric.compute(predictions=["b"])


def test_evaluate_combines_it(compared):
    evaluate = pytest.importorskip("evaluate")
    combined = evaluate.combine([MacroscopeMetric()])
    assert combined.compute(predictions=["a", "b"], references=["x", "y"]) == SCORES
    combined.add_batch(predictions=["a"], references=["x"])
    combined.add(prediction="b", reference="y")
    assert combined.compute() == SCORES
    assert [record["text"] for record in compared["mine"]] == ["a", "b"]
