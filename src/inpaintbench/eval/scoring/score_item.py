"""Score one item: one decode feeds all metrics of all methods, and a failure hides no other."""

from __future__ import annotations

import contextlib
import ctypes
import math
import resource
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InpaintBenchError, MediaError, Unavailable, VerifyError, is_disk_error
from inpaintbench.eval.adapters.fitting import fitted, grey_view, measured_view
from inpaintbench.eval.metrics.base import INAPPLICABLE, Measurement, Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.run_folder import DAMAGED, PROOFS
from inpaintbench.models import torch_networks
from inpaintbench.regions import masks_of
from inpaintbench.storage import cache_folder
from inpaintbench.tables import UNEXPECTED, rows_of_json
from inpaintbench.types import Plain, Score
from inpaintbench.view import PARTS, ItemView
from inpaintbench.workspace import Blobs

# Of truth and composites at once; more methods than fit are measured in several goes. Without networks a process is to stay below
# 700 MiB, of which 250 are programs: two methods with 90 frames of 854x480, their masks, and what is found out meanwhile.
_HELD_BYTES, _HELD_BYTES_ON_CARD = 336 << 20, 1 << 30
# Of the next item, held beside the one that is measured. Networks on the processor need memory themselves, and so much time that
# little is spared by decoding meanwhile; a card must not wait.
_AHEAD_BYTES, _AHEAD_BYTES_BESIDE_NETWORKS, _AHEAD_BYTES_ON_CARD = 128 << 20, 256 << 20, 640 << 20
# Nor more than this part of what a process may have: what is measured meanwhile must never lack memory.
_AHEAD_SHARE = 8
_DECODERS = 4
# Of the whole process: a video that is being read takes its memory twice.
_DECODING = threading.BoundedSemaphore(_DECODERS)

Job = tuple[Plain, Plain]
# Of one item, one for each method: its parts, or why they cannot be read.
Views = Sequence[ItemView | str]
Measurements = Mapping[str, Measurement]


def score_together(jobs: Sequence[Job], *, blobs: Blobs, ahead: Views | None = None) -> list[list[Score]]:
    """All metrics and regions of one item for one method or several under one protocol: the rows of each job.

    ``ahead`` is what ``decode_ahead`` gave of the same jobs. Rows of metrics without networks that a payload has from ``before``
    are taken from there.
    """
    protocol, row, names = _protocol(jobs[0]), jobs[0][0]["row"], jobs[0][1]["metrics"]
    if "before" in jobs[0][0]:
        names = [name for name in names if name not in without_networks(protocol, names)]
    without = _without(row, protocol)
    regions = [name for name in protocol.regions if name not in without]
    metrics = protocol.build_metrics(names, regions=regions)
    no_truth = dict.fromkeys(protocol.regions, _inapplicable("this item has no truth to compare with"))
    held = _HELD_BYTES_ON_CARD if _networks_on(jobs[0]) == "cuda" else _HELD_BYTES
    at_once = max(1, held // _clip_bytes(row) - 1) if ahead is None else len(jobs)
    scored: list[list[Score]] = []
    try:
        for begin in range(0, len(jobs), at_once):
            some, by_metric = jobs[begin : begin + at_once], {}
            views = _readable(some, protocol=protocol, blobs=blobs) if ahead is None else ahead
            for metric in metrics:
                told = no_truth if frozen.is_unpaired(row) and "truth" in metric.needs else without
                answered = [region for region in protocol.regions if region in metric.answers]
                every = bool(told) and told.keys() >= set(answered)
                measured = [{} for _ in views] if every else measurements_of(metric, views, protocol=protocol)
                if told:
                    measured = [{region: told.get(region) or one[region] for region in answered} for one in measured]
                by_metric[metric.name] = measured
                if protocol.weights_of([metric.name]):  # networks leave most
                    _give_back()
            for place, job in enumerate(some):
                rows = _rows(job, {name: measured[place] for name, measured in by_metric.items()}, blobs=blobs)
                if before := job[0].get("before"):
                    order = {name: place for place, name in enumerate(job[1]["metrics"])}
                    rows = sorted([*rows_of_json(before, Score), *rows], key=lambda row: order[row.metric])
                scored.append(rows)
    except VerifyError as error:
        if len(jobs) > 1:  # each alone, so that only those whose bytes are damaged have no value
            raise
        return [_rows(jobs[0], _without_values(jobs[0], str(error), {UNEXPECTED: DAMAGED}))]
    return scored


def decode_ahead(jobs: Sequence[Job], *, blobs: Blobs) -> Views | None:
    """Views that ``score_together`` measures; None where holding it beside another item could take too much memory."""
    most = {"cuda": _AHEAD_BYTES_ON_CARD, "cpu": _AHEAD_BYTES_BESIDE_NETWORKS}.get(_networks_on(jobs[0]), _AHEAD_BYTES)
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit != resource.RLIM_INFINITY:
        most = min(most, limit // _AHEAD_SHARE)
    held = (len(jobs) + 1) * _clip_bytes(jobs[0][0]["row"])
    return _readable(jobs, protocol=_protocol(jobs[0]), blobs=blobs) if held <= most else None


def without_networks(protocol: Protocol, metrics: Sequence[str]) -> list[str]:
    """Those of ``metrics`` that no network takes part in."""
    return [name for name in metrics if not protocol.weights_of([name])]


def _networks_on(job: Job) -> str:
    """``cuda`` or ``cpu``, where networks take part; else empty."""
    payload, parameters = job
    if not _protocol(job).weights_of(parameters["metrics"]) or torch_networks.lacking():
        return ""
    return str(torch_networks.device_of(Compute(**payload["compute"])).type)


def _protocol(job: Job) -> Protocol:
    protocol: Protocol = PROTOCOLS.get(job[1]["protocol"])
    return protocol


def _clip_bytes(row: Plain) -> int:
    size: int = row["frames"] * row["height"] * row["width"] * 3
    return size


def _without(row: Plain, protocol: Protocol) -> dict[str, Measurement]:
    """The regions of a protocol that an item has no mask of, or no pixel, each with what is said of it."""
    without = {}
    for region in protocol.regions:
        masks = () if region == "rest" else masks_of(region)
        if protocol.object_is_hole:
            masks = tuple(mask for mask in masks if mask != "object_mask")
        if lacking := next((mask for mask in masks if not row.get(f"{mask}_file_name")), None):
            without[region] = _inapplicable(f"this item has no {lacking.replace('_', ' ')}")
    if "effect" in protocol.regions and row.get("attributes", {}).get("mask.effect_fraction") == 0:
        without.setdefault("effect", _inapplicable("its object changes nothing outside itself"))
    return without


def _inapplicable(reason: str) -> Measurement:
    return Measurement(None, reason, {INAPPLICABLE: True})


def _rows(job: Job, by_metric: Mapping[str, Measurements], *, blobs: Blobs | None = None) -> list[Score]:
    payload, parameters = job
    # Edits that are read where people keep them are files of no dataset, and no hash of theirs is stated anywhere.
    proofs = proofs_of(payload["root"], payload["row"], payload.get("blob"), blobs=blobs) if blobs and "root" in payload else None
    rows = []
    for name, measurements in by_metric.items():
        for region, measured in measurements.items():
            value, reason, kept = measured.value, measured.reason, {}
            if value is not None and math.isnan(value):
                value, reason = None, reason or "the metric gave NaN"
            if blobs and measured.features:
                for field, array in zip(("features", "truth_features"), measured.features, strict=True):
                    kept[field] = blobs.put(".npy", partial(np.save, arr=np.asarray(array, np.float32)))[0]
            rows.append(
                Score(
                    method=parameters["method"], item_id=payload["row"]["item_id"], metric=name, region=region,
                    protocol=parameters["protocol"], fingerprint=parameters["fingerprint"], value=value, reason=reason,
                    details=dict(measured.details), measured=proofs, **kept,
                )
            )  # fmt: skip
    return rows


def unmeasured(payload: Plain, *, parameters: Plain, reason: str) -> list[Score]:
    """The rows of an item that crashed or was too slow, so that every count is right."""
    missing = _protocol((payload, parameters)).missing
    return _rows((payload, parameters), _without_values((payload, parameters), reason, {}, missing))


def _without_values(job: Job, reason: str, details: Plain, instead: Mapping[str, float] | None = None) -> dict[str, Measurements]:
    """Every metric and region of a job with ``reason`` and the value that stands ``instead`` of one, if any."""
    return {
        metric.name: {region: Measurement((instead or {}).get(metric.name), reason, details) for region in metric.regions}
        for metric in _protocol(job).build_metrics(job[1]["metrics"])
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


def _readable(jobs: Sequence[Job], *, protocol: Protocol, blobs: Blobs) -> Views:
    """The item with each prediction in the colours of the protocol, decoded, or why there is none."""
    row = jobs[0][0]["row"]
    shared = Shared(folder=cache_folder(), compute=Compute(**jobs[0][0]["compute"]))

    def prediction(payload: Plain) -> Any:
        path = proved_prediction(blobs, payload["blob"], row)
        try:
            with _DECODING:
                frames = video.read_frames(path)
        except MediaError as error:
            raise MediaError(f"the prediction of item {row['item_id']!r} cannot be read: {error}") from error
        return fitted(frames, row, resize=protocol.resize)

    views = iter(frozen.scoring_views(
        jobs[0][0]["root"], row, predictions=[partial(prediction, payload) for payload, _ in jobs if "blob" in payload],
        shared=shared, known_from=protocol.known_from, object_is_hole=protocol.object_is_hole,
    ))  # fmt: skip
    decoded: list[ItemView | str | Future[ItemView | str]] = []
    with ThreadPoolExecutor(_DECODERS) as pool:
        for payload, _ in jobs:
            whole = bool(payload.get("full_frames"))
            decoded.append(payload.get("failure") or pool.submit(measurable_view, next(views), protocol, full_frames=whole))
    _give_back()
    return [one.result() if isinstance(one, Future) else one for one in decoded]


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
            if full_frames and not protocol.composite:  # what it changed outside the hole counts
                given: dict[str, Callable[[], Any]] = {name: partial(getattr, view, name) for name in PARTS if view.has(name)}
                view = view.having(given | {"composite": given["prediction"]})
            view.composite  # noqa: B018
    except VerifyError:  # of wrong bytes nothing is said, not even that there is no value
        raise
    except InpaintBenchError as error:
        return str(error)
    return grey_view(view) if protocol.colours == "grey" else view


def measurements_of(metric: Metric, views: Views, *, protocol: Protocol) -> list[Measurements]:
    """One entry for each view; where there is none, what the protocol says of missing predictions."""
    measured: list[Measurements] = []
    groups: list[Sequence[ItemView]] = [[view for view in views if not isinstance(view, str)]]
    for some in groups:
        try:
            # As a list first: what a generator gives before it fails does not count.
            measured += [*metric.measure_together([view.declaring(metric.name, metric.parts) for view in some])] if some else []
        except VerifyError:
            raise
        except Exception as error:  # of a metric, perhaps somebody's: the others of the item are measured all the same
            if is_disk_error(error):  # no item can succeed then
                raise
            if len(some) > 1:  # what spoils one prediction need not spoil the others
                groups += [[view] for view in some]
                continue
            kind, reason, again = type(error).__name__, str(error), isinstance(error, Unavailable)
            if not isinstance(error, InpaintBenchError):
                # An error that nobody foresaw (a card without memory, say) costs no other metric its number.
                again = True
                reason = f"could not be measured: {kind}: {next(iter(reason.splitlines()), '')}".rstrip(": ")
            measured.append({region: Measurement(None, reason, {UNEXPECTED: kind} if again else {}) for region in metric.regions})
    found, missing = iter(measured), protocol.missing.get(metric.name)
    return [
        {region: Measurement(missing, view) for region in metric.regions} if isinstance(view, str) else next(found)
        for view in views
    ]
