"""The config reference, docs/generated/config.md and pages below it, and the table of languages."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from macroscope.config.schema import Config
from macroscope.critics import critics, parse_options_for_texts
from macroscope.critics.language_fit import NOT, PARTLY, LanguageFit, language_fit
from macroscope.natural_language.languages import LANGUAGES

_TAGS = ("source", "kind", "rule")
_WRITTEN = "<!-- Written by `make docs` from the options in workflow/macroscope; do not edit. -->"
_PAGES = {
    "corpora": "collections of real documents: their sources, passages, lines and filters",
    "systems": "producers of the texts to judge: their kinds, training, decoding rules, damages",
    "critics": "options of each critic",
}
"""Key with a page of its own -> content of the page."""
_INTRODUCTION = f"""\
# The config

{_WRITTEN}

A config names the texts to judge, the corpora to compare them with, the critics, and the sizes. `config.yaml` is the
default run; `experiments/` has others. Keys with a default may be left out. A misspelt key is an error that names the
nearest valid one. `results/<run>/config.json` keeps each run's config with all its defaults.

An editor that knows JSON schemas completes and checks the keys: `workflow/schemas/config.schema.json`.

| page | content |
|---|---|
| this page | the run, uncertainty, comparisons, sensitivity, human judgements |
"""


def config_reference() -> dict[str, str]:
    """Return the reference as path -> Markdown: the page of the top level, and a page for each large group."""
    pages = {
        f"config/{key}.md": [f"# The config: {key}\n\n{_WRITTEN}\n\n[All keys](../config.md). Here: {content}.\n"]
        for key, content in _PAGES.items()
    }
    links = "".join(f"| [{key}](config/{key}.md) | {content} |\n" for key, content in _PAGES.items())
    top = [f"{_INTRODUCTION}{links}", "## Top level\n", *_table(_rows(Config).values())]
    for name, field in Config.model_fields.items():
        pages.get(f"config/{name}.md", top).extend(_inner_groups(name, field, set()))
    return {path: "\n".join(lines) for path, lines in {"config.md": top, **pages}.items()}


def _inner_groups(place: str, field: FieldInfo, shown: set[tuple[str, str]], parent: str = "") -> Iterator[str]:
    """Yield the groups of options inside a field; alternatives show the keys that all of them have once."""
    named = ".&lt;name&gt;" if _is_named(field.annotation) else ""
    groups = [(tag, model) for tag, model in _groups(field.annotation) if (place, model.__name__) not in shown]
    again = any(key == place for key, _ in shown)
    shown.update((place, model.__name__) for _, model in groups)
    if len(groups) < 2 or not all(tag for tag, _ in groups):
        for tag, model in groups:
            title = place + named + (f", {tag}" if tag else f", of {parent}" if again and parent else "")
            yield from _section(title, model, _rows(model))
            yield from _groups_below(place, model, shown, tag)
        return
    tables = {tag: _rows(model) for tag, model in groups}
    kind = groups[0][0].strip("`").partition(":")[0]
    keys = set.intersection(*(set(rows) for rows in tables.values())) - {kind}
    common = {
        key: Counter(rows[key] for rows in tables.values()).most_common(1)[0][0]
        for key in tables[groups[0][0]]
        if key in keys
    }
    if common:
        yield f"## {place}{named}: keys of every `{kind}`\n"
        yield from _table([f"| `{kind}` | text | required | One of those below. |", *common.values()])
    brief = []
    for tag, model in groups:
        own_rows = {key: row for key, row in tables[tag].items() if key != kind and common.get(key) != row}
        if len(own_rows) > 1:
            yield from _section(f"{place}{named}, {tag}", model, own_rows)
        else:
            brief.append(f"| {tag} | {_describe(model)} | {', '.join(_brief(row) for row in own_rows.values())} |")
        yield from _groups_below(place, model, shown, tag)
    if brief:
        yield f"## {place}{named}: with at most one further key\n"
        yield f"| {kind} | meaning | further key |\n|---|---|---|"
        yield from [*brief, ""]


def _groups_below(place: str, model: type[BaseModel], shown: set[tuple[str, str]], tag: str) -> Iterator[str]:
    if place != "variants":  # their options are those of the critics
        for name, field in model.model_fields.items():
            yield from _inner_groups(f"{place}.{name}", field, shown, tag)


def _section(title: str, model: type[BaseModel], rows: dict[str, str]) -> Iterator[str]:
    yield f"## {title}\n"
    if model.__doc__:
        yield _describe(model) + "\n"
    yield from _table(rows.values())


def _table(rows: Iterable[str]) -> list[str]:
    return ["| key | type | default | meaning |", "|---|---|---|---|", *rows, ""]


def _rows(model: type[BaseModel]) -> dict[str, str]:
    return {
        name: f"| `{name}` | {_type(field.annotation)} | {_default(field)} | {_escape(field.description or '')} |"
        for name, field in model.model_fields.items()
    }


def _brief(row: str) -> str:
    """Return a row of a table in one cell."""
    key, kind, default, meaning = (cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])
    return f"{key} ({kind}, {'' if default == 'required' else 'default '}{default}): {meaning}"


def _describe(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _groups(annotation: Any) -> list[tuple[str, type[BaseModel]]]:
    """Return the groups of options inside a type, with the tag that chooses among alternatives ("source: files")."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(_tag(annotation), annotation)]
    return [group for argument in get_args(annotation) for group in _groups(argument)]


def _is_named(annotation: Any) -> bool:
    return get_origin(annotation) is dict


def _tag(model: type[BaseModel]) -> str:
    for name in _TAGS:
        field = model.model_fields.get(name)
        if field is not None and get_origin(field.annotation) is Literal and field.is_required():
            return f"`{name}: {get_args(field.annotation)[0]}`"
    return ""


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is Annotated:
        return _type(arguments[0])
    if origin is dict:
        return f"names to {_type(arguments[1])}"
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is Union or type(annotation).__name__ == "UnionType":
        return " or ".join(dict.fromkeys(_type(argument) for argument in arguments if argument is not type(None)))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "group"
    return {"str": "text", "int": "integer", "float": "number", "bool": "yes or no"}.get(annotation.__name__, "any")


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel):
        return "see below"
    return f"`{_yaml(field.default)}`"


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_yaml(item) for item in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _escape(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")


_LANGUAGES_INTRODUCTION = """\
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
    return "\n".join([_LANGUAGES_INTRODUCTION.format(number=len(LANGUAGES)), *_levels(fits), *_reasons(fits)]) + "\n"


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
