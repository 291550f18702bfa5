"""`macroscope critics <verb> --critic NAME`: documents -> latents, T(x)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from macroscope.cli.resampling import Confidence, Permutations, Resamples, Seed, resampling_of

app = typer.Typer(help="Documents -> latents, T(x).", no_args_is_help=True)

Name = Annotated[str, typer.Option("--critic", help="Name of the critic.")]
OptionsJson = Annotated[str, typer.Option("--options", help="Options of the critic, as JSON.")]
Documents = Annotated[Path, typer.Option(help="Documents or samples (Parquet).")]
Inference = Annotated[Path, typer.Option(help="Folder of the trained projection.")]
Prior = Annotated[Path, typer.Option(help="Folder of the prior.")]
Latents = Annotated[Path, typer.Option(help="Latents (Parquet).")]
Output = Annotated[Path, typer.Option(help="What to write.")]


def _load(name: str, options: str) -> tuple[Any, Any]:
    from macroscope.cli.options import parse_options
    from macroscope.critics.critic import load, options_model

    return load(name), parse_options(options_model(name), options)


@app.command()
def train(
    critic: Name,
    documents: Documents,
    output: Output,
    checkpoints: Annotated[Path, typer.Option(help="Folder that a killed run resumes from.")],
    options: OptionsJson = "{}",
    seed: Seed = 1,
) -> None:
    """Learn the projection P_c(z|x) from the train split."""
    module, parsed = _load(critic, options)
    module.train(documents, output, parsed, seed, checkpoints)


@app.command()
def fit_prior(
    critic: Name, documents: Documents, inference: Inference, output: Output, options: OptionsJson = "{}"
) -> None:
    """Fit the prior P_c(z) on the train split."""
    module, parsed = _load(critic, options)
    module.fit_prior(documents, inference, output, parsed)


@app.command()
def project(
    critic: Name,
    documents: Documents,
    output: Output,
    inference: Annotated[
        Path | None, typer.Option(help="Folder of the trained projection, for critics that train one.")
    ] = None,
    options: OptionsJson = "{}",
) -> None:
    """Project documents or samples onto their latents."""
    module, parsed = _load(critic, options)
    module.project(documents, inference, output, parsed)


@app.command()
def score(critic: Name, latents: Latents, prior: Prior, output: Output, options: OptionsJson = "{}") -> None:
    """Score latents under the prior."""
    module, parsed = _load(critic, options)
    module.score(latents, prior, output, parsed)


@app.command()
def explain(
    critic: Name,
    system: Annotated[str, typer.Option(help="Name of the system.")],
    documents: Documents,
    latents: Latents,
    scores: Annotated[Path, typer.Option(help="Scores of the system (Parquet).")],
    control_latents: Annotated[Path, typer.Option(help="Latents of the control (Parquet).")],
    prior: Prior,
    output: Output,
    options: OptionsJson = "{}",
) -> None:
    """Write the tables, figures and texts that show why a system's numbers are as they are."""
    from macroscope.critics.critic import Evidence

    module, parsed = _load(critic, options)
    module.explain(Evidence(system, documents, latents, scores, control_latents, prior), output, parsed)


@app.command()
def calibrate(
    critic: Name,
    process: Annotated[Path, typer.Option(help="truth/process.json of a simulated corpus.")],
    prior: Prior,
    order: Annotated[str, typer.Option(help="Order of the simulated system; 'process' for the control.")],
    output: Output,
    seed: Seed = 1,
) -> None:
    """Write what theory gives for a system of a simulated corpus."""
    from macroscope.critics.critic import load

    load(critic).calibrate(process, prior, order, output, seed)


@app.command()
def compare(
    critic: Name,
    corpus: Annotated[str, typer.Option(help="Name of the corpus.")],
    system: Annotated[str, typer.Option(help="Name of the system.")],
    reference: Annotated[Path, typer.Option(help="Latents of the control.")],
    candidate: Annotated[Path, typer.Option(help="Latents of the system; of the control itself: the same file.")],
    statistics: Annotated[Path, typer.Option(help="Tidy CSV to write.")],
    evidence: Annotated[Path, typer.Option(help="Folder to write: what shows why the numbers are as they are.")],
    inference: Annotated[
        Path | None, typer.Option(help="Folder of what was learnt from all systems, for critics that share it.")
    ] = None,
    options: OptionsJson = "{}",
    signature: Annotated[str, typer.Option(help="What changes the numbers, as key:value pairs joined by '|'.")] = "",
    resamples: Resamples = 2000,
    permutations: Permutations = 10000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """Compare the latents of a system with the control's, for critics without a prior."""
    from macroscope.critics.critic import Pair

    module, parsed = _load(critic, options)
    resampling = resampling_of(resamples, permutations, confidence, seed)
    pair = Pair(corpus, system, reference, candidate, signature, inference)
    module.compare(pair, statistics, evidence, parsed, resampling)


@app.command()
def learn_shared(
    critic: Name,
    latents: Annotated[list[Path], typer.Argument(help="Latents of all systems, the control's among them.")],
    output: Output,
    options: OptionsJson = "{}",
    seed: Seed = 1,
) -> None:
    """Learn from the latents of all systems what their comparisons share, for critics that share anything."""
    module, parsed = _load(critic, options)
    module.learn_shared(latents, output, parsed, seed)


@app.command()
def embed_corpus(documents: Documents, output: Output, options: OptionsJson = "{}") -> None:
    """Embed the documents of a corpus that is probed, with their labels."""
    from macroscope.cli.options import parse_options
    from macroscope.critics.clusters import probing
    from macroscope.critics.clusters.options import EmbeddingOptions

    probing.embed_corpus(documents, output, parse_options(EmbeddingOptions, options))


@app.command()
def probe(
    embeddings: Annotated[Path, typer.Option(help="Embeddings of the corpus that is probed (Parquet).")],
    probing: Annotated[str, typer.Option(help="What is probed, as JSON.")],
    output: Output,
    reference: Annotated[
        Path | None, typer.Option(help="Embeddings of a corpus that clusters are learnt on as well.")
    ] = None,
    options: OptionsJson = "{}",
    signature: Annotated[str, typer.Option(help="What changes the numbers, as key:value pairs joined by '|'.")] = "",
    resamples: Resamples = 2000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """Predict labels, stop words and symbols of texts from their clusters."""
    from macroscope.cli.options import parse_options
    from macroscope.critics.clusters.options import ClustersOptions, Probing
    from macroscope.critics.clusters.probing import probe_corpus

    asked, chosen = parse_options(Probing, probing), parse_options(ClustersOptions, options)
    resampling = resampling_of(resamples, 0, confidence, seed)
    probe_corpus(embeddings, reference, output, asked, chosen, resampling, signature)
