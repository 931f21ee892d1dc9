"""Masks as detectors and trackers give them, made of exact ones: too large, too small, too simple, shaky, late, or missing."""

from __future__ import annotations

import math

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.masks.generators.arguments import choice, share
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.masks.mask_errors import FIXED, KINDS, Kind, agreement, spoilt
from inpaintbench.ranges import Amount, Share
from inpaintbench.view import ItemView


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
        made, amount = spoilt(view.object_mask, self.kind, amount=self.amount, iou=self.iou, rng=rng)
        given = {} if amount is None else {"mask_amount": amount}
        facts = {"mask_kind": self.kind, **given, **agreement(made, view.object_mask)}
        return Drawn(made, facts)


def _least(name: str, value: float) -> float:
    if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
        raise InputError(f"{name} is {value!r}, give a number from 0 upwards")
    return float(value)
