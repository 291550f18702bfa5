"""Effect of the resolver's errors on latent PPL: gold chains compared with resolved chains."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd
from tests.benchmarks.coreference.gold import GoldDocument, Span, is_held_out

from macroscope.critics.coreference.chains import Chain, build_chain
from macroscope.critics.coreference.latents import build_vocabulary, encode_chains
from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.prior import ChainModel
from macroscope.critics.coreference.rules.lexicon import FIRST_NAME, PREPOSITION, TITLE, load_lexicon
from macroscope.critics.coreference.rules.pronouns import Choose
from macroscope.critics.coreference.rules.resolve import resolve_tokenized
from macroscope.critics.coreference.windows import STOP, Packing, max_surfaces

ORDER = 5
_ENDS = frozenset({",", "who", "whom", "which", "that", "(", "--", "'s"})
"""Words that end the search for the head of a mention, besides prepositions."""


def compute_chain_perplexities(documents: Sequence[GoldDocument], choose: Choose) -> dict[str, float]:
    """Compute the latent PPL of one half of the documents under a model of the other, by gold and by resolved chains.

    Sentences are those of the annotation in both cases.

    Returns
    -------
    dict
        "a symbol, gold chains", "a symbol, resolved chains", "a mention, gold chains", "a mention, resolved chains";
        NaN if one half has no documents.
    """
    perplexities = {
        "gold chains": _perplexities(documents, build_gold_chain),
        "resolved chains": _perplexities(
            documents, lambda document: build_chain(resolve_tokenized("", document.words, choose), join_words(document))
        ),
    }
    units = ("a symbol", "a mention")
    return {f"{unit}, {name}": ppl[place] for place, unit in enumerate(units) for name, ppl in perplexities.items()}


def build_gold_chain(document: GoldDocument) -> Chain:
    """Build the chain of a gold document from its gold clusters."""
    return build_chain(convert_gold_mentions(document), join_words(document))


def convert_gold_mentions(document: GoldDocument) -> Resolved:
    """Convert gold clusters into the format of resolvers; the head is the last word before any postmodifier."""
    words, words_lexicon = document.words, load_lexicon()
    mentions = []
    for number, cluster in enumerate(document.clusters):
        for span in cluster:
            head = _find_head(document, span)
            lower = words.words[head].lower()
            pronoun = span[1] - span[0] == 1 and lower in words_lexicon.pronouns
            flags = [words_lexicon.flags.get(word.lower(), 0) for word in words.words[span[0] : head + 1]]
            named = any(flag & (FIRST_NAME | TITLE) for flag in flags)
            places = (words.starts[span[0]], words.ends[span[1] - 1], words.starts[head], words.ends[head])
            mentions.append(Mention(*places, number, pronoun, pronoun or named))
    starts = tuple(words.starts[start] for start in words.sentence_starts)
    return Resolved(document.name, starts, tuple(mentions))


def join_words(document: GoldDocument) -> str:
    """Join the words of a gold document by spaces."""
    return " ".join(document.words.words)


def _find_head(document: GoldDocument, span: Span) -> int:
    words, words_lexicon = document.words.words, load_lexicon()
    for at in range(span[0] + 1, span[1]):
        if words[at].lower() in _ENDS or words_lexicon.flags.get(words[at].lower(), 0) & PREPOSITION:
            return at - 1
    return span[1] - 1


def _perplexities(documents: Sequence[GoldDocument], build: Callable[[GoldDocument], Chain]) -> tuple[float, float]:
    """Compute latent PPL per symbol and per mention of the held-out half, under the model of the other half."""
    halves = [_table([build(d) for d in documents if is_held_out(d.name) == held_out]) for held_out in (False, True)]
    if not all(len(half) for half in halves):
        return math.nan, math.nan
    surfaces = build_vocabulary(
        Counter(s for surfaces_of_chain in halves[0]["surfaces"] for s in surfaces_of_chain), max_surfaces(ORDER)
    )
    index = {surface: number for number, surface in enumerate(surfaces)}
    model = ChainModel.fit(encode_chains(halves[0], index), Packing(ORDER, len(surfaces)))
    chains = encode_chains(halves[1], index)
    costs = -model.log_probabilities(chains)
    return math.exp(float(costs.mean())), math.exp(float(costs[chains.surfaces != STOP].mean()))


def _table(chains: Sequence[Chain]) -> pd.DataFrame:
    return pd.DataFrame({"surfaces": [c.surfaces for c in chains], "entities": [c.entities for c in chains]})
