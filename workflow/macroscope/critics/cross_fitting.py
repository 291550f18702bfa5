"""Cross-fitting of critics: every real text is compared, and none is judged by a critic that learned from its prompt.

The documents of the corpus are cut into an odd number of folds, by prompt. The texts of a fold are judged by a critic
that learned from the next folds: the first half of the others, in a circle. So of two folds, one teaches the critic of
the other, never both. A system's text is judged in the fold of the real text that it is paired with, the others in
folds at random, in equal shares.

Why half of the others. Let d_i be the difference between the scores of the real texts and the system's in fold i. If
nothing differs, its mean is 0 given all texts outside of fold i. Of folds i and j, one, say i, does not teach the
critic of j, so that d_j is fixed by texts outside of fold i: d_i and d_j are uncorrelated, however much critics
overfit. The variance of the sum over folds is then that of the texts, as tests assume. If folds taught each other, as
in cross-validation, the chance deviations of two folds would enter the scores of both: 60 texts against 600 under an
overfitted critic would differ at 5 % in 8 % of the runs (simulated).

Strengths of topics and the like differ from fit to fold; T(x) does not. Where latents themselves are compared, those of
the first fold are.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.latents import FOLD, copy_rows, gather, is_cross_fitted
from macroscope.documents import DOCUMENTS_AT_ONCE, Collection, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.statistics.document_groups import KEYS, Integers, group_labels, name_alike, prompt_labels

VALIDATION = 8
"""One of this number of prompts of a fold is for validation."""
LEARNING_STAGES = ("train", "fit_prior")
DOCUMENT_STAGES = ("project", "score", "attribute")
"""Stages whose output has rows of single documents."""
_LEARNED = ("inference", "prior")
"""Inputs that a stage of learning made."""
_OF_DOCUMENTS = {"texts", "latents", "scores"}
"""Inputs of `DOCUMENT_STAGES` about single documents."""
_COMPARED = ("latents", "control_latents", "scores", "control_scores")


# ---- folds -----------------------------------------------------------------------------------------------------------


def teaching_folds(fold: int, folds: int) -> set[int]:
    """Return the folds that teach the critic of a fold: the first half of the others, in a circle."""
    return {(fold + step) % folds for step in range(1, folds // 2 + 1)}


def fold_folder(folder: Path, fold: int) -> Path:
    """Return the folder of what was learned for a fold: that of the first fold holds the others."""
    return folder / f"fold-{fold}" if fold else folder


def read_document_keys(path: Path) -> pd.DataFrame:
    """Read the `KEYS` of the documents of a Parquet file of documents."""
    rows = [[getattr(document, key) for key in KEYS] for document in read_documents(path)]
    return pd.DataFrame(rows, columns=list(KEYS))


def assign_folds(keys: pd.DataFrame, folds: int) -> tuple[Integers, Integers]:
    """Deal the prompts of real texts out to folds, at random.

    Returns
    -------
    folds, numbers
        Fold of each text, and the number of its prompt in that fold.
    """
    prompts = prompt_labels(keys)
    number = int(prompts.max(initial=-1)) + 1
    if number < 2 * folds:
        raise MacroscopeError(
            f"the real texts have {number} prompts, and {folds} folds need {2 * folds}; give more texts or set"
            " the critic's 'folds' to 1"
        )
    positions = np.random.default_rng(0).permutation(number)[prompts]
    return positions % folds, positions // folds


def place_texts(keys: pd.DataFrame, real_keys: pd.DataFrame, real_folds: Integers, folds: int) -> Integers:
    """Return the fold of each text: that of the real text that it is paired with; the others are dealt out by prompt.

    Parameters
    ----------
    keys, real_keys
        `KEYS` of the texts and of the real texts; a text may be a real one.
    real_folds
        Fold of each real text.
    """
    real, labels = group_labels(real_keys, keys)
    of_group = np.full(int(max(real.max(initial=-1), labels.max(initial=-1))) + 1, -1)
    of_group[real] = real_folds
    placed = of_group[labels]
    real_ids, ids = name_alike(real_keys["id"], keys["id"])
    by_id = ids.map(dict(zip(real_ids, real_folds, strict=True)))
    placed = np.where(by_id.notna(), by_id.fillna(-1), placed).astype(np.int64)
    is_alone = placed < 0
    unpaired = np.unique(labels[is_alone], return_inverse=True)[1]
    dealt = np.random.default_rng(1).permutation(int(unpaired.max(initial=-1)) + 1)
    placed[is_alone] = dealt[unpaired] % folds
    return placed


# ---- stages ----------------------------------------------------------------------------------------------------------


def run_by_fold(function: Callable[..., Any], stage: str, folds: int, given: Mapping[str, Any], output: Path) -> None:
    """Run a stage for each fold, or once if there is only one; see the module.

    Parameters
    ----------
    given
        Arguments of the stage. Those of `project` have `documents` as well: the real texts, whose folds determine those
        of the texts.
    """
    if stage in LEARNING_STAGES and folds > 1:
        _learn(function, given, folds, output)
        return
    arguments = {name: value for name, value in given.items() if stage != "project" or name != "documents"}
    if folds == 1:
        function(**arguments, output=output)
    elif stage in DOCUMENT_STAGES:
        _run_on_documents(function, arguments, _read_folds(stage, given, folds), output)
    else:
        with first_fold(arguments) as chosen:
            function(**chosen, output=output)


def _learn(function: Callable[..., Any], given: Mapping[str, Any], folds: int, output: Path) -> None:
    """Run a stage once for each fold; see `fold_folder` for the outputs."""
    with atomic(output) as folder, TemporaryDirectory() as scratch:
        for fold in range(folds):
            arguments = _learned_for(given, fold)
            if "documents" in given:
                arguments["documents"] = Path(scratch) / f"{fold}.parquet"
                write_teaching_documents(given["documents"], fold, folds, arguments["documents"])
            if "checkpoints" in given:
                arguments["checkpoints"] = fold_folder(given["checkpoints"], fold)
            function(**arguments, output=fold_folder(folder, fold))


def write_teaching_documents(documents: Path, fold: int, folds: int, output: Path) -> None:
    """Write the documents with new splits: those of the teaching folds are for training and validation."""
    assigned, numbers = assign_folds(read_document_keys(documents), folds)
    is_teaching = np.isin(assigned, list(teaching_folds(fold, folds)))
    splits = np.where(is_teaching, np.where(numbers % VALIDATION == VALIDATION - 1, "valid", "train"), "test")
    resplit = (
        replace(document, split=str(split)) for document, split in zip(read_documents(documents), splits, strict=True)
    )
    write_documents(output, resplit, read_provenance(documents))


def _read_folds(stage: str, given: Mapping[str, Any], folds: int) -> dict[str, int]:
    """Return the fold of each text by its id, in the order of the texts."""
    if stage != "project":
        table = pq.read_table(given["latents"], columns=["id", FOLD]).to_pydict()
        return dict(zip(table["id"], table[FOLD], strict=True))
    if given["documents"] is None:
        raise MacroscopeError(f"{given['texts'].path}: with folds, give the real texts as well (--input documents=...)")
    real_keys = read_document_keys(given["documents"])
    every_text = Collection(given["texts"].path)
    placed = place_texts(read_document_keys(every_text.path), real_keys, assign_folds(real_keys, folds)[0], folds)
    fold_by_id = dict(zip(every_text.ids(), placed.tolist(), strict=True))
    return {name: fold_by_id[name] for name in given["texts"].ids()}


@contextmanager
def first_fold(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a stage that compares latents, with paths of those of the first fold alone.

    Latents of a critic that is not cross-fitted stay. A path that stands twice is replaced by the same one.
    """
    with TemporaryDirectory() as folder:
        paths = [given[name] for name in _COMPARED if name in given and is_cross_fitted(given[name])]
        replaced = {path: Path(folder) / f"{number}.parquet" for number, path in enumerate(dict.fromkeys(paths))}
        for path, part in replaced.items():
            copy_rows(path, part, pq.read_table(path, columns=[FOLD])[FOLD].to_numpy() == 0)
        yield {name: replaced.get(value, value) if name in _COMPARED else value for name, value in given.items()}


def _run_on_documents(
    function: Callable[..., Any], given: Mapping[str, Any], fold_by_id: Mapping[str, int], output: Path
) -> None:
    """Run a stage on the documents of each fold, and write its rows in the order of `fold_by_id`."""
    with TemporaryDirectory() as folder:
        parts = []
        for fold in sorted(set(fold_by_id.values())) or [0]:
            arguments = _learned_for(given, fold)
            for name in _OF_DOCUMENTS & given.keys():
                arguments[name] = _select_fold(given[name], fold, fold_by_id, Path(folder) / f"{name}-{fold}.parquet")
            parts.append(Path(folder) / f"output-{fold}.parquet")
            function(**arguments, output=parts[-1])
        joined = Path(folder) / "joined.parquet"
        gather(parts, joined)
        with atomic(output) as temporary:
            _write_in_order(joined, temporary, fold_by_id)


def _select_fold(documents: Any, fold: int, fold_by_id: Mapping[str, int], output: Path) -> Any:
    """Write the texts, or the rows of latents or scores, of one fold; return what the stage is given instead."""
    if isinstance(documents, Collection):
        chosen = (document for document in documents if fold_by_id[document.id] == fold)
        write_documents(output, chosen, read_provenance(documents.path))
        return Collection(output)
    ids = pq.read_table(documents, columns=["id"])["id"].to_pylist()
    copy_rows(documents, output, np.array([fold_by_id[name] == fold for name in ids], dtype=bool))
    return output


def _write_in_order(path: Path, output: Path, fold_by_id: Mapping[str, int]) -> None:
    """Write the rows of a Parquet file in the order of the documents, with a column with their `FOLD`."""
    table = pq.read_table(path)
    ids = table["id"].to_pylist()
    position_by_id = {name: position for position, name in enumerate(fold_by_id)}
    order = np.argsort([position_by_id[name] for name in ids], kind="stable")
    table = table.append_column(FOLD, pa.array([fold_by_id[name] for name in ids], pa.int32()))
    pq.write_table(table.take(order), output, compression="zstd", row_group_size=DOCUMENTS_AT_ONCE)


def _learned_for(given: Mapping[str, Any], fold: int) -> dict[str, Any]:
    """Return the arguments of a stage with the paths of what was learned for a fold."""
    return {name: fold_folder(value, fold) if name in _LEARNED else value for name, value in given.items()}
