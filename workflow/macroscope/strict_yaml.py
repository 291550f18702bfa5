"""Strict reading of YAML, in which an ambiguous value is an error; messages about files that do not fit their model."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from macroscope.errors import MacroscopeError, nearest, no_such_file
from macroscope.files import require_regular


def _key_of(node: yaml.Node) -> tuple[str, str] | int:
    return (node.tag, node.value) if isinstance(node, yaml.ScalarNode) else id(node)


class _Loader(yaml.SafeLoader):
    """The safe loader, which also rejects repeated keys in a mapping; merges (`<<`) may be overridden.

    It rejects plain numbers that YAML 1.1, which this library and Snakemake read, and YAML 1.2 take for different
    values, and merges that would fill the memory.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._merged = 0  # keys of all merges, repeated ones too: Snakemake, which reads the file after us, keeps them
        self._sizes: dict[int, int] = {}  # of each mapping with merges, counted in the same way

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Compose a mapping, and check its keys before merges are resolved."""
        node = super().compose_mapping_node(anchor)
        first: dict[tuple[str, str], yaml.ScalarNode] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            before = first.setdefault((key.tag, key.value), key)
            if before is not key:
                first_line, line = before.start_mark.line + 1, key.start_mark.line + 1
                raise _Rejected(
                    f"the key '{key.value}' stands twice, in line {first_line} and in line {line}; keep one of them"
                )
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve the merges of a mapping, whose mappings may have merges themselves.

        A mapping's own keys override merged ones, and of a list of mappings the first overrides the others, as YAML's
        specification says; in PyYAML 6.0.4 the last one does.
        """
        merges = [value for key, value in node.value if key.tag == _MERGE]
        mappings = [
            each for value in merges for each in (value.value if isinstance(value, yaml.SequenceNode) else [value])
        ]
        if mappings and all(isinstance(mapping, yaml.MappingNode) for mapping in mappings):
            own_pairs = [pair for pair in node.value if pair[0].tag != _MERGE]
            for mapping in mappings:
                self.flatten_mapping(mapping)
            merged = sum(self._sizes.get(id(mapping), len(mapping.value)) for mapping in mappings)
            self._sizes[id(node)] = len(own_pairs) + merged
            self._merged += merged
            if self._merged > _MOST_MERGED:
                line = merges[0].start_mark.line + 1
                raise _Rejected(f"line {line}: merges (<<) of more than {_MOST_MERGED:,} keys; write less")
            pairs = [*(pair for mapping in reversed(mappings) for pair in mapping.value), *own_pairs]
            node.value = list({_key_of(key): (key, value) for key, value in pairs}.values())
        super().flatten_mapping(node)

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """Construct a number, unless it is another one in another version of YAML."""
        if _AMBIGUOUS.match(node.value):
            raise _Rejected(
                f"line {node.start_mark.line + 1}: {node.value!r} is {_number(self, node)} in one version of YAML, and"
                " not in another; write the number in plain digits, or the text in quotation marks"
            )
        return _number(self, node)


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int | float:
    is_int = node.tag.endswith(":int")
    return loader.construct_yaml_int(node) if is_int else loader.construct_yaml_float(node)


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_number)

_AMBIGUOUS = re.compile(r"[-+]?(0[0-7_]+$|[0-9_]+:)")
"""Octal (010) and sexagesimal (1:30) numbers of YAML 1.1."""
_MERGE = "tag:yaml.org,2002:merge"  # of the key `<<`
_MOST_MERGED = 100_000


class _Rejected(Exception):
    """Valid YAML that is not accepted here."""


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises
    ------
    MacroscopeError
        If the file does not exist, is not YAML, repeats a key, has a number that versions of YAML read differently, or
        merges mappings into too many entries; with the lines.
    """
    require_regular(path)
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except IsADirectoryError:
        raise MacroscopeError(f"{path}: a folder; name a file of YAML in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MacroscopeError(f"{path}: not a file of UTF-8 text ({error})") from None
    except _Rejected as error:
        raise MacroscopeError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: 2024-13-45 is a date for YAML, not for Python
        reason = " ".join(str(error).partition("; use sys.")[0].split())  # Python's advice about long numbers
        raise MacroscopeError(f"{path}: not valid YAML ({reason})") from None
    except RecursionError:
        raise MacroscopeError(f"{path}: not usable YAML (nested too deep, or inside of itself)") from None


def describe_errors(error: ValidationError, path: Path, models: Mapping[int, type[BaseModel]]) -> str:
    """Describe what is wrong in a file: each place, the problem there, and for a misspelt key the nearest valid one.

    Parameters
    ----------
    error
        What validation raised.
    path
        The file.
    models
        Number of parts of a key's place -> the model that the key belongs to: 1 for keys of the file itself.
    """
    return "; ".join(f"{path}: {_describe(details, models)}" for details in error.errors())


def _describe(details: Any, models: Mapping[int, type[BaseModel]]) -> str:
    place = ".".join(str(part) for part in details["loc"])
    start = f"{place}: " if place else ""
    if details["type"] == "value_error":
        return f"{start}{details['ctx']['error']}"
    if details["type"] == "missing":
        return f"{start}this key is required"
    if details["type"] == "extra_forbidden":
        model = models[len(details["loc"])]
        return f"{start}there is no such key{nearest(str(details['loc'][-1]), model.model_fields)}"
    return f"{start}{details['msg'][0].lower()}{details['msg'][1:]}, not {details['input']!r}"
