"""What metrics of optical flow have in common: the parameters of the flow that their constants name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inpaintbench.eval.flows import FLOWS
from inpaintbench.eval.metrics.base import TogetherMetric


class FlowMetric(TogetherMetric):
    """Base of metrics that compare frames along an optical flow, which is estimated once for all predictions of an item."""

    fewest_frames = 2

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters of the flow ``constants["flow"]``; none for one without a network."""
        weights = FLOWS.get(constants["flow"]).weights
        return () if weights is None else (weights,)
