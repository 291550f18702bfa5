"""The manifest: what is done, whatever the dates of the files say."""

import os

import pytest

from macroscope.engine.manifest import Manifest
from macroscope.engine.tasks import Task
from macroscope.plan.user_files import Digests


def task(name, *inputs, recipe=("option=1",)):
    return Task(name, [], list(inputs), [f"{name}.out"], "log", [], list(recipe))


@pytest.fixture
def manifest(tmp_path):
    """Return a function that returns the manifest of tasks in a folder with a user's file `texts`."""
    (tmp_path / "texts").write_text("one")
    return lambda *tasks: Manifest(tmp_path, "manifest.jsonl", tasks, Digests(tmp_path))


READ, SCORE, OTHER = task("read", "texts"), task("score", "read.out"), task("other")


def make(manifest, tmp_path, *tasks):
    for each in tasks:
        manifest.forget(each)
        (tmp_path / each.outputs[0]).write_text("made")
        manifest.record(each)


def done(manifest, *tasks):
    return [each.name for each in tasks if manifest.is_done(each)]


def test_what_was_made_is_done_in_the_next_run(manifest, tmp_path):
    tasks = (READ, SCORE, OTHER)
    assert done(manifest(*tasks), *tasks) == []
    make(manifest(*tasks), tmp_path, READ, OTHER)
    assert done(manifest(*tasks), *tasks) == ["read", "other"]
    (tmp_path / "other.out").unlink()
    assert done(manifest(*tasks), *tasks) == ["read"]


def test_an_edited_text_with_an_older_date_is_seen_by_all_that_is_made_from_it(manifest, tmp_path):
    tasks = (READ, SCORE, OTHER)
    make(manifest(*tasks), tmp_path, *tasks)
    os.utime(tmp_path / "texts", (4e9, 4e9))
    assert done(manifest(*tasks), *tasks) == ["read", "score", "other"]
    (tmp_path / "texts").write_text("two")
    os.utime(tmp_path / "texts", (1, 1))
    assert done(manifest(*tasks), *tasks) == ["other"]


def test_another_recipe_is_another_task_and_so_is_what_follows(manifest, tmp_path):
    make(manifest(READ, SCORE), tmp_path, READ, SCORE)
    changed = task("read", "texts", recipe=["option=2"])
    assert done(manifest(changed, SCORE), changed, SCORE) == []


def test_a_task_that_began_and_did_not_end_is_not_done(manifest, tmp_path):
    make(manifest(READ), tmp_path, READ)
    manifest(READ).forget(READ)  # then it is killed, in the middle of its output
    assert done(manifest(READ), READ) == []


def test_a_kill_in_the_middle_of_a_line_loses_that_line_alone(manifest, tmp_path):
    make(manifest(READ, OTHER), tmp_path, READ, OTHER)
    path = tmp_path / "manifest.jsonl"
    path.write_text(path.read_text()[:-5])
    assert done(manifest(READ, OTHER), READ, OTHER) == ["read"]
