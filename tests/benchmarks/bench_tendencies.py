"""Tendencies: tokens/s on one core against a plain Counter over the same tokenizer, and memory against documents.

The projection reads and writes files and measures all features besides.

Real text is used where MACROSCOPE_REAL_TEXT (or ../shared/data) has it; simulated text repeats its words more, which
favours a memory of words.
"""

import lzma
import os
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from _report import peak_megabytes, quiet, say, seconds
from sacremoses import MosesTokenizer

from macroscope.corpora.simulated.articles import simulate_documents
from macroscope.corpora.simulated.process import wiki_process
from macroscope.critics.tendencies import projection
from macroscope.critics.tendencies.latents import read_token_counts
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.documents import Collection, Document, Provenance, Section, in_batches, write_documents
from macroscope.files import REPOSITORY
from macroscope.natural_language.tokens import MosesTokens

DOCUMENTS, OF_REFERENCE = 20_000, 1000
REAL_TEXT = Path(os.environ.get("MACROSCOPE_REAL_TEXT", REPOSITORY.parent / "shared" / "data"))
ARCHIVE = REAL_TEXT / "enwiki_extracted_text" / "wikitasks_docs_min60words.txt.xz"


def texts() -> tuple[str, list[str]]:
    """Return a description of the texts, and the texts."""
    if ARCHIVE.exists():
        with lzma.open(ARCHIVE, "rt", encoding="utf-8") as stream:
            articles = stream.read().split("</doc>")[:DOCUMENTS]
        return "real text", [article.partition(">")[2] for article in articles]
    simulated = simulate_documents(wiki_process(), "process", DOCUMENTS, 1)
    return "simulated text", ["\n".join(s.text for s in document.sections) for document in simulated]


def plain(documents: list[str]) -> Counter[str]:
    """Count the tokens, one text after another."""
    tokenizer, counts = MosesTokenizer("en"), Counter()
    for text in documents:
        for line in text.split("\n"):
            counts.update(token.lower() for token in tokenizer.tokenize(line, escape=False))
    return counts


def counted(documents: list[str]) -> int:
    """Only tokenize and count."""
    tokenize, total = MosesTokens("en"), 0
    for texts in in_batches(documents, 256):
        batch = tokenize(texts)
        total += int(np.bincount(batch.ids, minlength=len(batch.types)).sum())
    return total


def write_short_documents(folder: str, number: int) -> None:
    """Write documents of eight words, of which there are 5,000."""
    random, words = Random(0), [f"word{n}" for n in range(5000)]
    texts = (" ".join(random.choices(words, k=8)) for _ in range(number))
    documents = (Document(str(n), "test", None, (Section("x", text),)) for n, text in enumerate(texts))
    write_documents(Path(folder, "short.parquet"), documents, Provenance("bench"))


def project_on_one_core(folder: str) -> None:
    """Project the short documents."""
    projection.usable_cores = lambda: 1
    texts = Collection(Path(folder, "short.parquet"))
    projection.project(texts, language="en", options=TendenciesOptions(), output=Path(folder, "short.latents.parquet"))


def main() -> None:
    """Print tokens/s and memory."""
    projection.usable_cores = lambda: 1
    what, sample = texts()
    reference_tokens = plain(sample[:OF_REFERENCE]).total()
    reference = reference_tokens / seconds(lambda: plain(sample[:OF_REFERENCE]), 3)
    total = counted(sample)
    ours = total / seconds(lambda: counted(sample))
    say(f"tokens/s counted, {what}", f"{ours:,.0f}", f"{reference:,.0f}", ours / reference, "5")
    with tempfile.TemporaryDirectory() as name, quiet():
        folder = Path(name)
        # The first half meets its words for the first time, the second mostly again, as most of a large corpus does.
        for part, half in (("first", sample[: DOCUMENTS // 2]), ("next", sample[DOCUMENTS // 2 :])):
            documents = [Document(str(n), "test", None, (Section("x", text),)) for n, text in enumerate(half)]
            write_documents(folder / "documents.parquet", documents, Provenance("bench"))
            latents = folder / "latents.parquet"
            read = Collection(folder / "documents.parquet")
            run = partial(projection.project, read, language="en", options=TendenciesOptions(), output=latents)
            time = seconds(run)
            ours = int(read_token_counts(latents).texts["tokens"].sum()) / time
            say(f"projected, {part} {len(half):,} texts", f"{ours:,.0f}", f"{reference:,.0f}", ours / reference, "-")
        peak = {}
        for number in (100_000, 1_000_000):
            write_short_documents(name, number)
            peak[number] = peak_megabytes(project_on_one_core, name)
        say("peak memory, 1 M documents (MB)", f"{peak[10**6]:.0f}", f"{peak[10**5]:.0f} (100 k)",
            peak[10**5] / peak[10**6], "about 1: flat")  # fmt: skip


if __name__ == "__main__":
    main()
