"""Masks as detectors give them: what each kind makes of shapes with known answers, and the amounts that reach an IoU."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from inpaintbench import regions
from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.given import ImperfectMask
from inpaintbench.masks.mask_errors import KINDS, agreement, boxes, hulls, moved
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

Y, X = np.mgrid[:120, :160]
ELLIPSE = (np.hypot((X - 70) / 18, (Y - 60) / 25) <= 1)[None]


def square(frames: int = 1) -> Hole:
    mask = np.zeros((frames, 120, 160), bool)
    mask[:, 40:80, 60:100] = True
    return mask


def corner() -> Hole:
    """An L of 3,000 pixels."""
    mask = np.zeros((1, 120, 160), bool)
    mask[:, 20:100, 30:50] = True
    mask[:, 80:100, 30:120] = True
    return mask


def drawn(exact: Hole, *, seed: int = 0, **constants: object) -> Drawn:
    view = ItemView.of_arrays(object_mask=exact)
    return ImperfectMask(**constants).generate(view.declaring("imperfect_mask", ("object_mask",)), np.random.default_rng(seed))


def iou(one: Hole, other: Hole) -> float:
    return float((one & other).sum() / (one | other).sum())


@pytest.mark.parametrize(
    ("exact", "constants", "known"),
    [
        (square(), {"kind": "dilate", "amount": 4}, 0.6944444), (square(), {"kind": "erode", "amount": 4}, 0.64),
        (ELLIPSE, {"kind": "dilate", "amount": 3}, 0.7138508), (ELLIPSE, {"kind": "erode", "amount": 3}, 0.6645345),
        (ELLIPSE, {"kind": "box"}, 0.7456279), (corner(), {"kind": "hull"}, 0.5917160),
    ],
)  # fmt: skip
def test_shapes_have_the_agreement_that_geometry_gives(exact: Hole, constants: dict[str, object], known: float) -> None:
    made = drawn(exact, **constants)
    assert made.hole is not None
    assert made.facts["mask_iou"] == pytest.approx(known, abs=1e-7)
    assert iou(made.hole, exact) == pytest.approx(known, abs=1e-7)


def test_four_crosses_as_released_programs_grow_masks() -> None:
    assert iou(regions.dilate_by_cross(ELLIPSE, times=4), ELLIPSE) == pytest.approx(0.7301505, abs=1e-7)


def test_moved_masks_lose_what_leaves_the_frame() -> None:
    assert ELLIPSE.sum() == 1407
    assert iou(moved(square(), np.array([[4.0, 4.0]])), square()) == pytest.approx(0.6806723, abs=1e-7)
    assert iou(moved(ELLIPSE, np.array([[5.0, -3.0]])), ELLIPSE) == pytest.approx(0.675, abs=1e-7)
    out = moved(square(), np.array([[-80.0, 0.0]]))
    assert out.sum() == 40 * 20
    assert out[0, 40:80, :20].all()
    assert not moved(square(), np.array([[0.0, 200.0]])).any()


def test_hulls_and_boxes_are_of_each_frame_and_piece() -> None:
    both = corner() | np.roll(square(), -40, axis=1)
    assert hulls(corner()).sum() == 5070
    assert (hulls(both) == hulls(corner()) | np.roll(square(), -40, axis=1)).all()
    assert (boxes(corner())[0, 20:100, 30:120]).all()
    assert not boxes(np.zeros((1, 5, 5), bool)).any()


def test_recall_and_excess_tell_too_small_from_too_large() -> None:
    grown, shrunk = (drawn(square(), kind=kind, amount=4).facts for kind in ("dilate", "erode"))
    assert (grown["mask_recall"], shrunk["mask_excess"]) == (1, 0)
    assert grown["mask_excess"] == pytest.approx(48**2 / 40**2 - 1)
    assert shrunk["mask_recall"] == pytest.approx(0.64)


def test_frames_without_the_object_do_not_count() -> None:
    exact = square(4)
    exact[1] = False
    mask = exact.copy()
    mask[3] = False
    assert agreement(mask, exact) == {"mask_iou": 2 / 3, "mask_recall": 2 / 3, "mask_excess": 0}


@pytest.mark.parametrize("kind", ["dilate", "erode", "jitter", "shift"])
@pytest.mark.parametrize("interval", [(0.9, 1.0), (0.7, 0.9), (0.5, 0.7), (0.0, 0.5)])
def test_an_amount_is_found_for_every_interval(kind: str, interval: tuple[float, float]) -> None:
    made = drawn(square(8), kind=kind, iou=interval)
    assert interval[0] <= made.facts["mask_iou"] < interval[1]
    again = drawn(square(8), kind=kind, amount=made.facts["mask_amount"])
    assert made.hole is not None
    assert again.hole is not None
    np.testing.assert_array_equal(made.hole, again.hole)


def test_late_masks_are_those_of_frames_before() -> None:
    exact = np.stack([np.roll(square()[0], 3 * index, axis=1) for index in range(12)])
    made = drawn(exact, kind="late", amount=2).hole
    assert made is not None
    np.testing.assert_array_equal(made[2:], exact[:-2])
    np.testing.assert_array_equal(made[:2], exact[[0, 0]])
    assert drawn(exact, kind="late", iou=(0.5, 0.7)).facts["mask_amount"] >= 2
    with pytest.raises(Rejected, match=r"no amount of late has an IoU from 0\.9 to below 1; the nearest have 1\.00, 1\.00"):
        drawn(square(8), kind="late", iou=(0.9, 1.0))


def test_dropped_frames_have_no_mask() -> None:
    made = drawn(square(20), kind="drop", amount=0.25)
    assert made.hole is not None
    assert (~made.hole.any(axis=(1, 2))).sum() == 5
    assert made.facts["mask_iou"] == 0.75
    other = drawn(square(20), kind="drop", amount=0.25, seed=1).hole
    assert other is not None
    assert (other != made.hole).any()
    with pytest.raises(Rejected, match="drop leaves nothing of the mask"):
        drawn(square(20), kind="drop", amount=1.0)


def test_a_box_that_is_not_wanted_so_wrong_is_refused() -> None:
    with pytest.raises(Rejected, match=r"box has an IoU of 0\.75, not one from 0\.9 to below 1"):
        drawn(ELLIPSE, kind="box", iou=(0.9, 1.0))


def test_dilation_is_that_of_opencv() -> None:
    made = drawn(corner(), kind="dilate", amount=3).hole
    assert made is not None
    np.testing.assert_array_equal(made[0], cv2.dilate(corner()[0].astype(np.uint8), np.ones((7, 7), np.uint8)) > 0)


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ({"kind": "dilate"}, "the kind 'dilate' needs an amount, or the interval"),
        ({"kind": "dilate", "amount": 1, "iou": (0.5, 0.7)}, "the kind 'dilate' needs an amount, or the interval"),
        ({"kind": "box", "amount": 1}, "the kind 'box' has no amount"),
        ({"kind": "drop", "iou": (0.5, 0.7)}, "the kind 'drop' needs an amount"),
        ({"kind": "drop", "amount": 2}, "amount is 2, give a share"),
        ({"kind": "erode", "amount": -1}, "amount is -1, give a number from 0 upwards"),
    ],
)
def test_constants_that_make_no_sense_are_told(constants: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ImperfectMask(**constants)  # type: ignore[arg-type]


def test_an_unknown_kind_is_told() -> None:
    with pytest.raises(UnknownNameError, match="blur"):
        ImperfectMask(kind="blur", amount=1)  # type: ignore[arg-type]
    assert "dilate" in KINDS
