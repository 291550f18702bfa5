"""`macroscope systems <verb>`: documents -> samples."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from macroscope.systems.options import LanguageModelSystem

app = typer.Typer(help="Documents -> samples.", no_args_is_help=True)

Documents = Annotated[Path, typer.Option(help="Documents of the corpus (Parquet).")]
Output = Annotated[Path, typer.Option(help="What to write.")]
OptionsJson = Annotated[str, typer.Option("--options", help="Options of the system, as JSON.")]
Corpus = Annotated[str, typer.Option(help="Name of the corpus.")]
System = Annotated[str, typer.Option(help="Name of the system.")]
Seed = Annotated[int, typer.Option(help="Seed.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of the arithmetic.")]
Model = Annotated[Path, typer.Option(help="Folder of the model.")]
Prompts = Annotated[Path | None, typer.Option(help="Documents that samples begin as, for a system with prompts.")]
Titles = Annotated[bool, typer.Option("--titles/--no-titles", help="W/ Title or W/O Title.")]


@app.command()
def train_tokenizer(
    documents: Documents,
    base: Annotated[str, typer.Option(help="Base model.")],
    output: Output,
    titles: Titles = True,
) -> None:
    """Write the base model's tokenizer, or train a byte-level BPE for a model from scratch."""
    from macroscope.systems.tokenizer import prepare_tokenizer

    prepare_tokenizer(documents, base, titles, output)


@app.command()
def finetune(
    documents: Documents,
    tokenizer: Annotated[Path, typer.Option(help="Folder of the tokenizer.")],
    checkpoints: Annotated[Path, typer.Option(help="Folder that a killed run resumes from.")],
    output: Output,
    options: OptionsJson,
    seed: Seed = 1,
    threads: Threads = 1,
    processes: Annotated[int, typer.Option(min=0, help="GPUs to train on, one process each.")] = 1,
) -> None:
    """Fine-tune a language model, or train it from scratch."""
    from macroscope.systems import language_model

    language_model.launch(processes)
    _use_threads(threads)
    language_model.finetune(documents, tokenizer, output, _language_model(options), seed=seed, checkpoints=checkpoints)


@app.command()
def copy_base(output: Output, options: OptionsJson) -> None:
    """Take a base model as it was published, without any training."""
    from macroscope.systems import language_model

    language_model.copy_base(output, _language_model(options))


@app.command()
def measure_perplexity(
    documents: Documents,
    model: Model,
    output: Output,
    options: OptionsJson,
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    threads: Threads = 1,
) -> None:
    """Measure the negative log-likelihood, tokens and words of every document of a split."""
    from macroscope.systems import perplexity

    _use_threads(threads)
    parsed = _language_model(options)
    perplexity.measure_perplexity(documents, model, parsed.titles, split, output, parsed.context)


@app.command()
def sample(
    model: Model,
    output: Output,
    options: OptionsJson,
    system: System,
    seed: Seed = 1,
    shard: Annotated[int, typer.Option(min=0, help="Number of this shard.")] = 0,
    shards: Annotated[int, typer.Option(min=1, help="Number of shards.")] = 1,
    prompts: Prompts = None,
    threads: Threads = 1,
) -> None:
    """Draw one shard of samples."""
    from macroscope.systems import sampling

    _use_threads(threads)
    parsed, part = _language_model(options), {"shard": shard, "shards": shards}
    sampling.sample_shard(model, output, parsed, system=system, seed=seed, prompts=prompts, **part)


@app.command()
def measure_log_probabilities(
    samples: Annotated[Path, typer.Option(help="Samples of the system (Parquet).")],
    model: Model,
    output: Output,
    options: OptionsJson,
    prompts: Prompts = None,
    threads: Threads = 1,
) -> None:
    """Measure the log-probability of every sample under the model that it was drawn from."""
    from macroscope.systems import log_probabilities

    _use_threads(threads)
    log_probabilities.measure_log_probabilities(samples, model, output, _language_model(options), prompts=prompts)


@app.command()
def gather(
    shards: Annotated[list[Path], typer.Argument(help="Shards of samples (Parquet).")],
    corpus: Corpus,
    output: Output,
) -> None:
    """Merge shards of samples."""
    from macroscope.systems import gathering

    gathering.gather(shards, output, corpus)


@app.command()
def ngram(
    documents: Documents, options: OptionsJson, corpus: Corpus, system: System, output: Output, seed: Seed = 1
) -> None:
    """Count the n-grams of the train split and draw samples from their model."""
    from macroscope.cli.options import parse_options
    from macroscope.systems.ngram.system import sample_ngram
    from macroscope.systems.options import NgramSystem

    sample_ngram(documents, output, parse_options(NgramSystem, options), corpus=corpus, system=system, seed=seed)


@app.command("import")
def import_texts(
    paths: Annotated[list[Path], typer.Argument(metavar="FILES...", help="Files or folders of texts, in order.")],
    options: OptionsJson,
    corpus: Corpus,
    system: System,
    output: Output,
) -> None:
    """Read texts of the user's own model, or of a published one."""
    from macroscope.cli.options import parse_options
    from macroscope.systems import files
    from macroscope.systems.options import FilesSystem

    files.import_texts(paths, output, parse_options(FilesSystem, options), corpus=corpus, system=system)


@app.command()
def control(documents: Documents, options: OptionsJson, corpus: Corpus, output: Output) -> None:
    """Copy held-out real documents."""
    from macroscope.cli.options import parse_options
    from macroscope.systems import control as held_out
    from macroscope.systems.options import ControlSystem

    held_out.draw_control(documents, output, parse_options(ControlSystem, options), corpus)


@app.command()
def simulate(
    truth: Annotated[Path, typer.Option(help="truth/process.json of a simulated corpus.")],
    kind: Annotated[str, typer.Option(help="Kind of that corpus: wiki or webtext.")],
    options: OptionsJson,
    corpus: Corpus,
    system: System,
    output: Output,
    seed: Seed = 1,
) -> None:
    """Draw samples of a simulated corpus's own process, or of a defect of it."""
    from macroscope.cli.options import parse_options
    from macroscope.systems import simulated
    from macroscope.systems.options import SimulatedSystem

    parsed = parse_options(SimulatedSystem, options)
    simulated.simulate(truth, output, parsed, kind=kind, corpus=corpus, system=system, seed=seed)


@app.command()
def perturb(
    samples: Annotated[Path, typer.Option(help="Samples of the system that is perturbed (Parquet).")],
    options: OptionsJson,
    corpus: Corpus,
    system: System,
    output: Output,
    language: Annotated[str, typer.Option(help="Language of the corpus, as ISO 639-1 code.")] = "en",
    seed: Seed = 1,
) -> None:
    """Put known defects into the samples of another system."""
    from macroscope.cli.options import parse_options
    from macroscope.systems.options import PerturbationSystem
    from macroscope.systems.perturbations import system as perturbations

    parsed = parse_options(PerturbationSystem, options)
    perturbations.perturb_samples(samples, output, parsed, corpus=corpus, system=system, language=language, seed=seed)


def _language_model(options: str) -> "LanguageModelSystem":
    from macroscope.cli.options import parse_options
    from macroscope.systems.options import LanguageModelSystem

    return parse_options(LanguageModelSystem, options)


def _use_threads(threads: int) -> None:
    import os

    import torch

    torch.set_num_threads(threads)
    os.environ["RAYON_NUM_THREADS"] = str(threads)  # the tokenizers' own thread pool
