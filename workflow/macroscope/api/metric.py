"""A metric in the manner of Hugging Face's `evaluate`, without that library: `compute(predictions=, references=)`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from macroscope.api.arguments import ChosenCritics, checked, convert
from macroscope.api.comparison import compare
from macroscope.api.result import Comparison
from macroscope.errors import MacroscopeError
from macroscope.execution.limits import Device
from macroscope.reporting.scorecard import without_empty_cells

_NAMES = ("predictions", "references")


class MacroscopeMetric:
    """A metric that judges whether predictions have the structure of the references.

    It has the methods by which `evaluate.combine` and `evaluate.evaluator` use a metric.

    Parameters
    ----------
    critics, encoder, straighten_typography, device, seed, n_jobs
        As in `macroscope.compare`.
    paired
        Whether each prediction answers the same prompt as the reference of the same number.

    Attributes
    ----------
    result
        Result of the last `compute`, a `macroscope.Comparison`; None before.

    Examples
    --------
    >>> metric = macroscope.MacroscopeMetric(critics="tendencies")  # doctest: +SKIP
    >>> metric.compute(predictions=mine, references=real)  # doctest: +SKIP
    {'tendencies': 0.84, 'tendencies_low': 0.71, 'tendencies_high': 0.91}
    """

    name = "macroscope"

    @checked
    def __init__(
        self,
        critics: ChosenCritics = (),
        *,
        encoder: str | Path | None = None,
        straighten_typography: bool = False,
        device: Device = "auto",
        seed: int = 1,
        n_jobs: int | None = None,
        paired: bool = True,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "critics": critics,
            "encoder": encoder,
            "straighten_typography": straighten_typography,
            "device": device,
            "seed": seed,
            "n_jobs": n_jobs,
        }
        self._paired = paired
        self._added: list[tuple[list[str], list[str]]] = []
        self.result: Comparison | None = None

    @checked
    def add(self, *, predictions: str, references: Any) -> None:
        """Add a prediction and its reference."""
        self.add_batch(predictions=[predictions], references=[references])

    @checked
    def add_batch(self, *, predictions: Sequence[str], references: Sequence[Any]) -> None:
        """Add predictions and their references; none of them if one is not a text."""
        self._added.append((list(predictions), _only_references(references)))

    @checked
    def compute(
        self, *, predictions: Sequence[str] | None = None, references: Sequence[Any] | None = None
    ) -> dict[str, float]:
        """Judge the predictions, and those that were added; afterwards, none are.

        Parameters
        ----------
        predictions
            Texts to judge.
        references
            Real texts, or lists of one real text each.

        Returns
        -------
        dict
            Critic -> detectability in [0, 1], 0.5 is chance; and the ends of its interval, with "_low" and "_high".

        Raises
        ------
        MacroscopeError
            If the numbers of paired texts differ, or as in `macroscope.compare`.
        """
        batches, self._added = self._added, []
        if predictions is not None and references is not None:
            batches.append((list(predictions), _only_references(references)))
        elif predictions is not None or references is not None:
            raise MacroscopeError("predictions or references alone; give both, or none after `add_batch`")
        mine = [text for texts, _ in batches for text in texts]
        real = [text for _, texts in batches for text in texts]
        if self._paired and len(mine) != len(real):
            raise MacroscopeError(
                f"{len(mine)} predictions and {len(real)} references; give one reference each, or paired=False"
            )
        texts = (_numbered(real), _numbered(mine)) if self._paired else (real, mine)
        self.result = compare(*texts, progress=False, **self._arguments)
        rows = without_empty_cells(self.result.detectability)
        return {
            f"{row.critic}{end}": float(value)
            for row in rows[rows["system"] == "candidate"].itertuples()
            for end, value in (("", row.c2st_auc), ("_low", row.ci_low), ("_high", row.ci_high))
        }

    def _feature_names(self) -> list[str]:
        """Return the names of what `add` takes; `evaluate.combine` calls this."""
        return list(_NAMES)


def _only_references(references: Sequence[Any]) -> list[str]:
    """Return references, each of which is a text or a list of one."""
    texts = []
    for number, reference in enumerate(references):
        name = f"references[{number}]"
        given = convert(reference, str | Sequence[str], name)
        if isinstance(given, list) and len(given) != 1:
            raise MacroscopeError(f"{name}: {len(given)} references for one prediction; give one")
        texts.append(given if isinstance(given, str) else given[0])
    return texts


def _numbered(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"id": str(number), "text": text} for number, text in enumerate(texts, 1)]
