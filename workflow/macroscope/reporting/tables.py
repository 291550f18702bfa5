"""Tables of a run: every number, and the tables of the papers in kind, as CSV and LaTeX."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import critic_named, is_critic
from macroscope.critics.declaration import difference_tests
from macroscope.files import atomic
from macroscope.reporting import human_documents, scorecard
from macroscope.reporting.data_sources import origins_table
from macroscope.reporting.formats import estimate, format_number, with_interval
from macroscope.reporting.headline import display_headline, headline_table, latent_measure, unusable_chapters
from macroscope.reporting.human import (
    FILE,
    correlations_of,
    correlations_table,
    display_correlations,
    judged_by_people,
    only,
    quality_measures,
)
from macroscope.reporting.human_documents import documents_table
from macroscope.reporting.latex import to_latex
from macroscope.reporting.pairs import FILE as PAIRS
from macroscope.reporting.pairs import pairs_table
from macroscope.reporting.probabilities import probability_table
from macroscope.reporting.results import Results, report_items
from macroscope.reporting.scorecard import scorecard_table, warned_chapters
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.tables import read_csv, write_csv


def with_adjusted_p_values(statistics: pd.DataFrame) -> pd.DataFrame:
    """Add `p_adjusted`: Benjamini-Hochberg over the tests of one family in the run.

    A family is all tests of a difference between one system and real text by one critic on one corpus. So a system that
    differs in nothing keeps that verdict, however many numbers are tested, and however much the other systems differ.
    Other p-values (a distance to a law that real text does not keep either; the same difference again) are not
    adjusted: they are NaN here.
    """
    adjusted = pd.Series(float("nan"), index=statistics.index)
    for name, rows in statistics.groupby("critic", sort=False):
        if not is_critic(str(name)):  # such as the perplexity of the models
            continue
        tests = difference_tests(critic_named(str(name)), rows)
        families = tests["p_value"].groupby([tests["corpus"], tests["system"]], sort=False)
        adjusted.update(families.transform(benjamini_hochberg))
    at = statistics.columns.get_loc("p_value")
    assert isinstance(at, int)
    table = statistics.copy()
    table.insert(at + 1, "p_adjusted", adjusted)
    return table


def write_tables(config: Path, output: Path) -> None:
    """Write all tables of a run into the folder `output`.

    statistics.csv
        Every number, tidy.
    scorecard.csv
        Corpus x system x critic: how well documents are told from real ones, and the verdict.
    pairs.csv
        System against system: every number of every critic, where the config asks for pairs.
    headline.csv, headline.tex
        Corpus x system: word PPL beside what every critic says, with intervals (deng2022 Tables 2, 3, 5).
    warnings.csv
        Why numbers of some critic cannot be trusted, or stand for little: critic, corpus, title, warning.
    known_truth.csv
        Estimated against known latent PPL, where a corpus is simulated.
    models.csv
        Size and perplexity of every language model that was trained (meister2021 Table 1).
    probability_correlations.csv
        Models' own log-probabilities against those estimated from their texts (pimentel2022 Figure 1).
    corpora.csv
        Size and section structure of every corpus and split (Table 11).
    origins.csv
        Files and data sets that texts were read from, with version, licence and citation where they are known.
    dropped.csv
        What every filter of every corpus and system kept and dropped.
    <critic>_<corpus>_<item>.csv, .tex
        What the critics contribute, such as the most common transition errors (Table 12).
    human_correlations.csv, human_<corpus>_<table>.tex
        Every statistic against human judgements (pimentel2022 Figure 2), where the config has any.
    human_documents.csv
        What critics have of single documents against people's ratings of them, where the config names ratings.
    """
    results = Results(config)
    statistics = with_adjusted_p_values(results.statistics())
    items = {
        (findings.critic, findings.corpus): report_items(findings)
        for findings in results.findings(statistics, output.parent / "figures")
    }
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(statistics, folder / "statistics.csv")
        unusable = unusable_chapters(items)
        shown = scorecard_table(results, statistics, unusable, warned_chapters(items))
        write_csv(shown, folder / scorecard.FILE)
        if len(pairs := pairs_table(results)):
            write_csv(pairs, folder / PAIRS)
        headline = headline_table(results, statistics, unusable)
        write_csv(headline, folder / "headline.csv")
        (folder / "headline.tex").write_text(to_latex(display_headline(headline)), encoding="utf-8")
        warnings = [
            (critic, corpus, item.title, item.warning)
            for (critic, corpus), contributed in items.items()
            for item in contributed
            if item.warning
        ]
        columns = ["critic", "corpus", "title", "warning"]
        write_csv(pd.DataFrame(warnings, columns=columns), folder / "warnings.csv")
        truth = known_truth_table(results, statistics)
        if len(truth):
            write_csv(truth, folder / "known_truth.csv")
        models = models_table(results, headline)
        if len(models):
            write_csv(models, folder / "models.csv")
        probabilities = probability_table(results)
        if len(probabilities):
            write_csv(probabilities, folder / "probability_correlations.csv")
        write_csv(results.corpus_table("summary"), folder / "corpora.csv")
        write_csv(origins_table(results), folder / "origins.csv")
        write_csv(dropped_table(results), folder / "dropped.csv")
        for (critic, corpus), contributed in items.items():
            for item in contributed:
                if item.table is not None and item.shown is not None:
                    stem = f"{critic}_{corpus}_{item.name}"
                    write_csv(item.table, folder / f"{stem}.csv")
                    (folder / f"{stem}.tex").write_text(to_latex(item.shown), encoding="utf-8")
        _write_correlations(results, statistics, folder)
        if len(documents := documents_table(results)):
            write_csv(documents, folder / human_documents.FILE)


def _write_correlations(results: Results, statistics: pd.DataFrame, folder: Path) -> None:
    """Write the correlations with human judgements, where the config has any."""
    correlations = correlations_table(results, statistics)
    if correlations.empty:
        return
    write_csv(correlations, folder / FILE)
    measures = quality_measures(statistics)
    for judged in judged_by_people(results):
        shown = display_correlations(only(correlations_of(correlations, judged), measures))
        if len(shown):
            (folder / f"{judged.stem}.tex").write_text(to_latex(shown), encoding="utf-8")


def read_warnings(tables: Path) -> pd.DataFrame:
    """Warnings of the run's critics, from the folder of the tables."""
    return read_csv(tables / "warnings.csv")


def read_scorecard(tables: Path) -> pd.DataFrame:
    """The picture, from the folder of the tables."""
    return read_csv(tables / scorecard.FILE)


def read_statistics(tables: Path) -> pd.DataFrame:
    """All numbers of the run, with p_adjusted, from the folder of the tables."""
    return read_csv(tables / "statistics.csv")


def models_table(results: Results, headline: pd.DataFrame) -> pd.DataFrame:
    """Perplexities of all models on the test split, and the sizes of the language models among them.

    Returns
    -------
    data frame
        corpus, system, base, parameters, vocabulary, context, token_ppl, word_ppl.
    """
    sizes: list[dict[str, object]] = [
        {"corpus": c, "system": s, **results.model_size(c, s)} for c, s in results.language_models()
    ]
    unsized = dict.fromkeys(("parameters", "vocabulary", "context"))
    sizes += [{"corpus": c, "system": s, **unsized} for c, s in results.measured_systems()]
    if not sizes:
        return pd.DataFrame()
    known = headline[["corpus", "system", "base", "token_ppl", "word_ppl"]]
    table = pd.DataFrame(sizes).merge(known, on=["corpus", "system"])
    whole = {name: "Int64" for name in unsized}
    return table[["corpus", "system", "base", *unsized, "token_ppl", "word_ppl"]].astype(whole)


def known_truth_table(results: Results, statistics: pd.DataFrame) -> pd.DataFrame:
    """Latent PPL as estimated, with the true latents, and as theory gives it; a row a system with known truth.

    Returns
    -------
    data frame
        corpus, critic, system, measure (latent_ppl, or latent_nll where the prior is a density), basis (what the truth
        is), truth, process (of the process under its own probabilities, NaN for other systems), estimate and gold with
        _low and _high, and gold_holds_truth: whether the interval from the true latents holds the truth (null where
        there are none).
    """
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    rows = []
    for critic, corpus, system, known_truth in results.known_truth():
        row: dict[str, object] = {"corpus": corpus, "critic": critic, "system": system}
        measure = latent_measure(critic)
        known = {"truth": known_truth["latent_ppl"], "process": known_truth.get("process_latent_ppl", float("nan"))}
        known |= estimate(indexed, (corpus, system, critic, "latent_ppl"), "estimate")
        known |= estimate(indexed, (corpus, system, critic, "latent_ppl_gold"), "gold")
        if measure.logarithmic:
            known = {name: float(np.log(value)) for name, value in known.items()}
        holds = known["gold_low"] <= known["truth"] <= known["gold_high"] if not np.isnan(known["gold"]) else None
        row |= {"measure": measure.name, "basis": known_truth["basis"]}
        rows.append(row | known | {"gold_holds_truth": holds})
    return pd.DataFrame(rows)


def display_known_truth(table: pd.DataFrame) -> pd.DataFrame:
    """Return estimates beside the known truth as a person reads it."""
    shown = pd.DataFrame({"Corpus": table["corpus"], "Critic": table["critic"], "System": table["system"]})
    shown["Measure"] = table["critic"].map(lambda critic: latent_measure(critic).title)
    shown["Truth"] = table["truth"].map(format_number)
    shown["Under its own probabilities"] = table["process"].map(format_number)
    shown["With true latents"] = with_interval(table, "gold")
    shown["Estimate"] = with_interval(table, "estimate")
    shown["The truth is"] = table["basis"]
    return shown


def dropped_table(results: Results) -> pd.DataFrame:
    """Counts of every filter: corpora by stage, then the samples of every system."""
    filters = results.corpus_table("filters").assign(system="")
    rows = [
        {"corpus": corpus, "system": system, "filter": c.filter, "unit": c.unit, "kept": c.kept, "dropped": c.dropped}
        for corpus, system, provenance in results.samples()
        for c in provenance.counts
    ]
    table = pd.concat([filters, pd.DataFrame(rows)], ignore_index=True) if rows else filters
    return table[["corpus", "system", "filter", "unit", "kept", "dropped"]]
