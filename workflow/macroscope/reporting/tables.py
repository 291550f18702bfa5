"""Tables of a run as CSV and LaTeX: all statistics, and tables like those of the papers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.config.schema import Config
from macroscope.critics import get_critic, is_critic
from macroscope.critics.declaration import difference_tests, statistics_of
from macroscope.critics.findings import ReportItem
from macroscope.documents import Provenance
from macroscope.files import atomic
from macroscope.gaps import write_missing
from macroscope.options import Resampling
from macroscope.reporting import by_label, human_documents, matched_length, reasons, scorecard
from macroscope.reporting.critic_stages import read_findings, report_items
from macroscope.reporting.formats import format_number, format_with_interval, look_up_estimate, to_latex
from macroscope.reporting.headline import ChapterKey, display_headline, find_unusable, headline_table, latent_measure
from macroscope.reporting.human_documents import documents_table
from macroscope.reporting.human_systems import (
    FILE,
    correlations_table,
    display_correlations,
    quality_measures,
    read_human_scores,
    select_correlations,
    select_measures,
)
from macroscope.reporting.matched_length import matched_lengths_table
from macroscope.reporting.pairs import FILE as PAIRS
from macroscope.reporting.pairs import pairs_table
from macroscope.reporting.reasons import reasons_table
from macroscope.reporting.scorecard_table import chapters_with_warnings, scorecard_table
from macroscope.runs.results import Results
from macroscope.statistics.correlation import correlate
from macroscope.statistics.declaration import match_declaration
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.tables import write_csv


def with_adjusted_p_values(statistics: pd.DataFrame) -> pd.DataFrame:
    """Add `p_adjusted`: Benjamini-Hochberg over the tests of one family in the run; and `tests`.

    A family consists of all tests of a difference between one system and real text by one critic on one corpus. The
    number of tests and the differences of other systems therefore do not affect a system without differences. Other
    p-values (a distance to a law that real text does not follow either; a repeated test of the same difference) are not
    adjusted: their `p_adjusted` is NaN. `tests` is "difference" if the p-value tests a difference, else the hypothesis
    that it tests.
    """
    adjusted = pd.Series(float("nan"), index=statistics.index)
    tested = pd.Series("", index=statistics.index)
    for name, rows in statistics.groupby("critic", sort=False):
        if not is_critic(str(name)):  # such as "perplexity"
            continue
        tests = difference_tests(get_critic(str(name)), rows)
        declarations = statistics_of(get_critic(str(name)))
        declared = rows.loc[rows["p_value"].notna(), "statistic"].map(partial(match_declaration, declarations))
        tested.update(declared.map(lambda each: "difference" if each.difference else each.null))
        families = tests["p_value"].groupby([tests["corpus"], tests["system"]], sort=False)
        adjusted.update(families.transform(benjamini_hochberg))
    at = statistics.columns.get_loc("p_value")
    assert isinstance(at, int)
    table = statistics.copy()
    table.insert(at + 1, "p_adjusted", adjusted)
    table.insert(at + 2, "tests", tested)
    return table


def write_tables(config: Path, contents: Path, output: Path) -> None:
    """Write all tables of a run into the folder `output`.

    statistics.csv
        All statistics, in tidy format.
    scorecard.csv
        Corpus x system x critic: detectability of single documents, and the verdict; or the reason why there is none.
    reasons.csv
        What decided each verdict *unlike*: features, their shares, and the detectability without them.
    by_label.csv
        Detectability by label, and contrasts of labels, if the config requests comparisons by label.
    matched_length.csv
        Texts and words that are cut for comparisons at matched length, and detectability by length alone, if the config
        requests such comparisons.
    pairs.csv
        Every statistic of every critic for pairs of systems, if the config requests pairs.
    headline.csv, headline.tex
        Corpus x system: word PPL and the main numbers of every critic, with intervals (deng2022 Tables 2, 3, 5).
    warnings.csv
        Reasons not to trust, or not to generalise, a critic's numbers: critic, corpus, title, warning.
    missing.csv
        Corpora, systems, critics and their stages of reporting that failed, with their reasons, if any did.
    known_truth.csv
        Estimated against known latent PPL, if a corpus is simulated.
    models.csv
        Size and perplexity of every language model (meister2021 Table 1).
    probability_correlations.csv
        Models' own log-probabilities against those estimated from their texts (pimentel2022 Figure 1).
    corpora.csv
        Size and section structure of every corpus and split (Table 11).
    data_sources.csv
        Files and data sets of the texts, with version, licence and citation if known.
    dropped.csv
        Numbers of texts kept and dropped by every filter of every corpus and system.
    <critic>_<corpus>_<item>.csv, .tex
        Report items of the critics, such as the most common transition errors (Table 12).
    human_correlations.csv, human_<corpus>_<table>.tex
        Correlation of every statistic with human judgements (pimentel2022 Figure 2), if the config has any.
    human_documents.csv
        Correlation of per-document scores with human ratings, if the config names ratings.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run.
    output
        Folder to write.
    """
    results = Results(config, contents)
    statistics = with_adjusted_p_values(results.statistics())
    items: dict[ChapterKey, list[ReportItem]] = {}
    missing = list(results.config.failed)
    for findings in read_findings(results, statistics, output.parent / "figures"):
        items[findings.critic, findings.corpus], failures = report_items(findings)
        missing += failures
    with atomic(output) as folder:
        folder.mkdir()
        unusable = find_unusable(items)
        headline = headline_table(results, statistics, unusable)
        cells = scorecard_table(results, statistics, unusable, chapters_with_warnings(items))
        tables = {
            "statistics.csv": statistics,
            scorecard.FILE: cells,
            "headline.csv": headline,
            "warnings.csv": _warnings_table(items),
            "corpora.csv": results.corpus_table("summary"),
            "data_sources.csv": data_sources_table(results),
            "dropped.csv": dropped_table(results),
        }
        if_any = {
            by_label.FILE: by_label.label_table(statistics, cells, results.config.statistics.margin),
            reasons.FILE: reasons_table(cells, statistics, items),
            matched_length.FILE: matched_lengths_table(results, statistics),
            PAIRS: pairs_table(results),
            "known_truth.csv": known_truth_table(results, statistics),
            "models.csv": models_table(results, headline),
            "probability_correlations.csv": probability_table(results),
            human_documents.FILE: documents_table(results),
        }
        tables |= {name: table for name, table in if_any.items() if len(table)}
        for name, table in tables.items():
            write_csv(table, folder / name)
        marked = headline.assign(system=scorecard.mark_names(headline["system"], results.config.wrapped))
        (folder / "headline.tex").write_text(to_latex(display_headline(marked)), encoding="utf-8")
        write_missing(missing, folder)
        _write_items(items, folder)
        _write_correlations(results, statistics, folder)


def _warnings_table(items: Mapping[ChapterKey, Sequence[ReportItem]]) -> pd.DataFrame:
    warnings = [
        (critic, corpus, item.title, item.warning)
        for (critic, corpus), contributed in items.items()
        for item in contributed
        if item.warning
    ]
    return pd.DataFrame(warnings, columns=["critic", "corpus", "title", "warning"])


def _write_items(items: Mapping[ChapterKey, Sequence[ReportItem]], folder: Path) -> None:
    for (critic, corpus), contributed in items.items():
        for item in contributed:
            if item.table is not None and item.shown is not None:
                stem = f"{critic}_{corpus}_{item.name}"
                write_csv(item.table, folder / f"{stem}.csv")
                (folder / f"{stem}.tex").write_text(to_latex(item.shown), encoding="utf-8")


def _write_correlations(results: Results, statistics: pd.DataFrame, folder: Path) -> None:
    """Write the correlations with human judgements, if the config has any."""
    correlations = correlations_table(results, statistics)
    if correlations.empty:
        return
    write_csv(correlations, folder / FILE)
    measures = quality_measures(statistics)
    for scores in read_human_scores(results):
        shown = display_correlations(select_measures(select_correlations(correlations, scores), measures))
        if len(shown):
            (folder / f"{scores.stem}.tex").write_text(to_latex(shown), encoding="utf-8")


def models_table(results: Results, headline: pd.DataFrame) -> pd.DataFrame:
    """Build the table of the models: perplexities on the test split, and the sizes of language models.

    Returns
    -------
    data frame
        corpus, system, base, parameters, vocabulary, context, token_ppl, word_ppl.
    """
    sizes: list[dict[str, object]] = [
        {"corpus": c, "system": s, **results.model_size(c, s)} for c, s in results.contents.language_models
    ]
    unsized = dict.fromkeys(("parameters", "vocabulary", "context"))
    sizes += [{"corpus": c, "system": s, **unsized} for c, s in results.contents.measured_systems]
    if not sizes:
        return pd.DataFrame()
    perplexities = headline[["corpus", "system", "base", "token_ppl", "word_ppl"]]
    table = pd.DataFrame(sizes).merge(perplexities, on=["corpus", "system"])
    whole = {name: "Int64" for name in unsized}
    return table[["corpus", "system", "base", *unsized, "token_ppl", "word_ppl"]].astype(whole)


def known_truth_table(results: Results, statistics: pd.DataFrame) -> pd.DataFrame:
    """Build the table of known truth: estimated, gold and theoretical latent PPL per system with known truth.

    Returns
    -------
    data frame
        corpus, critic, system, measure (latent_ppl, or latent_nll if the prior is a density), basis (definition of the
        truth), truth, process (value of the process under its own probabilities, NaN for other systems), estimate and
        gold (from the true latents) with _low and _high, and gold_holds_truth: whether the gold interval contains the
        truth (null without gold).
    """
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    rows = []
    for critic, corpus, system, known_truth in results.known_truth():
        row: dict[str, object] = {"corpus": corpus, "critic": critic, "system": system}
        measure = latent_measure(critic)
        values = {"truth": known_truth["latent_ppl"], "process": known_truth.get("process_latent_ppl", float("nan"))}
        values |= look_up_estimate(indexed, (corpus, system, critic, "latent_ppl"), "estimate")
        values |= look_up_estimate(indexed, (corpus, system, critic, "latent_ppl_gold"), "gold")
        if measure.logarithmic:
            values = {name: float(np.log(value)) for name, value in values.items()}
        holds = values["gold_low"] <= values["truth"] <= values["gold_high"] if not np.isnan(values["gold"]) else None
        row |= {"measure": measure.name, "basis": known_truth["basis"]}
        rows.append(row | values | {"gold_holds_truth": holds})
    return pd.DataFrame(rows)


def display_known_truth(table: pd.DataFrame) -> pd.DataFrame:
    """Format the estimates beside the known truth for readers."""
    shown = pd.DataFrame({"Corpus": table["corpus"], "Critic": table["critic"], "System": table["system"]})
    shown["Measure"] = table["critic"].map(lambda critic: latent_measure(critic).title)
    shown["Truth"] = table["truth"].map(format_number)
    shown["Under its own probabilities"] = table["process"].map(format_number)
    shown["With true latents"] = format_with_interval(table, "gold")
    shown["Estimate"] = format_with_interval(table, "estimate")
    shown["Definition of the truth"] = table["basis"]
    return shown


def dropped_table(results: Results) -> pd.DataFrame:
    """Build the table of every filter's counts: corpora by stage, then the samples of every system."""
    filters = results.corpus_table("filters").assign(system="")
    rows = [
        {"corpus": corpus, "system": system, "filter": c.filter, "unit": c.unit, "kept": c.kept, "dropped": c.dropped}
        for corpus, system, provenance in results.samples()
        for c in provenance.counts
    ]
    table = pd.concat([filters, pd.DataFrame(rows)], ignore_index=True) if rows else filters
    return table[["corpus", "system", "filter", "unit", "kept", "dropped"]]


_NOTED = ("version", "licence", "citation", "url")
"""Fields recorded at retrieval or read from a data set's card."""
_SOURCE_COLUMNS = ["corpus", "system", "origin", *_NOTED]


def data_sources_table(results: Results) -> pd.DataFrame:
    """Build a table with a row per file or data set of the corpora and of the systems' samples.

    Parts retrieved as one data set are one row. Unknown fields are empty, such as the licence of a user's file. Corpora
    and systems that the run generates have no row.
    """
    real = (name for name in results.contents.corpora if not is_simulated(results, name))
    corpora = ((corpus, "", results.corpus_provenance(corpus)) for corpus in real)
    rows = [
        {"corpus": corpus, "system": system, "origin": origin} | {name: _join_texts(part.get(name)) for name in _NOTED}
        for corpus, system, provenance in (*corpora, *results.samples())
        for origin, part in _list_sources(provenance)
    ]
    return pd.DataFrame(rows, columns=_SOURCE_COLUMNS).drop_duplicates()


def is_simulated(results: Results, corpus: str) -> bool:
    """Return whether a corpus is generated by a known process instead of consisting of real text."""
    return results.config.corpora[corpus].kind_of_process is not None


def _list_sources(provenance: Provenance) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (name, recorded fields) of every source that was read."""
    source = provenance.source
    for part in source.get("parts", [source]):
        name = part.get("retrieved_as") or part.get("file") or part.get("folder") or part.get("name")
        if name is not None:
            yield str(name), part
    if "parts" not in source:
        yield from ((str(path), {}) for path in source.get("files", ()))


def _join_texts(value: Any) -> str:
    """Return a field as text; lists, such as several licences of a card, are joined."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


COLUMNS = [
    *("corpus", "system", "estimate", "spearman", "ci_low", "ci_high", "p_value", "n"),
    *("setting", "seeds", "seed_mean", "seed_sd", "seed", "signature"),
]
"""`setting`: first system with the same model and options, apart from the seed of its samples; `seeds`: their number;
`seed_mean`, `seed_sd`: mean and standard deviation of their correlations (NaN for one seed)."""
_OVER_SEEDS = ("seeds", "seed_mean", "seed_sd")


def probability_table(results: Results) -> pd.DataFrame:
    """Compute rank correlations between a model's own log q(x) and its estimates, over the texts of each system.

    Returns
    -------
    data frame
        `COLUMNS`; a row per estimate and system whose samples come from the model's own distribution.
    """
    first: dict[tuple[str, ...], str] = {}
    statistics = results.config.statistics
    resampling = Resampling(statistics.resamples, statistics.permutations, statistics.confidence, results.config.seed)
    rows = []
    for corpus, system in results.contents.known_log_q:
        table = pd.read_parquet(results.samples_of(corpus, system).with_name("log_probabilities.parquet"))
        setting = first.setdefault(find_setting(results.config, corpus, system), system)
        true_log_q = table.set_index("id")["log_probability"]
        for critic in results.contents.signatures:
            if not get_critic(critic).data.gives_log_q or (critic, corpus, system) not in results.contents.comparisons:
                continue
            texts = pd.read_parquet(
                results.folder / "critics" / critic / corpus / "evidence" / system / "texts.parquet"
            )
            estimated = texts[texts["side"] == "candidate"].set_index("id")["log_q"]
            paired = (
                pd.concat([true_log_q, estimated], axis=1, join="inner").replace([np.inf, -np.inf], np.nan).dropna()
            )
            correlation = correlate(
                paired["log_q"].to_numpy()[None, None], paired["log_probability"].to_numpy(), "spearman", resampling
            )
            values = (correlation.value[0], correlation.low[0], correlation.high[0], correlation.p_value[0])
            signature = f"{results.contents.signatures[critic]}|{resampling.signature}"
            rows.append((corpus, system, critic, *values, len(paired), setting, resampling.seed, signature))
    return add_spread(pd.DataFrame(rows, columns=[name for name in COLUMNS if name not in _OVER_SEEDS]))


def find_setting(config: Config, corpus: str, system: str) -> tuple[str, ...]:
    """Return what systems have in common that differ in the seed of their samples alone."""
    declared = config.system(system)
    options = declared.as_language_model(config)
    assert options is not None  # its log q(x) is known
    return corpus, declared.model_of(system), options.model_dump_json(exclude={"seed"})


def add_spread(table: pd.DataFrame) -> pd.DataFrame:
    """Add the number of seeds, and the mean and the standard deviation over them (pimentel2022, Figure 1)."""
    seeds = table.groupby(["corpus", "setting", "estimate"])["spearman"]
    return table.assign(
        seeds=seeds.transform("size"), seed_mean=seeds.transform("mean"), seed_sd=seeds.transform("std")
    )[COLUMNS]
