"""Score one item: one decode feeds all metrics of all methods, and a failure hides no other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.errors import InpaintBenchError, MediaError
from inpaintbench.eval.grey import grey_view
from inpaintbench.eval.metrics.base import Features, Measurement, Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.sizes import fitted, measured_view
from inpaintbench.sharing import Compute, Shared
from inpaintbench.types import Plain, Score, content_id
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs, is_disk_error

FEATURES_FOLDER = "features"
"""Of a run folder: what networks say of the truth, for methods that are scored later."""
UNEXPECTED = "unexpected_error"
"""In the details of a row: kind of the error, the program's or the machine's, that kept it from a value; tried in every run."""
_HELD_BYTES = 1 << 30
"""Of decoded composites at once; more methods than fit are measured in several goes."""
_DECODERS = 4

Job = tuple[Plain, Plain]
Measurements = Mapping[str, Measurement]


def score_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:
    """All metrics and regions of one item for one method."""
    return score_together([(payload, parameters)], blobs=blobs)[0]


def score_together(jobs: Sequence[Job], *, blobs: Blobs) -> list[list[Score]]:
    """All metrics and regions of one item for several methods under one protocol: the rows of each job."""
    row, parameters = jobs[0][0]["row"], jobs[0][1]
    protocol: Protocol = PROTOCOLS.get(parameters["protocol"])
    metrics = protocol.build_metrics(parameters["metrics"])
    size = row["frames"] * row["height"] * row["width"] * 3
    at_once = max(1, _HELD_BYTES // size - 1)
    goes = [jobs[begin : begin + at_once] for begin in range(0, len(jobs), at_once)]
    return [rows for some in goes for rows in _score_held(some, metrics, protocol=protocol, blobs=blobs)]


def _score_held(jobs: Sequence[Job], metrics: Sequence[Metric], *, protocol: Protocol, blobs: Blobs) -> list[list[Score]]:
    """The rows of jobs whose composites are held at once, and let go when it returns."""
    payload = jobs[0][0]
    shared = Shared(
        truth_id=content_id(payload["row"]["truth_rgb_sha256"], protocol.colours, *filter(None, [protocol.size])),
        folder=blobs.beside(FEATURES_FOLDER),
        compute=Compute(**payload["compute"]),
    )
    views = _readable(jobs, shared, protocol=protocol, blobs=blobs)
    found = {metric.name: _measured(metric, views, protocol=protocol) for metric in metrics}
    return [
        _rows(job, {name: measured[place] for name, measured in found.items()}, blobs=blobs) for place, job in enumerate(jobs)
    ]


def _rows(job: Job, found: Mapping[str, Measurements], *, blobs: Blobs) -> list[Score]:
    payload, parameters = job
    return [
        Score(
            method=parameters["method"],
            item_id=payload["row"]["item_id"],
            metric=name,
            region=region,
            protocol=parameters["protocol"],
            fingerprint=parameters["fingerprint"],
            value=measured.value,
            reason=measured.reason,
            details=dict(measured.details),
            **_kept(measured.features, blobs),
        )
        for name, measurements in found.items()
        for region, measured in zip(measurements, map(_number, measurements.values()), strict=True)
    ]


def _number(measured: Measurement) -> Measurement:
    """The measurement, without a value where that is NaN."""
    undefined = measured.value is not None and math.isnan(measured.value)
    return replace(measured, value=None, reason=measured.reason or "the metric gave NaN") if undefined else measured


def _kept(features: Features | None, blobs: Blobs) -> dict[str, str]:
    if features is None:
        return {}
    names = [blobs.put(".npy", partial(np.save, arr=np.asarray(array, np.float32)))[0] for array in features]
    return dict(zip(("features", "truth_features"), names, strict=True))


def _readable(jobs: Sequence[Job], shared: Shared, *, protocol: Protocol, blobs: Blobs) -> list[ItemView | str]:
    """The item with each prediction in the colours of the protocol, or why there is none."""
    row = jobs[0][0]["row"]
    failures = [payload.get("failure") for payload, _ in jobs]
    paths = [blobs.path(payload["blob"]) for payload, _ in jobs if "blob" in payload]

    def prediction(path: Path) -> Any:
        try:
            frames = video.read_frames(path)
        except MediaError as error:
            raise MediaError(f"the prediction of item {row['item_id']!r} cannot be read: {error}") from error
        return fitted(frames, row, resize=protocol.resize)

    views = iter(frozen.scoring_views(
        jobs[0][0]["root"], row, predictions=[partial(prediction, path) for path in paths], shared=shared
    ))  # fmt: skip
    given = [
        (failure or next(views), bool(payload.get("full_frames"))) for failure, (payload, _) in zip(failures, jobs, strict=True)
    ]
    with ThreadPoolExecutor(_DECODERS) as pool:
        return list(
            pool.map(lambda one: one[0] if isinstance(one[0], str) else _decoded(one[0], protocol, full_frames=one[1]), given)
        )


def _decoded(view: ItemView, protocol: Protocol, *, full_frames: bool) -> ItemView | str:
    try:  # decodes it, so that a damaged one counts as missing
        if protocol.size or protocol.hole_dilations:
            view = measured_view(view, size=protocol.size, hole_dilations=protocol.hole_dilations, full_frames=full_frames)
        else:
            view.composite  # noqa: B018
    except InpaintBenchError as error:
        return str(error)
    return grey_view(view) if protocol.colours == "grey" else view


def _measured(metric: Metric, views: Sequence[ItemView | str], *, protocol: Protocol) -> list[Measurements]:
    """One entry for each view; where there is none, what the protocol says of missing predictions."""
    measured = iter(_of_views(metric, [view for view in views if not isinstance(view, str)]))
    missing = protocol.missing.get(metric.name)
    return [
        {region: Measurement(missing, view) for region in metric.regions} if isinstance(view, str) else next(measured)
        for view in views
    ]


def _of_views(metric: Metric, views: Sequence[ItemView]) -> list[Measurements]:
    declaring = [view.declaring(metric.name, metric.needs) for view in views]
    together = getattr(metric, "measure_together", None)
    if together is None:
        return [_of_view(metric, view) for view in declaring]
    try:
        return list(together(declaring)) if declaring else []
    except Exception as error:
        if len(views) == 1 or is_disk_error(error):
            return [_nothing(metric, error)]
    return [one for view in views for one in _of_views(metric, [view])]  # what spoils one prediction need not spoil the others


def _of_view(metric: Metric, view: ItemView) -> Measurements:
    try:
        return metric.measure(view)
    except Exception as error:
        return _nothing(metric, error)


def _nothing(metric: Metric, error: Exception) -> Measurements:
    """Why there is no value; an error that nobody foresaw (a card without memory, say) costs no other metric its number.

    Errors of the disk are raised again: no item can succeed then.
    """
    if is_disk_error(error):
        raise error
    if isinstance(error, InpaintBenchError):
        return {region: Measurement(None, str(error)) for region in metric.regions}
    kind = type(error).__name__
    reason = f"could not be measured: {kind}: {next(iter(str(error).splitlines()), '')}".rstrip(": ")
    return {region: Measurement(None, reason, {UNEXPECTED: kind}) for region in metric.regions}
