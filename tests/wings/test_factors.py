"""What axes change, those of wings too."""

from __future__ import annotations

from inpaintbench.eval.comparing.factors import MEASURED
from inpaintbench.masks.axes import AXES
from inpaintbench.recipes import removal
from inpaintbench.wings.chalearn import decaption, fingerprint, humans
from inpaintbench.wings.editboard import recipe as editing


def test_attributes_have_the_names_of_the_axes_that_change_them() -> None:
    recipes = {recipe.AXIS.name for recipe in (decaption, editing, fingerprint, humans, removal)}
    assert {name for one in MEASURED for name in one.of} <= {*AXES, *recipes, "hole_area", "camera_motion", "bg_scene_motion"}
