"""What a protocol is: a name for every constant of a measurement, and a fingerprint of them all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, field_validator

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Metric, check_regions
from inpaintbench.eval.statistics import BOOTSTRAP_95, Interval
from inpaintbench.types import canonical_json

Constant = bool | int | float | str


class Protocol(BaseModel):
    """A named way to measure.

    Fields with one allowed value state what the code does with pixels; another value is refused instead of being believed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    metrics: Mapping[str, Mapping[str, Constant]]
    """Metric -> its own constants, all of them."""
    regions: tuple[str, ...]
    band_radius_pixels: PositiveInt
    """Reach of the boundary band on both sides of the hole's border."""
    composite: Literal[True] = True
    """Known pixels come from the truth before anything is measured."""
    polarity: Literal["true_is_hole"] = "true_is_hole"
    colours: Literal["rgb_full_range"] = "rgb_full_range"
    """Three channels of 0..255, measured as 0..1."""
    resize: Literal["none"] = "none"
    """Frames are measured at the size of the published truth; padding for a method is cropped off before."""
    averaging: Literal["frames_then_items"] = "frames_then_items"
    interval: Interval = BOOTSTRAP_95

    @field_validator("regions")
    @classmethod
    def _known_regions(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return check_regions(names)

    @property
    def fingerprint(self) -> str:
        """12 hex digits that change with any constant and with the version of any metric, but not with the protocol's name."""
        versions = {name: METRICS.get(name).version for name in self.metrics}
        constants = canonical_json([self.model_dump(mode="json", exclude={"name"}), versions])
        return hashlib.sha256(constants.encode()).hexdigest()[:12]

    def build_metrics(self, names: Sequence[str] | None = None) -> list[Metric]:
        """The metrics ``names``, or all of the protocol's, ready to measure all its regions.

        Raises:
            UnknownNameError: a name that is not a metric of this protocol.
        """
        for name in names or ():
            if name not in self.metrics:
                raise UnknownNameError(unknown_name(f"metric of protocol {self.name!r}:", name, self.metrics))
        return [self._build(name) for name in (self.metrics if names is None else names)]

    def _build(self, name: str) -> Metric:
        shared: dict[str, Any] = {"regions": self.regions, "band_radius_pixels": self.band_radius_pixels}
        metric: Metric = METRICS.get(name)(**shared, **self.metrics[name])
        return metric
