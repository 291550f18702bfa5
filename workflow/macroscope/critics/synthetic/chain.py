"""What sequences of states cost under the process's transitions, those that were not recognised among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, Floats, HsmmProcess, Integers
from macroscope.critics.synthetic.latents import UNKNOWN


@dataclass
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
    _powers: list[Floats] = field(default_factory=list)

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
            total -= np.log(self.steps(gap)[start, state])
        return float(total)

    def steps(self, number: int) -> Floats:
        """P(z_{m + number} | z_m)."""
        while len(self._powers) < number:
            last = self._powers[-1] if self._powers else np.eye(len(self.process.transitions))
            self._powers.append(last @ self.process.transitions)
        return self._powers[number - 1]
