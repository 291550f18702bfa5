"""A callback of Hugging Face's `Trainer`: it samples texts at every evaluation, judges them, and keeps the results."""

import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from macroscope.api.arguments import ChosenCritics, checked, convert
from macroscope.api.comparison import compare
from macroscope.api.result import Comparison
from macroscope.api.timeline import Timeline, timeline
from macroscope.criticize.folder import CONFIG, require_ours
from macroscope.errors import MacroscopeError
from macroscope.execution.limits import Device
from macroscope.extras import name_command
from macroscope.reporting.scorecard import without_empty_cells
from macroscope.systems.tokenizer import end_ids

try:
    import torch
    from transformers import TrainerCallback
except ModuleNotFoundError:
    raise MacroscopeError(
        f"MacroscopeCallback needs the extra 'models', which is not installed; {name_command('models')}"
    ) from None

log = logging.getLogger("macroscope")
_SYSTEM = "model"
_METRIC = "eval_macroscope_"
"""Name of the system in the results of all steps, and beginning of the names of the metrics."""


class MacroscopeCallback(TrainerCallback):
    """A callback that judges a model's texts at every evaluation.

    The folder has a run per evaluation, `step-00001000`, which `macroscope timeline FOLDER/step-*` and `timeline` read.
    The detectability by each critic is in the metrics of the evaluation, as `eval_macroscope_<critic>`, so that
    `metric_for_best_model` may name it; smaller is better. Training goes on whatever happens to a step: one warning has
    the reason, its metric is NaN, and its folder is judged anew if a resumed training evaluates the step again.

    Parameters
    ----------
    reference
        Real texts, as in `macroscope.compare`.
    folder
        Folder for the results.
    prompts
        Prompts to continue, one text each; the texts are judged without them.
    max_new_tokens
        Largest number of tokens of a text.
    sample
        Function of the model and the tokenizer that returns the texts; default: continuations of `prompts` by ancestral
        sampling.
    critics, encoder, straighten_typography, device, seed, n_jobs
        As in `macroscope.compare`. The seed is that of the sampling, too: all evaluations have the same.

    Examples
    --------
    >>> callback = macroscope.MacroscopeCallback("real.jsonl", "judged", prompts=prompts)  # doctest: +SKIP
    >>> trainer.add_callback(callback)  # doctest: +SKIP
    >>> callback.timeline().plot()  # doctest: +SKIP
    """

    @checked
    def __init__(
        self,
        reference: Any,
        folder: str | Path,
        *,
        prompts: Sequence[str] = (),
        max_new_tokens: int = 256,
        sample: Callable[[Any, Any], Sequence[str]] | None = None,
        critics: ChosenCritics = (),
        encoder: str | Path | None = None,
        straighten_typography: bool = False,
        device: Device = "auto",
        seed: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        if sample is None and not prompts:
            raise MacroscopeError("a callback without texts; give `prompts`, or a function `sample`")
        self._reference, self.folder = reference, Path(folder)
        self._sample = sample or (lambda model, tokenizer: sample_texts(model, tokenizer, prompts, max_new_tokens))
        self._arguments: dict[str, Any] = {
            "critics": critics,
            "encoder": encoder,
            "straighten_typography": straighten_typography,
            "device": device,
            "seed": seed,
            "n_jobs": n_jobs,
        }
        self._seed = seed
        self._warned: set[str] = set()

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Sample texts of the model and judge them; only the first process does."""
        if not state.is_world_process_zero:
            return
        metrics = given.get("metrics")
        metrics = {} if metrics is None else metrics
        try:
            metrics.update(_metrics(self._judge(state.global_step, given["model"], given.get("processing_class"))))
        except Exception as error:  # of a user's function, of a disk: no evaluation is worth a training
            self._warn(state.global_step, error)
            best = str(args.metric_for_best_model or "")
            best = best if best.startswith("eval_") else f"eval_{best}"
            if best.startswith(_METRIC):  # the Trainer ends if it is absent
                metrics.setdefault(best, float("nan"))

    def _judge(self, step: int, model: Any, tokenizer: Any) -> Comparison:
        """Judge the texts of a step; what an earlier training left of it is removed."""
        given = _without_traces(model, self._seed, lambda: self._sample(model, tokenizer))
        texts = convert(given, Sequence[str], "the result of `sample`")
        folder = self.folder / f"step-{step:08d}"
        if (folder / CONFIG).exists():
            require_ours(folder / CONFIG)
            shutil.rmtree(folder)
        return compare(self._reference, {_SYSTEM: texts}, progress=False, keep=folder, **self._arguments)

    def _warn(self, step: int, error: Exception) -> None:
        """Warn of a step that is not judged, once for each reason."""
        is_expected = isinstance(error, MacroscopeError)
        reason = str(error) if is_expected else f"{type(error).__name__}: {error}"
        if reason not in self._warned:
            self._warned.add(reason)
            log.warning(
                "step %d is not judged, and the training goes on: %s", step, reason, exc_info=not is_expected and error
            )

    def timeline(self) -> Timeline:
        """Return the timeline of the evaluations in the folder.

        Raises
        ------
        MacroscopeError
            If there are fewer than two.
        """
        return timeline(sorted(path.parents[2] for path in self.folder.glob("step-*/results/*/tables")))


def sample_texts(model: Any, tokenizer: Any, prompts: Sequence[str], max_new_tokens: int) -> list[str]:
    """Return a continuation of each prompt, sampled from the model's own distribution."""
    texts = []
    for prompt in prompts:
        encoded = tokenizer(prompt, return_tensors="pt").to(model.device)
        ends = sorted(end_ids(tokenizer))
        tokens = model.generate(
            **encoded,
            do_sample=True,
            top_k=0,
            top_p=1.0,
            max_new_tokens=max_new_tokens,
            eos_token_id=ends,
            pad_token_id=ends[0],
        )
        texts.append(tokenizer.decode(tokens[0, encoded["input_ids"].shape[1] :], skip_special_tokens=True))
    return texts


def _without_traces(model: Any, seed: int, sample: Callable[[], Any]) -> Any:
    """Return what a function samples; the model's mode and the random numbers of the training are as before."""
    is_training = model.training
    model.eval()
    try:
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed)
            return sample()
    finally:
        model.train(is_training)


def _metrics(result: Comparison) -> dict[str, float]:
    """Return the detectability by each critic, as metrics of an evaluation."""
    rows = without_empty_cells(result.detectability)
    return {f"{_METRIC}{row.critic}": float(row.c2st_auc) for row in rows[rows["system"] == _SYSTEM].itertuples()}
