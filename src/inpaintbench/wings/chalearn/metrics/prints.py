"""Pictures of a print as metrics of ridges look at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.poincare import print_area


class Print(NamedTuple):
    """Grey levels of truth and prediction, ``uint8[H, W]``, and the area of the truth's print, ``bool[H, W]``."""

    truth: npt.NDArray[np.uint8]
    ours: npt.NDArray[np.uint8]
    area: npt.NDArray[np.bool_]


def prints(view: ItemView, *, pixels_per_inch: float) -> Iterator[Print]:
    """Each frame whose truth shows a print; needs truth and composite."""
    for truth, ours in zip(view.truth, view.composite, strict=True):
        true, other = (np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.uint8) for frame in (truth, ours))
        area = print_area(true, pixels_per_inch=pixels_per_inch)
        if area.any():
            yield Print(true, other, area)
