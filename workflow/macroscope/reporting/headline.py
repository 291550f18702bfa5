"""The headline table: a row per system, with the main numbers of every critic."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import difference_tests
from macroscope.critics.findings import ReportItem
from macroscope.gaps import TOO_FEW, UNUSABLE, Gap, find_gap
from macroscope.options import CONTROL, READABLE_NAMES
from macroscope.reporting.critic_stages import select_rows
from macroscope.reporting.formats import (
    format_number,
    format_p_value,
    format_with_interval,
    look_up_estimate,
    look_up_value,
)
from macroscope.runs.results import Results
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.systems import kinds
from macroscope.tables import read_csv

SETTING = "Kind or setting"
"""Title of the column that describes a system in the headline for readers."""
ChapterKey = tuple[str, str]
"""(critic, corpus)"""


@dataclass(frozen=True)
class LatentMeasure:
    """Names and titles of the headline's columns for a system's likelihood under a prior.

    Attributes
    ----------
    name, effect
        Column names of the estimate and of its effect relative to the control, after the critic's name.
    title, effect_title, detectable_title
        Column titles of the estimate, of its effect, and of the smallest detectable effect.
    logarithmic
        Whether the columns are logarithms of the latent PPL and of its ratio.
    """

    name: str
    effect: str
    title: str
    effect_title: str
    detectable_title: str
    logarithmic: bool


_PPL = LatentMeasure("latent_ppl", "ratio", "Latent PPL", "× real text", "× detectable", logarithmic=False)
_NLL = LatentMeasure(
    "latent_nll", "difference", "Latent NLL per dimension", "− real text", "− detectable", logarithmic=True
)


def latent_measure(critic: str) -> LatentMeasure:
    """Return latent PPL (per state) or, for a prior that is a density, latent NLL (nats per dimension)."""
    return _NLL if get_critic(critic).data.density else _PPL


def find_unusable(items: Mapping[ChapterKey, Sequence[ReportItem]]) -> list[Gap]:
    """Return the numbers that critics' report items mark as unusable: of whole chapters first, then of systems.

    Parameters
    ----------
    items
        (critic, corpus) -> its report items.
    """
    every = [(critic, corpus, item) for (critic, corpus), of_chapter in items.items() for item in of_chapter]
    chapters = [
        Gap(kind=UNUSABLE, corpus=corpus, critic=critic, explanation=item.warning or item.title)
        for critic, corpus, item in every
        if item.unusable
    ]
    systems = [
        Gap(kind=UNUSABLE, corpus=corpus, system=system, critic=critic, explanation=why)
        for critic, corpus, item in every
        for system, why in item.unusable_systems.items()
    ]
    return chapters + systems


def headline_table(results: Results, statistics: pd.DataFrame, unusable: Sequence[Gap]) -> pd.DataFrame:
    """Build the headline table: a row per corpus and system with its description, perplexity and latent PPLs.

    Parameters
    ----------
    results
        Results of the run.
    statistics
        All statistics of the run, with adjusted p-values.
    unusable
        Numbers that are set to NaN, with <critic>_usable False.

    Returns
    -------
    data frame
        corpus, system, kind, base, setting, decoding, n, n_paired (number of the n texts that are paired with a real
        one); word_ppl and token_ppl of the sampled model (NaN if the system is not a language model of this run); for
        every critic with a prior <critic>_usable, <critic>_latent_ppl and <critic>_ratio (to the control), or
        <critic>_latent_nll (nats per dimension) and <critic>_difference if the prior is a density,
        <critic>_detectable (smallest ratio above 1 or difference above 0 detected with a power of 80 %),
        <critic>_p_value (BH-adjusted), <critic>_certainty (of the projection) with its adjusted
        <critic>_certainty_p_value; estimates with _low and _high; for every critic <critic>_tests and
        <critic>_different: number of its tests of a difference with an adjusted p-value below 5 %.
    """
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    rows = []
    for corpus, system in results.contents.pairs:
        description = results.description(corpus, system)
        row: dict[str, object] = {"corpus": corpus, "system": system, **asdict(description)}
        model = results.contents.models[system]
        for statistic in ("word_ppl", "token_ppl"):
            row |= look_up_estimate(indexed, (corpus, model, "perplexity", statistic), statistic)
        for critic in dict.fromkeys(c for c, k, s in results.contents.comparisons if (k, s) == (corpus, system)):
            chapter = select_rows(statistics, critic, corpus)
            system_rows = chapter[chapter["system"] == system]
            # Scored texts may be fewer than all texts.
            scored = (
                system_rows[system_rows["statistic"] == "latent_ppl"] if get_critic(critic).data.scores else system_rows
            )
            row["n"] = max(row.get("n", 0), scored["n_candidate"].max())
            row["n_paired"] = max(row.get("n_paired", 0), system_rows["n_paired"].max())
            declared = get_critic(critic)
            if declared.data.scores:
                usable = find_gap(unusable, corpus, system, critic) is None
                numbers = _prior_columns(indexed, (corpus, system, critic), declared.data.certainty)
                row |= {f"{critic}_usable": usable}
                row |= numbers if usable else dict.fromkeys(numbers, float("nan"))
            tests = difference_tests(declared, system_rows)["p_adjusted"]
            row |= {f"{critic}_tests": len(tests), f"{critic}_different": int((tests < SIGNIFICANT).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def _prior_columns(indexed: pd.DataFrame, key: tuple[str, str, str], certainty: str) -> dict[str, float]:
    """Return the headline's numbers of one system under a critic's prior."""
    critic = key[-1]
    measure = latent_measure(critic)
    numbers = look_up_estimate(indexed, (*key, "latent_ppl"), f"{critic}_{measure.name}")
    numbers |= look_up_estimate(indexed, (*key, "latent_ppl_ratio"), f"{critic}_{measure.effect}")
    numbers[f"{critic}_detectable"] = look_up_value(indexed, (*key, "latent_ppl_minimum_detectable"), "value")
    if measure.logarithmic:
        numbers = {name: float(np.log(value)) for name, value in numbers.items()}
    numbers[f"{critic}_p_value"] = look_up_value(indexed, (*key, "latent_ppl"), "p_adjusted")
    if certainty:
        numbers[f"{critic}_certainty"] = look_up_value(indexed, (*key, certainty), "value")
        numbers[f"{critic}_certainty_p_value"] = look_up_value(indexed, (*key, certainty), "p_adjusted")
    return numbers


def read_headline(tables: Path) -> pd.DataFrame:
    return read_csv(tables / "headline.csv").fillna({"setting": "", "base": "", "decoding": ""})


def display_headline(headline: pd.DataFrame, critic: str | None = None) -> pd.DataFrame:
    """Format the headline for readers: "5.18 [5.02, 5.33]"; with the corpus only if there are several.

    Parameters
    ----------
    headline
        Headline table.
    critic
        Critic whose columns are shown, for the systems that it evaluates; None: all critics.
    """
    if critic is not None:
        headline = headline[headline[f"{critic}_tests"].notna()]
    shown: dict[str, Sequence[str]] = {}
    if headline["corpus"].nunique() > 1:
        shown["Corpus"] = headline["corpus"]
    shown |= {"System": headline["system"].replace(READABLE_NAMES), SETTING: _settings(headline)}
    shown["n"] = headline["n"].map("{:,.0f}".format)
    if (headline["n_paired"] > 0).any():
        shown["in pairs"] = headline["n_paired"].map("{:,.0f}".format)
    if headline["word_ppl"].notna().any():
        shown["Word PPL"] = format_with_interval(headline, "word_ppl")
    for column in map(str, headline):
        name, _, field = column.rpartition("_")
        if critic not in (None, name):
            continue
        if field == "usable":
            shown |= _format_prior_columns(headline, name)
        if field == "different":
            counts = zip(headline["system"], headline[column], headline[f"{name}_tests"], strict=True)
            shown[f"Tests that differ ({name})"] = [_format_counts(*counted) for counted in counts]
    table = pd.DataFrame(shown)
    return table if critic is None else table.rename(columns=lambda title: str(title).removesuffix(f" ({critic})"))


def _format_prior_columns(headline: pd.DataFrame, critic: str) -> dict[str, Sequence[str]]:
    """Format the headline's columns of a critic with a prior."""
    measure = latent_measure(critic)
    usable = headline[f"{critic}_usable"] != False  # noqa: E712  NaN if the critic does not evaluate the system
    estimates = format_with_interval(headline, f"{critic}_{measure.name}")
    shown: dict[str, Sequence[str]] = {
        f"{measure.title} ({critic})": list(np.where(usable, estimates, UNUSABLE)),
        f"{measure.effect_title} ({critic})": format_with_interval(headline, f"{critic}_{measure.effect}"),
        f"p ({critic})": list(headline[f"{critic}_p_value"].map(format_p_value)),
        f"{measure.detectable_title} ({critic})": list(headline[f"{critic}_detectable"].map(format_number)),
    }
    if f"{critic}_certainty" in headline:
        shown[f"Certainty ({critic})"] = [
            format_number(value) + (" *" if p < SIGNIFICANT else "")
            for value, p in headline[[f"{critic}_certainty", f"{critic}_certainty_p_value"]].to_numpy()
        ]
    return shown


def _format_counts(system: str, different: float, tests: float) -> str:
    """Format the number of significant tests; "–" for real text, "too few texts" if no test could be significant."""
    if pd.isna(tests) or system == CONTROL:
        return "–"
    return f"{different:.0f} of {tests:.0f}" if tests > 0 else TOO_FEW


def _settings(headline: pd.DataFrame) -> list[str]:
    """Return setting and decoding rule of every row: "W/ Title, nucleus p=0.9"; ancestral sampling is not named.

    A system without a setting has the label of its kind, such as "your texts".
    """
    settings = headline["setting"].where(headline["setting"] != headline["kind"], "")
    rules = headline["decoding"].where(headline["decoding"] != "ancestral", "")
    labels = [kinds()[kind].data.label for kind in headline["kind"]]
    return [", ".join(filter(None, pair)) or label for *pair, label in zip(settings, rules, labels, strict=True)]
