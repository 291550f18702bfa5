"""What sequences of states cost under the process's transitions, those that were not recognised among them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess, Integers
from macroscope.critics.synthetic.latents import UNKNOWN


@dataclass(frozen=True)
class StateChain:
    """Costs of state sequences.

    A sub-sequence that the process does not have stands for any state: with a probability of its own it is written in
    place of one, the chain goes on unseen, and all states that it may have had are summed over.

    Parameters
    ----------
    process
        Whose transitions they are.
    invalid
        Probability of a sub-sequence that the process does not have.
    """

    process: HsmmProcess
    invalid: float

    def nll(self, states: Sequence[int] | Integers, tail: bool = False) -> float:
        """-log P of a text's states, in nats.

        Parameters
        ----------
        states
            `UNKNOWN` for a sub-sequence that the process does not have.
        tail
            Whether there are tokens behind the last delimiter: one more sub-sequence that it does not have.
        """
        given = np.asarray(states, dtype=np.int64)
        known = np.flatnonzero(given != UNKNOWN)
        missing = len(given) - len(known) + tail
        before = np.concatenate([[SOURCE_STATE], given[known]])
        gaps = np.diff(known, prepend=-1)
        total = -missing * np.log(self.invalid) - len(known) * np.log1p(-self.invalid)
        for start, state, gap in zip(before[:-1], given[known], gaps.tolist(), strict=True):
            reached = self.process.transitions[start]
            for _ in range(gap - 1):
                reached = reached @ self.process.transitions
            total -= np.log(reached[state])
        return float(total)
