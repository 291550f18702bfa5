"""The block `sensitivity` of a config: the systems that it implies, languages, errors."""

import re

import pytest

from macroscope.config.schema import parse_config
from macroscope.criticize.inputs import GivenFields
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.sensitivity.run import QUICK, config_of_corpus, profile_reference
from macroscope.systems.perturbation.declaration import DAMAGES, harmful


def config(language="en", **block):
    options = {"corpus": "real", "critics": ["tendencies"], **block}
    return {"corpora": {"real": {"source": "files", "files": ["x"], "language": language}}, "sensitivity": options}


def test_a_system_per_damage_and_dose_and_the_harmless_twins():
    parsed = parse_config(config(damages=["drop_words", "remove_sentences"], doses=[0.25, 0.75]))
    assert {*parsed.systems} == {
        "drop_words-25",
        "drop_words-75",
        "remove_sentences-25",  # every second sentence is the most that it can remove
        "replace_synonyms-25",
        "replace_synonyms-75",
        "move_paragraph_breaks-25",
        "move_paragraph_breaks-75",
    }
    assert parsed.systems["drop_words-25"].perturb[0].dose == 0.25
    assert parsed.comparisons[0].critics == ["tendencies"]


def test_the_effective_config_is_read_as_it_was():
    parsed = parse_config(config())
    assert parse_config(parsed.model_dump(mode="json")) == parsed


def test_a_run_writes_the_page_alone_and_every_critic_measures_its_power():
    plan = Plan(parse_config(config()))
    assert plan.targets() == ["results/default/sensitivity"]
    assert plan.reporting.contents.powers == ["statistics/tendencies/real.power.csv"]
    assert len(plan.reporting.contents.pairs) == 1 + len(plan.config.sensitivity.cells())


def test_all_damages_that_the_language_allows():
    english, chinese = (parse_config(config(language)).sensitivity for language in ("en", "zh"))
    assert english.chosen() == list(DAMAGES.values())
    assert not english.left_out()
    assert "swap_pronouns" in chinese.left_out()
    assert {damage.name for damage in chinese.chosen()} | {*chinese.left_out()} == {*DAMAGES}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (config(damages=["drop_word"]), "there is no damage 'drop_word'; did you mean 'drop_words'?"),
        (config(doses=[0.5, 1.5]), "give shares up to 1, in whole percent"),
        (config(sizes=[30, 30]), "give different numbers above 0"),
        (config() | {"comparisons": [{"corpus": "real", "critics": ["strings"]}]}, "a run with 'sensitivity' has none"),
    ],
)
def test_wrong_blocks_are_one_sentence(wrong, message):
    with pytest.raises(MacroscopeError) as error:
        parse_config(wrong)
    assert message in str(error.value)


def test_the_quick_run_has_eight_damages():
    assert len(QUICK["damages"]) == 8
    assert {*QUICK["damages"]} <= {damage.name for damage in harmful()}
    parsed = parse_config(config_of_corpus("wiki", 300, ["tendencies"], 1, quick=True))
    assert parsed.sensitivity.doses == [0.1, 0.25]


def test_the_command_profiles_the_texts_before_it_runs(tmp_path, command, monkeypatch, capsys):
    printed = []
    (tmp_path / "copies.jsonl").write_text('{"text": "He walked home. He was tired."}\n' * 30)

    def stop(*_):
        printed.append(capsys.readouterr().out)
        raise MacroscopeError("the run begins")

    monkeypatch.setattr("macroscope.criticize.run.criticize", stop)
    arguments = ("--reference", tmp_path / "copies.jsonl", "--output", tmp_path / "out", "--critic", "tendencies")
    assert command("sensitivity", *arguments)[0] == 1
    assert re.search(r"texts that occur again +29\n", printed[0])


def test_the_fields_of_the_real_texts_are_those_of_the_user(tmp_path):
    path = tmp_path / "real.jsonl"
    path.write_text("".join(f'{{"body": "Text {n}.", "task": "Task {n // 2}.", "text": "no"}}\n' for n in range(4)))
    profile = profile_reference([path], GivenFields(text="body", prompt="task"))
    assert (profile.documents, len(set(profile.texts)), len(set(profile.prompts))) == (4, 4, 2)
    with pytest.raises(MacroscopeError, match="bodies"):
        profile_reference([path], GivenFields(text="bodies"))
