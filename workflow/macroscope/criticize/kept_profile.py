"""The profile of a kept reference: sizes, languages, counts and digests, without words, names and excerpts of texts."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from macroscope.criticize.profile import Profile
from macroscope.criticize.wrappers import keep_surroundings
from macroscope.engine.kept_references import read_kept
from macroscope.files import dump_as, parse_as, to_json
from macroscope.readers.selection import Selection

_MARKS = "marks_by_kind"
_NO_ID = "id not kept"
_ONLY_WHOLE_COPIES = (
    "a kept reference tells whole copies of its texts alone: a text that copies a part of one counts as its"
    " continuation; `macroscope copies` with the real texts finds the others"
)


def without_ids(profile: Profile) -> Profile:
    """Return a profile that names no text."""
    return replace(
        profile,
        shortest=profile.shortest and (profile.shortest[0], _NO_ID),
        longest=profile.longest and (profile.longest[0], _NO_ID),
    )


def strip_profile(profile: Profile) -> Any:
    """Return a profile as JSON, without words, names and excerpts of texts."""
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
        surroundings=keep_surroundings(profile.excerpts),
    )
    marks = [[*kind, number] for kind, number in profile.marks.items()]
    return {**dump_as(replace(stripped, marks=Counter())), "marks": {}, _MARKS: marks}


def read_profile(path: Path) -> Profile:
    """Read the profile of the texts of a kept reference."""
    kept = dict(read_kept(path).header["profile"])
    marks = Counter({(family, kind): number for family, kind, number in kept.pop(_MARKS)})
    profile = parse_as(Profile, to_json(kept).encode(), str(path))
    return replace(profile, files=[path], marks=marks, remarks=[_ONLY_WHOLE_COPIES])
