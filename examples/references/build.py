"""Build references of public texts that may be shared, from what everybody can retrieve: see README.md.

python examples/references/build.py encyclopedia-sample
python examples/references/build.py abstracts novels -- --critic tendencies --critic topics
python examples/references/build.py encyclopedia --mirror FOLDER
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from macroscope.documents import read_documents
from macroscope.files import REPOSITORY

TABLE = Path(__file__).with_name("references.yaml")
SOURCES = REPOSITORY / "resources" / "sources.yaml"
DOCUMENTS = "results/references/corpora/{}/documents.parquet"


def main(names: Sequence[str], arguments: Sequence[str] = (), mirror: str | None = None) -> None:
    """Build references, each as <name>.reference in the current folder.

    Parameters
    ----------
    names
        Names in references.yaml.
    arguments
        Further arguments of `macroscope reference build`.
    mirror
        Folder or address of the raw files, which is tried before their hosts.
    """
    table = _read(TABLE)
    for name in names:
        licence, citation = find_licence(table[name])
        texts = Path(f"{name}.jsonl")
        count = write_texts(prepare_corpus(name, table[name]["corpus"], mirror), texts)
        print(f"{name}: {count} texts; {licence}")
        about = ["--licence", licence, "--citation", citation]
        _run("reference", "build", str(texts), "--output", f"{name}.reference", *about, *arguments)


def find_licence(reference: Mapping[str, Any]) -> tuple[str, str]:
    """Return licence and citation of a reference's texts."""
    corpus = reference["corpus"]
    entry = reference if "licence" in reference else _read(SOURCES)[corpus.get("dump") or corpus["dataset"]]
    return entry["licence"], entry["citation"]


def prepare_corpus(name: str, corpus: Mapping[str, Any], mirror: str | None) -> Path:
    """Retrieve and read a corpus by the workflow; return the file of its documents."""
    config: dict[str, Any] = {
        "run": "references",
        "seed": 1,
        "corpora": {name: corpus},
        "systems": {"control": {"kind": "control"}},
        "critics": {"tendencies": {}},
        "comparisons": [{"corpus": name, "systems": ["control"], "critics": ["tendencies"]}],
    }
    if mirror is not None:
        config["mirror"] = mirror
    path = Path(f"{name}.yaml")
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    _run("run", "--config", str(path), "--cores", "1", DOCUMENTS.format(name))
    return Path(DOCUMENTS.format(name))


def write_texts(documents: Path, output: Path) -> int:
    """Write documents as JSON Lines without their splits, since a reference has its own; return their number."""
    texts = [
        {"id": each.id, "sections": [{"title": section.title, "text": section.text} for section in each.sections]}
        for each in read_documents(documents)
    ]
    lines = [json.dumps(text, ensure_ascii=False) + "\n" for text in texts]
    output.write_text("".join(lines), encoding="utf-8")
    return len(texts)


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _run(*words: str) -> None:
    if subprocess.run([sys.executable, "-m", "macroscope", *words], check=False).returncode:
        sys.exit(1)  # the command has said why


if __name__ == "__main__":
    parser = argparse.ArgumentParser(epilog="Further arguments behind -- are those of `macroscope reference build`.")
    parser.add_argument("names", nargs="+", choices=[*_read(TABLE)], metavar="NAME")
    parser.add_argument("--mirror", help="folder or address of the raw files, which is tried before their hosts")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given = parser.parse_args(sys.argv[1:end])
    main(given.names, sys.argv[end + 1 :], given.mirror)
