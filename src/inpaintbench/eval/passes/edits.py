"""Edited clips beside their sources: whether they fit, their mean over frames or pairs, and their GIF."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from inpaintbench.deviations import Deviation
from inpaintbench.eval.adapters.fitting import sizes_in_words
from inpaintbench.eval.values.measurement import Measurement, mean_over_clip
from inpaintbench.types import Frames
from inpaintbench.video.images import gif_frames
from inpaintbench.view import ItemView

Empty = Literal["no_value", "leave_out"]


def check_empty(rule: Empty) -> Empty:
    """``rule`` when it is one of the two."""
    if rule not in get_args(Empty):
        raise ValueError(f"empty is {rule!r}, choose {' or '.join(map(repr, get_args(Empty)))}")
    return rule


def misfit(view: ItemView) -> str | None:
    """Return why the edited frames cannot be laid over those of the source; None where they can."""
    if view.prediction.shape == view.truth.shape:
        return None
    shape, asked = sizes_in_words(view.prediction.shape, view.truth.shape)
    return f"the edit is {shape}, its source is {asked}"


def where_fitting(
    views: Sequence[ItemView], regions: Sequence[str], measure: Callable[[Sequence[Frames]], Iterable[Measurement]]
) -> list[dict[str, Measurement]]:
    """Measurements of several edits of one source, the same in all regions; ``measure`` is given the edits that fit it."""
    misfits = [misfit(view) for view in views]
    measured = iter(measure([view.prediction for view, fault in zip(views, misfits, strict=True) if fault is None]))
    return [dict.fromkeys(regions, next(measured) if fault is None else Measurement(None, fault)) for fault in misfits]


def mean_over_edit(
    values: Sequence[float | None], *, parts: str, lacking: str, empty: Empty, details: Mapping[str, Any]
) -> Measurement:
    """The mean over the frames or pairs of an edit, with the value of each in the details.

    Args:
        values: of each part; None where no pixel is left to measure, NaN where it could not be measured.
        parts: "frames" or "pairs".
        lacking: what such a part lacks, to complete "no pair has ...".
        empty: whether one such part leaves the clip without a value, or is left out of the mean.
        details: further ones.
    """
    known = [value for value in values if value is not None]
    mean = mean_over_clip(known, parts=parts, missing=f"no {parts.removesuffix('s')} has {lacking}")
    numbers = [None if value is None or math.isnan(value) else value for value in values]
    facts = {**mean.details, f"{parts.removesuffix('s')}_values": numbers, **details}
    missing = len(values) - len(known)
    if not missing:
        return Measurement(mean.value, mean.reason, facts)
    facts[f"empty_{parts}"] = missing
    if not known or empty == "leave_out":
        return Measurement(mean.value, mean.reason, facts)
    return Measurement(None, f"{missing} of {len(values)} {parts} lack {lacking}", facts)


WITHOUT_GIF = Deviation(
    "what the metric looks at",
    "a GIF of 256 colours without repeated frames, written into the user's folder",
    "the frames themselves; `editboard/as-published-gif` looks at such a GIF, in memory",
    "40 dB between both on EditBoard's photographs; stuttering clips are measured on all their frames, still ones have a value",
    {"gif": False},
)


def through_gif(view: ItemView) -> ItemView:
    """A view whose prediction went through a GIF: fewer colours, and of equal frames in a row one alone."""
    frames = view.prediction
    seen: Frames = view.shared.once_of([frames], ("gif",), lambda: gif_frames(frames))
    return ItemView.of_arrays(item_id=view.item_id, fps=view.fps, shared=view.shared, prediction=seen)
