"""Inpaint again and compare, over the executor: one task is one item under one first method and one setting.

A worker reads the first result of its item, draws or reads the second holes, runs F2 under each and measures the distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from inpaintbench import frozen, video
from inpaintbench.catalogue import unknown_name
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InputError, MediaError, UnknownNameError, VerifyError
from inpaintbench.eval.adapters.fitting import fitted
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.scoring.predict import build
from inpaintbench.eval.scoring.run_folder import DAMAGED, NOT_RUN
from inpaintbench.eval.scoring.score_item import proofs_of, proved_prediction
from inpaintbench.executors.base import Executor, Step, Task
from inpaintbench.models import torch_networks, weights
from inpaintbench.models.lpips_networks import LPIPS_WEIGHTS
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Dataset, Frames, Hole, Plain, Prediction, Score, content_id, item_rng
from inpaintbench.view import composite
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.engine import BLEND, FILLS, NATURAL, NOISE, NOISE_SIGMA, REGION, partners
from inpaintbench.wings.reinpaint.leaves import metric_of
from inpaintbench.wings.reinpaint.setting import Setting, checked, mean_area, patch_of, second_hole
from inpaintbench.workspace import Blobs

# Stands in the keys of the ledger: another one inpaints everything again.
VERSION = "2"
# Table of the run folder: every value as it was measured, for any number of settings.
TABLE = "reinpaint"
# Usual time limit of one item of one first method, K runs of F2.
SECONDS = 3600.0


@dataclass(frozen=True)
class First:
    """The first results of one method, or of a synthetic fill."""

    label: str
    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    fill: str | None = None
    """One of ``engine.FILLS`` in the place of a method."""
    fill_constants: Plain = field(default_factory=dict)

    @classmethod
    def of_method(cls, label: str, predictions: Sequence[Prediction], failures: Mapping[str, str] | None = None) -> First:
        """First results of a method in a run folder.

        Raises:
            InputError: a method that is called like a synthetic fill.
        """
        if label in FILLS:
            raise InputError(f"method label {label!r} is the name of a synthetic fill; predict under another label")
        return cls(label, {row.item_id: row for row in predictions}, failures or {})

    @classmethod
    def of_fill(cls, name: str, *, seed: int = 0, sigma: float = NOISE_SIGMA, clip: bool = True) -> First:
        """A synthetic fill; ``UnknownNameError`` for a name that is none."""
        constants: dict[str, Plain] = {NATURAL: {}, BLEND: {"seed": seed}, NOISE: {"seed": seed, "sigma": sigma, "clip": clip}}
        if name not in constants:
            raise UnknownNameError(unknown_name("synthetic fill", name, list(FILLS)))
        return cls(name, fill=name, fill_constants=constants[name])


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
            told = {"method": first.label, "protocol": protocol, "fingerprint": fingerprint + setting.mark + compute.mark}
            step = step_of(
                f"reinpaint.{setting.key}.{first.label}", f"{__name__}:inpaint_again_one", told, setting, compute,
                seconds=time_limit_seconds, unmeasured=f"{__name__}:unmeasured",
            )  # fmt: skip
            work.append((step, _tasks(dataset, first, setting, root=root, compute=compute)))
            keys.append((first.label, setting.key))
    outcomes = executor.run_together(work, label=label)
    return {key: outcomes[step.name].records for key, (step, _) in zip(keys, work, strict=True)}


def step_of(
    name: str, function: str, parameters: Plain, setting: Setting, compute: Compute, *, seconds: float, unmeasured: str = ""
) -> Step:
    """A step whose tasks inpaint again under ``setting``; ``parameters`` get the setting and the weights that it needs."""
    needed = weights_of(setting, compute)
    return Step(
        name=name, version=VERSION, table=TABLE, record=Score, function=function,
        parameters={**parameters, "setting": setting.plain(), **weights.needed(needed)},
        time_limit_seconds=seconds, lacks=torch_networks.lacks(needed, compute),
        on_card=bool(needed) and torch_networks.on_card(compute), unmeasured=unmeasured,
    )  # fmt: skip


def weights_of(setting: Setting, compute: Compute) -> list[str]:
    """Names in ``weights.toml`` of the parameters that a setting needs."""
    used = "lpips" in setting.metrics and compute.random_weights is None
    return [LPIPS_WEIGHTS[setting.metrics["lpips"]["net"]]] if used else []


def _tasks(dataset: Dataset, first: First, setting: Setting, *, root: Path | str, compute: Compute) -> list[Task]:
    folder, leaf = str(Path(root).resolve()), build(setting.second)
    source_of = givens(dataset, first)
    tasks = []
    for row in dataset.items:
        item_id, given = row["item_id"], source_of[row["item_id"]]
        holes, hashes = second_files(dataset, row, setting)
        # The picture that fills a hole stands in the key by its pixels: other facts of that item change nothing here.
        identity = {**given, "other": given["other"]["truth_rgb_sha256"]} if "other" in given else given
        content = content_id(
            item_id, row["truth_rgb_sha256"], row["hole_sha256"], row["fill"], hashes, leaf.content(item_id), identity
        )
        payload = {"root": folder, "row": dict(row), "first": given, "second_files": holes, "compute": asdict(compute)}
        tasks.append(Task(item_id, content, payload, f"{first.label}/{item_id}"))
    return tasks


def givens(dataset: Dataset, first: First) -> dict[str, dict[str, Any]]:
    """Item id -> where its first result comes from, for a worker: ``blob``, ``fill`` with its constants, or ``failure``."""
    ids = [row["item_id"] for row in dataset.items]
    if first.fill is None:
        reasons = {item: first.failures.get(item, NOT_RUN) for item in ids}
        return {
            item: {"blob": first.predictions[item].blob} if item in first.predictions else {"failure": reasons[item]}
            for item in ids
        }
    fill: dict[str, Any] = {"fill": first.fill, **first.fill_constants}
    if first.fill != BLEND:
        return dict.fromkeys(ids, fill)
    others = partners(dataset.items, seed=first.fill_constants["seed"])
    lonely = {"failure": "no other picture of the set has its size and another source"}
    return {item: {**fill, "other": dict(others[item])} if item in others else lonely for item in ids}


def second_files(dataset: Dataset, row: Plain, setting: Setting) -> tuple[list[str], list[str]]:
    """Files of the second masks of an item, in the dataset, and their hashes; none where masks are drawn."""
    if setting.normal:
        # Items whose first holes lie upon this one as normal masks: of its size, drawn by its id alone.
        same = ("frames", "height", "width")
        others = [
            other
            for other in dataset.items
            if other["item_id"] != row["item_id"] and all(other[name] == row[name] for name in same)
        ]
        others.sort(key=lambda other: str(other["item_id"]))
        order = item_rng(0, "reinpaint.normal", row["item_id"]).permutation(len(others))
        chosen = [others[place] for place in order[: setting.masks]]
        return [str(one["hole_file_name"]) for one in chosen], [str(one["hole_sha256"]) for one in chosen]
    if setting.patches is not None:
        return [], []
    files = list(row["second_hole_file_names"])[: setting.masks]
    facts = row["attributes"]["second_holes"][: setting.masks]
    return files, [fact["hole_sha256"] for fact in facts]


def unmeasured(payload: Plain, *, parameters: Plain, reason: str) -> list[Score]:
    """A row without a value for every objective and sub-metric."""
    setting, nothing = Setting.of(parameters["setting"]), Measurement(None, reason)
    names = [metric_of(objective, name) for objective in setting.objectives for name in setting.metrics]
    return [score_of(parameters, payload["row"], metric, nothing) for metric in names]


def score_of(
    parameters: Plain, row: Plain, metric: str, value: Measurement, *, more: Plain | None = None, method: str | None = None
) -> Score:
    """The row of a measurement over whole frames, with ``more`` details; ``method`` as the parameters say by default."""
    return Score(
        method or parameters["method"], row["item_id"], metric, REGION, parameters["protocol"], parameters["fingerprint"],
        value.value, value.reason, details={**value.details, **(more or {})},
    )  # fmt: skip


def natural() -> First:
    """The truth as a first result."""
    return First.of_fill(NATURAL)


def inpaint_again_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:
    """All objectives and sub-metrics of one item for one first method under one setting."""
    root, row, setting = payload["root"], payload["row"], Setting.of(parameters["setting"])
    try:
        truth, hole = frozen.truth_and_hole(root, row)
        first = first_result(root, row, payload["first"], truth, hole, blobs=blobs)
        holes = second_holes(root, row, hole, setting, files=payload["second_files"])
        proofs = proofs_of(root, row, payload["first"].get("blob"), blobs=blobs)
    except (MediaError, VerifyError) as error:
        details = {UNEXPECTED: DAMAGED} if isinstance(error, VerifyError) else {}
        return [replace(one, details=details) for one in unmeasured(payload, parameters=parameters, reason=str(error))]
    measurements = measured(truth, first, again(first, holes, row, setting), setting, compute=Compute(**payload["compute"]))
    areas = {"first_area": float(hole.mean()), "second_area": mean_area(holes), "second": setting.second.label}
    rows = [score_of(parameters, row, metric, value, more=areas) for metric, value in measurements.items()]
    return [replace(one, measured=proofs) for one in rows]


def first_result(root: Path | str, row: Plain, given: Plain, truth: Frames, hole: Hole, *, blobs: Blobs) -> Frames:
    """X1, ``uint8[T, H, W, 3]``: the composite of a prediction, or a synthetic fill.

    Raises:
        MediaError: there is no prediction, it cannot be read, or is of another size.
    """
    if "failure" in given:
        raise MediaError(given["failure"])
    fill = given.get("fill")
    if fill is None:
        return composite(truth, hole, fitted(video.read_frames(proved_prediction(blobs, given["blob"], row)), row, resize="none"))
    if fill == BLEND:
        return engine.blend(truth, hole, frozen.truth_and_hole(root, given["other"])[0])
    if fill == NOISE:
        rng = engine.noise_rng(given["seed"], row["item_id"])
        return engine.noise(truth, hole, rng=rng, sigma=given["sigma"], clip=given["clip"])
    return truth


def second_holes(root: Path | str, row: Plain, first: Hole, setting: Setting, *, files: Sequence[str]) -> list[Hole]:
    """M2_k for each k, none of it in the first hole."""
    if setting.patches is None:
        return [second_hole(video.read_hole(frozen.proved_file(root, name).path), first) for name in files]
    return [second_hole(patch_of(setting.patches, row, number), first) for number in range(setting.masks)]


def again(first: Frames, holes: Sequence[Hole], row: Plain, setting: Setting) -> list[Frames]:
    """X2_k for each second hole; F2 may seed its chance with the item's id and k, the same for all first methods."""
    leaf = build(setting.second)
    return [once_more(leaf, first, hole, row, setting, number=number) for number, hole in enumerate(holes)]


def once_more(leaf: Any, first: Frames, hole: Hole, row: Plain, setting: Setting, *, number: int) -> Frames:
    """``engine.inpaint_again`` with what an item and a setting say; programs may seed from the item's id and ``number``."""
    return engine.inpaint_again(
        leaf, first, hole, fill=row["fill"], composited=setting.composited, item_id=f"{row['item_id']}.{number}", fps=row["fps"]
    )


def measured(
    truth: Frames, first: Frames, seconds: Sequence[Frames], setting: Setting, *, compute: Compute | None = None
) -> dict[str, Measurement]:
    """Metric -> its value for the item: the mean over second holes, or of objective 0-1 the value of the first result."""
    pairs = {"0-1": (truth, [first]), "0-2": (truth, seconds), "1-2": (first, seconds)}
    values: dict[str, Measurement] = {}
    for objective in setting.objectives:
        distances = engine.distances(*pairs[objective], metrics=setting.metrics, shared=Shared(compute=compute))
        # One first result has one distance from the truth, so there is nothing to average.
        mean = (lambda own: own[0]) if objective == "0-1" else engine.mean_over_masks
        values |= {metric_of(objective, name): mean(own) for name, own in distances.items()}
    return values
