"""What the plot of values over time draws: the values of every frame of an item, by what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inpaintbench.eval.report.frame_values import rounded
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.item_records import six_digits
from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf

# Key of the root mean square error, which is there for every clip.
ERROR = "error"


def frame_data(exhibit: Exhibit, *, edit: bool) -> list[dict[str, Any]]:
    """One entry for each thing measured: its name and unit, and the lines of the methods; none for a still image."""
    if exhibit.layout.frames < 2 or not exhibit.errors:
        return []
    quantities = list(dict.fromkeys(quantity for found in exhibit.by_frame.values() for quantity in found))
    return [*(_of_quantity(exhibit, one) for one in quantities), _of_error(exhibit, edit=edit)]


def _of_quantity(exhibit: Exhibit, one: Quantity) -> dict[str, Any]:
    leaf = metric_leaf(one.metric)
    lines = {method: rounded(found[one], six_digits) for method, found in exhibit.by_frame.items() if one in found}
    label = quantity_label(one)
    return {"key": f"{one.metric}/{one.region}", "label": label, "unit": leaf.unit, "decimals": leaf.decimals, "lines": lines}


def _of_error(exhibit: Exhibit, *, edit: bool) -> dict[str, Any]:
    where = "in the hole" if exhibit.hole_fraction is not None else "in the whole frame"
    what = "Root mean square difference from the original" if edit else "Root mean square error"
    lines: dict[str, Sequence[float | None]] = dict(exhibit.errors)
    return {"key": ERROR, "label": f"{what} {where}", "unit": "of 255 grey levels", "decimals": 1, "lines": lines}
