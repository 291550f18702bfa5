"""Prepare articles with sections and stories by people for the matrix of docs/sensitivity.md.

    python examples/sensitivity/prepare.py DATA texts
    macroscope sensitivity --reference texts/articles.jsonl --output articles
    macroscope sensitivity --reference texts/stories.jsonl --output stories

DATA has the folders `enwiki_extracted_text` and `timetravel` of published sets.
"""

import json
import lzma
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ARTICLES, STORIES = 347, 324
"""So many that 200 of each are judged, and 100 per side."""
LONGEST_HEADING = 4
FEWEST_WORDS = 15
"""Shorter sections are left out."""
SECTIONS, WORDS = range(3, 6), range(100, 401)
_ARTICLE = re.compile(r'<doc id="(\d+)" url="[^"]*" title="([^"]*)">\n(.*?)\n</doc>', flags=re.DOTALL)


def main(data: Path, output: Path) -> None:
    """Write both files."""
    output.mkdir(parents=True, exist_ok=True)
    _write(output / "articles.jsonl", sample(read_articles(data / "enwiki_extracted_text"), ARTICLES, seed=2))
    _write(output / "stories.jsonl", sample(read_stories(data / "timetravel"), STORIES, seed=1))


def sample(documents: Iterable[dict[str, Any]], number: int, seed: int) -> list[dict[str, Any]]:
    """Return some of the documents, in random order."""
    shuffled = list(documents)
    random.Random(seed).shuffle(shuffled)
    return shuffled[:number]


def read_articles(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield short articles of three to five sections."""
    with lzma.open(folder / "wikitasks_docs_min60words.txt.xz", "rt", encoding="utf-8") as file:
        text = file.read()
    for number, title, body in _ARTICLE.findall(text):
        sections = split_sections(body)
        words = sum(len(section["text"].split()) for section in sections)
        if len(sections) in SECTIONS and words in WORDS:
            yield {"id": number, "title": title, "sections": sections}


def split_sections(body: str) -> list[dict[str, str]]:
    """Split the text of an article, without its title, at headings: lines of a few words such as "Early life."."""
    sections: list[tuple[str, list[str]]] = [("Introduction", [])]
    for line in filter(str.strip, body.split("\n")[1:]):
        if len(line.split()) <= LONGEST_HEADING and line.endswith("."):
            sections.append((line[:-1], []))
        else:
            sections[-1][1].append(line)
    long = [(title, lines) for title, lines in sections if len(" ".join(lines).split()) >= FEWEST_WORDS]
    return [{"title": title, "text": "\n".join(lines)} for title, lines in long]


def read_stories(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield stories of five sentences."""
    with (folder / "dev_data.json").open(encoding="utf-8") as file:
        for story in map(json.loads, file):
            yield {
                "id": story["story_id"],
                "text": " ".join([story["premise"], story["initial"], story["original_ending"]]),
            }


def _write(path: Path, documents: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents), encoding="utf-8")
    print(f"{path}: {len(documents)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
