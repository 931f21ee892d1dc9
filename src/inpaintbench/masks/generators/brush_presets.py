"""Constants of LaMa's random masks, as its released code draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# A stroke has 1 to 5 segments.
LONGEST_STROKE_SEGMENTS = 5
SHORTEST_SEGMENT_PIXELS = 10
NARROWEST_SEGMENT_PIXELS = 5
# The only directions of segments: LaMa draws whole radians below 4 and adds 0.01; segments 0, 2, 4 ... use 2 pi minus that.
ANGLES_RADIANS = (0.01, 1.01, 2.01, 3.01)


@dataclass(frozen=True)
class BoxRange:
    """Ranges of boxes: number, sides in pixels (all inclusive), and the least distance from the frame's edge in pixels."""

    times: tuple[int, int]
    side_pixels: tuple[int, int]
    margin_pixels: int


@dataclass(frozen=True)
class BrushPreset:
    """Parameter set of LaMa, for square images of ``image_size`` pixels."""

    image_size: int
    times: tuple[int, int]
    """Least and largest number of strokes, inclusive: LaMa's code draws one more than its configuration says."""
    max_length: int
    """Segments are 10 ... 9 + max_length pixels long."""
    max_width: int
    """Segments are 5 ... 4 + max_width pixels wide."""
    boxes: BoxRange | None

    @property
    def brush_probability(self) -> float:
        """Probability of a mask of strokes: LaMa's weights are 1 for strokes and 0.3 for boxes."""
        return 1.0 if self.boxes is None else 1 / 1.3


# Name -> constants. Source: the configuration files and the mask generator of LaMa (WACV 2022), repository advimman/lama.
PRESETS: Mapping[str, BrushPreset] = MappingProxyType(
    {
        "thin-256": BrushPreset(256, (4, 51), 40, 10, None),
        "medium-256": BrushPreset(256, (4, 6), 100, 50, BoxRange((1, 5), (10, 50), 0)),
        "thick-256": BrushPreset(256, (1, 6), 200, 100, BoxRange((1, 3), (30, 150), 10)),
        "thin-512": BrushPreset(512, (4, 71), 100, 20, None),
        "medium-512": BrushPreset(512, (4, 11), 200, 100, BoxRange((1, 5), (30, 150), 0)),
        "thick-512": BrushPreset(512, (1, 6), 450, 250, BoxRange((1, 4), (30, 300), 10)),
    }
)
