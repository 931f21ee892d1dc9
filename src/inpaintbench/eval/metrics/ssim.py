"""Structural similarity."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip, region_pixels
from inpaintbench.eval.statistics import mean_of
from inpaintbench.view import ItemView

Picture = npt.NDArray[np.uint8]
Map = npt.NDArray[np.float64]

LARGEST_WINDOW_PIXELS = 11
"""Up to here the sums over a window of the squared grey levels of two pictures are exact in float32."""


class Ssim:
    """Structural similarity with a uniform window, of each frame over the pixels of a region, averaged over frames.

    Wang et al., 2004, per channel, equal to scikit-image. Pixels nearer to the frame's edge than half a window have no value and
    are left out, as are frames without another pixel of the region. 1 for a perfect copy.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``.
        band_radius_pixels: reach of the boundary band on both sides of the hole's border.
        data_range: L of the constants (K L)^2. Intensities are 0..1, so 1 is right; DEVIL, CVPR 2022, was scored with 2.
        window_pixels: side of the square window, odd.
        k1: constant of the luminance term.
        k2: constant of the contrast term.
        ddof: 1 for the sample covariance, 0 for the population's.
    """

    name = "ssim"
    version = "1"
    unit = ""
    higher_is_better = True
    decimals = 4
    needs: tuple[str, ...] = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        regions: tuple[str, ...],
        band_radius_pixels: int,
        data_range: float,
        window_pixels: int,
        k1: float,
        k2: float,
        ddof: int,
    ) -> None:
        if window_pixels % 2 == 0 or not 3 <= window_pixels <= LARGEST_WINDOW_PIXELS:
            raise ValueError(f"window_pixels is {window_pixels}, choose an odd number from 3 to {LARGEST_WINDOW_PIXELS}")
        self.regions = check_regions(regions)
        self.band_radius_pixels = band_radius_pixels
        self.window_pixels, self.ddof = window_pixels, ddof
        self.c1, self.c2 = (k1 * data_range * 255) ** 2, (k2 * data_range * 255) ** 2

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in -1..1 for each region; None where no frame has a pixel of it with a whole window.

        Raises:
            NotMeasurable: the frames are smaller than the window.
        """
        if min(view.height, view.width) < self.window_pixels:
            raise NotMeasurable(
                f"frames of {view.width}x{view.height} are smaller than the window of {self.window_pixels}x{self.window_pixels}"
            )
        values: dict[str, list[float]] = {region: [] for region in self.regions}
        for truth, composite, hole in zip(view.truth, view.composite, view.hole, strict=True):
            similarity = self.similarity(truth, composite)
            for region in self.regions:
                inside = self._inner(region_pixels(hole, region, band_radius_pixels=self.band_radius_pixels))
                if inside.any():
                    values[region].append(float(similarity[inside].mean()))
        return {region: mean_over_clip(found, parts="frames", missing=self._missing(region)) for region, found in values.items()}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)

    def similarity(self, truth: Picture, composite: Picture) -> Map:
        """Similarity at every pixel with a whole window, averaged over channels: ``float64[H - window + 1, W - window + 1]``."""
        margin = self.window_pixels - 1
        similarity = np.ones((truth.shape[0] - margin, truth.shape[1] - margin))
        # Windows that hold no changed pixel are exactly 1, so only those around the changed ones are computed.
        top, bottom, left, right = _changed_box(truth, composite)
        if top < bottom:
            rows = slice(max(top - margin, 0), min(bottom + margin, truth.shape[0]))
            columns = slice(max(left - margin, 0), min(right + margin, truth.shape[1]))
            changed = (slice(rows.start, rows.stop - margin), slice(columns.start, columns.stop - margin))
            similarity[changed] = self._similarity(truth[rows, columns], composite[rows, columns])
        return similarity

    def _similarity(self, truth: Picture, composite: Picture) -> Map:
        x, y = truth.astype(np.float32), composite.astype(np.float32)
        sum_x, sum_y, sum_xy = self._window_sums(x), self._window_sums(y), self._window_sums(x * y)
        sum_squares = self._window_sums(x * x + y * y)
        # Means and covariances times n and n (n - ddof): whole numbers until the constants come in, so nothing cancels.
        n = self.window_pixels**2
        c1, c2 = n * n * self.c1, n * (n - self.ddof) * self.c2
        product, squares = sum_x * sum_y, sum_x * sum_x + sum_y * sum_y
        likeness = (2 * product + c1) * (2 * (n * sum_xy - product) + c2)
        similarity: Map = (likeness / ((squares + c1) * (n * sum_squares - squares + c2))).mean(axis=2)
        return similarity

    def _window_sums(self, picture: npt.NDArray[np.float32]) -> Map:
        size = (self.window_pixels, self.window_pixels)
        sums: Map = self._inner(cv2.boxFilter(picture, cv2.CV_32F, size, normalize=False)).astype(np.float64)
        return sums

    def _inner(self, picture: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Without the edge where the window does not fit."""
        half = self.window_pixels // 2
        return picture[half:-half, half:-half]

    def _missing(self, region: str) -> str:
        return f"no frame has a pixel of the region {region!r} at least {self.window_pixels // 2} px from the frame's edge"


def _changed_box(truth: Picture, composite: Picture) -> tuple[int, int, int, int]:
    """First row, row after the last, and columns alike, of the smallest box around all pixels that differ; empty if none does."""
    # Channels side by side in one plane: the box is then three times too wide, but no pass over the channels is needed.
    difference = cv2.absdiff(truth, composite).reshape(len(truth), -1)
    left, top, width, height = cv2.boundingRect(difference)
    return top, top + height, left // 3, -(-(left + width) // 3)
