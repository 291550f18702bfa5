"""Commands `macroscope critics evaluate-resolver`, `train-ranker` and `make-environment`."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.errors import MacroscopeError
from macroscope.printing import Json, print_table

Gap = Annotated[Path | None, typer.Option("--gap", help="GAP file (TSV).")]
Gold = Annotated[
    Path | None,
    typer.Option(
        "--gold", help="Gold clusters: CoNLL-2012 files, or LitBank's .ann and .txt; a folder, tar archive or file."
    ),
]


def evaluate_resolver(
    gap: Gap = None,
    gold: Gold = None,
    ranker: Annotated[str, typer.Option(help="Ranker of antecedents: learnt, or sieve.")] = "learnt",
    weights: Annotated[Path | None, typer.Option(help="Weights of another learnt ranker (JSON).")] = None,
    output: Annotated[Path | None, typer.Option(help="CSV file to write.")] = None,
    json: Json = False,
) -> None:
    """Measure the embedded resolver on gold data: F1 of GAP; MUC, B3, CEAF-e, LEA and the CoNLL mean."""
    from macroscope.critics.coreference.evaluation.evaluating import evaluate_resolver as run
    from macroscope.tables import write_output

    table = run(gap, gold, ranker, weights)
    if output is not None:
        write_output(table, output)
    print_table(table, json)


def train_ranker(
    gap: Annotated[Path, typer.Option(help="GAP file (TSV).")],
    gold: Annotated[Path, typer.Option(help="Gold clusters, as for evaluate-resolver.")],
    output: Annotated[Path, typer.Option(help="File of weights to write (JSON).")],
) -> None:
    """Train the pronoun ranker on the half of the gold data that is not held out."""
    from macroscope.critics.coreference.evaluation.evaluating import train_ranker as run

    run(gap, gold, output)


def make_environment(
    resolver: Annotated[str, typer.Option(help="Resolver: neuralcoref, or fastcoref.")],
    output: Annotated[Path, typer.Option(help="Folder of the virtual environment to make.")],
    pipeline: Annotated[str | None, typer.Option(help="Pipeline of spaCy that neuralcoref will load.")] = None,
) -> None:
    """Make the environment of an external resolver, without conda."""
    from macroscope.critics.coreference.environment import make_environment as run
    from macroscope.critics.coreference.plan import EXTERNAL_RESOLVERS

    if resolver not in EXTERNAL_RESOLVERS:
        raise MacroscopeError(f"--resolver {resolver}: no such resolver; choose one of {', '.join(EXTERNAL_RESOLVERS)}")
    run(resolver, output, pipeline)


COMMANDS = {
    "evaluate-resolver": evaluate_resolver,
    "train-ranker": train_ranker,
    "make-environment": make_environment,
}
