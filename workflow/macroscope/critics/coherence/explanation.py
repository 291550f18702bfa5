"""Evidence on a system's coherence: its transitions, its errors, and its least likely documents."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.coherence.figures import plot_transition_graph
from macroscope.critics.coherence.latents import read_states
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import Priors, SectionPrior, step_probabilities
from macroscope.critics.coherence.transitions import build_transition_table
from macroscope.critics.latents import first_texts
from macroscope.documents import Collection
from macroscope.files import atomic, write_json
from macroscope.options import Resampling
from macroscope.phrases import shorten
from macroscope.plotting import save
from macroscope.statistics.document_groups import read_keys
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.tables import write_csv

WORST_DOCUMENTS = 5
CHARACTERS = 600


def explain(
    texts: Collection,
    latents: Path,
    control_latents: Path,
    scores: Path,
    prior: Path,
    *,
    system: str,
    resampling: Resampling,
    options: CoherenceOptions,
    output: Path,
) -> None:
    """Write the evidence of a system into a folder.

    Files: transitions.csv (deng2022 Table 12), transition_graph.svg and .pdf (Figure 4), worst_documents.json
    (Figure 1), repetition.json (Table 13).

    Parameters
    ----------
    texts, latents, scores
        Files of the system.
    control_latents
        Latents of the control.
    """
    chain, threshold = Priors.load(prior).default, options.error_threshold
    states = dict(read_states(latents))
    with first_texts({"control": control_latents, "system": latents}) as compared:
        sequences, control = (list(dict(read_states(compared[name])).values()) for name in ("system", "control"))
        permutation = build_permutation(read_keys(compared["control"]), read_keys(compared["system"]))
    table = build_transition_table(sequences, control, chain, threshold, resampling, permutation)
    title = f"{system}: section transitions compared with real text"
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(table, folder / "transitions.csv")
        save(plot_transition_graph(table, title, resampling.confidence), folder / "transition_graph")
        scored = pd.read_parquet(scores, columns=["id", "nll", "units"])
        write_json(folder / "worst_documents.json", select_worst_documents(texts, scored, states, chain, threshold))
        write_json(folder / "repetition.json", select_repetition(texts, scored, states, chain, threshold))


def select_worst_documents(
    texts: Collection, scores: pd.DataFrame, states: dict[str, np.ndarray], prior: SectionPrior, threshold: float
) -> list[dict[str, Any]]:
    """Return the documents with the highest latent NLL per section, with the probability of every transition.

    Returns
    -------
    list of {id, title, nll, units, sections: [{type, probability, error, text}], end: {probability, error}}
    """
    scores = scores.assign(rate=scores["nll"] / scores["units"])
    worst = scores.sort_values(["rate", "id"], ascending=[False, True]).head(WORST_DOCUMENTS).set_index("id")
    by_id: dict[str, dict[str, Any]] = {}
    for document in texts:
        if document.id not in worst.index:
            continue
        probabilities = step_probabilities(states[document.id], prior)
        sections = [
            {
                "type": prior.types[state],
                "probability": float(p),
                "error": bool(p < threshold),
                "text": shorten(section.text, CHARACTERS),
            }
            for section, state, p in zip(document.sections, states[document.id], probabilities[:-1], strict=True)
        ]
        end = {"probability": float(probabilities[-1]), "error": bool(probabilities[-1] < threshold)}
        nll, units = worst.loc[document.id, ["nll", "units"]]
        by_id[document.id] = {
            "id": document.id,
            "title": document.title,
            "nll": float(nll),
            "units": float(units),
            "sections": sections,
            "end": end,
        }
    return [by_id[name] for name in worst.index]


def select_repetition(
    texts: Collection, scores: pd.DataFrame, states: dict[str, np.ndarray], prior: SectionPrior, threshold: float
) -> list[dict[str, Any]]:
    """Return the least likely document with a section type that follows itself in error; none if there is none.

    Its form is that of `select_worst_documents`.
    """
    repeating = [name for name, sequence in states.items() if has_repeating_error(sequence, prior, threshold)]
    return select_worst_documents(texts, scores[scores["id"].isin(repeating)], states, prior, threshold)[:1]


def has_repeating_error(states: np.ndarray, prior: SectionPrior, threshold: float) -> bool:
    """Return whether a section type follows itself, and the probability of that is below the threshold."""
    # The first probability is that of the beginning, the last one that of the end.
    is_rare = step_probabilities(states, prior)[1:-1] < threshold
    return bool((is_rare & (states[1:] == states[:-1])).any())
