"""One small frozen dataset for each recipe of a wing, and what the core's tests of layouts are tried with here."""

from __future__ import annotations

import pytest
from layout_worlds import Tried, Worlds, _own_cache, frozen_of_each, parametrize, sha256

from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.chalearn.humans import HumansRecipe
from inpaintbench.wings.editboard.recipe import EditingRecipe
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe

__all__ = ["_own_cache", "sha256"]
_FINGERS = FingerprintRecipe(fingers=2, impressions=1, law="uniform")
WORLDS: Worlds = {
    "humans": (HumansRecipe(), SourceSpec("drawn_people", {"count": 4})),
    "decaption": (
        DecaptionRecipe(side=64),
        SourceSpec("embedded", {"count": 3, "width": 96, "height": 64, "frames": 150}),
    ),
    "fingerprint": (_FINGERS, _FINGERS.source),
    "editing": (EditingRecipe(side=128), SourceSpec("embedded_edits", {"count": 1, "side": 128, "frames": 2})),
    "reinpaint": (
        ReinpaintRecipe(size=64, preset="medium-256", patch_pixels=16, second_masks=2, pictures=2),
        SourceSpec("embedded_photographs", {}),
    ),
}
LAYOUTS = ("chalearn", "editboard", "reinpaint")
TRIED: Tried = {
    "test_every_recipe_comes_back_as_it_was_made": ("kind", WORLDS),
    "test_pixels_and_metadata_are_those_of_the_dataset": ("kind", WORLDS),
    "test_all_media_are_the_stored_files": ("kind", ("reinpaint", "decaption", "editing")),
    "test_every_item_is_one_sample_with_its_files_and_all_that_is_known": ("kind", WORLDS),
    "test_equal_datasets_give_equal_bytes_and_sums_that_hold": (
        "layout, kind", (("chalearn", "fingerprint"), ("editboard", "editing"), ("reinpaint", "reinpaint")),
    ),
    "test_a_damaged_dataset_is_never_copied_on": ("layout, kind", [("reinpaint", "reinpaint")]),
    "test_words_of_others_are_no_markdown_and_no_lines_of_their_own": ("layout, kind", [("reinpaint", "reinpaint")]),
    "test_a_layout_says_what_it_takes_and_where_things_lie": ("layout", LAYOUTS),
}  # fmt: skip
frozen_of = frozen_of_each(WORLDS)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, TRIED)
