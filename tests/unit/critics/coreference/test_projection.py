"""From documents to latents: domains, other resolvers, failures, parts, and what is counted."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest

from macroscope.corpora.simulated.people import people_process, simulate_texts
from macroscope.critics.coreference import projection, training
from macroscope.critics.coreference.options import CoreferenceOptions, Domain
from macroscope.critics.coreference.projection import project
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json

pytestmark = pytest.mark.slow

RULES = CoreferenceOptions()
FILES = CoreferenceOptions(resolver="files", mentions="{system}.parquet")


def write(path, documents):
    write_documents(path, documents, Provenance("c"))
    return path


def make_documents(*texts, split="test"):
    return [Document(str(n), split, None, (Section(None, text),)) for n, text in enumerate(texts)]


def project_documents(tmp_path, documents, options=RULES, mentions=None):
    texts = write(tmp_path / "texts.parquet", documents)
    project(Collection(texts), mentions, signature="s", options=options, output=tmp_path / "latents.parquet")
    return pd.read_parquet(tmp_path / "latents.parquet")


def test_the_domain_applies_to_all_texts(tmp_path):
    options = CoreferenceOptions(
        domain=Domain(pattern=".*is a.*film.*", words=["film"], without=["born"]), single="all"
    )
    texts = (
        "Alien is a 1979 film. Ann sees it.",
        "Bob is a painter. He saw a film.",
        "Ann (born 1950) is a maker of film music.",
        "Up\nis a film.",
        "filmed.",
    )
    table = project_documents(tmp_path, make_documents(*texts), options)
    assert table["in_domain"].tolist() == [True, False, False, False, False]
    assert [len(surfaces) for surfaces in table["surfaces"]] == [3, 0, 0, 0, 0]
    within = options.model_copy(update={"domain": Domain(pattern=".*is a.*film.*", within="text")})
    table = project_documents(tmp_path, make_documents(*texts), within)
    assert table["in_domain"].tolist() == [True, True, True, True, False]


def test_phrases_and_words_with_hyphens_are_words(tmp_path):
    texts = ("A science fiction story.", "A sci-fi science fiction story.", "A science book.", "Unscience fictional.")
    domain = Domain(pattern=".*", words=["science fiction"], without=["sci-fi"])
    table = project_documents(tmp_path, make_documents(*texts), CoreferenceOptions(domain=domain))
    assert table["in_domain"].tolist() == [True, False, False, False]


def test_an_invalid_pattern_raises_one_sentence():
    with pytest.raises(ValueError, match="not a regular expression"):
        Domain(pattern="(")


@pytest.mark.parametrize(
    "options",
    [
        {"resolver": "files"},
        {"mentions": "{system}.parquet"},
        {"resolver": "files", "mentions": "x.parquet"},
        {"resolver": "files", "mentions": "{system}/{shard}.parquet"},
    ],
)
def test_external_mentions_need_a_path(options):
    with pytest.raises(ValueError, match="mentions"):
        CoreferenceOptions(**options)


def test_a_document_on_which_the_resolver_fails_is_counted_and_named(tmp_path, monkeypatch):
    def fails(name, text, choose, annotation):
        if name == "1":
            raise RuntimeError("no")
        return resolve(name, text, choose, annotation)

    resolve = projection.resolve_text
    monkeypatch.setattr(projection, "resolve_text", fails)
    documents = make_documents("Ann saw Bob. She left him.", "Ann. She.", "Tom lost his hat.", split="train")
    table = project_documents(tmp_path, documents)
    assert table["error"].tolist()[1] == "RuntimeError: no"
    assert len(table["surfaces"].iloc[1]) == 0

    monkeypatch.setattr(training, "ProcessPoolExecutor", _Serial)
    trained = train_on(tmp_path, documents)
    about = read_json(trained / "resolution.json")
    assert (about["failed"], about["failed_documents"]) == (1, ["1"])


class _Serial:
    """Process pool that runs everything in this process."""

    def __init__(self, processes):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    map = staticmethod(map)


def train_on(tmp_path, documents, threads=1):
    path = write(tmp_path / "documents.parquet", [replace(document, split="train") for document in documents])
    output = tmp_path / "inference"
    training.train(path, None, options=RULES, threads=threads, checkpoints=tmp_path / "checkpoints", output=output)
    return output


def test_the_number_of_processes_does_not_matter(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "DOCUMENTS_AT_ONCE", 7)
    documents = list(simulate_texts(people_process(), "process", 50, 1))
    outputs = [
        (train_on(tmp_path, documents, threads) / "chains.parquet").read_bytes()
        for threads in (1, 3)
        if not _remove(tmp_path / "inference")
    ]
    assert outputs[0] == outputs[1]
    assert not (tmp_path / "checkpoints").exists()


def test_a_killed_job_resumes_after_its_finished_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "DOCUMENTS_AT_ONCE", 10)
    monkeypatch.setattr(training, "ProcessPoolExecutor", _Serial)
    documents = list(simulate_texts(people_process(), "process", 50, 1))
    expected = (train_on(tmp_path, documents) / "chains.parquet").read_bytes()
    _remove(tmp_path / "inference")
    calls = []

    def killed(batch, resolve, options):
        calls.append(len(batch))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return compute_latents(batch, resolve, options)

    compute_latents = training.compute_latents
    monkeypatch.setattr(training, "compute_latents", killed)
    with pytest.raises(KeyboardInterrupt):
        train_on(tmp_path, documents)
    assert (train_on(tmp_path, documents) / "chains.parquet").read_bytes() == expected
    assert len(calls) == 4 + 2


def test_texts_without_persons_raise_one_sentence(tmp_path):
    with pytest.raises(MacroscopeError, match="no mentions of persons in the 2 documents of the train split"):
        train_on(tmp_path, make_documents("The rain had stopped.", "Nothing happened."))


def _remove(folder):
    for path in folder.rglob("*") if folder.exists() else ():
        path.unlink()
    if folder.exists():
        folder.rmdir()


def test_one_batch_is_resolved_without_further_processes(tmp_path, monkeypatch):
    documents = [Document(str(n), "train", None, (Section(None, "Anna met Tom. She liked him."),)) for n in range(3)]
    write_documents(tmp_path / "documents.parquet", documents, Provenance("x"))
    monkeypatch.setattr(training, "ProcessPoolExecutor", None)
    tables = training._resolve_in_parts(tmp_path / "documents.parquet", None, CoreferenceOptions(), 2, tmp_path)
    assert pa.concat_tables(tables).column("id").to_pylist() == ["0", "1", "2"]
