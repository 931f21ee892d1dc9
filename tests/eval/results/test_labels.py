from __future__ import annotations

import pytest

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.results.quantity import Quantity, metric_label, quantity_arrow, quantity_title, slice_label


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


@pytest.mark.parametrize(
    ("quantity", "arrow", "title"),
    [
        (Quantity("psnr", "hole"), "PSNR in the hole ↑", "PSNR in the hole ↑ (dB)"),
        (Quantity("lpips", "frame"), "LPIPS of the frame ↓", "LPIPS of the frame ↓"),
        (Quantity("hole_sharpness", "band"), "Sharpness in the boundary band", "Sharpness in the boundary band"),
    ],
)
def test_labels_of_numbers_name_their_region(quantity: Quantity, arrow: str, title: str) -> None:
    assert (quantity_arrow(quantity), quantity_title(quantity)) == (arrow, title)


def test_no_two_metrics_are_called_alike() -> None:
    labels = [metric_label(name) for name in METRICS]
    assert len(set(labels)) == len(labels) > 40
