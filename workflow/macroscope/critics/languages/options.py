"""Options of the languages critic (deng2022 Appendix C)."""

from pydantic import Field

from macroscope.options import Options


class LanguagesOptions(Options):
    """Latent Dirichlet allocation, its fit, and its posterior samples."""

    languages: int = Field(3, ge=2, description="Number of topics: as many as the corpus has languages (paper: 3).")
    least_frequency: int = Field(1, ge=1, description="Words that occur less often in training documents are out.")
    beta: float = Field(0.01, gt=0, description="Pseudo-count of every word in every topic (paper: 0.01).")
    iterations: int = Field(
        1000, ge=100, description="Iterations of Gibbs sampling; alpha is optimised every 100 (paper: every 100)."
    )
    sweeps: int = Field(
        100, ge=2, description="Samples of each document's posterior; as many again are made before, and left out."
    )
    mixed_below: float = Field(
        0.9, gt=0, lt=1, description="A document whose largest topic has a smaller share of it is a mix of languages."
    )
    neighbours: int = Field(3, ge=1, description="k of k-nearest-neighbour precision and recall.")
    most_vectors: int = Field(
        2500,
        ge=10,
        description="Documents of a side for the distances between proportions, at random where there are more: memory"
        " and time grow with their square.",
    )
    permutations: int = Field(1000, ge=99, description="Permutations behind the p-values of the comparison.")
