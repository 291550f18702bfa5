"""Chapters of the report, one page each: the findings of every critic on a corpus, and an account of the run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.findings import Findings, ReportItem
from macroscope.gaps import Gap
from macroscope.options import READABLE_NAMES
from macroscope.reporting.headline import display_headline, latent_measure, read_headline
from macroscope.reporting.html_blocks import Block, Captions, item_block
from macroscope.reporting.human_documents import display_documents, read_documents_table
from macroscope.reporting.human_study import study_blocks
from macroscope.reporting.human_systems import (
    HumanScores,
    display_correlations,
    display_scores,
    display_undefined,
    quality_measures,
    read_correlations,
    read_human_scores,
    select_correlations,
    select_measures,
)
from macroscope.reporting.pages import html_table, inline_svg
from macroscope.reporting.pairs import display_pair, pairs_of, read_pairs
from macroscope.reporting.statistic_names import readable_name
from macroscope.reporting.tables import display_known_truth
from macroscope.reporting.times import times_by_rule
from macroscope.runs.results import Results
from macroscope.tables import read_csv


@dataclass(frozen=True)
class Chapter:
    """A page of the report.

    Attributes
    ----------
    page
        Name of the file, without suffix.
    title
        Heading.
    blocks
        Blocks of the page, in order.
    evaluated
        (critic, corpus) that the page is about; None for pages that are not about a critic.
    """

    page: str
    title: str
    blocks: list[Block]
    evaluated: tuple[str, str] | None = None

    @property
    def warnings(self) -> list[Block]:
        return [block for block in self.blocks if block.warning]


@dataclass(frozen=True)
class Contribution:
    """Findings of a critic on a corpus, and its items for the report."""

    findings: Findings
    items: list[ReportItem]


def critic_page(critic: str, corpus: str) -> str:
    return f"critic.{critic.replace('.', '~')}.{corpus}"  # no name has "~"


def critic_chapters(
    contributions: Sequence[Contribution], tables: Path, figures: Path, captions: Captions
) -> Iterator[Chapter]:
    """Yield a chapter per critic and corpus: headline columns, general figures, then the critic's own items.

    Items about one system alone are on that system's page instead.
    """
    headline = read_headline(tables)
    for contribution in contributions:
        findings = contribution.findings
        critic, corpus = findings.critic, findings.corpus
        blocks = [
            Block(f"{name}-{critic}-{corpus}", title, captions.html(name), figure=inline_svg(path))
            for name, title in (
                ("latent", f"{latent_measure(critic).title} of every system"),
                ("perplexity", "Word perplexity against latent perplexity"),
            )
            if (path := figures / f"{name}_{critic}_{corpus}.svg").exists()
        ]
        if findings.systems:
            blocks.insert(0, headline_block(headline[headline["corpus"] == corpus], critic, captions))
        items = [item for item in contribution.items if not item.system]
        blocks += [item_block(item, critic, corpus, captions, item.shown) for item in items]
        blocks += _undefined(findings, captions)
        yield Chapter(critic_page(critic, corpus), f"{critic} on {corpus}", blocks, (critic, corpus))


def missing_chapters(missing: Sequence[Gap]) -> Iterator[Chapter]:
    """Yield a chapter per critic that failed on a corpus, in place of its findings."""
    for entry in missing:
        if entry.critic and entry.stage is None:
            warning = f"The critic {entry.note}. The same command tries it again."
            block = Block("failed", "No numbers", "", warning=warning)
            yield Chapter(critic_page(entry.critic, entry.corpus), f"{entry.critic} on {entry.corpus}", [block])


def headline_block(headline: pd.DataFrame, critic: str, captions: Captions) -> Block:
    """Return a critic's columns of the headline for every system of a corpus, as a block."""
    table = display_headline(headline, critic)
    return Block("headline", "Headline", captions.html("headline", columns=set(table)), html_table(table))


def _undefined(findings: Findings, captions: Captions) -> Iterator[Block]:
    """Yield a block of the undefined statistics and the affected systems; nothing if all are defined."""
    table = undefined_table(findings.statistics, get_critic(findings.critic).data.quantities)
    if len(table):
        anchor = f"{findings.critic}-undefined-{findings.corpus}"
        yield Block(anchor, "Undefined statistics and reasons", captions.html("undefined"), html_table(table))


def undefined_table(statistics: pd.DataFrame, quantities: Mapping[str, str]) -> pd.DataFrame:
    """Return the undefined statistics with readable names, reasons and affected systems."""
    # `groupby` silently drops rows whose key is NaN.
    undefined = statistics[statistics["value"].isna()].fillna({"reason": "not stated"})
    rows = [
        {
            "statistic": readable_name(str(name), quantities),
            "reason": reason,
            "systems": ", ".join(group["system"].replace(READABLE_NAMES)),
        }
        for (name, reason), group in undefined.groupby(["statistic", "reason"], sort=False)
    ]
    return pd.DataFrame(rows)


def pair_chapters(results: Results, tables: Path, captions: Captions) -> Iterator[Chapter]:
    """Yield a chapter of pairwise system comparisons for each corpus with pairs."""
    table = read_pairs(tables)
    for corpus in results.contents.corpora:
        blocks = [
            Block(
                f"{pair.system}:{pair.second}",
                f"{pair.system} against {pair.second}",
                captions.html("pairs") if number == 0 else "",
                html_table(display_pair(pair)),
            )
            for number, pair in enumerate(pairs_of(table, corpus))
        ]
        if blocks:
            yield Chapter(pairs_page(corpus), f"system against system on {corpus}", blocks)


def pairs_page(corpus: str) -> str:
    return f"pairs.{corpus}"


def probability_chapters(results: Results, figures: Path, captions: Captions) -> Iterator[Chapter]:
    """Yield a chapter for each corpus with systems whose own probabilities are known."""
    title, caption = "Estimated against true probabilities", captions.html("probabilities")
    for corpus in dict.fromkeys(corpus for corpus, _ in results.contents.known_log_q):
        name = f"probabilities_{corpus}"
        figure = inline_svg(figures / f"{name}.svg")
        shown = Block(name, title, caption, figure=figure)
        yield Chapter(f"probabilities.{corpus}", f"probabilities on {corpus}", [shown])


def human_chapters(
    results: Results, statistics: pd.DataFrame, tables: Path, figures: Path, captions: Captions
) -> Iterator[Chapter]:
    """Yield a chapter per table of human judgements: the scores, and the statistics that agree with them."""
    correlations, documents = read_correlations(tables), read_documents_table(tables)
    measures = quality_measures(statistics)
    for human_scores in read_human_scores(results):
        blocks = [
            *study_blocks(human_scores, figures, captions),
            *_by_system(human_scores, select_correlations(correlations, human_scores), measures, figures, captions),
            *_by_document(human_scores, select_correlations(documents, human_scores), captions),
        ]
        yield Chapter(f"human.{human_scores.stem}", f"human judgement: {human_scores.title}", blocks)


def _by_system(
    human_scores: HumanScores, rows: pd.DataFrame, measures: set[tuple[str, str]], figures: Path, captions: Captions
) -> Iterator[Block]:
    """Yield blocks of the correlations over systems: figure, numbers, scores, undefined correlations."""
    stem = human_scores.stem
    shown, undefined = display_correlations(select_measures(rows, measures)), display_undefined(rows)
    about = {
        "judgements": human_scores.judgements,
        "seeds": rows["seeds"].max() if len(rows) else 1,
        "real_text": human_scores.options.real_text,
        "enough": human_scores.has_enough_systems,
    }
    if len(shown):
        figure = inline_svg(figures / f"{stem}.svg")
        caption = captions.html("human_figure", **about)
        yield Block(f"{stem}-figure", "Which statistics agree with people", caption, figure=figure)
        caption = captions.html("human_correlations", **about)
        yield Block(stem, "Correlations, in numbers", caption, html_table(shown))
    caption = captions.html("human_scores", **about)
    yield Block(f"{stem}-scores", "Scores by people", caption, html_table(display_scores(human_scores)))
    if len(undefined):
        caption = captions.html("human_undefined", **about)
        yield Block(f"{stem}-undefined", "Undefined correlations and reasons", caption, html_table(undefined))


def _by_document(human_scores: HumanScores, rows: pd.DataFrame, captions: Captions) -> Iterator[Block]:
    """Yield a block of the correlations between per-document scores and human ratings."""
    if rows.empty:
        return
    shown = display_documents(rows)
    reasons = rows["reason"].replace("", pd.NA).dropna().value_counts().to_dict()
    caption = captions.html("human_documents", reasons=reasons, unmatched=int(rows["unmatched"].max()))
    table = html_table(shown) if len(shown) else None
    yield Block(f"{human_scores.stem}-documents", "Do people and critics fault the same documents?", caption, table)


def training_chapter(results: Results, tables: Path, figures: Path, captions: Captions) -> Iterator[Chapter]:
    """Yield a chapter of the language models: sizes and perplexities, then training curves."""
    if not results.contents.language_models and not results.contents.measured_systems:
        return
    blocks = [
        _table("models", "The models", tables / "models.csv", captions),
        *(
            Block(
                f"training-{corpus}-{system}",
                f"Training of {system} on {corpus}",
                captions.html("training"),
                figure=inline_svg(figures / f"training_{corpus}_{system}.svg"),
            )
            for corpus, system in results.contents.trained_models
        ),
    ]
    yield Chapter("training", "Training of the language models", blocks)


def truth_chapter(tables: Path, captions: Captions) -> Iterator[Chapter]:
    """Yield a chapter of estimates beside the known truth, if a corpus is simulated."""
    path = tables / "known_truth.csv"
    if path.exists():
        table = html_table(display_known_truth(read_csv(path)))
        title = "Estimated against known truth"
        yield Chapter("known_truth", title, [Block("known_truth", title, captions.html("known_truth"), table)])


def counts_chapter(results: Results, tables: Path, times: Path | None, captions: Captions) -> Chapter:
    """Return the chapter of the counts: inputs, dropped texts, and running times."""
    blocks = [
        *_profile(results.config.profile, captions),
        _table("corpora", "The corpora", tables / "corpora.csv", captions),
        *_data_sources(tables / "data_sources.csv", captions),
        _dropped(tables / "dropped.csv", captions),
        *_times(times, captions),
    ]
    return Chapter("counts", "Counts: inputs, dropped texts, running times", blocks)


def _data_sources(path: Path, captions: Captions) -> Iterator[Block]:
    """Yield a block of the files and data sets of the texts; nothing if the run generates all of them."""
    table = read_csv(path, keep_default_na=False)
    if len(table):
        yield Block("data_sources", "Sources of the texts", captions.html("data_sources"), html_table(table))


def _dropped(path: Path, captions: Captions) -> Block:
    """Return a block of the filters that dropped anything; the caption counts the others."""
    table = read_csv(path, keep_default_na=False)
    busy = table[table["dropped"] > 0]
    caption = captions.html("dropped", idle=len(table) - len(busy))
    return Block("dropped", "Dropped texts and reasons", caption, html_table(busy) if len(busy) else None)


def _times(logs: Path | None, captions: Captions) -> Iterator[Block]:
    """Yield a block of the running times by rule."""
    times = times_by_rule(logs) if logs is not None and logs.exists() else pd.DataFrame()
    if times.empty:
        return
    names = {"seconds": "total, s", "longest": "longest, s", "cpu_seconds": "CPU, s", "megabytes": "memory, MB"}
    shown = times.round().rename(columns=names).rename_axis("rule").reset_index()
    yield Block("times", "Running times", captions.html("times"), html_table(shown))


def _profile(path: str | None, captions: Captions) -> Iterator[Block]:
    if path is not None:
        yield _table("profile", "Profile of the texts", Path(path), captions)


def _table(name: str, title: str, path: Path, captions: Captions) -> Block:
    return Block(name, title, captions.html(name), html_table(read_csv(path, keep_default_na=False, na_values=["nan"])))
