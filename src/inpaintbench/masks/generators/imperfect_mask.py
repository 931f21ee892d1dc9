"""Masks as detectors and trackers give them, made of exact ones: too large, too small, too simple, shaky, late, or missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import regions
from inpaintbench.errors import InputError, Rejected
from inpaintbench.lazily import lazily
from inpaintbench.masks.generators.arguments import choice, share
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Amount, Share
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

Kind = Literal["dilate", "erode", "box", "hull", "jitter", "shift", "late", "drop"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Kinds that have no amount.
FIXED = ("box", "hull")


class ImperfectMask(Generator):
    """The hole is ``object_mask``, spoilt in one way by an amount that is given or looked for.

    * ``dilate``, ``erode``: by a square of 2r + 1 pixels. ``box``: the box of each frame. ``hull``: the hull of each piece.
    * ``jitter``: each frame moved by whole pixels, normal with the standard deviation r. ``shift``: all by the same r pixels.
    * ``late``: that of r frames before. ``drop``: the share r of frames have none.

    Without an amount one is looked for that brings the mean intersection over union with the exact mask into ``iou``. Facts:
    ``mask_kind``, ``mask_amount``, and over the frames with the object ``mask_iou``, ``mask_recall`` (the share of the object
    that is covered) and ``mask_excess`` (what is covered besides, as a share of the object).

    Args:
        kind: one of ``KINDS``.
        amount: r; for ``drop`` a share.
        iou: (lowest, highest), the highest not included.
    """

    name = "imperfect_mask"
    version = "1"
    needs = ("object_mask",)

    def __init__(self, *, kind: Kind = "hull", amount: Amount | None = None, iou: tuple[Share, Share] | None = None) -> None:
        self.kind: Kind = choice("kind", kind, KINDS)  # type: ignore[assignment]
        if kind in FIXED and amount is not None:
            raise InputError(f"the kind {kind!r} has no amount")
        if kind not in FIXED and (amount is None) == (iou is None):
            raise InputError(f"the kind {kind!r} needs an amount, or the interval of the IoU that one is looked for")
        if kind == "drop" and amount is None:
            raise InputError("the kind 'drop' needs an amount, the share of frames without a mask: its IoU is that of the others")
        self.amount = None if amount is None else (share("amount", amount) if kind == "drop" else _least("amount", amount))
        self.iou = None if iou is None else (share("iou", iou[0]), share("iou", iou[1]))

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw the mask, ``bool[T, H, W]``.

        Raises:
            Rejected: no amount brings the mask there.
        """
        exact = view.object_mask
        spoil = self._spoiler(exact, rng)
        amount = self.amount if self.iou is None else self._found(exact, spoil)
        made = spoil(0.0 if amount is None else amount)
        if not made.any():
            raise Rejected(f"{self.kind} leaves nothing of the mask")
        facts = {"mask_kind": self.kind, **({} if amount is None else {"mask_amount": amount}), **agreement(made, exact)}
        return Drawn(made, facts)

    def _spoiler(self, exact: Hole, rng: np.random.Generator) -> Callable[[float], Hole]:
        """The mask for each amount, with the same random numbers."""
        steps, turn = rng.standard_normal((len(exact), 2)), rng.uniform(0, 2 * math.pi)
        order = rng.permutation(len(exact))
        ways: Mapping[str, Callable[[float], Hole]] = {
            "dilate": lambda amount: regions.dilate(exact, radius=round(amount)),
            "erode": lambda amount: ~regions.dilate(~exact, radius=round(amount)),
            "box": lambda _: boxes(exact),
            "hull": lambda _: hulls(exact),
            "jitter": lambda amount: moved(exact, np.rint(amount * steps)),
            "shift": lambda amount: moved(exact, np.rint([[amount * math.cos(turn), amount * math.sin(turn)]] * len(exact))),
            "late": lambda amount: exact[np.maximum(0, np.arange(len(exact)) - round(amount))],
            "drop": lambda amount: _dropped(exact, order[: round(amount * len(exact))]),
        }
        return ways[self.kind]

    def _found(self, exact: Hole, spoil: Callable[[float], Hole]) -> float | None:
        """The amount whose IoU is nearest to the middle of the interval."""
        low, high = self.iou or (0.0, 1.0)
        if self.kind in FIXED:
            reached = float(agreement(spoil(0), exact)["mask_iou"])
            if not low <= reached < high:
                raise Rejected(f"{self.kind} has an IoU of {reached:.2f}, not one from {low:g} to below {high:g}")
            return None
        most = len(exact) - 1 if self.kind == "late" else max(exact.shape[1:])
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
            raise Rejected(f"no amount of {self.kind} has an IoU from {low:g} to below {high:g}; the nearest have {near}")
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
        rows, columns = np.flatnonzero(frame.any(axis=1)), np.flatnonzero(frame.any(axis=0))
        if len(rows):
            box[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
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


def _dropped(mask: Hole, frames: npt.NDArray[np.int64]) -> Hole:
    made = mask.copy()
    made[frames] = False
    return made


def _least(name: str, value: float) -> float:
    if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
        raise InputError(f"{name} is {value!r}, give a number from 0 upwards")
    return float(value)
