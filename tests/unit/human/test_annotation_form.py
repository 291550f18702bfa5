"""What a sheet holds: balance, blinding, and what is refused."""

import json
from collections import Counter

import pytest

from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.human.annotation_form import write_sheet
from macroscope.human.assignment import Design, draw
from macroscope.human.pool import Pool, pool_of_files, pool_of_run
from macroscope.human.questionnaire import read_questionnaire


def pool_of(systems, documents):
    made = {
        system: [Document(f"{n}", "test", None, (Section(None, f"{system} {n}"),)) for n in range(documents)]
        for system in systems
    }
    return Pool(made, [], ["a", "b"], "en")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("annotators", "per_document"), [(2, 2), (3, 2), (4, 2), (5, 3), (4, 1)])
def test_systems_and_annotators_are_balanced(annotators, per_document, seed):
    design = Design(10, annotators, per_document, 0.2, 0, seed)
    showings, _ = draw(pool_of(["x", "y", "z"], 12), design)
    first = [one for one in showings if not one.repeat]
    assert len(first) == 3 * 10 * per_document
    people = Counter((one.system, one.annotator) for one in first)
    for system in "xyz":
        counts = [people[system, f"annotator-{n + 1}"] for n in range(annotators)]
        assert max(counts) - min(counts) <= 1
    total = Counter(one.annotator for one in first)
    assert max(total.values()) - min(total.values()) <= 1
    judges = {}
    for one in first:
        judges.setdefault((one.system, one.document.id), []).append(one.annotator)
    assert all(len(set(found)) == len(found) == per_document for found in judges.values())
    if per_document == 2:
        pairs = Counter(frozenset(found) for found in judges.values())
        assert len(pairs) == annotators * (annotators - 1) / 2  # everybody meets everybody
    assert len({one.code for one in showings}) == len(showings)


def test_repeats_come_in_the_second_half_and_are_the_annotators_own():
    showings, _ = draw(pool_of(["x", "y"], 10), Design(10, 2, 1, 0.3, 0, 3))
    for annotator in ("annotator-1", "annotator-2"):
        mine = [one for one in showings if one.annotator == annotator]
        again = [one for one in mine if one.repeat]
        assert len(again) == 3
        seen = {(one.system, one.document.id): place for place, one in enumerate(mine) if not one.repeat}
        for place, one in enumerate(mine):
            if one.repeat:
                assert seen[one.system, one.document.id] < 5 <= place


def test_the_same_seed_draws_the_same_sheet():
    pool = pool_of(["x", "y"], 30)
    assert draw(pool, Design(5, 3, 2, 0.1, 0, 1)) == draw(pool, Design(5, 3, 2, 0.1, 0, 1))
    assert draw(pool, Design(5, 3, 2, 0.1, 0, 1)) != draw(pool, Design(5, 3, 2, 0.1, 0, 2))


def test_pages_tell_nothing_of_where_a_text_is_from(study):
    folder, key = study
    for path in (folder / "pages").iterdir():
        page = path.read_text()
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        assert "control" not in json.dumps(data)
        assert set(data["items"][0]) == {"code", "digest", "sections"}
        assert "://" not in page
    assert {one["system"] for one in key["showings"]} == {"control", "lm"}
    lessons = {lesson["document"] for lesson in key["training"]}
    assert not lessons & {one["document"] for one in key["showings"]}
    assert key["types"] == ["introduction", "method", "result"]


def test_texts_under_two_ids_are_drawn_once_and_counted(tmp_path):
    texts = [{"id": "a", "text": "same"}, {"id": "b", "text": "same"}, {"id": "c", "text": "other"}]
    path = tmp_path / "lm.jsonl"
    path.write_text("\n".join(map(json.dumps, texts)))
    pool = pool_of_files([], {"lm": [path]}, "en", 0)
    assert [document.id for document in pool.systems["lm"]] == ["a", "c"]
    assert pool.counts == {"lm: the text of another document under a second id": 1}


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (Design(6, 2, 2, 0.1, 2, 1), "system 'lm' has 5 documents that can be shown, and 6 of each"),
        (Design(5, 2, 3, 0.1, 2, 1), "--per-document 3 is more than 2 annotators"),
        (Design(5, 2, 2, 0.1, 7, 1), "2 real documents have a title for every section, and 7 are asked"),
    ],
)
def test_more_than_there_is(tmp_path, files, design, message):
    pool = pool_of_files([files[0]], {"lm": [files[1]]}, "en", 2)
    with pytest.raises(MacroscopeError, match=message):
        write_sheet(pool, design, read_questionnaire(), tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_folder_that_exists_is_left_alone(study, files):
    folder, _ = study
    pool = pool_of_files([files[0]], {"lm": [files[1]]}, "en", 2)
    with pytest.raises(MacroscopeError, match="there is something already"):
        write_sheet(pool, Design(5, 2, 2, 0.1, 2, 1), read_questionnaire(), folder)


GOOD = """
instructions: Read.
questions:
  - name: fluent
    text: Fluent?
    choices: [{label: 'no', score: 0}, {label: 'yes', score: 1}]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.replace("instructions", "instructoins"),
            "no such key; did you mean 'instructions'",
        ),
        (GOOD.replace("text:", "txt:"), r"questions.0.txt: there is no such key; did you mean 'text'"),
        (
            GOOD.replace("score: 1", "scroe: 1"),
            r"choices.1.scroe: there is no such key; did you mean 'score'",
        ),
        ("instructions: Read.\nquestions: []\n", "asks nothing"),
        ("instructions: Read.\n", "asks nothing"),
        ("- a\n", "not a questionnaire"),
        (GOOD.replace("score: 1", "score: 0"), "two choices have the score 0"),
        (GOOD + GOOD.partition("questions:\n")[2], "two questions are called 'fluent'"),
        (GOOD.replace("score: 1", "score: high"), "questions.0.choices.1.score: input should be a valid number"),
    ],
)
def test_questionnaires_are_closed(tmp_path, text, message):
    path = tmp_path / "questions.yaml"
    path.write_text(text)
    with pytest.raises(MacroscopeError, match=message):
        read_questionnaire(path)


def test_a_questionnaire_of_ones_own(tmp_path):
    path = tmp_path / "questions.yaml"
    path.write_text(GOOD)
    found = read_questionnaire(path)
    assert found.questions[0].scores == {"no": 0, "yes": 1}
    assert not found.section_types


@pytest.fixture
def run(tmp_path):
    """A finished run of one corpus and one system besides the control."""
    folder = tmp_path / "results" / "mine"

    def write(path, name, split, titles):
        sections = [Section(title, f"{name} {title} here.") for title in titles]
        made = [
            Document(f"{name}-{n}", split, None, tuple(Section(one.title, f"{one.text} {n}") for one in sections))
            for n in range(4)
        ]
        write_documents(path, made, Provenance("c"))

    config = {
        "run": "mine",
        "corpora": {"c": {"source": "simulated", "kind": "wiki"}},
        "systems": {"lm": {"kind": "files", "files": ["x.jsonl"]}},
        "comparisons": [{"corpus": "c", "systems": "all", "critics": ["tendencies"]}],
    }
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    write(folder / "corpora" / "c" / "documents.parquet", "real", "train", ["abstract", "career"])
    write(folder / "systems" / "c" / "control" / "samples.parquet", "held-out", "test", ["abstract", "legacy"])
    write(folder / "systems" / "c" / "lm" / "samples.parquet", "lm", "test", [None])
    return folder


def test_a_run_gives_its_samples_and_its_real_section_types(run):
    pool = pool_of_run(run, None, [])
    assert {system: len(documents) for system, documents in pool.systems.items()} == {"control": 4, "lm": 4}
    assert pool.types == ["abstract", "career"]
    assert {document.id for document in pool.training} == {f"real-{n}" for n in range(4)}
    assert list(pool_of_run(run, "c", ["lm"]).systems) == ["lm"]


@pytest.mark.parametrize(
    ("corpus", "systems", "message"),
    [("d", [], "there is no corpus 'd'"), ("c", ["ml"], "there is no system 'ml'; valid here: control, lm")],
)
def test_names_that_a_run_does_not_have(run, corpus, systems, message):
    with pytest.raises(MacroscopeError, match=message):
        pool_of_run(run, corpus, systems)
