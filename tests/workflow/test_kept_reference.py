"""A reference that is kept without its texts: the numbers of `criticize`, byte by byte, at every critic."""

import json
import random
import zipfile

import pytest

import macroscope
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.kept_reference import build_reference
from macroscope.document_keys import pseudonym_of_id
from macroscope.engine.redaction import Passages, read_strings
from macroscope.ranking.rank import PART as RANK
from macroscope.sentences.table import PART as SENTENCES

pytestmark = pytest.mark.slow
RUN = "results/criticism"
NOUNS = [
    [f"{first}{last}" for last in ("bar", "den", "mol", "tis", "rug", "wan")]
    for first in ("ka", "lo", "pe", "su", "vi")
]
"""Nouns of five topics."""
VERBS = "took saw left found carried painted lost sold hid broke".split()
SCORING = ("coherence", "coreference", "narrative", "topics")
CRITICS = ("clusters", "coherence", "coreference", "narrative", "strings", "tendencies", "topics")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Write stories about persons, with titles: real.jsonl and mine.jsonl, which share some ids and openings."""
    folder = tmp_path_factory.mktemp("texts")
    for seed, name in enumerate(("real", "mine")):
        chance = random.Random(seed)
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for number in range(50):
                person, friend = chance.sample(["Anna", "Peter", "Ruth", "John"], 2)
                nouns = chance.choice(NOUNS)
                parts = [
                    f"{person} {chance.choice(VERBS)} the {chance.choice(nouns)}, and {pronoun} {chance.choice(VERBS)}"
                    f" {friend} a {chance.choice(nouns)} behind the {chance.choice(nouns)}."
                    for pronoun in chance.choices(["he", "she"], k=9)
                ]
                sections = [
                    {"title": title, "text": " ".join(parts[n::3])} for n, title in enumerate(("youth", "work", "end"))
                ]
                file.write(json.dumps({"id": f"{name if number % 4 else ''}{number}", "sections": sections}) + "\n")
    return folder


@pytest.fixture(scope="module")
def kept(texts):
    path = texts / "stories.reference"
    options = {name: {} for name in CRITICS}
    given, parts = GivenFields(), [RANK, SENTENCES]
    build_reference([texts / "real.jsonl"], path, given, CRITICS, options, cores="2", with_words=True, parts=parts)
    return path


@pytest.fixture(scope="module")
def runs(texts, kept, tmp_path_factory):
    """Compare with the texts, and with the kept reference: two folders."""
    folders = [tmp_path_factory.mktemp("runs") / name for name in ("texts", "kept")]
    for folder, reference in zip(folders, (texts / "real.jsonl", kept), strict=True):
        macroscope.compare(reference, texts / "mine.jsonl", critics=CRITICS, progress=False, keep=folder)
    return folders


def require_equal(folders, pattern):
    tables = [path.relative_to(folders[0]) for path in (folders[0] / RUN).glob(pattern)]
    assert tables
    for table in tables:
        assert (folders[1] / table).read_bytes() == (folders[0] / table).read_bytes(), table


@pytest.mark.parametrize("critic", CRITICS)
def test_the_numbers_are_those_with_the_texts_byte_by_byte(runs, critic):
    require_equal(runs, f"statistics/{critic}/**/*.csv")
    require_equal(runs, f"critics/{critic}/reference/scores/mine.parquet" if critic in SCORING else "tables/stat*.csv")


def test_the_scorecard_is_that_with_the_texts_byte_by_byte(runs):
    require_equal(runs, "tables/scorecard.csv")
    require_equal(runs, "tables/statistics.csv")


def test_a_critic_alone_has_the_numbers_that_it_has_among_others(runs, texts, kept, tmp_path):
    macroscope.compare(kept, texts / "mine.jsonl", critics="clusters", progress=False, keep=tmp_path / "alone")
    require_equal([runs[0], tmp_path / "alone"], "statistics/clusters/**/*.csv")


@pytest.mark.parametrize("name", ["rank", "sentences"])
def test_commands_without_a_run_write_the_table_that_the_texts_give(texts, kept, tmp_path, command, name):
    tables = []
    for reference in (texts / "real.jsonl", kept):
        tables.append(tmp_path / f"{reference.stem}.csv")
        files = ["--reference", reference, "--candidate", texts / "mine.jsonl"]
        command(name, *files, "--output", tables[-1])
    with_texts, without = (table.read_bytes() for table in tables)
    assert with_texts == without
    assert with_texts.count(b"\n") > 1


def test_no_file_of_a_kept_reference_holds_five_words_of_a_text(texts, tmp_path):
    path, real = tmp_path / "stories.reference", texts / "real.jsonl"
    critics = [name for name in CRITICS if name != "strings"]
    options = {name: {} for name in critics}
    build_reference([real], path, GivenFields(), critics, options, cores="2")
    stories = [json.loads(line) for line in real.read_text().splitlines()]
    passages = Passages(section["text"] for story in stories for section in story["sections"])
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "files")
    files = [file for file in (tmp_path / "files").rglob("*") if file.is_file()]
    assert len(files) > 50
    assert [file for file in files if passages.find(file) is not None] == []
    assert passages.find(real) is not None


def test_a_private_reference_holds_no_word_that_few_texts_have(texts, tmp_path):
    path, real = tmp_path / "private.reference", tmp_path / "real.jsonl"
    stories = [json.loads(line) for line in (texts / "real.jsonl").read_text().splitlines()]
    rare = [f"Quor{first}{second}ix" for first in "aeiou" for second in "bdfgl"]
    for number, story in enumerate(stories):
        name = rare[number // 2]  # of two stories
        story["sections"][0]["text"] += f" {name} saw the {name.lower()[::-1]} of {name}."
        story["sections"][1]["title"] = f"{name} at work" if number < 4 else "work"
        story["label"] = name if number < 4 else "story"
    real.write_text("".join(json.dumps(story) + "\n" for story in stories))
    given, options = GivenFields(label="label"), {name: {} for name in CRITICS}
    kept = build_reference([real], path, given, CRITICS, options, cores="2", private=3)
    critics = kept.header["critics"]
    assert critics == ["coherence", "coreference", "tendencies", "topics"]
    assert [*kept.header["left_out"]] == ["clusters", "narrative", "strings"]
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "files")
    forbidden = [word for name in rare for word in (name.casefold(), name.casefold()[::-1])]
    forbidden += [pseudonym_of_id(story["id"]).partition(":")[2] for story in stories]
    for file in (file for file in (tmp_path / "files").rglob("*") if file.is_file()):
        said = " ".join(read_strings(file)).casefold()
        assert [word for word in forbidden if word in said] == [], file
    counted = tmp_path / "files" / RUN / "critics/tendencies/reference/latents/control.parquet"
    assert " carried " in " ".join(read_strings(counted))
    judged = macroscope.compare(path, texts / "mine.jsonl", critics=critics, progress=False).statistics
    assert judged.set_index("statistic").loc["tvd_sup", "value"].notna().any()
    assert judged.set_index("statistic").loc["tvd_half_l1", "value"].isna().any()


def test_a_run_without_texts_leaves_no_words_titles_and_ids(texts, tmp_path, command):
    """Titles of sections that recur are kinds, and stay."""
    sides, output = [texts / "real.jsonl", texts / "mine.jsonl"], tmp_path / "judged"
    flags = [*("--critic", "tendencies", "--critic", "clusters"), "--without-texts", *("--output", output)]
    command("criticize", "--reference", sides[0], "--candidate", sides[1], *flags, "--cores", "2")
    stories = [json.loads(line) for path in sides for line in path.read_text().splitlines()]
    passages = Passages(section["text"] for story in stories for section in story["sections"])
    ids = {story["id"] for story in stories if not story["id"].isdecimal()}
    files = [file for file in output.rglob("*") if file.is_file()]
    assert output / RUN / "report.html" in files
    assert output / RUN / "reader" / "index.html" in files
    for file in files:
        assert passages.find(file) is None, file
        assert not ids & {*" ".join(read_strings(file)).replace('"', " ").split()}, file
