"""Structural similarity, and the dissimilarity that a challenge printed in its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, means_by_region, region_pixels
from inpaintbench.eval.passes.changed_windows import changed_box
from inpaintbench.lazily import compiled, has_numba, lazily
from inpaintbench.ranges import Amount, Pixels, Positive, Side, Whole
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

# Structural similarity of two pictures at every pixel, in one pass over them.
#
# Sums over windows, and what comes of them, stay in a few rows that fit into the processor's nearest cache, instead of in a
# dozen pictures of their own. Uniform windows have whole numbers as sums, so that nothing cancels.

Picture = npt.NDArray[np.uint8]
Map = npt.NDArray[np.float64]

CHANNELS = 3
# Up to here twice the square of a window's sum fits into 31 bits: 2 * (11^2 * 255)^2 does, 2 * (13^2 * 255)^2 does not.
LARGEST_UNIFORM_PIXELS = 11
# Pixels whose similarity OpenCV's filters find in about the time that importing numba takes, 0.6 s.
_PIXELS_BEFORE_COMPILING = 8_000_000
_pixels_asked = 0
# Columns that are worked on at a time: four rows of sums of them, with the window's margin, take 25 of 32 KiB of cache.
_TILE = 256


def is_worth_compiling(picture: Picture, *, window_pixels: int, taps: npt.NDArray[np.float64] | None) -> bool:
    """Return whether ``similarity_map`` is to be used in the place of filters of whole pictures.

    For uniform windows both give the same bits, so that a process that measures little can do without importing numba: it is
    taken from the picture on with which that many pixels were asked for that it would have paid.
    """
    global _pixels_asked
    if not has_numba():
        return False
    if taps is not None:
        return True
    _pixels_asked += picture.shape[0] * picture.shape[1]
    return window_pixels <= LARGEST_UNIFORM_PIXELS and _pixels_asked > _PIXELS_BEFORE_COMPILING


def similarity_map(
    first: Picture, second: Picture, *, window_pixels: int, taps: npt.NDArray[np.float64] | None, c1: float, c2: float
) -> Map:
    """Return the similarity of every whole window, averaged over channels.

    Args:
        first: ``uint8[H, W, 3]``.
        second: the same shape.
        window_pixels: side of the window, odd; at most ``LARGEST_UNIFORM_PIXELS`` for a uniform one.
        taps: weights of a symmetric window in one direction, ``float64[window_pixels]`` with sum 1; None = all pixels alike.
        c1: constant of the luminance term; for a uniform window times ``window_pixels ** 4``.
        c2: constant of the contrast term; likewise.

    Returns:
        ``float64[H - window_pixels + 1, W - window_pixels + 1]``.
    """
    height, width = first.shape[:2]
    rows = np.ascontiguousarray(first).reshape(height, -1), np.ascontiguousarray(second).reshape(height, -1)
    similarity = np.empty((height - window_pixels + 1, width - window_pixels + 1))
    if taps is None:
        _uniform(window_pixels)(*rows, np.int32(window_pixels**2), float(c1), float(c2), similarity)
    else:
        _weighted(window_pixels)(*rows, taps, float(c1), float(c2), similarity)
    return similarity


@lru_cache
def _uniform(side: int) -> Any:
    """Compile the loop for windows of this side, which the compiler unrolls."""

    def uniform(first, second, total, c1, c2, similarity):  # type: ignore[no-untyped-def]  # numba knows the types
        height, values = first.shape
        inner = values - CHANNELS * (side - 1)
        x_column, y_column = np.zeros(values, np.int32), np.zeros(values, np.int32)
        square_column, product_column = np.zeros(values, np.int32), np.zeros(values, np.int32)
        likeness = np.empty(inner)
        for row in range(height):
            for i in range(values):  # sums over the last ``side`` rows
                x, y = np.int32(first[row, i]), np.int32(second[row, i])
                x_column[i] += x
                y_column[i] += y
                square_column[i] += x * x + y * y
                product_column[i] += x * y
            if row >= side:
                for i in range(values):
                    x, y = np.int32(first[row - side, i]), np.int32(second[row - side, i])
                    x_column[i] -= x
                    y_column[i] -= y
                    square_column[i] -= x * x + y * y
                    product_column[i] -= x * y
            if row < side - 1:
                continue
            for i in range(inner):
                x_sum, y_sum, squares, products = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
                for j in range(side):
                    x_sum += x_column[i + CHANNELS * j]
                    y_sum += y_column[i + CHANNELS * j]
                    squares += square_column[i + CHANNELS * j]
                    products += product_column[i + CHANNELS * j]
                product = x_sum * y_sum
                power = x_sum * x_sum + y_sum * y_sum
                likeness[i] = ((2.0 * product + c1) * (2.0 * (total * products - product) + c2)) / (
                    (power + c1) * ((total * squares - power) + c2)
                )
            for i in range(inner // CHANNELS):
                similarity[row - side + 1, i] = (
                    likeness[CHANNELS * i] + likeness[CHANNELS * i + 1] + likeness[CHANNELS * i + 2]
                ) / CHANNELS

    return compiled(uniform, error_model="numpy")


@lru_cache
def _weighted(side: int) -> Any:
    """Compile the loop for symmetric windows of this side, which the compiler unrolls."""
    half, margin = side // 2, CHANNELS * (side - 1)

    def weighted(first, second, taps, c1, c2, similarity):  # type: ignore[no-untyped-def]  # numba knows the types
        height, values = first.shape
        x_column, y_column = np.empty(CHANNELS * _TILE + margin), np.empty(CHANNELS * _TILE + margin)
        square_column, product_column = np.empty(CHANNELS * _TILE + margin), np.empty(CHANNELS * _TILE + margin)
        likeness = np.empty(CHANNELS * _TILE)
        for left in range(0, values - margin, CHANNELS * _TILE):
            inner = min(CHANNELS * _TILE, values - margin - left)
            for top in range(height - side + 1):
                for i in range(inner + margin):
                    x, y = np.int32(first[top + half, left + i]), np.int32(second[top + half, left + i])
                    weight = taps[half]
                    x_mean, y_mean, square, product = weight * x, weight * y, weight * (x * x + y * y), weight * (x * y)
                    for j in range(half):  # both rows of a weight at once, as whole numbers
                        other = top + side - 1 - j
                        x, y = np.int32(first[top + j, left + i]), np.int32(second[top + j, left + i])
                        u, v = np.int32(first[other, left + i]), np.int32(second[other, left + i])
                        weight = taps[j]
                        x_mean += weight * (x + u)
                        y_mean += weight * (y + v)
                        square += weight * (x * x + y * y + u * u + v * v)
                        product += weight * (x * y + u * v)
                    x_column[i], y_column[i], square_column[i], product_column[i] = x_mean, y_mean, square, product
                for i in range(inner):
                    weight, middle = taps[half], i + CHANNELS * half
                    x_mean, y_mean = weight * x_column[middle], weight * y_column[middle]
                    square, product = weight * square_column[middle], weight * product_column[middle]
                    for j in range(half):
                        weight, near, far = taps[j], i + CHANNELS * j, i + CHANNELS * (side - 1 - j)
                        x_mean += weight * (x_column[near] + x_column[far])
                        y_mean += weight * (y_column[near] + y_column[far])
                        square += weight * (square_column[near] + square_column[far])
                        product += weight * (product_column[near] + product_column[far])
                    means, powers = x_mean * y_mean, x_mean * x_mean + y_mean * y_mean
                    likeness[i] = ((2 * means + c1) * (2 * (product - means) + c2)) / ((powers + c1) * (square - powers + c2))
                for i in range(inner // CHANNELS):
                    similarity[top, left // CHANNELS + i] = (
                        likeness[CHANNELS * i] + likeness[CHANNELS * i + 1] + likeness[CHANNELS * i + 2]
                    ) / CHANNELS

    return compiled(weighted, error_model="numpy")


Window = Literal["uniform", "gaussian"]
Padding = Literal["valid", "reflect", "mirror", "zero"]
LARGEST_WINDOW_PIXELS = 255
# Up to here the sums over a window of the squared grey levels of two pictures are exact in float32.
_LARGEST_FLOAT32_PIXELS = 11
_BORDERS = {"reflect": "BORDER_REFLECT", "mirror": "BORDER_REFLECT_101", "zero": "BORDER_CONSTANT"}


def check_size(view: ItemView, window_pixels: int) -> None:
    """Raise ``NotMeasurable`` for frames that are smaller than a window."""
    if min(view.height, view.width) < window_pixels:
        raise NotMeasurable(
            f"frames of {view.width}x{view.height} are smaller than the window of {window_pixels}x{window_pixels}"
        )


def inner_means(
    metric: Metric, view: ItemView, compare: Callable[[Picture, Picture], Map], *, edge: int
) -> dict[str, list[float]]:
    """For each region the mean over its pixels of what ``compare`` makes of every frame that has one, in order.

    Args:
        metric: says which regions.
        view: of the item.
        compare: a map of a true frame and a composite, without ``edge`` pixels at each side.
        edge: pixels at each side of the frame that have no value.
    """
    masks = {region: region_pixels(view, region, band_radius_pixels=metric.band_radius_pixels) for region in metric.regions}
    means: dict[str, list[float]] = {region: [] for region in masks}
    inner = slice(edge, -edge or None)
    for index, (truth, composite) in enumerate(zip(view.truth, view.composite, strict=True)):
        compared = compare(truth, composite)
        for region, pixels in masks.items():
            if region == "frame":
                means[region].append(float(compared.ravel().mean()))
                continue
            inside = pixels[index, inner, inner]
            left, top, across, down = cv2.boundingRect(inside.view(np.uint8))
            if across:
                box = slice(top, top + down), slice(left, left + across)
                means[region].append(float(compared[box][inside[box]].mean()))
    return means


class Ssim(Metric):
    """Structural similarity of each frame over the pixels of a region, averaged over frames.

    Wang et al., 2004, per channel, equal to scikit-image. 1 for a perfect copy. ``SSIM_VARIANTS`` names the constants of several
    papers; values of different variants do not compare. Frames without a pixel of the region that has a value are left out.

    Args:
        data_range: L of the constants (K L)^2. Intensities are 0..1, so 1 is right; DEVIL, CVPR 2022, was scored with 2.
        window: ``"uniform"`` or ``"gaussian"``.
        window_pixels: side of the square window, odd.
        sigma: of the Gaussian window, in pixels, 0 for the uniform one.
        k1: constant of the luminance term.
        k2: constant of the contrast term.
        ddof: 1 for the sample covariance of as many values as the window has pixels, 0 for the population's.
        padding: what lies beyond the frame's edge. ``"valid"``: nothing, so pixels nearer to it than half a window have no
            value; ``"reflect"``: the picture mirrored, its outermost pixels repeated; ``"mirror"``: mirrored, without repeating
            them; ``"zero"``: black.
    """

    name = "ssim"
    version = "1"
    higher_is_better = True
    decimals = 4
    bounds = (-1.0, 1.0)
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        data_range: Positive,
        window: Window,
        window_pixels: Side,
        sigma: Pixels,
        k1: Amount,
        k2: Amount,
        ddof: Whole,
        padding: Padding,
        **where: Unpack[Where],
    ) -> None:
        for name, value, choices in (("window", window, get_args(Window)), ("padding", padding, get_args(Padding))):
            if value not in choices:
                raise ValueError(f"{name} is {value!r}, choose from {', '.join(choices)}")
        if window_pixels % 2 == 0 or not 3 <= window_pixels <= LARGEST_WINDOW_PIXELS:
            raise ValueError(f"window_pixels is {window_pixels}, choose an odd number from 3 to {LARGEST_WINDOW_PIXELS}")
        if (sigma > 0) != (window == "gaussian"):
            raise ValueError(f"sigma is {sigma}, choose more than 0 for a Gaussian window and 0 for a uniform one")
        super().__init__(**where)
        self.window_pixels, self.padding = window_pixels, padding
        self.taps: npt.NDArray[np.float64] | None = None
        if window == "gaussian":
            distances = np.arange(window_pixels) - window_pixels // 2
            shares = np.exp(-0.5 * (distances / sigma) ** 2)
            self.taps = shares / shares.sum()
        # Means and covariances are kept times the sum of the weights and its square: for a uniform window, whose weights are
        # 1, these are whole numbers until the constants come in, so nothing cancels.
        pixels = window_pixels**2
        self.total = pixels if self.taps is None else 1
        self.c1 = self.total**2 * (k1 * data_range * 255) ** 2
        self.c2 = self.total**2 * (pixels - ddof) / pixels * (k2 * data_range * 255) ** 2

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in -1..1 for each region; None where no frame has a pixel of it with a value.

        Raises:
            NotMeasurable: the frames are smaller than the window, and not padded.
        """
        half = self.window_pixels // 2
        edge, apart = (half, f" at least {half} px from the frame's edge") if self.padding == "valid" else (0, "")
        check_size(view, self.window_pixels if edge else 1)
        missing = f"no frame has a pixel of the region {{!r}}{apart}"
        return means_by_region(inner_means(self, view, self.similarity, edge=edge), missing=missing)

    def similarity(self, truth: Picture, composite: Picture) -> Map:
        """Similarity at every pixel that has a value, averaged over channels.

        Returns:
            ``float64[H, W]``, or ``float64[H - window + 1, W - window + 1]`` without padding.
        """
        if self.padding != "valid":
            half = self.window_pixels // 2
            truth, composite = (
                np.asarray(cv2.copyMakeBorder(one, half, half, half, half, getattr(cv2, _BORDERS[self.padding])), np.uint8)
                for one in (truth, composite)
            )
        margin = self.window_pixels - 1
        similarity = np.ones((truth.shape[0] - margin, truth.shape[1] - margin))
        # Windows that hold no changed pixel are exactly 1, so only those around the changed ones are computed.
        box = changed_box(truth, composite)
        if box is not None:
            rows, columns = (
                slice(max(span.start - margin, 0), min(span.stop + margin, length))
                for span, length in zip(box, truth.shape, strict=False)
            )
            changed = (slice(rows.start, rows.stop - margin), slice(columns.start, columns.stop - margin))
            similarity[changed] = self._similarity(truth[rows, columns], composite[rows, columns])
        return similarity

    def _similarity(self, truth: Picture, composite: Picture) -> Map:
        if is_worth_compiling(truth, window_pixels=self.window_pixels, taps=self.taps):
            return similarity_map(truth, composite, window_pixels=self.window_pixels, taps=self.taps, c1=self.c1, c2=self.c2)
        x, y = truth.astype(np.float32), composite.astype(np.float32)
        sum_x, sum_y, sum_xy = self._window_sums(x), self._window_sums(y), self._window_sums(x * y)
        sum_squares = self._window_sums(x * x + y * y)
        product, squares = sum_x * sum_y, sum_x * sum_x + sum_y * sum_y
        likeness = (2 * product + self.c1) * (2 * (self.total * sum_xy - product) + self.c2)
        unlikeness = (squares + self.c1) * (self.total * sum_squares - squares + self.c2)
        similarity: Map = (likeness / unlikeness).mean(axis=2)
        return similarity

    def _window_sums(self, picture: npt.NDArray[np.float32]) -> Map:
        if self.taps is not None:
            return self._inner(cv2.sepFilter2D(picture, cv2.CV_64F, self.taps, self.taps))
        depth = cv2.CV_32F if self.window_pixels <= _LARGEST_FLOAT32_PIXELS else cv2.CV_64F
        sums = cv2.boxFilter(picture, depth, (self.window_pixels, self.window_pixels), normalize=False)
        return self._inner(sums).astype(np.float64, copy=False)

    def _inner(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Without the edge where the window does not fit."""
        half = self.window_pixels // 2
        return picture[half:-half, half:-half]


class Dssim(Metric):
    """``(1 - SSIM) / 2`` of each frame over the pixels of a region, averaged over frames.

    0 for a perfect copy, at most 1. SSIM is that of Wang et al., 2004, with a Gaussian window, channel by channel. The challenge
    that printed it as "SSIM" (ChaLearn LAP 2018, tracks 1 and 2) scored with scikit-image before 0.16, which smoothed with more
    taps than the window that the sample covariance and the cropped border were made for; both numbers are constants here. Values
    equal those of scikit-image for 13 taps and a window of 11 (before 0.16) and for 11 and 11 (since then). Frames without a
    pixel of the region that has a value are left out.

    Args:
        data_range: L of the constants (K L)^2; intensities are 0..1.
        sigma: of the Gaussian, in pixels.
        taps: of the Gaussian in each direction, odd; beyond the frame's edge the picture is mirrored, its outermost pixels
            repeated.
        window_pixels: side of the window by whose pixels covariances are corrected, and of which half, rounded down, is cut off
            at each edge of the frame, odd.
        k1: constant of the luminance term.
        k2: constant of the contrast term.
        ddof: 1 for the sample covariance of as many values as the window has pixels, 0 for the population's.

    Raises:
        InputError: a number of taps or pixels that is not odd, or a sigma that is not above 0.
    """

    name = "dssim"
    version = "1"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, 1.0)
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        data_range: Positive,
        sigma: Pixels,
        taps: Side,
        window_pixels: Side,
        k1: Amount,
        k2: Amount,
        ddof: Whole,
        **where: Unpack[Where],
    ) -> None:
        for name, number in (("taps", taps), ("window_pixels", window_pixels)):
            if number < 3 or number % 2 == 0:
                raise InputError(f"{name} is {number}, choose an odd number from 3")
        if not sigma > 0:
            raise InputError(f"sigma is {sigma}, choose a number above 0, e.g. 1.5")
        super().__init__(**where)
        self.window_pixels, self.half, self.edge = window_pixels, taps // 2, window_pixels // 2
        offsets = np.arange(taps) - taps // 2
        weights = np.exp(-(offsets**2) / (2 * sigma**2))
        self.kernel = weights / weights.sum()
        pixels = window_pixels**2
        self.correction = pixels / (pixels - ddof)
        self.c1, self.c2 = (k1 * data_range * 255) ** 2, (k2 * data_range * 255) ** 2

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no frame has a pixel of it with a value.

        Raises:
            NotMeasurable: the frames are smaller than the window.
        """
        check_size(view, self.window_pixels)
        missing = f"no frame has a pixel of the region {{!r}} at least {self.edge} px from the frame's edge"
        return means_by_region(inner_means(self, view, self.dissimilarity, edge=self.edge), missing=missing)

    def dissimilarity(self, truth: npt.NDArray[Any], composite: npt.NDArray[Any]) -> Map:
        """At every pixel that has a value, averaged over channels.

        Args:
            truth: ``[H, W, 3]`` with levels of 0..255, of any numeric type.
            composite: the same.

        Returns:
            ``float64[H - window + 1, W - window + 1]``.
        """
        height, width = truth.shape[:2]
        dissimilar = np.zeros((height, width))
        # Windows that hold no changed pixel are exactly 0, so only those around the changed ones are computed.
        changed = (truth != composite).any(axis=2).view(np.uint8)
        left, top, across, down = cv2.boundingRect(changed)
        if across:
            half = self.half
            rows = slice(max(top - half, 0), min(top + down + half, height))
            columns = slice(max(left - half, 0), min(left + across + half, width))
            around = slice(rows.start, rows.stop + 2 * half), slice(columns.start, columns.stop + 2 * half)
            x, y = (
                np.asarray(cv2.copyMakeBorder(picture, half, half, half, half, cv2.BORDER_REFLECT)[around], np.float64)
                for picture in (truth, composite)
            )
            mean_x, mean_y = self._smoothed(x), self._smoothed(y)
            product, squares = mean_x * mean_y, mean_x * mean_x + mean_y * mean_y
            covariance = self.correction * (self._smoothed(x * y) - product)
            variances = self.correction * (self._smoothed(x * x + y * y) - squares)
            likeness = (2 * product + self.c1) * (2 * covariance + self.c2) / ((squares + self.c1) * (variances + self.c2))
            dissimilar[rows, columns] = (1 - likeness.mean(axis=2)) / 2
        return dissimilar[self.edge : -self.edge, self.edge : -self.edge]

    def _smoothed(self, picture: Map) -> Map:
        half = self.half
        smooth = cv2.sepFilter2D(picture, cv2.CV_64F, self.kernel, self.kernel)
        return np.asarray(smooth[half:-half, half:-half], np.float64)
