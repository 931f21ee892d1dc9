from __future__ import annotations

import hashlib
from dataclasses import replace

from inpaintbench.executors.base import Step, Task, task_key, task_keys
from inpaintbench.types import Attribute, canonical_json

STEP = Step("measure", "2", "attributes", Attribute, "module:function", {"level": 3})
TASKS = [Task("clip-1", "content-1", {}), Task("clip-2", "content-2", {})]


def test_a_key_is_of_subject_content_step_version_and_parameters() -> None:
    text = canonical_json(["clip-1", "content-1", "measure", "2", {"level": 3}])
    assert task_key(STEP, TASKS[0]) == hashlib.sha256(text.encode()).hexdigest()[:16]
    others = [replace(STEP, name="other"), replace(STEP, version="3"), replace(STEP, parameters={"level": 4})]
    keys = {task_key(step, task) for step in (STEP, *others) for task in TASKS}
    keys.add(task_key(STEP, Task("clip-1", "other content", {})))
    assert len(keys) == 9


def test_one_key_is_that_of_many() -> None:
    assert [task_key(STEP, task) for task in TASKS] == list(task_keys(STEP, TASKS))


def test_what_was_done_without_weights_by_an_older_release_keeps_its_key() -> None:
    waiting = replace(STEP, lacks={"alexnet": "missing"})
    older = task_key(replace(STEP, parameters={"level": 3, "weights": {"alexnet": "missing"}}), TASKS[0])
    assert task_key(waiting, TASKS[0]) == task_key(STEP, TASKS[0])
    assert task_key(waiting, TASKS[0], {older}) == older
    assert task_key(waiting, TASKS[0], {older, task_key(STEP, TASKS[0])}) == task_key(STEP, TASKS[0])
