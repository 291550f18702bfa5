"""Reading of gold data, and training on the half that is not held out."""

import tarfile

import pytest

from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from tests.benchmarks.coreference.evaluation import evaluate_resolver, train_ranker
from tests.benchmarks.coreference.gap import read_examples
from tests.benchmarks.coreference.gold import is_held_out, read_gold

CONLL = """#begin document (tale); part 000
tale 0 0 Ann NNP * - - - - * (0)
tale 0 1 saw VBD * - - - - * -
tale 0 2 the DT * - - - - * (1|(2
tale 0 3 man NN * - - - - * 2)
tale 0 4 's POS * - - - - * 1)
tale 0 5 dog NN * - - - - * -

tale 0 0 She PRP * - - - - * (0)
tale 0 1 ran VBD * - - - - * -
#end document
"""
SENTENCES = (("Mary met John .", "Mary-1 0 0", "John-2 2 2"), ("She thanked him .", "Mary-1 0 0", "John-2 2 2"))


def litbank(folder, name, repeats=6):
    """Write a document of LitBank: two sentences, repeated."""
    text, lines = [], []
    for n in range(repeats):
        for place, (words, *mentions) in enumerate(SENTENCES):
            text.append(words)
            for mention in mentions:
                cluster, first, last = mention.split()
                number = 2 * n + place
                t = f"T{len(lines)}"
                word = words.split()[int(first)]
                lines.append(f"MENTION\t{t}\t{number}\t{first}\t{number}\t{last}\t{word}\tPER\tPROP")
                lines.append(f"COREF\t{t}\t{cluster}")
    text.append(f"It was {name} .")
    lines.append("MENTION\tTx\t0\t1\t0\t1\tmet\tFAC\tPROP")
    (folder / f"{name}.txt").write_text("\n".join(text))
    (folder / f"{name}.ann").write_text("\n".join(lines))


def gap(path, pages):
    header = "ID Text Pronoun Pronoun-offset A A-offset A-coref B B-offset B-coref URL".split()
    rows = [
        f"d-{n}\tMary met Anna. She left {n}.\tShe\t15\tMary\t0\tTRUE\tAnna\t9\tFALSE\tpage-{n}" for n in range(pages)
    ]
    path.write_text("\n".join(["\t".join(header), *rows]) + "\n")
    return path


def test_conll_2012(tmp_path):
    (tmp_path / "tale.v4_gold_conll").write_text(CONLL)
    (document,) = read_gold(tmp_path)
    assert document.words.words[:3] == ["Ann", "saw", "the"]
    assert document.words.sentence_starts == [0, 6]
    assert set(document.clusters) == {frozenset({(0, 1), (6, 7)}), frozenset({(2, 5)}), frozenset({(2, 4)})}


def test_malformed_conll_raises_one_sentence(tmp_path):
    path = tmp_path / "a_conll"
    path.write_text(CONLL.replace("(1|(2", "(2"))
    with pytest.raises(MacroscopeError, match="cluster 1 ends without a beginning"):
        read_gold(path)


def test_malformed_files_of_several_are_left_out_and_named(tmp_path, caplog):
    for name in ("emma", "cut", "columns", "latin"):
        litbank(tmp_path, name)
    with (tmp_path / "cut.ann").open("a") as stream:
        stream.write("\nMENTION\tT1\t0")
    with (tmp_path / "columns.ann").open("a") as stream:
        stream.write("\nMENTION\tT1\tx\t0\t0\t0\tAnn\tPER\tPROP")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (document,) = read_gold(tmp_path)
    assert document.name == "emma"
    assert caplog.text.count("left out, 1 of 4 files") == 3
    (tmp_path / "emma.txt").unlink()
    with pytest.raises(MacroscopeError, match=r"no usable gold data \(columns\.ann: not in the format"):
        read_gold(tmp_path)


def test_only_persons_of_litbank_are_read_from_folder_or_archive(tmp_path):
    (tmp_path / "some").mkdir()
    litbank(tmp_path / "some", "emma")
    with tarfile.open(tmp_path / "gold.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "some", "some")
    for path in (tmp_path / "some", tmp_path / "gold.tar.xz"):
        (document,) = read_gold(path)
        assert document.name == "emma"
        assert {len(cluster) for cluster in document.clusters} == {12}
        assert (0, 1) in document.clusters[0] | document.clusters[1]
        assert (1, 2) not in document.clusters[0] | document.clusters[1]


def test_other_files_raise_one_sentence(tmp_path):
    with pytest.raises(MacroscopeError, match="no gold data"):
        read_gold(tmp_path)
    (tmp_path / "x.tsv").write_text("a\tb\n1\t2\n")
    with pytest.raises(MacroscopeError, match="no column ID, Text"):
        read_examples(tmp_path / "x.tsv")
    with pytest.raises(MacroscopeError, match="no gold data to measure on"):
        evaluate_resolver(None, None, "learnt", None)


@pytest.mark.slow
def test_held_out_data_is_never_trained_on(tmp_path):
    """Trained on both data sets and evaluated separately, as the numbers of documents and pages show."""
    for n in range(20):
        litbank(tmp_path, f"book-{n}")
    examples = gap(tmp_path / "gap.tsv", 60)
    train_ranker(examples, tmp_path, tmp_path / "weights.json")
    held_out = sum(is_held_out(f"page-{n}") for n in range(60)), sum(is_held_out(f"book-{n}") for n in range(20))
    about = read_json(tmp_path / "weights.json")
    assert about["trained_on"].startswith(f"{60 - held_out[0]} pronouns of gap.tsv; {20 - held_out[1]} documents")
    table = evaluate_resolver(examples, tmp_path, "learnt", tmp_path / "weights.json")
    counted = table.groupby(["data", "part"])["n"].first()
    assert counted["gap.tsv", "held out"] == held_out[0]
    assert counted[tmp_path.name, "held out"] == held_out[1]
    assert (table.loc[table["measure"] == "CoNLL mean", "value"] == 100).all()
    perplexities = table.loc[table["measure"].str.startswith("latent PPL"), "value"]
    # Per symbol and per mention: without errors of the resolver, gold and resolved chains are equal.
    assert perplexities.nunique() == 2
    assert (table.loc[table["measure"] == "GAP feminine", "f1"] == 100).all()


@pytest.mark.slow
def test_litbank_here(real_text):
    documents = read_gold(real_text("litbank_coref/litbank_coref.tar.xz"))
    assert len(documents) == 100
    assert sum(len(document.words.words) for document in documents) == pytest.approx(210_000, rel=0.05)
