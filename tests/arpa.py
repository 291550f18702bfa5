"""ARPA files: n-gram models as text, which KenLM reads and writes.

A line is `log10 P <tab> words <tab> log10 back-off`.
"""

from pathlib import Path

import numpy as np

from macroscope.systems.ngram.model import UNKNOWN, BackoffModel


def write_arpa(model: BackoffModel, path: Path) -> None:
    """Write a model as an ARPA file."""
    names = list(model.words)
    spelled = [[names[key] for key in model.trie.levels[0].keys.tolist()]]
    for n, level in enumerate(model.trie.levels[1:], 1):
        contexts, lasts = np.divmod(level.keys, model.trie.words)
        ngrams_of_level = zip(contexts.tolist(), lasts.tolist(), strict=True)
        spelled.append([f"{spelled[n - 1][context]} {names[last]}" for context, last in ngrams_of_level])
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        sizes = [len(level.keys) + (n == 0) for n, level in enumerate(model.trie.levels)]
        stream.write("\\data\\\n" + "".join(f"ngram {n}={size}\n" for n, size in enumerate(sizes, 1)))
        for n, ngrams in enumerate(spelled):
            stream.write(f"\n\\{n + 1}-grams:\n")
            if n == 0:
                stream.write(f"{model.unknown:.9g}\t{UNKNOWN}\t0\n")
            backoffs = model.backoffs[n] if n < len(model.backoffs) else None
            for i, (ngram, log) in enumerate(zip(ngrams, model.log_probabilities[n].tolist(), strict=True)):
                stream.write(f"{log:.9g}\t{ngram}" + (f"\t{backoffs[i]:.9g}\n" if backoffs is not None else "\n"))
        stream.write("\n\\end\\\n")
