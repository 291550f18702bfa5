"""Copies beside what real texts share: a licence is none, passages are; whole and half copies are named."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from macroscope.cli import main
from macroscope.copies.measure import measure_copies
from macroscope.copies.page import make_summary, write_page
from macroscope.criticize.inputs import GivenFields
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL

from ...browser import watched

LICENCE = " ".join(f"permission{letter}" for letter in "abcdefghijklmnopqrst")
WORDS = np.array([f"{a}{b}{c}" for a in "bdfglm" for b in "aeiou" for c in "nrst"])


def texts(seed, number, has_licence=True):
    """Return texts of 60 words, which begin with a licence."""
    rng = np.random.default_rng(seed)
    made = [" ".join(rng.choice(WORDS, 60)) for _ in range(number)]
    return [f"{LICENCE} {text}" if has_licence else text for text in made]


def write(path, texts):
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


@pytest.fixture
def real(tmp_path):
    return write(tmp_path / "real.jsonl", texts(1, 80))


def excess(copies, system, statistic="copied_8_excess"):
    table = copies.table.set_index(["system", "statistic"])
    return table.loc[(system, statistic)]


def test_a_licence_of_real_texts_is_no_copying_and_passages_are(real, tmp_path):
    originals, new = texts(1, 80), texts(2, 40)
    passages = [" ".join([text, *original.split()[-25:]]) for text, original in zip(new, originals, strict=False)]
    files = [write(tmp_path / "new.jsonl", new), write(tmp_path / "passages.jsonl", passages)]
    copies = measure_copies([real], files, [], GivenFields())
    assert excess(copies, "new")["p_adjusted"] > 0.05
    assert copies.table.set_index(["system", "statistic"]).loc[("new", "copied_8"), "value"] < 0.001
    of_licence = copies.spans[(copies.spans["system"] == "new") & (copies.spans["words"] == 20)]
    assert of_licence["texts"].eq(80).all()
    assert len(of_licence) > 15
    assert excess(copies, "passages")["p_adjusted"] < 0.05
    assert excess(copies, "passages")["ci_low"] > 0
    assert excess(copies, "passages")["n_reference"] == 40
    assert copies.texts["copy"].eq("").all()
    of_first = copies.spans[(copies.spans["system"] == "passages") & (copies.spans["id"] == "passages.jsonl-1")]
    assert of_first[["words", "source"]].to_numpy().tolist()[1:] == [[25, "real.jsonl-1"]]


def test_whole_and_half_copies_are_named(real, tmp_path):
    originals, new = texts(1, 80, has_licence=False), texts(2, 20, has_licence=False)
    halves = [" ".join([*a.split()[:30], *b.split()[30:]]) for a, b in zip(originals[10:15], new, strict=False)]
    copies = measure_copies(
        [real], [write(tmp_path / "mine.jsonl", [*originals[:4], *halves, *new])], [], GivenFields()
    )
    assert copies.texts["copy"].tolist() == ["whole"] * 4 + ["half"] * 5 + [""] * 20
    summary = make_summary(copies)
    assert summary[["whole", "half"]].drop_duplicates().to_numpy().tolist() == [[4, 5]]


def test_a_model_that_repeats_the_reference_is_found(tmp_path):
    """Copies share first words, and ids, with held-out real texts too: none is paired with its source."""
    originals = [{"id": f"text {n}", "text": text} for n, text in enumerate(texts(1, 60, has_licence=False))]
    path = tmp_path / "real.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in originals))
    copies = measure_copies([path], [path], [], GivenFields())
    numbers = excess(copies, "real")
    assert numbers["p_adjusted"] < 0.01
    assert numbers["ci_low"] > 0.3
    assert copies.texts["copy"].eq("whole").all()


def test_texts_of_a_named_prompt_are_permuted_with_each_other(tmp_path):
    """Five of twelve texts are copies: p is that of the signs of five pairs; without pairs, it would be 0.0003."""
    files = []
    for name, seed, number in (("real", 1, 40), ("mine", 2, 12)):
        records = [{"prompt": f"Prompt {n}?", "text": text} for n, text in enumerate(texts(seed, number, False))]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(record) + "\n" for record in records))
    training = write(tmp_path / "training.jsonl", texts(2, 12, False)[:5])
    copies = measure_copies([files[0]], [files[1]], [training], GivenFields())
    assert excess(copies, "mine")["p_value"] == pytest.approx(2**-5, abs=0.01)


def test_a_single_real_text_that_is_given_twice_does_not_count(tmp_path, caplog):
    training = texts(3, 20, has_licence=False)
    real = write(tmp_path / "real.jsonl", [training[0], *texts(1, 20, has_licence=False)])
    mine = write(tmp_path / "mine.jsonl", texts(4, 20, has_licence=False))
    measure_copies([real], [mine], [write(tmp_path / "training.jsonl", training)], GivenFields())
    assert "1 text of the reference stands in the training texts, and does not count" in caplog.text


def test_a_licence_is_not_among_the_longest_spans(real, tmp_path, monkeypatch, capsys):
    mine = write(tmp_path / "mine.jsonl", texts(2, 20))
    flags = ["--reference", str(real), "--candidate", str(mine), "--output", str(tmp_path / "copies")]
    monkeypatch.setattr("sys.argv", ["macroscope", "copies", *flags])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    said = capsys.readouterr().out
    assert "Longest spans" not in said
    assert "whole, half: texts with 95% and 45% of their words in sequences of 13 that were found." in said
    assert pd.read_csv(tmp_path / "copies" / "spans.csv")["common"].all()


def test_a_score_without_a_unit_has_no_space_after_it(real, tmp_path, browser):
    mine = write(tmp_path / "mine.jsonl", texts(1, 20))
    write_page(measure_copies([real], [mine], [], GivenFields()), tmp_path / "copies")
    with watched(browser, tmp_path / "copies") as page:
        page.goto(f"{(tmp_path / 'copies').as_uri()}/index.html")
        page.locator("#document h2").wait_for()
        summary = page.locator("#document summary").text_content()
    assert re.match(r"copies: [\d.]+, larger than ", summary)


def test_training_texts_are_searched_in_place_of_real_ones(real, tmp_path):
    training = texts(3, 60)
    mine = write(tmp_path / "mine.jsonl", [*training[:20], *texts(4, 20)])
    copies = measure_copies([real], [mine], [write(tmp_path / "training.jsonl", training)], GivenFields())
    assert copies.searched == 60
    assert excess(copies, "mine")["n_reference"] == 80
    assert copies.texts["copy"].tolist()[:20] == ["whole"] * 20
    assert excess(copies, "mine", "longest_excess")["p_adjusted"] < 0.05


def test_real_texts_that_are_given_twice_do_not_count(real, tmp_path, caplog):
    twice = write(tmp_path / "twice.jsonl", texts(1, 80)[:20])
    copies = measure_copies([real, twice], [write(tmp_path / "mine.jsonl", texts(4, 20))], [], GivenFields())
    control = copies.table.set_index(["system", "statistic"]).loc[(CONTROL, "copied_8")]
    assert control["value"] < 0.001
    assert 30 < control["n_candidate"] < 50
    assert (
        f"{50 - control['n_candidate']:.0f} texts of the reference stand in its others, and do not count" in caplog.text
    )


def test_a_reference_that_stands_in_the_training_texts_is_refused(real, tmp_path):
    mine = write(tmp_path / "mine.jsonl", texts(4, 20))
    with pytest.raises(MacroscopeError, match="80 of 80 texts stand in the training texts, word for word; give real"):
        measure_copies([real], [mine], [real], GivenFields())


@pytest.mark.parametrize(
    ("real_texts", "mine", "message"),
    [
        (["One text alone, of six words."], texts(1, 5), "the reference is a single text: none can be held out"),
        (texts(1, 5), ["1 2 3 4 5 6"], "mine: no text has 5 words of letters; give longer texts"),
        (["a b", "c d"], texts(1, 5), "the held-out real texts: no text has 5 words of letters"),
    ],
)
def test_too_little_text_is_refused(real_texts, mine, message, tmp_path):
    files = write(tmp_path / "real.jsonl", real_texts), write(tmp_path / "mine.jsonl", mine)
    with pytest.raises(MacroscopeError, match=message):
        measure_copies([files[0]], [files[1]], [], GivenFields())


def test_texts_shorter_than_an_n_gram_have_no_share_of_it(tmp_path):
    files = [
        write(tmp_path / f"{name}.jsonl", [" ".join(text.split()[-8:]) for text in texts(n, 20)])
        for n, name in enumerate("rm")
    ]
    copies = measure_copies([files[0]], [files[1]], [], GivenFields())
    assert np.isnan(excess(copies, "m", "copied_13_excess")["value"])
    assert not np.isnan(excess(copies, "m", "copied_5_excess")["value"])


def test_texts_that_share_nothing_have_no_spans(tmp_path, monkeypatch, capsys):
    real = write(tmp_path / "real.jsonl", texts(1, 12, False))
    mine = write(tmp_path / "mine.jsonl", texts(2, 12, False))
    flags = ["--reference", str(real), "--candidate", str(mine), "--output", str(tmp_path / "copies")]
    monkeypatch.setattr("sys.argv", ["macroscope", "copies", *flags])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    said = capsys.readouterr().out
    assert "copied_8" in said
    assert "Longest spans" not in said


def test_texts_of_a_prompt_are_held_out_together(tmp_path):
    records = [{"prompt": f"Prompt {n // 2}?", "text": text} for n, text in enumerate(texts(1, 60))]
    real = tmp_path / "real.jsonl"
    real.write_text("".join(json.dumps(record) + "\n" for record in records))
    copies = measure_copies([real], [write(tmp_path / "mine.jsonl", texts(2, 10))], [], GivenFields())
    prompts = [document.prompt for document in copies.documents[CONTROL]]
    assert len(prompts) == 2 * len(set(prompts)) == 30


def test_the_folder_has_tables_and_marked_texts(real, tmp_path, monkeypatch, capsys):
    mine = write(tmp_path / "mine.jsonl", [f"{texts(1, 1)[0]} and so on", *texts(2, 19)])
    output = tmp_path / "copies"
    arguments = ["copies", "--reference", str(real), "--candidate", str(mine), "--output", str(output), "--json"]
    for _ in range(2):  # a second time into the same folder
        monkeypatch.setattr("sys.argv", ["macroscope", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        printed = json.loads(capsys.readouterr().out)
    assert printed["searched"]["texts"] == 40
    assert {row["system"] for row in printed["statistics"]} == {CONTROL, "mine"}
    assert printed["longest"][0]["words"] == 60  # without the licence
    assert pd.read_csv(output / "texts.csv")["copy"].tolist()[0] == "whole"
    chunk = (output / "data" / "texts" / "mine" / "0.js").read_text()
    assert '"60 words, as in real.jsonl-1"' in chunk
    assert re.search('words, as in [^"]* other texts; common, does not count"', chunk)
    assert "Back to the report" not in (output / "index.html").read_text()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    monkeypatch.setattr("sys.argv", ["macroscope", *arguments[:-2], str(tmp_path / "other")])
    with pytest.raises(SystemExit):
        main()
    assert "holds other files; give another folder" in capsys.readouterr().err
