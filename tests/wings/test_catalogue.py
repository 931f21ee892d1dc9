"""Every leaf file of a wing is listed in its catalogue."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.test_catalogue import check_listed

KINDS: Mapping[str, tuple[str, set[str]]] = {
    "inpaintbench.wings.fetch": (
        "FETCHERS",
        {"base", "commands", "contract", "flickr_client", "installation", "places", "recheck", "source", "step"},
    ),
    "inpaintbench.wings.chalearn.annotated_people": ("POSE_READERS", {"base", "contract", "matlab_child", "source"}),
}


@pytest.mark.parametrize("package", KINDS)
def test_every_leaf_file_is_listed_and_every_listed_leaf_is_a_documented_class(package: str) -> None:
    check_listed(package, *KINDS[package])
