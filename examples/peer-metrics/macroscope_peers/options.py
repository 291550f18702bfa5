"""Options of the peers whose modules import much: the config is checked without them."""

from pydantic import Field

from macroscope.critics.clusters.options import EmbeddingOptions
from macroscope.options import Options


class EmbeddingPeerOptions(EmbeddingOptions):
    """Options of a peer that compares embeddings: the encoder, and the permutations of the test."""

    max_tokens: int = Field(256, ge=2, description="Length at which texts are cut, in tokens.")
    permutations: int = Field(999, ge=19, description="Number of permutations of a p-value.")


class PerplexityOptions(Options):
    """Options of the perplexity."""

    model: str = Field("gpt2", min_length=1, description="Causal language model.")
    max_tokens: int = Field(512, ge=2, description="Length at which texts are cut, in tokens.")
