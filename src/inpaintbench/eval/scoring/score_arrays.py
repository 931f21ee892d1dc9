"""Scores without a dataset: of arrays in memory, and of folders that hold truths, masks and predictions of the same names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inpaintbench import video
from inpaintbench.catalogue import known_name, unknown_name
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InputError, MediaError, NotMeasurable
from inpaintbench.eval.adapters.fitting import sizes_in_words
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement, SetMetric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.run_folder import Scores
from inpaintbench.eval.scoring.score_item import measurable_view, measurements_of
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.storage import cache_folder
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

_SUFFIXES = {*video.VIDEO_SUFFIXES, *video.IMAGE_SUFFIXES}
# Of a mask with grey edges: from here up it is hole.
_WHITE = 128
_NAMES_SHOWN = 3


class ItemScore(NamedTuple):
    """One number of one item."""

    item: str
    metric: str
    region: str
    value: float | None
    reason: str | None
    """Reason why there is no value."""


def item_metrics(protocol: str, metrics: Sequence[str] | None = None) -> list[str]:
    """The metrics of a protocol that give each item a value, or those of ``metrics``.

    Raises:
        UnknownNameError: no such protocol, or a metric that it does not have. InputError: a metric that compares sets of items.
    """
    known: Protocol = PROTOCOLS.get(protocol)
    if metrics is None:
        return [name for name in known.metrics if not METRICS.get(name).of_sets]
    known.build_metrics(metrics)
    if sets := [name for name in metrics if METRICS.get(name).of_sets]:
        raise InputError(f"{sets[0]!r} compares sets of items and gives none a value: build a dataset to score it")
    return list(metrics)


def score_arrays(
    truth: Frames,
    hole: Hole,
    prediction: Frames,
    *,
    protocol: str = "devil/corrected",
    metrics: Sequence[str] | None = None,
    name: str = "item",
    fps: float = 24.0,
    compute: Compute | None = None,
) -> Scores[ItemScore]:
    """Measure one clip: ``score_arrays(truth, hole, prediction)``.

    Args:
        truth: ``uint8[T, H, W, 3]``.
        hole: ``bool[T, H, W]``, True = hole.
        prediction: ``uint8[T, H, W, 3]``; only its hole counts, unless the protocol judges whole frames.
        protocol: its metrics, regions and constants count.
        metrics: some of them; all that give an item a value by default.
        name: the item's.
        fps: frames a second, which few metrics look at.
        compute: how networks run; on the processor by default.

    Returns:
        A list of ``ItemScore``; its ``to_pandas()`` is a table.

    Raises:
        InputError: arrays of other shapes or types, or what ``item_metrics`` raises.
    """
    how: Protocol = PROTOCOLS.get(protocol)
    seen = _seen(name, truth, hole, prediction, protocol=how, fps=fps, compute=compute or Compute())
    return Scores(
        ItemScore(name, metric.name, region, value.value, value.reason)
        for metric in how.build_metrics(item_metrics(protocol, metrics))
        for region, value in measurements_of(metric, [seen], protocol=how)[0].items()
    )


def _seen(
    name: str, truth: Frames, hole: Hole, prediction: Frames, *, protocol: Protocol, fps: float, compute: Compute
) -> ItemView | str:  # fmt: skip
    """The arrays as a protocol measures them.

    Raises:
        InputError: they have other shapes or types, or the hole is empty.
    """
    if hole.dtype != np.bool_:
        raise InputError(f"the hole of {name!r} is {hole.dtype}, wanted bool, True = hole")
    for what, array in (("truth", truth), ("prediction", prediction)):
        if array.dtype != np.uint8 or array.ndim != 4 or array.shape[-1] != 3:
            raise InputError(f"the {what} of {name!r} is {array.dtype}{array.shape}, wanted uint8[T, H, W, 3]")
    for what, shape in (("hole", (*hole.shape, 3)), ("prediction", prediction.shape)):
        if shape != truth.shape:
            other, wanted = sizes_in_words(shape, truth.shape)
            raise InputError(f"the {what} of {name!r} is {other}, the truth {wanted}")
    if not hole.any():
        raise InputError(f"the hole of {name!r} is empty: there is nothing to judge; black is known and white is hole")
    shared = Shared(folder=cache_folder(), compute=compute)
    view = ItemView.of_arrays(item_id=name, fps=fps, shared=shared, truth=truth, hole=hole, prediction=prediction)
    return measurable_view(view, protocol, full_frames=True)


@dataclass(frozen=True)
class ArrayMetric:
    """A metric of arrays, under a protocol that measures it: ``ib.metrics.psnr(truth, result, hole)``."""

    name: str

    def __call__(
        self, truth: Frames, result: Frames, hole: Hole, *, region: str | None = None, protocol: str | None = None
    ) -> float:
        """Value of one clip, in the unit of the metric; infinite where its definition is.

        Args:
            truth: ``uint8[T, H, W, 3]``.
            result: ``uint8[T, H, W, 3]``; only its hole counts, unless the protocol judges whole frames.
            hole: ``bool[T, H, W]``, True = hole.
            region: ``hole``, ``band`` or ``frame``, say; by default the one that the protocol's claims are made of.
            protocol: its constants count; by default ``devil/corrected``, or the first that has the metric.

        Raises:
            InputError: arrays of other shapes or types, no such region, or a metric that compares sets of clips.
            NotMeasurable: there is no value; the text says why.
        """
        clips = self.over_batches(region=region, protocol=protocol)
        if clips.metric.of_sets:
            raise InputError(f"{self.name!r} compares sets of clips: use `over_batches()`")
        clips.add(truth, result, hole)
        return float(clips.values[0]) if clips.values[0] is not None else clips.value()

    def over_batches(
        self, *, region: str | None = None, protocol: str | None = None, compute: Compute | None = None
    ) -> OverBatches:
        """The same over many clips: ``psnr = ib.metrics.psnr.over_batches()``, then ``psnr.add(...)`` and ``psnr.value()``.

        Args:
            region: as of a call.
            protocol: as of a call.
            compute: how networks run.
        """
        names = [protocol] if protocol else ["devil/corrected", *PROTOCOLS]
        having = next((one for one in names if protocol or self.name in PROTOCOLS.get(one).metrics), None)
        if having is None:
            raise InputError(f"no protocol measures {self.name!r}")
        return OverBatches(self.name, PROTOCOLS.get(having), region=region, compute=compute or Compute())


class OverBatches:
    """Clips that are added one after the other, and the value of all: ``ib.metrics.ssim.over_batches()``.

    Args:
        name: of the metric.
        protocol: that measures it.
        region: one that the metric answers for under it; None = that of the protocol's claims, or the first.
        compute: how networks run.

    Raises:
        UnknownNameError: no such metric of the protocol, or no such region of the metric.
    """

    def __init__(self, name: str, protocol: Protocol, *, region: str | None, compute: Compute) -> None:
        [self.metric] = protocol.build_metrics([name])
        usual = protocol.primary[1] if protocol.primary[1] in self.metric.regions else self.metric.regions[0]
        self.region = known_name(f"region of {name!r}:", region or usual, self.metric.regions)
        self.protocol, self._compute = protocol, compute
        self.values: list[float | None] = []
        """Value of each clip; None where it has none, and of metrics that compare sets."""
        self._measured: list[Measurement] = []
        self._sources: list[str] = []

    def add(self, truth: Frames, result: Frames, hole: Hole, *, sources: Sequence[str] | None = None, fps: float = 24.0) -> None:
        """Measure a clip, or each of a batch.

        Args:
            truth: ``uint8[T, H, W, 3]``, or ``uint8[N, T, H, W, 3]`` of N clips.
            result: the same.
            hole: ``bool[T, H, W]`` or ``bool[N, T, H, W]``, True = hole.
            sources: the film that each clip is from, where several are from one; intervals of metrics that compare sets need it.
            fps: frames a second, which few metrics look at.

        Raises:
            InputError: arrays of other shapes or types, or an empty hole.
        """
        batch = (truth, result, hole) if truth.ndim == 5 else (truth[None], result[None], hole[None])
        if len({len(one) for one in (*batch, sources or batch[0])}) > 1:
            counts = ", ".join(str(len(one)) for one in batch)
            raise InputError(f"truth, result, hole and sources are of {counts} clips: give as many")
        for place, (clean, made, missing) in enumerate(zip(*batch, strict=True)):
            name = f"clip {len(self.values)}"
            seen = _seen(name, clean, missing, made, protocol=self.protocol, fps=fps, compute=self._compute)
            found = measurements_of(self.metric, [seen], protocol=self.protocol)[0][self.region]
            self._measured.append(found)
            self.values.append(found.value)
            self._sources.append(sources[place] if sources else name)

    def value(self) -> float:
        """The value of all clips so far: their mean by the protocol, or of a metric that compares sets its number for them.

        Raises:
            NotMeasurable: no clip has a value; the text says why.
        """
        reason = next((one.reason for one in self._measured if one.reason), None)
        if isinstance(self.metric, SetMetric):
            sets = [(one.features, source) for one, source in zip(self._measured, self._sources, strict=True) if one.features]
            found = self.metric.compare([one for one, _ in sets], [source for _, source in sets]) if sets else None
            value, reason = (found.value, found.reason) if found else (None, reason)
        else:
            weights = [float(self.protocol.weight(self.metric.name, one.details)) for one in self._measured]
            rule = self.protocol.infinite_rule(self.metric.name)
            value = summarise(self.values, clusters=self._sources, infinite=rule, weights=weights).mean
        if value is None:
            raise NotMeasurable(reason or "no clip was added, or all values are infinite")
        return value


class ArrayMetrics:
    """Every metric by its name, called with arrays: ``ib.metrics.ssim(truth, result, hole)``; ``dir(ib.metrics)`` lists them."""

    def __getattr__(self, name: str) -> ArrayMetric:
        if name not in METRICS:  # notebooks ask objects for names of their own
            raise AttributeError(unknown_name("metric", name, list(METRICS)))
        return ArrayMetric(name)

    def __dir__(self) -> list[str]:
        return sorted(METRICS)


metrics = ArrayMetrics()


def score_folders(
    truth: Path,
    masks: Path,
    predictions: Path,
    *,
    protocol: str = "devil/corrected",
    metrics: Sequence[str] | None = None,
    hole_is_black: bool = False,
    compute: Compute | None = None,
) -> Iterator[ItemScore]:
    """Measure every clip of ``predictions``, each with a truth and a mask of its name.

    A clip is a video, a picture or a folder of numbered pictures. A mask of one picture counts for all frames.

    Raises:
        InputError: names without a partner, media that do not fit, or what ``score_arrays`` raises.
        MediaError: a file that cannot be read.
    """
    item_metrics(protocol, metrics)
    clips = {what: _clips(folder) for what, folder in (("truth", truth), ("mask", masks), ("prediction", predictions))}
    if not clips["prediction"]:
        raise InputError(f"{str(predictions)!r} holds no video, picture or folder of pictures")
    for what in ("truth", "mask"):
        if alone := sorted(clips["prediction"].keys() - clips[what].keys()):
            few = ", ".join(map(repr, alone[:_NAMES_SHOWN])) + (" and others" if len(alone) > _NAMES_SHOWN else "")
            have = "has" if len(alone) == 1 else "have"
            raise InputError(f"{len(alone)} of {len(clips['prediction'])} predictions {have} no {what} of the same name: {few}")
    for name, path in sorted(clips["prediction"].items()):
        truth_path, mask_path = clips["truth"][name], clips["mask"][name]
        frames = _frames(truth_path)
        if truth_path.is_dir() and mask_path.is_dir():
            numbered, of_mask = (video.numbered_images(path) for path in (truth_path, mask_path))
            if not video.count_alike(numbered, of_mask):
                begin = f"{of_mask[0].name}, its truth at {numbered[0].name}"
                raise InputError(f"the mask of {name!r} begins at {begin}: number both alike")
        levels = _frames(mask_path).max(axis=3)
        hole = (levels < _WHITE) if hole_is_black else (levels >= (1 if levels.max() == 1 else _WHITE))
        if len(hole) == 1:
            hole = np.repeat(hole, len(frames), axis=0)
        yield from score_arrays(frames, hole, _frames(path), protocol=protocol, metrics=metrics, name=name, compute=compute)


def _clips(folder: Path) -> dict[str, Path]:
    """Every clip of a folder by its name without an ending."""
    if not folder.is_dir():
        raise InputError(f"no folder {str(folder)!r}")
    paths = [path for path in sorted(folder.iterdir()) if path.is_dir() or path.suffix.lower() in _SUFFIXES]
    paths = [path for path in paths if not video.is_hidden(path.name)]
    clips: dict[str, Path] = {}
    for path in paths:
        name = path.name if path.is_dir() else path.stem
        if name in clips:
            raise InputError(f"{str(folder)!r} holds {clips[name].name!r} and {path.name!r}, which have one name: keep one")
        clips[name] = path
    return clips


def _frames(path: Path) -> Frames:
    try:
        return video.read_image_folder(path) if path.is_dir() else video.read_frames(path)
    except ValueError as error:
        raise MediaError(f"{str(path)!r} cannot be read: {error}") from error
