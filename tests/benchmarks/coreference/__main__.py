"""Evaluation and training of the embedded coreference resolver (docs/critics/coreference.md).

    python -m tests.benchmarks.coreference evaluate --gap gap-development.tsv --gold litbank_coref.tar.xz
    python -m tests.benchmarks.coreference train-ranker gap-development.tsv litbank_coref.tar.xz pronoun_weights.json
    python -m tests.benchmarks.coreference train-names DATA name_weights.json

Gold data are CoNLL-2012 files, or LitBank's .ann and .txt: in a folder, a tar archive or a file. Only the half that is
not held out trains the ranker.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from macroscope.errors import MacroscopeError
from macroscope.printing import print_table
from macroscope.tables import write_output

from .evaluation import evaluate_resolver, train_ranker
from .name_training import train_names

app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def evaluate(
    gap: Annotated[Path | None, typer.Option(help="GAP file (TSV).")] = None,
    gold: Annotated[Path | None, typer.Option(help="Gold clusters.")] = None,
    ranker: Annotated[str, typer.Option(help="Ranker of antecedents: learnt, or sieve.")] = "learnt",
    weights: Annotated[Path | None, typer.Option(help="Weights of another learnt ranker (JSON).")] = None,
    pipeline: Annotated[str | None, typer.Option(help="Pipeline of spaCy for names and noun phrases.")] = None,
    output: Annotated[Path | None, typer.Option(help="CSV file to write.")] = None,
) -> None:
    """Measure F1 of GAP; MUC, B3, CEAF-e, LEA and the CoNLL mean of gold clusters."""
    table = evaluate_resolver(gap, gold, ranker, weights, pipeline)
    if output is not None:
        write_output(table, output)
    print_table(table, as_json=False)


app.command()(train_ranker)
app.command()(train_names)

if __name__ == "__main__":
    try:
        app()
    except MacroscopeError as error:
        sys.exit(str(error))
