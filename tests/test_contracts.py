"""Every leaf that comes along keeps the contract of its kind, and those that break it are told how."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from every_metric import RANDOM, constants_of, measured_here, runs_network
from tiny_networks import add_tiny_clip, shorten_dino

from inpaintbench.catalogue import Catalogue, attribute_at
from inpaintbench.cli.leaf import CATALOGUES
from inpaintbench.compute import Compute, Shared
from inpaintbench.contracts import Check, checks_of, outcomes
from inpaintbench.contracts import metric as contract_of_metrics
from inpaintbench.contracts.attribute import CHECKS as OF_ATTRIBUTES
from inpaintbench.contracts.axis import CHECKS as OF_AXES
from inpaintbench.contracts.flow import CHECKS as OF_FLOWS
from inpaintbench.contracts.mask_generator import CHECKS as OF_GENERATORS
from inpaintbench.contracts.method import CHECKS as OF_METHODS
from inpaintbench.contracts.splitter import CHECKS as OF_SPLITTERS
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.splitters.base import Splitter
from inpaintbench.eval.flows import Dis, Flow, Motion
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

TRIED_ELSEWHERE = ("attribute", "fetcher", "method", "metric", "question")
"""Beside their other tests, or below with constants."""

NETWORKS = ("raft_", "keypoint_rcnn")


def leaves() -> Iterator[Any]:
    """Kind and name of every leaf that can be built without constants."""
    for kind, address in CATALOGUES.items():
        catalogue: Catalogue[Any] = attribute_at(address)
        for name in catalogue:
            if kind not in TRIED_ELSEWHERE and not _asks(catalogue.get(name)):
                marks = [pytest.mark.long] if name.startswith(NETWORKS) else []
                yield pytest.param(kind, name, id=f"{kind} {name}", marks=marks)


def _asks(leaf: type) -> bool:
    parameters = inspect.signature(leaf).parameters.values()
    return any(one.default is one.empty and one.kind is not one.VAR_KEYWORD for one in parameters)


@pytest.mark.parametrize(("kind", "name"), leaves())
def test_every_shipped_leaf_keeps_the_contract_of_its_kind(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if assets := os.environ.get("INPAINTBENCH_TEST_ASSETS"):
        monkeypatch.setenv("INPAINTBENCH_WEIGHTS", f"{assets}/weights")
    catalogue: Catalogue[Any] = attribute_at(CATALOGUES[kind])
    checks = checks_of(catalogue.kind)
    leaf = catalogue.get(name)()
    assert leaf.name == name
    found = list(outcomes(checks, leaf))
    assert [(one.check, one.fault) for one in found if one.fault] == []
    assert any(one.skipped is None for one in found)


def metrics() -> Iterator[Any]:
    for name in METRICS:
        yield pytest.param(name, marks=[pytest.mark.long] if runs_network(name) else [])


@pytest.mark.parametrize("name", metrics())
def test_every_metric_keeps_its_contract(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)
    shorten_dino(monkeypatch)
    monkeypatch.setattr(contract_of_metrics, "ItemView", Shown)
    metric = METRICS.get(name)(regions=("frame", "hole", "band"), band_radius_pixels=8, **constants_of(name))
    found = list(outcomes(contract_of_metrics.CHECKS, metric))
    assert [(one.check, one.fault) for one in found if one.fault] == []
    assert measured_here(name) or all(one.skipped for one in found[1:-1])


class Shown(ItemView):
    """With made-up parameters of networks: what holds must hold for any."""

    @classmethod
    def of_arrays(cls, **parts: Any) -> ItemView:
        return super().of_arrays(shared=Shared(compute=RANDOM), **parts)


class Best(SingleRegionMetric):
    """A metric for which noise is best."""

    name, version, unit, higher_is_better, decimals, needs = "best", "1", "", False, 2, ("truth", "prediction")

    def measurement(self, view: ItemView) -> Measurement:
        return Measurement(-float(np.abs(view.truth.astype(int) - view.prediction).mean()))


class Bare(Best):
    """A metric whose frame has neither value nor reason."""

    def measurement(self, view: ItemView) -> Measurement:
        return Measurement(None)


class Peeks(Best):
    """A metric that looks at what it does not declare."""

    needs = ("prediction",)


class Inverts(Method):
    """A method that changes everything, and its input with it."""

    name, version, needs = "inverts", "1", ("input", "hole")

    def inpaint(self, view: ItemView) -> Frames:
        return np.subtract(255, view.input, out=view.input)


class Forgets(Method):
    """A method that gives known pixels other values."""

    name, version, needs = "forgets", "1", ("input", "hole")

    def inpaint(self, view: ItemView) -> Frames:
        return 255 - view.input


class Remembers(Forgets):
    """A method that keeps where the last hole was, and says that it keeps nothing."""

    stateless, before = True, 0

    def inpaint(self, view: ItemView) -> Frames:
        filled = np.where(view.hole[..., None], np.uint8(self.before % 251), view.input)
        self.before = int(view.hole.argmax())
        return filled


class Overlaps(Splitter):
    """Spans that overlap."""

    name, version = "overlaps", "1"

    def spans(self, path: str, *, frames: int, fps: float, retimed: bool = False) -> Iterator[tuple[int, int]]:
        yield from [(0, 2), (1, 3)]


class Restless(Generator):
    """Holes that depend on when they are drawn."""

    name, version, needs = "restless", "1", ()

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        return Drawn(np.random.default_rng().random((view.frames, view.height, view.width)) < 0.5)


class Nowhere(AttributeLeaf):
    """A value that is no number."""

    name, version, unit, direction, cost, needs = "nowhere", "1", "px", "higher: more", 1.0, ("truth",)

    def measure(self, view: ItemView) -> float | str:
        return float("nan")


class Backwards(Flow):
    """Motion of the wrong sign."""

    name, version, weights = "backwards", "1", None

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        return -Dis().flow(one, other, compute)


class Creeps(Axis):
    """Brightens known pixels, and one more of the hole."""

    name, version, levels, base_level, changes, property = "creeps", "1", ("none", "strong"), "none", "input", "light"

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:
        made = hole.copy()
        if level == "strong":
            made[0, 0, 0] ^= True
        return made

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:
        return truth if level == "none" else truth | np.uint8(64)


WHERE: dict[str, Any] = {"regions": ("frame",), "band_radius_pixels": 8}


@pytest.mark.parametrize(
    ("checks", "leaf", "faults"),
    [
        (contract_of_metrics.CHECKS, Best(**WHERE), {"is best on a perfect copy": "in frame noise has"}),
        (
            contract_of_metrics.CHECKS,
            Bare(**WHERE),
            {"answers once for each region and leaves its input alone": "no value, and no reason"},
        ),
        (
            contract_of_metrics.CHECKS,
            Peeks(**WHERE),
            {"answers once for each region and leaves its input alone": "UndeclaredNeedError"},
        ),
        (OF_METHODS, Inverts(), {"gives frames of the input and leaves the input alone": "read-only"}),
        (OF_METHODS, Forgets(), {"known pixels stay": "it changes known pixels"}),
        (OF_METHODS, Remembers(), {"keeps nothing of an item": "other pixels once it has seen the clip with another hole"}),
        (OF_SPLITTERS, Overlaps(), {"spans lie within the film in order": "out of order or overlap"}),
        (OF_GENERATORS, Restless(), {"draws the same for the same seed": "another hole"}),
        (
            OF_AXES,
            Creeps(),
            {"changes what it says and nothing else": "the hole at level 'strong', and says"},
        ),
        (OF_FLOWS, Backwards(), {"follows what moves": "slides to the left it says (2."}),
        (OF_ATTRIBUTES, Nowhere(), {"gives a value and leaves the clip alone": "it gives nan"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_leaf_that_breaks_its_contract_is_told_how(checks: Sequence[Check], leaf: object, faults: dict[str, str]) -> None:
    found = {one.check: one.fault for one in outcomes(checks, leaf) if one.fault}
    for check, told in faults.items():
        assert told in str(found[check])
