"""Parts that commands learn from real texts, or read from a kept reference."""

import pytest

from macroscope.criticize.learned_parts import LearnedPart, Settings, keep_parts
from macroscope.documents import Document, Section
from macroscope.engine.kept_references import read_kept, write_kept
from macroscope.engine.redaction import Passages
from macroscope.errors import MacroscopeError


def learn(real, settings):
    if len(real) < 2:
        raise MacroscopeError("too few texts; give 2")
    return len(real) + settings.seed


PART = LearnedPart(
    "count",
    1,
    lambda settings: [f"seed={settings.seed}"],
    learn,
    lambda number, folder: (folder / "number.txt").write_text(str(number)),
    lambda folder: int((folder / "number.txt").read_text()),
)


def keep(folder, texts):
    (folder / "run").mkdir()
    real = [Document(str(n), "test", None, (Section(None, "It rained."),)) for n in range(texts)]
    outputs, left_out = keep_parts([PART], real, Settings("en"), [], folder / "run")
    write_kept(folder / "x.reference", folder / "run", outputs, {"left_out": left_out}, Passages([]))
    return real, read_kept(folder / "x.reference")


def test_a_part_is_that_of_the_texts(tmp_path):
    real, kept = keep(tmp_path, 3)
    assert PART.obtain([], kept, Settings("en")) == PART.obtain(real, None, Settings("en")) == 4
    assert kept.of_jobs == []


def test_other_settings_and_a_part_that_is_not_there_are_refused(tmp_path):
    _, kept = keep(tmp_path, 3)
    with pytest.raises(MacroscopeError, match=r"x\.reference: 'count' would run with seed=2 instead of seed=1"):
        PART.obtain([], kept, Settings("en", seed=2))
    (tmp_path / "few").mkdir()
    _, few = keep(tmp_path / "few", 1)
    with pytest.raises(MacroscopeError, match=r"nothing for `macroscope count` \(too few texts; give 2\); give"):
        PART.obtain([], few, Settings("en"))
