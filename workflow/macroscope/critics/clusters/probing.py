"""What clusters know of a text (pimentel2022 §6.1, Figures 3, 5 and 7).

Each cluster gets the label that most training texts in it have, and the mean of their shares of stop words and symbols;
a test text is predicted by its cluster. There is no classifier: nothing is found but what the clusters tell apart.
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
from macroscope.corpora.stop_words import stop_words
from macroscope.critics.clusters.blocks import different
from macroscope.critics.clusters.clustering import fit, prepared
from macroscope.critics.clusters.kmeans import Labels
from macroscope.critics.clusters.latents import Vectors, vector_column
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.documents import Collection, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.progress import progress
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.ratio import ratio_interval
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")

SHARES = {"stop_word_share": "stop_words", "symbol_share": "symbols"}
"""Share of a text's tokens -> what is counted of it."""
INTERVAL = ["value", "ci_low", "ci_high", "seed_sd"]
COLUMNS = ["learned_on", "clusters", "probe", "measure", *INTERVAL, "baseline", "n_train", "n"]
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Probed:
    """Texts of one split.

    Attributes
    ----------
    vectors
        Texts x dimensions.
    labels
        Of each text; empty strings where it has none.
    shares
        Name of `SHARES` -> share of each text; NaN for a text without tokens.
    """

    vectors: Vectors
    labels: NDArray[np.str_]
    shares: dict[str, Array]

    def some(self, chosen: NDArray[np.int64]) -> "Probed":
        """Some of the texts."""
        return Probed(
            self.vectors[chosen], self.labels[chosen], {name: values[chosen] for name, values in self.shares.items()}
        )


def embed_corpus(documents: Path, *, encoder: str, options: ClustersOptions, output: Path) -> None:
    """Embed all documents of a corpus, with their labels and shares, in a stream.

    Writes a row a document: split, label, the shares of `SHARES`, embedding.

    Parameters
    ----------
    encoder
        Name, among those of the one entry of `options.probing`.
    """
    # Encoders and tokenizers are slow to import, and every comparison imports the statistics that are declared here.
    from macroscope.critics.clusters.embeddings import embedded, text_encoder
    from macroscope.critics.tendencies.features import features
    from macroscope.critics.tendencies.tokens import MosesTokens

    loaded = text_encoder(options.probing[0].encoders[encoder])
    language = read_provenance(documents).options.get("language", "en")
    tokenize, words = MosesTokens(language), stop_words(language)
    fields = [("split", pa.string()), ("label", pa.string()), *((name, pa.float64()) for name in SHARES)]
    schema = pa.schema([*fields, ("embedding", pa.list_(pa.float32(), loaded.width))])
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for some, texts, vectors, _ in embedded(Collection(documents).batches(), loaded):
            counts = {name: column.astype(float) for name, column in features(tokenize(texts), words).items()}
            columns = {"split": [d.split for d in some], "label": [d.label for d in some]}
            with np.errstate(invalid="ignore"):  # a text without tokens has no shares
                columns |= {name: counts[of] / counts["tokens"] for name, of in SHARES.items()}
            columns["embedding"] = vector_column(vectors)
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
    """Predict labels and shares of test texts from their clusters; write a row a prediction as CSV.

    Parameters
    ----------
    embeddings, reference
        What `embed_corpus` wrote, of the probed corpus and of one whose test split clusters are learnt on as well.
    options
        How embeddings are clustered; `probing` has one entry.
    signature
        Of the encoder and of the options.

    Writes
    ------
    learned_on (own, reference, halves); clusters; probe (label, stop_word_share, symbol_share); measure (accuracy,
    r_squared);
    value, the mean over the seeds; ci_low, ci_high: over test texts, given the clusters, Wilson's for an accuracy and
    bootstrap-t for R^2; seed_sd; baseline: of the most common label, 0 for R^2; n_train, n: training and test texts;
    seed; signature.
    """
    test = read_probed(embeddings, "test")
    if options.probing[0].halves:
        learned_on = {"halves": test.vectors}
        train, test = random_halves(test, resampling.seed)
    else:
        train = read_probed(embeddings, "train")
        learned_on = {"own": train.vectors}
    if reference is not None:
        learned_on["reference"] = read_probed(reference, "test").vectors
    labels = len(set(train.labels) - {""})
    numbers = sorted({*options.probing[0].numbers_of_clusters, *((labels, 2 * labels) if labels > 1 else ())})
    rows = []
    for name, vectors in learned_on.items():
        most = different([vectors])
        for clusters in progress([k for k in numbers if k <= most], f"cluster {name}", unit="clusterings"):
            clustering = fit([prepared(vectors, options)], clusters, options, resampling.seed)
            assigned = [clustering.assign(prepared(side.vectors, options)) for side in (train, test)]
            rows += [(name, clusters, *row) for row in predictions(train, test, assigned[0], assigned[1], resampling)]
        if left_out := [k for k in numbers if k > most]:
            log.warning("%s: %d different embeddings are too few for %s clusters", name, most, left_out)
    with atomic(output) as temporary:
        table = pd.DataFrame(rows, columns=COLUMNS)
        whole = "|".join(part for part in (f"macroscope:{__version__}", signature, resampling.signature) if part)
        write_csv(table.assign(seed=resampling.seed, signature=whole), temporary)


STATISTICS = (
    Statistic("accuracy", "share of right labels among texts like the test texts, for these training texts"),
    Statistic("r_squared", "R^2 for texts like the test texts, for these training texts"),
)


def random_halves(texts: Probed, seed: int) -> tuple[Probed, Probed]:
    """Two halves of the texts, at random."""
    order = np.random.default_rng(seed).permutation(len(texts.vectors))
    return texts.some(np.sort(order[: len(order) // 2])), texts.some(np.sort(order[len(order) // 2 :]))


def predictions(
    train: Probed, test: Probed, of_train: Labels, of_test: Labels, resampling: Resampling
) -> list[tuple[object, ...]]:
    """Rows of `COLUMNS` from `probe` on, for one number of clusters; clusters are texts x seeds."""
    rows: list[tuple[object, ...]] = []
    known = [side.labels != "" for side in (train, test)]
    if known[0].any() and known[1].any():
        names = sorted(set(train.labels[known[0]]))
        codes = np.searchsorted(names, train.labels[known[0]])
        truth = test.labels[known[1]]
        right = [
            np.array(names)[majority(codes, a, b)] == truth
            for a, b in zip(of_train[known[0]].T, of_test[known[1]].T, strict=True)
        ]
        accuracies = np.mean(right, axis=1)
        low, high = wilson_interval(accuracies.mean() * len(truth), len(truth), resampling.confidence)
        baseline = float((truth == names[np.bincount(codes).argmax()]).mean())
        sizes = (len(codes), len(truth))
        rows.append(("label", "accuracy", accuracies.mean(), low, high, _sd(accuracies), baseline, *sizes))
    for name in SHARES:
        some = [np.isfinite(side.shares[name]) for side in (train, test)]
        if not (some[0].any() and some[1].any()):
            continue
        target, goal = train.shares[name][some[0]], test.shares[name][some[1]]
        pairs = zip(of_train[some[0]].T, of_test[some[1]].T, strict=True)
        errors = np.array([goal - cluster_means(target, a, b) for a, b in pairs]) ** 2
        found = np.array([r_squared(error, goal) for error in errors])
        interval = _r_squared_interval(errors.mean(axis=0), goal, resampling)
        rows.append((name, "r_squared", found.mean(), *interval, _sd(found), 0.0, len(target), len(goal)))
    return rows


def majority(labels: NDArray[np.int64], of_train: Labels, of_test: Labels) -> NDArray[np.int64]:
    """Most common label of each test text's cluster among training texts; of all of them where it has none (fn. 12)."""
    counts = np.zeros((max(of_train.max(), of_test.max()) + 1, labels.max() + 1))
    np.add.at(counts, (of_train, labels), 1)
    best = np.where(counts.any(axis=1), counts.argmax(axis=1), counts.sum(axis=0).argmax())
    return best[of_test]


def cluster_means(target: Array, of_train: Labels, of_test: Labels) -> Array:
    """Mean of the training texts of each test text's cluster; of all training texts where it has none."""
    size = max(of_train.max(), of_test.max()) + 1
    counts = np.bincount(of_train, minlength=size)
    sums = np.bincount(of_train, target, minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), target.mean())[of_test]


def r_squared(errors: Array, goal: Array) -> float:
    """1 - squared errors over the squared deviations from the mean of the test texts; NaN where these are all equal."""
    spread = _spread(goal).sum()
    return 1.0 - float(errors.sum() / spread) if spread else float("nan")


def _spread(goal: Array) -> Array:
    """Squared deviation of each test text from their mean; 0 where that is rounding."""
    squares = (goal - goal.mean()) ** 2
    return squares if squares.sum() > _ROUNDING * (goal**2).sum() else np.zeros_like(squares)


def _r_squared_interval(errors: Array, goal: Array, resampling: Resampling) -> tuple[float, float]:
    """Interval over test texts; R^2 is linear in the errors, so that means over seeds stay means."""
    rng = np.random.default_rng(resampling.seed)
    _, low, high = ratio_interval((errors, _spread(goal)), resampling.confidence, resampling.resamples, rng)
    return 1.0 - high, 1.0 - low


def read_probed(path: Path, split: str) -> Probed:
    """Read a split of what `embed_corpus` wrote; texts without embedding are left out."""
    table = pq.read_table(path, filters=[("split", "=", split)])
    column = table.column("embedding").combine_chunks()
    vectors = column.flatten().to_numpy().reshape(len(table), column.type.list_size)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.any():
        raise MacroscopeError(
            f"{path}: no text of split '{split}' has an embedding; probing needs train and test texts"
        )
    labels = np.array([label or "" for label in table.column("label").to_pylist()])[finite]
    shares = {name: table.column(name).to_numpy(zero_copy_only=False)[finite] for name in SHARES}
    return Probed(vectors[finite], labels, shares)


def _sd(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")
