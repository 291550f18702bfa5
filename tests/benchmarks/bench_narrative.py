"""Narrative: segments/s by sentence and by token; replacements for 126,524 stories; BM25 against a plain one.

The plain BM25 keeps postings in dictionaries and adds up scores word by word, one query at a time. It runs on a part of
the queries.
"""

import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from _report import peak_megabytes, say, seconds
from transformers import BertConfig, BertModel

from macroscope.corpora.simulated.scripts import script_process, simulate_texts
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.distractors import Matches, MatchIndex, Pool, find_best_matches, find_replacements
from macroscope.critics.narrative.examples import NONE
from macroscope.critics.narrative.sentence_detector import SentenceDetector, Size
from macroscope.critics.narrative.token_detector import TokenDetector
from macroscope.critics.narratives import Narratives
from macroscope.files import REPOSITORY
from macroscope.natural_language.words import lower_case_words

STORIES, SENTENCES, CANDIDATES, OF_REFERENCE, OF_INDEX = 126_524, 5, 100, 20, 2000
REAL_TEXT = Path(os.environ.get("MACROSCOPE_REAL_TEXT", REPOSITORY.parent / "shared" / "data"))
TIMETRAVEL = REAL_TEXT / "timetravel" / "dev_data.json"
K1, B = 1.5, 0.75


def sentences_of_stories() -> list[str]:
    """Return as many sentences as the paper's training stories have, with halves joined at random."""
    if TIMETRAVEL.exists():
        records = [json.loads(line) for line in TIMETRAVEL.open(encoding="utf-8")]
        sentences = {
            s for r in records for s in (r["premise"], r["initial"], *(s for e in r["edited_endings"] for s in e))
        }
    else:
        sentences = {s for d in simulate_texts(script_process(), "process", 3000, 1) for s in d.sentences or ()}
    words = [sentence.split() for sentence in sorted(sentences)]
    rng = np.random.default_rng(1)
    pairs = rng.integers(len(words), size=(STORIES * SENTENCES, 2))
    return [" ".join(words[a][: len(words[a]) // 2] + words[b][len(words[b]) // 2 :]) for a, b in pairs]


def asked(sentences: list[str]) -> np.ndarray:
    """Number of the sentence of each story that is replaced."""
    return np.arange(STORIES) * SENTENCES + np.random.default_rng(2).integers(SENTENCES, size=STORIES)


def pool_of(sentences: list[str], kind: str) -> Pool:
    """Return the pool of replacements: all sentences, or the replaced ones."""
    numbers = range(len(sentences)) if kind == "corpus" else asked(sentences)
    return Pool.of(sentences, [int(n) for n in numbers], np.arange(len(sentences)) // SENTENCES)


def matches(sentences: list[str], kind: str) -> Matches:
    """The best matches of all sentences that are replaced."""
    queries = [sentences[number] for number in asked(sentences)]
    return find_best_matches(pool_of(sentences, kind).texts, queries, CANDIDATES, threads=os.cpu_count() or 1)


def replacements(sentences: list[str], candidates: Matches, kind: str) -> None:
    """Choose among the matches, without a limit on similarity."""
    numbers = asked(sentences)
    texts = [sentences[number] for number in numbers]
    find_replacements(
        texts, numbers // SENTENCES, pool_of(sentences, kind), candidates, None, 2.0, kind == "exchanged", 1
    )


def search_and_choose() -> None:
    """Find the matches of all sentences that are replaced, and choose among them."""
    sentences = sentences_of_stories()
    replacements(sentences, matches(sentences, "corpus"), "corpus")


class PlainBM25:
    """BM25 in the form of Lucene, without arrays."""

    def __init__(self, pool: list[str]) -> None:
        counts = [Counter(lower_case_words(text)) for text in pool]
        self.lengths = [sum(words.values()) for words in counts]
        self.mean = sum(self.lengths) / len(self.lengths)
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(counts):
            for word, count in words.items():
                self.postings[word].append((number, count))

    def best(self, query: str, most: int) -> list[int]:
        """Numbers of the best matches."""
        scores: dict[int, float] = defaultdict(float)
        for word in lower_case_words(query):
            having = self.postings.get(word, [])
            idf = np.log(1 + (len(self.lengths) - len(having) + 0.5) / (len(having) + 0.5))
            for number, count in having:
                norm = K1 * (1 - B + B * self.lengths[number] / self.mean)
                scores[number] += idf * count / (count + norm)
        return sorted(scores, key=lambda number: (-scores[number], number))[:most]


def speeds(layers: int, width: int, words: int) -> tuple[float, float]:
    """Segments/s of both levels with equal transformers, 8 sentences each; embeddings, or tokens, are given."""
    rng = np.random.default_rng(1)
    sentences = [" ".join(f"w{n}" for n in rng.integers(1000, size=words)) for _ in range(8 * 32)]
    vectors = rng.normal(size=(len(sentences), width)).astype(np.float16)
    starts = np.arange(0, len(sentences) + 1, 8)
    told = Narratives([""] * 32, ["test"] * 32, [""] * 32, sentences, starts)
    told = told.with_vectors(vectors, np.zeros(len(sentences), bool))
    inputs = np.arange(len(sentences)).reshape(-1, 8)
    torch.manual_seed(1)
    size = Size(width, width, layers, width // 64, width, 0.1, 8)
    config = BertConfig(
        vocab_size=30_000,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
    )
    by_sentence = Detector("discordant", "sentence", 8, 0, SentenceDetector(size))
    by_token = Detector("discordant", "token", 8, 0, TokenDetector(BertModel(config), width), _Tokenizer(), 64)
    many = np.tile(inputs, (16, 1))
    return (
        len(many) / seconds(lambda: by_sentence.outputs(told, many)),
        len(inputs) / seconds(lambda: by_token.outputs(told, inputs)),
    )


class _Tokenizer:
    """A token a word."""

    cls_token_id, sep_token_id, pad_token_id = 1, 2, 0

    def __call__(self, sentences: list[str], add_special_tokens: bool) -> dict[str, list[list[int]]]:
        return {"input_ids": [[3 + int(word[1:]) for word in sentence.split()] for sentence in sentences]}


def main() -> None:
    """Report."""
    for layers, width in ((6, 384), (12, 768)):
        by_sentence, by_token = speeds(layers, width, 15)
        name = f"segments/s, {layers} layers of {width}"
        say(name, f"{by_sentence:,.0f}/s", f"{by_token:,.1f}/s by token", by_sentence / by_token, "the paper's 21")
    sentences = sentences_of_stories()
    queries = [sentences[number] for number in asked(sentences)]
    for kind in ("corpus", "exchanged"):
        results: list[Matches] = []
        search = seconds(lambda kind=kind, results=results: results.append(matches(sentences, kind)))
        choice = seconds(lambda kind=kind, results=results: replacements(sentences, results[0], kind))
        assert (results[0].numbers != NONE).all()
        whole = search + choice
        say(f"{len(queries):,} replacements, {kind}", f"{search:.0f} + {choice:.0f} s", "600 s", 600 / whole, "1")
    plain = PlainBM25(sentences)
    slow = seconds(lambda: [plain.best(query, CANDIDATES) for query in queries[:OF_REFERENCE]]) / OF_REFERENCE
    index = MatchIndex(sentences)
    index.find(queries[:1], CANDIDATES)  # compiles the search
    fast = seconds(lambda: index.find(queries[:OF_INDEX], CANDIDATES)) / OF_INDEX
    say(f"BM25 on {len(sentences):,}, 1 thread", f"{1 / fast:,.0f}/s", f"{1 / slow:,.1f}/s plain", slow / fast, "10")
    peak = peak_megabytes(search_and_choose)
    say("memory of search and choice", f"{peak:,.0f} MB", "8,000 MB", 8000 / peak, "1")


if __name__ == "__main__":
    main()
