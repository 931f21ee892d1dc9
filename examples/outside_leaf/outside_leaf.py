"""A method, a metric and a protocol that contains it. `pip install examples/outside_leaf`, then

inpaintbench eval run DATASET --run RUN --method mirror
inpaintbench eval run --for scores   DATASET --run RUN --protocol outside
"""

import numpy as np

from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.view import composite


class Mirror:
    """Fills holes with what lies on the other side of the frame."""

    name, version, needs, divisor = "mirror", "1", ("input", "hole"), 1

    def inpaint(self, view):
        return composite(view.input, view.hole, view.input[:, :, ::-1])


class WorstPixel:
    """The largest difference of a level from the truth, 0..255, in the hole."""

    name, version, unit, higher_is_better, decimals = "worst_pixel", "1", "", False, 0
    needs = ("truth", "composite", "hole")

    def __init__(self, *, regions, **_shared):
        self.regions = tuple(name for name in regions if name == "hole")

    def measure(self, view):
        apart = np.abs(view.truth.astype(int) - view.composite)[view.hole]
        found = Measurement(float(apart.max())) if apart.size else Measurement(None, "the item has no hole")
        return dict.fromkeys(self.regions, found)

    def reduce(self, measurements):
        return sum(measurements) / len(measurements) if measurements else None


OUTSIDE = Protocol(
    name="outside",
    regions=("hole",),
    band_radius_pixels=8,
    primary=("worst_pixel", "hole"),
    metrics={"worst_pixel": {}, "mse": {}},
)
