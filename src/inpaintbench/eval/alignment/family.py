"""Which metrics are tested against which: chosen before anybody looks at a rate, since every test makes the others less sure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

# Each was the usual measure of its field before the metrics that are compared with it: of filled holes, and of edits.
USUAL_BASELINES = ("psnr", "clip_similarity")


@dataclass(frozen=True)
class Family:
    """The comparisons that are tested and corrected for together in each slice."""

    pairs: tuple[tuple[str, str], ...]
    baseline: str | None
    """The metric that stands in every pair; None where pairs were asked for."""

    def among(self, metrics: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of which both metrics are there."""
        return [pair for pair in self.pairs if set(pair) <= set(metrics)]


def against(metrics: Sequence[str], baseline: str | None = None) -> Family:
    """Every metric against one of them.

    Args:
        metrics: their names.
        baseline: the one; by default the first of ``USUAL_BASELINES`` that is there, over the whole frame before other regions,
            else the first by name. No value plays a part.

    Raises:
        UnknownNameError: ``baseline`` is not among the metrics.
    """
    if baseline is not None and baseline not in metrics:
        raise UnknownNameError(unknown_name("metric", baseline, list(metrics)))
    chosen = baseline or min(metrics, key=_place, default=None)
    return Family(tuple((name, chosen) for name in metrics if chosen is not None and name != chosen), chosen)


def asked_for(metrics: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Family:
    """Pairs that somebody chose.

    Raises:
        InputError: a metric is to be compared with itself.
        UnknownNameError: one is not among the metrics.
    """
    for pair in pairs:
        for name in pair:
            if name not in metrics:
                raise UnknownNameError(unknown_name("metric", name, list(metrics)))
        if pair[0] == pair[1]:
            raise InputError(f"a pair is {pair[0]!r} twice; name two metrics")
    ordered = [(min(pair), max(pair)) for pair in pairs]
    return Family(tuple(dict.fromkeys(ordered)), None)


def _place(name: str) -> tuple[int, bool, str]:
    metric, _, region = name.partition("/")
    usual = USUAL_BASELINES.index(metric) if metric in USUAL_BASELINES else len(USUAL_BASELINES)
    return usual, bool(region) and usual < len(USUAL_BASELINES), name
