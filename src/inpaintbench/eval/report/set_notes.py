"""What stands beside numbers of metrics that compare sets of items: how large the sets were, and whether that is enough."""

from __future__ import annotations

from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results, in_reading_order
from inpaintbench.types import Slice, SliceScore


def set_sizes(score: SliceScore | None) -> tuple[int | None, int | None]:
    """How many vectors the smaller set has and how long they are; None where nothing was compared."""
    if score is None:
        return None, None
    n, d = (score.details.get(key) for key in ("n", "d"))
    return (None if n is None else int(n)), (None if d is None else int(d))


def size_words(score: SliceScore | None) -> str:
    """``N = 14, d = 1024``; empty where nothing was compared."""
    n, d = set_sizes(score)
    return "" if n is None or d is None else f"N = {n}, d = {d}"


def set_warning(results: Results, quantity: Quantity) -> str:
    """How many numbers of a metric of sets come from small sets, and what that means; empty where none does."""
    scores = [score for one in _rows(results) for method in results.methods if (score := _of(results, one, method, quantity))]
    small = [score for score in scores if score.details.get("warning")]
    if not small:
        return ""
    worst = min(small, key=lambda score: set_sizes(score)[0] or 0)
    return (
        f"{quantity_label(quantity)}: {len(small)} of {len(scores)} numbers come from small sets and are biased: compare "
        f"them within a row only, never with other sets or papers. The smallest: {worst.details['warning']}."
    )


def _rows(results: Results) -> list[Slice]:
    return [*in_reading_order(results.slices), results.everything]


def _of(results: Results, one: Slice, method: str, quantity: Quantity) -> SliceScore | None:
    score = results.slice_score(one, method, quantity)
    return score if score is not None and score.value is not None else None
