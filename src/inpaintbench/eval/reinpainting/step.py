"""Inpaint again and compare, over the executor: one task is one item under one first method and one setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError
from inpaintbench.eval.freshness import NOT_RUN
from inpaintbench.eval.predict import build
from inpaintbench.eval.reinpainting.fills import BLEND, FILLS, NATURAL, NOISE, NOISE_SIGMA, check_fill, partners
from inpaintbench.eval.reinpainting.leaves import metric_of
from inpaintbench.eval.reinpainting.setting import Setting, checked
from inpaintbench.executors.base import Executor, Step, Task
from inpaintbench.models import torch_networks, weights
from inpaintbench.models.lpips_networks import LPIPS_WEIGHTS
from inpaintbench.types import Dataset, Plain, Prediction, Score, content_id, item_rng

VERSION = "1"
# Of the run folder: every value as it was measured, for any number of settings.
TABLE = "reinpaint"
# For one item of one first method, K runs of F2, unless told otherwise.
SECONDS = 3600.0


@dataclass(frozen=True)
class First:
    """The first results of one method, or of a synthetic fill."""

    label: str
    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    fill: str | None = None
    """One of ``fills.FILLS`` in the place of a method."""
    fill_constants: Plain = field(default_factory=dict)

    @classmethod
    def of_method(cls, label: str, predictions: Sequence[Prediction], failures: Mapping[str, str] | None = None) -> First:
        """What a run folder holds of a method.

        Raises:
            InputError: a method that is called like a synthetic fill.
        """
        if label in FILLS:
            raise InputError(f"method label {label!r} is the name of a synthetic fill; predict under another label")
        return cls(label, {row.item_id: row for row in predictions}, failures or {})

    @classmethod
    def of_fill(cls, name: str, *, seed: int = 0, sigma: float = NOISE_SIGMA, clip: bool = True) -> First:
        """A synthetic fill; ``UnknownNameError`` for a name that is none."""
        constants: dict[str, Plain] = {
            NATURAL: {},
            BLEND: {"seed": seed},
            NOISE: {"seed": seed, "sigma": sigma, "clip": clip},
        }
        return cls(name, fill=check_fill(name), fill_constants=constants[name])


def inpaint_again_all(
    executor: Executor,
    dataset: Dataset,
    *,
    root: Path | str,
    firsts: Sequence[First],
    settings: Sequence[Setting],
    protocol: str,
    fingerprint: str,
    compute: Compute | None = None,
    time_limit_seconds: float = SECONDS,
    label: str = "reinpaint",
) -> dict[tuple[str, str], list[Score]]:
    """Measure every first method under every setting; what stands in the ledger is kept.

    Second masks depend on seed, item and number alone, so all methods meet the same ones, in any order and with any number of
    workers.

    Args:
        executor: who does the work; its workspace holds the predictions.
        dataset: the frozen dataset.
        root: its folder.
        firsts: what is inpainted again.
        settings: how.
        protocol: name for the rows.
        fingerprint: of the protocol; the mark of the setting is added.
        compute: how networks are run.
        time_limit_seconds: for one item, method and setting.
        label: what the progress is called.

    Returns:
        (label of the first method, key of the setting) -> one row for each item, objective and sub-metric in the frame, those
        without a value with the reason.

    Raises:
        InputError: a dataset that lacks what a setting needs, or two first methods of one name.
    """
    labels = [first.label for first in firsts]
    if double := [name for name in labels if labels.count(name) > 1]:
        raise InputError(f"two first methods are called {double[0]!r}; give each its own label")
    compute = compute or Compute()
    work, keys = [], []
    for setting in settings:
        checked(setting, dataset)
        for first in firsts:
            step = _step(first, setting, protocol, fingerprint + setting.mark, compute, time_limit_seconds)
            work.append((step, _tasks(dataset, first, setting, root=root, compute=compute)))
            keys.append((first.label, setting.key))
    outcomes = executor.run_together(work, label=label)
    return {key: outcomes[step.name].records for key, (step, _) in zip(keys, work, strict=True)}


def _step(first: First, setting: Setting, protocol: str, fingerprint: str, compute: Compute, seconds: float) -> Step:
    return Step(
        name=f"reinpaint.{setting.key}.{first.label}",
        version=VERSION,
        table=TABLE,
        record=Score,
        function="inpaintbench.eval.reinpainting.one_item:inpaint_again_one",
        parameters={
            "method": first.label,
            "protocol": protocol,
            "fingerprint": fingerprint + compute.mark,
            "setting": setting.plain(),
            **weights.needed(weights_of(setting, compute)),
        },
        time_limit_seconds=seconds,
        lacks=torch_networks.lacks(weights_of(setting, compute), compute),
        unmeasured="inpaintbench.eval.reinpainting.step:unmeasured",
    )


def weights_of(setting: Setting, compute: Compute) -> list[str]:
    """Names in ``weights.toml`` of the parameters that a setting needs."""
    used = "lpips" in setting.metrics and compute.random_weights is None
    return [LPIPS_WEIGHTS[setting.metrics["lpips"]["net"]]] if used else []


def _tasks(dataset: Dataset, first: First, setting: Setting, *, root: Path | str, compute: Compute) -> list[Task]:
    folder, leaf = str(Path(root).resolve()), build(setting.second)
    given = _givens(dataset, first)
    tasks = []
    for row in dataset.items:
        item_id = row["item_id"]
        holes, hashes = second_files(dataset, row, setting)
        own = leaf.content(item_id)
        content = content_id(
            item_id, row["truth_rgb_sha256"], row["hole_sha256"], row["fill"], hashes, own, _identity(given[item_id])
        )
        payload = {
            "root": folder, "row": dict(row), "first": given[item_id], "second_files": holes, "compute": asdict(compute),
        }  # fmt: skip
        tasks.append(Task(item_id, content, payload, f"{first.label}/{item_id}"))
    return tasks


def given_of(dataset: Dataset, first: First, row: Plain) -> dict[str, Any]:
    """Where the first result of one item comes from, as a worker is told."""
    return _givens(dataset, first)[row["item_id"]]


def _givens(dataset: Dataset, first: First) -> dict[str, dict[str, Any]]:
    """Item id -> where its first result comes from."""
    if first.fill is None:
        return {row["item_id"]: _predicted(first, row["item_id"]) for row in dataset.items}
    made: dict[str, Any] = {"fill": first.fill, **first.fill_constants}
    if first.fill != BLEND:
        return {row["item_id"]: made for row in dataset.items}
    other = partners(dataset.items, seed=first.fill_constants["seed"])
    nobody = {"failure": "no other picture of the set has its size and another source"}
    return {
        row["item_id"]: {**made, "other": dict(other[row["item_id"]])} if row["item_id"] in other else nobody
        for row in dataset.items
    }


def _predicted(first: First, item_id: str) -> dict[str, Any]:
    found = first.predictions.get(item_id)
    return {"failure": first.failures.get(item_id, NOT_RUN)} if found is None else {"blob": found.blob}


def _identity(given: Plain) -> Plain:
    return {**given, "other": given["other"]["truth_rgb_sha256"]} if "other" in given else given


def second_files(dataset: Dataset, row: Plain, setting: Setting) -> tuple[list[str], list[str]]:
    """Files of the second masks of an item, in the dataset, and their hashes; none where masks are drawn."""
    if setting.normal:
        chosen = normal_masks(dataset, row, count=setting.masks)
        return [str(one["hole_file_name"]) for one in chosen], [str(one["hole_sha256"]) for one in chosen]
    if setting.patches is not None:
        return [], []
    files = list(row["second_hole_file_names"])[: setting.masks]
    facts = row["attributes"]["second_holes"][: setting.masks]
    return files, [fact["hole_sha256"] for fact in facts]


def normal_masks(dataset: Dataset, row: Plain, *, count: int) -> list[Plain]:
    """Items whose first holes lie upon this one as normal masks: of its size, drawn by its id alone."""
    others = sorted((one for one in dataset.items if _is_another(one, row)), key=lambda one: str(one["item_id"]))
    order = item_rng(0, "reinpaint.normal", row["item_id"]).permutation(len(others))
    return [others[place] for place in order[:count]]


def _is_another(one: Plain, row: Plain) -> bool:
    return one["item_id"] != row["item_id"] and all(one[name] == row[name] for name in ("frames", "height", "width"))


def unmeasured(payload: Plain, *, parameters: Plain, reason: str) -> list[Score]:
    """A row without a value for every objective and sub-metric."""
    setting, item_id = Setting.of(parameters["setting"]), payload["row"]["item_id"]
    return [
        Score(
            parameters["method"], item_id, metric_of(objective, name), "frame", parameters["protocol"], parameters["fingerprint"],
            None, reason,
        )
        for objective in setting.objectives
        for name in setting.metrics
    ]  # fmt: skip


def natural() -> First:
    """The truth as a first result."""
    return First.of_fill(NATURAL)
