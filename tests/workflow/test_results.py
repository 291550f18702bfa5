"""Outputs of a run, and its messages when it cannot go on."""

import json
import re
import zipfile
from collections import Counter
from pathlib import Path

import pandas as pd

from .conftest import Run


def results(run):
    return run.work / "results" / "test"


def test_tables_tell_the_shuffled_candidate_from_real_text(run):
    headline = pd.read_csv(results(run) / "tables" / "headline.csv").set_index("system")
    assert list(headline.index) == ["control", "mine", "lm", "lm-nucleus"]
    statistics = pd.read_csv(results(run) / "tables" / "statistics.csv")
    mine = statistics[(statistics["critic"] == "coherence") & (statistics["system"] == "mine")].set_index("statistic")
    assert mine.at["latent_ppl_ratio", "ci_low"] > 1
    assert mine.at["latent_ppl", "p_adjusted"] < 0.05
    # With an encoder as small as this one, its errors may explain the numbers of the language models, and the headline
    # says so; they do not explain those of shuffled sections.
    usable = headline["coherence_usable"].astype(bool)
    assert usable[["control", "mine"]].all()
    assert (headline["coherence_latent_ppl"].isna() == ~usable).all()
    assert headline.at["lm", "word_ppl_low"] < headline.at["lm", "word_ppl"] < headline.at["lm", "word_ppl_high"]
    assert headline.at["lm-nucleus", "decoding"] == "nucleus p=0.9"
    assert headline.at["lm-nucleus", "word_ppl"] == headline.at["lm", "word_ppl"]
    assert not (run.work / "results" / "test" / "systems" / "real" / "lm-nucleus" / "model").exists()
    assert (statistics["ci_low"].isna() | (statistics["ci_low"] <= statistics["value"])).all()
    assert statistics["signature"].notna().all()


def test_statistics_stand_beside_human_judgements(run):
    table = pd.read_csv(results(run) / "tables" / "human_correlations.csv")
    statistics = pd.read_csv(results(run) / "tables" / "statistics.csv")
    assert len(table) == len(statistics[["critic", "statistic"]].drop_duplicates())
    row = table[table["critic"] == "coherence"].set_index("statistic").loc["latent_ppl"]
    assert row["systems"] == 3
    assert row["spearman_p_value"] >= 2 / 6
    assert (table["spearman"].notna() | table["reason"].notna()).all()
    assert (results(run) / "figures" / "human_real_people.svg").exists()
    assert "human judgement: people.csv on real" in (results(run) / "report.html").read_text()
    assert "Which statistics agree with people" in pages(run)


def test_clusters_and_strings_stand_beside_the_model_s_own_probabilities(run):
    table = pd.read_csv(results(run) / "tables" / "probability_correlations.csv")
    assert list(table["system"]) == ["lm", "lm"]
    assert set(table["estimate"]) == {"strings", "clusters"}
    assert table["spearman"].between(-1, 1).all()
    statistics = pd.read_csv(results(run) / "tables" / "statistics.csv")
    divergences = statistics[statistics["statistic"] == "jensen_shannon"]
    assert set(divergences["critic"]) == {"coherence", "clusters", "strings"}
    clusters = statistics[(statistics["statistic"] == "clusters") & (statistics["critic"] == "clusters")]
    assert clusters["value"].nunique() == 1  # one clustering for all


def pages(run):
    """All pages of the report but the first."""
    return "".join(path.read_text() for path in sorted((results(run) / "pages").glob("*.html")))


def test_probing_of_a_corpus_without_labels(run):
    table = pd.read_csv(results(run) / "tables" / "clusters_real_probing.csv")
    assert set(table["probe"]) == {"stop_word_share", "symbol_share"}
    assert set(table["learned_on"]) == {"own", "reference"}
    assert "Probing: what clusters reveal about texts" in pages(run)


def test_everything_dropped_is_in_a_table(run):
    dropped = pd.read_csv(results(run) / "tables" / "dropped.csv")
    assert set(dropped["corpus"]) == {"real"}
    assert set(dropped["system"].dropna()) == {"control", "mine", "lm", "lm-nucleus"}


def test_report_needs_nothing_from_outside(run):
    first = results(run) / "report.html"
    written = [first, *(results(run) / "pages").glob("*.html")]
    assert len(written) > 8
    assert sum(path.read_text().count("<svg") for path in written) >= 4
    for path in written:
        page = path.read_text()
        assert "url(http" not in page
        assert not re.search(r'src="', page)
        for link in re.findall(r'href="(?!data:,")([^"#]+)[^"]*"', page):  # "data:,": no icon is fetched
            target = (path.parent / link).resolve()
            assert target.is_file(), f"{path.name}: {link}"
            assert target.is_relative_to(results(run).resolve())
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids)), path.name


def test_snakemake_s_report_has_the_report_the_tables_and_the_figures(run, tmp_path):
    made = run.snakemake("--report", str(tmp_path / "report.zip"))
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
    written = {path.name for path in (results(run) / "tables").glob("*.csv")}
    written |= {path.name for path in (results(run) / "figures").glob("*.svg")}
    assert written | {"report.html"} <= names


def test_every_link_within_the_report_has_its_target(run):
    written = [results(run) / "report.html", *(results(run) / "pages").glob("*.html")]
    ids = {path.resolve(): set(re.findall(r'\bid="([^"]+)"', path.read_text())) for path in written}
    ids[(results(run) / "reader" / "index.html").resolve()] = None  # the fragment of its links selects the text
    for path in written:
        for link, anchor in re.findall(r'href="([^"#]*)#([^"]+)"', path.read_text()):
            anchors = ids[(path.parent / link).resolve() if link else path.resolve()]
            assert anchors is None or anchor in anchors, f"{path.name}: #{anchor}"


def test_the_picture_has_a_verdict_of_every_critic_on_every_system(run):
    picture = pd.read_csv(results(run) / "tables" / "scorecard.csv")
    asked = pd.read_csv(results(run) / "tables" / "statistics.csv").query("statistic == 'c2st_auc'")
    empty = picture["verdict"].isin(["skipped", "failed"])
    assert set(picture.loc[empty, "reason"]) <= {"not in the config"}
    picture = picture[~empty]
    assert len(picture) == len(asked)
    assert set(picture["system"]) == {"split_half", "mine", "lm", "lm-nucleus"}
    assert picture["c2st_auc"].between(0, 1).all()
    first = (results(run) / "report.html").read_text()
    for row in picture[picture["system"] != "split_half"].itertuples():
        assert f"pages/system.{row.corpus}.{row.system}.html" in first
        assert f"pages/critic.{row.critic}.{row.corpus}.html" in first
    assert '<p class="warning">Of lm, 6 texts were cut.</p>' in first


def test_effective_config_runs_as_it_is(run):
    path = results(run) / "config.json"
    config = json.loads(path.read_text())
    assert config["statistics"]["confidence"] == 0.95
    assert config["corpora"]["real"]["filters"]["min_sections"] == 3
    done = run.snakemake("--configfile", str(path))
    assert done.returncode == 0, done.stderr
    assert re.search(r"Nothing to be done.*\n\nReport: +results/test/report.html ", done.stdout + done.stderr)
    assert json.loads(path.read_text()) == config


def test_every_job_has_a_log(run):
    logs = run.work / "logs" / "test"
    jobs = run.pending("--forceall")
    for suffix in (".log", ".tsv"):
        files = [path.relative_to(logs).with_suffix("") for path in logs.rglob(f"*{suffix}")]
        assert Counter(path.parts[0] for path in files) == jobs, suffix
    assert (logs / "finetune" / "real" / "lm.log").read_text()
    assert (logs / "finetune" / "real" / "lm.tsv").exists()


def test_a_failed_job_says_why_and_the_next_run_goes_on(tmp_path):
    run = Run(tmp_path)
    run.config["systems"] = {"mine": run.config["systems"]["mine"]}
    run.config["comparisons"] = [{"corpus": "real", "systems": ["mine"], "critics": ["strings"]}]
    run.save()
    good = run.reference.read_text()
    lines = good.splitlines()
    run.reference.write_text("\n".join([*lines[:16], '{"id": "cut', *lines[17:]]))
    failed = run.snakemake()
    assert failed.returncode != 0
    assert "real.jsonl, line 17 is not valid JSON" in failed.stderr
    assert not (run.work / "results/test/corpora/real/documents.parquet").exists()
    run.reference.write_text(good)
    until = run.snakemake("--until", "prepare_documents")
    assert until.returncode == 0, until.stderr
