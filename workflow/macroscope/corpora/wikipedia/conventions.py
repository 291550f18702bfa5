"""Conventions of Wikipedias: what redirects, years, disambiguation pages and lists are called; Chinese variants.

Those of English, German, Spanish, French and Italian are known on all wikis (`pages`). The module imports nothing
heavy, because every worker process imports it.
"""

import re
from dataclasses import dataclass
from functools import cache

EVERYWHERE = frozenset({"en", "de", "es", "fr", "it"})
"""Languages whose conventions are known on all wikis."""


@dataclass(frozen=True)
class Conventions:
    """Further conventions of the Wikipedia in one language, each a regular expression.

    Attributes
    ----------
    redirect
        Words after "#" that make a page a redirect.
    year, list_title
        Titles of articles about years, and of lists.
    disambiguation, template
        What is in brackets after the title of a disambiguation page, and the names of the templates on one.
    """

    redirect: str
    year: str
    list_title: str
    disambiguation: str
    template: str

    @cache  # noqa: B019 - there are a few, and they live as long as the process
    def pattern(self, kind: str) -> re.Pattern[str]:
        """Return the compiled pattern of a kind of page, to be searched in its text or its title."""
        written = {
            "redirect": rf"\A\s*[#＃]\s*(?:{self.redirect})\b",
            "year": rf"\A(?:{self.year})\Z",
            "list": rf"\A(?:{self.list_title})\Z",
            "disambiguation": rf"[(（](?:{self.disambiguation})[)）]\Z",
            "template": rf"\{{\{{\s*(?:{self.template})\s*(?:\||\}}\}})",
        }
        return re.compile(written[kind], re.IGNORECASE)


FURTHER = {
    "ar": Conventions("تحويل", r"\d{1,4}(?: ق م)?|القرن \d{1,2}", r"قائمة \S.*|ملحق:.*", "توضيح", "توضيح"),
    "hi": Conventions("पुनर्प्रेषित|अनुप्रेषित", r"\d{1,4}", r".*\S की सूची", "बहुविकल्पी", "बहुविकल्पी(?: शब्द)?"),
    "ja": Conventions(
        "転送|リダイレクト",
        r"(?:紀元前)?\d{1,4}年(?:代)?|\d{1,2}世紀",
        r".*\S(?:の)?一覧",
        "曖昧さ回避",
        "aimai|[人地]名の曖昧さ回避|曖昧さ回避",
    ),
    "nl": Conventions(
        "doorverwijzing",
        r"\d{1,4}(?: v\.Chr\.)?|\d{1,2}e eeuw",
        r"Lijst (?:van|der) \S.*",
        "doorverwijspagina",
        "dp|dpintro",
    ),
    "pt": Conventions(
        "redirecionamento",
        r"\d{1,4}(?: a\.C\.)?|Década de \d{1,4}|Século [IVXL]+(?: a\.C\.)?",
        r"(?:Anexo:)?Lista d[aeo]s? \S.*",
        "desambiguação",
        "desambiguação|desambig|disambig",
    ),
    "ru": Conventions(
        "перенаправление|перенапр",
        r"\d{1,4} год(?: до н\. э\.)?|\d{1,4}-е(?: годы)?|[IVXL]+ век(?: до н\. э\.)?",
        r"Список \S.*",
        "значения",
        "неоднозначность|многозначность|disambig",
    ),
    "zh": Conventions(
        "重定向",
        r"(?:前)?\d{1,4}年(?:代)?|\d{1,2}世[纪紀]",
        r".*\S列表",
        "消歧[义義]",
        "消歧[义義]页?|disambig|hndis|地名消歧[义義]",
    ),
}
"""Further conventions by language."""

WITH_CONVENTIONS = EVERYWHERE | set(FURTHER)
"""Languages whose Wikipedias can be read."""

_VARIANTS = re.compile(r"-\{(?!\{)((?:[^{}]|\{\{[^{}]*\}\})*?)\}-")
_PREFERRED = ("zh-hans", "zh-cn", "zh-sg", "zh-my", "zh")
_FLAGS = re.compile(r"[A-Za-z;\s-]*")
_HIDDEN_FLAGS = frozenset("HT-")


def choose_variants(wikitext: str) -> str:
    """Replace the choices between Chinese variants, "-{zh-hans:计算机;zh-hant:電腦}-", by the simplified one.

    See https://www.mediawiki.org/wiki/Writing_systems/Syntax. Choices that only define a conversion or the title
    disappear.
    """
    while (chosen := _VARIANTS.sub(_choose, wikitext)) != wikitext:
        wikitext = chosen
    return wikitext


def _choose(match: re.Match[str]) -> str:
    flags, bar, content = match[1].partition("|")
    if not bar or not _FLAGS.fullmatch(flags):
        flags, content = "", match[1]
    if _HIDDEN_FLAGS & {flag.strip() for flag in flags.split(";")}:
        return ""
    pairs = (choice.partition(":") for choice in content.split(";"))
    texts = {variant.strip().lower(): text.strip() for variant, colon, text in pairs if colon}
    if not any(variant.startswith("zh") for variant in texts):
        return content
    return next((texts[variant] for variant in _PREFERRED if variant in texts), next(iter(texts.values())))
