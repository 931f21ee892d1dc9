"""Making pixels worse never makes a score better, of every ranked metric with a truth."""

from __future__ import annotations

from collections.abc import Callable

import every_metric
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from never_better import CLAIMS, EXACT, EXEMPT, KINDS, Case, check, claims, pair_of, rounding_of, with_truth
from tiny_networks import add_tiny_clip, shorten_dino

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import mean_of_decibels

CLAIMED = [(name, claim) for name, stated in claims().items() for claim in stated]
OF_PIXELS = [one for one in CLAIMED if not every_metric.runs_network(one[0])]
OF_NETWORKS = [one for one in CLAIMED if every_metric.runs_network(one[0])]
OF_SETS = ("fid", "vfid", "vfid_clips", "lama_f1", "fvmd")
ITEMS = 6


def cases(frames: int) -> st.SearchStrategy[Case]:
    return st.builds(
        Case,
        seed=st.integers(0, 10_000),
        kind=st.sampled_from(KINDS),
        strength=st.integers(1, 60),
        first=st.tuples(*[st.booleans()] * frames),
        everywhere=st.booleans(),
    )


def test_every_ranked_metric_with_a_truth_is_tried_or_says_why_not() -> None:
    tried = set(with_truth(name for name in METRICS if not every_metric.of_a_wing(name)))
    assert set(CLAIMS) | set(EXEMPT) <= tried
    assert set(CLAIMS) & set(EXEMPT) == set()
    # A leaf that no protocol of ours ranks by yet is asked for ``EXACT`` until it states more.
    ours = {name for protocol in map(PROTOCOLS.get, PROTOCOLS) if not protocol.follows for name in protocol.metrics}
    assert ours & tried <= set(CLAIMS) | set(EXEMPT)
    assert all(EXACT in stated for stated in claims().values())


@pytest.mark.parametrize(("name", "claim"), OF_PIXELS)
@settings(max_examples=100)
@given(made=st.lists(cases(3), min_size=ITEMS, max_size=ITEMS))
def test_worse_pixels_never_score_better(name: str, claim: str, made: list[Case]) -> None:
    assert check(name, claim, [pair_of(claim, case, height=30, width=36) for case in made])


@pytest.mark.long
@pytest.mark.parametrize(("name", "claim"), OF_NETWORKS)
@settings(max_examples=3)
@given(made=st.lists(cases(11), min_size=2, max_size=2))
def test_worse_pixels_never_score_better_by_networks(name: str, claim: str, made: list[Case]) -> None:
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        add_tiny_clip(patch)
        shorten_dino(patch)
        assert check(name, claim, [pair_of(claim, case, height=40, width=48) for case in made])


@pytest.mark.parametrize("name", OF_SETS)
@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), moved=st.floats(0, 5), stretched=st.floats(0, 3), noise=st.floats(0, 5))
def test_no_set_is_nearer_to_the_truths_than_they_are(name: str, seed: int, moved: float, stretched: float, noise: float) -> None:
    """Equal pictures have equal vectors, so of networks the claim is one of vectors."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(40, 9)).astype(np.float32)
    other = (truth * stretched + moved + rng.normal(0, noise, truth.shape)).astype(np.float32)
    if name == "lama_f1":  # its last column is LPIPS
        truth[:, -1], other[:, -1] = 0, np.abs(other[:, -1])
    metric = every_metric.built(name)
    sources = [f"source {at}" for at in range(8)]
    best, found = (
        metric.compare([Features(*parts) for parts in zip(np.split(one, 8), np.split(truth, 8), strict=True)], sources).value
        for one in (truth, other)
    )
    sign = 1 if metric.higher_is_better else -1
    assert sign * found <= sign * best + rounding_of(name, best)


def _second_moment(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(100 * (one @ other.T / one.shape[1]) ** 2)


KERNELS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "kid": lambda one, other: np.asarray((one @ other.T / one.shape[1] + 1) ** 3),
    "second_moment": _second_moment,
    "jedi": _second_moment,
}


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), moved=st.floats(0, 5), stretched=st.floats(0, 3), noise=st.floats(0, 5))
def test_an_unbiased_distance_is_below_0_by_the_spread_at_most(
    name: str, seed: int, moved: float, stretched: float, noise: float
) -> None:
    """As far as the truths themselves are, which take the place of both sets."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(40, 9)).astype(np.float32)
    other = (truth * stretched + moved + rng.normal(0, noise, truth.shape)).astype(np.float32)
    metric, sources = every_metric.built(name), [f"source {at}" for at in range(8)]

    def spread(vectors: np.ndarray) -> float:
        table = KERNELS[name](vectors.astype(float), vectors.astype(float))
        return float(np.diag(table).mean() - table.mean()) / (len(vectors) - 1)

    best, found = (
        metric.compare([Features(*parts) for parts in zip(np.split(one, 8), np.split(truth, 8), strict=True)], sources).value
        for one in (truth, other)
    )
    assert best == pytest.approx(-2 * spread(truth))
    assert found >= -spread(truth) - spread(other) - rounding_of(name, spread(other))


def test_a_metric_that_damage_can_raise_is_caught() -> None:
    """The rule that was: exact frames left out of the mean of decibels."""
    case = Case(seed=1, kind="noise", strength=3, first=(True, False, False), everywhere=True)
    pairs = [pair_of("frames", case._replace(seed=seed), height=30, width=36) for seed in range(ITEMS)]
    assert check("psnr", "frames", pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every_metric, "_SMALL", {"psnr": mean_of_decibels("count")})
        lighter = [pair._replace(worse=np.where(pair.better == pair.truth, pair.truth ^ 1, pair.better)) for pair in pairs]
        with pytest.raises(AssertionError, match="psnr in the frame"):
            check("psnr", "frames", lighter)
