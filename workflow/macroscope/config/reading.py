"""YAML files as they were meant: a key that stands twice is an error, and not the last one's silent victory."""

from pathlib import Path
from typing import Any

import yaml

from macroscope.errors import MacroscopeError


class _Loader(yaml.SafeLoader):
    """The safe loader, which refuses mappings in which a key stands twice; merges (`<<`) may be overridden."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Compose a mapping, and look at its keys before merges are resolved."""
        node = super().compose_mapping_node(anchor)
        first: dict[tuple[str, str], yaml.ScalarNode] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            before = first.setdefault((key.tag, key.value), key)
            if before is not key:
                raise _Twice(key.value, before.start_mark.line + 1, key.start_mark.line + 1)
        return node


class _Twice(Exception):
    def __init__(self, key: str, first: int, second: int) -> None:
        super().__init__(f"the key '{key}' stands twice, in line {first} and in line {second}; keep one of them")


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises
    ------
    MacroscopeError
        Where there is none, where it is no YAML, or where a key stands twice; with the lines.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MacroscopeError(f"{path}: not a file of UTF-8 text ({error})") from None
    except _Twice as error:
        raise MacroscopeError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # the latter of a value: 2024-13-45 is a date, but not to Python
        raise MacroscopeError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    except RecursionError:
        raise MacroscopeError(f"{path}: not usable YAML (nested too deep, or inside of itself)") from None
