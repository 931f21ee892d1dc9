"""Deviations that protocols of wings state."""

from __future__ import annotations

import pytest
from of_wings import names_of_wings
from tests.eval.protocols.test_deviations import check_follows, stated

from inpaintbench.eval.protocols import PROTOCOLS

FREE = ("judge/decaption", "decaption/text", "fingerprint/ridges")


@pytest.mark.parametrize("name", names_of_wings(PROTOCOLS))
def test_protocols_name_what_they_follow_and_corrected_ones_follow_nobody(name: str) -> None:
    check_follows(name, free=FREE)


def test_a_deviation_holds_under_its_constants_alone() -> None:
    assert "valid share below the limit" in stated("editboard/as-published")["ff_alpha"]
    assert "valid share below the limit" not in stated("editboard/paper")["ff_alpha"]
    assert "optical flow" in stated("editboard/paper")["ff_beta"]
    assert "ff_beta" not in stated("editboard/as-published")
    assert "imaging_quality" in stated("editboard/as-published")
    assert "imaging_quality" not in stated("editboard/as-published-gif")


def test_what_published_numbers_would_be_mistaken_for_is_stated() -> None:
    editboard = stated("editboard/as-published")
    assert {"valid share", "pairs without a valid pixel"} <= set(editboard["ff_alpha"])
    assert "precision of CLIP" in editboard["clip_similarity"]
