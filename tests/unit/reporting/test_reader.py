"""The reader's files agree with the samples and the critics, with offsets in a browser's units."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.attributions import (
    Attribution,
    attribution_weight,
    find_section_starts,
    locate_in_sections,
    merge_neighbours,
    read_scores,
    write_attributions,
)
from macroscope.document_keys import key_of_prompt
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL
from macroscope.reporting.reader.index import CriticScores, PairedTexts
from macroscope.reporting.reader.writing import CHUNK
from macroscope.statistics.conformal import FALSE_FLAGS

from ...reader_runs import DESCRIBED, built_reader, loaded, texts

pytestmark = pytest.mark.slow
REAL = {"c": 5.0, "d": 1.0, "e": np.nan, "f": 2.0}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return built_reader(tmp_path_factory.mktemp("reader"), {CONTROL: 120, "shuffled": 230})


def test_all_texts_are_there_in_order(reader):
    (run,) = loaded(reader / "data" / "run.js")
    assert [(entry["key"], entry["texts"]) for entry in run["systems"]] == [
        ("wiki/control", 125),
        ("wiki/shuffled", 235),
    ]
    for entry in run["systems"]:
        folder = reader / "data" / entry["key"]
        assert len(list(folder.glob("[0-9]*.js"))) == -(-entry["texts"] // CHUNK)
        read = [text for n in range(-(-entry["texts"] // CHUNK)) for text in loaded(folder / f"{n}.js")[2]]
        expected = texts(entry["system"], entry["texts"] - 5)
        assert [sections for sections, _ in read] == [[[s.title, s.text] for s in d.sections] for d in expected]
        key, index = loaded(folder / "index.js")
        assert key == entry["key"]
        assert index["ids"] == [document.id for document in expected]
        assert index["words"] == [len(document.text.split()) for document in expected]
        assert all(
            set(beginning.split()) <= {*d.text.split(), "…"}
            for beginning, d in zip(index["beginnings"], expected, strict=True)
        )


def test_scores_have_the_number_of_real_texts_below_them(reader):
    _, index = loaded(reader / "data" / "wiki" / "shuffled" / "index.js")
    assert index["scores"]["coherence"][8] == 0.08
    assert index["scores"]["coherence"][7] is None
    # Real text n has the score n / 100 as well, except number 7, which has none.
    assert index["below"]["coherence"][5] == 5
    assert index["below"]["coherence"][100] == 99
    assert index["real"] == {"coherence": 124, "strings": 125, "topics": 125}
    assert index["paired"][3] == 3
    assert index["paired"][200] is None
    _, control = loaded(reader / "data" / "wiki" / "control" / "index.js")
    assert control["real"]["strings"] == 124  # the others


def test_further_numbers_have_the_number_of_real_texts_below_them(reader):
    _, index = loaded(reader / "data" / "wiki" / "shuffled" / "index.js")
    assert index["numbers"]["coherence"] == index["numbers"]["strings"] == {}
    wit = index["numbers"]["topics"]["wit"]
    assert (wit["values"][3], wit["values"][8], wit["real"]) == (None, 4, 124)
    assert (wit["below"][2], wit["below"][8]) == (2, 7)  # real text 3 has none


def test_flags_are_of_unusual_texts_and_never_of_real_ones(reader):
    (run,) = loaded(reader / "data" / "run.js")
    assert run["falseFlags"] == FALSE_FLAGS
    _, index = loaded(reader / "data" / "wiki" / "shuffled" / "index.js")
    # Text n has the score n / 100, of which 125 are scores of real texts: the others are beyond all of them. Texts 0 to
    # 124 have the id of a real text, which is left out.
    assert index["p"]["coherence"][200] == pytest.approx(2 / 125, abs=1e-6)
    assert index["p"]["coherence"][7] is None
    assert set(index["flagged"]["coherence"]) >= set(range(125, 230))
    assert not {*range(10, 110)} & set(index["flagged"]["coherence"])
    _, control = loaded(reader / "data" / "wiki" / "control" / "index.js")
    assert (control["p"], control["flagged"]) == ({}, {})


def test_marks_are_where_a_browser_counts_them(reader):
    document = texts("shuffled", 230)[233]
    _, marks = loaded(reader / "data" / "wiki" / "shuffled" / "2.js")[2][33]
    ((_, start, end, weight, note),) = marks["strings"]
    units = document.sections[0].text.encode("utf-16-le")
    assert units[2 * start : 2 * end].decode("utf-16-le") == "beyond"
    assert end == len(units) // 2 == len(document.sections[0].text) + 3  # three characters count twice
    assert (weight, note) == (1.0, "the last word")


def test_same_input_same_bytes(reader, tmp_path):
    again = built_reader(tmp_path, {CONTROL: 120, "shuffled": 230})
    files = sorted(path.relative_to(reader) for path in reader.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert all((reader / path).read_bytes() == (again / path).read_bytes() for path in files)


def test_the_page_has_no_external_content(reader):
    for path in reader.glob("*.*"):
        assert "http" not in path.read_text(), path


@pytest.mark.slow
def test_attributions_of_other_samples_are_a_short_error(tmp_path):
    built = built_reader(tmp_path, {CONTROL: 3})
    file = built.parent / "critics" / "topics" / "wiki" / "attributions" / "control.parquet"
    names = read_scores(file)[0]
    for others, reason in (([*names[:-1], "other"], "is missing"), (names[::-1], "not in their order")):
        write_attributions([Attribution(name, 1.0) for name in others], file)
        with pytest.raises(MacroscopeError, match=rf"topics.*control.parquet: document .* of the samples .*{reason}"):
            built_reader_again(tmp_path)


@pytest.mark.slow
def test_a_critic_may_have_attributed_more_of_the_real_texts_than_the_page_shows(tmp_path):
    built = built_reader(tmp_path, {CONTROL: 3})
    before = (built / "data" / "wiki" / "control" / "index.js").read_text()
    file = built.parent / "critics" / "topics" / "wiki" / "attributions" / "control.parquet"
    names, scores, _ = read_scores(file)
    more = [Attribution("train-1", 0.0), *map(Attribution, names, scores.tolist()), Attribution("train-2", 0.0)]
    write_attributions(more, file)
    built_reader_again(tmp_path)
    after = (built / "data" / "wiki" / "control" / "index.js").read_text()
    assert "train-" not in after
    assert after != before  # there are two more real texts below each


def built_reader_again(folder):
    from contextlib import chdir
    from pathlib import Path

    from macroscope.reporting.reader.writing import write_reader

    with chdir(folder):
        write_reader(*DESCRIBED, Path("results/r1/reader"))


def test_texts_are_paired_by_id_or_by_an_opening_that_is_unique():
    paired = PairedTexts(pd.DataFrame({"opening": ["once upon", "twice", "twice", ""]}, index=list("abcd")))
    assert paired.find_rows([("a", "x"), ("n", "once upon"), ("m", "twice"), ("o", "")]) == [0, 0, None, None]
    assert paired.find_rows([("m", "once upon"), ("n", "once upon")]) == [None, None]
    prompted = PairedTexts(pd.DataFrame({"opening": [key_of_prompt("p"), "once upon"]}, index=list("ab")))
    keys = [("m", f"{key_of_prompt('p')} twice"), ("n", f"{key_of_prompt('q')} once upon")]
    assert prompted.find_rows(keys) == [0, 1]


def test_real_texts_of_a_comparison_replace_the_control(tmp_path):
    candidate, control = tmp_path / "candidate.parquet", tmp_path / "control.parquet"
    write_attributions([Attribution("a", 3.0), Attribution("b", np.nan)], candidate, REAL)
    write_attributions([Attribution("a", 9.0)], control)
    compared = CriticScores.read(candidate, control)
    assert (compared.below[0], compared.real) == (2, 3)
    ids, scores, real = read_scores(candidate)
    assert ids == ["a", "b"]
    assert np.isnan(scores[1])
    assert real == pytest.approx(REAL, nan_ok=True)


def test_places_of_a_text_are_places_of_its_sections():
    document = Document("d", "test", None, tuple(Section(None, text) for text in ("one two", "", "three")))
    starts = find_section_starts(document)
    text = document.text
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            places = locate_in_sections(starts, start, end)
            assert "".join(document.sections[n].text[a:b] for n, a, b in places) == text[start:end].replace("\n", "")
    assert merge_neighbours([(0, 0, 3), (0, 4, 7), (2, 0, 5)]) == [(0, 0, 7), (2, 0, 5)]


def test_weights_grow_with_costs():
    assert attribution_weight(0.0, 5.0) == 0
    assert attribution_weight(5.0, 5.0) == 0.5
    assert attribution_weight(float("inf"), 5.0) == 1
