"""Pretrained models by name: the registry `resources/models.yaml`, a Hugging Face name, or a local folder."""

import hashlib
import importlib.util
import os
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Field, ValidationInfo

from macroscope.errors import MacroscopeError, UsageError
from macroscope.files import RESOURCES
from macroscope.options import make_absolute

# Requests of a job whose model has no such entry in the registry.
_THREADS, _MEGABYTES = 8, 16000

Precision = Annotated[
    Literal["float32", "bfloat16"],
    Field(
        description="Precision of the encoders' matrix products. bfloat16: about three times as fast on processors that"
        " support it (AMX; GPUs from 2020 on), slower on others; embeddings then differ in their third digit."
    ),
]


def _make_absolute(name: str, info: ValidationInfo) -> str:
    return name if name in _registry() else make_absolute(name, info)


ModelName = Annotated[str, AfterValidator(_make_absolute)]
"""Name of a pretrained model in the registry or on the hub, or its folder."""
_ON_HUB = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


@dataclass(frozen=True)
class ModelSource:
    """Source of a model.

    Attributes
    ----------
    name
        Name in the config.
    location
        Folder or hub name for `from_pretrained`; None for a model that is trained from scratch.
    gguf
        Name of the GGUF file in that folder, which then has the weights and the tokenizer.
    revision
        Revision of the hub repository, if the registry names one.
    configuration
        `model_type` and sizes of a model that is trained from scratch, with the size of its tokenizer as `vocabulary`,
        and `tokens: words` if that is a tokenizer of words.
    """

    name: str
    location: str | None
    revision: str | None = None
    gguf: str | None = None
    configuration: dict[str, Any] = field(default_factory=dict)


def resolve(name: str, weights: Path | None = None) -> ModelSource:
    """Find a model: first in the registry, then as a local folder or GGUF file, then on the hub.

    Parameters
    ----------
    weights
        Retrieved weights, of a model that the registry has as `retrieved_weights`.

    Raises
    ------
    MacroscopeError
        If the weights in an installed package do not have the registered checksum, or those to retrieve are missing.
    """
    entry = _registry().get(name)
    if entry is None:
        return _find_local(name) or ModelSource(name, name)
    if "configuration" in entry:
        return ModelSource(name, None, configuration=entry["configuration"])
    if "gguf" in entry:
        return _in_gguf(name, _require_weights(name, weights))
    folder = _find_packaged(entry) if "package" in entry else None
    if folder is not None:
        return ModelSource(name, str(folder))
    return ModelSource(name, entry["hub"], entry.get("revision"))


def require_encoder(name: str) -> None:
    """Check that a name can be that of an encoder: it has weights here, or may have some on the hub.

    Raises
    ------
    UsageError
        If it cannot.
    """
    if name in _registry():
        if "hub" not in _registry()[name]:
            raise UsageError(f"the encoder {name!r} has no pretrained weights; give one that has them, such as minilm")
    elif _find_local(name) is None and (os.path.exists(name) or not _ON_HUB.fullmatch(name)):
        raise UsageError(
            f"the encoder {name!r}: neither a folder nor a GGUF file; give one, a name in resources/models.yaml, or one"
            " on Hugging Face"
        )


def retrieved_weights(name: str) -> str | None:
    """Return the name of the file that has a model's weights, of the source of its name in resources/sources.yaml.

    None for a model that is not retrieved so.
    """
    file: str | None = _registry().get(name, {}).get("gguf")
    return file


def has_weights(name: str) -> bool:
    """Return whether a model has pretrained weights; one with a configuration is trained from scratch."""
    return "configuration" not in _registry().get(name, {})


def gpus_of(name: str) -> int:
    """Return the number of GPUs that a job with this model requests: by default 1, or 0 if it is from scratch."""
    entry = _registry().get(name, {})
    return int(entry.get("gpu", 0 if "configuration" in entry else 1))


def languages_of(name: str) -> frozenset[str]:
    """Return the languages that an encoder was trained on, as codes; empty if the registry does not say."""
    return frozenset(_registry().get(name, {}).get("languages", ()))


def threads_of(name: str) -> int:
    return int(_registry().get(name, {}).get("threads", _THREADS))


def megabytes_of(name: str) -> int:
    return int(_registry().get(name, {}).get("mem_mb", _MEGABYTES))


def compute_in(precision: Precision, device: str) -> AbstractContextManager[object]:
    """Multiply matrices in a precision within this context; sums, norms and softmax stay in float32.

    Parameters
    ----------
    device
        "cpu" or "cuda".
    """
    import torch  # imported late: options are also read by processes that compute nothing

    return torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16")


def load_error(source: ModelSource, error: Exception, what: str = "model") -> MacroscopeError:
    """Turn an exception of `from_pretrained` into one sentence that says that `what` cannot be loaded."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if reason.startswith("Weights only load failed"):
        # The library's own message advises to run the code in it.
        reason = "its weights are a Python pickle of more than tensors, which is not opened, since that runs code"
    return MacroscopeError(
        f"{what} {source.name!r}: cannot be loaded from {source.location!r} ({reason}); give a folder with its files,"
        " a name in resources/models.yaml, or a Hugging Face name that this machine can reach or has in its cache"
    )


@cache
def _registry() -> dict[str, dict[str, Any]]:
    return yaml.safe_load((RESOURCES / "models.yaml").read_text(encoding="utf-8"))


def _find_local(name: str) -> ModelSource | None:
    """Find a model in a folder or a GGUF file of this machine."""
    path = Path(name).resolve()
    if path.suffix == ".gguf" and path.is_file():
        return _in_gguf(name, path)
    return ModelSource(name, str(path)) if path.is_dir() else None


def _in_gguf(name: str, path: Path) -> ModelSource:
    return ModelSource(name, str(path.parent), gguf=path.name)


def _require_weights(name: str, weights: Path | None) -> Path:
    if weights is None:
        raise MacroscopeError(
            f"model {name!r}: its weights are retrieved for systems of kind language_model alone; give another model,"
            " such as minilm for embeddings"
        )
    return weights


def _find_packaged(entry: dict[str, Any]) -> Path | None:
    """Return the folder of the weights in an installed package, or None; a changed file is an error."""
    spec = importlib.util.find_spec(entry["package"])
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / entry["folder"]
    for file, expected in entry["sha256"].items():
        with (folder / file).open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
        if actual != expected:
            raise MacroscopeError(
                f"{folder / file}: its sha256 is {actual}, not {expected}; re-install the package {entry['package']}"
            )
    return folder
