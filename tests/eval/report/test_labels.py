from __future__ import annotations

import pytest

from inpaintbench.eval.report.labels import slice_label


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("camera_motion-high", "Camera motion"),
        ("bg_scene_motion-low", "Background scene motion"),
        ("class-left_loop", "Class: left loop"),
    ],
)
def test_slices_are_called_in_words(name: str, shown: str) -> None:
    assert slice_label(name) == shown
