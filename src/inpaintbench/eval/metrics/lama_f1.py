"""One number for closeness to the truth and for realism, as the evaluator of LaMa has it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from inpaintbench.deviations import Deviation
from inpaintbench.eval.metrics.base import Comparison, Features, Measurement, SetMetric, TogetherMetric, Where
from inpaintbench.eval.metrics.inception import Fid
from inpaintbench.eval.metrics.lpips import Lpips
from inpaintbench.ranges import Amount, Positive, Side, Whole
from inpaintbench.view import ItemView


class LamaF1(TogetherMetric, SetMetric):
    """Harmonic mean of 1 - LPIPS and 1 - FID / scale over the frames of a slice, from 0 to 1.

    ``2 a b / (a + b + epsilon)`` with ``a`` = 1 less the mean LPIPS of all frames and ``b`` = 1 - FID / ``fid_scale``, neither
    below 0 (LaMa, WACV 2022, released evaluator, where ``a`` has no such limit). The features of an item are those of ``Fid``
    with its mean LPIPS as one more number in every row (0 in the truth's). As FID it cannot be compared between sets of different
    sizes, and it has no standard error.

    Args:
        net: see ``Lpips``; published "vgg".
        version: see ``Lpips``.
        resize: see ``Fid``.
        side_pixels: see ``Fid``.
        ddof: see ``Fid``.
        fid_scale: the FID that counts as 0; published 100.
        epsilon: keeps the mean of two zeros a number; published 0.001, which costs a perfect copy half a thousandth.
    """

    name = "lama_f1"
    label = "LaMa F1"
    deviations = (
        Deviation(
            "1 - LPIPS, where LPIPS is above 1",
            "below 0, so that the harmonic mean can be anything",
            "0",
            "none where the mean LPIPS is at most 1",
        ),
    )
    version = "1"
    higher_is_better = True
    decimals = 4
    answers = ("frame",)
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        net: str,
        version: str,
        resize: str,
        side_pixels: Side,
        ddof: Whole,
        fid_scale: Positive,
        epsilon: Amount,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(**where)
        self.lpips = Lpips(net=net, version=version, **where)
        self.fid = Fid(resize=resize, side_pixels=side_pixels, ddof=ddof, **where)
        self.fid_scale, self.epsilon = fid_scale, epsilon

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of both."""
        return (*Lpips.weights_of(constants), *Fid.weights_of(constants))

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """No values, but the features, ``float32[frames, 2049]`` each; networks are asked once, for the other metrics too."""
        if not self.regions:
            return [{} for _ in views]
        both = zip(self.lpips.measure_together(views), self.fid.measure_together(views), strict=True)
        return [{region: _joined(lpips[region], fid[region]) for region in self.regions} for lpips, fid in both]

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The mean of both, with ``lpips`` and ``fid`` in its details; without a FID no value, and the reason of that."""
        rows = [np.asarray(features.prediction[:, -1], np.float64) for features in sets]
        lpips = math.fsum(value for row in rows for value in row) / sum(map(len, rows))
        distance = self.fid.compare([Features(*(array[:, :-1] for array in features)) for features in sets], clusters)
        details = {**distance.details, "lpips": lpips, "fid": distance.value}
        if distance.value is None:
            return replace(distance, details=details)
        closeness, realism = max(0.0, 1 - lpips), max(0.0, 1 - distance.value / self.fid_scale)
        return Comparison(2 * closeness * realism / (closeness + realism + self.epsilon), details=details)


def _joined(lpips: Measurement, fid: Measurement) -> Measurement:
    if lpips.value is None or fid.features is None:
        return Measurement(None, lpips.reason or fid.reason)
    columns = (np.full((len(array), 1), value, np.float32) for array, value in zip(fid.features, (lpips.value, 0.0), strict=True))
    features = Features(*(np.hstack(pair) for pair in zip(fid.features, columns, strict=True)))
    return Measurement(None, details=fid.details, features=features)
