"""Contract of every critic, tested on documents with known structure."""

import inspect
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from jinja2 import Environment, StrictUndefined

from macroscope.critics import critics
from macroscope.critics.attributions import read_attributions, read_real_scores, read_scores
from macroscope.critics.declaration import difference_tests, signature, statistics_of
from macroscope.critics.features import feature_extractor
from macroscope.critics.latents import custom_metadata, gather, open_latents, read_metadata
from macroscope.critics.two_sample_test import FEATURE, group_files
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY, read_json
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.plan.critics import PLACES
from macroscope.reporting.html_blocks import captions_of
from macroscope.stages import load
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.declaration import match_declaration
from macroscope.statistics.document_groups import KEYS
from macroscope.statistics.tidy import COLUMNS

from .bench import SYSTEMS, Bench
from .case import cases

SCORES = {"id", "nll", "units", "entropy"}


@pytest.fixture(params=list(critics()))
def critic(request):
    return critics()[request.param]


@pytest.fixture(scope="module", params=list(critics()))
def bench(request, tmp_path_factory):
    if request.param not in cases():
        pytest.fail(f"{request.param} has no case: write tests/contract/cases/{request.param}.py")
    return Bench(request.param, cases()[request.param], tmp_path_factory.mktemp(request.param))


# ---- declarations ---------------------------------------------------------------------------------------


def test_the_description_for_readers_is_short(critic):
    assert 0 < len(critic.data.observes) <= 60


def test_every_option_is_used_by_a_stage(critic):
    stages = critic.data.stages.values()
    used = {name for stage in stages for name in (*stage.option_names, *(option for option, _ in stage.conditions))}
    assert used == set(critic.options.model_fields)


def test_functions_exist_and_take_the_inputs_of_their_stage(critic):
    for name, stage in critic.data.stages.items():
        parameters = inspect.signature(stage.function(critic.package)).parameters
        if name in ("overview", "report"):
            assert len(parameters) == 1, name
            continue
        expected = {*stage.input_names, *stage.value_names, *(["options"] if stage.options else [])}
        expected |= set() if name == "compare" else {"output"}
        is_shared = not stage.module(critic.package).startswith(critic.package)  # inputs of other critics are optional
        others = {each for each, parameter in parameters.items() if is_shared and parameter.default is None}
        assert expected <= set(parameters) <= expected | others, name
        assert all(parameters[optional].default in (None, ()) for optional in stage.optional_inputs), name


def test_stages_read_what_other_stages_make_or_the_critics_plan_finds(critic):
    made = {*PLACES, *critic.data.own_stages}
    for name, stage in critic.data.stages.items():
        non_standard = {read.removeprefix("all_") for read in stage.input_names} - made
        assert not non_standard or critic.data.plan, f"{name} reads {non_standard}"


def test_signature_has_the_options_that_change_a_number(critic):
    options = critic.options()
    last = critic.data.last()
    plain = signature(critic, options, last, 1)
    used = critic.data.options_of(last)
    for name, field in critic.options.model_fields.items():
        assert (f"{name}:" in plain) == (name in used), name
        if name in used and isinstance(field.default, int | float) and not isinstance(field.default, bool):
            changed = options.model_copy(update={name: field.default * 2 or 0.5})
            assert signature(critic, changed, last, 1) != plain


# ---- outputs of stages -----------------------------------------------------------------------------------------------


def test_latents_have_the_declared_columns_and_all_documents(bench):
    table = pq.read_table(bench.path("latents"))
    declared = load(bench.critic.data.latents, bench.critic.package)
    assert table.column_names == declared.names
    assert table.column_names[: len(KEYS)] == list(KEYS)
    open_latents(bench.path("latents"), declared)  # raises an error for other types
    ids = {identifier.split("#")[0] for identifier in table.column("id").to_pylist()}
    assert ids == {document.id for document in Collection(bench.path("texts"))}


def test_latents_have_the_signature_of_their_options(bench):
    if "signature" not in bench.critic.data.stages["project"].value_names:
        pytest.skip(f"{bench.critic.name} does not sign its latents")
    signed = signature(bench.critic, bench.options, "project", 1)
    assert read_metadata(bench.path("latents"))["signature"] == signed


def test_scores_have_their_columns_and_one_row_per_document(bench):
    if not bench.critic.data.scores:
        pytest.skip(f"{bench.critic.name} scores no documents")
    table = pd.read_parquet(bench.path("scores"))
    assert list(table["id"]) == [document.id for document in Collection(bench.path("texts"))]
    assert set(table.columns) >= SCORES
    assert np.isfinite(table["nll"]).all()
    assert (table["units"] > 0).all()
    # The entropy of a density may be negative.
    assert (np.isfinite(table["entropy"]) | table["entropy"].isna()).all()


def test_statistics_are_tidy_and_explain_what_is_undefined(bench):
    table = bench.statistics()
    assert list(table.drop(columns=["tests", "p_adjusted"]).columns) == list(COLUMNS)
    assert (table["value"].notna() | table["reason"].notna()).all()
    bounded = table[table["ci_low"].notna() & np.isfinite(table["value"])]
    assert (bounded["ci_low"] <= bounded["value"] + 1e-12).all()
    assert (bounded["value"] <= bounded["ci_high"] + 1e-12).all()
    assert table["p_value"].dropna().between(0, 1).all()
    assert set(table["system"]) - {SPLIT_HALF} == set(SYSTEMS)


def test_every_number_is_declared_with_its_interval_and_test(bench):
    declarations = statistics_of(bench.critic)
    for row in bench.statistics().itertuples():
        statistic = match_declaration(declarations, row.statistic)
        assert statistic.holds or statistic.spans or np.isnan(row.ci_low), (
            f"{row.statistic} has an interval; declare the quantity that it covers"
        )
        assert statistic.null or np.isnan(row.p_value), f"{row.statistic} has a p-value; declare the null hypothesis"


def test_same_input_same_bytes(bench):
    for stage, name in (
        ("project", "latents"),
        ("score", "scores"),
        ("compare", "statistics"),
        ("attribute", "attributions"),
    ):
        again = bench.run(stage, "damaged", bench.folder / "again", evidence=bench.folder / "again-evidence")
        if again is not None:
            assert again.read_bytes() == bench.path(name, "damaged").read_bytes(), stage


def test_shards_change_nothing(bench):
    size = 30
    parts = [
        bench.run("project", "alike", bench.folder / f"shard-{n}.parquet", shard=(n, size))
        for n in range(-(-bench.case.judged // size))
    ]
    joined = bench.folder / "joined.parquet"
    gather(parts, joined)
    whole, together = pq.read_table(bench.path("latents", "alike")), pq.read_table(joined)
    metadata = [custom_metadata(pq.ParquetFile(path)) for path in (joined, bench.path("latents", "alike"))]
    assert metadata[0] == metadata[1]
    for name in whole.column_names:
        _assert_same(together.column(name).to_pylist(), whole.column(name).to_pylist(), name)


def test_texts_with_the_opening_of_a_real_text_are_tested_in_pairs(bench):
    real = list(Collection(bench.path("texts")))
    renamed = [replace(d, id=f"other-{d.id}") for d in real[: len(real) // 2]]
    bench.write(bench.path("texts", "renamed"), renamed)
    for stage in ("project", "score", "compare"):
        bench.run(stage, "renamed", evidence=bench.folder / "renamed-evidence")
    bench.run("compare_scores", "renamed")
    tables = [pd.read_csv(path) for path in bench.statistics_of("renamed")]
    assert tables
    openings = Counter(document.opening for document in real)
    alone = sum(bool(document.opening) and openings[document.opening] == 1 for document in renamed)
    assert alone > len(real) // 4
    for table in tables:
        assert table["n_paired"].eq(alone).all()


def test_one_document_repeated_documents_and_none(bench):
    texts = list(Collection(bench.path("texts", "alike")))
    few = {"one": texts[:1], "none": []}
    few["repeated"] = [texts[0].__class__(f"copy-{n}", "test", None, texts[0].sections) for n in range(12)]
    for name, documents in few.items():
        samples = bench.write(bench.folder / f"{name}.samples.parquet", documents)
        latents = bench.folder / f"{name}.latents.parquet"
        bench.run("project", name, latents, texts=samples)
        assert pq.read_table(latents).column_names == pq.read_table(bench.path("latents")).column_names
        for stage in ("score", "compare"):
            output, evidence = bench.folder / f"{name}.{stage}", bench.folder / f"{name}.evidence"
            with suppress(MacroscopeError):  # a reported error is acceptable, a crash is not
                bench.run(stage, name, output, latents=latents, evidence=evidence)


def test_attributions_have_one_row_per_sample_and_marks_within_the_texts(bench):
    if "attribute" not in bench.critic.data.stages:
        pytest.skip(f"{bench.critic.name} has no stage 'attribute'")
    for system in SYSTEMS:
        texts = list(Collection(bench.path("texts", system)))
        rows = list(read_attributions(bench.path("attributions", system)))
        assert [row["id"] for row in rows] == [document.id for document in texts]
        assert all(row["score"] is not None and np.isfinite(row["score"]) for row in rows)
        for document, row in zip(texts, rows, strict=True):
            for mark in row["marks"]:
                text = document.sections[mark["section"]].text
                behind = mark["start"] == mark["end"] == len(text)
                assert behind or 0 <= mark["start"] < mark["end"] <= len(text)
                assert 0 <= mark["weight"] <= 1
                assert mark["note"]
                marked = text[mark["start"] : mark["end"]]
                assert marked == marked.strip() or marked == text
    marks = [mark for row in read_attributions(bench.path("attributions", "damaged")) for mark in row["marks"]]
    assert bool(bench.critic.data.attribution.marks) or not marks


def test_damaged_documents_have_larger_attribution_scores(bench):
    if "attribute" not in bench.critic.data.stages:
        pytest.skip(f"{bench.critic.name} has no stage 'attribute'")
    scores = {}
    for system in ("damaged", "alike"):
        path = bench.path("attributions", system)
        attributed, real = read_scores(path)[1], read_real_scores(path, bench.path("attributions"))[1]
        scores[system] = (np.searchsorted(np.sort(real), attributed) / len(real)).mean()
    assert scores["damaged"] > scores["alike"]


# ---- sensitivity ----------------------------------------------------------------------------------------------------


def test_damage_is_detected_and_harmless_changes_are_not(bench):
    table = bench.statistics()
    tests = difference_tests(bench.critic, table)
    smallest = tests.groupby("system")["p_adjusted"].min()
    assert smallest["damaged"] < 0.05
    for system in ("alike", "harmless", *({SPLIT_HALF} & set(smallest.index))):
        assert smallest[system] > 0.01, (system, tests[tests["system"] == system].nsmallest(3, "p_adjusted"))


def test_single_damaged_documents_are_detectable(bench):
    scores = [bench.path("scores", system) for system in SYSTEMS] if bench.critic.data.scores else []
    files = group_files(SYSTEMS, [bench.path("latents", system) for system in SYSTEMS], scores)
    features = feature_extractor(bench.critic)(*vars(files[CONTROL]).values())
    declarations = {document.id for document in Collection(bench.path("texts"))}
    assert set(features.keys["id"]) <= declarations
    assert features.keys["id"].is_unique
    table = pd.read_csv(bench.run("two_sample_test"))
    assert list(table.columns) == [*COLUMNS, FEATURE]
    for name in table["statistic"].unique():
        match_declaration(statistics_of(bench.critic), name)
    detectability = table[table["statistic"] == C2ST_AUC].set_index("system")
    assert set(detectability.index) == {SPLIT_HALF, *SYSTEMS} - {CONTROL}
    assert detectability.at["damaged", "value"] > 0.6
    for system in ("alike", "harmless", SPLIT_HALF):
        assert detectability.at["damaged", "value"] > detectability.at[system, "value"]
        assert detectability.at[system, "p_value"] > 0.005, system


def test_known_truth_exists_for_simulated_systems(bench):
    if bench.case.kind_of_process not in bench.critic.data.known_processes:
        pytest.skip(f"{bench.critic.name} has no known truth of {bench.case.kind_of_process}")
    order = "independent"  # the system that is farthest from the ideal one, which each critic's unit tests have
    output = bench.run("known_truth", order, order=order)
    assert set(read_json(output)) >= {"latent_ppl", "basis"}


# ---- report ---------------------------------------------------------------------------------------------------


def test_report_items_have_a_caption_and_exactly_one_content(bench):
    findings = bench.findings()
    if "overview" in bench.critic.data.stages:
        bench.critic.stage("overview").function(bench.critic.package)(findings)
    for _ in range(2):  # one corpus after another
        items = bench.critic.stage("report").function(bench.critic.package)(findings)
    assert len({item.name for item in items}) == len(items) > 0
    environment = Environment(undefined=StrictUndefined)
    for item in items:
        contents = (item.table, item.figure, item.documents, item.passages)
        assert sum(content is not None for content in contents) == 1
        if item.figure is not None:
            assert item.figure.read_text().startswith("<?xml")
        caption = captions_of(bench.critic.package) / f"{item.caption or item.name}.rst"
        text = environment.from_string(caption.read_text()).render(options=bench.options, confidence="95")
        assert len(text) > 40, caption


def test_every_caption_is_used(critic):
    sources = "".join(path.read_text() for path in Path(captions_of(critic.package)).parent.rglob("*.py"))
    for caption in captions_of(critic.package).glob("*.rst"):
        stem = caption.stem.removesuffix("_figure")
        assert f'"{stem}' in sources or "_figure" in caption.stem, caption


def test_every_critic_has_a_docs_page(critic):
    if not critic.package.startswith("macroscope."):
        pytest.skip("critics of other packages are documented elsewhere")
    page = (REPOSITORY / "docs" / "critics" / f"{critic.name}.md").read_text()
    for heading in ("What it measures", "How to read it", "Limits"):
        assert f"## {heading}" in page, heading


def test_statistics_have_the_control_and_its_halves(bench):
    if not bench.critic.data.compares or bench.critic.package.split(".")[0] != "macroscope":
        pytest.skip("a critic of another package may have its own comparison")
    assert SPLIT_HALF in set(bench.statistics()["system"])
    assert CONTROL in set(bench.statistics()["system"])


def _assert_same(actual, expected, name):
    """Assert equal values; floats up to rounding, since an encoder's output depends on its batches."""
    if name == "incoherence":  # computed from the log odds of "missing" and "discordant", and as exact as these
        assert np.allclose(actual, expected, atol=1e-4, equal_nan=True), name
    elif expected and isinstance(expected[0], float):
        assert np.allclose(actual, expected, atol=1e-5, equal_nan=True), name
    elif name in ("posterior", "embedding", "mean", "variance", "missing", "discordant"):
        for value, expected_value in zip(actual, expected, strict=True):
            assert np.allclose(np.array(value), np.array(expected_value), atol=1e-4, equal_nan=True), name
    elif name == "block_counts":
        assert sum(map(len, actual)) >= sum(map(len, expected))
    else:
        assert actual == expected, name
