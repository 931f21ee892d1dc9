"""Natural image quality evaluator: how far the statistics of a picture are from those of pristine photographs."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
from scipy import linalg, ndimage, special

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.models.weights import path_of
from inpaintbench.ranges import AtLeastOne, Side
from inpaintbench.view import ItemView

Values = npt.NDArray[np.float64]
# Entry of `weights.toml`.
WEIGHTS = "niqe-pristine"
# Neighbours whose products have a distribution each: right, below, and the two below aslant.
_SHIFTS = ((0, 1), (1, 0), (1, 1), (1, -1))


class Pristine(NamedTuple):
    """A Gaussian of the 36 features of blocks of photographs."""

    mean: Values
    covariance: Values


@lru_cache(maxsize=1)
def _shapes() -> tuple[Values, Values]:
    """Shapes of generalised Gaussians, 0.2 to 10, and the ratio of moments that each has."""
    shapes = np.arange(0.2, 10.0005, 0.001).astype(np.float32).astype(np.float64)
    return shapes, np.exp(2 * special.gammaln(2 / shapes) - special.gammaln(1 / shapes) - special.gammaln(3 / shapes))


class Niqe(SingleRegionMetric):
    """NIQE of the prediction's frames, averaged over frames: about 3 for sharp photographs; lower is better.

    Mittal et al., IEEE Signal Processing Letters 2013, in the precisions of the package pyiqa, by which FiVE measures. Luma
    (0.299, 0.587, 0.114) in whole levels, less its local mean over its local deviation and 1 (Gaussian of 7 pixels, 7/6, edges
    repeated). In each block of 96x96 an asymmetric generalised Gaussian is fitted to these and to their products with four
    neighbours, and again at half the size: 36 features. The value is the Mahalanobis distance of their mean from that of
    photographs, under the mean of both covariances. Pixels beyond a whole number of blocks do not count, nor do flat frames. The
    photographs' statistics are the authors', as BasicSR (Apache-2.0) has them.

    Args:
        block_pixels: side of the blocks, an even number; published 96, of which the photographs' statistics are.
        stride: of frames that are looked at; FiVE takes every eighth.
    """

    name = "niqe"
    version = "1"
    follows = "pyiqa (PolyForm Noncommercial)"
    label = "NIQE"
    diagnostic = "it knows no truth, and grain or a sharper picture of something else may be nearer to photographs"
    higher_is_better = False
    decimals = 3
    bounds = (0.0, np.inf)
    weights = (WEIGHTS,)
    needs = ("prediction",)

    def __init__(self, *, block_pixels: Side, stride: AtLeastOne, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        if block_pixels < 8 or block_pixels % 2:
            raise ValueError(f"block_pixels is {block_pixels}, it must be an even number of 8 or more")
        self.block_pixels, self.stride = block_pixels, stride

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: frames of fewer than two blocks, or the statistics of photographs are not there.
        """
        side = self.block_pixels
        if (view.height // side) * (view.width // side) < 2:
            raise NotMeasurable(f"frames of {view.width}x{view.height} have fewer than two blocks of {side} pixels")
        photographs = Pristine(np.ones(36), np.eye(36))
        if view.shared.compute.random_weights is None:
            with np.load(path_of(WEIGHTS), allow_pickle=False) as stored:
                photographs = Pristine(stored["mu_pris_param"].ravel(), stored["cov_pris_param"])
        found = (distance(frame, photographs, block_pixels=side) for frame in view.prediction[:: self.stride])
        values = [value for value in found if value is not None]
        return mean_over_clip(values, parts="frames", missing="every frame is flat")


def distance(frame: npt.NDArray[np.uint8], photographs: Pristine, *, block_pixels: int) -> float | None:
    """NIQE of a frame ``uint8[H, W, 3]``; None where fewer than two blocks are not flat."""
    shares = np.array([0.299, 0.587, 0.114], np.float32)
    red, green, blue = np.moveaxis(frame.astype(np.float32) / np.float32(255) * shares, -1, 0)
    luma = red + green + blue  # in this order, which decides how halves are rounded
    levels = np.rint(luma * np.float32(255)).astype(np.float64)
    rows, columns = (side // block_pixels for side in levels.shape)
    levels = levels[: rows * block_pixels, : columns * block_pixels]
    features = []
    for scale in (1, 2):
        side = block_pixels // scale
        blocks = normalised(levels).reshape(rows, side, columns, side).swapaxes(1, 2).reshape(-1, side, side)
        features.append(np.array([_features(block) for block in blocks]))
        levels = _halved(levels)
    found = np.concatenate(features, axis=1)
    whole = found[~np.isnan(found).any(axis=1)]
    if len(whole) < 2:
        return None
    away = photographs.mean - np.nanmean(found, axis=0)
    inverse = linalg.pinv((photographs.covariance + np.cov(whole, rowvar=False)) / 2)
    return float(np.sqrt(away @ inverse @ away))


def normalised(levels: Values) -> Values:
    """Levels less their local mean, over their local deviation and 1."""
    away = np.arange(-3, 4) ** 2
    window = np.exp(-(away + away[:, None]) / (2 * (7 / 6) ** 2))
    # Weights of single precision do not add up to 1, which decides the signs of what is left of a flat place.
    window = (window / window.sum()).astype(np.float32).astype(np.float64)
    mean, squares = (ndimage.correlate(values, window, mode="nearest") for values in (levels, levels**2))
    deviation = np.sqrt(np.abs(squares - mean**2) + np.finfo(np.float64).eps)
    return np.asarray((levels - mean) / (deviation + 1))


def _halved(levels: Values) -> Values:
    """Half the size by the cubic filter of MATLAB's imresize, whose reach grows with the scale, in single precision."""
    away = np.abs(np.arange(-3, 5) - 0.5) / 2
    near, far = 1.5 * away**3 - 2.5 * away**2 + 1, -0.5 * away**3 + 2.5 * away**2 - 4 * away + 2
    window, small = (np.where(away <= 1, near, far) / 2).astype(np.float32), (levels / 255).astype(np.float32)
    for axis in (0, 1):  # tap by tap, since the last bits of a flat place decide what is left of it
        wide = np.pad(np.moveaxis(small, axis, 0), ((3, 4), (0, 0)), mode="symmetric")
        taps = (weight * wide[place : place + len(small if axis == 0 else small.T) : 2] for place, weight in enumerate(window))
        small = np.moveaxis(np.add.reduce(list(taps)), 0, axis)
    return np.asarray(small.astype(np.float64) * 255)


def _features(block: Values) -> list[float]:
    """18 features of a block; NaN where it is flat."""
    shape, left, right = _fitted(block)
    found = [shape, (left + right) / 2]
    for shift in _SHIFTS:
        shape, left, right = _fitted(block * np.roll(block, shift, axis=(0, 1)))
        mean = (right - left) * np.exp(special.gammaln(2 / shape) - special.gammaln(1 / shape))
        found += [shape, mean, left, right]
    return found


def _fitted(values: Values) -> tuple[float, float, float]:
    """Shape and the two scales of an asymmetric generalised Gaussian, by its moments."""
    shapes, ratios = _shapes()
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right = (np.sqrt(np.square(side).sum() / side.size) for side in (values[values < 0], values[values > 0]))
        lopsided = left / right
        ratio = np.abs(values).mean() ** 2 / np.square(values).mean()
    ratio *= (lopsided**3 + 1) * (lopsided + 1) / (lopsided**2 + 1) ** 2
    shape = shapes[np.abs(ratios - ratio).argmin()]
    scale = np.sqrt(np.exp(special.gammaln(1 / shape) - special.gammaln(3 / shape)))
    return float(shape), float(left * scale), float(right * scale)
