"""Every metric of the catalogue goes through the alignment with people's votes, as scores of a run and as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.types import Score, SliceScore
from inpaintbench.wings.align.align import Alignment, align
from inpaintbench.wings.align.reading import Answers, Ballot, Measured, in_regions, measured_of, read_scores

ITEMS, METHODS = [f"item{n}" for n in range(8)], ("good", "bad")
VOTES = Answers(
    tuple(
        Ballot(dimension="looks", item=item, source=item, candidates=METHODS, choice="tie" if n == 7 else "good", rater=rater)
        for n, item in enumerate(ITEMS)
        for rater in ("r1", "r2")
    )
)
"""Two raters who prefer the good one but for a tie."""


def protocol_of(name: str) -> Protocol:
    return next(found for found in map(PROTOCOLS.get, PROTOCOLS) if name in found.metrics)


def value_of(name: str, method: str, item: str) -> float:
    """What agrees with the votes: the good method's value is the better one, and of the tied item both are equal."""
    better = method == "good" or item == ITEMS[7]
    return 0.75 if better == METRICS.get(name).higher_is_better else 0.25


def run_of(name: str) -> tuple[list[Score], list[SliceScore]]:
    """The rows that a run has of a metric in all regions of its protocol."""
    protocol, leaf = protocol_of(name), METRICS.get(name)
    regions = [region for region in protocol.regions if region in leaf.answers]
    both = {"metric": name, "protocol": protocol.name, "fingerprint": protocol.fingerprint, "reason": None}
    of_set = {"features": "blob", "truth_features": "blob"} if leaf.of_sets else {}
    scores = [
        Score(method, item, region=region, value=None if leaf.of_sets else value_of(name, method, item), **both, **of_set)  # type: ignore[arg-type]
        for method in METHODS
        for item in ITEMS
        for region in regions
    ]
    compared = [
        SliceScore(
            method, ALL_ITEMS, region=region, value=value_of(name, method, ITEMS[0]), standard_error=None, interval_low=None,
            interval_high=None, **both,  # type: ignore[arg-type]
        )
        for method in METHODS
        for region in regions
        if leaf.of_sets
    ]  # fmt: skip
    return scores, compared


def aligned(measured: Measured, protocol: Protocol | None) -> Alignment:
    return align(VOTES, in_regions(measured, protocol), tie_quantile=0.1)


SCORED = [name for name in METRICS if any(name in PROTOCOLS.get(protocol).metrics for protocol in PROTOCOLS)]


def test_all_metrics_are_scored_by_a_protocol() -> None:
    assert set(SCORED) == set(METRICS)


@pytest.mark.parametrize("name", SCORED)
def test_votes_tell_how_far_a_metric_of_a_run_agrees_with_them(name: str) -> None:
    scores, compared = run_of(name)
    assert scores
    found = measured_of(scores, compared=compared)
    if not METRICS.get(name).ranked:
        assert set(found.unmeasured.values()) == {"neither more nor less of it is better"}
        return
    [dimension] = aligned(found, protocol_of(name)).dimensions
    [line] = dimension.lines
    assert line.metric.partition("/")[0] == name
    assert line.matched.decided.value == 1
    # A metric of sets has no ties: its one value prefers the same method on all items.
    assert line.matched.rate.value == (14 / 16 if METRICS.get(name).of_sets else 1)
    assert line.matched.not_compared == 0


@pytest.mark.parametrize("name", [name for name in SCORED if METRICS.get(name).ranked])
def test_a_table_of_a_metric_agrees_too(name: str, tmp_path: Path) -> None:
    lines = [f"{item},{method},{name},{value_of(name, method, item)}" for item in ITEMS for method in METHODS]
    (tmp_path / "scores.csv").write_text("\n".join(["item,method,metric,value", *lines]) + "\n")
    [dimension] = aligned(read_scores(tmp_path / "scores.csv"), None).dimensions
    assert [(line.metric, line.matched.rate.value) for line in dimension.lines] == [(name, 1)]


def test_sets_that_were_not_compared_have_a_reason() -> None:
    scores, compared = run_of("fid")
    assert measured_of(scores).unmeasured == {"fid/frame": "it compares sets of items, and those were not compared"}
    without = [SliceScore(**{**vars(one), "value": None, "reason": "needs at least 2 vectors"}) for one in compared]
    assert measured_of(scores, compared=without).unmeasured == {"fid/frame": "needs at least 2 vectors"}
