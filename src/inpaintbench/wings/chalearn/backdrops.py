"""Prints that degradations are shown over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.recipes.preview import Backdrop, Stills
from inpaintbench.types import Plain, item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import REACH_SHARE, STRENGTH_SHARE
from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.impressions import draw_impression, printed
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Elastic, Print

_MOST_PRINTS = 24
_SEEDS = 2**31


def _prints(count: int, width: int, height: int, seed: int) -> list[Backdrop]:
    """Prints at 500 pixels per inch, of each class in turn."""
    drawn = []
    for number in range(min(count, _MOST_PRINTS)):
        rng = item_rng(seed, "preview print", str(number))
        ridges, pressed, warped = (int(seed) for seed in rng.integers(_SEEDS, size=3))
        kind, side = CLASSES[number % len(CLASSES)], max(width, height)
        finger = draw_finger(rng, finger_class=kind, width=width, height=height, seed=ridges)
        impression = draw_impression(rng, finger=finger, number=0, seed=pressed)
        record = Print(finger, impression, Elastic(warped, strength=STRENGTH_SHARE * side, reach=REACH_SHARE * side))
        undistorted, truth = (np.repeat(picture[None, ..., None], 3, axis=3) for picture in printed(master(finger), record))
        drawn.append(Backdrop(kind.replace("_", " "), truth, {"undistorted": undistorted, "print": asdict(record)}))
    return drawn


def _over_photographs(settings: Sequence[Plain], folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return [{"backgrounds": "photographs", **constants} for constants in settings], {"folder": str(folder)}


PRINTS = Stills(
    "275x400", _prints, _over_photographs, "{generator} degrades prints, which are still pictures: leave --frames {frames} out"
)
