"""Options of the clusters critic (pimentel2022 §4, §5, App. C)."""

from typing import Annotated, Literal

from pydantic import Field

from macroscope.critics.options import SentenceReading, encoding_of
from macroscope.models import ModelName, Precision
from macroscope.options import ConfigView, Name, Options, require_name


class EmbeddingOptions(Options):
    """Options of embedding a text."""

    encoder: ModelName = Field(
        "minilm",
        min_length=1,
        description="Encoder of texts: 'minilm' (comes with a package, needs no network), a name in"
        " resources/models.yaml, a Hugging Face name or a folder; an encoder or a causal language model"
        " (paper: gpt2-xl).",
    )
    pooling: Literal["sentences", "mean", "last", "first"] = Field(
        "mean",
        description="Text embedding. sentences: mean and standard deviation of the vectors of its sentences, each of"
        " length 1 and the mean of the last layer's vectors. Else, from the last layer's vectors of the whole text:"
        " their mean, that of the last token (paper, for GPT-2) or of the first (paper, for BERT: CLS).",
    )
    max_tokens: int = Field(
        512,
        ge=2,
        description="Length at which texts, or their sentences, are cut; the report has the share of cut texts.",
    )
    precision: Precision = "float32"


class Probing(Options):
    """Options of probing clusters for labels, stop words and symbols of texts (pimentel2022 §6.1)."""

    corpus: str = Field(description="Corpus whose train and test splits are probed, with or without labels.")
    reference: str | None = Field(
        None,
        description="Another corpus to whose test split clusters are also fitted, as in a comparison (paper: WebText);"
        " null: clusters are fitted only to the train split of the probed corpus.",
    )
    halves: bool = Field(
        False,
        description="Fit clusters to the whole test split, and predict one random half of it from the other (paper,"
        " Figure 5); false: predict the test split from the train split.",
    )
    encoders: dict[Name, EmbeddingOptions] = Field(
        {"minilm": EmbeddingOptions(encoder="minilm")},
        min_length=1,
        description="Encoders of texts, by names of your choice.",
    )
    numbers_of_clusters: list[Annotated[int, Field(ge=2)]] = Field(
        [10, 25, 50, 100, 250, 500],
        min_length=1,
        description="Numbers of clusters; the number of labels, and twice that number, are added (published code).",
    )


class ClustersOptions(EmbeddingOptions):
    """Options of the clusters critic: clustering of text embeddings, and divergences between cluster distributions."""

    normalise: bool = Field(True, description="Divide each embedding by its length (published code: yes).")
    explained_variance: float = Field(
        0.9, gt=0, le=1, description="Share of the variance that the kept principal components explain (paper: 0.9)."
    )
    number_of_clusters: int | None = Field(
        None,
        ge=2,
        description="K of k-means (paper: 500); default: a tenth of the number of texts of the smaller side, rounded"
        " down to 2, 3, 5 or 10 times a power of ten, at most 500. K is at most the number of unique embeddings.",
    )
    seeds: int = Field(
        5, ge=1, description="Number of clusterings with different seeds; divergences are means over these."
    )
    restarts: int = Field(1, ge=1, description="Number of starts of k-means per seed; the best result is kept.")
    clustering: Literal["per_system", "shared"] = Field(
        "per_system",
        description="per_system: a clustering for each system, fitted to its and the control's texts (paper); shared:"
        " one clustering, fitted to the texts of all systems, so that systems can be compared cluster by cluster.",
    )
    smoothing: float = Field(
        1.0, ge=0, description="Pseudo-count of Laplace smoothing of the cluster distributions (paper: 1)."
    )
    scale: float = Field(5.0, gt=0, description="Scale s of the divergence frontier, eq. 9 (paper: 5).")
    weights: int = Field(
        25, ge=2, description="Number of mixture weights of the divergence frontier (published code: 25)."
    )
    cluster_counts: list[int] = Field(
        [],
        description="Further numbers of clusters for the figure of divergences by number of clusters (Figures 4, 8).",
    )
    neighbours: int = Field(3, ge=1, description="k of k-nearest-neighbour precision and recall.")
    most_vectors: int = Field(
        2500,
        ge=10,
        description="Largest number of texts of the control, and of a system, for MMD, energy distance, precision and"
        " recall; larger collections are subsampled at random. Memory and run time grow with its square.",
    )
    permutations: int = Field(1000, ge=99, description="Number of permutations for the p-values.")
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="published: the divergences of the published code (directions swapped, means over texts of"
        " log-ratios of smoothed shares, trimmed for the frontier), without intervals.",
    )
    probing: list[Probing] = Field([], description="Corpora whose clusters are probed for properties of the texts.")

    def check(self, place: str, config: ConfigView) -> None:
        """Check that probed corpora exist, and that each is probed once.

        Parameters
        ----------
        place
            Path of these options in the config, for messages.
        """
        seen: set[str] = set()
        for number, probing in enumerate(self.probing):
            if probing.halves and probing.reference is not None:
                raise ValueError(
                    f"{place}.probing.{number}: 'halves' excludes 'reference', since clusters are fitted to the test"
                    " split alone; leave out one of the two"
                )
            for key in ("corpus", "reference"):
                name = getattr(probing, key)
                if name is not None:
                    require_name(name, config.corpora, f"{place}.probing.{number}.{key}", "corpus")
            if probing.corpus in seen:
                raise ValueError(
                    f"{place}.probing: corpus '{probing.corpus}' is listed twice; put all its encoders into one entry"
                )
            seen.add(probing.corpus)


def read_sentences(options: EmbeddingOptions) -> SentenceReading | None:
    """Return how the sentences of texts are embedded; None if texts are embedded as a whole."""
    return SentenceReading(encoding_of(options, pooling="mean")) if options.pooling == "sentences" else None
