"""A step that does nothing, to time whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inpaintbench.executors.base import Step, Task
from inpaintbench.types import Attribute
from inpaintbench.workspace import Blobs

STEP = Step("nothing", "1", "attributes", Attribute, "chores_of_bench:nothing")


def tasks(count: int) -> list[Task]:
    return [Task(f"t{place}", "", {"name": f"t{place}"}) for place in range(count)]


def nothing(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    return [Attribute(payload["name"], "nothing", 0.0, None, "nothing", "1")]
