"""What an object changes, derived from two films; what other frames show of what it hides; masks that cannot be used."""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.errors import MaskShapeError, Rejected
from inpaintbench.masks import removal
from inpaintbench.types import UNPAIRED, Clip, Corruption, Frames, Hole
from inpaintbench.workspace import Blobs, Workspace

SHAPE = (3, 96, 160)


def moved(frames: int, pixels: float) -> np.ndarray:
    """Homographies of a camera that pans ``pixels`` a frame to the right."""
    made = np.repeat(np.eye(3)[None], frames, axis=0)
    made[:, 0, 2] = pixels * np.arange(frames)
    return made


def test_what_another_frame_shows_of_the_hidden_background() -> None:
    hole = np.zeros((10, 48, 64), bool)
    hole[:, 10:30, 20:40] = True
    assert removal.seen_elsewhere(hole, hole, moved(10, 0)) == 0
    assert removal.seen_elsewhere(hole, hole, moved(10, 2)) == 3600 / 4000 == 0.9
    assert removal.seen_elsewhere(np.zeros_like(hole), hole, moved(10, 2)) is None


def test_what_lies_in_the_shadow_of_another_frame_is_not_seen() -> None:
    hole = np.zeros((2, 20, 40), bool)
    hole[0, 5:10, 5:10] = True
    changed = hole.copy()
    assert removal.seen_elsewhere(hole, changed, moved(2, 0)) == 1
    changed[1, 5:10, 5:8] = True
    assert removal.seen_elsewhere(hole, changed, moved(2, 0)) == 2 / 5
    assert removal.seen_elsewhere(hole, changed, moved(2, 100)) == 0


def world(*, noise: int = 0) -> tuple[Frames, Frames, Hole, Hole]:
    """Truth, input, object and its shadow; ``noise`` is the largest difference of the two films elsewhere."""
    rng = np.random.default_rng(0)
    truth = rng.integers(60, 200, (*SHAPE, 3), dtype=np.uint8)
    thing, shadow = np.zeros((2, *SHAPE), bool)
    thing[:, 30:50, 60:80] = True
    shadow[:, 50:60, 60:90] = True
    shown = np.where(shadow[..., None], truth // 2, truth)
    shown = np.where(thing[..., None], 250, shown).astype(int) + rng.integers(-noise, noise + 1, truth.shape)
    return truth, np.clip(shown, 0, 255).astype(np.uint8), thing, shadow


@pytest.mark.parametrize("noise", [0, 2, 3])
def test_the_effect_of_a_real_pair_is_what_differs_more_than_the_rest_does(noise: int) -> None:
    truth, shown, thing, shadow = world(noise=noise)
    effect, reason = removal.derived_effect(removal.largest_difference(shown, truth), thing, shown=shown, truth=truth)
    assert reason is None
    assert (effect & shadow).sum() / (effect | shadow).sum() > 0.98
    assert not (effect & thing).any()


def test_pairs_that_differ_everywhere_have_no_effect_and_a_reason() -> None:
    truth, shown, thing, _ = world(noise=6)
    assert removal.derived_effect(removal.largest_difference(shown, truth), thing, shown=shown, truth=truth)[1] == (
        "input and truth differ by 6 levels far from the object"
    )
    # Levels below the limit everywhere near the object, so even that none is above it, are too many in dB.
    truth, shown, thing, _ = world()
    shown = np.where(thing[..., None], shown, truth + 4).astype(np.uint8)
    near = removal._grown_boxes(thing, removal.FAR_PIXELS) & ~thing
    shown[near] = truth[near] + 11
    effect, reason = removal.derived_effect(removal.largest_difference(shown, truth), thing, shown=shown, truth=truth)
    assert reason is not None
    assert reason.endswith("dB apart where nothing of the object is")
    assert not effect.any()
    full = np.ones_like(thing)
    assert removal.derived_effect(np.zeros(SHAPE, np.uint8), full, shown=truth, truth=truth)[1] == (
        "no pixel is farther than 32 from the object's box"
    )


def put(blobs: Blobs, frames: Frames) -> tuple[str, str]:
    blob, encoded = blobs.put(".mp4", partial(video.write_clip, frames=frames, fps=25.0, form="lossless"))
    return blob, encoded.rgb_sha256


def paired(workspace: Workspace, mask: Hole, *, unpaired: bool = False) -> Corruption:
    blobs = workspace.blobs
    truth, shown, _, _ = world()
    name, sha256 = put(blobs, shown)
    shot, digest = put(blobs, shown if unpaired else truth)
    clip = Clip("clip", "source", 0, len(truth), 25.0, SHAPE[2], SHAPE[1], len(truth), shot, "yuv", digest, 0, 99.0)
    stored, _ = blobs.put(".mp4", partial(video.write_hole, hole=mask, fps=25.0))
    one = removal.Pair(clip, stored, None if unpaired else name, sha256, True, {"side_effect": "shadow"})
    [made] = removal.pair_one({"pair": {**vars(one), "clip": vars(clip)}}, parameters={}, blobs=blobs)
    return made


def test_a_rendered_pair_has_its_exact_effect(workspace: Workspace) -> None:
    truth, shown, thing, _ = world()
    made = paired(workspace, thing)
    assert made.effect_mask is not None
    known = (shown != truth).any(axis=-1) & ~thing
    effect = video.read_hole(workspace.blobs.path(made.effect_mask))
    np.testing.assert_array_equal(effect, known)  # intersection over union 1
    assert made.effect_mask_sha256 == hashlib.sha256(known.tobytes()).hexdigest()
    assert made.facts["effect_known"] == "exactly"
    assert made.facts["effect_levels"] == pytest.approx(np.abs(shown.astype(int) - truth)[known].mean())
    assert made.hole == made.object_mask


def test_a_clip_without_a_truth_is_its_own_input(workspace: Workspace) -> None:
    made = paired(workspace, world()[2], unpaired=True)
    assert made.generator == UNPAIRED
    assert made.effect_mask is None
    assert "effect_known" not in made.facts


def test_masks_that_cannot_be_used_are_told(workspace: Workspace) -> None:
    thing = world()[2]
    with pytest.raises(Rejected, match="its object is in no pixel of the clip"):
        paired(workspace, np.zeros_like(thing))
    with pytest.raises(Rejected, match="its object is in all pixels of the clip"):
        paired(workspace, np.ones_like(thing))
    with pytest.raises(MaskShapeError, match=r"object mask \(3, 96, 150\) != clip \(3, 96, 160\)"):
        paired(workspace, thing[..., :150])
    thing = thing.copy()
    thing[1] = False
    assert paired(workspace, thing).facts["empty_frames"] == 1
