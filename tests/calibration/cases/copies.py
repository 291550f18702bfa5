"""Shares of n-grams that stand in searched texts: rare and clustered copies, unequal lengths and sizes.

Texts are sampled from pools that were searched once, whose numbers are the truth.
"""

from functools import cache, partial

import numpy as np
import pandas as pd

from macroscope.copies.comparison import EXCESS, MEASURES, compare_copies, sample_measure
from macroscope.copies.search import Search
from macroscope.documents import Document, Section
from macroscope.options import Resampling

from ..setting import Case, Run, Setting

SEARCHED, PROMPTS, MOST_TEXTS = 100, 1500, 3
BOILERPLATE, PASSAGE, LICENSED = 0.15, 30, 0.125
"""Share of texts with a passage that others have, too, and its words; share of those with a licence, if any."""
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
RESAMPLING = {"resamples": 200, "permutations": 199}


def _text(rng: np.random.Generator, stock: list[list[str]], share: float) -> list[str]:
    """Return a text of Zipf's words, of very unequal length, which may have a passage of the stock."""
    size = int(rng.lognormal(4.5, 0.6)) + 20
    words = [f"w{n:x}".translate(_LETTERS) for n in np.minimum(rng.zipf(1.3, size), 50_000)]
    if rng.random() < share:
        words += stock[rng.integers(len(stock))]
    return words


@cache
def pool(copies: float, has_licence: bool) -> pd.DataFrame:
    """Return the numbers of texts of `PROMPTS` prompts, of which a share has a passage of a searched text."""
    rng = np.random.default_rng(0)
    stock = [_text(rng, [], 0)[:PASSAGE] for _ in range(20)]
    searched = [_text(rng, stock, BOILERPLATE) for _ in range(SEARCHED)]
    licences = [_text(rng, [], 0)[:PASSAGE]] if has_licence else []
    for text in searched[: int(LICENSED * SEARCHED)] if has_licence else ():
        text += licences[0]
    documents = []
    for prompt in range(PROMPTS):
        passages = stock if rng.random() >= copies else [searched[rng.integers(SEARCHED)][: 2 * PASSAGE]]
        share = BOILERPLATE if passages is stock else 1.0
        has_passage = rng.random() < share  # texts of a prompt are alike
        for number in range(1, rng.integers(1, MOST_TEXTS + 1) + 1):
            suffix = "" if number == 1 else f" (sample {number})"
            text = _text(rng, passages, float(has_passage))
            text += licences[0] if has_licence and rng.random() < LICENSED else []
            documents.append(Document(f"{prompt}{suffix}", "test", None, (Section(None, " ".join(text)),)))
    search = Search(documents)
    search.read(Document(f"s{n}", "test", None, (Section(None, " ".join(t)),)) for n, t in enumerate(searched))
    prompts = [int(document.id.partition(" ")[0]) for document in documents]
    return search.table().assign(opening="", prompt=prompts)


def compare(
    rng: np.random.Generator, n: int, m: int, copies: float = 0.0, clustered: bool = False, has_licence: bool = False
) -> Run:
    """Compare texts on n and m prompts: all texts of each prompt, or the first."""
    samples, pools = [], (pool(0.0, has_licence), pool(copies, has_licence))
    if not clustered:
        pools = tuple(each.drop_duplicates("prompt") for each in pools)
    prompts = rng.permutation(PROMPTS)
    for table, chosen in zip(pools, (prompts[:n], prompts[n : n + m]), strict=True):
        samples.append(table[table["prompt"].isin(chosen)])
    samples[1] = samples[1].assign(id="c" + samples[1]["id"])
    truth: dict[str, float | str] = {}
    for name in MEASURES:
        real, value = (np.sum(y) / np.sum(x) for y, x in (sample_measure(each, name) for each in pools))
        truth[name + EXCESS] = value - real
    return compare_copies(*samples, Resampling(**RESAMPLING, seed=int(rng.integers(1 << 30)))), truth


CASE = Case(
    "macroscope.copies.comparison:STATISTICS",
    (
        Setting("100 and 100 texts", partial(compare, n=100, m=100), null=("*" + EXCESS,)),
        Setting("200 and 50 texts", partial(compare, n=200, m=50), null=("*" + EXCESS,)),
        Setting(
            "60 and 60 prompts, up to 3 texts",
            partial(compare, n=60, m=60, clustered=True),
            null=("*" + EXCESS,),
        ),
        Setting(
            "100 and 100 texts, of all an eighth with a licence",
            partial(compare, n=100, m=100, has_licence=True),
            null=("*" + EXCESS,),
        ),
        Setting(
            "100 and 100 texts, of all an eighth with a licence, a tenth with a copied passage",
            partial(compare, n=100, m=100, copies=0.1, has_licence=True),
            power={"copied_5_excess": 0.5},
        ),
        Setting(
            "100 and 100 texts, a tenth with a copied passage",
            partial(compare, n=100, m=100, copies=0.1),
            power={"copied_5_excess": 0.5},
        ),
        Setting(
            "200 and 200 texts, a quarter with a copied passage",
            partial(compare, n=200, m=200, copies=0.25),
            power={"*" + EXCESS: 0.9},
        ),
    ),
    conservative={"longest_excess": "most texts have no span, and a few have all that differs"},
    version=2,
)
