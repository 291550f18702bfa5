"""Copies: words/s searched, and memory, against a plain set of n-grams, and against the size of the texts."""

import tempfile
from pathlib import Path
from random import Random

from _report import peak_megabytes, say, seconds

from macroscope.copies.search import LENGTHS, Search
from macroscope.documents import Document, Provenance, Section, read_documents, write_documents
from macroscope.natural_language.words import lower_case_words

TEXTS, WORDS = 2_000, 500


def write_texts(path: Path, number: int, seed: int) -> None:
    """Write texts of random words, whose n-grams are all different."""
    random, words = Random(seed), ["".join(Random(n).choices("abcdefghij", k=6)) for n in range(20_000)]
    texts = (" ".join(random.choices(words, k=WORDS)) for _ in range(number))
    documents = (Document(str(n), "test", None, (Section(None, text),)) for n, text in enumerate(texts))
    write_documents(path, documents, Provenance("bench"))


def search(searched: Path, wanted: Path) -> int:
    """Search all n-grams; return the number that was found."""
    texts = Search([*read_documents(wanted)])
    texts.read(read_documents(searched))
    return int(texts.table()[[f"found_{length}" for length in LENGTHS]].to_numpy().sum())


def search_in_set(searched: Path, wanted: Path) -> int:
    """Do the same with a set of tuples."""
    grams = {gram for document in read_documents(searched) for gram in _ngrams(document)}
    return sum(gram in grams for document in read_documents(wanted) for gram in _ngrams(document))


def _ngrams(document: Document) -> list[tuple[str, ...]]:
    words = lower_case_words(document.text)
    return [tuple(words[at : at + length]) for length in LENGTHS for at in range(len(words) - length + 1)]


def main() -> None:
    """Print words/s and memory."""
    with tempfile.TemporaryDirectory() as name:
        files = {number: Path(name, f"{number}.parquet") for number in (100, TEXTS, 4 * TEXTS)}
        for number, path in files.items():
            write_texts(path, number, 1)  # the shorter files are the beginnings of the longer ones
        wanted, few, many = files.values()
        assert search(few, wanted) == search_in_set(few, wanted) > 0
        ours, plain = (TEXTS * WORDS / seconds(lambda f=f: f(few, wanted)) for f in (search, search_in_set))
        say("words/s searched", f"{ours:,.0f}", f"{plain:,.0f} (a set)", ours / plain, "-")
        peak = {path: peak_megabytes(search, path, wanted) for path in (few, many)}
        of_set = peak_megabytes(search_in_set, few, wanted)
        say("peak memory, 1 M words (MB)", f"{peak[few]:.0f}", f"{of_set:.0f} (a set)", of_set / peak[few], "-")
        ratio = peak[few] / peak[many]
        say("peak memory, 4 M words (MB)", f"{peak[many]:.0f}", f"{peak[few]:.0f} (1 M)", ratio, "about 1: flat")


if __name__ == "__main__":
    main()
