"""Moses tokens: the same as those of the port for the whole text."""

import itertools
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from macroscope.natural_language import tokens
from macroscope.natural_language.tokens import MosesTokens

TEXTS = [
    "",
    "   ",
    "Hello",
    "The end.",
    "Mr. Smith went to Washington. he said U.S. troops (approx. 1,000) left.",
    "No. 5 is alive, No. Five is not, No. is the end.",
    "It cost $5,300.50, i.e. 10% more; don't you think so? 'Tis said dogs' tails wag.",
    "Ellipsis ... and more .... dots. End...",
    "the 1990s' music, rock'n'roll, O'Neill's",
    "A comma ,here and 1,000,000, or 5, apples,oranges",
    '"Quoted." He said: "no!" (really?) [sic] {x}',
    "well-known state-of-the-art — dash – dash",
    "e.g. this, etc. And so on.",
    "He left.' She stayed.'",
    "Ünïcödé naïve café 北京 Москва ½ № 5",
]
LANGUAGES = ("en", "fr", "de")


def listed(batch):
    """Return the tokens of each text."""
    tokens = [batch.types[i] for i in batch.ids]
    ends = np.cumsum(batch.lengths)
    return [tokens[end - length : end] for end, length in zip(ends, batch.lengths, strict=True)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", TEXTS)
def test_same_tokens_as_the_port(text, language):
    peer = [token.lower() for token in MosesTokenizer(language).tokenize(text, escape=False)]
    assert listed(MosesTokens(language)([text])) == [peer]


PIECES = st.sampled_from(
    """a The No. e.g. end. x.y. 5 5,000 1990's dog's dogs' , . ... well-known (b) it's B, $5 p.""".split()
)


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(PIECES, max_size=9).map(" ".join))
def test_tokens_depend_on_no_more_context_than_the_key(text):
    assert listed(OURS([text]))[0] == [token.lower() for token in PEER.tokenize(text, escape=False)]


OURS, PEER = MosesTokens("en"), MosesTokenizer("en")


@pytest.mark.slow
def test_real_lines_have_the_same_tokens_as_the_port(real_text):
    archive = real_text("enwiki_extracted_text") / "wikitasks_docs_min60words.txt.xz"
    with lzma.open(archive, "rt", encoding="utf-8") as stream:
        lines = [line for line in itertools.islice(stream, 4000) if line.strip()]
    peer = [[token.lower() for token in PEER.tokenize(line, escape=False)] for line in lines]
    assert listed(MosesTokens("en")(lines)) == peer


def test_the_cache_does_not_change_results():
    ours = MosesTokens("en")
    ours(["zebras and apes"])
    after, alone = ours(["apes, ants and zebras"]), MosesTokens("en")(["apes, ants and zebras"])
    assert after.types == alone.types == ["apes", ",", "ants", "and", "zebras"]
    assert after.ids.tolist() == alone.ids.tolist()


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(tokens, "MAX_CACHED_WORDS", 10)
    ours = MosesTokens("en")
    for n in range(100):
        assert listed(ours([f"word{n} again"])) == [[f"word{n}", "again"]]
    assert len(ours._words) <= 10
