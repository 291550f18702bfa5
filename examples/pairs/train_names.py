"""Train the weights of the use of names on public texts by people (docs/critics/coreference.md).

    python examples/pairs/train_names.py DATA name_weights.json

DATA has the folders `litbank_coref`, `wikitext2` and `fast_detect_gpt` of published sets: excerpts of novels, passages
of Wikipedia and news. None of them is among the texts of docs/sensitivity.md.
"""

import gzip
import json
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from macroscope.critics.coreference.evaluation.name_training import train
from macroscope.files import write_json

SENTENCES = 35
"""Sentences per passage of a novel."""
WORDS = (120, 600)
"""Smallest and largest length of a passage of Wikipedia."""
_BLANKS = re.compile(r" ([.,!?;:%)\]]|['’]s\b)")


def main(data: Path, output: Path) -> None:
    """Write the weights."""
    texts = [*read_novels(data / "litbank_coref" / "litbank_coref.tar.xz"), *read_wikipedia(data / "wikitext2")]
    texts += read_originals(data / "fast_detect_gpt" / "exp_main__xsum_gpt2-xl.raw_data.json.gz")
    about = f"{len(texts)} texts of LitBank, WikiText-2 and XSum"
    write_json(output, {"trained_on": about, "weights": train(texts, seed=1)})


def read_novels(path: Path) -> Iterator[str]:
    """Yield passages of the novels of LitBank, from its CoNLL files."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".conll") else None
            if file is None:
                continue
            blocks = file.read().decode().split("\n\n")
            rows = [[line.split("\t") for line in block.splitlines()] for block in blocks]
            sentences = [" ".join(row[3] for row in block if len(row) > 3) for block in rows]
            for start in range(0, len(sentences) - SENTENCES + 1, SENTENCES):
                yield _BLANKS.sub(r"\1", " ".join(sentences[start : start + SENTENCES]))


def read_wikipedia(folder: Path) -> Iterator[str]:
    """Yield sections of the articles of WikiText-2's validation and test sets."""
    for name in ("valid", "test"):
        sections = re.split(r"\n =.*= \n", (folder / f"{name}.txt").read_text(encoding="utf-8"))
        texts = [_BLANKS.sub(r"\1", section.replace("<unk>", "thing")).strip() for section in sections]
        yield from (text for text in texts if WORDS[0] < len(text.split()) < WORDS[1])


def read_originals(path: Path) -> list[str]:
    """Read the texts by people of a file of fast-detect-gpt."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(dict.fromkeys(json.load(file)["original"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
