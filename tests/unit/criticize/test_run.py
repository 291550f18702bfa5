"""The critics that a user's texts allow, and the surroundings of a run, before anything is run."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from macroscope.api.texts import read_texts
from macroscope.cli.flags import require_cores
from macroscope.config.schema import parse_config
from macroscope.criticize.choice import _is_cross_fitted, choose, default_critics
from macroscope.criticize.folder import lock_folder, require_ours, require_output, write_config
from macroscope.criticize.inputs import GivenFields, names_of_candidates
from macroscope.criticize.profile import Profile
from macroscope.criticize.profile_table import table_of
from macroscope.criticize.run import implied_config, profile_collections
from macroscope.critics import critics
from macroscope.critics.declaration import Critic
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.sensitivity.run import choose_critics
from macroscope.stages import Stage

from .texts import chosen, write_texts

LEARNING = {name for name in default_critics() if critics()[name].data.learns}


def test_a_candidate_in_a_file_that_is_called_reference_has_a_column_of_its_own(tmp_path):
    profile, profiles = profile_collections(
        [write_texts(tmp_path / "real.jsonl", 3)], [write_texts(tmp_path / "reference.jsonl", 2)]
    )
    table = table_of(profile, profiles)
    assert table.loc["documents"].to_dict() == {"reference": "3", "reference-no2": "2"}
    assert table.loc["read from"].to_dict() == {"reference": "real.jsonl", "reference-no2": "reference.jsonl"}


def test_texts_that_allow_all_are_judged_by_all(tmp_path):
    choice = chosen(tmp_path, 120, titled=30)
    assert (choice.critics, choice.reasons) == (list(default_critics()), [])
    assert set(choice.learning) == LEARNING


def test_a_critic_that_is_requested_twice_is_chosen_once(tmp_path):
    assert chosen(tmp_path, 10, ["clusters", "clusters"]).critics == ["clusters"]


def test_the_reasons_name_what_the_texts_lack(tmp_path):
    choice = chosen(tmp_path, 40, titled=3)
    left_out = set(default_critics()) - set(choice.critics)
    assert left_out == {name for name in default_critics() if critics()[name].data.fewest} - {"strings"}
    assert len(choice.reasons) == len(left_out) > 1
    assert any("it needs 100 documents, and the reference has 40" in reason for reason in choice.reasons)
    assert any("it needs 20 documents with section titles, and the reference has 3" in r for r in choice.reasons)
    assert not choice.learning


def test_texts_of_rare_words_have_no_topics(tmp_path):
    """Numbers, stop words, words of all texts and words that occur once or twice are no topics."""
    lines = [json.dumps({"text": f"He and she saw rare{n} the rare{n} {n}. They slept."}) for n in range(120)]
    (tmp_path / "rare.jsonl").write_text("\n".join(lines))
    profile, profiles = profile_collections([tmp_path / "rare.jsonl"], [write_texts(tmp_path / "c.jsonl", 10)])
    assert profile.counted()["topical_words"] == 0
    (reason,) = [reason for reason in choose(profile, profiles, []).reasons if "'topics'" in reason]
    assert "it needs 20 words that occur ten times or more" in reason
    assert reason.endswith("and the reference has 0.")


def test_what_a_candidate_lacks_is_named(tmp_path):
    reference = [write_texts(tmp_path / "r.jsonl", 20)]
    profile, profiles = profile_collections(reference, [write_texts(tmp_path / f"{n}.jsonl", n) for n in (10, 9)])
    choice = choose(profile, profiles, [])
    assert "The critic 'strings' is left out: it needs 10 documents, and '9' has 9." in choice.reasons
    assert "strings" in choose(profile, profiles[:1], []).critics


@pytest.mark.parametrize("split", ["test", "train", "valid"])
def test_texts_of_one_split_are_used_whole_by_critics_that_learn_nothing(split, tmp_path):
    choice = chosen(tmp_path, 120, titled=120, split=split)
    assert set(choice.critics) == set(default_critics()) - LEARNING
    assert choice.critics
    missing = "'valid'" if split == "train" else "'train'"
    assert all(f"no reference text is in the split {missing}" in reason for reason in choice.reasons)
    assert not choice.learning
    config = implied_config(
        Profile("reference", [tmp_path / "r.jsonl"]), [Profile("c", [tmp_path / "c.jsonl"])], choice, 1
    )
    assert config["corpora"]["reference"]["split"] == "test"
    parse_config(config)


@pytest.mark.parametrize("has_splits", [False, True])
def test_cross_fitted_critics_and_those_that_learn_nothing_compare_all_unless_there_are_splits(has_splits, tmp_path):
    reference, candidate = write_texts(tmp_path / "r.jsonl", 120, titled=120), write_texts(tmp_path / "c.jsonl", 10)
    if has_splits:
        splits = itertools.cycle(["train", "train", "valid", "test"])
        lines = [json.loads(line) | {"split": next(splits)} for line in reference.read_text().splitlines()]
        reference.write_text("".join(json.dumps(line) + "\n" for line in lines))
    profile, profiles = profile_collections([reference], [candidate])
    choice = choose(profile, profiles, [])
    held_out = profile.splits["test"]
    whole = held_out if has_splits else 120
    assert 0 < held_out < 120
    splitting = LEARNING if has_splits else LEARNING - {"coreference"}  # which needs 50 texts, and folds 75
    assert set(choice.splitting) == splitting
    assert choice.compared(profile) == {name: held_out if name in splitting else whole for name in default_critics()}
    plan = Plan(parse_config(implied_config(profile, profiles, choice, 1)))
    control = {name: plan.critics.texts(name, "reference", "control") for name in choice.critics}
    samples = plan.systems.samples("reference", "control")
    documents = samples if has_splits else plan.corpora.documents("reference")
    assert control == {name: samples if name in splitting else documents for name in choice.critics}
    assert {plan.critics.texts(name, "reference", "c") for name in choice.critics} == {
        plan.systems.samples("reference", "c")
    }


@pytest.mark.parametrize("has_ids", [False, True])
def test_the_splits_that_texts_were_assigned_are_none_of_their_own(has_ids, tmp_path):
    lines = [{"text": f"Text {n}."} | ({"id": f"t{n}"} if has_ids else {}) for n in range(40)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    read_texts(tmp_path / "r.jsonl").to_parquet(tmp_path / "frame.parquet")  # it has ids, and the splits
    for name in ("r.jsonl", "frame.parquet"):
        profile, _ = profile_collections([tmp_path / name], [tmp_path / "r.jsonl"])
        assert not profile.has_splits
        assert set(profile.splits) == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("documents", "cross_fitted"),
    [(74, set()), (75, {"coreference"}), (999, {"coreference"}), (1000, set())],
)
def test_critics_are_cross_fitted_if_a_third_of_the_texts_is_enough_and_a_split_is_not(documents, cross_fitted):
    counts = {"with_persons": documents, "topical_words": 100, "documents": documents}
    profile = SimpleNamespace(documents=documents, has_splits=False, counted=lambda: counts)
    assert {name for name in default_critics() if _is_cross_fitted(critics()[name].data, profile)} == cross_fitted
    assert (
        _is_cross_fitted(critics()["coreference"].data, SimpleNamespace(**vars(profile) | {"has_splits": True}))
        is False
    )


def test_cross_fitted_critics_get_their_folds(tmp_path):
    assert chosen(tmp_path, 120).options("coreference") == {"folds": 3}
    assert "folds" not in chosen(tmp_path, 70).options("coreference")


def test_damages_are_found_by_critics_with_a_split(tmp_path):
    profile, _ = profile_collections([write_texts(tmp_path / "r.jsonl", 120)], [write_texts(tmp_path / "c.jsonl", 10)])
    assert choose_critics(profile, ["coreference"], "en").cross_fitted == []


def test_a_requested_critic_needs_a_text_that_it_can_read(tmp_path):
    assert chosen(tmp_path, 40, ["coherence"], titled=3).critics == ["coherence"]
    with pytest.raises(MacroscopeError, match="⟨critic=coherence⟩: it needs 20 documents with section titles"):
        chosen(tmp_path, 40, ["coherence"])
    with pytest.raises(MacroscopeError, match="did you mean 'coherence'"):
        chosen(tmp_path, 40, ["coherense"])


def test_single_texts_are_refused_at_once(tmp_path):
    many, single = write_texts(tmp_path / "many.jsonl", 9), write_texts(tmp_path / "one.jsonl", 1)
    for reference, candidate, name in ((many, single, "one"), (single, many, "reference")):
        profile, profiles = profile_collections([reference], [candidate])
        with pytest.raises(MacroscopeError, match=f"{name}: 1 text; give at least 2"):
            choose(profile, profiles, [])


def test_transcripts_without_the_speaker_say_so(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.txt").write_text("Anna: How are you?\nBen: Well.\nAnna: And Eve?\nBen: Fine.\n")
    given = GivenFields(dialogue="user")
    profile, _ = profile_collections([folder], [], given)
    with pytest.raises(MacroscopeError, match=r"at least 2; left out: record without a turn of user \(2\)$"):
        choose(profile, [], [])
    assert profile_collections([folder], [], replace(given, dialogue="Ben"))[0].documents == 2


def test_an_empty_file_is_named(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    profile, profiles = profile_collections([write_texts(tmp_path / "r.jsonl", 9)], [tmp_path / "empty.jsonl"])
    with pytest.raises(MacroscopeError, match=r"empty: no texts in .*empty\.jsonl; give at least 2"):
        choose(profile, profiles, [])


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["Llama-3.2-1B.jsonl", "Llama-3.1-8B.jsonl.gz"], ["Llama-3.2-1B", "Llama-3.1-8B"]),
        (["gpt-3.5-turbo", "gpt-4.parquet"], ["gpt-3.5-turbo", "gpt-4"]),
        (["runs/a/samples.jsonl", "runs/b/Samples.csv"], ["a-samples", "b-Samples"]),
        (["my model.jsonl", "control.csv", "reference.json"], ["my-model", "control-no2", "reference-no2"]),
        (["a/x.jsonl", "a/x.csv"], ["x", "x-no2"]),
    ],
)
def test_candidates_are_called_after_their_files(files, names, tmp_path):
    paths = [Path(file) for file in files]
    assert names_of_candidates(paths) == dict(zip(names, paths, strict=True))
    profiles = [Profile(name, [path]) for name, path in names_of_candidates(paths).items()]
    config = implied_config(Profile("reference", [Path("real.jsonl")]), profiles, chosen(tmp_path, 40), 1)
    assert [name for name in config["systems"] if name != "control"] == names
    parse_config(config)


@pytest.mark.parametrize("name", ["{x}.jsonl", "a\nb.jsonl", "{"])
def test_paths_that_snakemake_cannot_use_are_named(name, tmp_path):
    path = write_texts(tmp_path / name, 3)
    with pytest.raises(MacroscopeError, match="the workflow cannot use paths with"):
        profile_collections([path], [path])


def test_missing_files_are_one_sentence(tmp_path):
    with pytest.raises(MacroscopeError, match="no such file or folder"):
        profile_collections([tmp_path / "none.jsonl"], [tmp_path])


@pytest.mark.parametrize("cores", ["0", "-1", "1.5", "many", ""])
def test_cores_are_a_number_above_0(cores):
    with pytest.raises(MacroscopeError, match="--cores"):
        require_cores(cores)
    require_cores("all")
    require_cores("2")


def test_an_edited_config_is_kept(tmp_path):
    path = tmp_path / "out" / "config.yaml"
    assert write_config(path, {"run": "a"})
    assert write_config(path, {"run": "b"})  # it is unedited
    assert "run: b" in path.read_text()
    path.write_text(path.read_text().replace("run: b", "run: mine"))
    assert not write_config(path, {"run": "c"})
    assert "run: mine" in path.read_text()
    path.write_text("# Written by `macroscope criticize`; edit what you like and run again:\n")  # by an earlier version
    require_ours(path)


def test_folders_of_other_things_are_refused(tmp_path):
    (tmp_path / "config.yaml").write_text("model: mine\n")
    with pytest.raises(MacroscopeError, match="not a config that `criticize` wrote"):
        write_config(tmp_path / "config.yaml", {"run": "a"})
    assert (tmp_path / "config.yaml").read_text() == "model: mine\n"
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("x")
    with pytest.raises(MacroscopeError, match="a folder with other things in it"):
        write_config(tmp_path / "thesis" / "config.yaml", {"run": "a"})
    with pytest.raises(MacroscopeError, match="not a folder"):
        write_config(tmp_path / "thesis" / "chapter.tex" / "config.yaml", {"run": "a"})


def test_a_folder_is_held_by_one_run_even_after_a_kill(tmp_path):
    folder = tmp_path / "judged"
    program = "import sys, time; from pathlib import Path; from macroscope.criticize.folder import lock_folder\n"
    program += "with lock_folder(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    first = subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE)
    assert first.stdout.readline() == b"held\n"
    with (
        pytest.raises(MacroscopeError, match=f"another run is working here \\(process {first.pid}\\)"),
        lock_folder(folder),
    ):
        pass
    first.kill()
    first.communicate()
    with lock_folder(folder):
        pass
    (folder / "results").mkdir()
    require_ours(folder / "config.yaml")  # it was deleted, to be written again


def test_only_what_is_counted_can_be_asked_for():
    with pytest.raises(ValueError, match="unknown counts: pages"):
        Critic("o:O", {"project": Stage("m:f"), "score": Stage("m:f")}, fewest={"pages": 3})


@pytest.mark.parametrize("name", ["results", "logs", ".snakemake"])
@pytest.mark.parametrize("kind", ["file", "loop"])
def test_a_folder_for_results_that_is_none_is_one_sentence(tmp_path, kind, name):
    write_config(tmp_path / "config.yaml", {"run": "r"})
    require_output(tmp_path)
    if kind == "file":
        (tmp_path / name).touch()
    else:
        (tmp_path / name).symlink_to(name)
    with pytest.raises(MacroscopeError, match=f"{name}: (not a folder|a link that leads to no folder), and results"):
        require_output(tmp_path)
