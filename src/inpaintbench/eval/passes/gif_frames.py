"""What EditBoard's released code shows its four metrics of quality: an edit as a GIF of 256 colours a frame."""

from __future__ import annotations

from inpaintbench.types import Frames
from inpaintbench.video.gif import gif_frames
from inpaintbench.view import ItemView


def through_gif(view: ItemView) -> ItemView:
    """A view whose prediction went through a GIF: fewer colours, and of equal frames in a row one alone."""
    frames = view.prediction
    # What is remembered holds the frames, so that no other array can get their id meanwhile.
    found: tuple[Frames, Frames] = view.shared.once(("gif", id(frames)), lambda: (frames, gif_frames(frames)))
    return ItemView.of_arrays(item_id=view.item_id, fps=view.fps, shared=view.shared, prediction=found[1])
