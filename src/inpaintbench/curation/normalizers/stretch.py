"""Scale both sides to the target, whatever that does to the shape of things."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.normalizers import geometry
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.ranges import Enlargement, Side


class Stretch(Normalizer):
    """Both sides scaled to the target by themselves, bicubic with anti-aliasing; nothing is cut off and shapes change.

    ``most_enlargement`` limits the side that grows more, counted from the frame in square pixels. ``resample``: one of
    ``geometry.FILTERS``.
    """

    name = "stretch"
    version = "2"

    def __init__(
        self, *, width: Side = 832, height: Side = 480, most_enlargement: Enlargement = 1.0, resample: str = "bicubic"
    ) -> None:
        geometry.check_size(width, height)
        geometry.check_enlargement(most_enlargement)
        geometry.check_filter(resample)
        self.resample = resample
        self.width, self.height, self.most_enlargement = width, height, most_enlargement

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``.

        Raises:
            Rejected: a side would be enlarged more than ``most_enlargement`` times.
        """
        size = geometry.square_size(frame, pixel_aspect=pixel_aspect)
        ratio = max(self.width / size[0], self.height / size[1])
        geometry.refuse_enlarging(size, ratio=ratio, most_enlargement=self.most_enlargement, target=f"{self.width}x{self.height}")
        return geometry.resized(frame, width=self.width, height=self.height, resample=self.resample)

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"stretch {self.width}x{self.height}, {self.resample}{geometry.enlargement_words(self.most_enlargement)}"
