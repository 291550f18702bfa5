"""docs/papers.md: every file that it names is planned by its config; the configs have the settings of the papers."""

import re
from functools import cache

import pytest

from macroscope.critics import critics
from macroscope.files import REPOSITORY
from macroscope.plan import load_plan
from macroscope.reporting.html_blocks import captions_of
from macroscope.strict_yaml import read_yaml

PAGE = REPOSITORY / "docs" / "papers.md"
CONFIG = re.compile(r"^`(experiments/[a-z0-9-]+\.yaml)`", re.MULTILINE)
FILE = re.compile(r"`((?:tables|figures|critics)/[^`]+)`")
SMALL = {"deng2022-code-mixing": "deng2022-small"}
"""Experiment -> its small run, if that is not <experiment>-small."""
SUBSTITUTES = {
    # The simulated articles are not about persons; the stories are, and have no titles.
    "coreference-published_wiki_": "coreference-published_stories_",
    "coreference-published/wiki/evidence/gpt2-titles": "coreference-published/stories/evidence/gpt2-no-titles",
    # One encoder comes with a package; its first vectors stand for another encoder.
    "clusters-halves-gpt2_": "clusters-halves-first_",
}
"""Name in a paper's run -> name in its small run."""
GENERAL = {
    "headline.csv": lambda plan: True,
    "statistics.csv": lambda plan: True,
    "corpora.csv": lambda plan: True,
    "models.csv": lambda plan: plan.reporting.contents.language_models,
    "human_correlations.csv": lambda plan: plan.config.human_judgements,
    "probability_correlations.csv": lambda plan: plan.reporting.contents.known_log_q,
}
"""Table of the whole run -> whether a plan makes it."""


def files():
    """Return (config, file) of every file that the page names."""
    _, *parts = CONFIG.split(PAGE.read_text(encoding="utf-8"))
    return [(config, file) for config, text in zip(parts[::2], parts[1::2], strict=True) for file in FILE.findall(text)]


@cache
def plan_of(config):
    return load_plan(read_yaml(REPOSITORY / config))


def item_names(critic):
    """Return the names of a critic's report items, each of which has a caption."""
    plugin = critics()[critic.partition("-")[0]]
    return {path.stem for path in captions_of(plugin.package).glob("*.rst")}


def is_planned(plan, file):
    folder, _, name = file.partition("/")
    if folder == "critics":
        critic, corpus, _, system, evidence = name.split("/")
        source = REPOSITORY / "workflow/macroscope/critics" / critic.partition("-")[0]
        written = any(f'"{evidence}"' in path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
        return (critic, corpus, system) in plan.critics.comparisons and written
    if name in GENERAL:
        return bool(GENERAL[name](plan))
    stem = name.rpartition(".")[0]
    for critic, corpus in plan.critics.chapters:
        before, after = (f"{critic}_{corpus}_", "") if folder == "tables" else (f"{critic}_", f"_{corpus}")
        if stem.startswith(before) and stem.endswith(after):
            item = stem.removeprefix(before).removesuffix(after)
            return bool({item, f"{item}_figure"} & item_names(critic))
    return False


@pytest.mark.parametrize(("config", "file"), files())
def test_every_file_is_planned_by_its_config(config, file):
    assert is_planned(plan_of(config), file)


@pytest.mark.parametrize(("config", "file"), files())
def test_every_file_is_planned_by_the_small_run(config, file):
    name = config.rpartition("/")[2].removesuffix(".yaml")
    for before, after in SUBSTITUTES.items():
        file = file.replace(before, after)
    assert is_planned(plan_of(f"experiments/{SMALL.get(name, f'{name}-small')}.yaml"), file)


@pytest.mark.parametrize("name", SUBSTITUTES)
def test_every_substitute_stands_for_a_file(name):
    assert any(name in file for _, file in files())


@pytest.mark.parametrize(
    "file", ["tables/tendencies_lines_none.csv", "tables/topics_lines_texts.csv", "figures/tendencies_boxes_wiki.svg"]
)
def test_a_file_that_no_critic_makes_is_not_planned(file):
    assert not is_planned(plan_of("experiments/meister2021.yaml"), file)


def test_every_config_of_a_paper_is_on_the_page():
    papers = {path.name for path in (REPOSITORY / "experiments").glob("*20*.yaml") if "-small" not in path.name}
    assert {config.rpartition("/")[2] for config, _ in files()} == papers


def test_every_key_is_in_its_config():
    """Names in the second column, such as `variants.topics.published`, are keys of the config."""
    _, *parts = CONFIG.split(PAGE.read_text(encoding="utf-8"))
    for config, text in zip(parts[::2], parts[1::2], strict=True):
        raw = read_yaml(REPOSITORY / config)
        for row in re.findall(r"^\| [^|]+ \| ([^|]+) \| `", text, re.MULTILINE):
            for key in re.findall(r"`([a-z0-9.-]+)`", row):
                assert has_key(raw, key), f"{config}: {key}"


def has_key(group, key):
    """Return whether a dotted key is anywhere in a config."""
    for part in key.split("."):
        if part not in group:
            return any(isinstance(inner, dict) and has_key(inner, key) for inner in group.values())
        group = group[part] or {}
    return True


@pytest.mark.parametrize(
    ("config", "place", "value"),
    [
        # Released command of Table 1: Adam (0.9, 0.98), clip norm 0.
        ("deng2022", "systems.transformer.training.beta2", 0.98),
        ("deng2022", "systems.transformer.training.gradient_norm", 0),
        # The text of section 6 has no list of stop words; the released code has one of 524.
        ("deng2022", "variants.topics.with-stop-words.stop_words", "none"),
        ("deng2022", "variants.topics.published.stop_words", "smart"),
        # Section 6.2: 512 tokens before any manipulation. Appendix D: the vocabulary of roberta-base.
        ("pimentel2022", "systems.short.perturb.0.tokens", 512),
        ("pimentel2022", "systems.shuffled-words.perturb.0.tokens", 512),
        ("pimentel2022", "variants.strings.lstm.lstm.tokenizer", "roberta-base"),
        ("meister2021", "corpora.lines.keep", ["years", "disambiguation", "lists"]),
        # bert-score's default for English; all gaps of Table 4.
        ("cai2020", "critics.narrative.similarity_encoder", "roberta-large"),
        ("cai2020", "critics.narrative.similarity_layer", 17),
        ("cai2020", "critics.narrative.generation.most_sentences", None),
    ],
)
def test_a_paper_s_config_has_what_its_text_or_its_released_code_says(config, place, value):
    setting = read_yaml(REPOSITORY / "experiments" / f"{config}.yaml")
    for key in place.split("."):
        setting = setting[int(key) if isinstance(setting, list) else key]
    assert setting == value
