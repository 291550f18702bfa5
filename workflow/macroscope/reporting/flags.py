"""Flags of single texts as unlike real text, with a controlled share of false flags; see `statistics.conformal`."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.critics import get_critic
from macroscope.critics.attributions import read_real_scores, read_scores
from macroscope.documents import read_documents
from macroscope.options import CONTROL
from macroscope.runs.results import Results
from macroscope.statistics.conformal import Scores, conformal_p_values, flag
from macroscope.statistics.document_groups import ID, KEYS, group_labels


@dataclass(frozen=True)
class Flags:
    """Flags of a system's texts by a critic.

    Attributes
    ----------
    p_values
        Conformal p-value per text; NaN if the critic does not judge it.
    is_flagged
        Whether each text is flagged as unlike real text.
    """

    p_values: NDArray[np.float64]
    is_flagged: NDArray[np.bool_]

    @property
    def judged(self) -> int:
        """Return the number of texts that the critic judges."""
        return int(np.isfinite(self.p_values).sum())

    @property
    def flagged(self) -> int:
        """Return the number of flagged texts."""
        return int(self.is_flagged.sum())


def read_keys(results: Results, corpus: str, system: str) -> pd.DataFrame:
    """Read the keys of the documents of a system, indexed by id."""
    documents = read_documents(results.samples_of(corpus, system))
    return pd.DataFrame(((d.id, d.opening) for d in documents), columns=list(KEYS)).set_index(ID)


def flag_texts(results: Results, corpus: str, system: str, real: pd.DataFrame) -> Mapping[str, Flags]:
    """Flag the texts of a system; its critics' p-values are adjusted together.

    Parameters
    ----------
    real
        Keys of the control's documents.

    Returns
    -------
    Critic -> flags, in the order of the samples. The control itself has none.
    """
    files = results.outputs("attributions")
    critics = [critic for critic, c, s in files if (c, s) == (corpus, system) and s != CONTROL]
    texts = read_keys(results, corpus, system) if critics else real
    p_values = {}
    for critic in critics:
        candidate, control = (files[critic, corpus, name] for name in (system, CONTROL))
        attribution = get_critic(critic).data.attribution
        assert attribution is not None
        samples = (
            _in_groups(*read_scores(candidate)[:2], texts),
            _in_groups(*read_real_scores(candidate, control), real),
        )
        groups = group_labels(samples[0], samples[1])
        scored, reference = (
            Scores(table["score"].to_numpy(float), labels) for table, labels in zip(samples, groups, strict=True)
        )
        p_values[critic] = conformal_p_values(scored, reference, one_sided=attribution.distance)
    flags = flag(p_values.values())
    return {critic: Flags(p, flagged) for (critic, p), flagged in zip(p_values.items(), flags, strict=True)}


def _in_groups(ids: list[str], scores: NDArray[np.float64], keys: pd.DataFrame) -> pd.DataFrame:
    """Return the keys and the score of each text; a text outside the samples has its id as the only key."""
    return keys.reindex(ids).reset_index(names=ID).assign(score=scores)
