"""Probing: prediction of texts' properties from their clusters (pimentel2022 §6.1, Figures 3, 5 and 7).

Each cluster gets the most common label of its training texts, and their mean shares of stop words and symbols; test
texts are predicted by their clusters. As there is no classifier, results depend only on the information in clusters.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope import __version__
from macroscope.critics.clusters.clustering import fit, prepare
from macroscope.critics.clusters.kmeans import Labels, count_unique_rows
from macroscope.critics.clusters.latents import Vectors
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.latents import vector_column
from macroscope.documents import Collection, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.natural_language.words import stop_words
from macroscope.options import Resampling
from macroscope.progress import progress
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.ratio import ratio_interval
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")

SHARES = {"stop_word_share": "stop_words", "symbol_share": "symbols"}
"""Share of a text's tokens -> count that is its numerator."""
INTERVAL = ["value", "ci_low", "ci_high", "seed_sd"]
COLUMNS = ["learned_on", "clusters", "probe", "measure", *INTERVAL, "baseline", "n_train", "n"]
_ROUNDING = 1e-12


@dataclass(frozen=True)
class ProbedTexts:
    """Texts of one split.

    Attributes
    ----------
    vectors
        Embeddings (texts x dimensions).
    labels
        Label of each text; empty for texts without label.
    shares
        Share of each text, by the names of `SHARES`; NaN for texts without tokens.
    """

    vectors: Vectors
    labels: NDArray[np.str_]
    shares: dict[str, Array]

    def select(self, indices: NDArray[np.int64]) -> "ProbedTexts":
        """Return the texts with these indices."""
        return ProbedTexts(
            self.vectors[indices], self.labels[indices], {name: values[indices] for name, values in self.shares.items()}
        )


def embed_corpus(documents: Path, *, encoder: str, options: ClustersOptions, output: Path) -> None:
    """Embed all documents of a corpus, with their labels and shares, in batches.

    The table has a row per document: split, label, the shares of `SHARES`, embedding.

    Parameters
    ----------
    encoder
        Name of the encoder in the only entry of `options.probing`.
    """
    # Encoders and tokenizers are slow to import, and every comparison imports this module for its statistics.
    from macroscope.critics.clusters.projection import join_lines, load_embedding
    from macroscope.critics.tendencies.features import count_features
    from macroscope.natural_language.tokens import make_tokenizer

    language = read_provenance(documents).options.get("language", "en")
    width, embed = load_embedding(options.probing[0].encoders[encoder], language)
    tokenize, words = make_tokenizer(language), stop_words(language)
    fields = [("split", pa.string()), ("label", pa.string()), *((name, pa.float64()) for name in SHARES)]
    schema = pa.schema([*fields, ("embedding", pa.list_(pa.float32(), width))])
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in Collection(documents).batches():
            tokens = tokenize([join_lines(document) for document in batch])
            counts = {name: column.astype(float) for name, column in count_features(tokens, words).items()}
            columns = {"split": [d.split for d in batch], "label": [d.label for d in batch]}
            with np.errstate(invalid="ignore"):  # a text without tokens has no shares
                columns |= {name: counts[count] / counts["tokens"] for name, count in SHARES.items()}
            columns["embedding"] = vector_column(embed(batch)[0])
            writer.write_table(pa.table(columns, schema=schema))


def probe(
    embeddings: Path,
    reference: Path | None = None,
    *,
    options: ClustersOptions,
    resampling: Resampling,
    signature: str,
    output: Path,
) -> None:
    """Predict labels and shares of test texts from their clusters; write the results as CSV.

    Parameters
    ----------
    embeddings, reference
        Tables of `embed_corpus` of the probed corpus, and of a reference to whose test split clusters are also fitted.
    options
        Options of clustering; `probing` has one entry.
    signature
        Signature of the encoder and of the options.

    Writes
    ------
    learned_on (own, reference, halves); clusters; probe (label, stop_word_share, symbol_share); measure (accuracy,
    r_squared);
    value, the mean over the seeds; ci_low, ci_high: interval over test texts, given the clusters, Wilson's for an
    accuracy and bootstrap-t for R^2; seed_sd; baseline: accuracy of the most common label, 0 for R^2; n_train, n:
    numbers of training and test texts; seed; signature.
    """
    test = read_probed(embeddings, "test")
    if options.probing[0].halves:
        learned_on = {"halves": test.vectors}
        train, test = split_in_halves(test, resampling.seed)
    else:
        train = read_probed(embeddings, "train")
        learned_on = {"own": train.vectors}
    if reference is not None:
        learned_on["reference"] = read_probed(reference, "test").vectors
    labels = len(set(train.labels) - {""})
    numbers = sorted({*options.probing[0].numbers_of_clusters, *((labels, 2 * labels) if labels > 1 else ())})
    rows = []
    for name, vectors in learned_on.items():
        unique = count_unique_rows([vectors])
        for clusters in progress([k for k in numbers if k <= unique], f"cluster {name}", unit="clusterings"):
            clustering = fit([prepare(vectors, options)], clusters, options, resampling.seed)
            assigned = [clustering.assign(prepare(texts.vectors, options)) for texts in (train, test)]
            rows += [
                (name, clusters, *row)
                for row in predict_from_clusters(train, test, assigned[0], assigned[1], resampling)
            ]
        if left_out := [k for k in numbers if k > unique]:
            log.warning(
                "probing, clusters of %s: %d different embeddings are too few for %s clusters, which are left out",
                name,
                unique,
                left_out,
            )
    with atomic(output) as temporary:
        table = pd.DataFrame(rows, columns=COLUMNS)
        full_signature = "|".join(
            part for part in (f"macroscope:{__version__}", signature, resampling.signature) if part
        )
        write_csv(table.assign(seed=resampling.seed, signature=full_signature), temporary)


STATISTICS = (
    Statistic(
        "accuracy", "share of correct labels, for texts of the test texts' distribution and these training texts"
    ),
    Statistic("r_squared", "R^2, for texts of the test texts' distribution and these training texts"),
)


def split_in_halves(texts: ProbedTexts, seed: int) -> tuple[ProbedTexts, ProbedTexts]:
    """Split the texts into two random halves."""
    order = np.random.default_rng(seed).permutation(len(texts.vectors))
    return texts.select(np.sort(order[: len(order) // 2])), texts.select(np.sort(order[len(order) // 2 :]))


def predict_from_clusters(
    train: ProbedTexts, test: ProbedTexts, train_clusters: Labels, test_clusters: Labels, resampling: Resampling
) -> list[tuple[object, ...]]:
    """Return rows with `COLUMNS` from `probe` on, for one number of clusters; clusters are texts x seeds."""
    rows: list[tuple[object, ...]] = []
    is_labelled = [texts.labels != "" for texts in (train, test)]
    if is_labelled[0].any() and is_labelled[1].any():
        names = sorted(set(train.labels[is_labelled[0]]))
        codes = np.searchsorted(names, train.labels[is_labelled[0]])
        truth = test.labels[is_labelled[1]]
        is_correct = [
            np.array(names)[predict_majority_label(codes, a, b)] == truth
            for a, b in zip(train_clusters[is_labelled[0]].T, test_clusters[is_labelled[1]].T, strict=True)
        ]
        accuracies = np.mean(is_correct, axis=1)
        low, high = wilson_interval(accuracies.mean() * len(truth), len(truth), resampling.confidence)
        baseline = float((truth == names[np.bincount(codes).argmax()]).mean())
        sizes = (len(codes), len(truth))
        rows.append(("label", "accuracy", accuracies.mean(), low, high, _sd(accuracies), baseline, *sizes))
    for name in SHARES:
        is_finite = [np.isfinite(texts.shares[name]) for texts in (train, test)]
        if not (is_finite[0].any() and is_finite[1].any()):
            continue
        train_values, test_values = train.shares[name][is_finite[0]], test.shares[name][is_finite[1]]
        pairs = zip(train_clusters[is_finite[0]].T, test_clusters[is_finite[1]].T, strict=True)
        errors = np.array([test_values - predict_cluster_mean(train_values, a, b) for a, b in pairs]) ** 2
        values = np.array([compute_r_squared(error, test_values) for error in errors])
        interval = _r_squared_interval(errors.mean(axis=0), test_values, resampling)
        rows.append(
            (name, "r_squared", values.mean(), *interval, _sd(values), 0.0, len(train_values), len(test_values))
        )
    return rows


def predict_majority_label(
    labels: NDArray[np.int64], train_clusters: Labels, test_clusters: Labels
) -> NDArray[np.int64]:
    """Predict the most common training label of each test text's cluster; of all texts if it has none (fn. 12)."""
    counts = np.zeros((max(train_clusters.max(), test_clusters.max()) + 1, labels.max() + 1))
    np.add.at(counts, (train_clusters, labels), 1)
    best = np.where(counts.any(axis=1), counts.argmax(axis=1), counts.sum(axis=0).argmax())
    return best[test_clusters]


def predict_cluster_mean(train_values: Array, train_clusters: Labels, test_clusters: Labels) -> Array:
    """Predict the mean of the training texts of each test text's cluster; of all texts if it has none."""
    size = max(train_clusters.max(), test_clusters.max()) + 1
    counts = np.bincount(train_clusters, minlength=size)
    sums = np.bincount(train_clusters, train_values, minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), train_values.mean())[test_clusters]


def compute_r_squared(errors: Array, test_values: Array) -> float:
    """Compute R^2: 1 - squared errors / squared deviations of test texts from their mean; NaN if these are equal."""
    total = _squared_deviations(test_values).sum()
    return 1.0 - float(errors.sum() / total) if total else float("nan")


def _squared_deviations(test_values: Array) -> Array:
    """Return the squared deviation of each test text from their mean; 0 if it is only rounding."""
    squares = (test_values - test_values.mean()) ** 2
    return squares if squares.sum() > _ROUNDING * (test_values**2).sum() else np.zeros_like(squares)


def _r_squared_interval(errors: Array, test_values: Array, resampling: Resampling) -> tuple[float, float]:
    """Return the interval of R^2 over test texts; R^2 is linear in the errors, so the mean over seeds stays a mean."""
    rng = np.random.default_rng(resampling.seed)
    _, low, high = ratio_interval(
        (errors, _squared_deviations(test_values)), resampling.confidence, resampling.resamples, rng
    )
    return 1.0 - high, 1.0 - low


def read_probed(path: Path, split: str) -> ProbedTexts:
    """Read a split of a table of `embed_corpus`, without texts that have no finite embedding."""
    table = pq.read_table(path, filters=[("split", "=", split)])
    column = table.column("embedding").combine_chunks()
    vectors = column.flatten().to_numpy().reshape(len(table), column.type.list_size)
    is_finite = np.isfinite(vectors).all(axis=1)
    if not is_finite.any():
        raise MacroscopeError(
            f"{path}: split '{split}' has no text with an embedding; probing needs train and test texts, give"
            " documents of both splits"
        )
    labels = np.array([label or "" for label in table.column("label").to_pylist()])[is_finite]
    shares = {name: table.column(name).to_numpy(zero_copy_only=False)[is_finite] for name in SHARES}
    return ProbedTexts(vectors[is_finite], labels, shares)


def _sd(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")
