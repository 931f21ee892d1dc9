"""Errors of masks as detectors and trackers make them: what each does to an exact mask, and how much of it reaches an IoU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import regions
from inpaintbench.errors import Rejected
from inpaintbench.lazily import lazily
from inpaintbench.types import Hole

cv2 = lazily("cv2")

Kind = Literal["dilate", "erode", "box", "hull", "jitter", "shift", "late", "drop"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Kinds that have no amount.
FIXED = ("box", "hull")


def spoilt(
    exact: Hole, kind: Kind, *, amount: float | None, iou: tuple[float, float] | None, rng: np.random.Generator
) -> tuple[Hole, float | None]:
    """Spoil a mask in one way.

    Args:
        exact: the mask, ``bool[T, H, W]``.
        kind: the way.
        amount: how much of it; None where it has no amount, or one is looked for.
        iou: (lowest, highest), the highest not included: interval of the mean intersection over union with the exact mask that an
            amount is looked for.
        rng: the same numbers are drawn for every kind and amount.

    Returns:
        The mask, ``bool[T, H, W]``, and the amount.

    Raises:
        Rejected: no amount brings the mask there, or nothing of it is left.
    """
    steps, turn = rng.standard_normal((len(exact), 2)), rng.uniform(0, 2 * math.pi)
    order = rng.permutation(len(exact))

    def spoil(amount: float) -> Hole:
        whole = round(amount)
        match kind:
            case "dilate":
                return regions.dilate(exact, radius=whole)
            case "erode":
                return ~regions.dilate(~exact, radius=whole)
            case "box":
                return boxes(exact)
            case "hull":
                return hulls(exact)
            case "jitter":
                return moved(exact, np.rint(amount * steps))
            case "shift":
                return moved(exact, np.rint([[amount * math.cos(turn), amount * math.sin(turn)]] * len(exact)))
            case "late":
                return exact[np.maximum(0, np.arange(len(exact)) - whole)]
            case "drop":
                left = exact.copy()
                left[order[: round(amount * len(exact))]] = False
                return left

    amount = amount if iou is None else _found(exact, kind, spoil, iou)
    made = spoil(0.0 if amount is None else amount)
    if not made.any():
        raise Rejected(f"{kind} leaves nothing of the mask")
    return made, amount


def _found(exact: Hole, kind: Kind, spoil: Callable[[float], Hole], wanted: tuple[float, float]) -> float | None:
    """The amount whose IoU is nearest to the middle of the interval."""
    low, high = wanted
    if kind in FIXED:
        reached = float(agreement(spoil(0), exact)["mask_iou"])
        if not low <= reached < high:
            raise Rejected(f"{kind} has an IoU of {reached:.2f}, not one from {low:g} to below {high:g}")
        return None
    most = len(exact) - 1 if kind == "late" else max(exact.shape[1:])
    tried = {0: 1.0}

    def iou(amount: int) -> float:
        if amount not in tried:
            tried[amount] = float(agreement(spoil(amount), exact)["mask_iou"])
        return tried[amount]

    # More of it is never nearer to the exact mask, but for single pixels of jitter.
    least, end = 0, most
    while least < end - 1:
        middle = (least + end) // 2
        least, end = (middle, end) if iou(middle) >= (low + high) / 2 else (least, middle)
    best = min((least, end), key=lambda amount: abs(iou(amount) - (low + high) / 2))
    if not low <= iou(best) < high or best == 0:
        near = ", ".join(f"{iou(amount):.2f}" for amount in (least, end))
        raise Rejected(f"no amount of {kind} has an IoU from {low:g} to below {high:g}; the nearest have {near}")
    return float(best)


def agreement(mask: Hole, exact: Hole) -> dict[str, float]:
    """``mask_iou``, ``mask_recall`` and ``mask_excess`` of a mask, means over the frames where ``exact`` has pixels."""
    size = exact.sum(axis=(1, 2)).astype(np.float64)
    there = size > 0
    both, either = ((mask & exact).sum(axis=(1, 2)), (mask | exact).sum(axis=(1, 2)))
    more = (mask & ~exact).sum(axis=(1, 2))
    return {
        "mask_iou": float((both / np.maximum(either, 1))[there].mean()),
        "mask_recall": float((both[there] / size[there]).mean()),
        "mask_excess": float((more[there] / size[there]).mean()),
    }


def boxes(mask: Hole) -> Hole:
    """The box of the mask in each frame."""
    made = np.zeros_like(mask)
    for box, frame in zip(made, mask, strict=True):
        if inside := regions.box_of(frame):
            box[inside] = True
    return made


def hulls(mask: Hole) -> Hole:
    """The convex hull of each connected piece of each frame."""
    made = np.zeros(mask.shape, np.uint8)
    for hull, frame in zip(made, mask, strict=True):
        pieces, _ = cv2.findContours(frame.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for piece in pieces:
            cv2.fillConvexPoly(hull, cv2.convexHull(piece), 1)
    return made.view(np.bool_)


def moved(mask: Hole, steps: npt.NDArray[np.float64]) -> Hole:
    """Each frame moved by whole pixels, ``float64[T, 2]`` (right, down); what leaves the frame is lost."""
    height, width = mask.shape[1:]
    made = np.zeros_like(mask)
    for target, frame, (across, down) in zip(made, mask, steps.astype(int).tolist(), strict=True):
        if abs(across) < width and abs(down) < height:
            inside = frame[max(0, -down) : height - max(0, down), max(0, -across) : width - max(0, across)]
            target[max(0, down) : max(0, down) + inside.shape[0], max(0, across) : max(0, across) + inside.shape[1]] = inside
    return made
