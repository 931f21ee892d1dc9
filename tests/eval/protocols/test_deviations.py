"""Deviations from publications: stated beside what deviates, and only where it holds."""

from __future__ import annotations

import inspect
from collections.abc import Collection

import pytest
from of_wings import names_of_the_core

from inpaintbench.catalogue import Deviation, holding
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.recipes.settings import all_deviations, published

FREE = (
    "judge/removal", "judge/inpainting", "judge/editing", "devil/imperfect", "devil/mask_error",
    "no-reference/koniq", "no-reference/spaq", "removal/paired", "removal/pasted", "removal/unpaired",
)  # fmt: skip
"""Protocols of this program, without a publication to differ from."""


def stated(name: str) -> dict[str, list[str]]:
    """Who says it -> what differs, of one protocol."""
    found: dict[str, list[str]] = {}
    for leaf, one in PROTOCOLS.get(name).all_deviations():
        found.setdefault(leaf, []).append(one.what)
    return found


@pytest.mark.parametrize("name", names_of_the_core(PROTOCOLS))
def test_protocols_name_what_they_follow_and_corrected_ones_follow_nobody(name: str) -> None:
    check_follows(name, free=FREE)


def check_follows(name: str, *, free: Collection[str]) -> None:
    protocol = PROTOCOLS.get(name)
    assert bool(protocol.follows) == (not name.endswith("/corrected") and name not in free)
    assert bool(protocol.all_deviations()) == bool(protocol.follows)


def test_a_deviation_holds_under_its_constants_alone() -> None:
    assert "optical flow" in stated("devil/as-published")["warp_error"]
    assert "flicker" not in stated("devil/as-published")


def test_what_published_numbers_would_be_mistaken_for_is_stated() -> None:
    devil = stated("devil/as-published")
    assert "clips of fewer than ten frames" in devil["pvcs"]
    assert {"frames without a hole", "PCons over `frame` and `band`"} <= set(devil["pcons"])
    built = {recipe.kind: [(leaf, one.what) for leaf, one in all_deviations(recipe)] for recipe in published()}
    assert ("", "candidates for a label of camera motion") in built["devil"]
    assert ("camera_motion", "features of camera motion") in built["devil"]
    assert ("devil_blobs", "rasteriser") in built["devil"]


def everything() -> list[tuple[str, Deviation]]:
    of_protocols = [(name, one) for name in PROTOCOLS for _, one in PROTOCOLS.get(name).all_deviations()]
    return of_protocols + [(recipe.kind, one) for recipe in published() for _, one in all_deviations(recipe)]


def test_every_text_fits_a_cell_of_a_table() -> None:
    for owner, one in everything():
        for text in (one.what, one.published, one.here, one.effect):
            assert text.strip() == text != "", owner
            assert "\n" not in text, owner


def test_conditions_name_constants_that_the_metric_has() -> None:
    for name in METRICS:
        leaf = METRICS.get(name)
        for one in leaf.deviations:
            # Those of a family are declared in its base.
            inits = [inspect.signature(base.__init__) for base in leaf.__mro__ if "__init__" in vars(base) and base is not object]
            assert set(one.where) <= {constant for init in inits for constant in init.parameters}, name


def test_no_score_depends_on_what_is_stated() -> None:
    protocol: Protocol = PROTOCOLS.get("devil/as-published")
    other = Protocol(**protocol.model_dump() | {"follows": "another", "deviations": (Deviation("a", "b", "c", "d"),)})
    assert other.fingerprint == protocol.fingerprint
    assert other.model_dump() == protocol.model_dump()


def test_a_leaf_that_states_nothing_deviates_in_nothing() -> None:
    assert holding(METRICS.get("mse").deviations, {}) == []
