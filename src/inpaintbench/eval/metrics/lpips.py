"""Learned perceptual similarity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from inpaintbench import regions as geometry
from inpaintbench.catalogue import known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, TogetherMetric, Where, means_by_region
from inpaintbench.eval.passes.changed_windows import Plan, Step, Window, around_all, changed_windows, plan, sizes_of
from inpaintbench.models import torch_networks
from inpaintbench.models.lpips_networks import LPIPS_WEIGHTS, lpips
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

if TYPE_CHECKING:
    from inpaintbench.models.lpips_layers import LpipsNetwork

# LPIPS of every frame of an item for several methods at once: the truth goes through the network once for all of them.
#
# A method's composite is computed only where its changed pixels reach, the truth only where that is looked at; see
# ``changed_windows``. Outside of it the distance is zero, so the values are those of whole frames.

# Region -> the value of every frame that has a pixel of it, in order.
Values = dict[str, list[float]]
# About what the activations of the truth and of one method take.
_BYTES_A_PIXEL = {"alex": 300, "vgg": 4000, "squeeze": 800}
# Frames at once; more only widen the changed window that they share.
_MOST_ON_PROCESSOR = 2


def lpips_frames(
    views: Sequence[ItemView], *, net: str, regions: tuple[str, ...], band_radius_pixels: int, frames_at_once: int | None = None
) -> list[Values]:
    """LPIPS of the frames of each view, all of one item.

    Args:
        views: the item with the composites of several methods; truth and hole are the same in all.
        net: "alex", "vgg" or "squeeze".
        regions: some of ``inpaintbench.regions.ALL_REGIONS``. In the frame the mean over each layer, summed over layers; else the
            mean over the region's pixels of the layers enlarged bilinearly to the frame and summed.
        band_radius_pixels: reach of the boundary band.
        frames_at_once: size of a batch, which changes no value beyond rounding; by default what fits, on a processor two.

    Raises:
        NotMeasurable: the frames are too small, or the weights are not there.
        MissingExtraError: PyTorch is not installed.
    """
    if not views:
        return []
    item, composites = views[0], [view.composite for view in views]
    shared = item.shared

    def made() -> list[Values]:
        trunk, few = Trunk(lpips(net, shared.compute)), torch_networks.few_shapes(shared.compute)
        if not all(sizes_of(trunk.steps, item.height, item.width)[-1]):
            raise NotMeasurable(f"frames of {item.width}x{item.height} are too small for LPIPS with the network {net!r}")
        batches: list[list[Any]] = [[] for _ in composites]
        pixels = []
        windows = [changed_windows(item.truth, composite, shared) for composite in composites]
        with torch_networks.running(shared.compute) as device:
            clip, *others = (torch_networks.resident(video, shared, device) for video in (item.truth, *composites))
            fitting = torch_networks.batch_bytes(shared.compute) // (_BYTES_A_PIXEL[net] * item.height * item.width)
            most = min(fitting, _MOST_ON_PROCESSOR) if device.type == "cpu" else fitting
            at_once = frames_at_once or max(1, most)
            for some in (slice(begin, begin + at_once) for begin in range(0, item.frames, at_once)):
                masks = []
                for region in regions:
                    # Those of all frames at once would take memory that networks need.
                    given = {mask: getattr(item, mask)[some] for mask in geometry.masks_of(region) if item.has(mask)}
                    masks.append(geometry.select(item.hole[some], region, band_radius=band_radius_pixels, **given))
                pixels.append([mask.any(axis=(1, 2)) for mask in masks])
                means = RegionMeans(regions, masks, device)
                changed = [around_all(of_clip[some]) for of_clip in windows]
                parts = [video[some] for video in others]
                for values, distances in zip(batches, _distances(trunk, clip[some], parts, changed, means, few), strict=True):
                    values.append(distances)
            # Fetched at the end alone: until then a GPU need not wait for the processor.
            tables = [torch_networks.torch().cat(values, dim=1).cpu().numpy() for values in batches]
        there = np.concatenate(pixels, axis=1)
        return [{region: table[place][there[place]].tolist() for place, region in enumerate(regions)} for table in tables]

    key = ("lpips_frames", net, regions, band_radius_pixels, frames_at_once)
    values: list[Values] = shared.once_of(composites, key, made)
    return values


class Trunk:
    """The steps of a network of LPIPS, run on parts of frames."""

    def __init__(self, network: LpipsNetwork) -> None:
        from inpaintbench.models.lpips_layers import ENDS

        self.network = network
        self.modules = list(network.trunk)
        self.steps = [step_of(module) for module in self.modules]
        self.ends = ENDS[network.net]

    def truth(self, frames: Any, planned: Plan) -> Truth:
        """Runs true frames, ``uint8[N, H, W, 3]``, on what is looked at."""
        inputs, layers = [], []
        activations = self._scaled(frames, planned.looked_at[0])
        for index, (module, step) in enumerate(zip(self.modules, self.steps, strict=True)):
            here, wanted = planned.looked_at[index], planned.looked_at[index + 1]
            inputs.append(None if step.is_pointwise else activations)
            source = here
            if not step.is_pointwise:
                source = step.source_window(wanted, planned.sizes[index], few_shapes=planned.few_shapes)
            activations = module(_part(activations, source.within(here)))
            activations = _part(activations, step.place(wanted, source))
            if index + 1 in self.ends:
                layers.append(self.network.unit_length(_part(activations, planned.changed[index + 1].within(wanted))))
        return Truth(inputs, layers)

    def distances(self, truth: Truth, composites: Any, planned: Plan) -> list[Any]:
        """Return how much each changed place of each layer adds to the distance, ``float32[N, h, w]`` for each layer."""
        layers = []
        activations = self._scaled(composites, planned.changed[0])
        for index, (module, step) in enumerate(zip(self.modules, self.steps, strict=True)):
            if step.is_pointwise:
                activations = module(activations)
            else:
                source, changed = planned.sources[index], planned.changed[index]
                patch = _part(truth.inputs[index], source.within(planned.looked_at[index])).clone()
                both = source.overlap(changed)
                _part(patch, both.within(source)).copy_(_part(activations, both.within(changed)))
                activations = _part(module(patch), step.place(planned.changed[index + 1], source))
            if index + 1 in self.ends:
                layers.append(self.network.unit_length(activations))
        return self.network.layer_maps(truth.layers, layers)

    def _scaled(self, frames: Any, window: Window) -> Any:
        rows, columns = window
        part = frames[:, rows.start : rows.stop, columns.start : columns.stop]
        return self.network.scaled(torch_networks.as_pictures(part))


class Truth(NamedTuple):
    """Features of true frames, kept for the methods."""

    inputs: list[Any]
    """Reach of each step, where it looks around; None for pointwise steps."""
    layers: list[Any]
    """Vectors of length one over channels, where something changed."""


def _distances(
    trunk: Trunk, truth: Any, composites: Sequence[Any], windows: Sequence[Window | None], means: RegionMeans, few_shapes: bool
) -> list[Any]:
    """``float64[R, N]`` for each composite, which differs from the truth in its window; all ``uint8[N, H, W, 3]``."""
    changed = around_all(windows)
    if changed is None:
        return [means.nothing() for _ in composites]
    planned = plan(trunk.steps, changed, height=truth.shape[1], width=truth.shape[2], few_shapes=few_shapes)
    true = trunk.truth(truth, planned)
    return [
        # The sum over layers, float64[R, N].
        sum(
            means.of(distances, planned.changed[end], planned.sizes[end])
            for end, distances in zip(trunk.ends, trunk.distances(true, composite, planned), strict=True)
        )
        if window
        else means.nothing()
        for window, composite in zip(windows, composites, strict=True)
    ]


def step_of(module: Any) -> Step:
    """Return how a module of a trunk looks at its input.

    A block of modules is taken to keep the size, as its widest kernel would.
    """
    nn = torch_networks.torch().nn
    if isinstance(module, nn.Conv2d | nn.MaxPool2d):
        kernel, stride, padding = (
            value if isinstance(value, int) else int(value[0]) for value in (module.kernel_size, module.stride, module.padding)
        )
        return Step(kernel, stride, padding, isinstance(module, nn.MaxPool2d) and module.ceil_mode)
    kernel = max((int(part.kernel_size[0]) for part in module.modules() if isinstance(part, nn.Conv2d)), default=1)
    return Step(kernel, 1, kernel // 2)


def _part(activations: Any, place: tuple[slice, slice]) -> Any:
    return activations[:, :, place[0], place[1]]


# Means over regions


class RegionMeans:
    """Turns maps into one number a region and frame.

    The mean of an enlarged map over pixels is a weighted sum of the map itself, with the weights that enlarging gives to each
    cell in those pixels: nothing is enlarged.

    Args:
        regions: of ``inpaintbench.regions.ALL_REGIONS``.
        masks: ``bool[N, H, W]`` for each.
        device: where the maps are.
    """

    def __init__(self, regions: Sequence[str], masks: Sequence[Hole], device: Any) -> None:
        self.device = device
        package = torch_networks.torch()
        self.real = package.float64  # which also keeps autocast and TF32 away
        self.frames = len(masks[0]) if masks else 0
        parts = [mask for region, mask in zip(regions, masks, strict=True) if region != "frame"]
        pixels = iter(_pixels_of(parts, device, self.real))
        self.regions = [None if region == "frame" else next(pixels) for region in regions]
        self._weights: dict[tuple[int, Window, tuple[int, int]], Any] = {}

    def nothing(self) -> Any:
        """The means of maps that are 0 everywhere, ``float64[R, N]``."""
        return torch_networks.torch().zeros((len(self.regions), self.frames), dtype=self.real, device=self.device)

    def of(self, values: Any, window: Window, size: tuple[int, int]) -> Any:
        """The mean for each region and frame, ``float64[R, N]``; 0 where there is no pixel of it.

        In the frame it is the mean of the map itself, else that of the map enlarged bilinearly to the frame.

        Args:
            values: ``float32[N, h, w]`` in the cells of ``window``; the map is 0 elsewhere.
            window: some of the map's cells.
            size: rows and columns of the whole map.
        """
        wide, cells = values.to(self.real), size[0] * size[1]
        means = [
            wide.sum((1, 2)) / cells if pixels is None else (wide * self._weights_of(pixels, window, size)).sum((1, 2))
            for pixels in self.regions
        ]
        return torch_networks.torch().stack(means)

    def _weights_of(self, pixels: _Pixels, window: Window, size: tuple[int, int]) -> Any:
        key = (id(pixels), window, size)
        if key not in self._weights:  # the same for all methods
            self._weights[key] = pixels.weights(window, size)
        return self._weights[key]


class _Pixels(NamedTuple):
    """The pixels of a region in some frames, cut to the box that holds them all."""

    shares: Any
    """``float64[N, h, w]``: of each pixel in the mean; 0 outside the region."""
    rows: slice
    columns: slice
    size: tuple[int, int]
    """Size of the frame."""

    def weights(self, window: Window, cells: tuple[int, int]) -> Any:
        """``float64[N, h, w]``: what each cell of ``window`` of a layer of ``cells`` counts for in the mean over the pixels."""
        package, enlarged = torch_networks.torch(), []
        for axis, inside in enumerate((self.rows, self.columns)):
            # What each cell counts for in each pixel when a line is enlarged linearly, `float64[cells, pixels]`.
            lines = package.eye(cells[axis], dtype=self.shares.dtype, device=self.shares.device)[None]
            line = package.nn.functional.interpolate(lines, size=self.size[axis], mode="linear", align_corners=False)[0]
            enlarged.append(line[window[axis].slice_from(0), inside])
        rows, columns = enlarged
        return rows @ self.shares @ columns.T


def _pixels_of(masks: Sequence[Hole], device: Any, real: Any) -> list[_Pixels]:
    """Return the pixels of each mask, ``bool[N, H, W]``.

    All travel to the device as the bits of one array, cut to where any is.
    """
    if not masks:
        return []
    (_, height, width), top, left = masks[0].shape, *_box(reduce(np.logical_or, masks))
    bits = reduce(np.bitwise_or, (mask[:, top, left].astype(np.uint8) << bit for bit, mask in enumerate(masks)))
    there = torch_networks.on_device(bits, device)
    pixels = []
    for bit, mask in enumerate(masks):
        down, across = _box(mask)
        rows, columns = (slice(max(a.start - b.start, 0), max(a.stop - b.start, 0)) for a, b in ((down, top), (across, left)))
        shares = ((there[:, rows, columns] >> bit) & 1).to(real)
        pixels.append(_Pixels(shares / shares.sum((1, 2), keepdim=True).clamp(min=1), down, across, (height, width)))
    return pixels


def _box(mask: Hole) -> tuple[slice, slice]:
    """Rows and columns from the first to the last that ``bool[N, H, W]`` is true in; of nothing an empty box at the top left."""
    rows, columns = (np.flatnonzero(mask.any(axis=axes)) for axes in ((0, 2), (0, 1)))
    down, across = (slice(int(line[0]), int(line[-1]) + 1) if len(line) else slice(0, 0) for line in (rows, columns))
    return down, across


# Of the linear heads; those of 0.0 came from a faulty normalisation.
VERSIONS = ("0.1",)


class Lpips(TogetherMetric):
    """How far a frame is from the true one in the layers of a classifier, averaged over frames.

    Zhang et al., CVPR 2018, equal to the package ``lpips`` at full size. In the frame it is that package's number. In the hole
    and the band it is the mean over their pixels of the package's spatial map, the layers enlarged bilinearly to the frame and
    summed: a fill is not diluted by the known pixels around it, though layers see across the border by up to a hundred pixels.
    Frames without a pixel of the region are left out. 0 for a perfect copy, without a fixed upper end.

    DEVIL, CVPR 2022, has "alex" and the frame; the values printed there come from a trunk that was never trained.

    Args:
        net: the trunk, "alex", "vgg" or "squeeze".
        version: of the linear heads, "0.1".
    """

    name = "lpips"
    version = "1"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")

    def __init__(self, *, net: str, version: str, **where: Unpack[Where]) -> None:
        known_name("network of LPIPS", net, LPIPS_WEIGHTS)
        known_name("version of LPIPS", version, VERSIONS)
        super().__init__(**where)
        self.net = net

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The trunk; the heads belong to the installed package, and others than those of version 0.1 are refused."""
        return (LPIPS_WEIGHTS[constants["net"]],)

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for several methods of one item; the truth goes through the network once."""
        scores = lpips_frames(views, net=self.net, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        return [means_by_region(score) for score in scores]
