"""`masks preview` over prints: what they are, and the user's photographs behind them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench.catalogue import Catalogue
from inpaintbench.errors import InputError
from inpaintbench.masks.gallery import quantity_of
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.recipes.preview import Backdrop, backdrops, check, own_stills, panels
from inpaintbench.wings.chalearn.fingerprints.fields import elastic_field, warp
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Print
from inpaintbench.wings.chalearn.fingerprints.source import PRINTS

WIDTH, HEIGHT = 150, 180


class Washed(Generator):
    """Takes away a part of the darkness of a print; a drawn number tells one stream from another."""

    name, version, needs = "washed", "1", ("undistorted", "print")

    def __init__(self, *, share: float = 0.5, backgrounds: str = "procedural", folder: str | None = None) -> None:
        if folder == "missing":
            raise InputError("`folder` is missing")
        self.share, self.facts = share, {"backgrounds": backgrounds, "folder": str(folder)}

    def generate(self, view: Any, rng: np.random.Generator) -> Drawn:
        kept = (255 - (1 - self.share) * (255.0 - view.undistorted)).round().astype(np.uint8)
        finger_class = Print.of_plain(view.print).finger.finger_class
        return Drawn(None, {"finger_class": finger_class, "number": float(rng.random()), **self.facts}, input=kept)


@pytest.fixture(autouse=True)
def washed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Catalogue.get
    monkeypatch.setattr(Catalogue, "get", lambda self, name: Washed if name == "washed" else known(self, name))


def prints(count: int, *, seed: int = 0) -> list[Backdrop]:
    return backdrops("washed", width=WIDTH, height=HEIGHT, frames=1, count=count, seed=seed)


def test_prints_are_for_those_who_need_them() -> None:
    assert own_stills("washed") is PRINTS
    assert own_stills("patches") is not PRINTS


def test_every_class_has_its_turn_and_truth_is_the_bent_print() -> None:
    shown = prints(7)
    assert Counter(one.parts["print"]["finger"]["finger_class"] for one in shown) == Counter([*CLASSES, CLASSES[0]])
    assert [one.name for one in shown[:3]] == ["arch", "tented arch", "left loop"]
    for one in shown[:2]:
        undistorted, elastic = one.parts["undistorted"], one.parts["print"]["elastic"]
        assert one.truth.shape == undistorted.shape == (1, HEIGHT, WIDTH, 3)
        assert (one.truth == one.truth[..., :1]).all()
        field = elastic_field(HEIGHT, WIDTH, seed=elastic["seed"], strength=elastic["strength"], reach=elastic["reach"])
        assert np.array_equal(one.truth[0, ..., 0], warp(np.ascontiguousarray(undistorted[0, ..., 0]), field))
        assert 0.02 < (one.truth < 110).mean() < 0.4
    assert not np.array_equal(shown[0].truth, shown[6].truth)


def test_prints_come_from_the_seed_and_stay_when_more_are_asked_for() -> None:
    few, many, others = prints(1), prints(3), prints(1, seed=1)
    assert np.array_equal(few[0].truth, many[0].truth)
    assert few[0].parts["print"] == many[0].parts["print"]
    assert not np.array_equal(few[0].truth, others[0].truth)


def test_degradations_are_drawn_over_prints_in_turn() -> None:
    (panel,) = panels("washed", [{"share": 1.0}], prints(2), count=3, seed=0)
    assert [tile.caption for tile in panel.tiles] == ["arch", "tented arch", "arch"]
    assert [tile.drawn.facts["finger_class"] for tile in panel.tiles] == ["arch", "tented_arch", "arch"]
    assert all(tile.drawn.hole is None and (tile.given_input == 255).all() for tile in panel.tiles)
    assert quantity_of([panel]).noun == "degradation"


def test_photographs_are_told_apart_from_other_constants() -> None:
    settings, where = PRINTS.over_photographs([{"share": 0.2}, {"backgrounds": "wood"}], Path("mine"))
    assert settings == [{"backgrounds": "photographs", "share": 0.2}, {"backgrounds": "wood"}]
    shown = prints(1)
    (here,), (there,) = (panels("washed", settings[:1], shown, count=1, seed=0, where={"folder": one}) for one in ("mine", "his"))
    assert where == {"folder": "mine"}
    assert here.tiles[0].drawn.facts["folder"] == "mine"
    assert here.tiles[0].drawn.facts["number"] == there.tiles[0].drawn.facts["number"]  # no draw depends on the place
    assert "folder" not in here.parameters
    with pytest.raises(InputError, match=r"^--set folder=\.\.\. is missing$"):
        check("washed", settings[0], where={"folder": "missing"})


def test_prints_do_not_move_and_are_not_tiny() -> None:
    with pytest.raises(InputError, match="washed degrades prints, which are still pictures: leave --frames 3 out"):
        backdrops("washed", width=WIDTH, height=HEIGHT, frames=3, count=1, seed=0)
    with pytest.raises(InputError, match="16"):
        backdrops("washed", width=16, height=16, frames=1, count=1, seed=0)
