"""Pretrained models by name: the registry `resources/models.yaml`, a Hugging Face name, or a local folder."""

import hashlib
import importlib.util
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES

# What a job asks for with a model of which the registry does not say it.
_THREADS, _MEGABYTES = 8, 16000


@dataclass(frozen=True)
class ModelSource:
    """Where a model comes from.

    Attributes
    ----------
    name
        As in the config.
    location
        What `from_pretrained` takes: a folder or a hub name; None for a model that is trained from scratch.
    revision
        Of the hub repository, where the registry names one.
    configuration
        `model_type` and sizes of a model that is trained from scratch; with `vocabulary`, the size of its
        tokenizer, and where that is one of words, `tokens: words`.
    """

    name: str
    location: str | None
    revision: str | None = None
    configuration: dict[str, Any] = field(default_factory=dict)


def resolve(name: str) -> ModelSource:
    """Find a model: registry first, then a local folder, then the hub.

    Raises
    ------
    MacroscopeError
        Where the weights that a package carries are not the known ones.
    """
    entry = _registry().get(name)
    if entry is None:
        return ModelSource(name, str(Path(name).resolve()) if Path(name).is_dir() else name)
    if "configuration" in entry:
        return ModelSource(name, None, configuration=entry["configuration"])
    folder = _packaged(entry) if "package" in entry else None
    if folder is not None:
        return ModelSource(name, str(folder))
    return ModelSource(name, entry["hub"], entry.get("revision"))


def has_weights(name: str) -> bool:
    """Whether a model has weights of its own; one with a configuration has random ones until it is trained."""
    return "configuration" not in _registry().get(name, {})


def gpus_of(name: str) -> int:
    """GPUs that a job with this model asks for; one from scratch asks for none unless the registry says so."""
    entry = _registry().get(name, {})
    return int(entry.get("gpu", 0 if "configuration" in entry else 1))


def threads_of(name: str) -> int:
    """Cores that a job with this model asks for where there is no GPU."""
    return int(_registry().get(name, {}).get("threads", _THREADS))


def megabytes_of(name: str) -> int:
    """Memory that a job with this model asks for."""
    return int(_registry().get(name, {}).get("mem_mb", _MEGABYTES))


def load_error(source: ModelSource, error: Exception, what: str = "model") -> MacroscopeError:
    """Turn an exception of `from_pretrained` into one sentence; `what` could not be loaded."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if reason.startswith("Weights only load failed"):
        # The library's own words advise to run what is in it.
        reason = "its weights are a Python pickle of more than tensors, which is not opened, since that runs code"
    return MacroscopeError(
        f"{what} {source.name!r}: cannot be loaded from {source.location!r} ({reason}); give a folder with its files,"
        " a name in resources/models.yaml, or a Hugging Face name that this machine can reach or has in its cache"
    )


@cache
def _registry() -> dict[str, dict[str, Any]]:
    return yaml.safe_load((RESOURCES / "models.yaml").read_text(encoding="utf-8"))


def _packaged(entry: dict[str, Any]) -> Path | None:
    """Folder of the weights that an installed package carries, or None; a changed file is an error."""
    spec = importlib.util.find_spec(entry["package"])
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / entry["folder"]
    for file, expected in entry["sha256"].items():
        with (folder / file).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise MacroscopeError(
                f"{folder / file}: its sha256 is {found}, not {expected}; re-install the package {entry['package']}"
            )
    return folder


Precision = Annotated[
    Literal["float32", "bfloat16"],
    Field(
        description="What encoders multiply matrices in. bfloat16: some three times faster on processors that have it"
        " (AMX; GPUs from 2020 on), slower on others; embeddings then differ in their third digit."
    ),
]


def computing_in(precision: Precision, device: str) -> AbstractContextManager[object]:
    """Multiply matrices in a precision; sums, norms and softmax stay in float32.

    Parameters
    ----------
    device
        "cpu" or "cuda".
    """
    import torch  # options are read where nothing computes

    return torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16")
