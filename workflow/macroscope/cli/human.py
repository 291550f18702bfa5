"""`macroscope human <verb>`: sheets for annotators, and tables of their answers (deng2022, Appendix H)."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import (
    FINISHED_RUN,
    Confidence,
    CorpusOfRun,
    Language,
    Resamples,
    Seed,
    reads_one_side,
    real_texts,
    resampling_of,
)
from macroscope.cli.verbs import Verbs
from macroscope.phrases import format_count
from macroscope.printing import Json, print_json, print_table

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields

log = logging.getLogger("macroscope")
app = typer.Typer(
    help="Ask people: pages for annotators, their answers, and critics beside them.", no_args_is_help=True, cls=Verbs
)


@app.command()
@reads_one_side
def sheet(
    *,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder to write; it must not exist.")],
    run: Annotated[Path | None, FINISHED_RUN] = None,
    corpus: CorpusOfRun = None,
    real: Annotated[list[Path] | None, real_texts("those of --run")] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="With --run: a system's name (default: all, and the control). Else NAME=FILE; repeatable."),
    ] = None,
    segments: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Damaged segments in place of texts: folder of `human segments` or `human check`."
        ),
    ] = None,
    questionnaire: Annotated[
        Path | None,
        typer.Option(
            help="YAML of questions; default: those of deng2022, or those about whole texts if sections have no titles;"
            " with --segments, those about their task."
        ),
    ] = None,
    documents: Annotated[int, typer.Option(min=1, help="Documents per system.")] = 20,
    annotators: Annotated[int, typer.Option(min=1, help="Number of annotators.")] = 3,
    per_document: Annotated[int, typer.Option(min=1, help="Annotators per document.")] = 2,
    repeated: Annotated[
        float, typer.Option(min=0, max=0.5, help="Share of an annotator's documents that is shown twice.")
    ] = 0.1,
    training: Annotated[int, typer.Option(min=0, help="Real documents of the training phase.")] = 5,
    screening: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="With --segments: further segments with known answers, a folder alike; every annotator judges all of"
            " them first, and the answers of those who fail do not count.",
        ),
    ] = None,
    passing: Annotated[
        float, typer.Option(min=0, max=1, help="With --screening: least share of right answers to pass.")
    ] = 0.8,
    given: "GivenFields",
    language: Language = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Sample documents and write a page for each annotator; the key stays with you."""
    from macroscope.criticize.inputs import GivenFields
    from macroscope.errors import UsageError
    from macroscope.human.annotation_form import PAGES, write_annotation_form
    from macroscope.human.assignment import Design
    from macroscope.human.pool import FEWEST_TYPES, pool_of_files, pool_of_run
    from macroscope.human.questionnaire import DEFAULT, WHOLE_TEXT, read_questionnaire
    from macroscope.human.segments import pool_of_segments, questionnaire_of, read_instances
    from macroscope.options import CONTROL

    if screening and not segments:
        raise UsageError("--screening: its answers are known of segments only; give --segments, too")
    instances = [instance for instance, _ in read_instances(segments)] if segments else []
    screened = read_instances(screening) if screening else []
    default = questionnaire_of([*instances, *(instance for instance, _ in screened)]) if segments else DEFAULT
    questions = read_questionnaire(questionnaire or default)
    lessons = training if questions.section_types else 0
    if sum(map(bool, (segments, run, real or (system and not run)))) != 1:
        raise UsageError("give either --run, or files with --real and --system NAME=FILE, or --segments")
    if (run or segments) and given != GivenFields():
        raise UsageError("the texts of --run and --segments are read already; leave out the options of reading")
    if segments:
        pool = pool_of_segments(instances, language, screened)
    elif run is not None:
        if language is not None:
            raise UsageError("--run: its texts are read already; leave out --language")
        pool = pool_of_run(run, corpus, system or [])
    else:
        pool = pool_of_files(real or [], _files_by_system(system or []), given, language, lessons)
    is_untitled = len(pool.types) < FEWEST_TYPES or len(pool.training) < lessons
    if questionnaire is None and questions.section_types and is_untitled:
        log.warning("too few real texts have titled sections: the questions are those of %s", WHOLE_TEXT.name)
        questions, lessons = read_questionnaire(WHOLE_TEXT), 0
        if run is None and real:
            pool.systems[CONTROL] += pool.training
    design = Design(documents, annotators, per_document, repeated, lessons, seed, passing)
    key = write_annotation_form(pool, design, questions, output)
    pages, texts = len(key["annotators"]), len(key["showings"])
    if json:
        print_json({"study": key["study"], "pages": pages, "texts": texts, "folder": str(output / PAGES)})
    else:
        counted = f"{format_count(pages, 'page')} with {format_count(texts, 'text')}"
        typer.echo(f"Study {key['study']}: {counted} in {output / PAGES}")


def _files_by_system(pairs: list[str]) -> dict[str, list[Path]]:
    from macroscope.errors import UsageError
    from macroscope.options import KEPT_NAMES

    files: dict[str, list[Path]] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise UsageError(f"--system: {pair!r} is not NAME=FILE")
        if name in KEPT_NAMES:
            raise UsageError(f"--system: '{name}' is the name of {KEPT_NAMES[name]}; give another one")
        files.setdefault(name, []).append(Path(path))
    return files


@app.command()
def collect(
    sheet: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder that `macroscope human sheet` wrote.")],
    answers: Annotated[
        list[Path], typer.Option(metavar="PATH", help="Exported files, or folders of them; repeatable.")
    ],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the tables; it must not exist.")],
    types: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder of a critic's latents, to compare its section types with people's."
        ),
    ] = None,
    types_column: Annotated[str, typer.Option(help="Column with the types of the sections.")] = "section_types",
    resamples: Resamples = 2000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Turn exported answers into scores with intervals, agreement, and exclusions with their reasons."""
    from macroscope.errors import MacroscopeError
    from macroscope.human.answers import read_answers, read_key
    from macroscope.human.collecting import collect as collect_tables
    from macroscope.human.section_types import read_projections

    if output.exists():
        raise MacroscopeError(f"{output}: exists already; give a new --output")
    key = read_key(sheet)
    handed = read_answers(key, answers)
    systems = dict.fromkeys(showing["system"] for showing in key["showings"])
    projected = None if types is None else read_projections(types, systems, types_column)
    tables = collect_tables(key, handed, output, resampling_of(resamples, 0, confidence, seed), projected)
    if json:
        print_table(tables["systems"], json)
        return
    for name in ("systems", "agreement"):
        print_table(tables[name], json)
    excluded = int(tables["exclusions"]["count"].sum())
    typer.echo(f"{len(handed.answers)} annotations count, {excluded} do not: {output / 'exclusions.csv'}")


@app.command()
def segments(
    run: Annotated[Path, FINISHED_RUN],
    task: Annotated[str, typer.Option(help="missing or discordant.")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder to write; it must not exist.")],
    corpus: CorpusOfRun = None,
    variant: Annotated[str | None, typer.Option(help="Variant of the narrative critic, if it is one.")] = None,
    number: Annotated[int, typer.Option("--segments", min=1, help="Number of segments.")] = 400,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Sample damaged segments for people to check (cai2020); the truth is in a separate file."""
    from typing import get_args

    from macroscope.critics.narrative.options import Task
    from macroscope.errors import UsageError
    from macroscope.human.segments import sample_segments, write_segments

    chosen: Task | None = next((name for name in get_args(Task) if name == task), None)
    if chosen is None:
        raise UsageError(f"--task: '{task}' is neither missing nor discordant")
    instances, truths = sample_segments(run, corpus, variant, chosen, number, seed)
    write_segments(instances, truths, output)
    damaged = sum(truth.damaged for truth in truths)
    if json:
        print_json({"segments": len(instances), "damaged": damaged, "folder": str(output)})
    else:
        typer.echo(f"{len(instances)} segments, {damaged} with a damaged place to judge: {output}; keep the key to you")


@app.command()
def check(
    segments: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder that `macroscope human segments` wrote.")],
    judged: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder that `macroscope human collect` wrote.")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the checked segments; it must not exist.")],
    least: Annotated[int, typer.Option(min=1, help="Judges who must agree with the truth (cai2020: 3) ...")] = 3,
    judges: Annotated[int, typer.Option(min=1, help="... of this number of judges (cai2020: 4).")] = 4,
    json: Json = False,
) -> None:
    """Keep the segments on whose truth people agree, for `test_segments` of the narrative critic."""
    from macroscope.human.segments import check_segments, write_checked

    kept, agreement = check_segments(segments, judged, least, judges)
    write_checked(kept, {"agreement": agreement}, output)
    print_table(agreement, json)


@app.command()
def baseline(
    segments: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder that `macroscope human check` wrote.")],
    judged: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Folder that `macroscope human collect` wrote: other people's answers to them."
        ),
    ],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder to write; it must not exist.")],
    resamples: Resamples = 2000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Measure how well people find the damage of checked segments (cai2020 Table 3)."""
    from macroscope.human.segments import add_baseline, write_checked

    checked, metrics = add_baseline(segments, judged, resampling_of(resamples, 0, confidence, seed))
    write_checked(checked, {"people": metrics}, output)
    print_table(metrics, json)


@app.command()
def correlate(
    ratings: Annotated[
        Path,
        typer.Option(
            metavar="PATH", help="Folder that `macroscope human collect` wrote, or a CSV of ratings of documents."
        ),
    ],
    run: Annotated[Path, FINISHED_RUN],
    output: Annotated[Path, typer.Option(help="CSV to write.")],
    corpus: CorpusOfRun = None,
    resamples: Resamples = 2000,
    json: Json = False,
) -> None:
    """Correlate critics' per-document scores with people's ratings, corrected for the annotators' error."""
    from macroscope.human.pool import open_run
    from macroscope.reporting.human_documents import correlate_run
    from macroscope.tables import write_output

    table = correlate_run(*open_run(run, corpus), str(ratings), resamples=resamples)
    write_output(table, output)
    columns = ["question", "critic", "statistic", "documents_of", "documents", "pearson", "pearson_p_adjusted"]
    print_table(table, json, left_out=table.columns.difference(columns))
