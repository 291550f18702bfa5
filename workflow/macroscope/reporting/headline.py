"""The headline: a row for every system, with what every critic says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.declaration import difference_tests
from macroscope.critics.findings import ReportItem
from macroscope.options import CONTROL
from macroscope.reporting.formats import estimate, format_number, format_p_value, value_of, with_interval
from macroscope.reporting.results import Results, rows_of
from macroscope.statistics.tidy import SIGNIFICANT, partners_in
from macroscope.tables import read_csv

Chapter = tuple[str, str]
"""(critic, corpus)"""


@dataclass(frozen=True)
class LatentMeasure:
    """How the headline tells what a prior says of a system.

    Attributes
    ----------
    name, apart
        Columns of the estimate and of how far it is from real text, after the name of the critic.
    title, apart_title, seen_title
        What a person reads over the estimate, over its distance to real text, and over the smallest one to be seen.
    logarithmic
        Whether these are the logarithms of the latent PPL and of its ratio.
    """

    name: str
    apart: str
    title: str
    apart_title: str
    seen_title: str
    logarithmic: bool


_PPL = LatentMeasure("latent_ppl", "ratio", "Latent PPL", "× control", "× to be seen", logarithmic=False)
_NLL = LatentMeasure(
    "latent_nll", "difference", "Latent NLL a dimension", "− control", "− to be seen", logarithmic=True
)


def latent_measure(critic: str) -> LatentMeasure:
    """Latent PPL (a state) or, where the prior is a density, latent NLL (nats a dimension)."""
    return _NLL if critic_named(critic).data.density else _PPL


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
        word_ppl and token_ppl of the model that is sampled (NaN where the system is no language model of this run);
        for every critic with a prior <critic>_usable, <critic>_latent_ppl and <critic>_ratio (to the control), or
        <critic>_latent_nll (nats a dimension) and <critic>_difference where the prior is a density,
        <critic>_detectable (the smallest ratio above 1 or difference above 0 that is found with a power of 80 %),
        <critic>_p_value (BH-adjusted), <critic>_certainty (of the projection) with its adjusted
        <critic>_certainty_p_value; estimates with _low and _high; for every critic <critic>_tests and
        <critic>_different: how many of its tests of a difference have an adjusted p-value below 5 %.
    """
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    rows = []
    for corpus, system in results.plan.critics.pairs:
        description = results.plan.systems.all[system].description(results.plan.config)
        row: dict[str, object] = {"corpus": corpus, "system": system, **asdict(description)}
        model = results.plan.systems.language_models.model_of(system)
        for statistic in ("word_ppl", "token_ppl"):
            row |= estimate(indexed, (corpus, model, "perplexity", statistic), statistic)
        for critic in dict.fromkeys(c for c, k, s in results.plan.critics.comparisons if (k, s) == (corpus, system)):
            rows_of_critic = rows_of(statistics, critic, corpus)
            own = rows_of_critic[rows_of_critic["system"] == system]
            # Of scores those that are judged, which may be fewer than there are texts.
            judged = own[own["statistic"] == "latent_ppl"] if critic_named(critic).data.scores else own
            row["n"] = max(row.get("n", 0), judged["n_candidate"].max())
            row["partners"] = max(row.get("partners", 0), own["signature"].map(partners_in).max())
            declared = critic_named(critic)
            if declared.data.scores:
                usable = (critic, corpus) not in unusable
                found = _by_prior(indexed, (corpus, system, critic), declared.data.certainty)
                row |= {f"{critic}_usable": usable}
                row |= found if usable else dict.fromkeys(found, float("nan"))
            tests = difference_tests(declared, own)["p_adjusted"]
            row |= {f"{critic}_tests": len(tests), f"{critic}_different": int((tests < SIGNIFICANT).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def _by_prior(indexed: pd.DataFrame, key: tuple[str, str, str], certainty: str) -> dict[str, float]:
    """What the critic's prior says of one system."""
    critic = key[-1]
    measure = latent_measure(critic)
    found = estimate(indexed, (*key, "latent_ppl"), f"{critic}_{measure.name}")
    found |= estimate(indexed, (*key, "latent_ppl_ratio"), f"{critic}_{measure.apart}")
    found[f"{critic}_detectable"] = value_of(indexed, (*key, "latent_ppl_minimum_detectable"), "value")
    if measure.logarithmic:
        found = {name: float(np.log(value)) for name, value in found.items()}
    found[f"{critic}_p_value"] = value_of(indexed, (*key, "latent_ppl"), "p_adjusted")
    if certainty:
        found[f"{critic}_certainty"] = value_of(indexed, (*key, certainty), "value")
        found[f"{critic}_certainty_p_value"] = value_of(indexed, (*key, certainty), "p_adjusted")
    return found


def read_headline(tables: Path) -> pd.DataFrame:
    """Read the headline from the folder of the tables."""
    return read_csv(tables / "headline.csv").fillna({"setting": "", "base": "", "decoding": ""})


def display_headline(headline: pd.DataFrame, critic: str | None = None) -> pd.DataFrame:
    """Return the headline as a person reads it: "5.18 [5.02, 5.33]"; the corpus only where there are several.

    Parameters
    ----------
    critic
        The one whose columns are shown, for the systems that it judges; None: all.
    """
    if critic is not None:
        headline = headline[headline[f"{critic}_tests"].notna()]
    shown: dict[str, Sequence[str]] = {}
    if headline["corpus"].nunique() > 1:
        shown["Corpus"] = headline["corpus"]
    shown |= {"System": headline["system"], "Setting": _settings(headline)}
    shown["n"] = headline["n"].map("{:,.0f}".format)
    if (headline["partners"] > 0).any():
        shown["in pairs"] = headline["partners"].map("{:,.0f}".format)
    if headline["word_ppl"].notna().any():
        shown["Word PPL"] = with_interval(headline, "word_ppl")
    for column in map(str, headline):
        name, _, what = column.rpartition("_")
        if critic not in (None, name):
            continue
        if what == "usable":
            shown |= _shown_by_prior(headline, name)
        if what == "different":
            counts = zip(headline["system"], headline[column], headline[f"{name}_tests"], strict=True)
            shown[f"Tests that differ ({name})"] = [_verdict(*counted) for counted in counts]
    table = pd.DataFrame(shown)
    return table if critic is None else table.rename(columns=lambda title: str(title).removesuffix(f" ({critic})"))


def _shown_by_prior(headline: pd.DataFrame, critic: str) -> dict[str, Sequence[str]]:
    """Columns of the headline about a critic with a prior."""
    measure = latent_measure(critic)
    usable = headline[f"{critic}_usable"] != False  # noqa: E712  NaN where the critic judges something else
    estimates = with_interval(headline, f"{critic}_{measure.name}")
    shown: dict[str, Sequence[str]] = {
        f"{measure.title} ({critic})": list(np.where(usable, estimates, "not usable")),
        f"{measure.apart_title} ({critic})": with_interval(headline, f"{critic}_{measure.apart}"),
        f"p ({critic})": list(headline[f"{critic}_p_value"].map(format_p_value)),
        f"{measure.seen_title} ({critic})": list(headline[f"{critic}_detectable"].map(format_number)),
    }
    if f"{critic}_certainty" in headline:
        shown[f"Certainty ({critic})"] = [
            format_number(value) + (" *" if p < SIGNIFICANT else "")
            for value, p in headline[[f"{critic}_certainty", f"{critic}_certainty_p_value"]].to_numpy()
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
