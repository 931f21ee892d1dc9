"""One picture, one mask, many seeds of one method: what the paper's Figs. 3f and 4 are of.

Fig. 3f: the picture inpainted by F2 under its own first mask and under a patch mask, against the picture. Fig. 4: the picture
inpainted by F1 under its first mask, again by F2 under one patch mask, and the three objectives. The patch mask hides the same
share as the first mask, as the paper has it for Fig. 4; it states none for Fig. 3f.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from inpaintbench import frozen
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.scoring.predict import MethodSpec, build
from inpaintbench.executors.base import Executor, Task
from inpaintbench.types import Dataset, Frames, Hole, Plain, Score, content_id
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.leaves import metric_of
from inpaintbench.wings.reinpaint.second_masks import patch_of, second_hole
from inpaintbench.wings.reinpaint.setting import Setting
from inpaintbench.wings.reinpaint.step import SECONDS, again, once_more, score_of, step_of
from inpaintbench.workspace import Blobs

# Names of the two rows of Fig. 3f, under which their scores are kept.
NORMAL, PATCHES = "normal mask", "patch mask"


class Deterministic(InpaintBenchError):
    """A method gives the same under every seed."""


def under_seeds(
    executor: Executor,
    dataset: Dataset,
    *,
    root: Path | str,
    item_id: str | None,
    setting: Setting,
    first: MethodSpec | None,
    protocol: str,
    fingerprint: str,
    compute: Compute | None = None,
    time_limit_seconds: float = SECONDS,
) -> list[Score]:
    """Measure one picture under many seeds; what stands in the ledger is kept.

    Args:
        executor: who does the work.
        dataset: the frozen dataset.
        root: its folder.
        item_id: which picture; by default the first.
        setting: F2, as many seeds as its ``masks`` say, patches of which the ratio plays no part, and sub-metrics.
        first: F1, whose seed then varies (Fig. 4); None: the seed of F2 varies (Fig. 3f).
        protocol: name for the rows.
        fingerprint: of the protocol.
        compute: how networks are run.
        time_limit_seconds: for everything.

    Returns:
        A row for each mask (Fig. 3f, as ``method``) or objective (Fig. 4), and sub-metric; ``details`` hold ``values``, one a
        seed, and ``hidden``, the share of the picture that was inpainted.

    Raises:
        InputError: no such item, an item without a hole, a method that is the same under every seed, or no result.
    """
    compute = compute or Compute()
    row = _item(dataset, item_id)
    varied = setting.second if first is None else first
    told = {
        "protocol": protocol, "fingerprint": fingerprint + setting.mark + compute.mark,
        "first": None if first is None else {**asdict(first), "constants": dict(first.constants)},
        "first_version": None if first is None else build(first).version,
    }  # fmt: skip
    name = f"reinpaint.seeds.{setting.key}.{content_id(asdict(varied), first is None)[:12]}"
    step = step_of(name, f"{__name__}:seeded_one", told, setting, compute, seconds=time_limit_seconds)
    content = content_id(row["item_id"], row["truth_rgb_sha256"], row["hole_sha256"], row["fill"])
    payload = {"root": str(Path(root).resolve()), "row": dict(row), "compute": asdict(compute)}
    outcome = executor.run_together([(step, [Task(row["item_id"], content, payload, row["item_id"])])], label="seeds")[step.name]
    if outcome.rejected:
        raise InputError(f"item {row['item_id']!r} was not inpainted under seeds: {outcome.rejected[0].reason}")
    rows: list[Score] = list(outcome.records)
    if rows and rows[0].details.get("deterministic"):
        raise InputError(str(rows[0].reason))
    return rows


def _item(dataset: Dataset, item_id: str | None) -> Plain:
    found = [row for row in dataset.items if item_id in (None, row["item_id"])]
    if not found:
        raise InputError(f"{dataset.name!r} has no item {item_id!r}; the first is {dataset.items[0]['item_id']!r}")
    if not found[0].get("hole_file_name"):
        raise InputError(f"item {found[0]['item_id']!r} has no hole: there is nothing to inpaint")
    return found[0]


def seeded_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:  # noqa: ARG001 - what a step is given
    """Task of one worker: all seeds of one picture."""
    row, setting = payload["row"], Setting.of(parameters["setting"])
    shared = Shared(compute=Compute(**payload["compute"]))
    truth, hole = frozen.truth_and_hole(payload["root"], row)
    assert setting.patches is not None
    # A patch mask that hides as much as the first hole, as nearly as whole patches can.
    patch = patch_of(replace(setting.patches, ratio=float(hole.mean()), count="exact"), row, 0)
    rows: list[Score] = []
    try:
        if parameters["first"] is None:
            for name, mask in ((NORMAL, hole), (PATCHES, patch)):
                results = _results(setting.second, setting, truth, mask, row)
                measured = engine.distances(truth, results, metrics=setting.metrics, shared=shared)
                rows += _scores(name, "1-2", measured, mask, row, parameters)
        else:
            firsts = _results(MethodSpec(**parameters["first"]), setting, truth, hole, row)
            for objective, distances in _by_objective(truth, firsts, second_hole(patch, hole), setting, row, shared).items():
                rows += _scores(objective, objective, distances, hole, row, parameters)
    except Deterministic as error:
        metric = metric_of("1-2", next(iter(parameters["setting"]["metrics"])))
        return [score_of(parameters, row, metric, Measurement(None, str(error)), more={"deterministic": True}, method=NORMAL)]
    return rows


def _results(spec: MethodSpec, setting: Setting, truth: Frames, mask: Hole, row: Plain) -> list[Frames]:
    """The picture inpainted under every seed.

    Raises:
        Deterministic: the method takes no seed and gives the same twice.
    """
    results: list[Frames] = []
    for number in range(setting.masks):
        # Programs that take no seed may draw one from the name of what they are given, which ends in the number.
        results.append(once_more(build(seeded(spec, number)), truth, mask, row, setting, number=number))
        if number == 1 and not takes_seed(spec) and np.array_equal(results[0], results[1]):
            raise Deterministic(
                f"{spec.leaf!r} is deterministic: it takes no seed and gave the same result twice, so that seeds spread nothing; "
                "name a method that takes a seed, such as exemplar"
            )
    return results


def _by_objective(
    truth: Frames, firsts: Sequence[Frames], mask: Hole, setting: Setting, row: Plain, shared: Shared
) -> dict[str, Mapping[str, Sequence[Measurement]]]:
    distances = partial(engine.distances, metrics=setting.metrics, shared=shared)
    seconds = [again(first, [mask], row, setting)[0] for first in firsts]
    pairs = [distances(first, [second]) for first, second in zip(firsts, seconds, strict=True)]
    return {
        "0-1": distances(truth, firsts),
        "0-2": distances(truth, seconds),
        "1-2": {name: [pair[name][0] for pair in pairs] for name in setting.metrics},
    }


def seeded(spec: MethodSpec, number: int) -> MethodSpec:
    """The method under its ``number``-th seed; itself where it takes none."""
    if not takes_seed(spec):
        return spec
    return replace(spec, constants={**spec.constants, "seed": int(spec.constants.get("seed", 0)) + number})


def takes_seed(spec: MethodSpec) -> bool:
    """Return whether a constant of the method is called ``seed``."""
    return "seed" in inspect.signature(METHODS.get(spec.leaf)).parameters


def _scores(
    label: str, objective: str, distances: Mapping[str, Sequence[Measurement]], mask: Hole, row: Plain, parameters: Plain
) -> Iterator[Score]:
    """A row for each sub-metric; ``details`` hold the finite values alone, one a seed."""
    for name, values in distances.items():
        mean = engine.mean_over_masks(values)
        finite = [value.value for value in values if value.value is not None and math.isfinite(value.value)]
        told = {"values": finite, "hidden": float(mask.mean())}
        yield score_of(parameters, row, metric_of(objective, name), replace(mean, details=told), method=label)
