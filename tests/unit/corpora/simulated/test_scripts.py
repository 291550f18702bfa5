"""Stories that follow scripts: their events and the order of these."""

import pytest

from macroscope.corpora.declaration import ORDERS
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.scripts import FEWEST, script_process, simulate_texts, write_corpus
from macroscope.documents import read_documents

PROCESS = script_process()


def places(document, script=None):
    """Return (script, number of the event) of every sentence of a story."""
    pairs = []
    for sentence in document.sentences:
        pairs += [
            (name, number)
            for name, entry in PROCESS.scripts.items()
            for number, alternatives in enumerate(entry["events"])
            if any(_fits(sentence, alternative) for alternative in alternatives)
        ][:1]
    return pairs


def _fits(sentence, template):
    """Return whether a sentence matches a template: it has the words between the slots, in order."""
    at = 0
    for literal in template.replace("{", "\0{").replace("}", "}\0").split("\0"):
        if literal and not literal.startswith("{"):
            at = sentence.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
    return True


def test_all_scripts_have_eight_events_and_known_slots():
    assert len(PROCESS.scripts) == 12
    for entry in PROCESS.scripts.values():
        assert len(entry["events"]) == 8
        assert all(len(alternatives) >= 2 for alternatives in entry["events"])
        for alternatives in entry["events"]:
            for sentence in alternatives:
                assert sentence.format(N="", S="", P="", O="", X="").endswith(".")


@pytest.mark.slow
def test_events_are_in_order_with_the_first_and_the_last():
    for document in simulate_texts(PROCESS, "process", 200, 1):
        pairs = places(document)
        assert len(pairs) == len(document.sentences) >= FEWEST
        assert {script for script, _ in pairs} == {document.label}
        events = [event for _, event in pairs]
        assert events == sorted(set(events))
        assert (events[0], events[-1]) == (0, 7)


@pytest.mark.slow
def test_shuffled_has_the_same_sentences_in_another_order():
    pairs = zip(simulate_texts(PROCESS, "process", 60, 1), simulate_texts(PROCESS, "shuffled", 60, 1), strict=True)
    moved = 0
    for story, shuffled in pairs:
        assert shuffled.label == story.label
        events = [event for _, event in places(shuffled)]
        assert sorted(events) == [event for _, event in places(story)][:1] + sorted(events)[1:]
        moved += events != sorted(events)
    assert moved > 40


def test_independent_has_sentences_of_many_scripts():
    for document in simulate_texts(PROCESS, "independent", 60, 1):
        assert len({script for script, _ in places(document)}) > 1


@pytest.mark.parametrize("order", ORDERS)
def test_first_stories_do_not_depend_on_the_number(order):
    assert list(simulate_texts(PROCESS, order, 3, 5)) == list(simulate_texts(PROCESS, order, 9, 5))[:3]


def test_an_unknown_order_is_an_error():
    with pytest.raises(ValueError, match="not one of process, shuffled"):
        next(simulate_texts(PROCESS, "odd", 1, 1))


def test_the_corpus_and_its_truth(tmp_path):
    options = SimulatedCorpus(source="simulated", kind="scripts", documents=20, clutter=0.2)
    (tmp_path / "truth").mkdir()
    write_corpus(options, 1, tmp_path / "raw.jsonl", tmp_path / "truth")
    assert len((tmp_path / "raw.jsonl").read_text().splitlines()) == 24
    documents = list(read_documents(tmp_path / "truth" / "documents.parquet"))
    assert len(documents) == 20
    assert all(" ".join(document.sentences) == document.text for document in documents)
