"""Files that are whole or absent: atomic writing, and small readers of JSON that name the file in their errors."""

import ctypes
import errno
import glob
import json
import math
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import psutil

from macroscope.errors import MacroscopeError, no_such_file


def find_repository(package: Path) -> Path:
    """Return the folder with the Snakefile, the rules, the resources and the rest of the workflow.

    It is the checkout of a package, or a copy with the same layout inside of an installed package.
    """
    copy = package / "repository"
    return copy if copy.is_dir() else package.parents[1]


PACKAGE = Path(__file__).resolve().parent
REPOSITORY = find_repository(PACKAGE)
IS_CHECKOUT = PACKAGE.parent == REPOSITORY / "workflow"
SNAKEFILE = REPOSITORY / "Snakefile"
SNAKEMAKE_PROFILE = REPOSITORY / "profiles" / "default"
RESOURCES = REPOSITORY / "resources"
CAPTIONS = REPOSITORY / "workflow" / "report"
SCRIPTS = REPOSITORY / "workflow" / "scripts"

SAVE_AS_UTF8 = (
    "save it as UTF-8, for example with `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` if it is of Western Europe"
    " (WINDOWS-1254: Turkish, 1256: Arabic, 1251: Cyrillic, GB18030: Chinese, SHIFT_JIS: Japanese)"
)
"""Advice about a file in another encoding."""

T = TypeVar("T")
_HERE, _RENAME_EXCHANGE = -100, 2
"""Arguments of `renameat2`: paths are relative to the working directory; the two change places (linux/fs.h)."""
_LONGEST_NAME = 160
"""Bytes of a file's name that its scratch folder's name may hold; file systems allow 255 in all."""


def user_cache() -> Path:
    """Return the folder of the user's caches."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of `path` (a file or a folder), which replaces `path` on success.

    A job that is killed or fails leaves `path` as it was, so that no later run trusts half a file. A folder is replaced
    only by a folder: a file in its place means that a user named the folder by mistake. A link stays, and its target is
    replaced. If the file system cannot exchange folders (NFS), a kill between two steps leaves the folder absent.

    Raises
    ------
    MacroscopeError
        If `path` is a device, a pipe or a socket.
    """
    require_regular(path)
    path = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    with scratch_folder(path) as scratch:
        temporary = scratch / path.name
        yield temporary
        if not temporary.exists():
            raise FileNotFoundError(f"nothing was written for {path}")
        if path.is_dir():
            if not temporary.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if _exchange(path, temporary):
                return
            # Moved away as a whole: if it were removed in place, a kill would leave half of it.
            os.replace(path, tempfile.mkdtemp(dir=scratch))
        os.replace(temporary, path)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two paths in one step; return False if the system or the file system cannot (it is Linux's)."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    exchanged = rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _RENAME_EXCHANGE)
    return bool(exchanged == 0)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield a folder beside `path` for intermediate files; it is removed at the end.

    Folders that killed processes left for the same path are removed first.
    """
    with errors_about(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    name = path.name
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = blake2b(os.fsencode(name), digest_size=16).hexdigest()
    prefix = f".{name}.scratch-"
    for left in path.parent.glob(f"{glob.escape(prefix)}*"):
        owner = left.name.removeprefix(prefix).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    with errors_about(path):
        scratch = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=path.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def errors_about(path: Path) -> Iterator[None]:
    """Let errors of the system name `path`, not a folder above or a temporary file beside it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def require_regular(path: Path | str) -> None:
    """Check that a path is a file or a folder, or absent: reading from a pipe or a device may never end.

    Raises
    ------
    MacroscopeError
        If it is a pipe, a device or a socket, or leads through a link to itself.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise MacroscopeError(f"{path}: a link that leads to itself; repair it, or give another path") from None
        return  # absent, or no path at all
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        what = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise MacroscopeError(f"{path}: {what}, not a file; give the path of a file or folder")


def require_folder(path: Path) -> None:
    """Check that a path is a folder, or absent.

    Raises
    ------
    MacroscopeError
        If it is a file, or a link to nothing or to itself.
    """
    if os.path.lexists(path) and not os.path.isdir(path):
        what = "a link that leads to no folder" if path.is_symlink() else "not a folder"
        raise MacroscopeError(f"{path}: {what}, and results are to be written into it; rename or remove it")


def require_replaceable(path: Path, mark: str, anywhere: bool = False) -> None:
    """Check that an output is absent, empty, or a file of this program, which begins with `mark`, or holds it anywhere.

    Raises
    ------
    MacroscopeError
        If it is another file, a folder, or no file.
    """
    require_regular(path)
    if path.is_file():
        with path.open("rb") as stream:
            content = stream.read(-1 if anywhere else len(mark.encode()))
        if not content or mark.encode() in content:
            return
    if path.exists():
        raise MacroscopeError(f"{path}: exists, and is not an earlier output of this command; give another path")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, keys in the order given, atomically.

    Infinities and NaN, which JSON does not have, become null.
    """
    write_text(path, to_json(value) + "\n")


def to_json(value: Any) -> str:
    """Return `value` as `write_json` writes it."""
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def read_json(path: Path) -> Any:
    """Read a JSON file; a malformed one is an error that names the file and the line."""
    require_regular(path)
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise no_such_file(path) from None
    return parse_json(content, str(path), "")


def parse_json(content: bytes, where: str, advice: str) -> Any:
    """Parse JSON.

    Parameters
    ----------
    where
        Place of the content, for the message.
    advice
        Advice for the message: "; give one JSON object a line".

    Raises
    ------
    MacroscopeError
        If it is not UTF-8 or not JSON, is nested too deep, has a number of thousands of digits, or repeats a key.
    """
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_reject_repeated_keys)
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{where} is not valid UTF-8 (byte {error.start + 1:,}); {SAVE_AS_UTF8}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise MacroscopeError(f"{where} is not valid JSON ({error.msg} at {place}){advice}") from None
    except RecursionError:
        raise MacroscopeError(f"{where} is not usable JSON (nested too deep){advice}") from None
    except ValueError as error:
        raise MacroscopeError(f"{where} is not usable JSON ({str(error).partition(';')[0]}){advice}") from None


def parse_json_values(content: bytes, where: str) -> list[Any]:
    """Parse JSON values that follow each other, with or without lines between them.

    Raises
    ------
    MacroscopeError
        As in `parse_json`.
    """
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return [parse_json(content, where, "")]
    decoder, place = json.JSONDecoder(object_pairs_hook=_reject_repeated_keys), 0
    values: list[Any] = []
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            parse_json(text[place:].encode("utf-8", "surrogatepass") if values else content, where, "")
            raise
        values.append(value)
        place = next((at for at in range(place, len(text)) if not text[at].isspace()), len(text))
    return values


def parse_as(kind: type[T], content: bytes, where: str) -> T:
    """Parse JSON that this program wrote, as a model or a dataclass.

    Raises
    ------
    MacroscopeError
        If it is not JSON, or a field is missing or of another type; `where` names its place in the message.
    """
    from pydantic import ValidationError

    try:
        return cast(T, _adapter(cast(Any, kind)).validate_json(content, strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in [".".join(map(str, first["loc"]))] if part)
        raise MacroscopeError(f"{where}: not as macroscope writes it ({place}{first['msg']}); make it again") from None


def dump_as(value: Any) -> Any:
    """Return a dataclass as values of JSON, which `parse_as` reads."""
    return _adapter(cast(Any, type(value))).dump_python(value, mode="json")


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _reject_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return mapping
