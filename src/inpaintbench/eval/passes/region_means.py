"""Means over the pixels of a region of maps that are coarser than the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from inpaintbench.eval.passes.changed_windows import Window
from inpaintbench.models import torch_networks
from inpaintbench.types import Hole


class RegionMeans:
    """Turns maps into one number a region and frame.

    The mean of an enlarged map over pixels is a weighted sum of the map itself, with the weights that enlarging gives to each
    cell in those pixels: nothing is enlarged.

    Args:
        regions: of ``inpaintbench.regions.REGIONS``.
        masks: ``bool[N, H, W]`` for each.
        device: where the maps are.
    """

    def __init__(self, regions: Sequence[str], masks: Sequence[Hole], device: Any) -> None:
        self.device = device
        package = torch_networks.torch()
        self.real = package.float64  # which also keeps autocast and TF32 away
        self.frames = len(masks[0]) if masks else 0
        self.regions = [
            None if region == "frame" else _Pixels.of(mask, device, self.real)
            for region, mask in zip(regions, masks, strict=True)
        ]
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
    """Of the frame."""

    @classmethod
    def of(cls, mask: Hole, device: Any, real: Any) -> _Pixels:
        rows, columns = (np.flatnonzero(mask.any(axis=axes)) for axes in ((0, 2), (0, 1)))
        down, across = (slice(int(line[0]), int(line[-1]) + 1) if len(line) else slice(0, 0) for line in (rows, columns))
        shares = torch_networks.on_device(np.array(mask[:, down, across]), device).to(real)
        counts = shares.sum((1, 2), keepdim=True).clamp(min=1)
        return cls(shares / counts, down, across, (mask.shape[1], mask.shape[2]))

    def weights(self, window: Window, cells: tuple[int, int]) -> Any:
        """``float64[N, h, w]``: what each cell of ``window`` of a layer of ``cells`` counts for in the mean over the pixels."""
        rows, columns = (
            _enlarging(cells[axis], self.size[axis], self.shares)[window[axis].slice_from(0), (self.rows, self.columns)[axis]]
            for axis in (0, 1)
        )
        return rows @ self.shares @ columns.T


def _enlarging(cells: int, pixels: int, like: Any) -> Any:
    """``float64[cells, pixels]``: what each cell counts for in each pixel when a line is enlarged linearly."""
    package = torch_networks.torch()
    lines = package.eye(cells, dtype=like.dtype, device=like.device)[None]
    return package.nn.functional.interpolate(lines, size=pixels, mode="linear", align_corners=False)[0]
