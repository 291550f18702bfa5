"""Texts with sentences that do not belong -> files for `macroscope sentences`; AUC of its table against the marks.

    python examples/sentences/marked.py prepare DATA texts
    macroscope sentences --reference texts/NAME/real.jsonl --candidate texts/NAME/damaged.jsonl --output NAME.csv
    python examples/sentences/marked.py evaluate NAME.csv texts/NAME/marks.csv

A table of marks has the columns `document`, `sentence` (its number, from 1) and `marked`: 0 or 1, or a share of people.
DATA holds stories of TimeTravel (MIT), abstracts with sentences by a language model (vijini/GeneratedTextDetection, CC
BY 4.0), abstracts by people, and paragraphs of WikiText-103 (CC BY-SA 3.0).
"""

import gzip
import io
import json
import random
import re
import sys
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from macroscope.natural_language.sentences import split_sentences

REAL, DAMAGED, FEWEST = 500, 200, 4
"""Largest numbers of real and of damaged texts, and fewest sentences of a text."""
RESAMPLES = 1000
MARKED = 0.5
"""Share of people from which a sentence counts as marked."""


def prepare(data: Path, output: Path) -> None:
    """Write all sets: `real.jsonl`, `damaged.jsonl` and `marks.csv` of each."""
    generator = random.Random(1)
    lines = (data / "timetravel" / "dev_data.json").read_text(encoding="utf-8").splitlines()
    stories = [(s["premise"], s["initial"], *_split(s["original_ending"])) for s in map(json.loads, lines)]
    _exchange(stories, generator, output / "stories")
    lines_of_wiki = (data / "blindspot_wiki" / "refs1.txt").read_text(encoding="utf-8").splitlines()
    paragraphs = [_split(line.replace("\\n", " ")) for line in lines_of_wiki]
    _exchange(paragraphs, generator, output / "paragraphs")
    _move(stories, generator, output / "moved-stories")
    _move(paragraphs, generator, output / "moved-paragraphs")
    _abstracts(data, output / "abstracts")
    _rewritten(list(map(json.loads, lines)), output / "rewritten")


def _exchange(texts: list[tuple[str, ...]], generator: random.Random, output: Path) -> None:
    """One sentence of each damaged text is that of another text, at the same place."""
    usable = [text for text in texts if len(text) >= FEWEST]
    generator.shuffle(usable)
    real, damaged, marks = usable[:REAL], [], []
    for text, donor in zip(usable[REAL : REAL + DAMAGED], usable[REAL + DAMAGED :], strict=False):
        place = generator.randrange(min(len(text), len(donor)))
        damaged.append((*text[:place], donor[place], *text[place + 1 :]))
        marks.append([float(number == place) for number in range(len(text))])
    _write(output, real, damaged, marks)


def _move(texts: list[tuple[str, ...]], generator: random.Random, output: Path) -> None:
    """One sentence of each damaged text stands two or more places away from its own."""
    usable = [text for text in texts if len(text) >= FEWEST]
    generator.shuffle(usable)
    damaged, marks = [], []
    for text in usable[REAL : REAL + DAMAGED]:
        place = generator.randrange(len(text))
        target = generator.choice([candidate for candidate in range(len(text)) if abs(candidate - place) > 1])
        others = [*text[:place], *text[place + 1 :]]
        damaged.append((*others[:target], text[place], *others[target:]))
        marks.append([float(number == target) for number in range(len(text))])
    _write(output, usable[:REAL], damaged, marks)


def _abstracts(data: Path, output: Path) -> None:
    """Abstracts of papers in which a language model wrote a sentence or two; real ones are of other papers."""
    content = (data / "sci_generated_papers" / "generated_text_detection.tar.xz").read_bytes()
    damaged, marks = [], []
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for name in sorted(name for name in archive.getnames() if name.endswith("_generatedAbstract.txt")):
            text, original = (_member(archive, each) for each in (name, name.replace("generatedA", "originalA")))
            sentences = _split(text)
            damaged.append(sentences)
            marks.append([float(_letters(sentence) not in _letters(original)) for sentence in sentences])
    with gzip.open(data / "cohan_like" / "acl_like.jsonl.gz", "rt", encoding="utf-8") as lines:
        abstracts = [[re.sub(r"</?S>", "", s).strip() for s in json.loads(line)["abstract_text"]] for line in lines]
    _write(output, [each for each in abstracts if len(each) >= FEWEST][:REAL], damaged, marks)


def _rewritten(stories: list[dict[str, str]], output: Path) -> None:
    """Stories whose second sentence was changed; three people each rewrote what no longer fits: the marks."""
    real, judged, marks = [], [], []
    for number, story in enumerate(stories):
        ending = _split(story["original_ending"])
        if number < REAL:
            real.append((story["premise"], story["initial"], *ending))
        elif len(ending) == 3 and len(judged) < DAMAGED:
            people = [edited for edited in story["edited_endings"] if len(edited) == 3]
            judged.append((story["premise"], story["counterfactual"], *ending))
            shares = [
                np.mean([rewritten[n].strip() != ending[n] for rewritten in people]) if people else 0.0
                for n in range(3)
            ]
            marks.append([np.nan, np.nan, *shares])
    _write(output, real, judged, marks)


def _write(output: Path, real: list, damaged: list, marks: list) -> None:
    output.mkdir(parents=True)
    for name, texts in (("real", real), ("damaged", damaged)):
        rows = [{"id": f"{name}-{n}", "text": "\n".join(sentences)} for n, sentences in enumerate(texts)]
        (output / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    rows = [
        (f"damaged-{n}", place, mark)
        for n, values in enumerate(marks)
        for place, mark in enumerate(values, start=1)
        if not np.isnan(mark)
    ]
    pd.DataFrame(rows, columns=["document", "sentence", "marked"]).to_csv(output / "marks.csv", index=False)
    print(f"{output}: {len(real)} real texts, {len(damaged)} with {len(rows)} sentences to tell")


def evaluate(table: Path, marks: Path) -> None:
    """Print the AUC over all sentences, and the mean AUC within texts, with intervals over texts."""
    joined = pd.read_csv(table).merge(pd.read_csv(marks), on=["document", "sentence"], how="right")
    print(f"{joined['out_of_place'].isna().sum()} of {len(joined)} marked or unmarked sentences are not in the table")
    joined = joined.assign(is_marked=joined["marked"] >= MARKED, words=joined["text"].str.split().str.len())
    for name in ("out_of_place", "out_of_order", "sentence", "words"):
        documents = joined.dropna(subset=[name]).groupby("document")
        groups = [(rows["is_marked"].to_numpy(), rows[name].to_numpy(float)) for _, rows in documents]
        inside = np.array([roc_auc_score(*group) for group in groups if 0 < group[0].sum() < len(group[0])])
        generator = np.random.default_rng(1)
        samples = [
            _auc([groups[i] for i in generator.integers(len(groups), size=len(groups))]) for _ in range(RESAMPLES)
        ]
        low, high = np.nanquantile(samples, [0.025, 0.975])
        half = 1.96 * inside.std(ddof=1) / len(inside) ** 0.5
        print(
            f"{name}: AUC {_auc(groups):.3f} [{low:.3f}, {high:.3f}];"
            f" within {len(inside)} texts {inside.mean():.3f} [{inside.mean() - half:.3f}, {inside.mean() + half:.3f}]"
        )


def _auc(groups: list) -> float:
    labels, values = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return float(roc_auc_score(labels, values)) if 0 < labels.sum() < len(labels) else np.nan


def _split(text: str) -> tuple[str, ...]:
    return tuple(stripped for sentence in split_sentences(text) if (stripped := sentence.strip()))


def _member(archive: tarfile.TarFile, name: str) -> str:
    text = " ".join(archive.extractfile(name).read().decode("utf-8-sig").split())
    return re.sub(r"(\w)- (\w)", r"\1\2", text)  # words divided at the ends of lines


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


if __name__ == "__main__":
    {"prepare": prepare, "evaluate": evaluate}[sys.argv[1]](*map(Path, sys.argv[2:4]))
