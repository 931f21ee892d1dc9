"""What to know before self-consistency is believed."""

from __future__ import annotations

from inpaintbench.eval.reinpainting.leaves import EXCESS, SECOND, submetric_of
from inpaintbench.eval.results.labels import metric_label
from inpaintbench.eval.results.tables import Results


def again_sentences(results: Results) -> list[str]:
    """Sentences on how D(F1) was measured, its limits, and where it prefers a method to the truth; none without re-inpainting.

    Plain text with the name of the second method between backquotes.
    """
    seconds = dict.fromkeys(str(row.details["second"]) for row in results.scores if "second" in row.details)
    if not seconds or not any(quantity.metric.startswith(f"{SECOND}_") for quantity in results.quantities):
        return []
    names = " and ".join(f"`{name}`" for name in seconds)
    preferred = _preferred(results)
    return [
        f"Self-consistency, D(F1): every result was inpainted again by {names} (F2) and compared with itself. It favours methods "
        "that resemble F2, says nothing of how a picture hangs together as a whole, and shrinks as the first hole grows: compare "
        f"within a bin of first holes, or by “{metric_label('reinpaint_known_psnr')}” and its like.",
        *([f"D prefers to the truth itself: {'; '.join(preferred)}. There it does not measure quality."] if preferred else []),
    ]


def _preferred(results: Results) -> list[str]:
    """Methods whose D is better than that of the truth, by sub-metric."""
    found = []
    for quantity in results.quantities:
        if quantity.metric.startswith(f"{EXCESS}_"):
            means = {method: results.summary(results.everything, method, quantity).mean for method in results.methods}
            sign = 1 if quantity.higher_is_better else -1
            names = [method for method, mean in means.items() if mean is not None and sign * mean > 0]
            found += [f"{', '.join(names)} by {metric_label(submetric_of(quantity.metric))}"] if names else []
    return found
