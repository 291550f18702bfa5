"""Texts of which `criticize` makes a profile."""

import json

from macroscope.criticize.choice import choose
from macroscope.criticize.run import profile_collections


def _words(number):
    """One of twenty words, three times."""
    return " ".join(3 * [f"topic{chr(97 + number % 20)}"])


def write_texts(path, number, titled=0, **fields):
    """Narratives of five sentences about persons."""
    rest = "It was long. It was late. They slept. They woke."
    records = [
        {
            "sections": [
                {"title": "life" if n < titled else None, "text": f"He and she read text {n}. {_words(n)} {rest}"}
            ]
        }
        | fields
        for n in range(number)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def chosen(tmp_path, number, requested=(), **options):
    profile, profiles = profile_collections(
        [write_texts(tmp_path / "r.jsonl", number, **options)], [write_texts(tmp_path / "c.jsonl", 10)]
    )
    return choose(profile, profiles, requested)
