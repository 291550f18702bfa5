"""Running times by rule."""

import math

import pytest

from macroscope.reporting.times import render_times, times_by_rule

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time"


def benchmark(path, seconds, megabytes="NA", cpu="NA"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEAD}\n{seconds}\t0:00:00\t{megabytes}\t1\t1\t1\t0\t0\t0\t{cpu}\n")


def test_jobs_of_a_rule_are_added_up(tmp_path):
    benchmark(tmp_path / "finetune" / "wiki" / "a.tsv", 60.5, 1500, 100)
    benchmark(tmp_path / "finetune" / "wiki" / "b.tsv", 30, 2500.25, 50)
    benchmark(tmp_path / "make_tables.tsv", 4000)
    (tmp_path / "finetune" / "wiki" / "a.log").write_text("not a benchmark")
    times = times_by_rule(tmp_path)
    assert times.index.tolist() == ["make_tables", "finetune"]
    assert times.loc["finetune"].to_dict() == {
        "jobs": 2,
        "seconds": 90.5,
        "longest": 60.5,
        "cpu_seconds": 150,
        "megabytes": pytest.approx(2621.7, abs=0.1),  # a benchmark's are of 2²⁰ bytes
    }
    assert math.isnan(times.loc["make_tables", "cpu_seconds"])
    assert math.isnan(times.loc["make_tables", "megabytes"])
    lines = [line.split() for line in render_times(times).splitlines()[2:]]
    assert lines == [
        ["make_tables", "1", "1:06:40", "1:06:40", "–", "–"],
        ["finetune", "2", "0:01:30", "0:01:00", "0:02:30", "2,622", "MB"],
        ["total", "3", "1:08:10", "1:06:40", "0:02:30", "2,622", "MB"],
    ]


def test_short_rules_are_added_up(tmp_path):
    for number in range(15):
        benchmark(tmp_path / f"rule_{number:02d}.tsv", 100 - number)
    lines = render_times(times_by_rule(tmp_path)).splitlines()
    assert len(lines) == 2 + 12 + 2
    assert lines[-2].split()[:5] == ["3", "other", "rules", "3", "0:04:21"]
    assert len({len(line) for line in lines[1:]}) == 1


def test_without_benchmarks_the_text_is_empty(tmp_path):
    assert render_times(times_by_rule(tmp_path)) == ""
    (tmp_path / "rule.tsv").write_text("")
    assert render_times(times_by_rule(tmp_path)) == ""


def test_usage_in_a_log_takes_precedence_over_snakemakes(tmp_path):
    """Benchmarks sample every 30 seconds: usage after the last sample, or between two, is missing."""
    benchmark(tmp_path / "finetune" / "wiki" / "a.tsv", 40, 100, 15)
    (tmp_path / "finetune" / "wiki" / "a.log").write_text(
        "step 1 of 1\nused 39.50 s of the processor, at most 900.0 MB of memory\n"
    )
    times = times_by_rule(tmp_path).loc["finetune"]
    assert (times["cpu_seconds"], times["megabytes"]) == (39.5, 900)


def test_memory_of_several_processes_is_snakemakes(tmp_path):
    benchmark(tmp_path / "finetune" / "wiki" / "a.tsv", 40, 1000, 15)
    (tmp_path / "finetune" / "wiki" / "a.log").write_text("used 39.50 s of the processor, at most 900.0 MB of memory\n")
    assert times_by_rule(tmp_path).loc["finetune", "megabytes"] == pytest.approx(1048.6, abs=0.1)
