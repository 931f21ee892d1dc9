"""Clips that are not their footage at another, smaller size are counted from what is known of their sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.curation.footage import Reshaped, reshaped
from inpaintbench.types import Attribute, Clip
from inpaintbench.workspace import Workspace

COVER = "64x48 yuv420p untagged; cover 64x48, bicubic; every frame (25 fps)"


def counts(
    workspace: Workspace, size: tuple[int, int], *, turned: int = 0, aspect: float = 1.0, top: int = 0, way: str = COVER
) -> Reshaped:
    """Of a clip of 64x48 pixels from a source with these facts."""
    workspace.write_table("clips", "cut", [Clip("c", "s", 0, 9, 25.0, 64, 48, 9, "b", "y", "r", 14, 46.0)], Clip)
    values = {"width": size[0], "height": size[1], "rotation_degrees": turned, "pixel_aspect": aspect, "fps": 25.0}
    rows = [Attribute("s", f"probe.{name}", float(value), None, "probe", "1") for name, value in values.items()]
    rows += [Attribute("s", f"bars.{side}", float(top if side == "top" else 0), None, "bars", "1") for side in
             ("top", "bottom", "left", "right")]  # fmt: skip
    workspace.write_table("attributes", "probe", [*rows, Attribute("c", "normalised", way, None, "normalised", "1")], Attribute)
    return reshaped(workspace, {"c"})


@pytest.mark.parametrize(
    ("given", "enlarged", "cropped"),
    [
        ({"size": (64, 48)}, 0, 0),
        ({"size": (128, 96)}, 0, 0),
        ({"size": (127, 96)}, 0, 0),  # a pixel is rounding
        ({"size": (160, 96)}, 0, 1),
        ({"size": (32, 24)}, 1, 0),
        ({"size": (32, 36)}, 1, 1),
        ({"size": (96, 128), "turned": 90}, 0, 0),
        ({"size": (64, 96), "aspect": 2.0}, 0, 0),
        ({"size": (128, 116), "top": 20}, 0, 0),
        ({"size": (160, 96), "way": "160x96 yuv420p untagged; stretch 64x48, bicubic"}, 0, 0),
        ({"size": (96, 48), "way": "96x48 yuv420p untagged; crop 64x48"}, 0, 1),
    ],
)
def test_each_way_of_getting_the_size_is_told(tmp_path: Path, given: dict, enlarged: int, cropped: int) -> None:
    assert counts(Workspace(tmp_path / "w"), **given) == (1, enlarged, cropped)
