"""Courses of texts: values along texts against plain computations, and the statistics of systems and short texts."""

from pathlib import Path

import numpy as np
import pytest

from macroscope.critics import critics, get_critic
from macroscope.critics.course import follow_texts, write_courses
from macroscope.critics.strings.latents import project
from macroscope.critics.tendencies.scoring import mark_words
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.natural_language.tokens import make_tokenizer
from macroscope.options import Resampling
from macroscope.statistics.courses import COURSE
from macroscope.tables import read_csv

TEXTS = ["a b c d e a b c d f", "x", "a b c d", "y y y y y y y"]


def test_repeated_and_new_words():
    batch = make_tokenizer("en")(TEXTS)
    marks = np.split(mark_words(batch), np.cumsum(batch.lengths)[:-1], axis=1)
    for text, (repeated, new) in zip(TEXTS, marks, strict=True):
        words = text.split()
        sequences = [tuple(words[i - 3 : i + 1]) if i >= 3 else None for i in range(len(words))]
        assert new.tolist() == [word not in words[:i] for i, word in enumerate(words)]
        assert repeated.tolist() == [s is not None and s in sequences[:i] for i, s in enumerate(sequences)]


@pytest.mark.slow
def test_agreement_with_the_topics_of_the_beginning():
    pytest.importorskip("torch")
    from macroscope.critics.topics.scoring import agree_with_beginning

    rng = np.random.default_rng(1)
    topics, shares = rng.dirichlet(np.ones(6), 3), rng.dirichlet(np.ones(3))
    words = rng.integers(0, 6, 25)
    given_word = shares * topics[:, words].T
    given_word /= given_word.sum(axis=1, keepdims=True)
    expected = [np.mean([given_word[i] @ given_word[j] for j in range(5) if j != i]) for i in range(25)]
    np.testing.assert_allclose(agree_with_beginning(words, shares, topics)[0], expected)
    assert agree_with_beginning(words[:4], shares, topics).shape == (1, 0)


@pytest.mark.parametrize("name", sorted(critics()))
def test_declared_courses_have_words(name):
    course = critics()[name].data.course
    if course is None:
        return
    for measure, reading in course.measures.items():
        assert critics()[name].data.quantities[f"course_{measure}"]
        assert reading.above != reading.below
        assert reading.unit in ("%", "nats")


def _write(folder: Path, system: str, texts: list[str]) -> tuple[Path, Path]:
    samples, latents = folder / f"{system}.texts.parquet", folder / f"{system}.parquet"
    documents = [Document(f"{system} {n}", "test", None, (Section(None, text),)) for n, text in enumerate(texts)]
    write_documents(samples, documents, Provenance(system))
    project(Collection(samples), output=latents)
    return samples, latents


def _text(rng, words, late=0):
    tokens = rng.integers(0, 400, words).astype(str)
    tokens[words - late :] = np.resize(tokens[:6], late)
    return " ".join(f"w{token}" for token in tokens)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    systems = {
        "control": [_text(rng, 150) for _ in range(30)],
        "loops": [_text(rng, 150, late=60) for _ in range(30)],
        "short": [_text(rng, 150)] * 3 + [_text(rng, 40) for _ in range(27)],
    }
    files = [_write(tmp_path, name, texts) for name, texts in systems.items()]
    critic, resampling = get_critic("tendencies"), Resampling(199, 199, 0.95, 1)
    courses = []
    for name, (texts, latents) in zip(systems, files, strict=True):
        courses.append(tmp_path / f"{name}.courses.parquet")
        about = {"critic": "tendencies", "language": "en", "resampling": resampling, "options": critic.default_options}
        follow_texts(Collection(texts), latents, **about, output=courses[-1])
    write_courses(
        courses,
        critic="tendencies",
        corpus="c",
        signature="s",
        systems=list(systems),
        resampling=resampling,
        output=tmp_path / "course.csv",
    )
    return read_csv(tmp_path / "course.csv").set_index(["system", "statistic"])


def test_a_system_that_ends_in_a_loop(table):
    assert table.at[("loops", COURSE), "p_value"] < 0.05
    assert table.at[("split_half", COURSE), "p_value"] > 0.05
    p_values = [table.at[("loops", f"course_repetition_change_{tenth}"), "p_value"] for tenth in range(3, 11)]
    assert [tenth for tenth, p in enumerate(p_values, start=3) if p < 0.05] == [7, 8, 9, 10]
    assert table.at[("loops", "course_repetition_tenth_10"), "value"] == pytest.approx(1)


def test_short_texts_are_counted(table):
    rows = table.loc["short"]
    assert list(rows.index) == [COURSE]
    assert np.isnan(rows.at[COURSE, "value"])
    assert rows.at[COURSE, "reason"].startswith("3 of 30 texts, and 30 real ones, have 100 words or more")
    assert rows.at[COURSE, "n_candidate"] == 3
