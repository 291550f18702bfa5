"""The profile of a kept reference: sizes, languages, counts and digests, without words, names and excerpts of texts."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from macroscope.criticize.profile import Profile
from macroscope.criticize.wrappers import keep_surroundings
from macroscope.engine.kept_references import read_kept
from macroscope.errors import MacroscopeError
from macroscope.files import dump_as, parse_as, to_json
from macroscope.readers.selection import Selection

_MARKS = "marks_by_kind"
_NO_ID = "id not kept"
_ONLY_WHOLE_COPIES = (
    "a kept reference tells whole copies of its texts alone: a text that copies a part of one counts as its"
    " continuation; `macroscope copies` with the real texts finds the others"
)

_NO_PAIRS = "a private kept reference tells no copies of its texts, and pairs none by prompt, id or first words"


def without_ids(profile: Profile) -> Profile:
    """Return a profile that names no text."""
    return replace(
        profile,
        shortest=profile.shortest and (profile.shortest[0], _NO_ID),
        longest=profile.longest and (profile.longest[0], _NO_ID),
    )


def strip_profile(profile: Profile, fewest: int = 1, salt: bytes = b"") -> Any:
    """Return a profile as JSON, without words, names and excerpts of texts.

    Parameters
    ----------
    fewest
        Number of texts below which nothing is kept that they have in common.
    salt
        Secret on which the hashes of ids, prompts, first words and texts depend; b"" for none.
    """
    counts = [(profile.frequencies[word], profile.occurs_in[word]) for word in profile.topical_words]
    stripped = replace(
        without_ids(profile),
        files=(),
        selection=Selection(),
        remarks=(),
        frequencies=Counter({str(n): number for n, (number, _) in enumerate(counts)}),
        occurs_in=Counter({str(n): number for n, (_, number) in enumerate(counts)}),
        labels=Counter({str(n): number for n, number in enumerate(profile.labels.values())}),
        excerpts=[],
        ngrams=[],
        surroundings=keep_surroundings(profile.excerpts, fewest),
    )
    marks = [[*kind, number] for kind, number in profile.marks.items()]
    dumped = {**dump_as(replace(stripped, marks=Counter())), "marks": {}, _MARKS: marks}
    for name in ("ids", "prompts", "openings", "texts", "ids_by_place") if salt else ():
        dumped[name] = [value and _salt(value, salt) for value in dumped[name]]
    return dumped


def _salt(value: Hashable, salt: bytes) -> int:
    return int.from_bytes(blake2b(str(value).encode(), digest_size=8, key=salt).digest(), "big")


def read_profile(path: Path) -> Profile:
    """Read the profile of the texts of a kept reference."""
    header = read_kept(path).header
    if "profile" not in header:
        raise MacroscopeError(
            f"{path}: numbers of a run without texts, and not a reference; give a file of `macroscope reference build`"
        )
    kept = dict(header["profile"])
    marks = Counter({(family, kind): number for family, kind, number in kept.pop(_MARKS)})
    profile = parse_as(Profile, to_json(kept).encode(), str(path))
    return replace(
        profile, files=[path], marks=marks, remarks=[_NO_PAIRS if header.get("private") else _ONLY_WHOLE_COPIES]
    )
