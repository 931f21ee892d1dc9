"""A published dataset of a wing's recipe grows, and a leaderboard compares on what was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from methods_run import run_methods
from tests.recipes.test_growing import (
    STEPS,
    World,
    check_growth,
    check_that_changes_are_told,
    devil,
    devil_imperfect,
    made,
    photographs,
    removal_imperfect,
)
from tests.wings.leaderboard.made import submit

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.recipes.versions import manifest_folder
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.chalearn.humans import HumansRecipe
from inpaintbench.wings.editboard.recipe import EditingRecipe
from inpaintbench.wings.leaderboard.pack import gather
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.workspace import Workspace


def reinpaint(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    recipe = ReinpaintRecipe(
        size=64, preset="medium-256", patch_pixels=16, second_masks=1, pictures=7, area_edges=(0.0, 0.2, 0.4)
    )
    return recipe, photographs(count, folder)


def decaption(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    # Of films that show the same photograph one would be drawn, and these are of one each.
    made = {"count": count, "width": 240, "height": 160, "frames": 36}
    return DecaptionRecipe(side=64, clip_frames=25), SourceSpec("embedded", made)


def humans(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    return HumansRecipe(), SourceSpec("drawn_people", {"count": count, "portrait": False})


def fingerprint(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    recipe = FingerprintRecipe(fingers=count, width=120, height=160, orientation_fields=True)
    return recipe, recipe.source


def editing(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    return EditingRecipe(side=128), SourceSpec("embedded_edits", {"count": count, "side": 128, "frames": 3})


def editing_paired(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    # The fourth thing is the only one that leaves room for a nearer view.
    return EditingRecipe(side=128, paired=True), SourceSpec("embedded_edits", {"count": count, "side": 256, "frames": 3})


WORLDS = [
    reinpaint,
    *(pytest.param(one, marks=pytest.mark.long) for one in (humans, decaption, fingerprint, editing, editing_paired)),
]


@pytest.mark.parametrize("world", WORLDS)
def test_three_steps_of_growth_keep_every_item_hole_and_truth(world: World, tmp_path: Path) -> None:
    # New films may all have less text than any that is published.
    check_growth(world, tmp_path, may_stay=world is decaption)


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_build_changes_is_told_before_it_does_so(world: World, tmp_path: Path) -> None:
    check_that_changes_are_told(world, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("world", "protocol"),
    [(devil_imperfect, "devil/imperfect"), (removal_imperfect, "removal/paired"), (devil, "devil/corrected")],
)
def test_a_leaderboard_compares_on_the_items_that_were_kept(world: World, protocol: str, tmp_path: Path) -> None:
    how: dict[str, Any] = {"metrics": ["psnr", "ssim"], "protocol": protocol}
    recipe, source = world(STEPS[0], tmp_path)
    folder, old = tmp_path / "workspace" / "exports" / recipe.kind, made(tmp_path / "workspace", recipe, source)
    (tmp_path / "submissions").mkdir()
    run = run_methods(folder, tmp_path / "run", {"telea": "telea"}, **how)
    submit(run, folder, "telea", tmp_path / "submissions" / "telea.zip", protocol=protocol)
    recipe, source = world(STEPS[1], tmp_path)
    made(tmp_path / "workspace", recipe, source, append=True)
    ids = {row["item_id"] for row in old.items}
    fresh = run_methods(folder, tmp_path / "fresh", {"ns": "navier_stokes"}, **how)
    submit(fresh, folder, "ns", tmp_path / "submissions" / "ns.zip", protocol=protocol)
    earlier = [manifest_folder(Workspace(tmp_path / "workspace"), "1.0.0")]
    board = gather(tmp_path / "submissions", root=folder, protocol=PROTOCOLS.get(protocol), earlier=earlier, trusted=True)
    versions = {entry.label: entry.version.partition("+")[0].rpartition("@")[2] for entry in board.entries}
    assert versions == {"telea": "1.0.0", "ns": "1.1.0"}
    assert {row["item_id"] for row in board.results.dataset.items} == ids
    assert {row.item_id for row in board.results.scores} == ids
