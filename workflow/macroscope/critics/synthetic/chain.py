"""NLL of state sequences under the transitions of the process, with invalid sub-sequences marginalised."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess, Integers
from macroscope.critics.synthetic.latents import UNKNOWN


@dataclass(frozen=True)
class StateChain:
    """Markov chain over states with invalid sub-sequences.

    In this model, each sub-sequence is replaced by an invalid one with a fixed probability. The state of an invalid
    sub-sequence is unobserved and summed over.

    Parameters
    ----------
    process
        Process with the transition probabilities.
    invalid
        Probability of an invalid sub-sequence.
    """

    process: HsmmProcess
    invalid: float

    def nll(self, states: Sequence[int] | Integers, tail: bool = False) -> float:
        """Compute -log P of a text's states, in nats.

        Parameters
        ----------
        states
            State of each sub-sequence, `UNKNOWN` for invalid ones.
        tail
            Whether tokens follow the last delimiter, which count as one more invalid sub-sequence.
        """
        given = np.asarray(states, dtype=np.int64)
        recognised = np.flatnonzero(given != UNKNOWN)
        missing = len(given) - len(recognised) + tail
        before = np.concatenate([[SOURCE_STATE], given[recognised]])
        gaps = np.diff(recognised, prepend=-1)
        total = -missing * np.log(self.invalid) - len(recognised) * np.log1p(-self.invalid)
        for start, state, gap in zip(before[:-1], given[recognised], gaps.tolist(), strict=True):
            reached = self.process.transitions[start]
            for _ in range(gap - 1):
                reached = reached @ self.process.transitions
            total -= np.log(reached[state])
        return float(total)
