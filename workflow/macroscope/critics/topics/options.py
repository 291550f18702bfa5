"""Options of the topics critic (deng2022 §6, Appendix F)."""

from typing import Literal

from pydantic import Field

from macroscope.options import Options


class TopicsOptions(Options):
    """Vocabulary, correlated topic model and its fit."""

    topics: int = Field(20, ge=2, description="Number of topics (paper: 100).")
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="definition: words in lower case without punctuation, T(x) as the expectation over the posterior;"
        " published: what stands between spaces, T(x) at the posterior's mean.",
    )
    most_documents: float = Field(
        0.5, gt=0, le=1, description="Words that so large a share of the training documents has, or a larger, are out."
    )
    least_frequency: int = Field(5, ge=1, description="Words that occur less often in training documents are out.")
    pinned: bool = Field(
        True,
        description="Fix the strength of the last topic at 0, as the published code does: only differences of strength"
        " matter.",
    )
    shrinkage: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Share of the covariances between strengths that is taken away, relative to the last topic's where"
        " that is fixed. For few documents.",
    )
    smoothing: float = Field(0.01, ge=0, description="Pseudo-count of every word in every topic (paper: 0).")
    iterations: int = Field(1000, ge=1, description="Most iterations of EM.")
    tolerance: float = Field(
        1e-5, gt=0, description="EM ends where the bound changes by a smaller share (paper: 0.001, which is soon)."
    )
    initialisation: Literal["clusters", "documents"] = Field(
        "clusters",
        description="What a topic starts from: the words of a cluster of documents, or of a random document (paper).",
    )
    restarts: int = Field(1, ge=1, description="Fits from other beginnings; the one with the largest bound is taken.")
    neighbours: int = Field(3, ge=1, description="k of k-nearest-neighbour precision and recall.")
    most_vectors: int = Field(
        2500,
        ge=10,
        description="Documents of a side for the distances and covariances of topic strengths, at random where there"
        " are more: memory and time of distances grow with their square.",
    )
    permutations: int = Field(1000, ge=99, description="Permutations behind the p-values of the comparison.")
