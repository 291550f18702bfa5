"""Wrapping: text around a document that is not a part of it, a row per kind, which is taken off and counted.

Language models, chat templates, converters and transcription programs write it. Left in place, it would tell two sides
apart that have the same texts.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import pairwise

import yaml

from macroscope.natural_language.words import count_words
from macroscope.readers.messages import ASSISTANT, USER, Message, as_messages, content_of, split_chat


@dataclass(frozen=True)
class Wrapper:
    """A kind of wrapping.

    Attributes
    ----------
    name
        Name in the counts.
    without
        Function that returns a text without it; the same text if it has none.
    example
        An example, for the page on the user's own texts.
    title
        Pattern whose first group is the title of the document, in the text with the wrapping.
    """

    name: str
    without: Callable[[str], str]
    example: str
    title: re.Pattern[str] | None = None


LONGEST_PREAMBLE = 60
"""Words before a document up to which they are about it ("Sure! Here is the article:"), and not a part of it."""
REASONING, FENCE, FRONT_MATTER = "a reasoning block (<think>)", "an outer code fence", "YAML front matter"


def unwrap(text: str, wrappers: Sequence[Wrapper] | None = None) -> tuple[str, list[str], str | None]:
    r"""Take off the wrapping of a text.

    Parameters
    ----------
    text
        Text with lines that end with "\n".
    wrappers
        Kinds to take off; default: `WRAPPERS`.

    Returns
    -------
    str
        The text without it.
    list of str
        Kinds of wrapping that were taken off.
    str or None
        Title of the document, if the wrapping names it.
    """
    removed, title = [], None
    for wrapper in WRAPPERS if wrappers is None else wrappers:
        without = wrapper.without(text)
        if without != text:
            removed.append(wrapper.name)
            named = wrapper.title.search(text) if wrapper.title else None
            title, text = title or (named[1].strip() if named else None), without
    return text, removed, title


def is_preamble(text: str) -> bool:
    """Return whether a text before a document is short enough not to be a part of it; it may be empty."""
    return count_words(text) <= LONGEST_PREAMBLE


def _cut(needs: str, pattern: str, by: str = "", flags: int = re.MULTILINE) -> Callable[[str], str]:
    """Return a function that replaces what fits a pattern, in texts with the characters that the pattern needs."""
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.sub(by, text) if needs in text else text


def _without_json(text: str) -> str:
    """Return the content of a text that is a message, or messages, in JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    messages = as_messages(value)
    content = split_chat(messages).text if messages else content_of(value) if isinstance(value, dict) else None
    return content or text


_TOKEN = (
    r"(?:<\|[\w.:/ -]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|<(?:bos|eos|pad|sep|cls|(?:start|end)_of_turn"
    r"|end_of_utterance)>|\[(?:/?INST|BOS|EOS|PAD|CLS|SEP)\]|<</?SYS>>)"
)
"""Special tokens of the configurations of common tokenizers."""
TOKEN = re.compile(_TOKEN)
_END = re.compile(rf"\s*(?:{_TOKEN}\s*)+\Z")
_START = re.compile(rf"\A\s*(?:{_TOKEN}\s*)+")
_BETWEEN = re.compile(
    rf"(?<=[^\s\"'`(]){_TOKEN}(?:\s*{_TOKEN})*\s*|(?<=[.!?] ){_TOKEN} |^[ \t]*{_TOKEN}(?:\s*{_TOKEN})*[ \t]*$",
    re.MULTILINE,
)
"""Tokens right after a word, between sentences, or on lines of their own; others are what a sentence speaks about."""


_HEAD = re.compile(
    r"""<\|im_start\|>\s*\w+(?:<\|im_sep\|>|\s)|<\|start_header_id\|>\s*\w+\s*<\|end_header_id\|>
|<start_of_turn>\s*\w+\s|<\|(?:user|assistant|system|tool|model)\|>|<｜(?:User|Assistant)｜>
|(?:<\|start\|>\s*\w+)?(?:<\|channel\|>\w+)?<\|message\|>|<\|START_OF_TURN_TOKEN\|><\|\w+_TOKEN\|>
|\[/?INST\]|^\#\#\#[ ](?:Instruction|Input|Response|Assistant|User|System):[ \t]*$""",
    re.MULTILINE | re.VERBOSE,
)
"""What a chat template writes before a message."""
_HEAD_LINE = re.compile(r"^(?:system|user|assistant|model)[ \t]*(?:\n|\Z)", re.MULTILINE)
_HEAD_COLON = re.compile(r"(?:^|(?<=\s)|(?<=>))(?:Human|USER|User|ASSISTANT|Assistant):(?:[ \t]+|$)", re.MULTILINE)
"""The same of a template's string without its special tokens: roles on lines of their own, or before colons."""
_OF_ANSWER = re.compile(r"assistant|model|chatbot|final|/inst|response", re.IGNORECASE)
_OF_THOUGHT = re.compile(r"analysis|commentary")


def parse_template(text: str) -> list[Message]:
    """Return the messages of a text that begins as a chat template does; empty if it does not."""
    stripped = text.lstrip()
    begins = stripped.startswith(("### Instruction:", "Below is an instruction")) or _START.match(text)
    kinds = ((_HEAD, begins), (_HEAD_LINE, False), (_HEAD_COLON, stripped.startswith("A chat between ")))
    pattern = next((head for head, is_begun in kinds if is_begun or head.match(stripped)), _HEAD)
    heads = list(pattern.finditer(text))
    if not heads or (pattern is not _HEAD and not any(_OF_ANSWER.search(head[0]) for head in heads[1:])):
        return []
    ends = [*(head.start() for head in heads[1:]), len(text)]
    said = [(_speaker(head[0]), text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]
    return [Message(speaker, content.lstrip()) for speaker, content in [("", text[: heads[0].start()]), *said]]


def _speaker(head: str) -> str:
    return "" if _OF_THOUGHT.search(head) else ASSISTANT if _OF_ANSWER.search(head) else USER


def _without_template(text: str) -> str:
    """Return what follows the last beginning of an answer, if the text begins as a chat template does."""
    answers = [message.text for message in parse_template(text) if message.speaker == ASSISTANT]
    return answers[-1] if answers else text


def find_prompt(text: str) -> str | None:
    """Return the contents before the last answer of a text that begins as a chat template does; None without one."""
    messages = parse_template(text)
    answers = [number for number, message in enumerate(messages) if message.speaker == ASSISTANT]
    return _join_contents(messages[: answers[-1]]) if answers else None


def unwrap_prompt(prompt: str) -> str:
    """Return the contents of a prompt that is a chat template's string, without control tokens."""
    return _join_contents(parse_template(prompt) or [Message(USER, prompt)])


def _join_contents(messages: Sequence[Message]) -> str:
    return "\n\n".join(filter(None, (_without_tokens(message.text).strip() for message in messages)))


def _without_turns(text: str) -> str:
    """Return an answer without the turns that a model went on to write, after the token that ends its own."""
    heads = (head.start() for head in _HEAD.finditer(text) if _speaker(head[0]) == USER)
    return next((text[:start] for start in heads if _END.search(text[:start])), text)


def _without_tokens(text: str) -> str:
    if not mentions_tokens(text):
        return text
    text = _START.sub("", text)
    if (end := _END.search(text)) is not None:
        is_mention = end[0].startswith(" ") and text[: end.start()][-1:].isalnum() and len(TOKEN.findall(end[0])) == 1
        text = text if is_mention else text[: end.start()]
    return _BETWEEN.sub(lambda match: "" if match[0].endswith(" ") else "\n\n", text)


def mentions_tokens(text: str) -> bool:
    """Return whether a text without wrapping has special tokens: it speaks about them."""
    return TOKEN.search(text) is not None


_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(?:markdown|md|mediawiki|wikitext|wiki|text|txt)[ \t]*\n", re.MULTILINE)


def _without_fence(text: str) -> str:
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


def _without_front_matter(text: str) -> str:
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


_TIMES = re.compile(r"\s*(?:\d+:)?\d+:\d+[.,]\d+\s*-->")
_SUBTITLES = re.compile(rf"\s*(?:WEBVTT\b|(?:\d+\s*\n)?{_TIMES.pattern})")
_MARKS = re.compile(r"</?[a-z][^>]*>|<\d[\d:.]*>|\{\\[^}]*\}", re.IGNORECASE)
"""Tags of type and of speakers, times inside of a line, and positions ({\\an8})."""
_VOICE = re.compile(r"<v(?:\.\w+)* ([^>]*)>|</v>")
_SPEAKER = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_(][\w.'’-]*){0,3}: (?=\S)")
_REPEATED, _FEWEST_CUES = 0.3, 4
"""Share of the lines of captions from which they repeat the line before; fewest lines by which to tell."""


def _cues(text: str) -> list[int]:
    """Return the numbers of the lines of subtitles that are said: those after times, up to an empty line."""
    numbers, is_said = [], False
    for number, line in enumerate(text.split("\n")) if _SUBTITLES.match(text) else ():
        is_said = bool(_TIMES.match(line)) or (is_said and line != "")
        if is_said and not _TIMES.match(line):
            numbers.append(number)
    return numbers


def _edit_cues(text: str, edit: Callable[[list[str]], Sequence[str | None]]) -> str:
    """Return subtitles with the lines that are said as `edit` returns them; None removes one."""
    numbers, lines = _cues(text), list[str | None](text.split("\n"))
    for number, line in zip(numbers, edit([lines[number] or "" for number in numbers]), strict=True):
        lines[number] = line
    return "\n".join(line for line in lines if line is not None)


def _without_speakers(text: str) -> str:
    def edit(lines: list[str]) -> list[str]:
        bare = [_VOICE.sub("", line) for line in lines]
        return [_SPEAKER.sub("", line, count=1) for line in bare] if _is_transcript(bare) else bare

    return _edit_cues(text, edit)


def _is_transcript(lines: Sequence[str]) -> bool:
    """Return whether lines begin with names of speakers, most of which come again."""
    names = [match[0] for line in lines if (match := _SPEAKER.match(line))]
    return len(names) >= max(_FEWEST_CUES, len(lines) / 2) and len(set(names)) <= len(names) / 2


def read_transcript(text: str) -> list[Message]:
    """Return what speakers say in subtitles, or in lines that begin with their names; empty if these are absent."""
    lines = _without_repeats(text).split("\n")
    lines = [lines[number] for number in _cues("\n".join(lines))] or [line for line in lines if line.strip()]
    has_names = _is_transcript(lines)
    said = list[Message]()
    for line in lines:
        voice, name = _VOICE.search(line), _SPEAKER.match(line) if has_names else None
        if voice or name or said:
            speaker = voice[1] if voice else name[0][:-2] if name else said[-1].speaker
            said.append(Message(speaker, _MARKS.sub("", line[name.end() :] if name else line).strip()))
    return said


def _without_repeats(text: str) -> str:
    def edit(lines: list[str]) -> list[str | None]:
        said = [" ".join(_MARKS.sub("", line).split()) for line in lines]
        words = [number for number, line in enumerate(said) if line]
        again = {later for earlier, later in pairwise(words) if said[earlier] == said[later]}
        repeats = len(words) >= _FEWEST_CUES and len(again) >= _REPEATED * len(words)
        return [None if repeats and number in again else line for number, line in enumerate(lines)]

    return _edit_cues(text, edit)


def _without_times(text: str) -> str:
    numbers, lines = _cues(text), text.split("\n")
    said = (" ".join(_MARKS.sub("", lines[number]).split()) for number in numbers)
    return " ".join(filter(None, said)) if numbers else text


_TABLE = r"^.*\|.*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*(?:\n.*\|.*)*(?:\n|\Z)"
_TOKENISED = re.compile(r"(?<=\w) ([.,])(?=\s|$)")
_ATTACHED = re.compile(r"(?<=\w)[.,](?=\s|$)")
_FEWEST_BLANKS = 3


def is_tokenised(text: str) -> bool:
    """Return whether most commas and full stops of a text stand after a blank."""
    blanks = len(_TOKENISED.findall(text))
    return blanks >= _FEWEST_BLANKS and blanks > len(_ATTACHED.findall(text))


BLANKS = "blanks before punctuation, as in tokenised text"
_DETOKENIZE = (
    (re.compile(r"(?<=\S) +([.,;:!?…)\]}”’])"), r"\1"),
    (re.compile(r"([(\[{“]) +"), r"\1"),
    (re.compile(r" (n't|'(?:s|m|d|re|ve|ll))\b", re.IGNORECASE), r"\1"),
    (re.compile(r"(?<!\S)(?:\"|``|'') (.+?) (?:\"|'')(?!\S)"), r'"\1"'),
)


def detokenize(text: str) -> str:
    """Return a tokenised text without the blanks before punctuation and inside of quotation marks."""
    for pattern, by in _DETOKENIZE if is_tokenised(text) else ():
        text = pattern.sub(by, text)
    return text


_LINK = _cut(
    "](",
    r"(?<!!)\[((?:[^\[\]\n]|\[[^\[\]\n]*\])+)\]"
    r"\((?:<[^>\n]*>|(?=[^()\s]*[#/:.])[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)",
    r"\1",
)
_ADDRESS = _cut("/", r"<https?://[^>\s]+>|^ {0,3}\[[^\]\n]+\]:[ \t]+\S*/\S*.*$")
_SPAN = _cut("]{", r"\[([^\[\]]*)\]\{[.#][^{}\n]*\}", r"\1")
_ATTRIBUTES = _cut("{", r"[ \t]*\{[#.][^{}\n]*\}[ \t]*$|(?<=\))\{[\w-]+=\"[^{}]*\}")
_DIVISION = _cut("", r"^[ \t]*(?::{3,}.*|</?div\b[^>\n]*>)[ \t]*(?:\n|\Z)")
_CITATION = _cut("[", r"[^\S\n]?\[-?@[\w:.-]+(?:[;,][^\]\n]*)?\]")
_DOTALL = re.DOTALL | re.MULTILINE
_WIKI_NOTE = _cut(
    "", r"!\[\[[^\[\]\n]*\]\]|\[\[(?:File|Image|Category):[^\[\]\n]*\]\]|(?<!\S)%%.*?%%(?!\S)", "", re.DOTALL
)
_WIKI_LINK = _cut("[[", r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]", r"\1")
_BLOCK_TAG = re.compile(r"</(?:p|h[1-6]|li|blockquote|pre|tr)>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?: [^<>]*)?/?>", re.IGNORECASE)


def _without_html(text: str) -> str:
    """Return a text in HTML without its tags; tags that a text without paragraphs in HTML speaks about stay."""
    return unescape(_TAG.sub("", _BLOCK_TAG.sub("\n\n", text))) if _HTML.match(text) else text


_HTML = re.compile(r"\s*<(?:p|h[1-6]|div|blockquote)(?: [^<>]*)?>", re.IGNORECASE)
"""Beginning of a text in HTML."""
_LICENCE = _cut("PROJECT GUTENBERG", r"^(?:\*\*\* ?)?END OF TH\w+ PROJECT GUTENBERG EBOOK.*", "", _DOTALL)
_HEADER = _cut("PROJECT GUTENBERG", r"\A.*?^\*\*\* ?START OF TH\w+ PROJECT GUTENBERG EBOOK.*?\*\*\*", "", _DOTALL)
_THOUGHTS = _cut(
    "</", r"\A\s*(?:<(think|thinking|reasoning)>.*?</\1>|<details type=\"reasoning\".*?</details>)", "", re.DOTALL
)
_END_OF_THOUGHTS = _cut("</think>", r"\A(?:(?!<think>).)*?</think>", "", re.DOTALL)
"""The end alone: chat templates write the beginning into the prompt."""

_WORD = r"[^\W\u3040-\u30ff\u4e00-\u9fff]"
"""Character of a word in a script with spaces: there, an asterisk inside a word is no mark."""
_EMPHASIS = re.compile(
    rf"(?s:(?P<code>```.*?```|`[^`]+`))|(?<!{_WORD})(?<![*\\])(?P<star>\*{{1,3}})(?=[^\s*])(?P<starred>[^*\n]+)"
    rf"(?<!\s)(?P=star)(?!\*|{_WORD})|(?<![\w\\])(?P<line>_{{1,3}})(?=[^\s_])(?P<lined>[^_\n]+)(?<!\s)(?P=line)(?!\w)"
)


def _without_emphasis(text: str) -> str:
    """Return a text without the marks of bold and italic type, those inside of others included; code stays."""
    plain = _EMPHASIS.sub(lambda match: match["code"] or match["starred"] or match["lined"], text)
    return text if plain == text else _without_emphasis(plain)


WRAPPERS = (
    Wrapper("a message in JSON around the text", _without_json, '`{"role": "assistant", "content": …}`'),
    Wrapper(
        "the header and the licence of Project Gutenberg",
        lambda text: _HEADER(_LICENCE(text)),
        "`*** START OF THE PROJECT GUTENBERG EBOOK …`",
        re.compile(r"^Title:[ \t]*(.+)$", re.MULTILINE),
    ),
    Wrapper("a chat template before the answer", _without_template, "`[INST] … [/INST]`, `user … assistant`"),
    Wrapper("turns after the end of the answer", _without_turns, "what a model goes on to write after its end token"),
    Wrapper("control tokens", _without_tokens, "`</s>`, `<eos>`, `[/INST]`, and those between bars, as of ChatML"),
    Wrapper(
        REASONING,
        lambda text: _END_OF_THOUGHTS(_THOUGHTS(text)),
        '`<think>…</think>`, `<details type="reasoning">`',
    ),
    Wrapper(FENCE, _without_fence, "a fence of three backquotes and `markdown`"),
    Wrapper(
        FRONT_MATTER,
        _without_front_matter,
        "`---`, keys, `---`; the abstract stays",
        re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE),
    ),
    Wrapper("marks for line breaks", _cut("<newline>", r"[ \t]*<newline>[ \t]*", "\n"), "`<newline>`"),
    Wrapper("names of speakers in a transcript", _without_speakers, "`Ann Lee: …`, `<v Ann Lee>` in subtitles"),
    Wrapper("lines of captions that repeat", _without_repeats, "the rolling captions of video sites"),
    Wrapper("numbers and times of subtitles", _without_times, "`00:01:02,000 --> …`; all lines are joined"),
    Wrapper(
        "marks of a conversion",
        lambda text: _CITATION(_DIVISION(_ATTRIBUTES(_SPAN(text)))),
        "`::: {.class}`, `<div>`, `[@key]`",
    ),
    Wrapper("tags of HTML", _without_html, "`<p>…</p>`, `&amp;` in texts that begin with a paragraph in HTML"),
    Wrapper(
        "links, files and comments of wikis",
        lambda text: _WIKI_LINK(_WIKI_NOTE(text)),
        "`[[page|words]]`, `![[file]]`, `%%…%%`",
    ),
    Wrapper("images in Markdown", _cut("![", r"!\[[^\]\n]*\]\([^)\n]*\)[ \t]*"), "`![…](…)`"),
    Wrapper(
        "footnotes in Markdown",
        _cut("[^", r"^ {0,3}\[\^[^\]\s]+\]:.*(?:\n(?: {2,}|\t)\S.*)*(?:\n|\Z)|\[\^[^\]\s]+\](?!:)"),
        "`[^1]`, `[^1]: …`",
    ),
    Wrapper("rows of tables in Markdown", _cut("|", _TABLE), "lines of cells between bars"),
    Wrapper("addresses of links in Markdown", lambda text: _ADDRESS(_LINK(text)), "`[words](address)`"),
)
"""All kinds, in the order in which they are taken off."""
MARKS = (
    Wrapper(
        "thematic breaks in Markdown",
        _cut("", r"^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})(?:\n|\Z)"),
        "`---`, `* * *`",
    ),
    Wrapper("marks of bold and italic type in Markdown", _without_emphasis, "`**bold**`, `_italic_`"),
)
"""Kinds that are taken off sections, since the lines of headings have such marks, too."""
