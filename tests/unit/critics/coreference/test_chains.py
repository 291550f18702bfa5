"""Chains, by the rules of deng2022's Appendix G."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope.critics.coreference import projection
from macroscope.critics.coreference.chains import build_chain, infer_gender
from macroscope.critics.coreference.mentions import Mention, Resolved, read_resolved
from macroscope.critics.coreference.options import Domain
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from tests.unit.critics.coreference.test_projection import FILES, make_documents, project_documents

from .mention_files import write_resolved


def make_resolved(text, *mentions, sentences=(0,)):
    """Build a resolved text from mentions (words, number of the occurrence, entity, pronoun, person)."""
    mentions_of_text = []
    for words, occurrence, entity, pronoun, person in mentions:
        start = -1
        for _ in range(occurrence):
            start = text.index(words, start + 1)
        head = start + words.rindex(" ") + 1 if " " in words else start
        mentions_of_text.append(Mention(start, start + len(words), head, start + len(words), entity, pronoun, person))
    return Resolved("x", tuple(sentences), tuple(mentions_of_text))


def symbols(chain):
    return [s if e < 0 else f"{s}:{e}" for s, e in zip(chain.surfaces, chain.entities, strict=True)]


def test_the_example_of_figure_5():
    text = "Lisa runs off to find him and they kiss. Josh tells her why he and Lisa go to their gig."
    document = make_resolved(
        text,
        ("Lisa", 1, 4, False, True),
        ("him", 1, 2, True, True),
        ("they", 1, 9, True, True),
        ("Josh", 1, 2, False, True),
        ("her", 1, 4, True, True),
        ("he", 3, 2, True, True),
        ("Lisa", 2, 4, False, True),
        ("their", 1, 9, True, True),
        sentences=(0, 41),
    )
    assert symbols(build_chain(document, text)) == (
        [".", "Female:0", "him:1", "they:2", ".", "Male:1", "her:0", "he:1", "Female:0", "their:2"]
    )


def test_an_entity_is_a_person_if_any_mention_is():
    text = "The company grew. It moved. The doctor slept. She woke."
    document = make_resolved(
        text,
        ("The company", 1, 0, False, False),
        ("It", 1, 0, True, False),
        ("The doctor", 1, 1, False, False),
        ("She", 1, 1, True, True),
    )
    assert symbols(build_chain(document, text)) == [".", "Female:0", "She:0"]


def test_the_pronoun_it_does_not_indicate_a_person():
    text = "The company grew. It moved."
    document = make_resolved(text, ("The company", 1, 0, False, False), ("It", 1, 0, True, True))
    assert symbols(build_chain(document, text)) == ["."]


@pytest.mark.parametrize(
    ("single", "expected"), [("none", ["."]), ("pronouns", [".", "He:0"]), ("all", [".", "He:0", "None:1"])]
)
def test_entities_with_a_single_mention(single, expected):
    text = "He met Ann."
    document = make_resolved(text, ("He", 1, 0, True, True), ("Ann", 1, 1, False, True))
    assert symbols(build_chain(document, text, single)) == expected


@pytest.mark.parametrize("word", ["you", "I", "our", "its"])
def test_other_single_pronouns_are_dropped(word):
    assert symbols(build_chain(make_resolved(word, (word, 1, 0, True, True)), word)) == ["."]


def test_the_gender_is_the_majority_and_ties_go_to_the_first():
    text = "she he Kim his her"
    mentions = make_resolved(
        text,
        ("she", 1, 0, True, True),
        ("Kim", 1, 0, False, True),
        ("his", 1, 0, True, True),
        ("her", 1, 0, True, True),
    ).mentions
    assert infer_gender(mentions, text) == "Female"
    assert infer_gender([mentions[0], mentions[2]], text) == "Female"
    assert infer_gender([mentions[1]], text) == "None"


def test_the_last_of_several_clusters_with_the_same_head_wins():
    text = "Ann and her. She. Her."
    document = Resolved(
        "x",
        (0,),
        (
            Mention(0, 3, 0, 3, 0, False, True),
            Mention(0, 11, 0, 3, 1, False, True),
            Mention(13, 16, 13, 16, 0, True, True),
            Mention(18, 21, 18, 21, 1, True, True),
        ),
    )
    assert symbols(build_chain(document, text)) == [".", "Female:0", "She:1", "Her:0"]


def test_empty_and_outside_mentions_are_counted_and_overlapping_ones_are_not():
    text = "Ann saw her."
    good = (Mention(0, 3, 0, 3, 0, False, True), Mention(8, 11, 8, 11, 0, True, True))
    bad = (
        Mention(4, 4, 4, 4, 0, False, True),
        Mention(8, 99, 90, 99, 0, True, True),
        Mention(-1, 3, 0, 3, 1, False, True),
    )
    without_entity = (Mention(0, 3, 0, 3, -1, False, True),)
    overlapping = (Mention(0, 11, 8, 11, 0, True, True),)
    chain = build_chain(Resolved("x", (0, 999), (*good, *bad, *without_entity, *overlapping)), text)
    assert chain.invalid == 5  # one of them is a sentence start outside the text
    assert symbols(chain) == [".", "Female:0", "her:0"]
    assert [text[a:b] for a, b in zip(chain.starts, chain.ends, strict=True)] == ["", "Ann", "her"]


def test_external_mentions_in_any_order(tmp_path):
    documents = make_documents("Ann left. She ran.", "Nobody.", "It fails.")
    resolved = [
        Resolved("2", error="too long"),
        Resolved("unasked", (0,)),
        Resolved("1", (0,)),
        Resolved("0", (0, 10), (Mention(0, 3, 0, 3, 7, False, True), Mention(10, 13, 10, 13, 7, True, True))),
    ]
    write_resolved(tmp_path / "mentions.parquet", resolved)
    assert list(read_resolved(tmp_path / "mentions.parquet")) == resolved
    table = project_documents(tmp_path, documents, FILES, tmp_path / "mentions.parquet")
    assert [list(surfaces) for surfaces in table["surfaces"]] == [[".", "Female", ".", "She"], ["."], []]
    assert table["error"].isna().tolist() == [True, True, False]
    assert table["error"].iloc[2] == "too long"


def test_a_missing_document_raises_one_sentence(tmp_path):
    write_resolved(tmp_path / "mentions.parquet", [Resolved("0", (0,))])
    with pytest.raises(MacroscopeError, match="no mentions of document '1'"):
        project_documents(tmp_path, make_documents("Ann.", "Bob."), FILES, tmp_path / "mentions.parquet")


def test_skipped_documents_do_not_accumulate(tmp_path):
    """Mentions of documents outside the domain are discarded."""
    documents = [Document(str(n), "test", None, (Section(None, "film" if n % 9 == 0 else "x"),)) for n in range(90)]
    write_resolved(tmp_path / "mentions.parquet", [Resolved(str(n), (0,)) for n in range(90)])
    options = FILES.model_copy(update={"domain": Domain(pattern="film")})
    resolver = projection.make_resolver(options, tmp_path / "mentions.parquet", [d.id for d in documents])
    projection.compute_latents(documents, resolver, options)
    assert not resolver.waiting
    assert len(resolver.passed) < 9  # those after the last document in the domain


def test_a_duplicate_document_raises_one_sentence(tmp_path):
    write_resolved(tmp_path / "mentions.parquet", [Resolved("1", (0,)), Resolved("1", (0,)), Resolved("0", (0,))])
    with pytest.raises(MacroscopeError, match="document '1' is there twice"):
        project_documents(tmp_path, make_documents("Ann.", "Bob."), FILES, tmp_path / "mentions.parquet")


def test_a_null_among_sentence_starts_raises_one_sentence(tmp_path):
    table = projection.pa.Table.from_pylist([{"id": "0", "sentence_starts": [0, None], "mentions": []}])
    pq.write_table(table, tmp_path / "mentions.parquet")
    with pytest.raises(MacroscopeError, match="a null among 'sentence_starts'"):
        project_documents(tmp_path, make_documents("Ann."), FILES, tmp_path / "mentions.parquet")


def test_another_file_raises_one_sentence(tmp_path):
    pd.DataFrame({"id": ["0"]}).to_parquet(tmp_path / "mentions.parquet")
    with pytest.raises(MacroscopeError, match="no column 'sentence_starts'"):
        project_documents(tmp_path, make_documents("Ann."), FILES, tmp_path / "mentions.parquet")
    (tmp_path / "mentions.parquet").write_text("no")
    with pytest.raises(MacroscopeError, match="not a readable Parquet file"):
        project_documents(tmp_path, make_documents("Ann."), FILES, tmp_path / "mentions.parquet")
