"""A number per sentence: the rows and places of the table; sentences that were exchanged rank first."""

import random

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial import Polynomial
from sklearn.metrics import roc_auc_score

from macroscope.criticize.inputs import GivenFields
from macroscope.critics.narrative.detector import new_detector
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.sentences.table import (
    COLUMNS,
    Judges,
    expect_at_places,
    make_options,
    make_table,
    score_sentences,
    warn_of_few,
    without_other_languages,
)

from ...tiny import write_encoder

TOPICS = (
    ("The cook stirred the soup.", "She added salt to the pot.", "The kitchen smelled of onions.", "Bread was baking."),
    ("The ship left the harbour.", "Waves struck the hull.", "The captain watched the sea.", "Sails filled with wind."),
    ("The judge read the verdict.", "The lawyer closed his file.", "Jurors left the court.", "The trial was over."),
)


@pytest.mark.slow
def test_every_sentence_has_its_place_and_a_lone_one_no_number(tmp_path):
    options = NarrativeOptions(tasks=["discordant"], encoder=str(write_encoder(tmp_path / "encoder")), max_tokens=8)
    detector = new_detector(options, options.detector, "discordant", 32, 0)
    sections = (Section("a", "It rained.  The sun came out."), Section(None, "He slept."))
    documents = [Document("x", "test", None, sections), Document("y", "test", None, (Section(None, "Alone."),))]
    table = make_table({"lm": documents}, Judges(detector, None, Polynomial([0.1, 0.4])), options, "en")
    assert tuple(table.columns) == COLUMNS
    assert table["text"].tolist() == ["It rained.", "The sun came out.", "He slept.", "Alone."]
    assert table["sentence"].tolist() == [1, 2, 3, 1]
    assert table[["section", "start", "end"]].to_numpy().tolist() == [[0, 0, 10], [0, 12, 29], [1, 0, 9], [0, 0, 6]]
    assert table["out_of_place"].isna().tolist() == [False, False, False, True]
    assert table["out_of_order"].isna().all()
    expected = table["out_of_place_expected"]
    np.testing.assert_allclose(expected[:3], [0.1 + 0.4 / 6, 0.1 + 0.4 / 2, 0.1 + 0.4 * 5 / 6])
    assert expected.isna().tolist() == [False, False, False, True]


def test_late_sentences_of_real_text_are_the_measure_of_late_ones():
    rows = [("x", n, 0.1 * n) for n in range(1, 6)] + [("y", n, 0.05 * n) for n in range(1, 11)] + [("z", 1, np.nan)]
    held_out = pd.DataFrame(rows, columns=["document", "sentence", "out_of_place"])
    expected = expect_at_places(held_out)
    np.testing.assert_allclose(expected(np.array([0.1, 0.5, 0.9])), [0.1 * 1 - 0.0125, 0.2875, 0.4875], atol=0.02)
    assert np.isnan(expect_at_places(held_out[-1:])(0.5))


def test_a_language_that_the_encoder_does_not_know_is_refused():
    with pytest.raises(MacroscopeError, match="⟨language=zh⟩: the encoder 'minilm' was trained on English"):
        make_options("zh")


def test_texts_in_another_language_are_named_and_have_no_numbers(caplog):
    table = pd.DataFrame(
        {
            **{"system": "lm", "document": ["x", "y", "y", "z"], "language": ["en", "zh", "zh", "?"]},
            **{
                "out_of_place": [0.1, 0.9, 0.9, 0.2],
                "out_of_place_expected": 0.2,
                "out_of_order": 1.0,
                "text": "It rained.",
            },
        }
    )
    judged = without_other_languages(table, "en")
    assert judged["out_of_place"].isna().tolist() == [False, True, True, False]
    assert judged["out_of_order"].isna().tolist() == [False, True, True, False]
    said = "lm: texts that are not in English, and not judged: y (Chinese); if they are, give ⟨language=en⟩"
    assert caplog.messages == [said]
    caplog.clear()
    assert without_other_languages(judged[:1], "en")["out_of_place"].tolist() == [0.1]
    assert not caplog.messages


@pytest.mark.parametrize("long", [59, 60])
def test_real_texts_that_are_too_few_or_too_short_are_named(long, caplog):
    def document(number, sentences):
        return Document(f"x{number}", "test", None, (Section(None, "It rained. " * sentences),))

    warn_of_few([document(number, 5 if number < long else 4) for number in range(100)], "en")
    expected = "59 of the real texts have 5 sentences or more: the numbers are unreliable; give 60 such texts or more"
    assert caplog.messages == ([expected] if long < 60 else [])


@pytest.mark.slow
def test_exchanged_sentences_rank_first(tmp_path, caplog):
    generator = random.Random(1)

    def write(name, number, is_damaged):
        rows = []
        for n in range(number):
            topic = generator.randrange(3)
            lines = [f"{generator.choice(TOPICS[topic])[:-1]} {generator.randrange(99)} times." for _ in range(6)]
            if is_damaged:
                lines[n % 6] = f"{TOPICS[(topic + 1) % 3][0][:-1]} once."
            rows.append({"id": f"{name}{n}", "text": "\n".join(lines)})
        pd.DataFrame(rows).to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
        return tmp_path / f"{name}.jsonl"

    caplog.set_level("INFO", "macroscope")
    table = score_sentences([write("real", 100, False)], [write("lm", 30, True)], GivenFields(), None, 1)
    phases = [message for message in caplog.messages if message.startswith(("learn", "judge"))]
    assert phases == ["learn from 100 real texts", "judge 30 texts"]
    marked = table["sentence"] - 1 == table["document"].str.removeprefix("lm").astype(int) % 6
    assert roc_auc_score(marked, np.asarray(table["out_of_place"])) > 0.9
    assert table["out_of_order"].notna().all()
