"""Chapters of the report, each a page: what every critic found on a corpus, and what was run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.table_cells import REAL_TEXT_HALVES
from macroscope.reporting.headline import display_headline, latent_measure, read_headline
from macroscope.reporting.html_blocks import Captions, Shown, html_table, inline_svg, item_block
from macroscope.reporting.human import (
    HumanScores,
    correlations_of,
    display_correlations,
    display_scores,
    display_undefined,
    judged_by_people,
    only,
    quality_measures,
    read_correlations,
)
from macroscope.reporting.human_documents import display_documents, read_documents_table
from macroscope.reporting.human_study import study_blocks
from macroscope.reporting.pairs import display_pair, pairs_of, read_pairs
from macroscope.reporting.results import Results
from macroscope.reporting.statistic_names import readable
from macroscope.reporting.tables import display_known_truth
from macroscope.reporting.times import times_by_rule
from macroscope.tables import read_csv


@dataclass(frozen=True)
class Chapter:
    """A page of the report.

    Attributes
    ----------
    page
        Name of its file, without suffix.
    title
        Heading.
    blocks
        What it shows.
    judged
        (critic, corpus) whose systems it is about; None for all other pages.
    """

    page: str
    title: str
    blocks: list[Shown]
    judged: tuple[str, str] | None = None

    @property
    def warnings(self) -> list[Shown]:
        """Blocks that say why numbers cannot be trusted."""
        return [block for block in self.blocks if block.warning]


@dataclass(frozen=True)
class Contributed:
    """What a critic found on a corpus, and what it contributes to the report."""

    findings: Findings
    items: list[ReportItem]


def critic_page(critic: str, corpus: str) -> str:
    """Name of the page of a critic on a corpus."""
    return f"critic.{critic}.{corpus}"


def critic_chapters(
    contributed: Sequence[Contributed], tables: Path, figures: Path, captions: Captions
) -> Iterator[Chapter]:
    """Every critic on every corpus: its part of the headline, the general figures, then the critic's own items.

    What is about one system alone stands on that system's page.
    """
    headline = read_headline(tables)
    for some in contributed:
        critic, corpus = some.findings.critic, some.findings.corpus
        blocks = [
            Shown(f"{name}-{critic}-{corpus}", title, captions.html(name), figure=inline_svg(path))
            for name, title in (
                ("latent", f"{latent_measure(critic).title} of every system"),
                ("perplexity", "Good words, good structure?"),
            )
            if (path := figures / f"{name}_{critic}_{corpus}.svg").exists()
        ]
        if some.findings.systems:
            blocks.insert(0, headline_block(headline[headline["corpus"] == corpus], critic, captions))
        own = [item for item in some.items if not item.system]
        blocks += [item_block(item, critic, corpus, captions, item.shown) for item in own]
        blocks += _undefined(some.findings, captions)
        yield Chapter(critic_page(critic, corpus), f"{critic} on {corpus}", blocks, (critic, corpus))


def headline_block(headline: pd.DataFrame, critic: str, captions: Captions) -> Shown:
    """What a critic says of every system of a corpus."""
    table = display_headline(headline, critic)
    return Shown("headline", "Headline", captions.html("headline", columns=set(table)), html_table(table))


def _undefined(findings: Findings, captions: Captions) -> Iterator[Shown]:
    """Statistics without a value, a row each, with the systems that it concerns; none where all have one."""
    table = undefined_table(findings.statistics, critic_named(findings.critic).data.quantities)
    if len(table):
        anchor = f"{findings.critic}-undefined-{findings.corpus}"
        yield Shown(anchor, "What is undefined, and why", captions.html("undefined"), html_table(table))


def undefined_table(statistics: pd.DataFrame, quantities: Mapping[str, str]) -> pd.DataFrame:
    """Statistics without a value in words, why, and of which systems."""
    # A group without a key would be left out without a word.
    undefined = statistics[statistics["value"].isna()].fillna({"reason": "not said"})
    rows = [
        {
            "what": readable(str(name), quantities),
            "why": reason,
            "systems": ", ".join(some["system"].replace(REAL_TEXT_HALVES)),
        }
        for (name, reason), some in undefined.groupby(["statistic", "reason"], sort=False)
    ]
    return pd.DataFrame(rows)


def pair_chapters(results: Results, tables: Path, captions: Captions) -> Iterator[Chapter]:
    """Systems against each other, a page a corpus that pairs are asked for."""
    table = read_pairs(tables)
    for corpus in results.corpora():
        blocks = [
            Shown(
                f"{pair.system}:{pair.other}",
                f"{pair.system} against {pair.other}",
                captions.html("pairs") if number == 0 else "",
                html_table(display_pair(pair)),
            )
            for number, pair in enumerate(pairs_of(table, corpus))
        ]
        if blocks:
            yield Chapter(pairs_page(corpus), f"system against system on {corpus}", blocks)


def pairs_page(corpus: str) -> str:
    """Name of the page of a corpus's pairs."""
    return f"pairs.{corpus}"


def probability_chapters(results: Results, figures: Path, captions: Captions) -> Iterator[Chapter]:
    """Every corpus with systems whose own probabilities are known."""
    title, caption = "Estimated against true probabilities", captions.html("probabilities")
    for corpus in dict.fromkeys(corpus for corpus, _ in results.plan.critics.known_log_q()):
        name = f"probabilities_{corpus}"
        figure = inline_svg(figures / f"{name}.svg")
        shown = Shown(name, title, caption, figure=figure)
        yield Chapter(f"probabilities.{corpus}", f"probabilities on {corpus}", [shown])


def human_chapters(
    results: Results, statistics: pd.DataFrame, tables: Path, figures: Path, captions: Captions
) -> Iterator[Chapter]:
    """Every table of human judgements: what people said, of whom; which statistics agree with them."""
    correlations, documents = read_correlations(tables), read_documents_table(tables)
    measures = quality_measures(statistics)
    for judged in judged_by_people(results):
        ours = (documents["corpus"] == judged.options.corpus) & (documents["table"] == judged.options.table)
        blocks = [
            *study_blocks(judged, figures, captions),
            *_by_system(judged, correlations_of(correlations, judged), measures, figures, captions),
            *_by_document(judged, documents[ours], captions),
        ]
        yield Chapter(f"human.{judged.stem}", f"human judgement: {judged.title}", blocks)


def _by_system(
    judged: HumanScores, rows: pd.DataFrame, measures: set[tuple[str, str]], figures: Path, captions: Captions
) -> Iterator[Shown]:
    """Statistics of systems against their scores: figure, numbers, who was scored, what is undefined."""
    stem = judged.stem
    shown, undefined = display_correlations(only(rows, measures)), display_undefined(rows)
    about = {
        "judgements": judged.judgements,
        "seeds": rows["seeds"].max() if len(rows) else 1,
        "real_text": judged.options.real_text,
        "enough": judged.has_enough_systems,
    }
    if len(shown):
        figure = inline_svg(figures / f"{stem}.svg")
        caption = captions.html("human_figure", **about)
        yield Shown(f"{stem}-figure", "Which statistics agree with people", caption, figure=figure)
        caption = captions.html("human_correlations", **about)
        yield Shown(stem, "Correlations, in numbers", caption, html_table(shown))
    caption = captions.html("human_scores", **about)
    yield Shown(f"{stem}-scores", "Who was scored", caption, html_table(display_scores(judged)))
    if len(undefined):
        caption = captions.html("human_undefined", **about)
        yield Shown(f"{stem}-undefined", "What has no correlation, and why", caption, html_table(undefined))


def _by_document(judged: HumanScores, rows: pd.DataFrame, captions: Captions) -> Iterator[Shown]:
    """What critics have of single documents against people's ratings of them."""
    if rows.empty:
        return
    shown = display_documents(rows)
    reasons = rows["reason"].replace("", pd.NA).dropna().value_counts().to_dict()
    caption = captions.html("human_documents", reasons=reasons, unmatched=int(rows["unmatched"].max()))
    table = html_table(shown) if len(shown) else None
    yield Shown(f"{judged.stem}-documents", "Do people and critics blame the same documents?", caption, table)


def training_chapter(results: Results, tables: Path, figures: Path, captions: Captions) -> Iterator[Chapter]:
    """Sizes and perplexities of the language models, then their training curves."""
    if not results.language_models() and not results.measured_systems():
        return
    blocks = [
        _table("models", "The models", tables / "models.csv", captions),
        *(
            Shown(
                f"training-{corpus}-{system}",
                f"Training of {system} on {corpus}",
                captions.html("training"),
                figure=inline_svg(figures / f"training_{corpus}_{system}.svg"),
            )
            for corpus, system in results.trained_models()
        ),
    ]
    yield Chapter("training", "Training of the language models", blocks)


def truth_chapter(tables: Path, captions: Captions) -> Iterator[Chapter]:
    """Estimates beside known truth, where a corpus is simulated."""
    path = tables / "known_truth.csv"
    if path.exists():
        table = html_table(display_known_truth(read_csv(path)))
        title = "Estimated against known truth"
        yield Chapter("known_truth", title, [Shown("known_truth", title, captions.html("known_truth"), table)])


def counts_chapter(results: Results, tables: Path, times: Path | None, captions: Captions) -> Chapter:
    """What went in, what was dropped, and what took the time."""
    blocks = [
        *_profile(results.plan.config.profile, captions),
        _table("corpora", "The corpora", tables / "corpora.csv", captions),
        *_origins(tables / "origins.csv", captions),
        _dropped(tables / "dropped.csv", captions),
        *_times(times, captions),
    ]
    return Chapter("counts", "Counts: what went in, what was dropped, what took the time", blocks)


def _origins(path: Path, captions: Captions) -> Iterator[Shown]:
    """Files and data sets that texts were read from; none where all is written here."""
    table = read_csv(path, keep_default_na=False)
    if len(table):
        yield Shown("origins", "Where the texts come from", captions.html("origins"), html_table(table))


def _dropped(path: Path, captions: Captions) -> Shown:
    """Filters that dropped anything; how many dropped nothing is said."""
    table = read_csv(path, keep_default_na=False)
    busy = table[table["dropped"] > 0]
    caption = captions.html("dropped", idle=len(table) - len(busy))
    return Shown("dropped", "What was dropped, and why", caption, html_table(busy) if len(busy) else None)


def _times(logs: Path | None, captions: Captions) -> Iterator[Shown]:
    """What took the time, by rule."""
    times = times_by_rule(logs) if logs is not None and logs.exists() else pd.DataFrame()
    if times.empty:
        return
    names = {"seconds": "seconds in all", "longest": "longest, s", "cpu_seconds": "CPU, s", "megabytes": "memory, MB"}
    shown = times.round().rename(columns=names).rename_axis("rule").reset_index()
    yield Shown("times", "What took the time", captions.html("times"), html_table(shown))


def _profile(path: str | None, captions: Captions) -> Iterator[Shown]:
    if path is not None:
        yield _table("profile", "A first look at the texts", Path(path), captions)


def _table(name: str, title: str, path: Path, captions: Captions) -> Shown:
    return Shown(name, title, captions.html(name), html_table(read_csv(path, keep_default_na=False, na_values=["nan"])))
