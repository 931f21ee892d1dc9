"""What a protocol of re-inpainting does in place of `eval run --for scores`, and says of its numbers: see ``Protocol.scorer``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench.cli.console import Running
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import metric_label
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.types import Dataset
from inpaintbench.wings.reinpaint.commands.options import second_spec
from inpaintbench.wings.reinpaint.commands.scoring import score as again
from inpaintbench.wings.reinpaint.leaves import EXCESS, SECOND, submetric_of
from inpaintbench.wings.reinpaint.setting import USUAL_SECOND, setting_of, usual_masks
from inpaintbench.wings.reinpaint.step import SECONDS


def score(
    dataset: Path,
    run: Path,
    *,
    protocol: str,
    running: Running,
    metric: Sequence[str] | None = None,
    random_weights: int | None = None,
    seconds: float | None = None,
    second: str | None = None,
    second_masks: int | None = None,
) -> None:
    """`eval run --for reinpainting` with what a run chooses, or its usual F2 and K.

    Args:
        dataset: frozen.
        run: folder with predictions.
        protocol: its name.
        running: how it runs.
        metric: some of the protocol's metrics.
        random_weights: seed of made-up parameters.
        seconds: for one item of one method; None = the usual ones.
        second: F2 with its constants, as `--second` takes it.
        second_masks: K.
    """
    again(
        dataset, run=run, protocol=protocol, metric=[submetric_of(name) for name in metric or ()] or None, running=running,
        random_weights=random_weights, time_limit=seconds or SECONDS, second=second or USUAL_SECOND, masks=second_masks,
    )  # fmt: skip


def check(*, second: str | None = None, second_masks: int | None = None) -> None:  # noqa: ARG001 - any number will do
    """Raise ``InputError`` or ``UnknownNameError`` where `--second` names no method or a constant that it does not take."""
    if second:
        second_spec(second)


def mark(protocol: Protocol, dataset: Dataset) -> str:
    """Mark behind the fingerprint of scores for which neither second method nor second masks were chosen."""
    second = MethodSpec(USUAL_SECOND, USUAL_SECOND)
    return setting_of(protocol, second=second, masks=usual_masks(dataset), patches=None).mark


def cautions(results: Results) -> list[str]:
    """Sentences on how D(F1) was measured, its limits, and where it prefers a method to the truth; none without re-inpainting.

    Plain text with the name of the second method between backquotes.
    """
    seconds = dict.fromkeys(str(row.details["second"]) for row in results.scores if "second" in row.details)
    if not seconds or not any(quantity.metric.startswith(f"{SECOND}_") for quantity in results.quantities):
        return []
    names = " and ".join(f"`{name}`" for name in seconds)
    # Methods whose D is better than that of the truth, by sub-metric.
    preferred = []
    for quantity in results.quantities:
        if quantity.metric.startswith(f"{EXCESS}_"):
            means = {method: results.summary(results.everything, method, quantity).mean for method in results.methods}
            sign = 1 if quantity.higher_is_better else -1
            better = [method for method, mean in means.items() if mean is not None and sign * mean > 0]
            preferred += [f"{', '.join(better)} by {metric_label(submetric_of(quantity.metric))}"] if better else []
    return [
        f"Self-consistency, D(F1): every result was inpainted again by {names} (F2) and compared with itself. It favours methods "
        "that resemble F2, says nothing of how a picture hangs together as a whole, and shrinks as the first hole grows: compare "
        f"within a bin of first holes, or by “{metric_label('reinpaint_known_psnr')}” and its like.",
        *([f"D prefers to the truth itself: {'; '.join(preferred)}. There it does not measure quality."] if preferred else []),
    ]
