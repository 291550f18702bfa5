"""What the resolver's mistakes do to the numbers: latent PPL of gold chains beside that of the resolver's."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd

from macroscope.critics.coreference.chains import Chain, chain_of
from macroscope.critics.coreference.evaluation.gold import GoldDocument, Span, is_held_out
from macroscope.critics.coreference.latents import chains_in, vocabulary_of
from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.ngrams import ChainModel
from macroscope.critics.coreference.rules.lexicon import FIRST_NAME, PREPOSITION, TITLE, lexicon
from macroscope.critics.coreference.rules.pronouns import Choose
from macroscope.critics.coreference.rules.resolve import resolved_of
from macroscope.critics.coreference.windows import STOP, Packing, most_surfaces

ORDER = 5
_ENDS = frozenset({",", "who", "whom", "which", "that", "(", "--", "'s"})
"""Words before which the head of a mention stands, besides prepositions."""


def chain_perplexities(documents: Sequence[GoldDocument], choose: Choose) -> dict[str, float]:
    """Latent PPL of one half of the documents by gold and by resolved chains, each under a model of the other half's.

    Sentences are the annotators' in both.

    Returns
    -------
    dict
        "a symbol, gold chains", "a symbol, resolved chains", "a mention, gold chains", "a mention, resolved chains";
        NaN where there are documents in one half alone.
    """
    found = {
        "gold chains": _perplexities(documents, gold_chain),
        "resolved chains": _perplexities(
            documents, lambda document: chain_of(resolved_of("", document.words, choose), text_of(document))
        ),
    }
    units = ("a symbol", "a mention")
    return {f"{unit}, {name}": ppl[place] for place, unit in enumerate(units) for name, ppl in found.items()}


def gold_chain(document: GoldDocument) -> Chain:
    """Chain of a gold document."""
    return chain_of(gold_mentions(document), text_of(document))


def gold_mentions(document: GoldDocument) -> Resolved:
    """Gold clusters as a resolver would hand them over; heads are the last words before what depends on them."""
    words, known = document.words, lexicon()
    mentions = []
    for number, cluster in enumerate(document.clusters):
        for span in cluster:
            head = _head(document, span)
            lower = words.words[head].lower()
            pronoun = span[1] - span[0] == 1 and lower in known.pronouns
            flags = [known.flags.get(word.lower(), 0) for word in words.words[span[0] : head + 1]]
            named = any(flag & (FIRST_NAME | TITLE) for flag in flags)
            places = (words.starts[span[0]], words.ends[span[1] - 1], words.starts[head], words.ends[head])
            mentions.append(Mention(*places, number, pronoun, pronoun or named))
    starts = tuple(words.starts[start] for start in words.sentence_starts)
    return Resolved(document.name, starts, tuple(mentions))


def text_of(document: GoldDocument) -> str:
    """Words of a gold document, joined by spaces."""
    return " ".join(document.words.words)


def _head(document: GoldDocument, span: Span) -> int:
    words, known = document.words.words, lexicon()
    for at in range(span[0] + 1, span[1]):
        if words[at].lower() in _ENDS or known.flags.get(words[at].lower(), 0) & PREPOSITION:
            return at - 1
    return span[1] - 1


def _perplexities(documents: Sequence[GoldDocument], make: Callable[[GoldDocument], Chain]) -> tuple[float, float]:
    """Latent PPL a symbol and a mention, of the held-out half under the model of the other half."""
    halves = [_table([make(d) for d in documents if is_held_out(d.name) == held_out]) for held_out in (False, True)]
    if not all(len(half) for half in halves):
        return math.nan, math.nan
    surfaces = vocabulary_of(Counter(s for some in halves[0]["surfaces"] for s in some), most_surfaces(ORDER))
    index = {surface: number for number, surface in enumerate(surfaces)}
    model = ChainModel.fit(chains_in(halves[0], index), Packing(ORDER, len(surfaces)))
    chains = chains_in(halves[1], index)
    costs = -model.log_probabilities(chains)
    return math.exp(float(costs.mean())), math.exp(float(costs[chains.surfaces != STOP].mean()))


def _table(chains: Sequence[Chain]) -> pd.DataFrame:
    return pd.DataFrame({"surfaces": [c.surfaces for c in chains], "entities": [c.entities for c in chains]})
