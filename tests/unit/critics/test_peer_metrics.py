"""The example package of peer metrics: their values, and their rows in a matrix of sensitivity."""

import math
import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from macroscope import critics as room
from macroscope.critics.clusters.latents import LATENTS as EMBEDDINGS
from macroscope.critics.declaration import Critic
from macroscope.critics.latents import key_columns, read_numbers, set_width, vector_column, write_latents
from macroscope.critics.two_sample_test import measure_powers
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.files import REPOSITORY
from macroscope.options import CONTROL, Resampling
from macroscope.registry import discover
from macroscope.stages import load

EXAMPLE = REPOSITORY / "examples" / "peer-metrics"
POINTS = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"][room.GROUP]
OF_TEXTS = ["peer_length", "peer_compression", "peer_distinct", "peer_self_repetition", "peer_templates"]
OF_COLLECTIONS = ["peer_energy", "peer_mmd", "peer_mauve"]


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """Install the example for the time of a test, without building it."""
    info = tmp_path / "macroscope_peers-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: macroscope-peers\nVersion: 1\n")
    lines = [f"[{room.GROUP}]", *(f"{name} = {where}" for name, where in POINTS.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(room, "critics", lambda: discover("macroscope.critics", "CRITIC", Critic, room.GROUP))


def peer(name):
    return room.critics()[name]


def write_texts(path, texts):
    documents = [Document(f"d{number}", "test", None, (Section(None, text),)) for number, text in enumerate(texts)]
    write_documents(path, documents, Provenance("real"))
    return Collection(path)


def stories(number, seed):
    """Generate texts of unlike words and lengths."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{n}" for n in range(300)] + ["the", "of", "and"] * 60)
    return [" ".join(rng.choice(words, rng.integers(25, 45))) + "." for _ in range(number)]


def project(name, texts, output):
    """Run a peer's stage `project` with its default options; return its numbers."""
    critic = peer(name)
    stage = critic.data.stages["project"]
    given = {"language": "en"} if "language" in stage.inputs else {}
    options = {"options": critic.options()} if stage.options else {}
    stage.function(critic.package)(texts, **given, **options, signature=f"critic:{name}", output=output)
    return read_numbers(output)[1]


def embed(path, vectors):
    """Write embeddings as the encoder of a peer would."""
    documents = [Document(f"d{number}", "test", None, (Section(None, "x"),)) for number in range(len(vectors))]
    columns = [*key_columns(documents), vector_column(vectors.astype(np.float32))]
    columns += [pa.array([False] * len(vectors)), pa.array(["x"] * len(vectors))]
    schema = set_width(EMBEDDINGS, vectors.shape[1])
    write_latents(path, schema, [pa.table(columns, schema=schema)], "critic:peer")


def powers(name, folder, real, damaged):
    """Return the unpaired power of a peer against none and one damage, at 20 documents per side."""
    output = folder / "powers.csv"
    measure_powers(
        *([real, damaged], [], output),
        **{"critic": name, "systems": [CONTROL, "damaged"], "corpus": "real", "signature": "", "confidence": 0.95},
        **{"seed": 1, "damages": [("damaged", "truncate", 0.5)], "sizes": [20], "repeats": 20},
    )
    table = pd.read_csv(output)
    return table[table["design"] == "unpaired"].set_index("damage")["power"]


def test_every_entry_point_is_a_critic_that_runs_only_by_its_name():
    assert {*POINTS} == {name for name in room.critics() if name.startswith("peer_")}
    for name in POINTS:
        assert peer(name).data.criticize is None
        peer(name).options()


def test_values_of_texts_are_those_of_their_definitions(tmp_path):
    texts = write_texts(
        tmp_path / "texts.parquet", ["a b a b a c", "The cat of the house, it sat", "x" * 400, "a b a b z"]
    )
    assert project("peer_length", texts, tmp_path / "out")["words"].tolist() == [6, 7, 1, 5]
    distinct = project("peer_distinct", texts, tmp_path / "out")
    assert distinct["distinct_1"].tolist() == [3 / 6, 6 / 7, 1, 3 / 5]
    assert distinct["distinct_2"].iloc[0] == 3 / 5  # ab ba ac
    assert math.isnan(distinct["distinct_2"].iloc[2])
    assert project("peer_compression", texts, tmp_path / "out")["compression_ratio"].iloc[2] > 20
    repetition = project("peer_self_repetition", texts, tmp_path / "out")["self_repetition"]
    assert repetition.tolist() == [math.log(2), 0, 0, math.log(2)]  # "a b a b" is in two texts


def test_a_template_keeps_stop_words_and_punctuation(tmp_path):
    from macroscope_peers.templates import replace_content

    assert replace_content("The cat's house, of 1990!", {"the", "of"}) == ["the", "~", "~", ",", "of", "~", "!"]
    texts = write_texts(
        tmp_path / "texts.parquet",
        ["the dog of the sea is black", "the boy of the town is gone", "one", "no of no"],
    )
    rates = project("peer_templates", texts, tmp_path / "out")["template_rate"]
    assert rates.iloc[:2].tolist() == [1, 1]
    assert rates.iloc[2:].isna().all()


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_TEXTS)
def test_a_peer_of_texts_is_a_row_of_the_matrix(name, tmp_path):
    texts = stories(50, 1)
    kept = [" ".join([*text.split()[:8], *text.split()[:8]]) for text in texts]
    paths = []
    for collection, each in (("real", texts), ("damaged", kept)):
        paths.append(tmp_path / f"{collection}.latents")
        project(name, write_texts(tmp_path / f"{collection}.parquet", each), paths[-1])
    power_of = powers(name, tmp_path, *paths)
    assert power_of["none"] <= 0.25
    if name in ("peer_length", "peer_compression", "peer_distinct"):
        assert power_of["truncate"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_COLLECTIONS)
def test_a_peer_of_collections_is_a_row_of_the_matrix_and_compares_a_system(name, tmp_path):
    rng = np.random.default_rng(3)
    real, damaged = rng.normal(size=(2, 60, 4))
    paths = tmp_path / "real.latents", tmp_path / "damaged.latents"
    embed(paths[0], real)
    embed(paths[1], damaged + 3)
    power_of = powers(name, tmp_path, *paths)
    assert power_of["none"] <= 0.25
    assert power_of["truncate"] == 1
    compare = load(peer(name).data.stages["compare"].run, peer(name).package)
    options = peer(name).options(permutations=99)
    rows = compare(*paths, options=options, resampling=Resampling())
    (row,) = rows.itertuples()
    (declared,) = load(peer(name).data.statistics[0], peer(name).package)
    assert row.statistic == declared.pattern
    assert row.p_value == 0.01
    halves = compare(paths[0], paths[0], options=options, resampling=Resampling())
    assert halves["p_value"].iloc[0] > 0.01


@pytest.mark.slow
def test_mauve_is_that_of_the_shares_of_clusters():
    from macroscope.statistics.divergences import auc_divergence
    from macroscope_peers.mauve import measure_difference

    corners = np.repeat([[0.0, 0.0], [9.0, 0.0]], [12, 8], axis=0)
    sides = np.array([[1.0] * 10 + [0.0] * 10, [1.0, 0.0] * 10])
    expected = auc_divergence([[1, 0], [0.6, 0.4]], [[0.2, 0.8], [0.6, 0.4]])
    assert measure_difference(corners, sides) == pytest.approx(expected)
    assert expected[1] == pytest.approx(0, abs=1e-9)
