"""People check damaged segments: sampling without the truth, the page, agreement, the human baseline, the test set."""

import json
import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from macroscope import cli
from macroscope.critics.narrative.checked_segments import (
    CheckedSegment,
    Instance,
    Truth,
    make_checked_examples,
    read_lines,
    write_lines,
)
from macroscope.critics.narrative.corruption import corrupt
from macroscope.critics.narrative.examples import read_examples
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.human.annotation_form import write_annotation_form
from macroscope.human.answers import read_answers
from macroscope.human.assignment import Design
from macroscope.human.collecting import collect
from macroscope.human.questionnaire import read_questionnaire
from macroscope.human.segments import (
    SYSTEM,
    add_baseline,
    check_segments,
    pool_of_segments,
    questionnaire_of,
    read_instances,
    sample_segments,
    write_segments,
)
from macroscope.options import Resampling
from tests.unit.human.conftest import make_answers

OPTIONS = {"similarity": None, "draws": 1, "sentences": 5}
SPLITS = ["train"] * 30 + ["valid"] * 6 + ["test"] * 12
TASKS = ["missing", "discordant"]


@pytest.fixture
def run(tmp_path):
    """Return a run whose critic has damaged the segments of a corpus, for both tasks."""
    folder = tmp_path / "run"
    write_json(
        folder / "config.json",
        {
            "run": "run",
            "corpora": {"c": {"source": "files", "files": ["x.jsonl"]}},
            "systems": {"control": {"kind": "control"}, "lm": {"kind": "files", "files": ["x.jsonl"]}},
            "critics": {"narrative": OPTIONS},
            "comparisons": [{"corpus": "c", "systems": ["lm"], "critics": ["narrative"]}],
        },
    )
    documents = folder / "corpora" / "c" / "documents.parquet"
    documents.parent.mkdir(parents=True)
    sentences = [tuple(f"Word{n} meets word{n}{place}." for place in range(5)) for n in range(len(SPLITS))]
    texts = [
        Document(f"d{n}", split, None, (Section(None, " ".join(sentences[n])),), sentences[n])
        for n, split in enumerate(SPLITS)
    ]
    write_documents(documents, texts, Provenance("c"))
    for task in TASKS:
        path = folder / "critics" / "narrative" / "c" / "corrupted" / f"{task}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        corrupt(documents, options=NarrativeOptions(**OPTIONS), language="en", seed=1, task=task, output=path)
    return folder


def documents_of(run):
    return run / "corpora" / "c" / "documents.parquet"


@pytest.fixture
def sampled(run, tmp_path):
    """Return the folder of ten sampled instances of missing sentences."""
    write_segments(*sample_segments(run, None, None, "missing", 10, 1), tmp_path / "sampled")
    return tmp_path / "sampled"


def write_answers(folder, truths, right):
    """Write answers as `human collect` does: right(number of the instance) -> whether each judge is right."""
    rows = [
        ("damaged", f"annotator-{judge}", SYSTEM, truth.id, False, int(truth.damaged == is_right))
        for number, truth in enumerate(truths)
        for judge, is_right in enumerate(right(number))
    ]
    folder.mkdir()
    columns = ["question", "annotator", "system", "document", "repeat", "score"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "annotations.csv", index=False)
    return folder


# ---- sampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_instances_are_places_of_damaged_test_segments_and_the_truth_restores_the_story(run, task):
    instances, truths = sample_segments(run, None, None, task, 11, 3)
    stories = read_corpus_narratives(documents_of(run), "en")
    for instance, truth in zip(instances, truths, strict=True):
        number = stories.ids.index(instance.document)
        assert stories.splits[number] == "test"
        story = stories.sentences[5 * number : 5 * number + 5]
        if truth.damaged:
            restored = list(instance.sentences)
            at = instance.place - (task == "discordant")
            restored[at : instance.place] = [truth.original]
            assert any(restored == story[first : first + len(restored)] for first in range(3))
        else:
            assert truth.original is None
    assert len({instance.document for instance in instances}) == 11
    assert {truth.damaged for truth in truths} == {True, False}
    assert (instances, truths) != sample_segments(run, None, None, task, 11, 4)


def test_the_exported_segments_do_not_have_the_truth(sampled):
    first = json.loads((sampled / "segments.jsonl").read_text().splitlines()[0])
    assert set(first) == {"id", "task", "document", "sentences", "place"}
    assert len((sampled / "key.jsonl").read_text().splitlines()) == 10


@pytest.mark.parametrize(
    ("variant", "number", "message"),
    [("x", 3, "whose critic 'narrative-x' damages 'c'"), (None, 13, "12 damaged test segments, but .* 13")],
)
def test_too_many_segments_and_unknown_variants_are_errors(run, variant, number, message):
    with pytest.raises(MacroscopeError, match=message):
        sample_segments(run, None, variant, "missing", number, 1)


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "kind"), [("missing", "slot"), ("discordant", "sentence")])
def test_pages_show_the_place_and_not_the_truth(run, tmp_path, task, kind):
    instances, truths = sample_segments(run, None, None, task, 6, 1)
    write_segments(instances, truths, tmp_path / "sampled")
    pool = pool_of_segments([instance for instance, _ in read_instances(tmp_path / "sampled")], "en")
    questions = read_questionnaire(questionnaire_of(instances))
    key = write_annotation_form(pool, Design(6, 4, 4, 0.0, 0, 1), questions, tmp_path / "study")
    page = (tmp_path / "study" / "pages" / "annotator-2.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    shown = {showing["code"]: showing for showing in key["showings"]}
    by_id = {instance.id: instance for instance in instances}
    assert len(data["items"]) == 6
    for item in data["items"]:
        instance = by_id[shown[item["code"]]["document"]]
        assert item["place"] == {"kind": kind, "sentence": instance.place - 1}
        assert ["".join(part) for part in item["sections"]] == [" ".join(instance.sentences)]
        assert len(item["sections"][0]) == len(instance.sentences)
        assert set(item) == {"code", "digest", "place", "sections"}
    assert {choice.score for choice in questions.questions[0].choices} == {0, 1}


def test_instances_of_two_tasks_need_a_study_of_each(run):
    both = [sample_segments(run, None, None, task, 1, 1)[0][0] for task in TASKS]
    with pytest.raises(MacroscopeError, match="instances of two tasks"):
        questionnaire_of(both)


# ---- the screening task ----------------------------------------------------------------------------------------------


@pytest.fixture
def screened(run, tmp_path):
    """Return the key and a page of a study of six segments, after a screening task of five, for four annotators."""
    instances, _ = sample_segments(run, None, None, "missing", 12, 1)
    easy = list(zip(*sample_segments(run, None, None, "missing", 5, 2), strict=True))
    pool = pool_of_segments(instances, "en", easy)
    assert pool.counts == {"segments: of a story of the screening task": 5}
    questions = read_questionnaire(questionnaire_of(instances))
    key = write_annotation_form(pool, Design(6, 4, 4, 0.5, 0, 1, passing=0.8), questions, tmp_path / "study")
    page = (tmp_path / "study" / "pages" / "annotator-3.html").read_text()
    return key, json.loads(page.partition('id="data">')[2].partition("</script>")[0]), easy


def test_everybody_first_judges_the_segments_of_the_screening_task_and_does_not_see_their_answers(screened):
    key, page, easy = screened
    assert set(page["items"][0]) == {"code", "digest", "place", "sections"}
    assert "screening" not in json.dumps(page)
    texts = {" ".join(instance.sentences) for instance, _ in easy}
    assert {"".join(item["sections"][0]) for item in page["items"][:5]} == texts
    assert not {"".join(item["sections"][0]) for item in page["items"][5:]} & texts
    for annotator in key["annotators"]:
        shown = [showing["document"] for showing in key["showings"] if showing["annotator"] == annotator]
        assert set(shown[:5]) == set(key["screening"]["scores"])
        assert len(shown) == 5 + 6 + 3


def test_answers_of_those_who_fail_the_screening_task_do_not_count_and_are_counted(screened, tmp_path):
    """The annotators have 5, 4, 3 and 3 of 5 answers right; the fourth leaves two open."""
    key = screened[0]
    scores = key["screening"]["scores"]
    wrong = {"annotator-2": list(scores)[:1], "annotator-3": list(scores)[:2]}
    (tmp_path / "answers").mkdir()
    for annotator in key["annotators"]:

        def judge(showing, annotator=annotator):
            is_damaged = scores.get(showing["document"], 1.0) != (showing["document"] in wrong.get(annotator, []))
            return [], "yes" if is_damaged else "no"

        answers = make_answers(key, annotator, judge, question="damaged")
        if annotator == "annotator-4":
            answers["answers"] = answers["answers"][2:]
        write_json(tmp_path / "answers" / f"{annotator}.json", answers)
    collected = read_answers(key, [tmp_path / "answers"])
    tables = collect(key, collected, tmp_path / "judged", Resampling(resamples=100))
    assert tables["screening"].to_numpy().tolist() == [
        *(["annotator-1", 5, 5, True], ["annotator-2", 5, 4, True]),
        *(["annotator-3", 5, 3, False], ["annotator-4", 5, 3, False]),
    ]
    assert set(tables["annotations"]["annotator"]) == {"annotator-1", "annotator-2"}
    assert set(tables["annotations"]["system"]) == {SYSTEM}
    excluded = tables["exclusions"].set_index(["of", "reason"])["count"].to_dict()
    assert excluded == {
        ("annotator-3", "failed the screening task (3 of 5 right)"): 9,
        ("annotator-4", "failed the screening task (3 of 5 right)"): 9,
        ("annotator-4", "not begun or not submitted"): 2,
    }


def test_a_segment_without_its_truth_is_an_error(sampled):
    (sampled / "key.jsonl").write_text("".join((sampled / "key.jsonl").read_text().splitlines(True)[1:]))
    with pytest.raises(MacroscopeError, match="no truth of 'missing-00001'"):
        read_instances(sampled)


# ---- agreement and baseline ------------------------------------------------------------------------------------------


def test_segments_are_kept_if_three_of_four_people_agree_with_the_truth(sampled, tmp_path):
    truths = read_lines(Truth, sampled / "key.jsonl")
    judged = write_answers(tmp_path / "judged", truths, lambda n: [True] * (n % 5) + [False] * (4 - n % 5))
    kept, agreement = check_segments(sampled, judged, 3, 4)
    assert [segment.instance.id for segment in kept] == [truths[n].id for n in (3, 4, 8, 9)]
    assert [segment.agreeing for segment in kept] == [3, 4, 3, 4]
    assert agreement.groupby("agreeing")["segments"].sum().to_dict() == dict.fromkeys(range(5), 2)
    assert agreement.groupby("agreeing")["kept"].sum().to_dict() == {0: 0, 1: 0, 2: 0, 3: 2, 4: 2}


def test_segments_that_fewer_people_judged_are_not_kept_and_are_counted(sampled, tmp_path):
    truths = read_lines(Truth, sampled / "key.jsonl")
    judged = write_answers(tmp_path / "judged", truths, lambda n: [True] * (0 if n == 9 else 3 if n else 4))
    kept, agreement = check_segments(sampled, judged, 3, 4)
    assert [segment.instance.id for segment in kept] == [truths[0].id]
    assert agreement.groupby("judges")["segments"].sum().to_dict() == {0: 1, 3: 8, 4: 1}
    with pytest.raises(MacroscopeError, match="no segment has 5 judges"):
        check_segments(sampled, judged, 3, 5)
    foreign = write_answers(tmp_path / "other", [replace(truths[0], id="x")], lambda n: [True])
    with pytest.raises(MacroscopeError, match="answers about 'x', which --segments lacks"):
        check_segments(sampled, foreign, 1, 1)


def test_the_human_baseline_is_the_mean_of_the_people(sampled, tmp_path):
    """Two of three people are right about four instances, the third about none: 1, 1 and 0."""
    instances, truths = read_lines(Instance, sampled / "segments.jsonl"), read_lines(Truth, sampled / "key.jsonl")
    pairs = list(zip(instances, truths, strict=True))
    chosen = [pair for pair in pairs if pair[1].damaged][:2] + [pair for pair in pairs if not pair[1].damaged][:2]
    (tmp_path / "checked").mkdir()
    write_lines(tmp_path / "checked" / "segments.jsonl", [CheckedSegment(*pair, 4, 4) for pair in chosen])
    judged = write_answers(tmp_path / "judged", [truth for _, truth in chosen], lambda n: [True, True, False])
    segments, metrics = add_baseline(tmp_path / "checked", judged, Resampling(resamples=100))
    values = metrics.set_index("metric")["value"]
    assert values.to_dict() == pytest.approx(dict.fromkeys(["accuracy", "precision", "recall", "f1"], 2 / 3))
    assert [list(segment.people.values()) for segment in segments] == [[True, True, False]] * 2 + [
        [False, False, True]
    ] * 2


def test_answers_with_other_scores_are_an_error(sampled, tmp_path):
    judged = write_answers(tmp_path / "judged", read_lines(Truth, sampled / "key.jsonl"), lambda n: [True])
    path = judged / "annotations.csv"
    path.write_text(path.read_text().replace(",1\n", ",2\n"))
    with pytest.raises(MacroscopeError, match="not answers with the scores 0"):
        check_segments(sampled, judged, 1, 1)


# ---- the test set of the critic --------------------------------------------------------------------------------------


def checked_of(run, task, number=8):
    pairs = zip(*sample_segments(run, None, None, task, number, 1), strict=True)
    return [CheckedSegment(instance, truth, 4, 3) for instance, truth in pairs]


@pytest.mark.parametrize("task", TASKS)
def test_checked_segments_replace_the_test_split_and_only_checked_places_count(run, task, tmp_path):
    checked = checked_of(run, task)
    write_lines(tmp_path / "segments.jsonl", checked)
    corrupt(
        documents_of(run),
        checked=tmp_path / "segments.jsonl",
        **{"options": NarrativeOptions(**OPTIONS), "language": "en", "seed": 1, "task": task},
        output=tmp_path / "corrupted.parquet",
    )
    examples, counts = read_examples(tmp_path / "corrupted.parquet")
    before = read_examples(run / "critics" / "narrative" / "c" / "corrupted" / f"{task}.parquet")[0]
    assert counts["test"] == {"segments": 8}
    assert len(examples["train"]) == len(before["train"])
    test = examples["test"]
    assert (test.labels >= 0).sum(axis=1).tolist() == [1] * 8
    assert (test.labels == 1).sum() == sum(segment.truth.damaged for segment in checked)
    stories = read_corpus_narratives(documents_of(run), "en")
    for row, segment in enumerate(checked):
        at = segment.instance.place - 1
        assert [stories.sentences[n] for n in test.inputs[row] if n >= 0] == list(segment.instance.sentences)
        assert test.labels[row, at] == segment.truth.damaged
        assert stories.ids[test.narratives[row]] == segment.instance.document
        if segment.truth.damaged:
            assert stories.sentences[test.targets[row, at]] == segment.truth.original


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "discordant"}, "is of the task 'discordant', not 'missing'"),
        ({"document": "other"}, "the corpus lacks its document 'other'"),
        ({"document": "d0"}, "its document is in the split 'train'"),
        ({"sentences": ("a", "b", "c", "d")}, "the corpus lacks the sentence 'a'"),
    ],
)
def test_segments_of_another_corpus_or_split_are_errors(run, change, message, tmp_path):
    segment = checked_of(run, "missing", 1)[0]
    changed = replace(segment, instance=replace(segment.instance, **change))
    stories = read_corpus_narratives(documents_of(run), "en")
    with pytest.raises(MacroscopeError, match=message):
        make_checked_examples([changed], stories, "missing", tmp_path)


def test_a_malformed_line_is_an_error_with_its_place(run, tmp_path):
    instance, path = checked_of(run, "missing", 1)[0].instance, tmp_path / "segments.jsonl"
    write_lines(path, [instance])
    path.write_text(path.read_text().replace(f'"place": {instance.place}', '"place": 4'))
    with pytest.raises(MacroscopeError, match=r"line 1: .*'place' is 4, but places .* are 1 to 2"):
        read_lines(Instance, path)


# ---- the commands ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_commands_lead_from_a_run_to_a_test_set(run, tmp_path, capsys, monkeypatch):
    def command(*words):
        monkeypatch.setattr("sys.argv", ["macroscope", "human", *map(str, words)])
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        logging.getLogger("macroscope").handlers = []
        return exit_info.value.code, capsys.readouterr()

    names = ("sampled", "easy", "study", "judged", "checked")
    sampled, easy, study, judged, checked = (tmp_path / name for name in names)
    assert command("segments", "--run", run, "--task", "x", "--output", sampled)[0] == 2
    for folder, number, seed in ((sampled, 12, 1), (easy, 2, 2)):
        flags = ("--task", "missing", "--segments", number, "--seed", seed, "--output", folder)
        code, output = command("segments", "--run", run, *flags)
        assert code == 0, output.err
    people = ("--documents", 10, "--annotators", 4, "--per-document", 4, "--repeated", 0)
    assert command("sheet", "--screening", easy, "--real", easy, *people, "--output", study)[0] == 2
    assert command("sheet", "--segments", sampled, "--screening", easy, *people, "--output", study)[0] == 0
    key = json.loads((study / "key.json").read_text())
    truth = {truth.id: truth.damaged for truth in read_lines(Truth, sampled / "key.jsonl")} | key["screening"]["scores"]
    (tmp_path / "answers").mkdir()
    for annotator in key["annotators"]:
        answers = make_answers(
            key, annotator, lambda showing: ([], "yes" if truth[showing["document"]] else "no"), question="damaged"
        )
        write_json(tmp_path / "answers" / f"{annotator}.json", answers)
    flags = ("--sheet", study, "--answers", tmp_path / "answers", "--output", judged, "--resamples", 100)
    assert command("collect", *flags)[0] == 0
    assert pd.read_csv(judged / "screening.csv")["right"].tolist() == [2] * 4
    code, output = command("check", "--segments", sampled, "--judged", judged, "--output", checked)
    assert code == 0, output.err
    assert pd.read_csv(checked / "agreement.csv")["kept"].sum() == 10
    assert command("sheet", "--segments", checked, *people, "--output", tmp_path / "second")[0] == 0
    code, output = command(
        *("baseline", "--segments", checked, "--judged", judged, "--output", tmp_path / "base"),
        *("--resamples", 100, "--json"),
    )
    assert code == 0, output.err
    assert {row["metric"]: row["value"] for row in json.loads(output.out)}["accuracy"] == 1.0
    assert np.mean([len(s.people) for s in read_lines(CheckedSegment, tmp_path / "base" / "segments.jsonl")]) == 4
