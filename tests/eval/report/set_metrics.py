"""Metrics for tests of the report that stand in no catalogue of their own, and a protocol that has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from tests.eval.report.hand_made import copied, copied_slices, dataset

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import metric_leaf
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Score, SliceScore

CORRECTED = PROTOCOLS.get("devil/corrected")


class Learned:
    """Compares items one by one.

    Args:
        regions: any.
        band_radius_pixels: of the band.
    """

    version, unit, higher_is_better, decimals = "1", "", False, 4

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int) -> None:
        self.regions, self.band_radius_pixels = regions, band_radius_pixels


class Distance(Learned):
    """Compares sets of items."""

    decimals = 3

    def compare(self, sets: Sequence[Any], clusters: Sequence[str]) -> None: ...


NAMES = {"lpips": "Learned", "pvcs": "Learned", "flicker": "Learned", "fid": "Distance", "vfid_clips": "Distance"}


@pytest.fixture
def learned_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The metrics of ``NAMES`` are in the catalogue while the test runs."""
    own = {name: f"{__name__}:{leaf}" for name, leaf in NAMES.items()}
    sharpness = {"hole_sharpness": "inpaintbench.eval.metrics.pcons:HoleSharpness"}
    monkeypatch.setattr(METRICS, "_addresses", {**METRICS.addresses(), **sharpness, **own})
    metric_leaf.cache_clear()
    yield
    metric_leaf.cache_clear()


def protocol(metrics: Sequence[str]) -> Protocol:
    """devil/corrected with these metrics."""
    constants = {name: {} if name in NAMES else dict(CORRECTED.metrics.get(name, {})) for name in metrics}
    return CORRECTED.model_copy(update={"metrics": constants})


def rows(
    of: Protocol, values: Mapping[str, Mapping[str, float | None]], metric: str, *, region: str = "hole", **changes: Any
) -> list[Score]:
    """Scores by method and item, with the fingerprint of ``of``; ``changes`` go to each."""
    given = {"protocol": of.name, "fingerprint": of.fingerprint, "reason": None, **changes}
    return [
        Score(method=method, item_id=item_id, metric=metric, region=region, value=value, **given)
        for method, by_item in values.items()
        for item_id, value in by_item.items()
    ]


def features(of: Protocol, methods: Sequence[str], items: Sequence[str], metric: str, **changes: Any) -> list[Score]:
    """What items give to a metric of sets."""
    values = {method: dict.fromkeys(items) for method in methods}
    return rows(of, values, metric, region="frame", features="f.npy", truth_features="t.npy", **changes)


def set_score(
    of: Protocol, method: str, name: str, value: float | None, *, metric: str = "fid", interval: bool = True, **details: Any
) -> SliceScore:
    """One number of a slice."""
    spread = (0.5, value - 1, value + 1) if interval and value is not None else (None, None, None)
    reason = None if value is not None else "only one item has features"
    return SliceScore(method, name, metric, "frame", of.name, of.fingerprint, value, reason, *spread, details)


WARNING = "2 vectors for 1024 dimensions: far from the distance of large sets"
SLICES = copied_slices({"x-low": ["a1", "b1"], "x-high": ["c1", "d1"]})
ITEMS = tuple(copied(["a1", "b1", "c1", "d1"]))


def results_with_sets(**changes: Any) -> Results:
    """Methods ``good`` and ``bad`` with PSNR in the hole and FID of the frame; ``bad`` has no FID on the high slice."""
    of = protocol(["fid", "psnr"])
    values = {"good": dict.fromkeys(ITEMS, 30.0), "bad": dict.fromkeys(ITEMS, 20.0)}
    scores = [*features(of, ("good", "bad"), ITEMS, "fid"), *rows(of, values, "psnr")]
    small = {"n": 2, "d": 1024, "items": 12, "missing": 0, "warning": WARNING}
    large = {"n": 4000, "d": 1024, "items": 24, "missing": 0}
    found = [
        set_score(of, "good", "x-low", 10.0, **small),
        set_score(of, "good", "x-high", 5.0, **small),
        set_score(of, "good", "all items", 6.0, **large),
        set_score(of, "bad", "x-low", 20.0, **{**small, "items": 11, "missing": 1}),
        set_score(of, "bad", "x-high", None, items=0, missing=12),
        set_score(of, "bad", "all items", 30.0, interval=False, **large),
    ]
    return Results(dataset(SLICES), scores, protocol=of, slice_scores=found, **changes)
