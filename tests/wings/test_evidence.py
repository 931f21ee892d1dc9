"""The protocols that datasets of wings are scored under."""

from __future__ import annotations

from inpaintbench.recipes.evidence import protocols
from inpaintbench.types import Corruption
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.workspace import Workspace


def test_protocols_are_those_that_scoring_takes(workspace: Workspace) -> None:
    hole = [Corruption("k", "c", "devil_blobs", {}, 0, None, "blob.mp4", "0")]
    workspace.write_table("corruptions", "render", hole, Corruption)
    assert [one["name"] for one in protocols(workspace, ReinpaintRecipe())] == ["reinpaint/corrected"]
    told = [(one["name"], one["usual"]) for one in protocols(workspace, ReinpaintRecipe(second_masks=0))]
    assert told == [("devil/corrected", True), ("reinpaint/corrected", False)]
    assert [one["name"] for one in protocols(workspace, FingerprintRecipe())] == ["fingerprint/corrected"]
