"""Markup around and inside of documents: outer fences, front matter, HTML, emphasis."""

import re
from html import unescape

import yaml

from macroscope.natural_language.words import count_words

LONGEST_PREAMBLE = 60
"""Words before a document up to which they are about it ("Sure! Here is the article:"), and not a part of it."""


def is_preamble(text: str) -> bool:
    """Return whether a text before a document is short enough not to be a part of it; it may be empty."""
    return count_words(text) <= LONGEST_PREAMBLE


_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(?:markdown|md|mediawiki|wikitext|wiki|text|txt)[ \t]*\n", re.MULTILINE)


def without_fence(text: str) -> str:
    """Return a text without its outer fence; it may be cut before the line that closes it.

    The fences of the code inside come in pairs, so an odd number has the outer one at its end.
    """
    match = _FENCE.search(text)
    if match is None or not is_preamble(text[: match.start()]):
        return text
    lines = text[match.end() :].split("\n")
    fences = [number for number, line in enumerate(lines) if line.startswith(match[1])]
    if len(fences) % 2:
        del lines[fences[-1]]
    return text[: match.start()] + "\n".join(lines)


_KEY = re.compile(r"[\w-]+:")
_OF_FRONT_MATTER = re.compile(r"[\w-]+:|[ \t#-]|$")
"""Beginning of a line of front matter: a key, a list or an indented value, a comment, nothing."""


def without_front_matter(text: str) -> str:
    """Return a text without the front matter that it begins with, but with its abstract."""
    lines = text.lstrip().split("\n")
    if lines[0].rstrip() != "---":
        return text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            if not any(map(_KEY.match, lines[1:number])):
                return text
            return "\n".join([*_abstract("\n".join(lines[1:number])), *lines[number + 1 :]])
        if not _OF_FRONT_MATTER.match(line):
            return text
    return text


def _abstract(block: str) -> list[str]:
    try:
        fields = yaml.safe_load(block) if "abstract:" in block else None
    except yaml.YAMLError:
        return []
    abstract = fields.get("abstract") if isinstance(fields, dict) else None
    return [abstract, ""] if isinstance(abstract, str) else []


_BLOCK_TAG = re.compile(r"</(?:p|h[1-6]|li|blockquote|pre|tr)>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?: [^<>]*)?/?>", re.IGNORECASE)


def without_html(text: str) -> str:
    """Return a text in HTML without its tags; tags that a text without paragraphs in HTML speaks about stay."""
    return unescape(_TAG.sub("", _BLOCK_TAG.sub("\n\n", text))) if _HTML.match(text) else text


_HTML = re.compile(r"\s*<(?:p|h[1-6]|div|blockquote)(?: [^<>]*)?>", re.IGNORECASE)
"""Beginning of a text in HTML."""
_WORD = r"[^\W\u3040-\u30ff\u4e00-\u9fff]"
"""Character of a word in a script with spaces: there, an asterisk inside a word is no mark."""
_EMPHASIS = re.compile(
    rf"(?s:(?P<code>```.*?```|`[^`]+`))|(?<!{_WORD})(?<![*\\])(?P<star>\*{{1,3}})(?=[^\s*])(?P<starred>[^*\n]+)"
    rf"(?<!\s)(?P=star)(?!\*|{_WORD})|(?<![\w\\])(?P<line>_{{1,3}})(?=[^\s_])(?P<lined>[^_\n]+)(?<!\s)(?P=line)(?!\w)"
)


def without_emphasis(text: str) -> str:
    """Return a text without the marks of bold and italic type, those inside of others included; code stays."""
    plain = _EMPHASIS.sub(lambda match: match["code"] or match["starred"] or match["lined"], text)
    return text if plain == text else without_emphasis(plain)
