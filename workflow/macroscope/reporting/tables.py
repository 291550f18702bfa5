"""Tables of a run: every number, and the tables of the papers in kind, as CSV and LaTeX."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.config.options import CONTROL
from macroscope.critics import critic_named
from macroscope.critics.declaration import difference_tests
from macroscope.critics.findings import ReportItem
from macroscope.files import atomic
from macroscope.reporting.adjustment import with_adjusted_p_values
from macroscope.reporting.human import (
    FILE,
    correlations_of,
    correlations_table,
    display_correlations,
    judged_by_people,
    only,
    quality_measures,
)
from macroscope.reporting.latex import to_latex
from macroscope.reporting.probabilities import probability_table
from macroscope.reporting.results import Results, report_items, rows_of
from macroscope.statistics.tidy import SIGNIFICANT, partners_in

SMALLEST_P = 0.001


def write_tables(config: Path, output: Path) -> None:
    """Write all tables of a run into the folder `output`.

    statistics.csv
        Every number, tidy.
    headline.csv, headline.tex
        Corpus x system: word PPL beside the latent PPL of every critic, with intervals (deng2022 Tables 2, 3, 5).
    known_truth.csv
        Estimated against known latent PPL, where a corpus is simulated.
    models.csv
        Size and perplexity of every language model that was trained (meister2021 Table 1).
    probability_correlations.csv
        Models' own log-probabilities against those estimated from their texts (pimentel2022 Figure 1).
    corpora.csv
        Size and section structure of every corpus and split (Table 11).
    dropped.csv
        What every filter of every corpus and system kept and dropped.
    <critic>_<corpus>_<item>.csv, .tex
        What the critics contribute, such as the most common transition errors (Table 12).
    human_correlations.csv, human_<corpus>_<table>.tex
        Every statistic against human judgements (pimentel2022 Figure 2), where the config has any.
    """
    results = Results(config)
    statistics = with_adjusted_p_values(results.statistics())
    items = {
        (findings.critic, findings.corpus): report_items(findings)
        for findings in results.findings(statistics, output.parent / "figures")
    }
    with atomic(output) as folder:
        folder.mkdir()
        statistics.to_csv(folder / "statistics.csv", index=False)
        headline = headline_table(results, statistics, unusable_chapters(items))
        headline.to_csv(folder / "headline.csv", index=False)
        (folder / "headline.tex").write_text(to_latex(display_headline(headline)), encoding="utf-8")
        truth = known_truth_table(results, statistics)
        if len(truth):
            truth.to_csv(folder / "known_truth.csv", index=False)
        models = models_table(results, headline)
        if len(models):
            models.to_csv(folder / "models.csv", index=False)
        probabilities = probability_table(results)
        if len(probabilities):
            probabilities.to_csv(folder / "probability_correlations.csv", index=False)
        results.corpus_table("summary").to_csv(folder / "corpora.csv", index=False)
        dropped_table(results).to_csv(folder / "dropped.csv", index=False)
        for (critic, corpus), contributed in items.items():
            for item in contributed:
                if item.table is not None and item.shown is not None:
                    stem = f"{critic}_{corpus}_{item.name}"
                    item.table.to_csv(folder / f"{stem}.csv", index=False)
                    (folder / f"{stem}.tex").write_text(to_latex(item.shown), encoding="utf-8")
        _write_correlations(results, statistics, folder)


def _write_correlations(results: Results, statistics: pd.DataFrame, folder: Path) -> None:
    """Write the correlations with human judgements, where the config has any."""
    correlations = correlations_table(results, statistics)
    if correlations.empty:
        return
    correlations.to_csv(folder / FILE, index=False)
    measures = quality_measures(statistics)
    for judged in judged_by_people(results):
        shown = display_correlations(only(correlations_of(correlations, judged), measures))
        if len(shown):
            (folder / f"{judged.stem}.tex").write_text(to_latex(shown), encoding="utf-8")


def read_headline(tables: Path) -> pd.DataFrame:
    """Read the headline from the folder of the tables."""
    return pd.read_csv(tables / "headline.csv").fillna({"setting": "", "base": "", "decoding": ""})


def read_statistics(tables: Path) -> pd.DataFrame:
    """All numbers of the run, with p_adjusted, from the folder of the tables."""
    return pd.read_csv(tables / "statistics.csv", keep_default_na=False, na_values=[""])


Chapter = tuple[str, str]
"""(critic, corpus)"""


def unusable_chapters(items: Mapping[Chapter, Sequence[ReportItem]]) -> set[Chapter]:
    """Critics and corpora whose numbers are not good enough for the headline, as the critics' own items say."""
    return {chapter for chapter, contributed in items.items() if any(item.unusable for item in contributed)}


def headline_table(results: Results, statistics: pd.DataFrame, unusable: set[Chapter]) -> pd.DataFrame:
    """One row a corpus and system: what it is, its perplexity, and its latent PPL under every critic.

    Parameters
    ----------
    unusable
        What is left out: its numbers are NaN, and <critic>_usable is False.

    Returns
    -------
    data frame
        corpus, system, kind, base, setting, decoding, n, partners (how many of the n have a partner in real text);
        word_ppl and token_ppl of the model that is sampled (NaN where
        the system is no language model of this run); for every critic with a prior <critic>_usable,
        <critic>_latent_ppl, <critic>_ratio (to the control), <critic>_detectable (the smallest ratio above 1 that is
        found with a power of 80 %), <critic>_p_value (BH-adjusted), <critic>_certainty (of the projection) with its
        adjusted <critic>_certainty_p_value, each perplexity and ratio with _low and _high; for every critic
        <critic>_tests and <critic>_different: how many of its tests of a difference have an adjusted p-value below 5 %.
    """
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    rows = []
    for corpus, system in results.plan.critics.pairs:
        description = results.plan.systems.all[system].description(results.plan.config)
        row: dict[str, object] = {"corpus": corpus, "system": system, **asdict(description)}
        model = results.plan.systems.language_models.model_of(system)
        for statistic in ("word_ppl", "token_ppl"):
            row |= _estimate(indexed, (corpus, model, "perplexity", statistic), statistic)
        for critic in dict.fromkeys(c for c, k, s in results.plan.critics.comparisons if (k, s) == (corpus, system)):
            rows_of_critic = rows_of(statistics, critic, corpus)
            own = rows_of_critic[rows_of_critic["system"] == system]
            row["n"] = own["n_candidate"].max()
            row["partners"] = max(row.get("partners", 0), own["signature"].map(partners_in).max())
            declared = critic_named(critic)
            if declared.data.scores:
                usable = (critic, corpus) not in unusable
                row |= {f"{critic}_usable": usable} | _latent_ppl(
                    indexed, (corpus, system, critic), declared.data.certainty, usable
                )
            tests = difference_tests(declared, own)["p_adjusted"]
            row |= {f"{critic}_tests": len(tests), f"{critic}_different": int((tests < SIGNIFICANT).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def _latent_ppl(indexed: pd.DataFrame, key: tuple[str, str, str], certainty: str, usable: bool) -> dict[str, object]:
    """Headline of one system by a critic with a prior; all NaN where the numbers are not usable."""
    critic = key[-1]
    found = _estimate(indexed, (*key, "latent_ppl"), f"{critic}_latent_ppl")
    found |= _estimate(indexed, (*key, "latent_ppl_ratio"), f"{critic}_ratio")
    found[f"{critic}_detectable"] = _value(indexed, (*key, "latent_ppl_minimum_detectable"), "value")
    found[f"{critic}_p_value"] = _value(indexed, (*key, "latent_ppl"), "p_adjusted")
    if certainty:
        found[f"{critic}_certainty"] = _value(indexed, (*key, certainty), "value")
        found[f"{critic}_certainty_p_value"] = _value(indexed, (*key, certainty), "p_adjusted")
    return found if usable else dict.fromkeys(found, float("nan"))


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
    """Latent PPL as estimated, with the true section types, and as theory gives it; a row a system with known truth.

    Returns
    -------
    data frame
        corpus, critic, system, truth, basis (what the truth is), process (latent PPL of the process under its own
        probabilities, NaN for other systems), estimate and gold with _low and _high, and gold_holds_truth: whether the
        interval from the true latents holds the truth.
    """
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    rows = []
    for critic, corpus, system, theory in results.theory():
        row: dict[str, object] = {"corpus": corpus, "critic": critic, "system": system}
        row |= {"truth": theory["latent_ppl"], "basis": theory["basis"]}
        row["process"] = theory.get("process_latent_ppl", float("nan"))
        row |= _estimate(indexed, (corpus, system, critic, "latent_ppl"), "estimate")
        gold = _estimate(indexed, (corpus, system, critic, "latent_ppl_gold"), "gold")
        rows.append(row | gold | {"gold_holds_truth": gold["gold_low"] <= theory["latent_ppl"] <= gold["gold_high"]})
    return pd.DataFrame(rows)


def display_headline(headline: pd.DataFrame) -> pd.DataFrame:
    """Return the headline as a person reads it: "5.18 [5.02, 5.33]"; the corpus only where there are several."""
    shown = pd.DataFrame({"System": headline["system"], "Setting": _settings(headline)})
    if headline["corpus"].nunique() > 1:
        shown.insert(0, "Corpus", headline["corpus"])
    shown["n"] = headline["n"].map("{:,.0f}".format)
    if (headline["partners"] > 0).any():
        shown["in pairs"] = headline["partners"].map("{:,.0f}".format)
    if headline["word_ppl"].notna().any():
        shown["Word PPL"] = _with_interval(headline, "word_ppl")
    for column in headline:
        if str(column).endswith("_latent_ppl"):
            critic = str(column).removesuffix("_latent_ppl")
            usable = headline[f"{critic}_usable"] != False  # noqa: E712  NaN where the critic judges something else
            shown[f"Latent PPL ({critic})"] = np.where(usable, _with_interval(headline, str(column)), "not usable")
            shown[f"× control ({critic})"] = _with_interval(headline, f"{critic}_ratio")
            shown[f"p ({critic})"] = headline[f"{critic}_p_value"].map(format_p_value)
            shown[f"× to be seen ({critic})"] = headline[f"{critic}_detectable"].map(format_number)
            if f"{critic}_certainty" in headline:
                shown[f"Certainty ({critic})"] = [
                    format_number(value) + (" *" if p < SIGNIFICANT else "")
                    for value, p in headline[[f"{critic}_certainty", f"{critic}_certainty_p_value"]].to_numpy()
                ]
        if str(column).endswith("_different"):
            critic = str(column).removesuffix("_different")
            shown[f"Tests that differ ({critic})"] = [
                _verdict(system, different, tests)
                for system, different, tests in zip(
                    headline["system"], headline[column], headline[f"{critic}_tests"], strict=True
                )
            ]
    return shown


def _verdict(system: str, different: float, tests: float) -> str:
    """How many tests differ; nothing for real text, and no verdict where no test could have shown anything."""
    if pd.isna(tests) or system == CONTROL:
        return "–"
    return f"{different:.0f} of {tests:.0f}" if tests > 0 else "too few texts"


def _settings(headline: pd.DataFrame) -> list[str]:
    """Setting and decoding rule of every row: "W/ Title, nucleus p=0.9"; ancestral sampling goes without saying."""
    rules = ["" if rule == "ancestral" else rule for rule in headline["decoding"]]
    return [", ".join(filter(None, pair)) for pair in zip(headline["setting"], rules, strict=True)]


def display_known_truth(table: pd.DataFrame) -> pd.DataFrame:
    """Return estimates beside the known truth as a person reads it."""
    shown = pd.DataFrame({"Corpus": table["corpus"], "Critic": table["critic"], "System": table["system"]})
    shown["Truth"] = table["truth"].map(format_number)
    shown["Under its own probabilities"] = table["process"].map(format_number)
    shown["With true latents"] = _with_interval(table, "gold")
    shown["Estimate"] = _with_interval(table, "estimate")
    shown["The truth is"] = table["basis"]
    return shown


def format_p_value(p: float) -> str:
    """Two significant digits; "–" where there is nothing to test."""
    return "–" if pd.isna(p) else f"{p:.2g}" if p >= SMALLEST_P else f"< {SMALLEST_P:g}"


def format_number(value: float) -> str:
    """Three significant digits, and all digits before the decimal point."""
    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")


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


def _estimate(indexed: pd.DataFrame, key: tuple[str, ...], name: str) -> dict[str, object]:
    return {
        name: _value(indexed, key, "value"),
        f"{name}_low": _value(indexed, key, "ci_low"),
        f"{name}_high": _value(indexed, key, "ci_high"),
    }


def _value(indexed: pd.DataFrame, key: tuple[str, ...], column: str) -> float:
    return float(indexed.at[key, column]) if key in indexed.index else float("nan")


def _with_interval(table: pd.DataFrame, name: str) -> list[str]:
    return [
        "–" if pd.isna(value) else f"{format_number(value)} [{format_number(low)}, {format_number(high)}]"
        for value, low, high in zip(table[name], table[f"{name}_low"], table[f"{name}_high"], strict=True)
    ]
