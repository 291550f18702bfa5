"""Options of the topics critic (deng2022 §6, Appendix F)."""

from typing import Literal

from pydantic import Field

from macroscope.critics.options import CrossFittedOptions


class TopicsOptions(CrossFittedOptions):
    """Vocabulary, correlated topic model and its fit."""

    topics: int = Field(20, ge=2, description="Number of topics (paper: 100).")
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="definition: words in lower case without punctuation, T(x) as the expectation over the posterior;"
        " published: words separated by white space, T(x) at the posterior's mean.",
    )
    stop_words: Literal["language", "smart", "none"] = Field(
        "language",
        description="Excluded words: the list of the corpus's language; smart: the 523 English ones of SMART (released"
        " code of the paper: as many); none, as the paper's text has it.",
    )
    most_documents: float = Field(
        0.5, gt=0, le=1, description="Words in this share of the training documents or more are excluded."
    )
    least_frequency: int = Field(5, ge=1, description="Words that occur less often in training documents are excluded.")
    pinned: bool = Field(
        True,
        description="Whether the strength of the last topic is fixed at 0, as in the published code: only differences"
        " of strengths matter.",
    )
    covariance_prior: float | None = Field(
        None,
        ge=0,
        description="Weight of an identity covariance of the strengths, as a multiple of the number of training"
        " documents (paper: 0). null: out of 4, 1, 0.25 and 0, the one that predicts held-out words of the validation"
        " documents best; without such documents, 1.",
    )
    smoothing: float = Field(0.01, ge=0, description="Pseudo-count of every word in every topic (paper: 0).")
    iterations: int = Field(1000, ge=1, description="Largest number of iterations of EM.")
    tolerance: float = Field(
        1e-5, gt=0, description="Relative change of the bound at which EM stops (paper: 0.001, which stops early)."
    )
    initialisation: Literal["clusters", "documents"] = Field(
        "clusters",
        description="Initial words of a topic: those of a cluster of documents, or of a random document (paper).",
    )
    restarts: int = Field(1, ge=1, description="Number of fits with different seeds; the largest bound is kept.")
    neighbours: int = Field(3, ge=1, description="k of k-nearest-neighbour precision and recall.")
    most_vectors: int = Field(
        2500,
        ge=10,
        description="Largest number of documents per collection for distances and covariances of topic strengths,"
        " sampled at random: memory and time of distances grow with its square.",
    )
    permutations: int = Field(1000, ge=99, description="Number of permutations for the p-values of the comparison.")
