"""N-gram models: counting against lists of words in a Counter, sampling against a draw a word in plain Python.

The texts are words drawn by Zipf's law, so that far more n-grams differ than in real text. KenLM's lmplz, which counts
and estimates, is the other reference where it is on the PATH.
"""

import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from _report import peak_megabytes, say, seconds

from macroscope.systems.ngram.counts import count_ngrams, read_words
from macroscope.systems.ngram.generation import NgramSampler
from macroscope.systems.ngram.model import NgramModel, estimate, to_backoff_model, write_word_numbers

ORDER, WORDS, VOCABULARY, TEXT = 3, 2_000_000, 50_000, 25
SAMPLES, MOST = 4000, 200


def texts() -> list[list[str]]:
    """Texts of `TEXT` words each."""
    rng = np.random.default_rng(0)
    shares = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    drawn = np.searchsorted(shares / shares[-1], rng.random((WORDS // TEXT, TEXT)))
    return [[f"w{word}" for word in row] for row in drawn.tolist()]


def ours(documents: list[list[str]], folder: Path) -> NgramModel:
    """Count n-grams and return the unsmoothed model."""
    with (folder / "stream").open("wb") as stream:
        words = write_word_numbers(documents, stream)
    shutil.rmtree(folder / "counts", ignore_errors=True)
    trie = count_ngrams(read_words(folder / "stream"), ORDER, len(words), 0, folder / "counts")
    return estimate(trie, "none", unknown=False, folder=folder)


def in_plain_python(documents: list[list[str]]) -> dict[tuple[str, ...], tuple[list[str], np.ndarray]]:
    """Return the continuations of every context, and their cumulative counts."""
    counts = [Counter[tuple[str, ...]]() for _ in range(ORDER)]
    for text in documents:
        padded = ["<s>", *text, "</s>"]
        for n, counter in enumerate(counts, 1):
            counter.update(tuple(padded[i : i + n]) for i in range(len(padded) - n + 1))
    following: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for counter in counts[1:]:
        for ngram, count in counter.items():
            following[ngram[:-1]].append((ngram[-1], count))
    return {
        context: ([word for word, _ in counted], np.cumsum([count for _, count in counted]))
        for context, counted in following.items()
    }


def draw_in_plain_python(following: dict, samples: int) -> int:
    """Words of so many texts, one after the other."""
    rng, drawn = np.random.default_rng(0), 0
    for _ in range(samples):
        text = ["<s>"]
        while len(text) <= MOST and text[-1] != "</s>":
            words, up_to = following[tuple(text[-(ORDER - 1) :])]
            text.append(words[int(np.searchsorted(up_to, rng.random() * up_to[-1], side="right"))])
        drawn += len(text) - 1
    return drawn


def lmplz(documents: list[list[str]], folder: Path) -> None:
    """Write an ARPA file of a Kneser-Ney model with KenLM."""
    command = ["lmplz", "-o", str(ORDER), "--discount_fallback", "-S", "1G", "-T", str(folder)]
    lines = "".join(" ".join(text) + "\n" for text in documents).encode()
    subprocess.run(command, input=lines, capture_output=True, check=True)


def memory(words: int) -> float:
    """Peak memory of counting texts of numbers, in MB."""
    with tempfile.TemporaryDirectory() as name:
        numbers = np.random.default_rng(0).zipf(1.2, words) % VOCABULARY + 2
        numbers[::26] = 0
        numbers.astype(np.int32).tofile(Path(name) / "stream")
        return peak_megabytes(count_numbers, name)


def count_numbers(folder: str) -> None:
    """Count the n-grams of the texts of numbers in a folder."""
    count_ngrams(read_words(Path(folder, "stream")), ORDER, VOCABULARY + 2, 0, Path(folder, "counts"))


def main() -> None:
    """Print words/s of both, and how memory grows."""
    documents = texts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counting = seconds(lambda: ours(documents, folder))
        reference = seconds(lambda: in_plain_python(documents))
        rates = WORDS / counting, WORDS / reference
        say("words/s counted, order 3", *(f"{rate:,.0f}" for rate in rates), rates[0] / rates[1], "> 1: Counter")
        if shutil.which("lmplz"):
            theirs = seconds(lambda: lmplz(documents, folder))

            def smoothed() -> None:
                model = ours(documents, folder)
                words = [str(word) for word in range(model.trie.words)]
                to_backoff_model(estimate(model.trie, "kneser_ney", unknown=True, folder=folder), words)

            time = seconds(smoothed)
            say("words/s estimated", f"{WORDS / time:,.0f}", f"{WORDS / theirs:,.0f}", theirs / time, "> 1: lmplz")
        else:
            print("words/s estimated: lmplz of KenLM is not on the PATH")
        model, following = ours(documents, folder), in_plain_python(documents)
        sampler, drawn = NgramSampler(model, 1, MOST), []
        taken = seconds(lambda: drawn.append(sum(map(len, sampler.generate(SAMPLES, np.random.default_rng(0))))))
        mine = drawn[0] / taken
        taken = seconds(lambda: drawn.append(draw_in_plain_python(following, SAMPLES // 10)))
        peer = drawn[1] / taken
        say("words/s sampled", f"{mine:,.0f}", f"{peer:,.0f}", mine / peer, "> 1: a word at a time")
    small, large = memory(WORDS), memory(10 * WORDS)
    say("MB for 20 and for 2 million words", f"{large:,.0f}", f"{small:,.0f}", 10 * small / large, "5: not as the text")


if __name__ == "__main__":
    main()
