"""The checks of profiles: a table of conditions that limit a comparison, and of the sentences that tell the user.

The condition of a row returns facts about a collection beside the reference, or nothing. Its sentence is a format of
these facts; collections with equal facts share it. `{number:text}` becomes "1 text" or "2 texts", and `{number:is|are}`
the form that the number needs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, TypeAlias
from unicodedata import normalize

from macroscope.criticize.copied_texts import tell_copies
from macroscope.criticize.inputs import CORPUS, without_suffixes
from macroscope.criticize.profile import Profile, choose_language, languages_differ
from macroscope.criticize.wrappers import describe_wrappers
from macroscope.natural_language.detection import UNKNOWN, main_language
from macroscope.natural_language.languages import name_of
from macroscope.natural_language.typesetting import STRAIGHT, different_families
from macroscope.options import KEPT_NAMES, fit_for_paths
from macroscope.phrases import WORDS, format_share, group_names, list_names, of_each
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, minimum_detectable_auc
from macroscope.statistics.document_groups import FEWEST_PROMPTS
from macroscope.statistics.proportions import exact_test

_LARGE_AUC = 0.65
"""Detectability that only clear differences have; collections that show no smaller one are called few."""
_OTHER_LENGTH = 2.0
"""Ratio of median lengths from which on length alone tells texts apart."""
_OTHER_ENDS = 0.2
"""Difference between shares of texts without a final mark from which on the texts may be cut."""
_LEVEL_OF_ENDS = 0.01
_MANY_REPEATED = 0.5
_MANY_EMPTY = 0.1
"""Share of records without text from which on the verdict is about a part of what a model wrote."""

Facts: TypeAlias = Mapping[str, Any]
Condition: TypeAlias = Callable[[Profile, Profile], Facts | None]


@dataclass(frozen=True)
class Check:
    """A row of the table.

    Attributes
    ----------
    name
        Name of the property that is checked.
    collections
        Collections that it is about.
    condition
        Function of the reference and of a collection that returns the facts to tell.
    sentence
        Format of the facts, of `names` of the collections, and of their number as `collections`.
    each
        Format of the part of each collection, if one sentence with `{each}` tells of all.
    """

    name: str
    collections: Literal["reference", "candidates", "all"]
    condition: Condition
    sentence: str
    each: str | None = None

    def describe(self, facts: Mapping[str, Facts]) -> Iterator[str]:
        """Yield the sentences about collections, by their names."""
        groups = group_names({name: tuple(values.items()) for name, values in facts.items()})
        fields = [
            {**dict(items), "names": list_names(names), "of": of_each(names), "collections": len(names)}
            for items, names in groups.items()
        ]
        if self.each is not None and fields:
            fields = [fields[0] | {"each": list_names([WORDS.format(self.each, **values) for values in fields])}]
        yield from (WORDS.format(self.sentence, **values) for values in fields)


def describe(
    checks: Sequence[Check], reference: Profile, candidates: Sequence[Profile], language: str | None = None
) -> list[str]:
    """Return the sentences of checks for the user.

    Parameters
    ----------
    language
        Language that the user requests, if any.
    """
    reference = replace(reference, requested_language=language)
    collections = {"reference": [reference], "candidates": candidates, "all": [reference, *candidates]}
    sentences: list[str] = []
    for check in checks:
        facts = {texts.name: check.condition(reference, texts) for texts in collections[check.collections]}
        sentences += check.describe({name: values for name, values in facts.items() if values})
    return sentences


def describe_languages(languages: Counter[str]) -> str:
    """Return the shares of the three most frequent languages, in words."""
    common = sorted(languages.items(), key=lambda item: (-item[1], item[0]))[:3]
    named = {code: "unknown" if code == UNKNOWN else f"{name_of(code)} ({code})" for code, _ in common}
    return ", ".join(f"{named[code]} {format_share(number / languages.total())}" for code, number in common)


def count_pairs_by_place(reference: Profile, candidate: Profile) -> int:
    """Return the number of texts without an id whose file, or its line, is called as that of a real text."""
    return len(reference.ids_by_place & candidate.ids_by_place)


def _languages(reference: Profile, texts: Profile) -> Facts:
    language = choose_language(reference.languages, reference.requested_language)
    return {
        "reference": "the reference" if reference.name == CORPUS else reference.name,
        "real": describe_languages(reference.languages),
        "languages": describe_languages(texts.languages),
        "language": name_of(language),
        "main": name_of(main) if (main := main_language(reference.languages)) not in (UNKNOWN, language) else None,
        "is_other": languages_differ(reference.languages, texts.languages),
        "is_unclear": bool(reference.languages) and main == UNKNOWN and reference.requested_language is None,
    }


def _languages_if(key: str) -> Condition:
    """Return the condition that one of the facts about languages is true."""
    return lambda reference, texts: facts if (facts := _languages(reference, texts))[key] else None


def _other_name(texts: Profile) -> tuple[str, str]:
    """Return the name that the user gave to a candidate, and what of it can stand in paths."""
    model = texts.selection.only_model
    given = normalize("NFC", without_suffixes(texts.files[0]) if model is None else model)
    return given, fit_for_paths(given)


def _name_of_another(_: Profile, texts: Profile) -> Facts | None:
    if not texts.files:
        return None
    given, stem = _other_name(texts)
    is_taken = stem and texts.name != stem and re.fullmatch(rf".*{re.escape(stem)}(-no\d+)?", texts.name)
    owner = {CORPUS: "the real texts", **KEPT_NAMES}.get(stem.casefold(), "another candidate")
    return {"name": texts.name, "given": given, "stem": stem, "owner": owner} if is_taken else None


def _unfit_name(reference: Profile, texts: Profile) -> Facts | None:
    if not texts.files or texts.name == (given := _other_name(texts)[0]) or _name_of_another(reference, texts):
        return None
    return {"given": given}


def _pairs_by_place(reference: Profile, texts: Profile) -> Facts | None:
    number = count_pairs_by_place(reference, texts)
    is_copy = set(texts.texts) <= set(reference.texts)  # which matters more
    remedy = "call the file by another name, or put the files of one folder into a folder inside it"
    if set(texts.files) <= set(reference.files):
        remedy = "put the real texts into a file of another name"
    return {"number": number, "remedy": remedy} if number and not is_copy else None


def _typesetting(reference: Profile, texts: Profile, can_straighten: bool) -> Facts | None:
    differing = different_families(reference.marks, texts.marks)
    families = [family for family in differing if (family in STRAIGHT) is can_straighten]
    return {"families": ", ".join(families)} if families else None


def _records_without_text(_: Profile, texts: Profile) -> Facts | None:
    empty, records = texts.without_text, texts.without_text + texts.documents
    is_many = empty >= _MANY_EMPTY * records and empty and texts.words
    return {"empty": empty, "records": records} if is_many else None


def _few_texts(reference: Profile, texts: Profile, is_without_verdict: bool) -> Facts | None:
    real, number = _independent(reference), _independent(texts)
    if not (real and number) or (min(real, number) < FEWEST_DOCUMENTS) is not is_without_verdict:
        return None
    auc = minimum_detectable_auc(real, number)
    facts = {"real": real, "number": number, "auc": auc, "fewest": FEWEST_DOCUMENTS}
    return facts if is_without_verdict or auc >= _LARGE_AUC else None


def _independent(texts: Profile) -> int:
    """Return the number of texts of which each says something of its own: those of a prompt count as one."""
    prompts = len(set(texts.prompts))
    return prompts if prompts >= FEWEST_PROMPTS else texts.documents


def _other_lengths(reference: Profile, texts: Profile) -> Facts | None:
    if not (reference.words and texts.words):
        return None
    real, length = median(reference.words), median(texts.words)
    is_other = max(real, length) >= _OTHER_LENGTH * max(1, min(real, length))
    return {"real": real, "length": length} if is_other else None


def _repeated_texts(_: Profile, texts: Profile) -> Facts | None:
    repeated, documents = texts.repeated, texts.documents
    is_many = repeated and repeated >= _MANY_REPEATED * documents
    return {"repeated": repeated, "documents": documents} if is_many else None


def _few_prompts(_: Profile, texts: Profile) -> Facts | None:
    prompts = len(set(texts.prompts))
    return {"number": prompts} if prompts < FEWEST_PROMPTS and prompts < texts.documents else None


def _shared_openings(_: Profile, texts: Profile) -> Facts | None:
    openings, number = texts.shared_openings
    return {"openings": openings, "number": number, "documents": len(texts.openings)} if texts.begins_alike else None


def _cut(reference: Profile, texts: Profile) -> Facts | None:
    number, stated = texts.cut
    real, real_stated = reference.cut
    is_other = stated and number / stated - real / max(1, real_stated) >= _OTHER_ENDS
    return {"number": number, "documents": stated, "real": real} if is_other else None


def _without_final_mark(reference: Profile, texts: Profile) -> Facts | None:
    is_known = bool(_cut(reference, texts)) or any(wrapper.kind == "ends" for wrapper in texts.wrappers)
    if is_known or not (reference.words and texts.words):
        return None
    (real, n_real), (number, documents) = ((each.unfinished, each.documents) for each in (reference, texts))
    is_other = abs(real / n_real - number / documents) >= _OTHER_ENDS
    if not is_other or exact_test(number, documents, real, n_real) >= _LEVEL_OF_ENDS:
        return None
    return {"number": number, "documents": documents, "real": real, "n_real": n_real}


_OF_ENDS = (
    "Critics that find a text without its end: tendencies, narrative, strings and coreference. Cut both sides alike, or"
    " leave such texts out."
)
"""Critics: docs/sensitivity.md measures them."""
CUT = (
    Check(
        "cut texts",
        "candidates",
        _cut,
        "{number:,} of {documents:text} {of} were cut at a limit, as their records say, and {real:,} of the reference."
        f" {_OF_ENDS}",
    ),
    Check(
        "texts without a final mark",
        "candidates",
        _without_final_mark,
        "Without a final mark end {each}, and {real:,} of {n_real:,} real ones: texts may be cut, at a limit of tokens"
        f" for example. {_OF_ENDS}",
        each="{number:,} of {documents:text} of {names}",
    ),
)
SURROUNDINGS: tuple[Check, ...] = (
    Check(
        "wrappers",
        "candidates",
        lambda _, texts: (
            {"wrappers": describe_wrappers(texts.wrappers), "accepted": texts.selection.keep_wrappers}
            if texts.wrappers
            else None
        ),
        "{accepted:|⚠ }More than structure gives {names} away: {wrappers}. Critics find that as surely{accepted:|. Take"
        " it off and run again, or accept it with ⟨keep_wrappers⟩; until then, results have a warning sign}.",
    ),
    *CUT,
)
NEW_NAMES: tuple[Check, ...] = (
    Check(
        "names of others",
        "candidates",
        _name_of_another,
        "The candidate '{given}' is called '{name}' here, since '{stem}' is the name of {owner}.",
    ),
    Check(
        "names that cannot stand in paths",
        "candidates",
        _unfit_name,
        "Names have letters, digits, '-', '_' and '.': {each} here.",
        each="'{given}' is called '{names}'",
    ),
)
LANGUAGES: tuple[Check, ...] = (
    Check(
        "other languages",
        "candidates",
        _languages_if("is_other"),
        "Languages differ: {reference} has {real}, and {names} {collections:has|have} {languages}. Any difference below"
        " may be one of language.",
    ),
    Check(
        "no clear language",
        "reference",
        _languages_if("is_unclear"),
        "No language is clear in most texts of {reference} ({real}). They are read as {language}; give ⟨language⟩.",
    ),
    Check(
        "read as another language",
        "reference",
        _languages_if("main"),
        "The texts are read as {language}, but most of {reference} is {main}.",
    ),
)
BEGIN_ALIKE: Check = Check(
    "texts that begin alike without being of one prompt",
    "all",
    _shared_openings,
    "Texts that begin alike count as independent: {each}. If each opening is a prompt, give it: a field 'prompt', or"
    " ⟨prompt_field⟩.",
    each="{number:,} of {documents:text} of {names}, with {openings:opening}",
)
TEXTS = (
    *NEW_NAMES,
    Check(
        "pairs by place",
        "candidates",
        _pairs_by_place,
        "{number:text} {of} {number:is|are} paired with real texts by {number:its file name and line|their file names"
        " and lines}, as if both continued one prompt. If they do not, {remedy}.",
    ),
    Check(
        "typesetting",
        "candidates",
        lambda reference, texts: _typesetting(reference, texts, can_straighten=True),
        "Typesetting differs from the reference: {each}. Critics that count words and marks find that, and it is no"
        " difference in structure. ⟨straighten_typography⟩ brings both sides to the same kinds.",
        each="{families} in {names}",
    ),
    Check(
        "capitals",
        "candidates",
        lambda reference, texts: _typesetting(reference, texts, can_straighten=False),
        "Capitals differ from the reference: {each}. Critics that count words find that, and it is no difference in"
        " structure. Bring both sides to the same kinds.",
        each="{families} in {names}",
    ),
    Check(
        "missing values",
        "all",
        lambda _, texts: {"number": texts.missing} if texts.missing else None,
        "{number:text} {of} {number:is only a mark|are only marks} of a missing value, such as NaN or None, and"
        " {number:counts as a text. Leave it|count as texts. Leave them} out.",
    ),
    Check(
        "records without text",
        "all",
        _records_without_text,
        "{empty:,} of {records:record} {of} have no text and are left out: the verdict is about the others. If the"
        " model wrote nothing there, report that beside it.",
    ),
    Check(
        "no verdict",
        "candidates",
        lambda reference, texts: _few_texts(reference, texts, is_without_verdict=True),
        "With {real:real text} and {number:,} {of}, no critic gives a verdict: it needs {fewest} on each side. Give"
        " more texts.",
    ),
    Check(
        "few texts",
        "candidates",
        lambda reference, texts: _few_texts(reference, texts, is_without_verdict=False),
        "With {real:real text} and {number:,} {of}, most differences stay inconclusive: only a detectability of"
        " {auc:.0%} or more is likely to be found. Give more texts.",
    ),
    Check(
        "other lengths",
        "candidates",
        _other_lengths,
        "The median text has {real:,.0f} words in the reference, and {each}: length alone may tell them apart. Add"
        " ⟨matched_length⟩, or give texts of one length.",
        each="{length:,.0f} in {names}",
    ),
    Check(
        "repeated texts",
        "candidates",
        _repeated_texts,
        "{repeated:,} of {documents:text} {of} {repeated:occurs|occur} again, word for word: repetitions count as"
        " independent, and are not. Leave them out, or give those of a prompt the same 'prompt'.",
    ),
    Check(
        "copies of real texts",
        "candidates",
        tell_copies,
        "{number:text} {of} {number:is|are} in the reference: {whole:,} whole, {half:,} by about half or more (of real"
        " texts, {real:,} in others). No critic tells copies apart, and they continue no prompt. Check the files;"
        " `macroscope copies` marks what is copied.",
    ),
    Check(
        "few prompts",
        "all",
        _few_prompts,
        "{number:prompt} {of} {number:is|are} too few to say anything of texts of other prompts. Each text counts, and"
        " the results hold for {number:this prompt|these prompts} alone.",
    ),
    BEGIN_ALIKE,
)
