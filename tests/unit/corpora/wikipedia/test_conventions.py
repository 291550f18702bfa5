"""Wikipedias in other languages: their redirects, disambiguation pages, lists and years, and Chinese variants."""

import subprocess
import sys
from xml.sax.saxutils import escape

import pytest

from macroscope.config.schema import parse_config
from macroscope.corpora.wikipedia import WikipediaCorpus
from macroscope.corpora.wikipedia.conventions import FURTHER, choose_variants
from macroscope.corpora.wikipedia.reading import read_dump
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError

ARTICLE = "Ein Text, der lang genug ist. Er hat zwei Sätze."


def dump(tmp_path, code, pages):
    path = tmp_path / f"{code}.xml"
    head = f"<mediawiki><siteinfo><dbname>{code}wiki</dbname></siteinfo>"
    written = "".join(
        f"<page><title>{escape(title)}</title><ns>0</ns><id>{n}</id><revision><text>{escape(text)}</text></revision>"
        "</page>"
        for n, (title, text) in enumerate(pages)
    )
    path.write_text(f"{head}{written}</mediawiki>", encoding="utf-8")
    return path


def read(path, language):
    provenance = Provenance("x")
    options = WikipediaCorpus(source="wikipedia", files=["x"], language=language)
    documents = list(read_dump(options, path, provenance, 1))
    return documents, {count.filter: count.dropped for count in provenance.counts if count.dropped}


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("-{zh-hans:计算机;zh-hant:電腦}-是一种机器。", "计算机是一种机器。"),
        ("-{A|zh-cn:软件;zh-tw:軟體}-", "软件"),
        ("-{zh-tw:軟體;zh-hk:軟件;}-", "軟體"),
        ("-{H|zh-cn:软件;zh-tw:軟體}-。", "。"),
        ("-{T|zh-cn:软件}-。", "。"),
        ("-{R|原文}-", "原文"),
        ("-{[[石头|石]]}-", "[[石头|石]]"),
        ("-{zh-cn:一-{zh-cn:二;zh-tw:三}-;zh-tw:四}-", "一二"),
        ("a-{{b}}-c", "a-{{b}}-c"),
    ],
)
def test_the_simplified_variant_is_read(wikitext, text):
    assert choose_variants(wikitext) == text


PAGES = {
    "zh": "老页: #重定向[[石头]] / 石 (消歧义): x / 山水: {{消歧义}} / 1987年: x / 城市列表: x",
    "ja": "岩: #転送 [[石]] / 石 (曖昧さ回避): x / 川: {{aimai}} / 20世紀: x / 都市の一覧: x",
    "ru": "Скала: #перенаправление [[Камень]] / Камень (значения): x / Лук: {{неоднозначность}} / 1987 год: x"
    " / Список рек: x",
    "pt": "Rocha: #REDIRECIONAMENTO [[Pedra]] / Pedra (desambiguação): x / Rio: {{desambiguação}} / Século XX: x"
    " / Lista de rios: x",
    "nl": "Rots: #DOORVERWIJZING [[Steen]] / Steen (doorverwijspagina): x / Bank: {{dp}} / 20e eeuw: x"
    " / Lijst van rivieren: x",
    "ar": "صخر: #تحويل [[حجر]] / حجر (توضيح): x / نهر: {{توضيح}} / القرن 20: x / قائمة المدن: x",
    "hi": "चट्टान: #अनुप्रेषित [[पत्थर]] / पत्थर (बहुविकल्पी): x / नदी: {{बहुविकल्पी}} / १९८७: x / शहरों की सूची: x",
}


@pytest.mark.slow
@pytest.mark.parametrize("language", FURTHER)
def test_pages_that_are_no_articles_are_counted(tmp_path, language):
    pages = [page.strip().split(": ", 1) for page in PAGES[language].split(" / ")]
    documents, dropped = read(dump(tmp_path, language, [*pages, ("Article", ARTICLE)]), language)
    assert [document.title for document in documents] == ["Article"]
    assert dropped == {
        "redirect": 1,
        "disambiguation page": 2,
        "article about a year": 1,
        "page that is mostly links": 1,
    }


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "ja", "ar", "ru", "fr"])
def test_dumps_as_other_wikis_have_them(real_text, tmp_path, language):
    subprocess.run([sys.executable, real_text("trials/make_dumps.py")], cwd=tmp_path, check=True)
    (article,), _ = read(tmp_path / f"{language}.xml", language)
    assert not {mark for mark in ("-{", "{{", "[[", "zh-", "jpg") if mark in article.text}


def test_a_wikipedia_of_unknown_conventions_is_refused_with_the_config():
    corpora = {"wiki": {"source": "wikipedia", "files": ["x.xml"], "language": "ta"}}
    with pytest.raises(MacroscopeError, match="of the Wikipedia in Tamil are not known; choose from ar, de, en"):
        parse_config({"run": "r", "corpora": corpora, "systems": {}, "comparisons": []})
