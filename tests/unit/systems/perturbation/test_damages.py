"""Every damage: how much it touches, what it leaves, where, in which languages, and the same for the same seed."""

from collections import Counter
from itertools import pairwise

import pytest

from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.natural_language.sentences import split_sentences
from macroscope.systems.perturbation import STEPS
from macroscope.systems.perturbation.declaration import DAMAGES, LEVELS, harmful
from macroscope.systems.perturbation.generation import apply_step, require_language

from .damaging import damage, texts_of

DOSES = (0.1, 0.25, 0.5)


def numbered(name="d", sections=10):
    """Return a document of sections with two paragraphs each, 5 sentences of 4 words, and no word twice."""
    made = []
    for section in range(sections):
        sentences = [
            f"{name.upper()}{section}x{number}a {name}{section}x{number}b {name}{section}x{number}c,"
            f" {name}{section}x{number}d."
            for number in range(5)
        ]
        made.append(Section(f"Title {section}", " ".join(sentences[:2]) + "\n" + " ".join(sentences[2:])))
    return Document(name, "test", name, tuple(made))


def words(document):
    return document.text.split()


def sentences(document):
    return [sentence.strip() for section in document.sections for sentence in split_sentences(section.text)]


def moved(units):
    """Return a measure: the share of places whose unit is another one; no unit may be lost."""

    def measure(before, after):
        assert Counter(units(before)) == Counter(units(after))
        return sum(a != b for a, b in zip(units(before), units(after), strict=True)) / len(units(before))

    return measure


def changed(units):
    """Return a measure: the share of places whose unit is another one."""

    def measure(before, after):
        return sum(a != b for a, b in zip(units(before), units(after), strict=True)) / len(units(before))

    return measure


def lost(units):
    """Return a measure: the share of units that are gone; the others keep their order."""

    def measure(before, after):
        left = set(units(after))
        assert [unit for unit in units(before) if unit in left] == units(after)
        return 1 - len(units(after)) / len(units(before))

    return measure


def added(units):
    """Return a measure: units that were added, as a share of those before; without them, the text is the same."""

    def measure(before, after):
        once = [unit for number, unit in enumerate(units(after)) if number == 0 or unit != units(after)[number - 1]]
        assert once == units(before)
        return len(units(after)) / len(units(before)) - 1

    return measure


def sorted_titles(document):
    return [(section.title, section.text) for section in document.sections]


def lines(document):
    return document.text.split("\n")


def appended_words(before, after):
    assert words(after)[: len(words(before))] == words(before)
    return len(words(after)) / len(words(before)) - 1


def plain(units):
    return lambda document: [unit.strip(".,") for unit in units(document)]


def sentences_of_others(before, after):
    assert len(sentences(before)) == len(sentences(after))
    return changed(sentences)(before, after)


MEASURES = {
    "shuffle_words": moved(words),
    "swap_adjacent_words": moved(words),
    "drop_words": lost(plain(words)),
    "repeat_words": added(words),
    "shuffle_sentences": moved(sentences),
    "switch_sentences": moved(sentences),
    "replace_sentences": sentences_of_others,
    "repeat_sentences": added(sentences),
    "repeat_paragraphs": added(lines),
    "repeat_last_ngram": appended_words,
    "remove_sentences": lost(sentences),
    "shuffle_sections": moved(sorted_titles),
    "drop_sections": lost(sorted_titles),
    "repeat_sections": added(sorted_titles),
    "replace_sections": changed(texts_of),
    "truncate": lost(words),
    "swap_first_halves": changed(words),
    "drift_topic": changed(words),
    "splice_documents": changed(words),
    "shuffle_blocks": moved(words),
}
"""Damages whose dose is a share of all units of a text -> share that a damaged text shows."""


@pytest.mark.parametrize("dose", DOSES)
@pytest.mark.parametrize("rule", MEASURES)
def test_the_share_of_touched_units_is_the_dose(rule, dose):
    before = numbered()
    options = {"words": 5} if rule == "shuffle_blocks" else {}
    if DAMAGES[rule].joins:
        after = damage(rule, [before, numbered("e")], dose, **options)[0]
    else:
        after = damage(rule, before, dose, **options)
    # Of five sentences of a section, a tenth is one, which changes places with another one.
    expected = {"shuffle_sentences": {0.1: 0.4, 0.25: 0.4, 0.5: 0.4}, "shuffle_sections": {0.1: 0.2}}
    tolerance = 0.06 if DAMAGES[rule].level in ("sections", "sentences") or rule == "splice_documents" else 0.02
    assert MEASURES[rule](before, after) == pytest.approx(expected.get(rule, {}).get(dose, dose), abs=tolerance)


def differing(split):
    """Return a measure: the number of parts that differ."""
    return lambda before, after: sum(a != b for a, b in zip(split(before), split(after), strict=True))


def removed(before, after):
    return len(before.split()) - len(after.split())


SPECIAL = {
    "noise_punctuation": ("One, two. " * 20, 40, differing(list)),
    "lemmatize_words": ("Owls saw mice. " * 20, 60, differing(str.split)),
    "swap_numbers": (" ".join(f"It was {number}." for number in range(40)), 40, differing(str.split)),
    "remove_articles": ("The owl saw a mouse. " * 20, 40, removed),
    "remove_stop_words": ("It was there, Owls! " * 20, 60, removed),
    "negate_sentences": ("Owls are wise. Mice cannot fly. It rained. " * 20, 40, differing(split_sentences)),
    "swap_pronouns": ("He saw her. " * 20, 40, differing(str.split)),
    "swap_times": ("In 1912 or 1950, before or after. " * 20, 80, differing(str.split)),
    "replace_synonyms": ("A big house, Many roads. " * 10, 30, differing(str.split)),
    "replace_spellings": ("The colour of the grey Harbor. " * 10, 30, differing(str.split)),
    "contract_words": ("They do not go. It’s late. " * 20, 40, differing(split_sentences)),
    "replace_quotes": ('"It\'s" - so. ' * 10, 40, differing(list)),
    "move_paragraph_breaks": ("One is. Two is.\n" * 20 + "Three is.", 40, differing(list)),
}
"""Damages of special places -> (a text, its number of such places, measure of changed ones)."""


@pytest.mark.parametrize("dose", [0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("rule", SPECIAL)
def test_the_share_of_special_places_is_the_dose(rule, dose):
    text, number, measure = SPECIAL[rule]
    after = damage(rule, Document("d", "test", None, (Section("Title", text),)), dose).text
    # If all numbers are in random order, one of them is in its place on average.
    assert measure(text, after) == pytest.approx(dose * number, abs=4 if rule == "swap_numbers" else 0.5)


@pytest.mark.parametrize("rule", [name for name, declared in DAMAGES.items() if declared.keeps_length])
@pytest.mark.parametrize("dose", DOSES)
def test_damages_that_keep_the_length_change_it_by_few_percent(rule, dose):
    text = SPECIAL[rule][0] if rule in SPECIAL else numbered().sections[0].text
    before = [Document(name, "test", None, (Section("T", text), *numbered(name).sections)) for name in "abcd"]
    joins = DAMAGES[rule].joins
    after = damage(rule, before, dose) if joins else [damage(rule, document, dose) for document in before]
    for old, new in zip(sorted(before, key=lambda d: d.id), sorted(after, key=lambda d: d.id), strict=True):
        assert len(words(new)) == pytest.approx(len(words(old)), rel=0.1)


@pytest.mark.parametrize("position", ["beginning", "middle", "end"])
@pytest.mark.parametrize("rule", ["drop_words", "repeat_sentences", "shuffle_words", "drop_sections"])
def test_damages_are_where_they_are_wanted(rule, position):
    before = numbered()
    after = words(damage(rule, before, 0.2, position=position))
    old, third = words(before), len(words(before)) // 3
    is_same = {
        "beginning": after[-third:] == old[-third:],
        "end": after[:third] == old[:third],
        "middle": after[:third] == old[:third] and after[-third:] == old[-third:],
    }
    assert is_same[position]
    assert after != old


def test_repeated_ngrams_are_the_last_four_words():
    before = Document("d", "test", None, (Section(None, "One two three four five six."),))
    assert damage("repeat_last_ngram", before, 0.5).text == "One two three four five six. three four five six."


@pytest.mark.parametrize(("dose", "copies"), [(0.25, 2), (0.5, 4), (1.0, 8)])
def test_duplicated_documents_have_the_text_of_others(dose, copies):
    before = [numbered(name) for name in "abcdefgh"]
    after = damage("duplicate_documents", before, dose)
    assert [document.id for document in after] == list("abcdefgh")
    same = [new.sections == old.sections for new, old in zip(after, before, strict=True)]
    assert same.count(False) == pytest.approx(copies, abs=2 if dose == 1 else 0)
    assert all(document.sections in [old.sections for old in before] for document in after)


def test_collages_have_sections_of_several_documents():
    before = [numbered(name) for name in "abcdefgh"]
    after = damage("scramble_documents", before, 0.25)
    collages = [new for new, old in zip(after, before, strict=True) if new != old]
    assert len(collages) == 2
    assert all(len({section.text[0] for section in collage.sections}) > 1 for collage in collages)
    assert all(
        [section.title for section in collage.sections] == [f"Title {n}" for n in range(10)] for collage in collages
    )


def test_documents_in_another_order_are_the_same_documents():
    before = [numbered(name) for name in "abcdefgh"]
    after = damage("shuffle_documents", before, 0.5)
    assert sorted(after, key=lambda document: document.id) == before
    assert sum(new is not old for new, old in zip(after, before, strict=True)) == 4


def test_headings_in_capitals_leave_the_texts():
    before = numbered()
    after = damage("recase_headings", before, 0.5)
    assert texts_of(after) == texts_of(before)
    assert sum(section.title.isupper() for section in after.sections) == 5
    assert [section.title.lower() for section in after.sections] == [f"title {n}" for n in range(10)]


def test_negated_sentences_and_affirmed_ones():
    before = Document("d", "test", None, (Section(None, "Owls are wise. They cannot swim. It rained. Is it so?"),))
    after = "Owls are not wise. They can swim. It rained. Is not it so?"
    assert damage("negate_sentences", before, 1.0).text == after


def test_numbers_change_places():
    before = Document("d", "test", None, (Section(None, "In 1912, 3.5 of 40."), Section(None, "Only 7.")))
    after = damage("swap_numbers", before)
    numerals = [word.strip(".,") for word in words(after) if word[0].isdigit()]
    assert sorted(numerals) == ["1912", "3.5", "40", "7"]
    assert numerals != ["1912", "3.5", "40", "7"]
    assert damage("swap_numbers", Document("d", "test", None, (Section(None, "In 1912."),))).text == "In 1912."


def test_there_are_enough_damages_and_each_harmful_one_has_a_harmless_twin_of_its_own():
    assert len(harmful()) >= 24
    assert sum(declared.is_harmless for declared in DAMAGES.values()) >= 6
    for declared in harmful():
        assert DAMAGES[declared.twin].is_harmless
        assert declared.level in LEVELS
        assert declared.summary.endswith(".")


@pytest.mark.parametrize("rule", DAMAGES)
def test_a_damage_of_nothing_is_nothing(rule):
    nothing = Document("d", "test", None, (Section(None, "…"),))
    (after,) = apply_step([nothing], STEPS[rule](rule=rule), "en", (1,))
    assert after.id == "d"


@pytest.mark.parametrize("language", ["zh", "ar", "de", "ta"])
@pytest.mark.parametrize("rule", DAMAGES)
def test_every_damage_works_in_a_language_or_says_that_it_cannot(rule, language):
    text = {
        "zh": "他去了城市。那里有很多人，他们很高兴。第二天他回家了。",
        "ar": "ذهب إلى المدينة. كان هناك كثير من الناس، وكانوا سعداء. عاد إلى البيت.",
        "de": "Er ging in die Stadt. Dort waren viele Menschen, und sie waren froh. Dann kam er zurück.",
        "ta": "அவர் நகரத்திற்குச் சென்றார். அங்கே பலர் இருந்தனர், மகிழ்ச்சி. அவர் திரும்பினார்.",
    }[language]
    step = STEPS[rule](rule=rule)
    if step.damage.lacks(language, **step.own_options) is not None:
        with pytest.raises(MacroscopeError, match=r"^here: .*omit the step"):
            require_language(step, language, "here")
        return
    documents = [Document(name, "test", None, (Section("T", text), Section("U", text))) for name in "ab"]
    after = apply_step(documents, step, language, (1,))
    assert {document.id for document in after} == {"a", "b"}
    assert all(first != second for first, second in pairwise(sorted(document.id for document in after)))
