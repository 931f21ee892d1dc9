"""Holes that were saved, and holes of a second pass on top of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.recipes.test_saved_pairs import FILMS, SIDE, built, write_films, write_masks

from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.executors.base import Rejection
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.wings.reinpaint.setting import checked, setting_of


def test_items_that_cannot_be_inpainted_again_are_left_out(tmp_path: Path) -> None:
    write_films(tmp_path)
    workspace, _, dataset = built(
        tmp_path, write_masks(tmp_path, *FILMS), kind=ReinpaintRecipe, patch_pixels=SIDE, second_masks=1, seed=13
    )
    told = workspace.table("rejected", Rejection, step="second_masks")
    assert (len(dataset.items), len(told)) == (2, 1)
    assert told[0].name.endswith(".mkv")
    assert all(row["second_hole_file_names"] for row in dataset.items)
    few = [{**dataset.items[0], "second_hole_file_names": []}, dataset.items[1]]
    protocol, fill = PROTOCOLS.get("reinpaint/corrected"), MethodSpec("telea", "telea")
    setting = setting_of(protocol, second=fill, masks=1, patches=None)
    with pytest.raises(
        InputError, match=r"no second masks for 1 of 2 items, such as .*: `eval run --for reinpainting` with --ratio"
    ):
        checked(setting, replace(dataset, items=tuple(few)))
