"""Synthetic fingerprints: any number of fingers with any number of impressions each, and everything known about them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.base import PARTS, Footage, SourceLeaf
from inpaintbench.errors import InputError
from inpaintbench.ranges import Amount, AtLeastOne, Positive, Seed, Side
from inpaintbench.recipes.preview import Backdrop, Stills
from inpaintbench.types import Plain, content_id, item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import REACH_SHARE, STRENGTH_SHARE
from inpaintbench.wings.chalearn.fingerprints.fingers import Law, class_law, draw_finger
from inpaintbench.wings.chalearn.fingerprints.impressions import Style, draw_impression, printed
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, REFERENCE_PIXELS_PER_INCH, Elastic, Finger, Print

# Nobody's fingers, drawn by a program.
PRINT_LICENCE = "CC0-1.0"
# Of the elastic field at 500 pixels per inch. Source: ChaLearn LAP 2018, track 3: 2 and 0.08 of 400 pixels.
STRENGTH_PIXELS, REACH_PIXELS = 800.0, 32.0
_SEEDS = 2**31


class FingerprintSource(SourceLeaf):
    """Impressions of fingers that nobody has, grown from drawn numbers; the truth of a denoising benchmark.

    Finger n is the same however many there are, and so is each of its impressions. Classes follow ``law`` as closely as whole
    numbers can, after any number of fingers.
    """

    name = "fingerprints"
    version = "1"

    def __init__(
        self,
        *,
        fingers: AtLeastOne = 60,
        impressions: AtLeastOne = 1,
        law: Law = "natural",
        width: Side = 275,
        height: Side = 400,
        pixels_per_inch: Positive = 500.0,
        style: Style = "natural",
        elastic: Amount = 1.0,
        licence: str = PRINT_LICENCE,
        seed: Seed = 0,
    ) -> None:
        """``style``: ``natural`` (dry and wet, light and heavy, scratched) or ``challenge`` (as ChaLearn 2018 printed them).

        ``elastic`` multiplies the strength of the elastic field that truth and degraded input share; 1 is as published at 275x400
        and 500 pixels per inch, and its lengths go with the resolution.
        """
        for what, count in (("fingers", fingers), ("impressions of each finger", impressions)):
            if count < 1:
                raise InputError(f"{count} {what}: there must be at least one")
        if not (math.isfinite(elastic) and elastic >= 0):
            raise InputError(f"elastic is {elastic}, give 0 (no field) or more; 1 is the usual strength")
        self.fingers, self.impressions, self.law, self.style, self.seed = fingers, impressions, class_law(law), style, seed
        self.width, self.height, self.pixels_per_inch, self.elastic = width, height, pixels_per_inch, elastic
        self.licence = licence
        self._order = [CLASSES[place] for place in item_rng(seed, "finger classes", "").permutation(len(CLASSES))]
        self._classes: list[str] = []
        self._counts = dict.fromkeys(self.law, 0)
        self.print_of(0, 0)  # tells at once what cannot be drawn

    def footage(self) -> Iterator[Footage]:
        """Every impression of every finger, with what determines it as ``print`` in ``data``."""
        for finger in range(self.fingers):
            for impression in range(self.impressions):
                fields = self.print_of(finger, impression)
                name = f"{finger:06d}_{impression}_{fields.finger.finger_class}"
                payload = {"name": name, "print": asdict(fields)}
                yield Footage(
                    name=name,
                    uri=f"fingerprints:{name}",
                    origin=self.name,
                    content=content_id(self.version, payload, self.licence),
                    payload=payload,
                    licence=self.licence,
                    known={
                        "set": "synthetic",
                        "split_group": f"finger {finger:06d}",
                        "finger_class": fields.finger.finger_class,
                        "finger": float(finger),
                        "impression": float(impression),
                        "moisture": fields.impression.moisture,
                        "pressure": fields.impression.pressure,
                    },
                    data={"print": payload["print"]},
                )

    def print_of(self, finger: int, impression: int) -> Print:
        """Everything that determines an impression of a finger, both numbered from 0."""
        rng = item_rng(self.seed, "finger", str(finger))
        # Class of a finger: the one that lacks most so far, so that few fingers follow the law too.
        while len(self._classes) <= finger:
            counted = len(self._classes) + 1
            # Rounded, so that noise in the last digit does not decide between equals.
            chosen = max(self._order, key=lambda name: round(self.law[name] * counted - self._counts[name], 6))
            self._classes.append(chosen)
            self._counts[chosen] += 1
        drawn = draw_finger(
            rng,
            finger_class=self._classes[finger],
            width=self.width,
            height=self.height,
            pixels_per_inch=self.pixels_per_inch,
            seed=int(rng.integers(_SEEDS)),
        )
        rng = item_rng(self.seed, "impression", f"{finger}.{impression}")
        pressed = draw_impression(rng, finger=drawn, number=impression, seed=int(rng.integers(_SEEDS)), style=self.style)
        scale = self.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
        # The displacement goes with strength over reach, so that it grows with the resolution as all lengths do.
        field = Elastic(int(rng.integers(_SEEDS)), self.elastic * STRENGTH_PIXELS * scale**2, REACH_PIXELS * scale)
        return Print(drawn, pressed, field)

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Grow and print ``payload["print"]``: the truth as PNG, and beside it the picture before the elastic field."""
        fields = Print.of_plain(payload["print"])
        undistorted, truth = printed(_master(fields.finger), fields)
        (Path(scratch) / PARTS).mkdir()
        video.write_image(Path(scratch) / PARTS / "undistorted.png", undistorted)
        path = Path(scratch) / f"{payload['name']}.png"
        video.write_image(path, truth)
        return str(path)


@lru_cache(maxsize=2)
def _master(finger: Finger) -> npt.NDArray[np.uint8]:
    """Impressions of one finger follow each other, so its ridges are grown once."""
    return master(finger)


# Prints that a preview shows degradations over.
_MOST_PRINTS = 24


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
