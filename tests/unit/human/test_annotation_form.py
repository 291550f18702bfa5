"""Annotation forms: balance, blinding, and rejected designs."""

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from macroscope.cli import app
from macroscope.criticize.inputs import GivenFields
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.human.annotation_form import write_annotation_form
from macroscope.human.assignment import Design, assign_documents
from macroscope.human.pool import Pool, pool_of_files, pool_of_run
from macroscope.human.questionnaire import read_questionnaire
from tests.unit.human.conftest import write_texts


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
    showings, _ = assign_documents(pool_of(["x", "y", "z"], 12), design)
    first = [showing for showing in showings if not showing.repeat]
    assert len(first) == 3 * 10 * per_document
    people = Counter((showing.system, showing.annotator) for showing in first)
    for system in "xyz":
        counts = [people[system, f"annotator-{n + 1}"] for n in range(annotators)]
        assert max(counts) - min(counts) <= 1
    total = Counter(showing.annotator for showing in first)
    assert max(total.values()) - min(total.values()) <= 1
    judges = {}
    for showing in first:
        judges.setdefault((showing.system, showing.document.id), []).append(showing.annotator)
    assert all(len(set(names)) == len(names) == per_document for names in judges.values())
    if per_document == 2:
        pairs = Counter(frozenset(names) for names in judges.values())
        assert len(pairs) == annotators * (annotators - 1) / 2  # every pair of annotators shares a document
    assert len({showing.code for showing in showings}) == len(showings)


def test_repeats_come_in_the_second_half_and_are_the_annotators_own():
    showings, _ = assign_documents(pool_of(["x", "y"], 10), Design(10, 2, 1, 0.3, 0, 3))
    for annotator in ("annotator-1", "annotator-2"):
        mine = [showing for showing in showings if showing.annotator == annotator]
        again = [showing for showing in mine if showing.repeat]
        assert len(again) == 3
        seen = {
            (showing.system, showing.document.id): place for place, showing in enumerate(mine) if not showing.repeat
        }
        for place, showing in enumerate(mine):
            if showing.repeat:
                assert seen[showing.system, showing.document.id] < 5 <= place


def test_the_same_seed_gives_the_same_assignment():
    pool = pool_of(["x", "y"], 30)
    assert assign_documents(pool, Design(5, 3, 2, 0.1, 0, 1)) == assign_documents(pool, Design(5, 3, 2, 0.1, 0, 1))
    assert assign_documents(pool, Design(5, 3, 2, 0.1, 0, 1)) != assign_documents(pool, Design(5, 3, 2, 0.1, 0, 2))


def test_pages_do_not_reveal_the_origin_of_a_text(study):
    folder, key = study
    for path in (folder / "pages").iterdir():
        page = path.read_text()
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        assert "control" not in json.dumps(data)
        assert set(data["items"][0]) == {"code", "digest", "place", "sections"}
        assert "://" not in page
    assert {showing["system"] for showing in key["showings"]} == {"control", "lm"}
    lessons = {lesson["document"] for lesson in key["training"]}
    assert not lessons & {showing["document"] for showing in key["showings"]}
    assert key["types"] == ["introduction", "method", "result"]


def test_duplicate_texts_are_used_once_and_counted(tmp_path):
    texts = [{"id": "a", "text": "same"}, {"id": "b", "text": "same"}, {"id": "c", "text": "other"}]
    path = tmp_path / "lm.jsonl"
    path.write_text("\n".join(map(json.dumps, texts)))
    pool = pool_of_files([], {"lm": [path]}, GivenFields(), "en", 0)
    assert [document.id for document in pool.systems["lm"]] == ["a", "c"]
    assert pool.counts == {"lm: duplicate of the text of another document": 1}


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (Design(6, 2, 2, 0.1, 2, 1), "system 'lm' has 5 usable documents, but the design needs 6"),
        (Design(5, 2, 3, 0.1, 2, 1), "--per-document 3 exceeds the 2 annotators"),
        (Design(5, 2, 2, 0.1, 7, 1), "2 real documents have a title for every section, but the training phase needs 7"),
    ],
)
def test_designs_that_need_more_than_the_pool_has(tmp_path, files, design, message):
    pool = pool_of_files([files[0]], {"lm": [files[1]]}, GivenFields(), "en", 2)
    with pytest.raises(MacroscopeError, match=message):
        write_annotation_form(pool, design, read_questionnaire(), tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_folder_that_exists_is_left_alone(study, files):
    folder, _ = study
    pool = pool_of_files([files[0]], {"lm": [files[1]]}, GivenFields(), "en", 2)
    with pytest.raises(MacroscopeError, match="exists already"):
        write_annotation_form(pool, Design(5, 2, 2, 0.1, 2, 1), read_questionnaire(), folder)


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
        ("instructions: Read.\nquestions: []\n", "has no questions"),
        ("instructions: Read.\n", "has no questions"),
        ("- a\n", "not a questionnaire"),
        (GOOD.replace("score: 1", "score: 0"), "two choices have the score 0"),
        (GOOD + GOOD.partition("questions:\n")[2], "two questions have the name 'fluent'"),
        (GOOD.replace("score: 1", "score: high"), "questions.0.choices.1.score: input should be a valid number"),
    ],
)
def test_invalid_questionnaires_are_rejected(tmp_path, text, message):
    path = tmp_path / "questions.yaml"
    path.write_text(text)
    with pytest.raises(MacroscopeError, match=message):
        read_questionnaire(path)


def test_a_custom_questionnaire(tmp_path):
    path = tmp_path / "questions.yaml"
    path.write_text(GOOD)
    questionnaire = read_questionnaire(path)
    assert questionnaire.questions[0].scores == {"no": 0, "yes": 1}
    assert not questionnaire.section_types


@pytest.fixture
def run(tmp_path):
    """Return a finished run with one corpus and one system besides the control."""
    folder = tmp_path / "results" / "mine"

    def write(path, name, split, titles):
        sections = [Section(title, f"{name} {title} here.") for title in titles]
        made = [
            Document(
                f"{name}-{n}", split, None, tuple(Section(section.title, f"{section.text} {n}") for section in sections)
            )
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
def test_unknown_names_are_rejected(run, corpus, systems, message):
    with pytest.raises(MacroscopeError, match=message):
        pool_of_run(run, corpus, systems)


def test_files_have_the_fields_of_the_user_and_their_language_is_recognized(tmp_path):
    path = tmp_path / "lm.jsonl"
    texts = ["Der Hund lief über die Wiese und bellte laut.", "Die Katze schlief den ganzen Tag auf dem Sofa."]
    path.write_text("\n".join(json.dumps({"body": text, "text": "no"}, ensure_ascii=False) for text in texts))
    pool = pool_of_files([], {"lm": [path]}, GivenFields(text="body"), None, 0)
    assert [document.text for document in pool.systems["lm"]] == texts
    assert pool.language == "de"


def test_plain_texts_come_with_questions_about_whole_texts(tmp_path):
    real, model = (write_texts(tmp_path / f"{name}.jsonl", name, 9, titled=False) for name in ("real", "lm"))
    files = ["--real", str(real), "--system", f"lm={model}", "--documents", "9"]
    done = CliRunner().invoke(app, ["human", "sheet", *files, "--output", str(tmp_path / "study")])
    assert done.exit_code == 0, done.output
    key = json.loads((tmp_path / "study" / "key.json").read_text())
    assert [question["name"] for question in key["questionnaire"]["questions"]] == ["coherent", "repetitive"]
    assert (key["types"], key["training"]) == ([], [])
    assert {showing["system"] for showing in key["showings"]} == {"control", "lm"}
