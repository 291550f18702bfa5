"""Any table of human judgements is read as scores of systems, or is an error of one sentence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.errors import MacroscopeError
from macroscope.statistics.judgements import read_judgements
from tests.fuzzing import FUZZ, ODD_LINES, damaged, is_one_sentence

TABLE = b'# scores\nsystem,question,score\na,fluent,1.5\n"b, c",fluent,-2\na,sensible,3\n'
CELLS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["nan", "inf", "-1e999", "9" * 5000, "=1+1", '"', '"a\nb"', "x" * 140_000, "\x00", "\u2028", "1_0"]
)


def read_or_fail(path, content):
    path.write_bytes(content)
    try:
        judgements = read_judgements(str(path))
    except MacroscopeError as error:
        is_one_sentence(str(error))
        return None
    assert judgements.systems
    assert all(math.isfinite(score) for scores in judgements.scores.values() for score in scores.values())
    return judgements.scores


def test_a_whole_table(tmp_path):
    assert read_or_fail(tmp_path / "t.csv", TABLE) == {"fluent": {"a": 1.5, "b, c": -2.0}, "sensible": {"a": 3.0}}
    assert read_or_fail(tmp_path / "t.csv", b"\xef\xbb\xbf" + TABLE.partition(b"\n")[2])["fluent"]["a"] == 1.5


@pytest.mark.slow
@FUZZ
@given(st.data())
def test_damaged_tables(tmp_path, data):
    read_or_fail(tmp_path / "t.csv", damaged(data, TABLE))


@pytest.mark.slow
@FUZZ
@given(st.lists(st.tuples(CELLS, CELLS), max_size=4))
def test_any_cells(tmp_path, rows):
    read_or_fail(tmp_path / "t.csv", ("system,score\n" + "".join(f"{a},{b}\n" for a, b in rows)).encode())


@pytest.mark.parametrize("content", ODD_LINES, ids=range(len(ODD_LINES)))
def test_other_files(content, tmp_path):
    assert read_or_fail(tmp_path / "t.csv", content) is None
    read_or_fail(tmp_path / "t.csv", b"system,score\n" + content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"system,score\na," + b"x" * 140_000,
            r"line 2: (not valid CSV \(field larger|the score 'x+\.\.\.x+' is not a number)",
        ),
        (b"system,score\na," + b"9" * 5000, r"line 2: the score '9+\.\.\.9+' is not a number"),
        (b"system,score,score\na,1,2\n", r"line 1: two columns are called 'score'"),
        (b"system,score\na\n", r"line 2: 1 cells, not the 2 of the header"),
    ],
)
def test_known_faults_are_named(content, message, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(MacroscopeError, match=message):
        read_judgements(str(tmp_path / "t.csv"))


def test_no_file_of_that_name(tmp_path):
    for name in ("a\nb", str(tmp_path)):
        with pytest.raises(MacroscopeError, match="no such file of human judgements"):
            read_judgements(name)
