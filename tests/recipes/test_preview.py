"""What `masks preview` says of constants, pictures and masks that do not fit."""

from __future__ import annotations

import inspect
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axes_made import film
from PIL import Image

from inpaintbench.catalogue import Catalogue
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.recipes.preview import EXAMPLES, Backdrop, axis_panels, backdrops, check, guessed, panels

SQUARE = np.zeros((32, 32), np.uint8)
SQUARE[8:16, 8:16] = 255


def backdrop(name: str, *, side: int = 32) -> Backdrop:
    return Backdrop(name, np.zeros((1, side, side, 3), np.uint8))


@pytest.mark.parametrize(
    ("generator", "constants", "sentence"),
    [
        ("patches", {"sise": 3}, "^patches cannot be built with sise: unknown constant 'sise', did you mean 'size'\\?$"),
        ("devil_blobs", {"index": 3}, f"^devil_blobs needs a preset: --set preset=\\.\\.\\. \\(one of {', '.join(PRESETS)}\\)$"),
        ("saved_masks", {}, r"^saved_masks needs a folder: --set folder=\.\.\. \(where the masks lie"),
        ("patches", {"size": "abc"}, "size is 'abc'"),
        ("patchs", {}, "did you mean 'patches'"),
    ],
)
def test_constants_are_checked(generator: str, constants: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check(generator, constants)


def test_every_constant_without_default_is_explained() -> None:
    required = {
        (generator, name)
        for generator in GENERATORS
        for name, parameter in inspect.signature(GENERATORS.get(generator)).parameters.items()
        if parameter.default is inspect.Parameter.empty
    }
    assert required == set(EXAMPLES)


def test_generators_of_other_packages_may_take_what_they_like(monkeypatch: pytest.MonkeyPatch) -> None:
    class Anything:
        def __init__(self, *, needed: int, **others: int) -> None: ...

    monkeypatch.setattr(Catalogue, "get", lambda self, name: Anything)
    check("anything", {"needed": 1, "more": 2})
    with pytest.raises(InputError, match=r"^anything needs a needed: --set needed=\.\.\.$"):
        check("anything", {"more": 2})


def test_several_saved_masks_want_a_name(tmp_path: Path) -> None:
    for name in "ab":
        Image.fromarray(SQUARE).save(tmp_path / f"{name}.png")
    with pytest.raises(InputError, match=r"holds 2 sequences of masks: name one of them as --set sequence=\.\.\. \(a, b"):
        check("saved_masks", {"folder": str(tmp_path)})


@pytest.mark.parametrize(
    ("generator", "frames", "sentence"),
    [
        ("subtitles", 1, "subtitles needs films with text"),
        ("patches", 3, "with 3 frames masks are shown over films"),
    ],
)
def test_pictures_are_refused_where_they_do_not_do(tmp_path: Path, generator: str, frames: int, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^--images cannot be used: {sentence}"):
        backdrops(generator, width=32, height=32, frames=frames, count=1, seed=0, images=tmp_path)


def test_pictures_of_the_user_are_shown(tmp_path: Path) -> None:
    Image.fromarray(np.dstack([SQUARE] * 3)).save(tmp_path / "mine.png")
    (only,) = backdrops("patches", width=16, height=16, frames=1, count=4, seed=0, images=tmp_path)
    assert (only.name, only.truth.shape) == ("mine.png", (1, 16, 16, 3))


def test_a_reason_that_several_pictures_share_names_none() -> None:
    shown = [backdrop("small"), backdrop("tiny"), backdrop("large", side=64)]
    (alike,) = panels("patches", [{"size": 40}], shown, count=3, seed=0)
    assert alike.refusals == ("a frame of 32x32 is smaller than one patch of 40x40 pixels",) * 2
    assert len(alike.tiles) == 1
    (alone,) = panels("patches", [{"size": 40}], [backdrop("small"), backdrop("large", side=64)], count=4, seed=0)
    assert alone.refusals == ("small: a frame of 32x32 is smaller than one patch of 40x40 pixels",) * 2


def test_guesses_are_told_and_statements_are_not(tmp_path: Path) -> None:
    Image.fromarray(255 - SQUARE).save(tmp_path / "1.png")
    settings: list[dict[str, Any]] = [
        {"folder": str(tmp_path), "sequence": 1},
        {"folder": str(tmp_path), "sequence": 1, "polarity": "white_is_hole"},
    ]
    made = panels("saved_masks", settings, [backdrop("a")], count=2, seed=0)
    warning = guessed(made)
    assert warning is not None
    assert warning.startswith("whether white or black is the hole was guessed for 2 of 4 masks (black_is_hole); state it: --set")
    assert guessed(made[1:]) is None


def test_titles_show_the_last_name_of_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20) / "masks"
    folder.mkdir(parents=True)
    Image.fromarray(SQUARE).save(folder / "1.png")
    (panel,) = panels("saved_masks", [{"folder": str(folder), "resize": True}], [backdrop("a")], count=1, seed=0)
    assert panel.title == "folder …/masks, resize yes"
    assert panel.parameters["folder"] == str(folder)


def test_an_unknown_generator_is_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'brush_box'"):
        check("brush_bx", {})


@pytest.mark.parametrize("axis", list(AXES))
def test_every_level_of_every_axis_is_shown_over_the_same_films(axis: str) -> None:
    made = axis_panels(axis, [Backdrop("film", film())], seed=0)
    assert [panel.title for panel in made] == [f"level {level}" for level in AXES.get(axis).levels]
    assert [(len(panel.tiles), panel.refusals) for panel in made] == [(1, ())] * len(made)
    seen = [panel.tiles[0] for panel in made]
    for one, other in pairwise(seen):
        alike = [np.array_equal(one.truth, other.truth), np.array_equal(one.drawn.hole, other.drawn.hole)]
        assert not all(alike) or not np.array_equal(one.given_input, other.given_input)
