"""Parts of sources, such as masks and films, brought to their clips: the same span of frames, the same scaling and cropping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inpaintbench.curation.footage import without_name
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.types import Attribute, Clip, Plain, content_id


@dataclass(frozen=True)
class Wanted:
    """A part to make."""

    clip: Clip
    blob: str
    """Blob name of the part of its source."""
    variant: str | int | None
    """Tells the parts of a clip apart that one step makes."""
    name: str
    """Display name of the clip."""


def fit(
    executor: Executor,
    wanted: Sequence[Wanted],
    *,
    step: str,
    version: str,
    function: Callable[..., Any],
    attribute: Callable[[Any], str],
    normalizer: Plain,
) -> Outcome:
    """Write the parts to ``attributes``.

    Args:
        executor: who does the work.
        wanted: each part once.
        step: its name.
        version: of what it makes.
        function: makes one part of a payload of ``clip``, ``blob`` and ``variant``.
        attribute: variant -> name of the attribute of the clip.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave the clips their size.
    """
    leaf = [normalizer["name"], NORMALIZERS.get(normalizer["name"]).version, without_name(normalizer)]
    made = Step(
        name=step,
        version=version,
        table="attributes",
        record=Attribute,
        function=f"{function.__module__}:{function.__name__}",
        parameters={"normalizer": leaf},
    )
    tasks = [
        Task(
            f"{one.clip.clip_id}:{attribute(one.variant)}",
            content_id(one.clip.clip_id, one.blob, one.variant),
            {"clip": asdict(one.clip), "blob": one.blob, "variant": one.variant},
            one.name,
        )
        for one in wanted
    ]
    return executor.run(made, tasks)


def normalizer_of(parameters: Mapping[str, Any]) -> Normalizer:
    """The leaf that a step of ``fit`` scales and crops with."""
    name, _, constants = parameters["normalizer"]
    leaf: Normalizer = NORMALIZERS.get(name)(**constants)
    return leaf
