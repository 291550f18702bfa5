"""The command: systems that repeat themselves, that share prompts, and bad input."""

import json
import random

import numpy as np
import pytest

from macroscope.criticize.inputs import GivenFields
from macroscope.errors import MacroscopeError
from macroscope.sameness import texts as sameness_texts
from macroscope.sameness.measure import REFERENCE, measure_sameness
from macroscope.sameness.page import (
    DIVERSITY,
    PAGE,
    PHRASES,
    TABLE,
    describe_diversity,
    list_common_phrases,
    list_differing,
    list_first_phrases,
    require_replaceable_folder,
    summarize,
    write_page,
)
from macroscope.sameness.views import VIEWS

WORDS = 40
WRITING = "and so it was in the end"


def make_text(generator, types, ending=""):
    words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in (generator.randrange(types) for _ in range(WORDS + 10))]
    text = " ".join(word + ("." if generator.random() < 0.1 else "") for word in words)
    return f"{text} {ending}"


def write(path, seed, types=600, prompts=20, samples=1, ending="", prompt="prompt {}"):
    generator = random.Random(seed)
    with path.open("w") as file:
        for n in range(prompts):
            for k in range(samples):
                row = {"id": f"{n}-{k}", "text": make_text(generator, types, ending), "prompt": prompt.format(n)}
                file.write(json.dumps(row) + "\n")
    return path


def measure(reference, candidates, words=WORDS, **options):
    return measure_sameness(reference, candidates, GivenFields(), "en", words, 1, **options)


def value(sameness, system, second, statistic, view="wording"):
    table = sameness.table
    rows = table[
        (table["system"] == system)
        & (table["other"] == second)
        & (table["statistic"] == statistic)
        & (table["view"] == view)
    ]
    return rows.iloc[0]


@pytest.fixture(autouse=True)
def first_words(monkeypatch):
    """Vectors of the first word, for speed: texts mean the same if they begin with the same word."""

    def embed(texts, encoder, words, language):
        first = [[document.text.split()[0] for document in each.documents] for each in texts]
        names = sorted({word for each in first for word in each})
        return [np.eye(len(names), dtype=np.float32)[[names.index(word) for word in each]] for each in first]

    monkeypatch.setattr("macroscope.sameness.measure.embed_texts", embed)


@pytest.fixture
def files(tmp_path):
    real = write(tmp_path / "real.jsonl", 0)
    few = write(tmp_path / "few.jsonl", 1, types=60, ending=WRITING)
    many = write(tmp_path / "many.jsonl", 2, samples=2)
    return real, few, many


@pytest.mark.slow
def test_a_system_of_few_words_repeats_itself(files, tmp_path, monkeypatch):
    views = [view for view in VIEWS if view.name in ("wording", "openings")]
    monkeypatch.setattr("macroscope.sameness.measure.choose_views", lambda language: views)
    sameness = measure(files[:1], files[1:])
    assert sameness.systems == ["few", "many", REFERENCE]
    excess = value(sameness, "few", "", "self_excess")
    assert excess["ci_low"] > 0
    assert excess["p_adjusted"] < 0.002
    even = value(sameness, "many", "", "self_excess")
    assert even["ci_low"] < 0 < even["ci_high"]
    assert value(sameness, "many", "many", "same_prompt")["shared"] == 20
    assert "same_prompt" not in set(sameness.table.query("system == 'few' and other == 'few'")["statistic"])
    (phrase,) = sameness.phrases[sameness.phrases["system"] == "few"].to_dict("records")
    assert (phrase["phrase"], phrase["place"], phrase["prompts"]) == (WRITING, "end", 20)
    differing = list_differing(sameness)
    assert summarize(differing).set_index("view").loc["wording", "repeat themselves more"] == 1
    named = differing[(differing["view"] == "wording") & (differing["difference"] == "repeat themselves more")]
    assert named["systems"].tolist() == [["few"]]
    first = list_first_phrases(sameness).to_dict("records")
    assert {"system": "few", "kind": "phrase", "phrase": WRITING, "texts": 20, "of": 20, "real": 0} in first
    write_page(sameness, tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert WRITING in page
    assert page.count("<svg") == 9  # three figures of all views, two matrices per view
    require_replaceable_folder(tmp_path / "out")


@pytest.mark.slow
def test_one_system_without_real_texts_has_a_page(files, tmp_path):
    sameness = measure([], files[1:2])
    write_page(sameness, tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "No real texts were given" in page
    assert "Phrases of the most systems" not in page
    assert page.count("<svg") == 2
    assert sameness.table["p_value"].isna().all()
    assert list_differing(sameness).empty
    assert "phrase" in list_first_phrases(sameness)


def diversity(sameness, system, scope, statistic, k, second=None):
    table = sameness.diversity.table
    keys = {"system": system, "other": second or system, "scope": scope, "statistic": statistic, "k": k}
    rows = table[np.logical_and.reduce([table[name] == value for name, value in keys.items()])]
    return rows[rows["quality"].isna()].iloc[0]


def write_stories(path, prompts, beginnings, words=60):
    """Write texts that begin with the given words, several of each prompt."""
    with path.open("w") as file:
        for n in range(prompts):
            for k, beginning in enumerate(beginnings(n)):
                text = f"{beginning} " + " ".join(f"w{n}x{k}x{i}" for i in range(words))
                file.write(json.dumps({"id": f"{n}-{k}", "prompt": f"prompt {n}", "text": text}) + "\n")
    return path


def test_different_texts_are_counted_on_a_prompt_and_across(tmp_path):
    tuned = write_stories(tmp_path / "tuned.jsonl", 20, lambda n: ["alike"] * 3 + [f"other{n}"])
    free = write_stories(tmp_path / "free.jsonl", 20, lambda n: [f"a{n}", f"b{n}", f"c{n}", f"d{n}"])
    sameness = measure([], [tuned, free])
    assert diversity(sameness, "tuned", "same_prompt", "distinct_k", 4)["value"] == 2
    assert diversity(sameness, "free", "same_prompt", "distinct_k", 4)["value"] == 4
    # For k = 2, three of six pairs are equal.
    assert diversity(sameness, "tuned", "same_prompt", "distinct_k", 2)["value"] == pytest.approx(1.5, abs=0.1)
    assert diversity(sameness, "free", "other_prompts", "distinct_k", 10)["value"] == 10
    assert diversity(sameness, "all systems", "across_systems", "distinct_k", 2)["value"] == 2
    difference = diversity(sameness, "tuned", "same_prompt", "distinct_k_difference", 4, "free")
    assert difference["value"] == -2
    assert difference["p_adjusted"] < 0.001
    (first, *_) = describe_diversity(sameness.diversity)
    assert first.startswith("tuned has 2 fewer different texts than free among 4 texts of one prompt")


def test_self_bleu_is_that_of_sacrebleu(tmp_path):
    from sacrebleu import BLEU

    path = write_stories(tmp_path / "mine.jsonl", 1, lambda n: ["one two", "one two three", "one"])
    value = diversity(measure([], [path]), "mine", "same_prompt", "self_bleu", 3)["value"]
    texts = [" ".join(json.loads(line)["text"].split()[:WORDS]) for line in path.read_text().splitlines()]
    bleu = BLEU(effective_order=True)
    expected = [bleu.sentence_score(text, [t for t in texts if t != text]).score for text in texts]
    assert value == pytest.approx(np.mean(expected), abs=0.01)


def test_good_texts_are_compared_by_themselves(tmp_path):
    path = write_stories(tmp_path / "tuned.jsonl", 12, lambda n: ["alike", "alike", f"b{n}", f"c{n}"])
    ratings = tmp_path / "ratings.csv"
    rows = [f"tuned,{n}-{k},{score}" for n in range(12) for k, score in enumerate((1, 5, 4, 3))]
    ratings.write_text("\n".join(["system,document,score", *rows]))
    table = measure([], [path], ratings=str(ratings), quality=3).diversity.table
    good = table[(table["quality"] == 3) & (table["scope"] == "same_prompt") & (table["statistic"] == "distinct_k")]
    assert dict(zip(good["k"], good["value"], strict=True)) == {2: 2, 3: 3}
    ratings.write_text("system,document,score\nanother,1,2")
    with pytest.raises(MacroscopeError, match="no score of these texts"):
        measure([], [path], ratings=str(ratings))


def test_three_texts_of_fifty_words_have_numbers_and_a_page(tmp_path):
    path = write_stories(tmp_path / "mine.jsonl", 1, lambda n: ["a", "b", "b"], words=49)
    sameness = measure([], [path], None)
    assert diversity(sameness, "mine", "same_prompt", "distinct_k", 3)["value"] == 2
    write_page(sameness, tmp_path / "out")
    assert "Among 3 texts of one prompt" in (tmp_path / "out" / "index.html").read_text()


def test_one_prompt_has_intervals_over_its_texts(tmp_path):
    path = write_stories(tmp_path / "mine.jsonl", 1, lambda n: "aaaaabbbbbcdefghijkl")
    row = diversity(measure([], [path]), "mine", "same_prompt", "distinct_k", 5)
    assert row["ci_low"] < row["value"] < row["ci_high"]


def test_the_same_file_twice_is_as_similar_on_a_prompt_as_possible(files):
    sameness = measure([], [files[0], files[0]])
    first, second = sameness.systems
    assert value(sameness, first, second, "same_prompt")["value"] == pytest.approx(1)


def test_systems_without_common_prompts_are_compared_on_others(tmp_path, files):
    apart = write(tmp_path / "apart.jsonl", 3, prompt="another {}")
    sameness = measure(files[:1], [apart])
    rows = sameness.table[sameness.table["other"] == REFERENCE]
    assert "same_prompt" not in set(rows.loc[rows["system"] == "apart", "statistic"])
    assert "between_excess" not in set(sameness.table["statistic"])


def test_phrases_of_several_systems_are_listed(files):
    sameness = measure([], [files[1], files[1]])
    assert WRITING in list_common_phrases(sameness.phrases)["phrase"].tolist()


@pytest.mark.parametrize("text", ["😀 😁 " * 50, "... !!! " * 50, "word " * 100, "One dog ran home. " * 30])
def test_texts_without_variety_have_intervals_that_hold_their_values(tmp_path, files, text):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"prompt {n}", "text": text}) + "\n" for n in range(20)))
    sameness = measure(files[:1], [path, files[1]])
    limited = sameness.table.dropna(subset="ci_low")
    assert len(limited) > 50
    assert (limited["ci_low"] <= limited["value"]).all()
    assert (limited["value"] <= limited["ci_high"]).all()
    if not any(map(str.isalpha, text)):
        assert value(sameness, "mine", "mine", "other_prompts", "openings")["value"] == 0


def test_nothing_in_common_has_an_interval_by_the_number_of_prompts(tmp_path, files):
    # The upper end for no matches among n: near 3 / n, the rule of three; and 0 width would be certainty.
    path = tmp_path / "mine.jsonl"
    texts = (" ".join(f"a{chr(97 + n)}{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(WORDS)) for n in range(20))
    path.write_text("".join(json.dumps({"prompt": f"prompt {n}", "text": text}) + "\n" for n, text in enumerate(texts)))
    row = value(measure([], [path]), "mine", "mine", "other_prompts")
    assert (row["value"], row["ci_low"]) == (0, 0)
    assert 0.5 / 20 < row["ci_high"] < 3 / 20


def test_few_prompts_have_values_alone(tmp_path, files, caplog):
    few = write(tmp_path / "mine.jsonl", 1, prompts=9)
    sameness = measure(files[:1], [few])
    of_few = sameness.table[sameness.table["system"] == "mine"]
    assert of_few["value"].notna().all()
    assert of_few[["ci_low", "p_value"]].isna().all(axis=None)
    assert "mine: 9 prompts with texts of 40 words or more" in caplog.text
    write_page(sameness, tmp_path / "out")


def test_short_texts_are_compared_by_the_words_that_nine_in_ten_have(files, caplog):
    sameness = measure(files[:1], files[1:2], None)
    assert sameness.words == WORDS + 10
    assert "the first 50 words of each text are compared, not 400" in caplog.text


@pytest.mark.parametrize(("prompts", "words"), [(1, WORDS), (20, 300)])
def test_too_few_texts_are_a_short_error(tmp_path, prompts, words):
    path = write(tmp_path / "mine.jsonl", 1, prompts=prompts)
    number = prompts if words == WORDS else 0
    with pytest.raises(MacroscopeError, match=rf"mine: too few texts of {words} words or more \({number}\)"):
        measure([], [path], words)


def test_prompts_beyond_the_largest_number_are_left_out_and_counted(files, monkeypatch):
    monkeypatch.setattr(sameness_texts, "MOST_PROMPTS", 12)
    sameness = measure(files[:1], files[2:])
    many, real = sameness.texts
    assert (len(many.documents), many.unused, len(real.documents), real.unused) == (24, 16, 12, 8)
    assert np.array_equal(np.unique(many.prompts), np.unique(real.prompts))


def test_folders_of_others_are_not_replaced(tmp_path):
    (tmp_path / "novel.txt").write_text("mine")
    with pytest.raises(MacroscopeError, match="holds other files"):
        require_replaceable_folder(tmp_path)
    require_replaceable_folder(tmp_path / "absent")
    for name in (PAGE, TABLE, DIVERSITY, PHRASES, "within.svg"):
        (tmp_path / "earlier").mkdir(exist_ok=True)
        (tmp_path / "earlier" / name).touch()
    require_replaceable_folder(tmp_path / "earlier")
    (tmp_path / "earlier" / "notes.txt").write_text("mine, on the page")
    with pytest.raises(MacroscopeError, match="holds other files"):
        require_replaceable_folder(tmp_path / "earlier")


def test_few_prompts_with_few_texts_are_compared_at_all_their_texts(tmp_path):
    path = write_stories(tmp_path / "mine.jsonl", 7, lambda n: [f"a{n}", f"b{n}", "c", "d", "e"])
    assert diversity(measure([], [path]), "mine", "same_prompt", "distinct_k", 5)["value"] == 5
