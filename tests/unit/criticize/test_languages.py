"""The languages and the typesetting of a user's texts: recognized, counted, and said where both sides differ."""

import json
from collections import Counter

import pytest

from macroscope.criticize.checks import LANGUAGES, TEXTS, describe, describe_languages
from macroscope.criticize.choice import choose, default_critics
from macroscope.criticize.profile import Profile, choose_language, languages_differ, profile_texts
from macroscope.criticize.profile_table import table_of
from macroscope.criticize.run import implied_config, profile_collections
from macroscope.errors import MacroscopeError
from macroscope.natural_language.languages import name_of
from macroscope.natural_language.typesetting import (
    count_marks,
    describe_marks,
    different_families,
    straighten,
)
from tests.unit.natural_language.samples import SAMPLES


def write(path, texts):
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


def describe_counts(checks, counted, reference, candidates, requested=None):
    """Return the sentences of checks of profiles that have nothing but one kind of counts."""
    real, *others = (
        Profile(name, **{counted: counts}) for name, counts in {"reference": reference, **candidates}.items()
    )
    return describe(checks, real, others, requested)


def describe_differences(reference, candidates, requested):
    return describe_counts(LANGUAGES, "languages", reference, candidates, requested)


def describe_typesetting(reference, candidates):
    return describe_counts(TEXTS, "marks", reference, candidates)


@pytest.mark.parametrize(
    ("languages", "requested", "chosen"),
    [({"de": 9, "?": 1}, None, "de"), ({"de": 9}, "nl", "nl"), ({"?": 9, "de": 3}, None, "en"), ({}, None, "en")],
)
def test_most_texts_decide_unless_the_user_does(languages, requested, chosen):
    assert choose_language(Counter(languages), requested) == chosen


def test_a_wrong_language_is_one_sentence():
    with pytest.raises(MacroscopeError, match="'klingon' is not a language; choose from"):
        choose_language(Counter(), "klingon")


def test_a_mismatch_is_said_with_the_shares_of_both_sides():
    reference, mine, same = Counter(de=98, en=2), Counter(en=49, **{"?": 1}), Counter(de=50)
    (sentence,) = describe_differences(reference, {"mine": mine, "same": same}, None)
    assert sentence.startswith("Languages differ: the reference has German (de) 98%, English (en) 2%, and mine has")
    assert "English (en) 98%, unknown 2%" in sentence
    assert not languages_differ(reference, same)
    assert not languages_differ(reference, Counter({"?": 50}))  # nothing is known of them


def test_shares_are_rounded_and_say_all_or_none_only_if_it_is_so():
    shares = describe_languages(Counter(en=667, de=332, nl=1))
    assert shares == "English (en) 67%, German (de) 33%, Dutch (nl) <1%"
    assert describe_languages(Counter(en=999, de=1)) == "English (en) >99%, German (de) <1%"
    assert describe_languages(Counter(en=9)) == "English (en) 100%"


def test_languages_that_are_not_clear_or_not_the_requested_are_said():
    (unclear,) = describe_differences(Counter({"?": 9}), {}, None)
    assert unclear.endswith("They are read as English; give ⟨language⟩.")
    (difference,) = describe_differences(Counter(en=9), {}, "de")
    assert difference == "The texts are read as German, but most of the reference is English."
    assert describe_differences(Counter({"?": 9}), {}, "de") == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "ru", "zh"])
def test_the_language_of_the_texts_reaches_critics_and_config(language, tmp_path):
    text = "".join(SAMPLES[language].sentences)
    path = write(tmp_path / "r.jsonl", [f"{5 * text} {n}" for n in range(120)])
    profile, profiles = profile_collections([path], [path])
    assert profile.languages == Counter({language: 120})
    choice = choose(profile, profiles, [], choose_language(profile.languages, None))
    with_english_encoders = {"clusters", "narrative"}
    left_out = set(default_critics()) - set(choice.critics)
    # Each text has the same words, so that none tells topics apart.
    assert left_out == {"coherence", "coreference", "topics"} | (set() if language == "de" else with_english_encoders)
    trained = "the encoder 'minilm' was trained on English"
    if language == "de":
        assert sum(trained in limit for limit in choice.limits) == 2
    else:
        unread = {entry.critic: entry.reason for entry in choice.gaps if trained in entry.explanation}
        assert unread == dict.fromkeys(("clusters", "coherence", "narrative"), f"does not read {name_of(language)}")
    assert implied_config(profile, profiles, choice, 1, language)["corpora"]["reference"]["language"] == language


@pytest.mark.slow
def test_spanish_he_is_no_english_person(tmp_path):
    texts = ["Hoy he hablado sobre el libro con mi hermano. Yo he vivido por un sueño."] * 3
    assert profile_texts("r", [write(tmp_path / "r.jsonl", texts)]).with_persons == 0
    english = ["He spoke about the book with my brother, and she listened to every word."]
    assert profile_texts("r", [write(tmp_path / "e.jsonl", english)]).with_persons == 1


def test_a_chinese_profile_counts_words(tmp_path):
    profile = profile_texts("r", [write(tmp_path / "r.jsonl", ["我们在北京大学学习自然语言。"])])
    assert profile.words == [8]


STRAIGHT = '"No," he said -- it wasn\'t late... "Yes" - 5-6 o\'clock. '
CURLY = "“No,” he said — it wasn’t late… “Yes” – 5-6 o’clock.\u00a0"


def test_marks_are_counted_by_kind():
    marks = describe_marks(count_marks(STRAIGHT + CURLY))
    assert marks == {
        "quotation marks": '"  50%, “ ”  50%',
        "apostrophes": "'  50%, ’  50%",
        "dashes": "-  25%, --  25%, –  25%, —  25%",
        "ellipses": "...  50%, …  50%",
        "spaces": "plain  95%, no-break  5%",
    }
    assert describe_marks(count_marks("A plain text.")) == {}


def test_typesetting_that_differs_is_said():
    straight, curly = count_marks(20 * STRAIGHT), count_marks(20 * CURLY)
    (sentence,) = describe_typesetting(straight, {"mine": curly, "same": straight, "yours": curly})
    families = "quotation marks, apostrophes, dashes, ellipses, spaces"
    assert sentence.startswith(f"Typesetting differs from the reference: {families} in mine, yours. ")
    assert sentence.endswith("⟨straighten_typography⟩ brings both sides to the same kinds.")
    dashed = count_marks(20 * STRAIGHT.replace("...", "…"))
    (sentence,) = describe_typesetting(straight, {"mine": curly, "theirs": dashed})
    assert f": {families} in mine, ellipses in theirs. " in sentence
    assert different_families(straight, count_marks("“Two”")) == []  # too few to tell


def test_the_sentence_about_capitals_does_not_promise_to_straighten_them():
    capitals = count_marks(40 * "She went HOME. “Well.” ")
    marks, words = describe_typesetting(count_marks(40 * 'She went home. "Well." '), {"mine": capitals})
    assert marks.startswith("Typesetting differs from the reference: quotation marks in mine. ")
    assert words.startswith("Capitals differ from the reference: words with capitals in mine. ")
    assert words.endswith("Bring both sides to the same kinds.")


@pytest.mark.parametrize(
    ("text", "straight", "marks"),
    [
        ("“Well,” he said, ‘it’s late’…", "\"Well,\" he said, 'it's late'...", 6),
        ("She left—for good – in 1990–1995--or so.", "She left - for good - in 1990-1995 - or so.", 4),
        ("“But I—”\n— Hello.\n-- Yes", '"But I -"\n- Hello.\n- Yes', 5),
        ("a\u00a0b\u3000c\u200bd . . . e\u00adf", "a b cd ... ef", 5),
        ("« mot » «\u00a0mot\u00a0» „Wort“ 「語」", '" mot " "mot" "Wort" "語"', 8),
        ("Rule:\n---\n| --- | -->\n<!-- note -->\nwell-known, -5, a - b...", None, 0),
    ],
)
def test_marks_become_those_of_a_keyboard(text, straight, marks):
    assert straighten(text) == (text if straight is None else straight, marks)


def test_both_sides_have_the_same_kinds_once_they_are_straight():
    straight = [count_marks(straighten(20 * text)[0]) for text in (STRAIGHT, CURLY)]
    assert describe_typesetting(straight[0], {"mine": straight[1]}) == []


@pytest.mark.slow
def test_the_profile_says_where_both_sides_differ(tmp_path):
    german, english = "Er sagte „nein“ zu ihr und ging nach Hause. ", 'He said "no" to her and went home in the rain. '
    reference, mine = (write(tmp_path / f"{n}.jsonl", [20 * text]) for n, text in enumerate((german, english)))
    profiles = [profile_texts(name, [path]) for name, path in (("reference", reference), ("mine", mine))]
    table = table_of(profiles[0], profiles[1:])
    assert table.loc["differs from the reference in", "mine"] == "languages, quotation marks"
    assert table.loc["language"].tolist() == ["German (de) 100%", "English (en) 100%"]


@pytest.fixture
def in_two_languages(tmp_path):
    """An English reference, a candidate of the same language, one in Chinese."""
    english = "The old man walked to the harbour in the morning. He saw that she had waited there, and he was glad."
    files = {"real": english, "same": english, "mine": "".join(SAMPLES["zh"].sentences)}
    return {name: write(tmp_path / f"{name}.jsonl", [f"{3 * t} {n}" for n in range(80)]) for name, t in files.items()}


@pytest.mark.slow
def test_a_candidate_in_another_language_is_left_out_by_critics_that_cannot_read_it(in_two_languages):
    files = in_two_languages
    profile, profiles = profile_collections([files["real"]], [files["mine"], files["same"]])
    choice = choose(profile, profiles, [])
    assert {"clusters", "coreference"} <= set(choice.critics)
    assert {"clusters", "coreference"} <= {entry.critic for entry in choice.gaps if entry.system == "mine"}
    unread = next(entry for entry in choice.gaps if (entry.critic, entry.system) == ("clusters", "mine"))
    assert unread.reason == "does not read Chinese"
    assert unread.explanation.startswith("most of 'mine' is Chinese, and the encoder 'minilm' was")
    assert f"do not judge 'mine', each for this reason: {unread.explanation}." in " ".join(choice.reasons)
    comparisons = implied_config(profile, profiles, choice, 1)["comparisons"]
    assert [comparison["systems"] for comparison in comparisons] == [["mine"], ["same"]]
    assert {"strings", "tendencies"} <= set(comparisons[0]["critics"]) < set(comparisons[1]["critics"])


@pytest.mark.slow
def test_a_critic_that_can_judge_no_candidate_is_left_out_unless_it_is_requested(in_two_languages):
    files = in_two_languages
    profile, profiles = profile_collections([files["real"]], [files["mine"]])
    choice = choose(profile, profiles, [])
    assert not {"clusters", "narrative", "coreference"} & set(choice.critics)
    (reason,) = [reason for reason in choice.reasons if "'clusters'" in reason]
    assert "are left out, each for this reason: most of 'mine' is Chinese, and the encoder 'minilm'" in reason
    assert choose(profile, profiles, ["clusters"]).critics == ["clusters"]
