"""Published texts that people compared or rated -> texts for `macroscope criticize`, and a table of the ratings.

    python examples/human-ratings/prepare.py DATA OUTPUT

DATA has the folders `contrastive_search_vs_decoding`, `hanna`, `rankgen_human_eval`, `manplts_amt`, `timetravel` and
`fast_detect_gpt` of the published sets (README.md says which files of which repositories). Every set gets a
folder of OUTPUT: `real.jsonl`, a file for each system, and `ratings.csv`.
"""

import ast
import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RATINGS = ("question", "document", "system", "against", "annotator", "score")
REAL_TEXTS = 300
"""Of each domain, as reference."""
SHORT_REAL_TEXTS = 800
"""Stories by people, as reference of the short stories."""
CONTINUATION_WORDS = 110
"""The continuations of RankGen are about as long."""
PREFERENCE = {"system a is more human-like.": 1, "two systems are comparable.": 0, "system b is more human-like.": -1}


def main(data: Path, output: Path) -> None:
    """Write all sets."""
    contrastive(data, output / "contrastive")
    rankgen(data, output / "rankgen")
    hanna(data, output / "hanna")
    short_stories(data, output / "short_stories")
    long_stories(data, output / "long_stories")


def contrastive(data: Path, output: Path) -> None:
    """Contrastive search against contrastive decoding: continuations by GPT-2 XL of books and Wikipedia."""
    folder = data / "contrastive_search_vs_decoding"
    judged = json.loads(_text(folder / "human_evaluation_annotations__human_evaluation_annotations.json.gz"))
    texts: dict[str, dict[str, str]] = {}
    ratings = []
    for number, entry in enumerate(judged):
        if entry["domain"] == "wikinews":  # no real news is in the data
            continue
        a, b = entry["system_a_name"], entry["system_b_name"]
        for system, letter in ((a, "a"), (b, "b")):
            texts.setdefault(system, {})[f"prompt-{number}"] = entry[f"system_{letter}_result"]
        for annotator, answer in entry["human_annotation"].items():
            ratings.append(("human-like", f"prompt-{number}", a, b, annotator, PREFERENCE[answer]))
    _write(output, _real_texts(data), texts, ratings)


def rankgen(data: Path, output: Path) -> None:
    """Continuations of books and Wikipedia by two models, chosen by RankGen (beam) or by nucleus sampling."""
    texts: dict[str, dict[str, str]] = {}
    ratings, unclear = [], 0
    for name in ("gpt2_medium", "t5_xxl_c4"):
        numbers: dict[str, str] = {}
        for row in _rows(data / "rankgen_human_eval" / f"{name}.csv.gz"):
            key = numbers.setdefault(row["HITId"], f"{name}-{len(numbers)}")
            first, second = (f"{name}-{rule.strip()}" for rule in row["Input.Order"].split(","))
            for system, order in ((first, "First"), (second, "Second")):
                texts.setdefault(system, {})[key] = row[f"Input.{order}"]
            answer = re.match(r"\W*text\s*([12])\b", row["Answer.utterance"], flags=re.IGNORECASE)
            if answer is None:
                unclear += 1
                continue
            ratings.append(("better", key, first, second, row["WorkerId"], 1 if answer[1] == "1" else -1))
    print(f"rankgen: {unclear} answers do not begin with the text that was chosen, and do not count")
    _write(output, _real_texts(data, CONTINUATION_WORDS), texts, ratings)


def hanna(data: Path, output: Path) -> None:
    """Stories by people to prompts, with ratings (means of three people); of rated models' stories no text is there."""
    prompts: dict[str, str] = {}
    stories: dict[str, str] = {}
    for row in _rows(data / "hanna" / "hanna_llm_stories.csv.gz"):
        stories[prompts.setdefault(row["Prompt"], f"prompt-{len(prompts)}")] = row["Human"]
    human = next(row for row in _rows(data / "hanna" / "hanna_metric_scores_llm.csv.gz") if row["Model"] == "Human")
    ratings = [
        (question.lower(), f"prompt-{n}", "human-story", "", "mean of three", score)
        for question in ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
        for n, score in enumerate(ast.literal_eval(human[question]))
    ]
    source = json.loads(_text(data / "fast_detect_gpt" / "exp_main__writing_gpt2-xl.raw_data.json.gz"))
    real = dict.fromkeys(source["original"])
    _write(
        output, [{"id": f"real-{n}", "text": text} for n, text in enumerate(real)], {"human-story": stories}, ratings
    )


def short_stories(data: Path, output: Path) -> None:
    """Stories of five sentences whose plausibility people rated; the reference is lower-cased as they are."""
    lines = (data / "timetravel" / "dev_data.json").read_text(encoding="utf-8").splitlines()
    stories = [json.loads(line) for line in lines]
    real = [f"{story['premise']} {story['initial']} {story['original_ending']}".lower() for story in stories]
    _plausibility(data, "AMT_ROC.CSV.gz", real[:SHORT_REAL_TEXTS], output)


def long_stories(data: Path, output: Path) -> None:
    """Stories to WritingPrompts whose plausibility people rated."""
    source = json.loads(_text(data / "fast_detect_gpt" / "exp_main__writing_gpt2-xl.raw_data.json.gz"))
    _plausibility(data, "AMT_WP.CSV.gz", list(dict.fromkeys(source["original"])), output)


def _plausibility(data: Path, name: str, real: list[str], output: Path) -> None:
    """Write texts that five people each rated from 0 to 5."""
    keys: dict[str, str] = {}
    ratings = []
    for row in _rows(data / "manplts_amt" / name):
        for column in (column for column in row if column.startswith("Input.text")):
            key = keys.setdefault(_join_tokens(row[column]), f"story-{len(keys)}")
            score = row[column.replace("Input", "Answer")]
            ratings.append(("plausible", key, "stories", "", row["WorkerId"], score))
    texts = {key: text for text, key in keys.items()}
    _write(output, [{"id": f"real-{n}", "text": text} for n, text in enumerate(real)], {"stories": texts}, ratings)


def _join_tokens(text: str) -> str:
    """Return a tokenised text as people write it: without ends of sentences, and blanks before marks."""
    text = " ".join(text.replace("</s>", " ").replace("``", '"').replace("''", '"').split())
    text = re.sub(r" ([.,!?;:%)\]]|n't\b|'(?:s|m|d|ll|re|ve)\b)", r"\1", text, flags=re.IGNORECASE)
    return re.sub(r"([(\[]) ", r"\1", text)


def _real_texts(data: Path, words: int | None = None) -> list[dict[str, str]]:
    """Texts by people from books and Wikipedia, prompt and continuation, or as many words of the continuation."""
    texts = []
    for domain, k in (("book", 6), ("wikitext", 5)):
        name = f"inference_results__gpt2-xl__{domain}__{domain}_contrastive_k_{k}_alpha_0.6_result.json.gz"
        entries = json.loads(_text(data / "contrastive_search_vs_decoding" / name))[:REAL_TEXTS]
        for number, entry in enumerate(entries):
            text = entry["prefix_text"] + entry["reference_text"]
            if words is not None:
                text = " ".join(entry["reference_text"].split()[:words])
            texts.append({"id": f"{domain}-{number}", "text": text})
    return texts


def _write(
    output: Path, real: list[dict[str, str]], texts: dict[str, dict[str, str]], ratings: Iterable[tuple[Any, ...]]
) -> None:
    output.mkdir(parents=True)
    _write_lines(output / "real.jsonl", real)
    for system, documents in texts.items():
        _write_lines(output / f"{system}.jsonl", [{"id": key, "text": text} for key, text in documents.items()])
    with (output / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([RATINGS, *ratings])
    print(f"{output}: {len(real)} real texts; {', '.join(f'{len(t)} of {s}' for s, t in texts.items())}")


def _write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _rows(path: Path) -> Iterable[dict[str, str]]:
    return csv.DictReader(io.StringIO(_text(path)))


def _text(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return file.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
