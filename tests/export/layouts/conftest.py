"""One small frozen dataset a recipe, and what tests of layouts are tried with."""

from __future__ import annotations

import pytest
from layout_worlds import Tried, Worlds, _own_cache, frozen_of_each, parametrize, sha256
from pictures_recipe import PicturesRecipe

from inpaintbench.recipes.benchmark import BenchmarkRecipe
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.recipes.stages import SourceSpec

__all__ = ["_own_cache", "sha256"]
_REMOVAL = RemovalRecipe(size=(96, 80), frames=3)
WORLDS: Worlds = {
    "benchmark": (BenchmarkRecipe(size=(96, 80)), BenchmarkRecipe(size=(96, 80), frames=3).embedded(2)),
    "removal": (_REMOVAL, _REMOVAL.rendered(2)),
    "pictures": (PicturesRecipe(second_masks=2, pictures=2), SourceSpec("embedded_photographs", {})),
}
LAYOUTS = ("embedded", "webdataset", "devil", "devil_sets")
TRIED: Tried = {
    "test_every_recipe_comes_back_as_it_was_made": ("kind", ("devil", *WORLDS)),
    "test_pixels_and_metadata_are_those_of_the_dataset": ("kind", ("devil", "pictures")),
    "test_all_media_are_the_stored_files": ("kind", ("pictures",)),
    "test_every_item_is_one_sample_with_its_files_and_all_that_is_known": ("kind", ("devil", "pictures")),
    "test_equal_datasets_give_equal_bytes_and_sums_that_hold": (
        "layout, kind", [(layout, "pictures") for layout in LAYOUTS],
    ),
    "test_a_damaged_dataset_is_never_copied_on": ("layout, kind", [(layout, "pictures") for layout in LAYOUTS]),
    # With and without a head that `datasets` reads.
    "test_words_of_others_are_no_markdown_and_no_lines_of_their_own": (
        "layout, kind", [(layout, "pictures") for layout in ("embedded", "devil")],
    ),
    "test_a_layout_says_what_it_takes_and_where_things_lie": ("layout", LAYOUTS),
}  # fmt: skip
frozen_of = frozen_of_each(WORLDS)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, TRIED)
