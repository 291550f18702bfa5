"""Evaluation of policies on two runs: verdicts, rejected comparisons, and counts."""

import copy
import math

import pytest

from macroscope.errors import MacroscopeError
from macroscope.gaps import FAILED, UNFINISHED, Gap, write_missing
from macroscope.gate.decision import FAIL, INCONCLUSIVE, PASS
from macroscope.gate.evaluate import evaluate_policy, match_systems
from macroscope.gate.policy import Policy, Rule
from macroscope.runs.results import find_run

from .conftest import CONFIG, SIGNATURE, row, rule, write_run


def test_two_runs_pass_fail_or_neither(gated):
    before, after = [row(10, 9.5, 10.5)], [row(11, 10.5, 11.5)]
    half = math.hypot(0.5, 0.5)
    for tolerated, verdict in ((1.8, PASS), (0.2, FAIL), (1.2, INCONCLUSIVE)):
        (test,) = gated(before, after, rule(difference=tolerated)).tests
        assert test.verdict == verdict
        assert test.interval == pytest.approx((1, 1 - half, 1 + half))
    assert test.times == pytest.approx((half / 0.2) ** 2)


@pytest.mark.parametrize(
    ("policy_rule", "verdict"),
    [
        (rule("lower", difference=0), PASS),
        (rule("any", difference=0.1), FAIL),
        (rule("any", difference=2), PASS),
        (rule("higher", ratio=1.2), PASS),
        (rule("higher", ratio=1.01), FAIL),
        (rule("lower", ratio=0.95), PASS),
        (rule("any", ratio=1.01), FAIL),
        (rule("higher", limit=12), PASS),
        (rule("higher", limit=10.2), FAIL),
        (rule("lower", limit=11), INCONCLUSIVE),
    ],
)
def test_directions(gated, policy_rule, verdict):
    assert gated([row(10, 9.8, 10.2)], [row(11, 10.8, 11.2)], policy_rule).verdict == verdict


def test_farther_from_the_control(gated):
    control = row(10, 9.9, 10.1, system="control")
    before, after = [control, row(12, 11.9, 12.1)], [control, row(8, 7.9, 8.1)]
    (test,) = gated(before, after, rule("farther", difference=0.5)).tests
    assert (test.verdict, test.interval[0]) == (PASS, 0)
    assert gated(before, after, rule("farther", limit=1.5)).verdict == FAIL


def test_without_a_control_distances_are_undefined(gated):
    (test,) = gated([row(12, 11, 13)], [row(12, 11, 13)], rule("farther", difference=5)).tests
    assert test.verdict == INCONCLUSIVE
    assert "the control does not have this statistic" in test.reason


def test_all_intervals_hold_together(gated):
    names = ("latent_nll", "latent_ppl", "latent_ppl_map", "posterior_entropy", "posterior_kl")
    rows = [row(10, 9, 11, statistic=name) for name in names]
    answer = gated(rows, rows, rule(statistic="*", difference=9))
    assert (len(answer.tests), answer.each) == (5, pytest.approx(0.99))
    assert answer.tests[0].interval[2] == pytest.approx(math.sqrt(2) * 2.6264 / 1.9842, rel=1e-3)  # t, 99 degrees


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (row("", "", "", reason="no text"), "undefined in the candidate: no text"),
        (row(10, "", ""), "it has no interval in the candidate"),
    ],
)
def test_what_is_undefined_never_passes(gated, after, reason):
    (test,) = gated([row(10, 9, 11)], [after], rule(difference=99)).tests
    assert (test.verdict, test.reason) == (INCONCLUSIVE, reason)


def test_a_ratio_needs_positive_values(gated):
    (test,) = gated([row(1, -1, 3)], [row(1, 0.5, 2)], rule(ratio=9)).tests
    assert test.verdict == INCONCLUSIVE
    assert "above 0" in test.reason


def test_the_interval_of_a_ratio_may_exceed_the_range_of_numbers(gated):
    """Two texts, at the simultaneous level of thirty tests."""
    wide = [row(10, 1e-5, 1e6, n=2)]
    answer = gated(wide, wide, *[rule(ratio=1.1)] * 30, confidence=0.999)
    assert {test.verdict for test in answer.tests} == {INCONCLUSIVE}
    assert "the interval of the ratio exceeds the range of numbers" in answer.tests[0].reason


def test_a_missing_system_is_inconclusive(gated):
    both = row(10, 9, 11)
    answer = gated([both, row(10, 9, 11, system="other")], [both], rule(difference=9))
    assert answer.verdict == INCONCLUSIVE
    assert [test.reason for test in answer.tests] == ["", "the candidate does not have this statistic"]


def fail(folder, **part):
    folder.joinpath("tables").mkdir(parents=True, exist_ok=True)
    write_missing([Gap(kind=FAILED, **part, explanation="no word occurs twice")], folder / "tables")


@pytest.mark.parametrize("sides", [["after"], ["before"], ["before", "after"]])
@pytest.mark.parametrize(
    "part",
    [
        {"corpus": "wiki", "critic": "topics"},
        {"corpus": "wiki", "system": "lm"},
        {"corpus": "wiki", "system": "beam"},
        {"corpus": "web"},
    ],
)
def test_what_failed_is_inconclusive_and_says_why(gated, tmp_path, part, sides):
    """Also if it failed in both runs, so that neither names it."""
    second = [row(10, 9, 11)]
    topics = row(1, 0.9, 1.1, critic="topics", corpus=part["corpus"], system=part.get("system", "lm"))
    for name in ("before", "after"):
        write_run(tmp_path / name, second if name in sides else [*second, topics])
        if name in sides:
            fail(tmp_path / name, **part)
    answer = gated(second, second, rule(difference=9), rule(critic="topics", corpus=part["corpus"], difference=9))
    assert answer.verdict == INCONCLUSIVE
    first, *rest = answer.tests
    assert first.verdict == PASS
    assert (1, "topics") in {(test.rule, test.critic) for test in rest}
    assert {test.verdict for test in rest} == {INCONCLUSIVE}
    assert any("does not have this statistic (failed: no word occurs twice)" in test.reason for test in rest)


def test_a_failed_critic_that_the_policy_does_not_name_changes_nothing(gated, tmp_path):
    rows = [row(10, 9, 11)]
    fail(write_run(tmp_path / "after", rows), corpus="wiki", critic="topics")
    assert gated(rows, rows, rule(difference=9)).verdict == PASS


def test_statistics_that_depend_on_the_number_of_texts(gated):
    number = {"statistic": "vocabulary_size", "critic": "tendencies"}
    policy_rule = rule(statistic="vocabulary_size", critic="tendencies", difference=999)
    (test,) = gated([row(10, 9, 11, **number)], [row(10, 9, 11, **number, n=50)], policy_rule).tests
    assert test.verdict == INCONCLUSIVE
    assert "depends on the number of documents" in test.reason


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("encoder:minilm", "encoder:mpnet", "the signature's 'encoder' is minilm in the baseline and mpnet"),
        ("convention:definition", "convention:published", "the signature's 'convention' is definition"),
        ("macroscope:0.1.0", "macroscope:0.2.0", "the signature's 'macroscope' is 0.1.0"),
        ("run_seed:1", "run_seed:2", "the signature's 'run_seed' is 1"),
        ("encoder:minilm|", "", r"the signature's 'encoder' is minilm in the baseline and \(not there\)"),
    ],
)
def test_different_signatures_are_refused(gated, old, new, message):
    with pytest.raises(MacroscopeError, match=message):
        gated([row(10, 9, 11)], [row(10, 9, 11, signature=SIGNATURE.replace(old, new))], rule(difference=9))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("train=1,project=1", "train=1,project=2", "the stage 'project' has version 1 in the baseline and 2 in the"),
        ("", "train=1,project=1", "the baseline was made before stages had versions"),
    ],
)
def test_numbers_of_different_versions_of_a_stage_are_refused(gated, before, after, message):
    signatures = (SIGNATURE + (f"|versions:{versions}" if versions else "") for versions in (before, after))
    with pytest.raises(MacroscopeError, match=message):
        gated(*([row(10, 9, 11, signature=signature)] for signature in signatures), rule(difference=9))


def test_releases_with_equal_versions_of_the_stages_compare(gated):
    before = f"{SIGNATURE}|versions:train=1,project=1"
    after = before.replace("macroscope:0.1.0", "macroscope:0.2.0")
    rows = ([row(10, 9, 11, signature=signature)] for signature in (before, after))
    assert gated(*rows, rule(difference=9)).verdict == PASS


def test_keys_that_may_differ(gated):
    changed = SIGNATURE.replace("confidence:0.95", "resamples:9|confidence:0.99")
    (test,) = gated([row(10, 9, 11)], [row(10, 9, 11, signature=changed)], rule(difference=9)).tests
    assert test.interval[2] == pytest.approx(math.hypot(1, 1.9842 / 2.6264), rel=1e-3)


def test_the_seed_of_a_critic_without_learning_may_differ(gated):
    names = {"critic": "tendencies", "statistic": "length_mean"}
    changed = SIGNATURE.replace("coherence", "tendencies").replace("run_seed:1", "run_seed:2")
    after = row(10, 9, 11, **names, signature=changed)
    assert gated([row(10, 9, 11, **names)], [after], rule(**names, difference=9)).verdict == PASS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda config: config["corpora"]["wiki"]["filters"].update(min_sections=4),
            "corpora.wiki.filters.min_sections",
        ),
        (lambda config: config["systems"]["control"].update(split="valid"), "systems.control.split is test"),
    ],
)
def test_different_corpora_are_refused(gated, tmp_path, change, message):
    config = copy.deepcopy(CONFIG)
    change(config)
    write_run(tmp_path / "after", [row(10, 9, 11)], config)
    with pytest.raises(MacroscopeError, match=message):
        gated([row(10, 9, 11)], [], rule(difference=9))


def test_a_verdict_names_what_gives_a_system_away(gated, tmp_path):
    write_run(
        tmp_path / "after", [row(10, 9, 11)], {**CONFIG, "wrapped": {"lm": "“</s>” ends 80 of 80 candidate texts"}}
    )
    (test,) = gated([row(10, 9, 11)], [], rule(difference=9)).tests
    assert (test.verdict, test.reason) == ("PASS", "⚠ lm: “</s>” ends 80 of 80 candidate texts")


def test_edited_files_are_another_corpus(gated, tmp_path):
    write_run(tmp_path / "after", [row(10, 9, 11)], tokens=1001)
    with pytest.raises(MacroscopeError, match="the corpus has changed; total_tokens of test is 1000"):
        gated([row(10, 9, 11)], [], rule(difference=9))


def test_files_may_have_moved(gated, tmp_path):
    config = copy.deepcopy(CONFIG)
    config["corpora"]["wiki"]["files"] = ["elsewhere/real.jsonl"]
    write_run(tmp_path / "after", [row(10, 9, 11)], config)
    assert gated([row(10, 9, 11)], [], rule(difference=9)).verdict == PASS


def test_two_systems_of_one_run(tmp_path):
    run = write_run(tmp_path / "run", [row(10, 9, 11, system="a"), row(10, 9, 11, system="b")])
    policy = Policy(statistics=[Rule(**rule(difference=0.5))])
    a, b = (find_run(f"{run}:{name}") for name in "ab")
    (test,) = evaluate_policy(match_systems(a, b), policy).tests
    assert (test.verdict, test.baseline, test.candidate) == (INCONCLUSIVE, "a", "b")
    # The run's table of pairs uses paired documents.
    (run / "tables" / "pairs.csv").write_text(
        "corpus,critic,system,other,statistic,measure,value,ci_low,ci_high,n_system,n_other,reason,signature\n"
        "wiki,coherence,a,b,latent_nll,difference,0.1,-0.2,0.3,100,100,,confidence:0.95\n"
    )
    a, b = (find_run(f"{run}:{name}") for name in "ab")
    (test,) = evaluate_policy(match_systems(a, b), policy).tests
    assert (test.verdict, test.interval) == (PASS, (-0.1, -0.3, 0.2))
    with pytest.raises(MacroscopeError, match="compared with itself"):
        match_systems(a, find_run(f"{run}:a"))
    with pytest.raises(MacroscopeError, match="compared with itself"):
        match_systems(find_run(str(run)), find_run(str(run)))
    with pytest.raises(MacroscopeError, match="no statistics of a system 'bb'"):
        find_run(f"{run}:bb")


def test_no_statistic_in_common(gated):
    with pytest.raises(MacroscopeError, match="no statistic of the policy in common"):
        gated([row(10, 9, 11)], [row(10, 9, 11, statistic="latent_ppl")], rule(statistic="latent_*", difference=9))


@pytest.mark.parametrize(
    ("policy_rule", "message"),
    [
        (rule(critic="coherenc", difference=1), "no critic 'coherenc'; did you mean 'coherence'"),
        (
            rule(statistic="latent_nl", difference=1),
            "statistics.0: the runs have no statistic 'latent_nl'.*'latent_nll'",
        ),
        (rule(corpus="wikki", difference=1), "no corpus 'wikki'.*'wiki'"),
        (rule(diference=1), "statistics.0.diference: there is no such key; did you mean 'difference'"),
        (rule(), "statistics.0: the rule has no limit"),
        (rule("worse", difference=1), "statistics.0.worse"),
        (rule(difference=1, ratio=2), "keep one"),
        (rule(ratio=0.9), "at least 1"),
        (rule("lower", ratio=1.1), "at most 1"),
        (rule("farther", ratio=1.1), "give 'difference'"),
        (rule("any", limit=1), "needs a direction"),
        (rule(difference=True), "is a number"),
        (rule(difference=-1), "statistics.0.difference"),
    ],
)
def test_a_bad_policy_is_a_short_error(gated, policy_rule, message):
    with pytest.raises(MacroscopeError, match=message):
        gated([row(10, 9, 11)], [row(10, 9, 11)], policy_rule)


@pytest.mark.parametrize("missing", ["config.json", "tables/corpora.csv"])
def test_an_incomplete_run_is_a_short_error(tmp_path, missing):
    run = write_run(tmp_path / "run", [row(10, 9, 11)])
    (run / missing).unlink()
    with pytest.raises(MacroscopeError, match=missing):
        find_run(str(run))


def test_a_run_whose_last_call_did_not_end_is_a_short_error(tmp_path):
    """Its tables may be those of other texts."""
    (write_run(tmp_path / "run", [row(2, 1, 3)]) / UNFINISHED).touch()
    with pytest.raises(MacroscopeError, match=r"did not end, so that its tables may be older than its texts; run"):
        find_run(str(tmp_path / "run"))


def test_an_invalid_number_of_texts_is_a_short_error(tmp_path):
    run = write_run(tmp_path / "run", [row(10, 9, 11, n="inf")])
    with pytest.raises(MacroscopeError, match=r"statistics\.csv: coherence latent_nll of lm: cannot convert"):
        find_run(str(run))


@pytest.mark.parametrize(
    ("cells", "message"),
    [("-0.2,0.3,100,", "the column 'n_other' is missing"), ("abc,0.3,100,100", "coherence latent_nll of a: could not")],
)
def test_a_damaged_table_of_pairs_is_a_short_error(tmp_path, cells, message):
    run = write_run(tmp_path / "run", [row(10, 9, 11, system="a"), row(10, 9, 11, system="b")])
    header = "corpus,critic,system,other,statistic,measure,value,reason,signature,ci_low,ci_high,n_system,n_other\n"
    header = header.replace("n_other", "") if cells.endswith(",") else header
    line = f"wiki,coherence,a,b,latent_nll,difference,0.1,,confidence:0.95,{cells}\n"
    (run / "tables" / "pairs.csv").write_text(header + line)
    a, b = (find_run(f"{run}:{name}") for name in "ab")
    with pytest.raises(MacroscopeError, match=message):
        evaluate_policy(match_systems(a, b), Policy(statistics=[Rule(**rule(difference=0.5))]))
