from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from inpaintbench import regions
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.inception import Fid, InceptionSets, Kid, PIds, UIds
from inpaintbench.eval.set_distances import frechet, samples
from inpaintbench.models import weights
from inpaintbench.view import ItemView

COMMON: dict[str, Any] = {"band_radius_pixels": 4, "resize": "bilinear", "side_pixels": 299}
OWN: dict[type[InceptionSets], dict[str, Any]] = {
    Fid: {"ddof": 1},
    Kid: {"subsets": 0, "subset_size": 1000, "subset_seed": 0},
    PIds: {"cost": 1.0, "ties": "half"},
    UIds: {"cost": 1.0},
}
BEST = {Fid: 0.0, PIds: 0.5, UIds: 0.5}


def built(leaf: type[InceptionSets], *names: str, **changed: Any) -> Any:
    return leaf(regions=names or regions.REGIONS, **{**COMMON, **OWN[leaf], **changed})


def views(*predictions: int) -> list[ItemView]:
    """Two frames; predictions are the truth less so many levels."""
    rng = np.random.default_rng(0)
    truth = np.kron(rng.integers(100, 256, (2, 6, 8, 3)), np.ones((1, 8, 8, 1))).astype(np.uint8)
    hole = np.zeros((2, 48, 64), np.bool_)
    hole[:, 10:40, 12:50] = True
    shared = Shared(compute=Compute(device="cpu", random_weights=3))
    return [ItemView.of_arrays(truth=truth, hole=hole, prediction=truth - np.uint8(less), shared=shared) for less in predictions]


def random_sets(*, items: int = 4, n: int = 30, d: int = 10) -> list[Features]:
    rng = np.random.default_rng(0)
    truths = [rng.gamma(1.0, 0.4, (n, d)).astype(np.float32) for _ in range(items)]
    return [Features((truth + rng.normal(0.1, 0.5, truth.shape)).astype(np.float32), truth) for truth in truths]


@pytest.mark.parametrize("leaf", OWN)
def test_states_its_facts(leaf: Any) -> None:
    assert leaf.version
    assert leaf.__doc__
    assert leaf.decimals > 0
    assert leaf.higher_is_better == (leaf in (PIds, UIds))
    assert leaf.needs == ("truth", "composite")
    [name] = leaf.weights_of({})
    assert weights.named(name).sha256


def test_all_give_the_very_same_vectors_of_whole_frames() -> None:
    pytest.importorskip("torch")
    both = views(0, 90)
    found = [built(leaf).measure_together([view.declaring(leaf.name, leaf.needs) for view in both]) for leaf in OWN]
    for copy, darker in found:
        assert list(copy) == list(darker) == ["frame"]
        assert copy["frame"].value is None
        assert copy["frame"].reason is None
        assert copy["frame"].details == {"frames": 2}
        assert copy["frame"].features is not None
        assert np.array_equal(copy["frame"].features.prediction, copy["frame"].features.truth)
        assert darker["frame"].features is found[0][1]["frame"].features
        assert not np.array_equal(darker["frame"].features.prediction, darker["frame"].features.truth)
    alone = built(Fid).measure(both[0])
    assert np.array_equal(alone["frame"].features.truth, found[0][0]["frame"].features.truth)


@pytest.mark.parametrize("leaf", OWN)
def test_other_regions_have_no_answer_and_cost_nothing(leaf: Any) -> None:
    metric = built(leaf, "hole", "band")
    assert metric.regions == ()
    assert metric.measure(views(0)[0]) == {}
    assert built(leaf, "hole", "frame").regions == ("frame",)
    assert metric.reduce([1.0]) is None


@pytest.mark.parametrize("leaf", BEST)
def test_perfect_copies_score_best(leaf: Any) -> None:
    sets = [Features(one.truth, one.truth) for one in random_sets()]
    assert built(leaf).compare(sets, list("abcd")).value == pytest.approx(BEST[leaf], abs=1e-9)


def test_perfect_copies_have_a_kernel_distance_just_below_nothing() -> None:
    value = built(Kid).compare([Features(one.truth, one.truth) for one in random_sets()], list("abcd")).value
    assert -0.1 < value < 0


def test_constants_reach_the_comparison() -> None:
    sets, sources = random_sets(), list("abcd")
    one, other = (built(Fid, ddof=ddof).compare(sets, sources) for ddof in (0, 1))
    assert one == frechet.compare(sets, sources, ddof=0)
    assert one.value != other.value
    asked = {"subsets": 4, "subset_size": 20, "subset_seed": 5}
    assert built(Kid, **asked).compare(sets, sources) == samples.compare(sets, sources, **asked)
    copies = [Features(one.truth, one.truth) for one in sets]
    assert built(PIds, ties="loss").compare(copies, sources).value == 0
    assert built(UIds, cost=1e-9).compare(sets, sources).value != built(UIds).compare(sets, sources).value


def test_impossible_constants_are_refused() -> None:
    with pytest.raises(ValueError, match="not 0 or 1"):
        built(Fid, ddof=2)
    with pytest.raises(ValueError, match="at least 2"):
        built(Kid, subset_size=1)
    with pytest.raises(UnknownNameError, match="'hal', did you mean 'half'"):
        built(PIds, ties="hal")
    with pytest.raises(UnknownNameError, match="'bilinear'"):
        built(UIds, resize="bilinear2")


def test_pytorch_is_not_imported_before_it_is_needed() -> None:
    program = "import sys, inpaintbench.eval.metrics.inception; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
