"""documents -> latents of the critic `topics`: posteriors over topic strengths."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from macroscope.critics.latents import batches_with_progress, key_columns, set_width, vector_column, write_latents
from macroscope.critics.topic_shares import read_vocabulary
from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.latents import LATENTS
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import TOKENIZERS, Integers, Tokenize, WordCounts
from macroscope.documents import Collection, Document
from macroscope.natural_language.sentences import split_sentences
from macroscope.progress import Progress

# ---- patchiness ------------------------------------------------------------------------------------------------------
# Patchiness of the topics of a document: whether single sentences have topics of their own.
#
# T(x) sees how much of each topic a document has, and not where. Half of one document beside half of another one has an
# ordinary mixture of topics. But its sentences are about one half of them or the other: words of one sentence share
# their topic more often than words of different sentences do. Ecologists call the ratio of the two shares the
# patchiness (Lloyd 1967, "Mean crowding"; there of animals in quadrats, here of topics in sentences).

Array = NDArray[np.float64]
_ROUNDING = 1e-12
"""Shares of pairs below it may be 0 but for rounding."""


def measure_patchiness(sentences: Sequence[Integers], shares: Array, topics: Array) -> float:
    """Compute the patchiness of the topics of a document.

    Parameters
    ----------
    sentences
        Indices of the words of the vocabulary in each sentence.
    shares
        Shares of the topics in the document (topics).
    topics
        Distributions of words (topics x vocabulary).

    Returns
    -------
    float
        log(P(two words of one sentence have the same topic) / P(two words of different sentences have)), over all pairs
        of words, each of whose topics is from its distribution given the word and `shares`. 0: sentences do not
        differ in their topics. NaN without pairs of both kinds, or if those of a kind never agree.
    """
    lengths = np.array([len(words) for words in sentences if len(words)], dtype=float)
    pairs_within, pairs = float(lengths @ (lengths - 1)), float(lengths.sum() * (lengths.sum() - 1))
    if not 0 < pairs_within < pairs:
        return float("nan")
    joint = shares[:, None] * topics[:, np.concatenate([words for words in sentences if len(words)])]
    of_words = joint / joint.sum(axis=0)
    of_sentences = np.add.reduceat(of_words, np.cumsum([0, *lengths[:-1]]).astype(np.int64), axis=1)
    alone = float((of_words**2).sum())  # each word beside itself, which is not a pair
    within = float((of_sentences**2).sum()) - alone
    across = float((of_words.sum(axis=1) ** 2).sum()) - alone - within
    share_within, share_across = within / pairs_within, across / (pairs - pairs_within)
    return float(np.log(share_within / share_across)) if min(share_within, share_across) > _ROUNDING else float("nan")


# ---- projection ------------------------------------------------------------------------------------------------------

CONVERGENCE = {"definition": Convergence(1e-8, 500), "published": Convergence(1e-6, 500, by_coordinates=True)}
"""Convention -> search of a document's posterior (published: ctm-c's, whose settings have no limit)."""


def project(
    texts: Collection,
    inference: Path,
    *,
    options: TopicsOptions,
    language: str = "en",
    output: Path,
    signature: str = "",
) -> None:
    """Infer every document's topic strengths, and their patchiness; see `macroscope.critics.topics.latents`.

    Parameters
    ----------
    inference
        Folder of the topic model.
    language
        Language of the texts, for their sentences.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    index = read_vocabulary(inference)
    tokenize = TOKENIZERS[options.convention]
    batches = batches_with_progress(texts, Progress("infer topics", len(texts), "documents"))
    convergence = CONVERGENCE[options.convention]
    tables = (_infer_latents(batch, index, tokenize, language, model, convergence) for batch in batches)
    write_latents(output, set_width(LATENTS, model.dimensions), tables, signature)


def _infer_latents(
    documents: Sequence[Document],
    index: dict[str, int],
    tokenize: Tokenize,
    language: str,
    model: CorrelatedTopicModel,
    convergence: Convergence,
) -> pa.Table:
    """Infer the latents of a batch of documents, in their order."""
    sentences = [_index_sentences(document.text, index, tokenize, language) for document in documents]
    counts = WordCounts.from_documents(np.concatenate([*words, np.empty(0, np.int64)]) for words in sentences)
    shape = (len(documents), model.dimensions)
    mean, variance = np.full(shape, np.nan), np.full(shape, np.nan)
    bound, converged = np.full(len(documents), np.nan), np.zeros(len(documents), dtype=bool)
    nonempty = np.flatnonzero(counts.totals)
    for indices, posterior in infer_all(counts.with_words(), model, convergence):
        rows = nonempty[indices]
        mean[rows], variance[rows] = posterior.mean.numpy(), posterior.variance.numpy()
        bound[rows], converged[rows] = posterior.bound.numpy(), posterior.converged.numpy()
    shares, topics = torch.softmax(model.strengths(torch.from_numpy(mean)), dim=1).numpy(), model.topics.numpy()
    patchiness = [
        measure_patchiness(words, of_document, topics) for words, of_document in zip(sentences, shares, strict=True)
    ]
    numbers = [pa.array(counts.totals), vector_column(mean), vector_column(variance)]
    columns = [*key_columns(documents), *numbers, pa.array(bound, from_pandas=True), pa.array(converged)]
    columns.append(pa.array(patchiness, type=pa.float64(), from_pandas=True))
    return pa.table(columns, schema=set_width(LATENTS, model.dimensions))


def _index_sentences(text: str, index: dict[str, int], tokenize: Tokenize, language: str) -> list[NDArray[np.int64]]:
    return [
        np.array([index[word] for word in tokenize(sentence) if word in index], dtype=np.int64)
        for sentence in split_sentences(text, language)
    ]
