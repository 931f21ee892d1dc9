"""Patch consistency: does what was filled in reappear in the next frame? Beside it its sharpness, since flat fills do."""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np
import numpy.typing as npt

from inpaintbench import regions
from inpaintbench.catalogue import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, check_next_frame, region_pixels
from inpaintbench.eval.metrics.psnr import DecibelMetric, Decibels
from inpaintbench.lazily import lazily
from inpaintbench.ranges import Offset, Seed, Side
from inpaintbench.types import item_rng
from inpaintbench.view import ItemView

cv2 = lazily("cv2")
fft = lazily("scipy.fft")

Picture = npt.NDArray[np.uint8]
Point = tuple[float, float]


class Pcons(DecibelMetric):
    """PSNR of a patch of frame t with the most similar patch nearby in frame t + 1, over all pairs of frames, in dB.

    DEVIL, CVPR 2022, section 5.2. Patches come from the composite alone: the value tells how steady a fill is, not how true. The
    whole patch is always compared; the region says where it lies in frame t:

    * ``hole``: around the centroid of the hole; the published definition.
    * ``band``: around the pixel of the boundary band nearest to that centroid, so that it holds a piece of the seam.
    * ``frame``: anywhere, uniformly, drawn for each pair from a generator keyed by the item, so all methods are compared at the
      same places (the published variant without masks draws for all videos from one stream: its values depend on their order).

    Pairs whose frame t has no pixel of the region are left out. A patch can reappear exactly, as often from a hole filled with
    one flat colour as from perfect tracking. Published (``averaged="decibels"``, ``infinite="largest_finite"``) is the mean of
    the pairs' values, which one such pair makes infinite. With ``averaged="errors"`` the squared errors of all pairs are pooled
    first: an exact pair adds an error of 0 and decides nothing, and no value is above ``ceiling_decibels``. A fill that is flat
    in every frame then has that ceiling, the best value there is: PCons never tells a frozen or flat fill from a steady one, so
    reports set a caution and the sharpness of the hole beside it.

    Args:
        patch_pixels: side of the square patch.
        first_offset_pixels: smallest shift searched in both directions, at most 0; candidates outside the frame are skipped.
        last_offset_pixels: largest shift searched, at least 0. Published: -20 to 19, which favours up and left.
        random_patch_seed: of the places for ``frame``.
        data_range: the peak of the PSNR; 1 for intensities in 0..1.
        averaged: as for ``Psnr``, for pairs of frames instead of frames; so are the next two.
        ceiling_decibels: the largest value that is given, or None.
        infinite: what becomes of exact repeats where there is no ceiling.
    """

    name = "pcons"
    version = "1"
    label = "PCons"
    deviations = (
        Deviation(
            "frames without a hole",
            "the metric ends for the whole slice",
            "the pair that begins with such a frame is left out",
            "a value where the released code has none; none of the first 40 masks of each of its presets has such a frame",
        ),
        Deviation(
            "no candidate above 0 dB",
            "the metric ends for the whole slice",
            "the largest PSNR counts, whatever it is",
            "a value where the released code has none",
        ),
        Deviation(
            "PCons over `frame` and `band`",
            "`frame`: patches at random places, all videos drawing from one stream, so that values depend on their order; in no"
            " table. `band`: does not exist",
            "`frame`: places drawn for each item by its name. `band`: around the pixel of the band nearest to the hole's middle",
            "no published number has a counterpart; that of the paper is `hole`",
        ),
    )
    fewest_frames = 2
    diagnostic = "a fill that is flat, frozen or blurred repeats from frame to frame, which PCons takes for consistency"
    needs = ("composite", "hole")
    answers = regions.REGIONS

    def __init__(
        self,
        *,
        patch_pixels: Side,
        first_offset_pixels: Offset,
        last_offset_pixels: Offset,
        random_patch_seed: Seed,
        **decibels: Unpack[Decibels],
    ) -> None:
        # The unmoved patch is always a candidate, so no pair is without a value.
        if not first_offset_pixels <= 0 <= last_offset_pixels:
            raise ValueError(f"offsets {first_offset_pixels}..{last_offset_pixels} px must include 0")
        super().__init__(**decibels)
        self.patch_pixels = patch_pixels
        self.first_offset_pixels, self.last_offset_pixels = first_offset_pixels, last_offset_pixels
        self.random_patch_seed = random_patch_seed

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in dB for each region; None where no pair of frames has one.

        Raises:
            NotMeasurable: there is one frame only, or frames are smaller than the patch.
        """
        size = self.patch_pixels
        if min(view.height, view.width) < size:
            raise NotMeasurable(f"frames of {view.width}x{view.height} are smaller than the patch of {size}x{size}")
        check_next_frame(view.frames)
        errors = {
            region: [
                self._smallest_error(view.composite[index], view.composite[index + 1], centre)
                for index, centre in enumerate(self._centres(view, region))
                if centre is not None
            ]
            for region in self.regions
        }
        return self.over_clip(errors, parts="pairs", missing="no frame before the last has a pixel of the region {!r}")

    def _centres(self, view: ItemView, region: str) -> list[Point | None]:
        """Row and column of the middle of the patch for each pair of frames; None where frame t has no pixel of the region."""
        if region == "frame":
            rng = item_rng(self.random_patch_seed, self.name, view.item_id)
            rooms = (view.height - self.patch_pixels + 1, view.width - self.patch_pixels + 1)
            corners = rng.integers(0, rooms, size=(view.frames - 1, 2)) + self.patch_pixels // 2
            return [(float(row), float(column)) for row, column in corners]
        centroids = [regions.centroid(hole) for hole in np.ascontiguousarray(view.hole[:-1])]
        if region == "hole":
            return centroids
        pixels = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
        nearest: list[Point | None] = []
        for frame, centre in zip(pixels[:-1], centroids, strict=True):
            rows, columns = np.nonzero(frame)
            if centre is None or not len(rows):
                nearest.append(None)
            else:
                # The first in reading order among equals.
                place = np.argmin((rows - centre[0]) ** 2 + (columns - centre[1]) ** 2)
                nearest.append((float(rows[place]), float(columns[place])))
        return nearest

    def _smallest_error(self, frame: Picture, next_frame: Picture, centre: Point) -> float:
        """Mean squared error (0..1) of the patch around ``centre`` of ``frame`` with the most similar one in reach in
        ``next_frame``."""
        size = self.patch_pixels
        top, left = (
            min(max(int(np.floor(at - size // 2)), 0), length - size) for at, length in zip(centre, frame.shape[:2], strict=True)
        )
        # Cutting the window at the frame's edge is what skips the candidates that leave the frame.
        rows = slice(max(top + self.first_offset_pixels, 0), top + self.last_offset_pixels + size)
        columns = slice(max(left + self.first_offset_pixels, 0), left + self.last_offset_pixels + size)
        patch = frame[top : top + size, left : left + size]
        return smallest_squared_difference(patch, next_frame[rows, columns]) / (patch.size * 255**2)


def smallest_squared_difference(patch: Picture, window: Picture) -> int:
    """Least sum of squared differences in grey levels between ``patch`` and any part of ``window`` of its size; exact.

    Expands |a - b|^2: energies from an integral image, products from a Fourier transform in float64, whose error is far below
    the half that rounding to whole numbers removes.
    """
    size, (height, width) = len(patch), window.shape[:2]
    shape = (fft.next_fast_len(height, real=True), fft.next_fast_len(width, real=True))
    planes = np.zeros((6, *shape))
    planes[:3, :height, :width] = window.transpose(2, 0, 1)
    planes[3:, :size, :size] = patch.transpose(2, 0, 1)
    spectra = fft.rfft2(planes)
    products = fft.irfft2((spectra[:3] * spectra[3:].conj()).sum(axis=0), shape)
    # Sums of squared grey levels in every square: channels side by side make one plane, whose integral image at every third
    # column is the one of all channels.
    integral = cv2.integral2(np.ascontiguousarray(window).reshape(height, 3 * width))[1][:, ::3]
    bands = integral[size:] - integral[:-size]
    energies = bands[:, size:] - bands[:, :-size]
    differences = energies - 2 * np.rint(products[: height - size + 1, : width - size + 1])
    return int(differences.min()) + round(float(cv2.norm(patch, cv2.NORM_L2SQR)))


_NEIGHBOURS = np.ones((3, 3), np.uint8)


class HoleSharpness(SingleRegionMetric):
    """Mean size of the luma gradient inside the hole, as a share of that of the truth at the same pixels.

    1 = as sharp as the truth, 0 = flat, above 1 = noise or edges that are not there. Neither more nor less is better, so methods
    are not ranked by it (``ranked`` is False): reports show its values and nothing that follows from an order. To be read beside
    PCons, which flat and blurred fills win (DEVIL, CVPR 2022, discussion of Figure 2). The
    gradient is Sobel's; pixels next to a known one are left out, so that a seam does not count as sharpness. Gradients are added
    up over the whole clip before they are divided, so that frames whose truth is flat do not decide.
    """

    name = "hole_sharpness"
    label = "Sharpness"
    version = "2"
    higher_is_better = True
    ranked = False
    decimals = 3
    bounds = (0.0, math.inf)
    answers = ("hole",)
    needs = ("truth", "composite", "hole")

    def measurement(self, view: ItemView) -> Measurement:
        """The ratio, at least 0; None where no hole is wide enough or the truth is flat there."""
        sums, pixels = np.zeros(2), 0
        for truth, composite, hole in zip(view.truth, view.composite, view.hole, strict=True):
            # Outside the frame counts as hole: the edge of the picture is no seam.
            inside = cv2.erode(hole.view(np.uint8), _NEIGHBOURS, borderType=cv2.BORDER_CONSTANT, borderValue=1).view(np.bool_)
            count = int(np.count_nonzero(inside))
            if count:
                sums += [_gradients(frame, inside).sum() for frame in (composite, truth)]
                pixels += count
        if not pixels:
            return Measurement(None, "no frame has a hole pixel whose neighbours are all in the hole")
        if not sums[1]:
            return Measurement(None, "the truth is flat inside the hole")
        return Measurement(float(sums[0] / sums[1]), details={"pixels": pixels})


def _gradients(frame: npt.NDArray[np.uint8], inside: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Size of Sobel's gradient of the luma at the pixels ``inside``, ``float64[N]``."""
    luma = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    # Whole numbers up to the root, which NumPy rounds correctly: OpenCV's magnitude, and its mean under a mask, differ in their
    # last digits by where in memory the frame begins.
    across, down = (
        np.asarray(cv2.Sobel(luma, cv2.CV_16S, *order, borderType=cv2.BORDER_REPLICATE), np.int32)[inside]
        for order in ((1, 0), (0, 1))
    )
    return np.sqrt(across * across + down * down)
