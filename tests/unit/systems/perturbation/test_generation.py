"""Systems of kind perturbation: steps, seeds, counts, config and plan."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from macroscope.config.schema import parse_config
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.systems.options import Description
from macroscope.systems.perturbation import PerturbationSystem
from macroscope.systems.perturbation.declaration import DAMAGES
from macroscope.systems.perturbation.generation import perturb_samples
from tests.unit.plan.plans import find_job

from ....tiny import simulated_documents

RULES = list(DAMAGES)
SAMPLES = simulated_documents("process", 12, 1)


def options(*steps, **keys):
    return PerturbationSystem(kind="perturbation", perturb=list(steps), **keys)


@pytest.fixture
def perturb(tmp_path):
    def call(parsed, samples=SAMPLES, system="defect", seed=1, language="en"):
        write_documents(tmp_path / "samples.parquet", samples, Provenance("wiki", {"system": "control"}))
        output = tmp_path / "perturbed.parquet"
        names = {"corpus": "wiki", "system": system, "language": language}
        perturb_samples(tmp_path / "samples.parquet", output, parsed, seed=seed, **names)
        counts = {count.filter: (count.kept, count.dropped, count.unit) for count in read_provenance(output).counts}
        return list(read_documents(output)), counts

    return call


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_deterministic_and_changes_documents(perturb, rule):
    first, counts = perturb(options(rule))
    again, _ = perturb(options(rule))
    assert first == again
    assert sorted(document.id for document in first) == sorted(document.id for document in SAMPLES)
    kept, unchanged, unit = counts[f"step 1, {rule}: document left as it was"]
    old = {document.id: document for document in SAMPLES}
    assert unchanged == sum(document.sections == old[document.id].sections for document in first)
    assert kept + unchanged == len(SAMPLES)
    assert unit == "changes"
    # The simulated encyclopaedia may have none of these; a collection in another order has the same documents.
    absent = (
        "swap_pronouns",
        "swap_entities",
        "contract_words",
        "replace_spellings",
        "replace_quotes",
        "shuffle_documents",
    )
    assert kept or rule in absent


CERTAIN = (
    *("truncate", "repeat_last_ngram", "remove_articles", "remove_stop_words", "lemmatize_words"),
    *("swap_pronouns", "swap_entities", "contract_words", "replace_spellings", "replace_quotes"),
)
"""Damages that leave nothing to chance in these texts."""
RANDOM = [rule for rule in RULES if rule not in CERTAIN]


@pytest.mark.parametrize("rule", RANDOM)
def test_seed_and_name_change_the_result(perturb, rule):
    first, *others = (
        perturb(options(rule), seed=seed, system=system)[0] for seed, system in ((1, "a"), (2, "a"), (1, "b"))
    )
    assert all(samples != first for samples in others)
    assert perturb(options(rule, seed=1), seed=0, system="a")[0] == first


@pytest.mark.parametrize("rule", [rule for rule in RULES if not DAMAGES[rule].joins])
def test_a_document_does_not_depend_on_the_others(perturb, rule):
    together, _ = perturb(options(rule, rule))
    alone, _ = perturb(options(rule, rule), samples=SAMPLES[5:6])
    assert alone == together[5:6]


def test_steps_come_one_after_the_other(perturb):
    text = Document("x", "test", None, (Section(None, "The b c d e."),))
    cut = {"rule": "truncate", "words": 2}
    results = [
        perturb(options(*steps), samples=[text])[0] for steps in (("remove_articles", cut), (cut, "remove_articles"))
    ]
    assert [document.sections[0].text for (document,) in results] == ["b c", "b"]


def test_documents_without_text_are_dropped_and_counted(perturb):
    texts = [
        Document("a", "test", None, (Section("s", "It was."), Section("t", "Owls."))),
        Document("b", "test", None, (Section("s", "It was."),)),
        Document("c", "test", None, (Section("s", "Owls sleep."),)),
    ]
    documents, counts = perturb(options("remove_stop_words", "shuffle_sections"), samples=texts)
    assert [document.id for document in documents] == ["a", "c"]
    assert counts == {
        "step 1, remove_stop_words: document left as it was": (2, 1, "changes"),
        "step 1, remove_stop_words: document without text": (2, 1, "documents"),
        "step 1, remove_stop_words: section left out": (2, 2, "sections"),
        "step 2, shuffle_sections: document left as it was": (0, 2, "changes"),
        "step 2, shuffle_sections: document without text": (2, 0, "documents"),
    }


def test_counts_of_the_other_system_are_kept(perturb, tmp_path):
    _, counts = perturb(options("shuffle_words"))
    perturbed = tmp_path / "perturbed.parquet"
    perturb_samples(perturbed, tmp_path / "x", options("truncate"), corpus="wiki", system="y", language="en", seed=1)
    assert [*counts] == [count.filter for count in read_provenance(tmp_path / "x").counts][: len(counts)]


def test_sentences_of_a_narrative_are_kept_only_with_its_text(perturb):
    narrative = Document("a", "test", None, (Section(None, "Owls sleep. The end."),), ("Owls sleep.", "The end."))
    assert perturb(options("remove_articles"), samples=[narrative])[0][0].sentences is None
    unchanged = replace(narrative, sections=(Section(None, "Owls sleep."),), sentences=("Owls sleep.",))
    assert perturb(options("remove_articles"), samples=[unchanged])[0] == [unchanged]


@pytest.mark.parametrize(
    ("step", "language", "message"),
    [
        ("remove_articles", "ru", r"step 1 \(remove_articles\): Russian has no articles that are known here"),
        ("remove_articles", "zh", "Chinese has no articles"),
        ("remove_stop_words", "ja", "words are changed between spaces, which Japanese does not write"),
        ("swap_entities", "ar", "which do not distinguish them in Arabic"),
        (
            "remove_stop_words",
            "ta",
            "there is no list of stop words for Tamil; add resources/stop_words/ta.txt",
        ),
        ("swap_pronouns", "de", "only English pronouns are known"),
    ],
)
def test_rules_refuse_languages_that_they_do_not_support(perturb, step, language, message):
    with pytest.raises(MacroscopeError, match=message):
        perturb(options(step), language=language)


def test_articles_of_other_languages_can_be_named(perturb):
    step = {"rule": "remove_articles", "articles": ["der", "die", "das"]}
    text = Document("x", "test", None, (Section(None, "Die Eule sah den Mond."),))
    assert perturb(options(step), samples=[text], language="de")[0][0].sections[0].text == "Eule sah den Mond."


def test_losing_all_text_is_one_sentence(perturb):
    documents = [Document("a", "test", None, (Section(None, "It was."),))]
    with pytest.raises(MacroscopeError, match=r"system defect, step 1 \(remove_stop_words\): no document has any text"):
        perturb(options("remove_stop_words"), samples=documents)
    with pytest.raises(MacroscopeError, match=r"samples\.parquet: system control has no samples"):
        perturb(options("shuffle_words"), samples=[])


SYSTEMS = {
    "process": {"kind": "simulated"},
    "mine": {"kind": "files", "files": ["x"]},
    "shuffled": {"kind": "perturbation", "perturb": ["shuffle_sections"]},
    "mine-cut": {
        "kind": "perturbation",
        "of": "mine",
        "perturb": [{"rule": "drop_sections", "dose": 0.25}, "truncate"],
    },
    "process-cut": {"kind": "perturbation", "of": "process", "perturb": ["truncate"]},
}
REAL = {"source": "files", "files": ["x"], "language": "de"}


def config(systems=None, judged="all", corpus="wiki", **more):
    return {
        "corpora": {"wiki": {"source": "simulated"}, "real": REAL},
        "systems": {**SYSTEMS, **(systems or {}), **more},
        "comparisons": [{"corpus": corpus, "systems": judged, "critics": ["tendencies"]}],
    }


def defect(**keys):
    return {"kind": "perturbation", "perturb": ["shuffle_words"], **keys}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (config(x=defect(of="mind")), "systems.x.of: there is no system 'mind'; did you mean 'mine'?"),
        (config(x=defect(of="shuffled")), "systems.x.of: system 'shuffled' is itself a perturbation; name the"),
        (config(x=defect(of="x")), "systems.x.of: system 'x' is itself a perturbation"),
        (config(x=defect(perturb=[])), "systems.x.perturb: "),
        (
            config(x=defect(perturb=["shuffle_word"])),
            "systems.x.perturb.0.rule: 'shuffle_word' is not one of",
        ),
        (
            config(x=defect(perturb=["truncate", {"rule": "drop_sections", "dos": 0.5}])),
            "systems.x.perturb.1.dos: there is no such key; did you mean 'dose'?",
        ),
        (
            config(judged=["process-cut"], corpus="real"),
            "comparisons.0: system 'process-cut' samples the process of a simulated corpus, and 'real' is not one",
        ),
    ],
)
def test_wrong_configs_are_one_sentence(wrong, message):
    with pytest.raises(MacroscopeError) as error:
        parse_config(wrong)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_plan_perturbs_the_samples_of_the_other_system():
    plan = Plan(parse_config(config()))
    job = find_job(plan, "generate_perturbation")
    assert job.constraints["system"] == "shuffled|mine\\-cut|process\\-cut"

    def wildcards(system, corpus="wiki"):
        return SimpleNamespace(system=system, corpus=corpus)

    folder = "results/default/systems"
    other_samples = job.inputs["other_samples"]
    assert other_samples(wildcards("shuffled")) == f"{folder}/wiki/control/samples.parquet"
    assert other_samples(wildcards("mine-cut", "real")) == f"{folder}/real/mine/samples.parquet"
    assert "language=de" in job.values(wildcards("mine-cut", "real"))
    judged = {system for _, corpus, system in plan.critics.comparisons}
    assert {"control", *SYSTEMS} == judged


def test_all_excludes_perturbations_of_a_process_on_real_corpora():
    plan = Plan(parse_config(config(corpus="real")))
    assert {system for _, _, system in plan.critics.comparisons} == {"control", "mine", "shuffled", "mine-cut"}


def test_the_report_names_the_defect():
    parsed = parse_config(config())
    description = parsed.systems["mine-cut"].description(parsed)
    assert description == Description("perturbation", "mine", "mine: drop sections dose=0.25, truncate")
