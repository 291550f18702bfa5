"""Tables of human judgements: built-in ones, and user tables with every possible error."""

import pytest
import yaml

from macroscope.errors import MacroscopeError
from macroscope.statistics.judgements import (
    BUILT_IN,
    REGISTRY,
    check_mapping,
    group_seeds,
    match_system_names,
    read_judgements,
)


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("table", BUILT_IN)
def test_built_in_tables_are_those_of_the_registry(table):
    entry = yaml.safe_load(REGISTRY.read_text())[table]
    judgements = read_judgements(table)
    assert set(judgements.scores) == set(entry["questions"])
    assert set(judgements.systems) == set(entry["systems"])
    assert judgements.real_text in entry["systems"]
    assert entry["licence"]
    assert judgements.citation
    assert judgements.scale
    assert all(set(scores) == set(judgements.systems) for scores in judgements.scores.values())


def test_bradley_terry_scores_add_up_to_zero():
    for scores in read_judgements("mauve").scores.values():
        assert len(scores) == 9
        assert sum(scores.values()) == pytest.approx(0, abs=2e-6)
        assert max(scores, key=scores.get) == "human"


def test_a_user_table(tmp_path):
    path = write(
        tmp_path / "mine.csv",
        "\ufeff# asked in May",
        "question,system,score,remark",
        "",
        'fluent,"a, the first",1.5,x',
        "fluent,b,2,",
        "coherent,b,-1e3,",
    )
    judgements = read_judgements(path)
    assert judgements.scores == {"fluent": {"a, the first": 1.5, "b": 2.0}, "coherent": {"b": -1000.0}}
    assert judgements.systems == ["a, the first", "b"]
    assert judgements.real_text is None
    assert read_judgements(write(tmp_path / "one.csv", "system,score", "a,1")).scores == {"score": {"a": 1.0}}


def test_quoted_cells_may_span_lines(tmp_path):
    """A line within a quoted cell is neither a row nor a comment; U+2028 does not end a line."""
    path = tmp_path / "scores.csv"
    lines = ["system,score,reason", 'a,1,"it begins', "b,2,x", "# and goes on", '"', "c,3,x\u2028y", "d,none,x"]
    path.write_text("\n".join(lines[:-1]), encoding="utf-8")
    assert read_judgements(str(path)).scores == {"score": {"a": 1.0, "c": 3.0}}
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(MacroscopeError, match="line 7: the score 'none'"):
        read_judgements(str(path))
    path.write_text("\n".join(lines[:4]), encoding="utf-8")
    with pytest.raises(MacroscopeError, match="line 2: not valid CSV"):
        read_judgements(str(path))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["system,rating", "a,1"], "line 1: no column 'score'"),
        (["name,score", "a,1"], "line 1: no column 'system'"),
        (["# x", "system,score", "a,good"], "line 3: the score 'good' is not a number"),
        (["system,score", "a,"], "line 2: the score '' is not a number; leave out rows without a score"),
        (["system,score", "a,nan"], "line 2: the score 'nan' is not a number"),
        (["system,score", "a,1", "b,2", "a,1"], "line 4: system 'a' has a score for 'score' in line 2 already"),
        (["system,score", ",1"], "line 2: no system"),
        (["system,score", "a,1,2"], "line 2: 3 cells, not the 2 of the header"),
        (["system,score"], "no scores"),
        (["# nothing"], "no scores"),
    ],
)
def test_a_wrong_table_is_an_error_of_one_sentence(tmp_path, lines, message):
    with pytest.raises(MacroscopeError) as error:
        read_judgements(write(tmp_path / "mine.csv", *lines))
    assert message in str(error.value)
    assert "mine.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_table_and_a_binary_file_are_errors(tmp_path):
    with pytest.raises(MacroscopeError, match=r"no such file of human judgements.*did you mean 'mauve'"):
        read_judgements("mauv")
    (tmp_path / "x.csv").write_bytes(b"system,score\n\xe9\xff,1\n")
    with pytest.raises(MacroscopeError, match="not UTF-8"):
        read_judgements(str(tmp_path / "x.csv"))


def test_matched_names_exclude_real_text():
    mauve = read_judgements("mauve")
    names = match_system_names(mauve, ["gpt2-xl-nucleus", "human", "mine"], None)
    assert names == {"gpt2-xl-nucleus": "gpt2-xl-nucleus"}


@pytest.mark.parametrize(
    ("mapping", "real_text", "message"),
    [
        (
            {"a": "gpt2-xl-nucleous"},
            None,
            "the table 'mauve' has no system 'gpt2-xl-nucleous'; did you mean 'gpt2-xl-n",
        ),
        (
            {"a": "gpt2-xl-nucleus"},
            "humans",
            "real_text: the table 'mauve' has no system 'humans'; did you mean 'human'",
        ),
        (
            {"a": "human", "b": "gpt2-xl-nucleus"},
            "human",
            "a system is mapped to 'human', which is the table's real text",
        ),
        ({"a": "gpt2-xl-nucleus", "b": "gpt2-xl-nucleus"}, "human", "2 of the systems are in the table"),
        ({}, None, "0 of the systems are in the table 'mauve', and a correlation needs 3"),
    ],
)
def test_wrong_mappings_are_an_error_of_one_sentence(mapping, real_text, message):
    with pytest.raises(MacroscopeError) as error:
        check_mapping(mapping, real_text, read_judgements("mauve"), "place")
    assert message in str(error.value)
    assert str(error.value).startswith("place")


def test_groups_of_seeds_follow_the_order():
    mapping = {"xl-1": "xl", "small-1": "small", "xl-2": "xl", "beam": "beam", "small-2": "small"}
    assert group_seeds(mapping, "place") == [
        {"xl": "xl-1", "small": "small-1", "beam": "beam"},
        {"xl": "xl-2", "small": "small-2", "beam": "beam"},
    ]
    assert group_seeds({"a": "x", "b": "y"}, "place") == [{"x": "a", "y": "b"}]


def test_groups_of_unequal_size_are_an_error():
    mapping = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
    with pytest.raises(MacroscopeError, match="place: 2 systems are mapped to 'x' and 3 to 'y'"):
        group_seeds(mapping, "place")
