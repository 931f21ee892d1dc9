"""Score one item: one decode feeds all metrics of all methods, and a failure hides no other."""

from __future__ import annotations

import contextlib
import ctypes
import math
import resource
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InpaintBenchError, MediaError, Unavailable, VerifyError, is_disk_error
from inpaintbench.eval.adapters.fitting import fitted, grey_view, measured_view
from inpaintbench.eval.metrics.base import INAPPLICABLE, Features, Measurement, Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.run_state import DAMAGED, PROOFS
from inpaintbench.models import torch_networks
from inpaintbench.regions import masks_of
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Plain, Score, content_id
from inpaintbench.view import PARTS, ItemView
from inpaintbench.workspace import Blobs

# Of a run folder: what networks say of the truth, for methods that are scored later.
FEATURES_FOLDER = "features"
# Of decoded composites at once; more methods than fit are measured in several goes.
_HELD_BYTES = 1 << 30
# Of the next item, held beside the one that is measured. Networks on the processor need memory themselves, and so much time that
# little is spared by decoding meanwhile: the whole is to stay below 3 GB for four methods and 90 frames of 832x480.
_AHEAD_BYTES, _AHEAD_BYTES_BESIDE_NETWORKS = 640 << 20, 256 << 20
# Nor more than this part of what a process may have: what is measured meanwhile must never lack memory.
_AHEAD_SHARE = 8
_DECODERS = 4
# Of the whole process: a video that is being read takes its memory twice.
_DECODING = threading.BoundedSemaphore(_DECODERS)

Job = tuple[Plain, Plain]
# Of one item, one for each method: its parts, or why they cannot be read.
Views = Sequence[ItemView | str]
Measurements = Mapping[str, Measurement]


def score_one(payload: Plain, *, parameters: Plain, blobs: Blobs, ahead: Views | None = None) -> list[Score]:
    """All metrics and regions of one item for one method; ``ahead`` is what ``decode_ahead`` gave."""
    return score_together([(payload, parameters)], blobs=blobs, ahead=ahead)[0]


def score_together(jobs: Sequence[Job], *, blobs: Blobs, ahead: Views | None = None) -> list[list[Score]]:
    """All metrics and regions of one item for several methods under one protocol: the rows of each job.

    ``ahead`` is what ``decode_ahead`` gave of the same jobs.
    """
    try:
        return _score_together(jobs, blobs=blobs, ahead=ahead)
    except VerifyError as error:
        if len(jobs) > 1:  # each alone, so that only those whose bytes are damaged have no value
            raise
        return [_rows(jobs[0], _without_values(jobs[0], str(error), {UNEXPECTED: DAMAGED}))]


def _score_together(jobs: Sequence[Job], *, blobs: Blobs, ahead: Views | None) -> list[list[Score]]:
    protocol, parameters = _protocol(jobs), jobs[0][1]
    without = _without(jobs[0][0]["row"], protocol)
    metrics = protocol.build_metrics(parameters["metrics"], regions=[name for name in protocol.regions if name not in without])
    if ahead is not None:
        return _score_held(jobs, ahead, metrics, protocol=protocol, blobs=blobs)
    at_once = max(1, _HELD_BYTES // _clip_bytes(jobs) - 1)
    goes = [jobs[begin : begin + at_once] for begin in range(0, len(jobs), at_once)]
    return [
        rows
        for some in goes
        for rows in _score_held(some, _readable(some, protocol=protocol, blobs=blobs), metrics, protocol=protocol, blobs=blobs)
    ]


def decode_ahead(jobs: Sequence[Job], *, blobs: Blobs) -> Views | None:
    """Views that ``score_together`` measures; None where holding it beside another item could take too much memory."""
    protocol = _protocol(jobs)
    most = _AHEAD_BYTES_BESIDE_NETWORKS if _networks_on_processor(jobs, protocol) else _AHEAD_BYTES
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit != resource.RLIM_INFINITY:
        most = min(most, limit // _AHEAD_SHARE)
    return _readable(jobs, protocol=protocol, blobs=blobs) if (len(jobs) + 1) * _clip_bytes(jobs) <= most else None


def _networks_on_processor(jobs: Sequence[Job], protocol: Protocol) -> bool:
    payload, parameters = jobs[0]
    if torch_networks.lacking() or not protocol.weights_of(parameters["metrics"]):
        return False
    return bool(torch_networks.device_of(Compute(**payload["compute"])).type == "cpu")


def _protocol(jobs: Sequence[Job]) -> Protocol:
    protocol: Protocol = PROTOCOLS.get(jobs[0][1]["protocol"])
    return protocol


def _clip_bytes(jobs: Sequence[Job]) -> int:
    row = jobs[0][0]["row"]
    size: int = row["frames"] * row["height"] * row["width"] * 3
    return size


def _score_held(
    jobs: Sequence[Job], views: Views, metrics: Sequence[Metric], *, protocol: Protocol, blobs: Blobs
) -> list[list[Score]]:
    """The rows of jobs whose composites are held at once."""
    by_metric, row = {}, jobs[0][0]["row"]
    for metric in metrics:
        by_metric[metric.name] = _applicable(metric, views, row, protocol=protocol)
        if protocol.weights_of([metric.name]):  # networks leave most
            _give_back()
    return [
        _rows(job, {name: measured[place] for name, measured in by_metric.items()}, blobs=blobs) for place, job in enumerate(jobs)
    ]


def _without(row: Plain, protocol: Protocol) -> dict[str, Measurement]:
    """The regions of a protocol that an item has no mask of, or no pixel, each with what is said of it."""
    lacking = {
        region: next(
            (
                mask
                for mask in masks_of(region)
                if region != "rest"
                and not row.get(f"{mask}_file_name")
                and not (mask == "object_mask" and protocol.object_is_hole)
            ),
            None,
        )
        for region in protocol.regions
    }
    without = {region: _inapplicable(f"this item has no {mask.replace('_', ' ')}") for region, mask in lacking.items() if mask}
    if "effect" in protocol.regions and row.get("attributes", {}).get("mask.effect_fraction") == 0:
        without.setdefault("effect", _inapplicable("its object changes nothing outside itself"))
    return without


def _applicable(metric: Metric, views: Views, row: Plain, *, protocol: Protocol) -> list[Measurements]:
    """``measurements_of`` with what an item lacks told for each region: a mask, or the truth itself."""
    without = _without(row, protocol)
    if frozen.is_unpaired(row) and "truth" in metric.needs:
        without = dict.fromkeys(protocol.regions, _inapplicable("this item has no truth to compare with"))
    if not without:
        return measurements_of(metric, views, protocol=protocol)
    answered = [region for region in protocol.regions if region in metric.answers]
    some = measurements_of(metric, views, protocol=protocol) if set(answered) - set(without) else [{} for _ in views]
    return [{region: without.get(region) or measured[region] for region in answered} for measured in some]


def _inapplicable(reason: str) -> Measurement:
    return Measurement(None, reason, {INAPPLICABLE: True})


def _rows(job: Job, measured: Mapping[str, Measurements], *, blobs: Blobs | None = None) -> list[Score]:
    payload, parameters = job
    # Edits that are read where people keep them are files of no dataset, and no hash of theirs is stated anywhere.
    proofs = proofs_of(payload["root"], payload["row"], payload.get("blob"), blobs=blobs) if blobs and "root" in payload else None
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
            measured=proofs,
            **(_kept(measured.features, blobs) if blobs and measured.features else {}),
        )
        for name, measurements in measured.items()
        for region, measured in zip(measurements, map(_number, measurements.values()), strict=True)
    ]


def unmeasured(payload: Plain, *, parameters: Plain, reason: str) -> list[Score]:
    """The rows of an item that crashed or was too slow, so that every count is right."""
    missing = _protocol([(payload, parameters)]).missing
    return _rows((payload, parameters), _without_values((payload, parameters), reason, {}, missing))


def _without_values(job: Job, reason: str, details: Plain, instead: Mapping[str, float] | None = None) -> dict[str, Measurements]:
    """Every metric and region of a job with ``reason`` and the value that stands ``instead`` of one, if any."""
    return {
        metric.name: {region: Measurement((instead or {}).get(metric.name), reason, details) for region in metric.regions}
        for metric in _protocol([job]).build_metrics(job[1]["metrics"])
    }


def proofs_of(root: Path | str, row: Plain, blob: str | None, *, blobs: Blobs) -> dict[str, str]:
    """SHA-256 of the files that are measured: truth, hole and input, as far as the item has them, and the prediction ``blob``.

    Raises:
        VerifyError: one holds other bytes than were published or predicted.
    """
    found = {part: frozen.proved(root, row, part).sha256 for part in PROOFS if row.get(f"{part}_file_name")}
    return found if blob is None else {**found, "prediction": proved_prediction(blobs, blob, row).name.partition(".")[0]}


def proved_prediction(blobs: Blobs, blob: str, row: Plain) -> Path:
    """The file of a prediction, whose bytes have its hash.

    Raises:
        VerifyError: they have another.
    """
    return blobs.proved(blob, of=f"the prediction of item {row['item_id']!r}: ")


def _number(measured: Measurement) -> Measurement:
    """The measurement, without a value where that is NaN."""
    undefined = measured.value is not None and math.isnan(measured.value)
    return replace(measured, value=None, reason=measured.reason or "the metric gave NaN") if undefined else measured


def _kept(features: Features, blobs: Blobs) -> dict[str, str]:
    names = [blobs.put(".npy", partial(np.save, arr=np.asarray(array, np.float32)))[0] for array in features]
    return dict(zip(("features", "truth_features"), names, strict=True))


def _readable(jobs: Sequence[Job], *, protocol: Protocol, blobs: Blobs) -> Views:
    """The item with each prediction in the colours of the protocol, decoded, or why there is none."""
    row = jobs[0][0]["row"]
    shared = Shared(
        truth_id=content_id(row["truth_rgb_sha256"] or row["input_sha256"], protocol.colours, *_sizing(protocol)),
        folder=blobs.beside(FEATURES_FOLDER),
        compute=Compute(**jobs[0][0]["compute"]),
    )
    failures = [payload.get("failure") for payload, _ in jobs]
    given = [payload for payload, _ in jobs if "blob" in payload]

    def prediction(payload: Plain) -> Any:
        path = proved_prediction(blobs, payload["blob"], row)
        try:
            with _DECODING:
                frames = video.read_frames(path)
        except MediaError as error:
            raise MediaError(f"the prediction of item {row['item_id']!r} cannot be read: {error}") from error
        return fitted(frames, row, resize=protocol.resize)

    views = iter(frozen.scoring_views(
        jobs[0][0]["root"], row, predictions=[partial(prediction, payload) for payload in given], shared=shared,
        known_from=protocol.known_from, object_is_hole=protocol.object_is_hole,
    ))  # fmt: skip
    wanted = [
        (failure or next(views), bool(payload.get("full_frames"))) for failure, (payload, _) in zip(failures, jobs, strict=True)
    ]
    with ThreadPoolExecutor(_DECODERS) as pool:
        decoded = list(
            pool.map(
                lambda job: job[0] if isinstance(job[0], str) else measurable_view(job[0], protocol, full_frames=job[1]), wanted
            )
        )
    _give_back()
    return decoded


def _sizing(protocol: Protocol) -> list[Any]:
    """The size at which frames are measured, and its filter where that is not Pillow's."""
    return [protocol.size, *([protocol.resample] * (protocol.resample != "pillow-bicubic"))] if protocol.size else []


def _give_back() -> None:
    """Return to the system what the C library keeps of freed memory: hundreds of MiB after a decode in several threads.

    Without it memory grows over the first items. Other C libraries than glibc have no such call.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def measurable_view(view: ItemView, protocol: Protocol, *, full_frames: bool) -> ItemView | str:
    """The view as a protocol measures it: at its size, with its hole and colours; or why it cannot be read."""
    try:  # decodes it, so that a damaged one counts as missing
        if protocol.size or protocol.hole_dilations:
            view = measured_view(
                view, size=protocol.size, hole_dilations=protocol.hole_dilations, full_frames=full_frames,
                known_from=protocol.known_from, resample=protocol.resample,
            )  # fmt: skip
        else:
            if full_frames and not protocol.composite:
                view = _as_given(view)
            view.composite  # noqa: B018
    except VerifyError:  # of wrong bytes nothing is said, not even that there is no value
        raise
    except InpaintBenchError as error:
        return str(error)
    return grey_view(view) if protocol.colours == "grey" else view


def _as_given(view: ItemView) -> ItemView:
    """The view with the prediction as it came in the place of the composite: what it changed outside the hole counts."""
    parts = {name: partial(getattr, view, name) for name in PARTS if view.has(name)}
    return view.having(parts | {"composite": lambda: view.prediction})


def measurements_of(metric: Metric, views: Views, *, protocol: Protocol) -> list[Measurements]:
    """One entry for each view; where there is none, what the protocol says of missing predictions."""
    measured = iter(_of_views(metric, [view for view in views if not isinstance(view, str)]))
    missing = protocol.missing.get(metric.name)
    return [
        {region: Measurement(missing, view) for region in metric.regions} if isinstance(view, str) else next(measured)
        for view in views
    ]


def _of_views(metric: Metric, views: Sequence[ItemView]) -> list[Measurements]:
    try:
        return [*metric.measure_together([view.declaring(metric.name, metric.parts) for view in views])] if views else []
    except VerifyError:
        raise
    except Exception as error:
        if len(views) == 1 or is_disk_error(error):
            return [_nothing(metric, error)]
    return [row for view in views for row in _of_views(metric, [view])]  # what spoils one prediction need not spoil the others


def _nothing(metric: Metric, error: Exception) -> Measurements:
    """Return why there is no value; an error that nobody foresaw (a card without memory, say) costs no other metric its number.

    Errors of the disk are raised again: no item can succeed then.
    """
    if is_disk_error(error):
        raise error
    kind = type(error).__name__
    if isinstance(error, InpaintBenchError):
        again = {UNEXPECTED: kind} if isinstance(error, Unavailable) else {}
        return {region: Measurement(None, str(error), again) for region in metric.regions}
    reason = f"could not be measured: {kind}: {next(iter(str(error).splitlines()), '')}".rstrip(": ")
    return {region: Measurement(None, reason, {UNEXPECTED: kind}) for region in metric.regions}
