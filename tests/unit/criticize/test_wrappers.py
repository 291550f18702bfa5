"""Wrappers: what gives a side away beside its structure is named with its counts, and prose is not."""

import json
import random
import re
from collections import Counter

import pytest

from macroscope.criticize.checks import SURROUNDINGS, describe
from macroscope.criticize.choice import choose
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.profile import Profile, profile_texts
from macroscope.criticize.profile_table import records_of
from macroscope.criticize.run import implied_config, profile_collections
from macroscope.criticize.wrappers import Excerpt, describe_wrappers, find_wrappers

_WORDS = "the old man who had never seen snow told us that she waited at a harbour until dusk and nobody came".split()


def make_texts(number, seed, sentences=12):
    rng = random.Random(seed)
    return [
        " ".join(" ".join(rng.choices(_WORDS, k=9)).capitalize() + rng.choice(".?!") for _ in range(sentences))
        for _ in range(number)
    ]


def excerpts(texts, prompts=None):
    return [Excerpt(text, text[-40:], n if prompts is None else prompts[n]) for n, text in enumerate(texts)]


def spoken(text):
    rng = random.Random(text)
    return "\n".join(f"{rng.choice(['Ann Berg', 'Tom Hill'])}: {part}." for part in text.split(". "))


WRAPPINGS = {
    "“<|im_end|>” ends 80 of 80 candidate texts and no real one": lambda text: f"{text}<|im_end|>",
    "“<newline>” is in 80 of 80": lambda text: text.replace(". ", ". <newline> "),
    "the line “::: userstuff” is in 80 of 80": lambda text: f"::: userstuff\n{text}\n:::",
    '“{"role": "assistant” begins 80 of 80': lambda text: json.dumps({"role": "assistant", "content": text}),
    "lines begin as “": spoken,
    "lines stand several times in 80 of 80": lambda text: "\n".join(3 * text.split(". ")),
    "blanks before punctuation are in 80 of 80": lambda text: re.sub("([.?!])", r" \1", text),
    "no capitals are in 80 of 80": str.lower,
    "blank lines are in 80 of 80": lambda text: text.replace(". ", ".\n\n"),
}


@pytest.mark.parametrize("named", WRAPPINGS)
def test_wrappings_of_one_side_are_named_with_their_counts(named):
    reference, candidate = make_texts(80, 1), [WRAPPINGS[named](text) for text in make_texts(80, 2)]
    assert named in describe_wrappers(find_wrappers(excerpts(reference), excerpts(candidate)))
    backwards = describe_wrappers(find_wrappers(excerpts(candidate), excerpts(reference)))
    assert named.replace("candidate", "real").replace("no real", "no candidate") in backwards


def test_nothing_is_named_of_two_samples_of_one_process_whether_wrapped_or_not():
    for wrap in (str, *WRAPPINGS.values()):
        sides = [excerpts([wrap(text) for text in make_texts(60, seed)]) for seed in (1, 2)]
        assert find_wrappers(*sides) == []


def test_words_of_another_subject_longer_texts_and_cut_ones_are_no_wrappers():
    reference = make_texts(80, 1, sentences=4)
    subject = [text.replace("man", "lighthouse-keeper Rufus, 1903, of NASA") for text in make_texts(80, 2)]
    assert find_wrappers(excerpts(reference), excerpts(subject)) == []
    assert find_wrappers(excerpts(reference), excerpts(make_texts(80, 3, sentences=60))) == []
    assert find_wrappers(excerpts(reference), excerpts([text[:-9] for text in make_texts(80, 4)])) == []


def test_texts_of_one_prompt_are_one_unit():
    reference, candidate = make_texts(80, 1), [f"{text} </s>" for text in make_texts(80, 2)]
    assert find_wrappers(excerpts(reference), excerpts(candidate, [n % 40 for n in range(80)]))
    assert not find_wrappers(excerpts(reference), excerpts(candidate, [0] * 80))
    assert not find_wrappers(excerpts(reference[:3]), excerpts(candidate[:3]))  # chance does that


@pytest.fixture
def files(tmp_path):
    texts = {"real": make_texts(40, 1), "mine": [f"~~ {text}" for text in make_texts(40, 2)]}
    for name, each in texts.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in each))
    return [tmp_path / "real.jsonl"], [tmp_path / "mine.jsonl"]


def test_wrappers_are_said_first_and_reach_json_and_config(files):
    reference, (mine,) = profile_collections(*files)
    named = "“~~” begins 40 of 40 candidate texts and no real one"
    (sentence,) = describe(SURROUNDINGS, reference, [mine])
    assert sentence.startswith(f"⚠ More than structure gives mine away: {named}.")
    (wrapper,) = records_of(reference, [mine])[1]["given_away_by"]
    assert (wrapper["kind"], wrapper["example"], wrapper["candidate"], wrapper["reference"]) == ("begins", "~~", 40, 0)
    assert implied_config(reference, [mine], choose(reference, [mine], ["strings"]), 1)["wrapped"] == {"mine": named}


def test_a_user_who_keeps_wrappers_gets_no_warning_signs(files):
    reference, (mine,) = profile_collections(*files, GivenFields(keep_wrappers=True))
    assert mine.wrappers
    assert "wrapped" not in implied_config(reference, [mine], choose(reference, [mine], ["strings"]), 1)


@pytest.mark.parametrize(("cut", "is_said"), [(0, False), (10, False), (60, True)])
def test_texts_without_a_final_mark_are_said_if_the_sides_differ(cut, is_said, tmp_path):
    ends = ['."', ".", "?)", "!*", "。", "…"]
    texts = [f"A text number {n} has an end{ends[n % 6]}" if n >= cut else f"A text number {n} that" for n in range(80)]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    mine = profile_texts("mine", [path])
    said = describe(SURROUNDINGS, Profile("reference", words=[9] * 80), [mine])
    assert mine.unfinished == cut
    assert [s.partition(":")[0] for s in said] == (
        ["Without a final mark end 60 of 80 texts of mine, and 0 of 80 real ones"] if is_said else []
    )


def test_texts_that_records_say_were_cut_are_said(tmp_path):
    path = tmp_path / "mine.jsonl"
    records = [{"text": f"Text {n} ends.", "finish_reason": "length" if n < 9 else "stop"} for n in range(12)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    mine = profile_texts("mine", [path])
    assert mine.cut == (9, 12)
    (said,) = describe(SURROUNDINGS, Profile("reference"), [mine])
    assert said.startswith("9 of 12 texts of mine were cut at a limit, as their records say, and 0 of the reference.")
    reference = Profile("reference", languages=Counter(en=12), words=[9] * 12)
    assert implied_config(reference, [mine], choose(reference, [mine], ["strings"]), 1)["cut_texts"] == [said]
