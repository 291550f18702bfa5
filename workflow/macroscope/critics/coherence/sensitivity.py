"""What a latent PPL hangs on: the prior that was chosen, and how well the projection works on a system's own text."""

import pandas as pd

from macroscope.critics.findings import Findings
from macroscope.critics.table_cells import cell
from macroscope.options import CONTROL

OF_PRIORS = {
    "latent_ppl": "latent PPL",
    "latent_ppl_back_off": "backing off",
    "latent_ppl_additive_*": "additive, {}",
    "latent_ppl_aggregated": "as the classifier sees real text",
    "latent_ppl_published": "as published",
    "unseen_transition_share": "transitions never seen, share",
    "latent_ppl_seen": "PPL of the others",
}
OF_PROJECTION = {
    "latent_ppl": "latent PPL",
    "latent_ppl_corrected": "without the classifier's mistakes",
    "latent_ppl_gold": "by its own titles",
    "posterior_entropy": "entropy of the posterior, nats a section",
    "posterior_margin": "lead of the most probable type",
    "title_agreement_share": "titles that the classifier agrees with",
}
INFLATED = 1.5
"""Real text's own latent PPL by the classifier's types over that by its titles, from which on nothing can be said."""


def prior_table(findings: Findings) -> pd.DataFrame:
    """Latent PPL of every system under every prior, and what transitions that real text never made add to it."""
    return _table(findings, OF_PRIORS)


def projection_table(findings: Findings) -> pd.DataFrame:
    """Latent PPL of every system beside how sure, and how right, the classifier is of its text."""
    return _table(findings, OF_PROJECTION)


def inflation(findings: Findings) -> tuple[float, float] | None:
    """Real text's own latent PPL by the classifier's types and by its titles, where the first is `INFLATED`."""
    control = findings.statistics[findings.statistics["system"] == CONTROL].set_index("statistic")
    if "latent_ppl_gold" not in control.index:
        return None
    seen, gold = control.loc["latent_ppl"], control.loc["latent_ppl_gold"]
    if not seen["value"] > INFLATED * gold["value"]:
        return None
    return float(seen["value"]), float(gold["value"])


def _table(findings: Findings, columns: dict[str, str]) -> pd.DataFrame:
    """A row a system, a column each of those statistics that there are; * in a name stands for any end."""
    there = findings.statistics["statistic"].unique()
    labels: dict[str, str] = {}
    for name, label in columns.items():
        stem, star, _ = name.partition("*")
        found = [some for some in there if some.startswith(stem)] if star else [name] if name in there else []
        labels |= {some: label.format(some.removeprefix(stem)) for some in found}
    rows = []
    for system, some in findings.statistics.groupby("system", sort=False):
        indexed = some.set_index("statistic")
        if not indexed.index.isin(list(labels)).any():
            continue  # halves of real text have other numbers
        known = {label: cell(indexed.loc[name]) if name in indexed.index else "–" for name, label in labels.items()}
        rows.append({"system": system, **known})
    return pd.DataFrame(rows)
