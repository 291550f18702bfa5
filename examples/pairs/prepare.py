"""Prepare stories and articles by people for the measurement of pairs with known damage (docs/sensitivity.md).

    python examples/pairs/prepare.py DATA texts
    macroscope run --config examples/pairs/stories.yaml --cores 1      # 7 minutes of the processor
    macroscope run --config examples/pairs/articles.yaml --cores 1     # 4 minutes
    macroscope run --config examples/pairs/sections.yaml --cores 1     # coherence; 4 minutes
    python examples/pairs/tables.py results docs/data/pairs.csv docs/data/joined-numbers.csv

DATA has the folders `hellobench`, `hanna`, `fast_detect_gpt` and `enwiki_extracted_text` of published sets. The stories
of the first two are the test split of texts/stories.jsonl, those of the third are its training and validation splits.
texts/articles.jsonl has articles of three or more titled sections in all splits.
"""

import csv
import gzip
import io
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

SPLITS = {"test": 150, "valid": 30, "train": 200}
"""Number of articles per split; the validation split has as many stories."""
FEWEST_SECTIONS, WORDS = 3, (180, 450)
COMMON = 25
"""Smallest number of articles with a title, for it to be a section."""
LONGEST_HEADING = 4
FEWEST_WORDS = 20
"""Shorter sections are left out."""
_ARTICLE = re.compile(r'<doc id="(\d+)" url="[^"]*" title="([^"]*)">\n(.*?)\n</doc>', flags=re.DOTALL)

Sections = list[tuple[str, str]]


def main(data: Path, output: Path) -> None:
    """Write both files."""
    output.mkdir(parents=True, exist_ok=True)
    _write(output / "stories.jsonl", read_stories(data))
    _write(output / "articles.jsonl", read_articles(data / "enwiki_extracted_text"))


def read_stories(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the stories; a story that is in two sets, or twice in one, is in the test split alone."""
    sources = json.loads(_text(data / "hellobench" / "text_completion" / "_human_source.jsonl.gz", lines=True))
    hellobench = [row["text"] for row in sources]
    hanna = [row["Human"] for row in csv.DictReader(io.StringIO(_text(data / "hanna" / "hanna_llm_stories.csv.gz")))]
    judged = list({_beginning(text): text for text in [*hellobench, *hanna]}.values())
    for number, text in enumerate(judged):
        yield {"id": f"story-{number}", "split": "test", "text": text}
    learned = json.loads(_text(data / "fast_detect_gpt" / "exp_main__writing_gpt2-xl.raw_data.json.gz"))["original"]
    openings = {_beginning(text) for text in judged}
    others = [text for text in dict.fromkeys(learned) if not any(opening in _letters(text) for opening in openings)]
    for number, text in enumerate(others):
        yield {"id": f"other-{number}", "split": "valid" if number < SPLITS["valid"] else "train", "text": text}


def read_articles(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield short articles all of whose sections have common titles, the first ones by page id."""
    with lzma.open(folder / "wikitasks_docs_min60words.txt.xz", "rt", encoding="utf-8") as file:
        articles = {number: split_sections(title, text) for number, title, text in _ARTICLE.findall(file.read())}
    articles = {number: sections for number, sections in articles.items() if _is_short(sections)}
    counts = Counter(title for sections in articles.values() for title, _ in sections)
    splits = iter([split for split, size in SPLITS.items() for _ in range(size)])
    for number, sections in articles.items():
        if all(counts[title] >= COMMON for title, _ in sections) and (split := next(splits, "")):
            yield {
                "id": number,
                "split": split,
                "sections": [{"title": title, "text": text} for title, text in sections],
            }


def split_sections(title: str, text: str) -> Sections:
    """Split the text of an article at its headings, which are lines such as "Early life."."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    sections: list[tuple[str, list[str]]] = [("Introduction", [])]
    for line in lines[1:] if lines and lines[0].rstrip(".") == title else lines:
        is_heading = len(line.split()) <= LONGEST_HEADING and line.endswith(".") and line[0].isupper()
        if is_heading and not re.search(r"\d", line):
            sections.append((line[:-1], []))
        else:
            sections[-1][1].append(line)
    joined = [(title, "\n".join(lines)) for title, lines in sections]
    return [(title, text) for title, text in joined if len(text.split()) >= FEWEST_WORDS]


def _is_short(sections: Sections) -> bool:
    words = sum(len(text.split()) for _, text in sections)
    return len(sections) >= FEWEST_SECTIONS and WORDS[0] <= words <= WORDS[1]


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def _beginning(text: str) -> str:
    return _letters(text)[:80]


def _text(path: Path, lines: bool = False) -> str:
    """Return the text of a file; that of JSON Lines as a JSON list."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    return f"[{','.join(text.splitlines())}]" if lines else text


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    documents = list(rows)
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in documents), encoding="utf-8")
    print(f"{path}: {dict(Counter(row['split'] for row in documents))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
