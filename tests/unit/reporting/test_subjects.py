import pandas as pd
import pytest

from macroscope.options import SPLIT_HALF
from macroscope.reporting.scorecard import INCONCLUSIVE, UNLIKE
from macroscope.reporting.scorecard_table import describe_subjects
from macroscope.statistics.decisive_features import SHARE
from macroscope.statistics.word_kinds import CONTENT_WORDS, FUNCTION_WORDS

NOT, ABOVE = (0.5, 0.57, 0.6), (0.68, 0.74, 0.001)
"""Value, upper end and p-value of a kind of words: not above chance, and above it."""


def note_on(function=NOT, content=ABOVE, system="mine", verdict=UNLIKE, n_paired=0, share=0.1):
    key = {"corpus": "wiki", "system": system, "critic": "strings"}
    columns = ["value", "ci_high", "p_value"]
    rows = {FUNCTION_WORDS: function, CONTENT_WORDS: content} | {f"{SHARE}{rank}": (share,) * 3 for rank in (1, 2)}
    table = pd.DataFrame(
        [key | {"statistic": name} | dict(zip(columns, numbers, strict=True)) for name, numbers in rows.items()]
    )
    indexed = table.set_index([*key, "statistic"])
    return describe_subjects(key | {"verdict": verdict, "n_paired": n_paired}, indexed)


def test_content_words_alone_hint_at_other_subjects():
    assert note_on() == (
        "content words tell them apart (68 %), function words do not (50 %):"
        " the texts may be on other subjects than the real ones"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"function": ABOVE},
        {"content": NOT},
        {"function": (0.6, 0.7, 0.2)},
        {"system": SPLIT_HALF},
        {"verdict": INCONCLUSIVE},
        {"n_paired": 3},
        {"share": 0.3},  # two words decide: speakers' names, a token
        {"function": (float("nan"),) * 3, "content": (float("nan"),) * 3},
    ],
)
def test_without_that_there_is_no_note(change):
    assert note_on(**change) == ""


def test_critics_without_these_numbers_have_no_note():
    row = {"corpus": "wiki", "system": "mine", "critic": "topics", "verdict": UNLIKE, "n_paired": 0}
    index = pd.MultiIndex.from_tuples([("wiki", "mine", "topics", "c2st_auc")])
    assert describe_subjects(row, pd.DataFrame({"value": [0.7]}, index)) == ""
