"""Tasks from steps: their wildcards, their files and their order."""

from dataclasses import replace

import pytest

from macroscope.engine.tasks import Machine, Step, TaskWildcards, find_tasks
from macroscope.errors import MacroscopeError
from macroscope.jobs import OUTPUT, Job, Resources
from macroscope.stages import Stage


def step(name, inputs, output, constraints=None, **more):
    job = Job(
        **{"name": name, "command": name, "stage": Stage("a:b"), "inputs": inputs, "outputs": {OUTPUT: output}},
        **{"values": lambda w: [], "modules": ["module"], "resources": Resources(1, 1, 0)} | more,
    )
    return Step(job, "r", constraints or {})


STEPS = [
    step("read", {"raw": lambda w: f"{w.corpus}.txt"}, "{corpus}/documents"),
    step("score", {"texts": "{corpus}/documents"}, "{corpus}/{system}.scores", constraints={"system": "[a-z]+"}),
    step("all", {"scores": ["wiki/a.scores", "wiki/b.scores"]}, "table"),
]


def tasks(*targets, steps=STEPS, cores=2, files=("wiki.txt",)):
    return find_tasks(steps, targets, Machine(cores), lambda path: path in files)


def test_tasks_follow_those_that_make_their_inputs_and_each_occurs_once():
    assert [task.words for task in tasks("table")] == [
        ["read", "--output", "wiki/documents"],
        ["score", "--output", "wiki/a.scores"],
        ["score", "--output", "wiki/b.scores"],
        ["all", "--output", "table"],
    ]
    assert tasks("wiki/documents")[0].inputs == ["wiki.txt"]


def test_a_file_that_no_step_makes_is_named():
    with pytest.raises(MacroscopeError, match=r"news\.txt: no such file"):
        tasks("news/a.scores")
    with pytest.raises(MacroscopeError, match=r"wiki/A\.scores"):  # the constraint
        tasks("wiki/A.scores")


def test_a_wildcard_has_one_value_in_a_path():
    repeated = step("copy", {}, "{name}/{name}.csv")
    assert repeated.match("a/a.csv").name == "a"
    assert repeated.match("a/b.csv") is None


def test_wildcards_are_attributes_and_items():
    wildcards = TaskWildcards({"corpus": "wiki"})
    assert (wildcards.corpus, dict(wildcards.items()), wildcards.fill("{corpus}.x")) == (
        "wiki",
        {"corpus": "wiki"},
        "wiki.x",
    )
    assert getattr(wildcards, "system", None) is None


@pytest.mark.parametrize(("wanted", "cores", "threads"), [(4, 2, 2), (1, 2, 1), (4, 8, 4)])
def test_a_task_has_the_threads_that_it_wants_and_the_machine_has(wanted, cores, threads):
    (task,) = tasks("x", steps=[step("figures", {}, "x", resources=Resources(lambda w: wanted, 1, 0))], cores=cores)
    assert task.uses.threads == threads


def test_a_job_of_the_plan_is_a_task_with_the_words_of_its_rule():
    job = Job(
        "score_toy",
        "critics run --critic toy --stage score",
        Stage("a:b", inputs="latents threads system evidence", minutes=7),
        inputs={"latents": "{system}.latents"},
        outputs={OUTPUT: "results/<run>/{system}.csv", "evidence": "{system}/evidence"},
        options=lambda w: "{}",
        values=lambda w: ["--value", f"system={w.system}"],
        modules=lambda w: [f"of_{w.system}"],
        resources=Resources(2, 100, 0),
    )
    (task,) = find_tasks([Step(job, "r1")], ["results/r1/a.csv"], Machine(4), lambda path: path == "a.latents")
    assert task.words == [
        *("critics", "run", "--critic", "toy", "--stage", "score", "--input", "latents=a.latents"),
        *("--value", "threads=2", "--value", "system=a", "--options", "{}"),
        *("--value", "evidence=a/evidence", "--output", "results/r1/a.csv"),
    ]
    assert (task.log, task.modules, task.minutes) == ("logs/r1/score_toy/a.log", ["of_a"], 7)
    assert task.outputs == ["results/r1/a.csv", "a/evidence"]


def test_the_version_of_a_step_is_in_the_recipe_of_its_tasks():
    """A test of the manifest shows that another recipe runs a task, and what follows from it."""
    first, *others = tasks("table")
    raised = [Step(replace(step.job, version=2), "r") if step.job.name == "read" else step for step in STEPS]
    again, *others_again = tasks("table", steps=raised)
    assert (first.recipe, again.recipe) == (["1", *first.words], ["2", *first.words])
    assert others_again == others
