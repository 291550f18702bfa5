"""The table of critics and languages, docs/generated/languages.md, from the critics' declarations."""

from collections import defaultdict
from collections.abc import Iterator

from macroscope.critics import critics, parse_options_for_texts
from macroscope.critics.language_fit import NOT, PARTLY, LanguageFit, language_fit
from macroscope.natural_language.languages import LANGUAGES

_INTRODUCTION = """\
# Languages

<!-- Written by `make docs` from the critics' declarations; do not edit. -->

`macroscope criticize` recognizes these {number} languages; `--language de`, or `language: de` of a corpus, names one.
The table says which of them each critic can judge with the options of `criticize`:

- **full**: all numbers are defined.
- **partly**: some numbers are undefined, or mean less; see [below](#partly). The report warns.
- **not**: the critic is not run by default; see [below](#not).

With another encoder, `clusters`, `coherence` and `narrative` judge other languages: `--encoder`, or `encoder` in a
config, names a multilingual one.
"""


def language_fits() -> dict[str, dict[str, LanguageFit]]:
    """Return critic -> code of a language -> the critic's support for it, with the options of `criticize`."""
    return {
        name: {language: language_fit(plugin.data, parse_options_for_texts(plugin), language) for language in LANGUAGES}
        for name, plugin in critics().items()
    }


def language_table() -> str:
    """Return the page as Markdown."""
    fits = language_fits()
    return "\n".join([_INTRODUCTION.format(number=len(LANGUAGES)), *_levels(fits), *_reasons(fits)]) + "\n"


def _levels(fits: dict[str, dict[str, LanguageFit]]) -> Iterator[str]:
    """Yield the table: a row for all languages that the critics judge alike, those with most languages first."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for code, language in sorted(LANGUAGES.items(), key=lambda item: item[1].name):
        alike[tuple(by_code[code].level for by_code in fits.values())].append(f"{language.name} (`{code}`)")
    yield f"| languages | {' | '.join(fits)} |"
    yield "|---|" + "---|" * len(fits)
    for levels, languages in sorted(alike.items(), key=lambda item: -len(item[1])):
        yield f"| {', '.join(languages)} | {' | '.join(levels)} |"


def _reasons(fits: dict[str, dict[str, LanguageFit]]) -> Iterator[str]:
    """Yield the reasons for each level, with the languages that each is about; these are not named in the sentence."""
    for level in (PARTLY, NOT):
        yield f"\n## {level.capitalize()}\n\n| critic | reason | languages |\n|---|---|---|"
        for critic, by_code in fits.items():
            codes: dict[str, list[str]] = defaultdict(list)
            for code, fit in by_code.items():
                for reason in fit.limits if level == PARTLY else fit.refusals:
                    codes[reason.replace(LANGUAGES[code].name, "…")].append(code)
            for reason, affected in codes.items():
                yield f"| {critic} | {reason} | {', '.join(affected)} |"
