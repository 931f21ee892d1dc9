"""What one worker does: the first result of one item, its second holes, what F2 makes of them, and the distances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench import frozen, video
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import MediaError
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.predict import build
from inpaintbench.eval.reinpainting import engine, fills
from inpaintbench.eval.reinpainting.leaves import metric_of
from inpaintbench.eval.reinpainting.second_masks import mean_area, patch_mask, second_hole
from inpaintbench.eval.reinpainting.setting import Setting
from inpaintbench.eval.reinpainting.step import unmeasured
from inpaintbench.eval.sizes import fitted
from inpaintbench.types import Frames, Hole, Plain, Score
from inpaintbench.view import composite
from inpaintbench.workspace import Blobs


def inpaint_again_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:
    """All objectives and sub-metrics of one item for one first method under one setting."""
    row, given = payload["row"], payload["first"]
    if "failure" in given:
        return unmeasured(payload, parameters=parameters, reason=given["failure"])
    setting = Setting.of(parameters["setting"])
    truth, hole = frozen.truth_and_hole(payload["root"], row)
    try:
        first = first_result(payload["root"], row, given, truth, hole, blobs=blobs)
    except MediaError as error:
        return unmeasured(payload, parameters=parameters, reason=str(error))
    holes = second_holes(payload["root"], row, hole, setting, files=payload["second_files"])
    seconds = again(first, holes, row, setting)
    found = measured(truth, first, seconds, setting, compute=Compute(**payload["compute"]))
    areas = {"first_area": float(hole.mean()), "second_area": mean_area(holes), "second": setting.second.label}
    return [
        Score(
            method=parameters["method"],
            item_id=row["item_id"],
            metric=metric,
            region="frame",
            protocol=parameters["protocol"],
            fingerprint=parameters["fingerprint"],
            value=one.value,
            reason=one.reason,
            details={**one.details, **areas},
        )
        for metric, one in found.items()
    ]


def first_result(root: Path | str, row: Plain, given: Plain, truth: Frames, hole: Hole, *, blobs: Blobs) -> Frames:
    """X1, ``uint8[T, H, W, 3]``: the composite of a prediction, or a synthetic fill.

    Raises:
        MediaError: the prediction cannot be read, or is of another size.
    """
    made = given.get("fill")
    if made is None:
        return composite(truth, hole, fitted(video.read_frames(blobs.path(given["blob"])), row, resize="none"))
    if made == fills.BLEND:
        return fills.blend(truth, hole, frozen.truth_and_hole(root, given["other"])[0])
    if made == fills.NOISE:
        rng = fills.noise_rng(given["seed"], row["item_id"])
        return fills.noise(truth, hole, rng=rng, sigma=given["sigma"], clip=given["clip"])
    return truth


def second_holes(root: Path | str, row: Plain, first: Hole, setting: Setting, *, files: Sequence[str]) -> list[Hole]:
    """M2_k for each k, none of it in the first hole."""
    if setting.patches is None:
        return [second_hole(video.read_hole(Path(root) / name), first) for name in files]
    shape = {"frames": row["frames"], "height": row["height"], "width": row["width"]}
    drawn = (patch_mask(setting.patches, item_id=row["item_id"], number=k, **shape) for k in range(setting.masks))
    return [second_hole(patch, first) for patch in drawn]


def again(first: Frames, holes: Sequence[Hole], row: Plain, setting: Setting) -> list[Frames]:
    """X2_k for each second hole; F2 may seed its chance with the item's id and k, the same for all first methods."""
    leaf = build(setting.second)
    return [
        engine.inpaint_again(
            leaf, first, hole, fill=row["fill"], composited=setting.composited, item_id=f"{row['item_id']}.{k}", fps=row["fps"]
        )
        for k, hole in enumerate(holes)
    ]


def measured(
    truth: Frames, first: Frames, seconds: Sequence[Frames], setting: Setting, *, compute: Compute | None = None
) -> dict[str, Measurement]:
    """Metric -> its value for the item: the mean over second holes, or of objective 0-1 the value of the first result."""
    pairs: dict[str, tuple[Frames, Sequence[Frames]]] = {
        "0-1": (truth, [first]),
        "0-2": (truth, seconds),
        "1-2": (first, seconds),
    }
    found = {}
    for objective in setting.objectives:
        one, others = pairs[objective]
        of_objective = engine.distances(one, others, metrics=setting.metrics, shared=Shared(compute=compute))
        for name, values in of_objective.items():
            found[metric_of(objective, name)] = values[0] if objective == "0-1" else engine.mean_over_masks(values)
    return found
