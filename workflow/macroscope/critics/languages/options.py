"""Options of the languages critic (deng2022 Appendix C)."""

from pydantic import Field

from macroscope.options import Options


class LanguagesOptions(Options):
    """Latent Dirichlet allocation, its fit, and its posterior samples."""

    languages: int = Field(
        3, ge=2, description="Number of topics, equal to the number of the corpus's languages (paper: 3)."
    )
    least_frequency: int = Field(1, ge=1, description="Words that occur less often in training documents are excluded.")
    beta: float = Field(0.01, gt=0, description="Pseudo-count of every word in every topic (paper: 0.01).")
    iterations: int = Field(
        1000, ge=100, description="Iterations of Gibbs sampling; alpha is optimised every 100 (paper: every 100)."
    )
    sweeps: int = Field(
        100, ge=2, description="Number of samples of each document's posterior, after as many burn-in samples."
    )
    mixed_below: float = Field(
        0.9, gt=0, lt=1, description="Largest topic's share below which a document counts as a mix of languages."
    )
    neighbours: int = Field(3, ge=1, description="k of k-nearest-neighbour precision and recall.")
    most_vectors: int = Field(
        2500,
        ge=10,
        description="Largest number of documents per collection for distances between proportions, sampled at random:"
        " memory and time grow with its square.",
    )
    permutations: int = Field(1000, ge=99, description="Number of permutations for the p-values of the comparison.")
