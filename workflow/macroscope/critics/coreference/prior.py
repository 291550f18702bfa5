"""Prior: n-gram models of the chains of the train split."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from macroscope.critics.coreference.latents import LATENTS, build_vocabulary, read_chains
from macroscope.critics.coreference.ngrams import ChainModel
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.windows import Packing, max_surfaces
from macroscope.critics.latents import stream_latents
from macroscope.files import atomic, read_json, write_json


@dataclass(frozen=True)
class ChainPrior:
    """Chain models: the default one and that of the released code.

    Attributes
    ----------
    surfaces
        Vocabulary of the models, the reserved surfaces first.
    default, published
        Models with interpolated Kneser-Ney smoothing, and with the smoothing of the released code.
    convention
        Model behind the scores: "default" or "published".
    """

    surfaces: list[str]
    default: ChainModel
    published: ChainModel
    convention: str

    @property
    def model(self) -> ChainModel:
        """Return the model behind the scores."""
        return self.published if self.convention == "published" else self.default

    @property
    def index(self) -> dict[str, int]:
        """Return a mapping from surfaces to their indices."""
        return {surface: number for number, surface in enumerate(self.surfaces)}

    @classmethod
    def load(cls, folder: Path) -> "ChainPrior":
        """Read a prior that `fit_prior` wrote."""
        about = read_json(folder / "prior.json")
        default, published = (ChainModel.load(folder / f"{name}.npz") for name in ("default", "published"))
        return cls(about["surfaces"], default, published, about["convention"])


def fit_prior(inference: Path, *, options: CoreferenceOptions, output: Path) -> None:
    """Fit the models; write default.npz, published.npz, prior.json (surfaces, convention, symbols, discounts)."""
    chains_file = inference / "chains.parquet"
    counts: Counter[str] = Counter()
    for table in stream_latents(chains_file, LATENTS, ["surfaces"]):
        for surfaces in table["surfaces"].to_pylist():
            counts.update(surfaces)
    surfaces = build_vocabulary(counts, max_surfaces(options.order))
    chains = read_chains(chains_file, {surface: number for number, surface in enumerate(surfaces)})
    packing = Packing(options.order, len(surfaces))
    models = {
        "default": ChainModel.fit(chains, packing),
        "published": ChainModel.fit(chains, packing, published=True),
    }
    with atomic(output) as folder:
        folder.mkdir()
        for name, model in models.items():
            model.save(folder / f"{name}.npz")
        about = {
            "surfaces": surfaces,
            "convention": options.convention,
            "symbols": len(chains.surfaces),
            "unknown_surfaces": len(counts) - len(set(counts) & set(surfaces)),
            "discounts": {name: [table.discount for table in model.tables] for name, model in models.items()},
        }
        write_json(folder / "prior.json", about)
