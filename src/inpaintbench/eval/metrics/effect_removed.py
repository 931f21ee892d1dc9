"""Share of what an object changed that a prediction takes back, and what of it is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inpaintbench.eval.metrics.base import Measurement, Metric, region_pixels
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

CHANNELS = 3
# Mean difference of input and truth, in levels, below which a region shows nothing of the object.
LEAST_LEVELS = 1.0


class Sums(NamedTuple):
    """Sums over all values of a region of a clip, with D = input - truth and E = composite - truth in levels."""

    values: int
    squares: int
    """Sum of D^2."""
    products: int
    """Sum of E D."""
    change: int
    """Sum of |D|."""
    error: int
    """Sum of |E|."""

    @property
    def removed(self) -> float:
        """Share that is gone: 1 all, 0 none, above 1 too much, below 0 the change has grown."""
        return 1 - self.products / self.squares

    @property
    def residual(self) -> float:
        """Error as a share of the change, at least 0."""
        return self.error / self.change

    @property
    def levels(self) -> float:
        """Mean of |D|."""
        return self.change / self.values


class _OfTheEffect(Metric):
    """Base of both: one pass over input, truth and composite."""

    version = "1"
    decimals = 3
    needs = ("input", "truth", "composite", "hole")
    answers = ("object", "effect")

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values of each region; None where no frame has a pixel of it, or where input and truth are alike in it."""
        return {region: self._of(region, self._sums(view, region)) for region in self.regions}

    def _sums(self, view: ItemView, region: str) -> Sums:
        pixels = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
        # Both metrics look at the same composite.
        sums: Sums = view.shared.once_of(
            [view.composite], ("effect", region), lambda: effect_sums(view.input, view.truth, view.composite, pixels)
        )
        return sums

    def _of(self, region: str, sums: Sums) -> Measurement:
        if not sums.values:
            return Measurement(None, f"no frame has a pixel of the region {region!r}")
        if sums.levels < LEAST_LEVELS:
            return Measurement(
                None, f"input and truth differ by {sums.levels:.2f} levels in the region {region!r}, less than {LEAST_LEVELS:g}"
            )
        return Measurement(
            self._value(sums), details={"removed": sums.removed, "residual": sums.residual, "effect_levels": sums.levels}
        )

    def _value(self, sums: Sums) -> float:
        raise NotImplementedError


class EffectRemoved(_OfTheEffect):
    """Share of what an object changed in a region that a prediction takes back; 1 = all of it, 0 = none.

    With D = input - truth and E = composite - truth over all values of the region in the clip, the share is r = 1 - <E,D>/<D,D>,
    which is above 1 where too much is taken away and below 0 where the change has grown. Neither is better than 1, so the value
    is 1 - |1 - r|: r itself up to 1, as far below 1 as r is above it otherwise. Sums are of the whole clip, so frames in which
    the effect is faint do not decide. New errors that do not look like the effect do not count: see ``effect_residual``. The
    details have r (``removed``), the residual and the mean of |D| (``effect_levels``); where that is below one level, there is no
    value.
    """

    name = "effect_removed"
    higher_is_better = True
    bounds = (-np.inf, 1.0)

    def _value(self, sums: Sums) -> float:
        return 1 - abs(1 - sums.removed)


class EffectResidual(_OfTheEffect):
    """What is left in a region after an object was removed, new errors included, as a share of what the object changed there.

    sum |composite - truth| / sum |input - truth| over all values of the region in the clip: 0 = nothing, 1 = as much as before,
    more = the prediction is worse than the input. Lower is better. Details and missing values as ``effect_removed``.
    """

    name = "effect_residual"
    higher_is_better = False
    bounds = (0.0, np.inf)

    def _value(self, sums: Sums) -> float:
        return sums.residual


def effect_sums(given: Frames, truth: Frames, composite: Frames, pixels: Hole) -> Sums:
    """Sums over ``pixels``, ``bool[T, H, W]``, of three clips ``uint8[T, H, W, 3]``; whole numbers, so of any order."""
    totals = np.zeros(4, np.int64)
    for shown, true, ours, inside in zip(given, truth, composite, pixels, strict=True):
        if inside.any():
            level = true[inside].astype(np.int64)
            change, error = shown[inside] - level, ours[inside] - level
            totals += [(change * change).sum(), (error * change).sum(), np.abs(change).sum(), np.abs(error).sum()]
    squares, products, change_sum, error_sum = totals.tolist()
    return Sums(CHANNELS * int(np.count_nonzero(pixels)), squares, products, change_sum, error_sum)
