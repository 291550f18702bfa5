"""Options of the clusters critic (pimentel2022 §4, §5, App. C)."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from macroscope.models import Precision
from macroscope.options import Name, Options, require_name

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class EmbeddingOptions(Options):
    """How a text is embedded."""

    encoder: str = Field(
        "minilm",
        min_length=1,
        description="What embeds a text: 'minilm' (comes with a package, needs no network), a name in"
        " resources/models.yaml, a Hugging Face name or a folder, of an encoder or a causal language model"
        " (paper: gpt2-xl).",
    )
    pooling: Literal["mean", "last", "first"] = Field(
        "mean",
        description="Which of the last layer's vectors embeds a text: the mean, that of the last token (paper, for"
        " GPT-2) or of the first (paper, for BERT: CLS).",
    )
    max_tokens: int = Field(512, ge=2, description="Texts are cut at this length; the share cut is reported.")
    precision: Precision = "float32"


class Probing(Options):
    """What the clusters of a corpus know of its texts (pimentel2022 §6.1): labels, stop words, symbols."""

    corpus: str = Field(description="Corpus whose train and test splits are probed; with labels or without.")
    reference: str | None = Field(
        None,
        description="Another corpus on whose test split clusters are learnt as well, as they are for a comparison"
        " (paper: WebText); null: clusters are learnt on the train split of the probed corpus only.",
    )
    halves: bool = Field(
        False,
        description="Clusters are learnt on the whole test split, and what one random half of it says of them predicts"
        " the other (paper, Figure 5); otherwise the train split says what the test split is predicted by.",
    )
    encoders: dict[Name, EmbeddingOptions] = Field(
        {"minilm": EmbeddingOptions(encoder="minilm")},
        min_length=1,
        description="Ways to embed a text, by names of your own.",
    )
    numbers_of_clusters: list[Annotated[int, Field(ge=2)]] = Field(
        [10, 25, 50, 100, 250, 500],
        min_length=1,
        description="Numbers of clusters; those of the labels, and twice as many, are added (published code).",
    )


class ClustersOptions(EmbeddingOptions):
    """Clusters of text embeddings, and the divergences between their distributions."""

    normalise: bool = Field(True, description="Divide each embedding by its length (published code: yes).")
    explained_variance: float = Field(
        0.9, gt=0, le=1, description="Principal components are kept up to this share of the variance (paper: 0.9)."
    )
    number_of_clusters: int | None = Field(
        None,
        ge=2,
        description="K of k-means (paper: 500); default: a tenth of the smaller side's texts, rounded down to 2, 3,"
        " 5 or 10 times a power of ten, at most 500. Never more than there are different embeddings.",
    )
    seeds: int = Field(5, ge=1, description="Clusterings, each with a seed of its own; divergences are their means.")
    restarts: int = Field(1, ge=1, description="Starts of k-means for each seed, the best of which is kept.")
    clustering: Literal["per_system", "shared"] = Field(
        "per_system",
        description="per_system: on the control's texts and the system's (paper); shared: once, on the texts of all"
        " systems, so that systems can be compared cluster by cluster.",
    )
    smoothing: float = Field(1.0, ge=0, description="Laplace smoothing of the cluster distributions (paper: 1).")
    scale: float = Field(5.0, gt=0, description="Scale s of the divergence frontier, eq. 9 (paper: 5).")
    weights: int = Field(25, ge=2, description="Mixture weights of the divergence frontier (published code: 25).")
    cluster_counts: list[int] = Field(
        [],
        description="Further numbers of clusters for the figure of divergences by number of clusters (Figures 4, 8).",
    )
    neighbours: int = Field(3, ge=1, description="k of k-nearest-neighbour precision and recall.")
    most_vectors: int = Field(
        2500,
        ge=10,
        description="Texts of a side for MMD, energy distance, precision and recall, at random where there are more:"
        " memory and time grow with their square.",
    )
    permutations: int = Field(1000, ge=99, description="Permutations behind the p-values.")
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="published: the divergences of the published code (directions swapped, means over texts of"
        " log-ratios of smoothed shares, trimmed for the frontier), without intervals.",
    )
    probing: list[Probing] = Field([], description="Corpora of which it is asked what their clusters know.")

    def check(self, place: str, config: "Config") -> None:
        """Probed corpora are there, each once."""
        seen: set[str] = set()
        for number, probing in enumerate(self.probing):
            if probing.halves and probing.reference is not None:
                raise ValueError(
                    f"{place}.probing.{number}: 'halves' are of one test split, on which the clusters are learnt; leave"
                    " out 'reference'"
                )
            for key in ("corpus", "reference"):
                name = getattr(probing, key)
                if name is not None:
                    require_name(name, config.corpora, f"{place}.probing.{number}.{key}", "corpus")
            if probing.corpus in seen:
                raise ValueError(f"{place}.probing: a corpus stands there twice; put all its encoders into one entry")
            seen.add(probing.corpus)
